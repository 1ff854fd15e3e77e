from ._likelihood import BinomialLoss as BinomialLoss, minimize_linear as minimize_linear
from ._regression import (
    DistanceRegression as DistanceRegression,
    Pairs as Pairs,
    check_regression as check_regression,
    fit_regression as fit_regression,
)

__all__ = [
    "DistanceRegression",
    "Pairs",
    "fit_regression",
]
