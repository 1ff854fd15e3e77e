from ._logistic import (
    CERTAIN as CERTAIN,
    MultiLabelLogisticRegression as MultiLabelLogisticRegression,
    PrincipalAxes as PrincipalAxes,
    fit_logistic as fit_logistic,
    is_worth_turning as is_worth_turning,
    with_columns as with_columns,
)
from ._softmax import fit_softmax as fit_softmax
