"""Feature distances: what features are divided by, exact distances, and what "equal" means."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from nldd._base import canonical
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]

# Distances closer than this, relative to their size, are equal: they differ by rounding alone. Who
# wins then is in the kernel: Dy, then Dx, then the lowest row.
TIE = 1e-9
EPSILON = np.finfo(np.float64).eps
LARGEST = np.finfo(np.float64).max / 4
EXACT_BLOCK_BYTES = 2**25


def feature_scale(X: Any, standardize: str = "numeric") -> FloatArray:
    """Divisors that put features on a common scale.

    A standardised feature is divided by its standard deviation (with n - 1) over the training
    rows. Means cancel in a difference, so nothing is centred and sparse data stay sparse. Of
    "numeric", "all" and "none", the first leaves features of one or two values (words that occur
    or do not) as they are. The divisor of what is left alone, constants included, is 1.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0, 7.0], [1.0, 3.0, 7.0], [1.0, 5.0, 7.0]])
    >>> feature_scale(X)
    array([1., 2., 1.])
    """
    X = canonical(X)
    n_samples, n_features = X.shape
    scale = np.ones(n_features)
    if standardize == "none" or n_samples < 2:
        return scale
    if issparse(X):
        variance = mean_variance_axis(X.astype(np.float64), axis=0)[1]
        extremes = np.array(min_max_axis(X, axis=0), dtype=np.float64)
    else:
        variance = np.var(X, axis=0, dtype=np.float64)
        extremes = np.array([np.min(X, axis=0), np.max(X, axis=0)], dtype=np.float64)
    deviation = np.sqrt(variance * (n_samples / (n_samples - 1)))
    # A deviation that is rounding error beside the values themselves is a constant feature.
    chosen = deviation > 1e-12 * np.abs(extremes).max(axis=0)
    if standardize == "numeric":
        chosen &= ~_is_two_valued(X, *extremes)
    scale[chosen] = deviation[chosen]
    return scale


def scaled(X: Any, scale: FloatArray) -> Any:
    """`X` divided by `scale`, in double precision; sparse stays sparse, in canonical form."""
    if not issparse(X):
        return np.asarray(X, dtype=np.float64) / scale
    Z = canonical(X).astype(np.float64, copy=True)
    Z.data /= scale[Z.indices]
    return Z


def _is_two_valued(X: Any, smallest: FloatArray, largest: FloatArray) -> NDArray[np.bool_]:
    if not issparse(X):
        return np.asarray(((smallest == X) | (largest == X)).all(axis=0))
    n_samples, n_features = X.shape
    between = (X.data != smallest[X.indices]) & (X.data != largest[X.indices])
    has_between = np.bincount(X.indices[between], minlength=n_features) > 0
    # Zeros that are not stored are values too: a third one if both extremes differ from 0.
    stored = np.bincount(X.indices, minlength=n_features)
    hidden_zero = (stored < n_samples) & (smallest < 0) & (largest > 0)
    return np.asarray(~has_between & ~hidden_zero)


def squared_norms(X: Any) -> FloatArray:
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


def fast_squared_distances(A: Any, B: Any, A_norms: FloatArray, B_norms: FloatArray) -> FloatArray:
    """``|a|^2 + |b|^2 - 2 a.b`` for all pairs of rows: one matrix product, some rounding."""
    D = np.asarray(safe_sparse_dot(A, B.T, dense_output=True))
    D *= -2
    D += A_norms[:, np.newaxis]
    D += B_norms
    return D


def rounding_bound(n_terms: int, A_norms: FloatArray, B_norms: FloatArray) -> FloatArray:
    """How far each row of :func:`fast_squared_distances` can be from the truth.

    A dot product of d terms is off by at most about ``d * eps * |a| |b|``, which is at most
    ``d * eps * (|a|^2 + |b|^2) / 2``; the few other operations add some more eps.
    """
    return np.asarray((n_terms + 8) * EPSILON * (A_norms + B_norms.max(initial=0.0)))


def exact_distances(A: Any, B: Any, a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
    """Distance of ``A[a[i]]`` and ``B[b[i]]`` for every i, by subtraction: 0 for equal rows."""
    distances = np.empty(len(a))
    n_rows = max(1, EXACT_BLOCK_BYTES // (8 * max(1, A.shape[1])))
    for start in range(0, len(a), n_rows):
        block = slice(start, start + n_rows)
        difference = A[a[block]] - B[b[block]]
        if issparse(difference):
            distances[block] = np.sqrt(difference.multiply(difference).sum(axis=1)).ravel()
        else:
            distances[block] = row_norms(difference)
    return distances
