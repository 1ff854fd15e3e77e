from ._logistic import (
    CERTAIN as CERTAIN,
    MultiLabelLogisticRegression as MultiLabelLogisticRegression,
    fit_logistic as fit_logistic,
)
