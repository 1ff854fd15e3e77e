from ._axes import PrincipalAxes as PrincipalAxes, principal_axes as principal_axes
from ._features import (
    FeatureMap as FeatureMap,
    Kernel as Kernel,
    Normalised as Normalised,
    Weighted as Weighted,
)
from ._logistic import (
    CERTAIN as CERTAIN,
    MultiLabelLogisticRegression as MultiLabelLogisticRegression,
    fit_logistic as fit_logistic,
    with_columns as with_columns,
)
from ._softmax import fit_softmax as fit_softmax

__all__ = [
    "MultiLabelLogisticRegression",
]
