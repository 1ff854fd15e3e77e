"""Feature distances: their scale, exact ones, what "equal" means, and lower bounds of them."""

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from nldd._validation import to_canonical
from nldd.exceptions import InputError
from nldd.search._kernels import COORDINATES, EPSILON

FloatArray = NDArray[np.float64]

LARGEST = np.finfo(np.float64).max / 4
# A feature whose squares, and their sum over many rows, are finite.
LARGEST_FEATURE = 1e150
TOO_LARGE = "Features are too large to measure distances: their squares overflow."
EXACT_BLOCK_BYTES = 2**25
# Rows that the directions are learned from; more rows hardly change the leading directions.
SAMPLE = 1000
ITERATIONS = 3
# Wide sketches, for bounds by a matrix product: its time grows with them, but fewer rows are left
# to be evaluated. Up to so many features, it takes less time than to learn their directions.
WIDTH = 64
MAX_FEATURES = 128
BLOCK = 8192
LARGEST_COORDINATE = 1e18
# Squares beyond this may overflow in single precision.
LARGEST_SQUARE = 1e30
SINGLE = np.finfo(np.float32)


def feature_scale(X: Any, standardize: str = "numeric") -> FloatArray:
    """Divisors that put features on a common scale.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_features)
    standardize : {"numeric", "all", "none"}, default="numeric"
        Features to divide by their standard deviation; "numeric" leaves those of one or two values
        (words that occur or do not) as they are.

    Returns
    -------
    ndarray of shape (n_features,)
        The standard deviation (with n - 1) over the rows; 1 for what is left alone, constants
        included.

    Notes
    -----
    Means cancel in a difference, so nothing is centred and sparse data stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.search._distances import feature_scale
    >>> X = np.array([[0.0, 1.0, 7.0], [1.0, 3.0, 7.0], [1.0, 5.0, 7.0]])
    >>> feature_scale(X)
    array([1., 2., 1.])
    """
    return Spread.of(X).scale(standardize)


class Spread(NamedTuple):
    """How the features of some rows vary: their mean, squared deviations from it, and values."""

    n_rows: int
    mean: FloatArray
    squares: FloatArray
    smallest: FloatArray
    largest: FloatArray
    is_two_valued: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Any) -> "Spread":
        """The spread of the rows of `X`, dense or sparse."""
        X = to_canonical(X)
        of_columns = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
        smallest, largest = np.array(of_columns, dtype=np.float64)
        if max(-smallest.min(), largest.max()) > LARGEST_FEATURE:
            raise InputError(f"{TOO_LARGE} Divide them by a constant.")
        if issparse(X):
            mean, variance = mean_variance_axis(X.astype(np.float64), axis=0)
        else:
            mean = np.mean(X, axis=0, dtype=np.float64, keepdims=True)
            variance, mean = np.var(X, axis=0, dtype=np.float64, mean=mean), mean[0]
        two_valued, n_rows = _is_two_valued(X, smallest, largest), X.shape[0]
        return cls(n_rows, mean, variance * n_rows, smallest, largest, two_valued)

    def scale(self, standardize: str) -> FloatArray:
        """Divisors of the features; see :func:`feature_scale`."""
        scale = np.ones(len(self.mean))
        if standardize == "none" or self.n_rows < 2:
            return scale
        deviation = np.sqrt(self.squares / (self.n_rows - 1))
        # A deviation that is rounding error beside the values themselves is a constant feature.
        chosen = deviation > 1e-12 * np.maximum(np.abs(self.smallest), np.abs(self.largest))
        if standardize == "numeric":
            chosen &= ~self.is_two_valued
        scale[chosen] = deviation[chosen]
        return scale


def merge_spreads(parts: Iterable[Spread]) -> Spread:
    """The spread of the rows of all parts together."""
    return reduce(_merge_two, parts)


def _merge_two(a: Spread, b: Spread) -> Spread:
    # T. F. Chan, G. H. Golub and R. J. LeVeque (1983): no large squares are subtracted.
    n_rows, apart = a.n_rows + b.n_rows, b.mean - a.mean
    smallest, largest = np.minimum(a.smallest, b.smallest), np.maximum(a.largest, b.largest)
    is_extreme = [
        (value == smallest) | (value == largest)
        for value in (a.smallest, a.largest, b.smallest, b.largest)
    ]
    return Spread(
        n_rows,
        a.mean + apart * (b.n_rows / n_rows),
        a.squares + b.squares + apart**2 * (a.n_rows * b.n_rows / n_rows),
        smallest,
        largest,
        np.all([a.is_two_valued, b.is_two_valued, *is_extreme], axis=0),
    )


def word_scale(X: Any) -> FloatArray:
    """Divisors of features that are words: one over their inverse document frequencies.

    With n rows, of which n_j have word j, that is ``1 / (log((1 + n) / (1 + n_j)) + 1)``.
    """
    n_rows, counts = X.shape[0], np.asarray((X != 0).sum(axis=0)).ravel()
    return np.asarray(1 / (np.log((1 + n_rows) / (1 + counts)) + 1))


def scale_rows(X: Any, scale: FloatArray, unit_length: bool = False) -> Any:
    """`X` divided by `scale`, in double precision; sparse stays sparse, in canonical form.

    With `unit_length`, rows are then divided by their length.
    """
    if issparse(X):
        Z = to_canonical(X).astype(np.float64, copy=True)
        Z.data /= scale[Z.indices]
    else:
        Z = np.asarray(X, dtype=np.float64) / scale
    return normalize(Z, copy=False) if unit_length else Z


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
        raise InputError(f"{TOO_LARGE} Divide them by a constant, or standardise them.")
    return norms


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


class Sketch:
    """Coordinates in the leading directions of the data, and the length of what is left over.

    The map is never longer than the data: with V the directions (orthonormal) and r what they
    leave of a row, ``|a - b|^2 = |V'a - V'b|^2 + |r_a - r_b|^2``, and the last term is at least
    ``(|r_a| - |r_b|)^2``. So the distance of two sketches bounds the distance of the rows from
    below, tightly where few directions hold most of the variance. Features that are fewer than the
    coordinates are taken as they are. The centre is taken off dense rows first, which changes no
    distance; it is zero for sparse ones.
    """

    def __init__(self, Z: Any, width: int = COORDINATES) -> None:
        self.width, self.directions = width, None
        sample = Z[:: -(-Z.shape[0] // SAMPLE)]
        self.centre = np.zeros(Z.shape[1]) if issparse(Z) else sample.mean(axis=0)
        if issparse(Z) or Z.shape[1] >= width:
            self.directions = self._learn_directions(sample)
        # What is left over is a difference of squares: its root is off by the root of rounding.
        self.rounding = 4 * np.sqrt((Z.shape[1] + 8) * EPSILON) + 32 * SINGLE.eps

    def _learn_directions(self, sample: Any) -> FloatArray:
        """Subspace iteration. Any orthonormal ones would do; these hold most of the variance."""
        sample = sample if issparse(sample) else sample - self.centre
        # Directions have no length: rows near 1 keep the products below from overflowing.
        sample = sample / max(np.sqrt(squared_norms(sample).max()), np.finfo(np.float64).tiny)
        rank = min(self.width - 1, *sample.shape)
        directions = np.random.default_rng(0).normal(size=(sample.shape[1], rank))
        for _ in range(ITERATIONS):
            directions = np.linalg.qr(sample.T @ (sample @ directions))[0]
        return directions

    def __call__(self, Z: Any) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Sketches of the rows of `Z`, and how far each one's distances can be off.

        They are in single precision: reading them is most of the work of a search in many rows.
        """
        n_rows = Z.shape[0]
        sketch, length = np.zeros((n_rows, self.width), dtype=np.float32), np.empty(n_rows)
        for start in range(0, n_rows, BLOCK):
            block = slice(start, start + BLOCK)
            part = Z[block] if issparse(Z) else Z[block] - self.centre
            norms = squared_norms(part)
            within = part if self.directions is None else part @ self.directions
            # Cutting coordinates off at a limit shortens distances too, and keeps squares finite.
            sketch[block, : within.shape[1]] = within.clip(-LARGEST_COORDINATE, LARGEST_COORDINATE)
            if self.directions is not None:
                rest = np.sqrt(np.maximum(norms - squared_norms(within), 0))
                sketch[block, -1] = np.minimum(rest, LARGEST_COORDINATE)
            length[block] = np.sqrt(norms)
        return sketch, self.rounding * length


class LowerBounds:
    """Bounds of the distances to all dense rows at once, by a product in single precision.

    Of wide sketches, ``|a - b|^2 = |a|^2 + |b|^2 - 2 a.b`` is the product of the rows
    ``(-2 a, |a|^2, 1)`` and ``(b, 1, |b|^2)``; by how much that may be above the squared distance
    of what they are sketches of is taken off ``|a|^2`` beforehand.
    """

    def __init__(self, Z: NDArray[np.float64]) -> None:
        self.sketch = Sketch(Z, WIDTH if Z.shape[1] > MAX_FEATURES else Z.shape[1] + 1)
        self.rows, error, norms = self._sketches(Z)
        self.error, self.largest_norm = error.max(), norms.max()
        if self.largest_norm <= LARGEST_SQUARE:
            self.rows[:, -2], self.rows[:, -1] = 1, norms

    def __call__(self, A: NDArray[np.float64]) -> NDArray[np.float32]:
        """Bounds of shape (n_queries, n_rows), or all 0 where numbers are too large for them."""
        queries, error, norms = self._sketches(A)
        largest = self.largest_norm + norms
        if largest.max() > LARGEST_SQUARE:
            return np.zeros((1, len(self.rows)), dtype=np.float32)
        # A product of d terms is off by at most about d * eps * |a| |b|, no more than half of
        # d * eps * (|a|^2 + |b|^2); conversion and the two other terms add a few eps, and terms
        # too small for single precision are off by its smallest number. And a distance s of
        # sketches that may be e too long has (s - e)^2 >= s^2 - 2 s e, with s <= |a| + |b|.
        doubt = (queries.shape[1] + 16) * (SINGLE.eps * largest + SINGLE.tiny)
        doubt += 2 * np.sqrt(2 * largest) * (error + self.error)
        queries[:, :-2] *= -2
        queries[:, -2], queries[:, -1] = norms - doubt, 1
        return queries @ self.rows.T

    def _sketches(
        self, Z: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], FloatArray, FloatArray]:
        """Sketches with room for two columns more, their errors and their squared lengths."""
        sketch, error = self.sketch(Z)
        wide = np.empty((len(Z), self.sketch.width + 2), dtype=np.float32)
        wide[:, :-2] = sketch
        return wide, error, (error / self.sketch.rounding) ** 2
