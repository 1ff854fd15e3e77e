"""The training data T of the paper: rows in memory, and what methods ask of them.

`nldd.distributed` has a class with the same interface for rows that are in blocks elsewhere.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd._labels import number_groups
from nldd.search._distances import feature_scale
from nldd.search._index import LabelsetIndex
from nldd.search._layout import distinct_labelsets

# Where fewer numbers than this share are not 0, columns are like words, which occur or do not.
SPARSE = 0.25
# Of more rows, the features of a kernel would take more than 100 megabytes.
MANY_ROWS = 50_000


class Labelsets(NamedTuple):
    """Distinct labelsets in lexicographic order, how many rows carry each, and the first row."""

    labelsets: NDArray[np.int8]
    counts: NDArray[np.int64]
    first: NDArray[np.intp]

    @classmethod
    def of(cls, Y: NDArray[Any]) -> "Labelsets":
        """The labelsets of the rows of an indicator array."""
        labelsets, number = distinct_labelsets(Y.astype(np.int8))
        counts, first = np.bincount(number), np.empty(len(labelsets), dtype=np.intp)
        first[number[::-1]] = np.arange(len(Y))[::-1]
        return cls(labelsets, counts, first)


@dataclass(frozen=True, eq=False)
class Training:
    """Rows with their labels; `rows` are positions in the data of `fit`, which had `n_given`."""

    X: Any
    Y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    rows: NDArray[np.intp]
    groups: NDArray[np.intp] | None = None
    n_given: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> "Training":
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        X, Y = self.X[rows], self.Y[rows]
        return Training(X, Y, weight, self.rows[rows], groups, self.n_given)

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def positives(self) -> NDArray[np.int64]:
        """How many rows carry each label."""
        return np.asarray(self.Y.sum(axis=0, dtype=np.int64))

    @property
    def weights(self) -> dict[str, Any]:
        """The weights, if there are any, as an argument for the `fit` of a classifier."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}

    @property
    def kind(self) -> str:
        """What the columns are like: "words", "numbers", or numbers of "many rows"."""
        n_filled = self.X.nnz if issparse(self.X) else np.count_nonzero(self.X)
        if n_filled < SPARSE * len(self) * self.n_features:
            return "words"
        return "numbers" if len(self) <= MANY_ROWS else "many rows"

    def scale(self, standardize: str) -> NDArray[np.float64]:
        """What to divide features by, as :func:`feature_scale` says."""
        return feature_scale(self.X, standardize)

    def index(self, scale: NDArray[np.float64]) -> LabelsetIndex:
        """The rows to search, with features divided by `scale`."""
        return LabelsetIndex(self.X, self.Y, scale)

    def labelsets(self) -> Labelsets:
        """The distinct labelsets."""
        return Labelsets.of(self.Y)

    def in_memory(self) -> "Training":
        """The rows themselves: only for few, where they are elsewhere."""
        return self


def random_part(n_samples: int, size: int, rng: RandomState) -> NDArray[np.intp]:
    """So many rows drawn at random, in order; all, and nothing drawn, if there are no more."""
    if n_samples <= size:
        return np.arange(n_samples)
    return np.sort(rng.permutation(n_samples)[:size])


def random_halves(
    n_samples: int, rng: RandomState, groups: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of T1 and T2, drawn at random by whole groups; an odd row goes to T1."""
    groups = np.arange(n_samples) if groups is None else number_groups(groups)
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    in_first = np.zeros(len(sizes), dtype=bool)
    in_first[order] = np.cumsum(sizes[order]) <= (n_samples + 1) // 2
    in_first[order[0]] = True  # however large that group is
    return np.flatnonzero(in_first[groups]), np.flatnonzero(~in_first[groups])
