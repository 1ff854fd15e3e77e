"""What a logistic regression makes of rows before it weighs them: nothing, or points on a sphere.

Each map is a record that was learned from training rows, and a function of further rows.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import issparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler, normalize

from nldd._training import Training

FloatArray = NDArray[np.float64]

# Against rounding, where landmarks are next to equal.
JITTER = 1e-8


def times(X: Any, factors: FloatArray) -> Any:
    """Dense or CSR rows with each column times its factor."""
    if not issparse(X):
        return X * factors
    return type(X)((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)


@dataclass(frozen=True, eq=False)
class Normalised:
    """Rows of length 1; of text, so that long answers do not outweigh short ones."""

    keeps_features: ClassVar[bool] = True
    n_given: ClassVar[None] = None

    def width(self, n_features: int) -> int:
        """Columns that come out."""
        return n_features

    def __call__(self, X: Any) -> Any:
        """The rows there; one of zeros stays where it is."""
        return normalize(X)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Columns times their inverse document frequency, then rows of length 1 (tf-idf).

    With n rows, of which n_j are not 0 in column j, its weight is ``log((1 + n) / (1 + n_j)) + 1``.
    """

    weights: FloatArray
    keeps_features: ClassVar[bool] = True

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> "Weighted":
        """Weights of the columns of `X`, whose rows count as often as their `weight` says."""
        counts = weight @ (X != 0)
        return cls(np.log((1 + weight.sum()) / (1 + counts)) + 1)

    @property
    def n_given(self) -> int:
        """Columns that it was learned from."""
        return len(self.weights)

    def width(self, n_features: int) -> int:
        """Columns that come out."""
        return n_features

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
FeatureMap = Normalised | Weighted | Kernel


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
