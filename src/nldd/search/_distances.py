"""Distances: fast by matrix products with a bound on their error, exact by subtraction."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from nldd.exceptions import InputError

EPSILON = np.finfo(np.float64).eps
LARGEST = np.finfo(np.float64).max / 4
EXACT_BLOCK_BYTES = 2**25


def squared_norms(X: Any) -> NDArray[np.float64]:
    """Squared length of each row; rows too long for their square are refused."""
    with np.errstate(over="ignore"):
        norms = np.asarray(row_norms(X, squared=True))
    # The square of a distance is at most four times that of the longer row.
    if not (norms <= LARGEST).all():
        raise InputError(
            "Features are too large to measure distances: their squares overflow. "
            "Divide them by a constant, or standardise them."
        )
    return norms


def fast_squared_distances(
    A: Any, B: Any, A_norms: NDArray[np.float64], B_norms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``|a|^2 + |b|^2 - 2 a.b`` for all pairs of rows: one matrix product, some rounding."""
    D = safe_sparse_dot(A, B.T, dense_output=True)
    D *= -2
    D += A_norms[:, np.newaxis]
    D += B_norms
    return np.asarray(D)


def rounding_bound(
    n_terms: int, A_norms: NDArray[np.float64], B_norms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far each row of :func:`fast_squared_distances` can be from the truth.

    A dot product of d terms is off by at most about ``d * eps * |a| |b|``, which is at most
    ``d * eps * (|a|^2 + |b|^2) / 2``; the few other operations add some more eps.
    """
    return np.asarray((n_terms + 8) * EPSILON * (A_norms + B_norms.max(initial=0.0)))


def exact_distances(
    A: Any, B: Any, a: NDArray[np.intp], b: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Distance of ``A[a[i]]`` and ``B[b[i]]`` for every i, by subtraction: 0 for equal rows."""
    distances = np.empty(len(a))
    rows = max(1, EXACT_BLOCK_BYTES // (8 * max(1, A.shape[1])))
    for start in range(0, len(a), rows):
        block = slice(start, start + rows)
        difference = A[a[block]] - B[b[block]]
        if issparse(difference):
            squares = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", difference, difference)
        distances[block] = np.sqrt(squares)
    return distances
