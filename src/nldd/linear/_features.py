"""What becomes of rows before they are weighed: points on a sphere, or other axes.

Features are records that were learned from training rows, and functions of further rows.

Dense rows are turned to the axes in which they vary most, where steps are fewer. The penalty is the
length of the coefficients, which a turn does not change; and there the Hessian is nearly diagonal,
so that conjugate gradients need a tenth of the steps. Only with an intercept that is free can the
mean be taken away: it makes up for it.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import issparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils import gen_batches

from nldd._base import Training

FloatArray = NDArray[np.float64]

# Against rounding, where landmarks are next to equal.
JITTER = 1e-8

BLOCK_ROWS = 4096


def times(X: Any, factors: FloatArray) -> Any:
    """Dense or CSR rows with each column times its factor."""
    if not issparse(X):
        return X * factors
    return type(X)((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)


@dataclass(frozen=True, eq=False)
class Normalised:
    """Rows of length 1; of text, so that long answers do not outweigh short ones."""

    keeps_features: ClassVar[bool] = True

    @property
    def n_given(self) -> int | None:
        """Columns that it was learned from, if from any."""
        return None

    def width(self, n_features: int) -> int:
        """Columns that come out."""
        return n_features

    def __call__(self, X: Any) -> Any:
        """The rows there; one of zeros stays where it is."""
        return normalize(X)


@dataclass(frozen=True, eq=False)
class Weighted(Normalised):
    """Columns times their inverse document frequency, then rows of length 1 (tf-idf).

    With n rows, of which n_j are not 0 in column j, its weight is ``log((1 + n) / (1 + n_j)) + 1``.
    """

    weights: FloatArray

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> "Weighted":
        """Weights of the columns of `X`, whose rows count as often as their `weight` says."""
        counts = weight @ (X != 0)
        return cls(np.log((1 + weight.sum()) / (1 + counts)) + 1)

    @property
    def n_given(self) -> int:
        """Columns that it was learned from."""
        return len(self.weights)

    def __call__(self, X: Any) -> Any:
        """The rows there."""
        return normalize(times(X, self.weights), copy=False)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A Gaussian kernel, by landmarks (Nystroem's method).

    Rows are divided by the standard deviations of the columns, z. With landmarks l_1, ..., l_m
    drawn from the training rows, ``k(a, b) = exp(-|a - b|^2 / 2d)`` for d columns, and K the matrix
    of the landmarks' own kernel values, the new features of a row are
    ``[k(z, l_1), ..., k(z, l_m)] R``, where ``R R' = inverse of K``: their products are kernel
    values, exactly so for landmarks.
    """

    scale: FloatArray
    landmarks: FloatArray
    root: FloatArray
    keeps_features: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Any, weight: FloatArray, n_landmarks: int) -> "Kernel":
        """Landmarks are distinct rows, at most half of them, whatever their order or number."""
        # Means cancel in differences.
        scale = StandardScaler(with_mean=False).fit(X, sample_weight=weight).scale_
        rng = np.random.RandomState(0)
        # Equal rows have equal places along a line; in double precision rounding could tell them
        # apart.
        place = np.asarray(X @ rng.standard_normal(X.shape[1]), dtype=np.float32)
        _, distinct = np.unique(place, return_index=True)
        size = min(n_landmarks, (len(distinct) + 1) // 2)
        rows = distinct[np.sort(rng.permutation(len(distinct))[:size])]
        landmarks = (X[rows].toarray() if issparse(X) else X[rows]) * (1 / scale)
        K = rbf_kernel(landmarks, gamma=0.5 / X.shape[1])
        lower = cholesky(K + JITTER * np.eye(len(K)), lower=True)
        root = solve_triangular(lower, np.eye(len(K)), lower=True).T
        return cls(scale, landmarks, np.ascontiguousarray(root))

    @property
    def n_given(self) -> int:
        """Columns that it was learned from."""
        return len(self.scale)

    def width(self, n_features: int) -> int:
        """Columns that come out: one a landmark, and those behind the ones that were learned."""
        return len(self.landmarks) + n_features - self.n_given

    def __call__(self, X: Any) -> FloatArray:
        """The rows there."""
        similar = rbf_kernel(times(X, 1 / self.scale), self.landmarks, gamma=0.5 / len(self.scale))
        return np.asarray(similar @ self.root)


Features = Literal["given", "normalised", "tfidf", "rbf"]
FeatureMap = Normalised | Kernel


@singledispatch
def learn_features(T: Any, kind: Features, n_landmarks: int) -> FeatureMap | None:
    """The map of that name for such rows; None for rows as they are given."""
    raise TypeError(f"Features cannot be learned from {type(T).__name__}.")


@learn_features.register
def _(T: Training, kind: Features, n_landmarks: int) -> FeatureMap | None:
    weight = np.ones(len(T)) if T.sample_weight is None else T.sample_weight
    if kind == "normalised":
        return Normalised()
    if kind == "tfidf":
        return Weighted.of(T.X, weight)
    return Kernel.of(T.X, weight, n_landmarks) if kind == "rbf" else None


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


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Those of both parts together."""
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
