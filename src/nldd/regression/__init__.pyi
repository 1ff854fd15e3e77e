from ._fit import check_regression as check_regression, fit_regression as fit_regression
from ._loss import BinomialLoss as BinomialLoss
from ._newton import minimize_linear as minimize_linear
from ._pairs import Pairs as Pairs
from ._result import DistanceRegression as DistanceRegression
