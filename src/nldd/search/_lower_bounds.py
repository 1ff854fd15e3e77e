"""Lower bounds of the distances to all rows at once, by a matrix product in single precision."""

import numpy as np
from numpy.typing import NDArray

from nldd.search._distances import squared_norms

EPSILON, SMALLEST = np.finfo(np.float32).eps, np.finfo(np.float32).tiny
# Squares beyond this may overflow in single precision.
LARGEST = 1e30


class LowerBounds:
    """For a few dense rows, the quick way to most of the answer.

    ``|a - b|^2 = |a|^2 + |b|^2 - 2 a.b`` is the product of the rows ``(-2 a, |a|^2, 1)`` and
    ``(b, 1, |b|^2)``; what rounding may have added is taken off ``|a|^2`` beforehand.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_features)
    centre : ndarray of shape (n_features,)
        Taken off all rows, which changes no distance and makes rounding errors small.

    Examples
    --------
    >>> bounds = LowerBounds(np.array([[0.0, 3.0], [4.0, 0.0]]), centre=np.array([2.0, 1.5]))
    >>> bounds(np.zeros((1, 2))).round(3)
    array([[ 9., 16.]], dtype=float32)
    """

    def __init__(self, Z: NDArray[np.float64], centre: NDArray[np.float64]) -> None:
        self.centre = centre
        Z = Z - centre
        norms = squared_norms(Z)
        self.largest_norm = norms.max()
        if self.largest_norm <= LARGEST:
            self.rows = _columns(Z, np.ones(len(Z)), norms)

    def __call__(self, A: NDArray[np.float64]) -> NDArray[np.float32]:
        """Bounds of shape (n_queries, n_rows), or none where numbers are too large for them."""
        A = A - self.centre
        norms = squared_norms(A)
        largest = self.largest_norm + norms
        if largest.max() > LARGEST:
            return np.empty((0, 0), dtype=np.float32)
        # A product of d terms is off by at most about d * eps * |a| |b|, no more than half of
        # d * eps * (|a|^2 + |b|^2); conversion and the two other terms add a few eps, and terms
        # too small for single precision are off by its smallest number.
        doubt = (A.shape[1] + 16) * (EPSILON * largest + SMALLEST)
        return _columns(-2 * A, norms - doubt, np.ones(len(A))) @ self.rows.T


def _columns(*parts: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.column_stack([part.astype(np.float32) for part in parts])
