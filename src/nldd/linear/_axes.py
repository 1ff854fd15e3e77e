"""The axes in which dense rows vary most, and coefficients there: steps are fewer along them.

The penalty is the length of the coefficients, which a turn does not change; and there the Hessian
is nearly diagonal, so that conjugate gradients need a tenth of the steps. Only with an intercept
that is free can the mean be taken away: it makes up for it.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches

FloatArray = NDArray[np.float64]

BLOCK_ROWS = 4096


class Moments(NamedTuple):
    """Weight of some rows, their mean, and the products of their deviations from it."""

    weight: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> "Moments":
        """Those of dense rows."""
        mean = np.average(X, axis=0, weights=weight)
        scatter = np.zeros((len(mean), len(mean)))
        for rows in gen_batches(len(X), BLOCK_ROWS):
            deviation = (X[rows] - mean) * np.sqrt(weight[rows, np.newaxis])
            scatter += deviation.T @ deviation
        return cls(float(weight.sum()), mean, scatter)


def merge_moments(parts: Iterable[Moments]) -> Moments:
    """Those of all parts together."""
    return reduce(_merge_two, parts)


def _merge_two(a: Moments, b: Moments) -> Moments:
    # T. F. Chan, G. H. Golub and R. J. LeVeque (1983): no large squares are subtracted.
    weight, apart = a.weight + b.weight, b.mean - a.mean
    between = a.weight * b.weight / weight * np.outer(apart, apart)
    mean = a.mean + b.weight / weight * apart
    return Moments(weight, mean, a.scatter + b.scatter + between)


def is_worth_turning(n_features: int, weight: float) -> bool:
    """Whether turning dense rows costs less than the steps that it saves a handful of labels.

    How many labels there are makes no difference, nor whether rows are repeated or have weights,
    whose sum is given.
    """
    return n_features * (1.5 + 10 * n_features / weight) < 2000


class PrincipalAxes:
    """Axes through the mean of rows, or through 0, and the mean square of rows along each."""

    def __init__(self, moments: Moments, centred: bool) -> None:
        weight, mean, scatter = moments
        if not centred:
            mean, scatter = np.zeros(len(mean)), scatter + weight * np.outer(mean, mean)
        self.mean = mean
        squares, self.axes = np.linalg.eigh(scatter)
        self.mean_squares = squares / weight

    def turned(self, X: Any) -> Any:
        """Rows in the new axes."""
        Z = np.empty_like(X, order="C")
        for rows in gen_batches(len(X), BLOCK_ROWS):
            Z[rows] = (X[rows] - self.mean) @ self.axes
        return Z

    def coefficients_there(self, W: FloatArray) -> FloatArray:
        """Coefficients, the intercept last, for turned rows; further columns stay as they are."""
        d, W = len(self.mean), W.copy()
        W[:, -1] += W[:, :d] @ self.mean
        W[:, :d] = W[:, :d] @ self.axes
        return W

    def coefficients_here(self, W: FloatArray) -> FloatArray:
        """And back again."""
        d, W = len(self.mean), W.copy()
        W[:, :d] = W[:, :d] @ self.axes.T
        W[:, -1] -= W[:, :d] @ self.mean
        return W


def principal_axes(X: Any, weight: FloatArray, centred: bool) -> PrincipalAxes | None:
    """The axes to turn rows to; None where they are sparse, or it would not pay."""
    if issparse(X) or not is_worth_turning(X.shape[1], float(weight.sum())):
        return None
    return PrincipalAxes(Moments.of(X, weight), centred)
