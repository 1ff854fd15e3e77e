"""Which features are standardised before distances are taken, and by how much."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from nldd._base import canonical


def feature_scale(X: Any, standardize: str = "numeric") -> NDArray[np.float64]:
    """Divisors that put features on a common scale.

    A standardised feature is divided by its standard deviation (with n - 1) over the training
    rows. Means cancel in a difference, so nothing is centred and sparse data stay sparse.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    standardize : {"numeric", "all", "none"}
        "numeric" leaves features of one or two values (words that occur or do not) as they are.

    Returns
    -------
    scale : ndarray of shape (n_features,)
        1 for features that are left alone, constant ones included.

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
    deviation = np.sqrt(_variance(X) * (n_samples / (n_samples - 1)))
    chosen = ~_is_two_valued(X) if standardize == "numeric" else deviation > 0
    # A deviation that is rounding error beside the values themselves is a constant feature.
    chosen &= deviation > 1e-12 * np.abs(_extremes(X)).max(axis=0)
    scale[chosen] = deviation[chosen]
    return scale


def scaled(X: Any, scale: NDArray[np.float64]) -> Any:
    """`X` divided by `scale`, in double precision; sparse stays sparse, in canonical form."""
    if not issparse(X):
        return np.asarray(X, dtype=np.float64) / scale
    Z = canonical(X).astype(np.float64, copy=True)
    Z.data /= scale[Z.indices]
    return Z


def _variance(X: Any) -> NDArray[np.float64]:
    if issparse(X):
        return np.asarray(mean_variance_axis(X.astype(np.float64), axis=0)[1])
    return np.asarray(X).var(axis=0, dtype=np.float64)


def _extremes(X: Any) -> NDArray[np.float64]:
    smallest, largest = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.array([smallest, largest], dtype=np.float64)


def _is_two_valued(X: Any) -> NDArray[np.bool_]:
    smallest, largest = _extremes(X)
    if not issparse(X):
        return np.asarray(((smallest == X) | (largest == X)).all(axis=0))
    n_samples, n_features = X.shape
    between = (X.data != smallest[X.indices]) & (X.data != largest[X.indices])
    has_between = np.bincount(X.indices[between], minlength=n_features) > 0
    # Zeros that are not stored are values too: a third one if both extremes differ from 0.
    stored = np.bincount(X.indices, minlength=n_features)
    hidden_zero = (stored < n_samples) & (smallest < 0) & (largest > 0)
    return np.asarray(~has_between & ~hidden_zero)
