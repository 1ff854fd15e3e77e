"""The paper's rule: the nearest labelset, by distances whose weights pairs of rows teach."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.regression._regression import DistanceRegression, Pairs
from nldd.search._index import IN_FEATURES, IN_LABELS, Neighbors, Score

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NearestRule:
    """The rows to search, and the regression that says how far away each of them is."""

    index: Any
    pairs: Any  # None on the workers of a cluster
    regression: DistanceRegression

    @property
    def score(self) -> Score:
        """What a search minimises, so that it finds the labelsets of smallest theta."""
        _, x, y = self.regression.beta
        return Score(x, y, product=self.regression.model == "multiplicative")

    def with_rows(self, X: Any, Y: NDArray[Any]) -> "NearestRule":
        """The same with more rows to search."""
        return replace(self, index=self.index.with_rows(X, Y))

    def nearest(
        self, X: Any, P: FloatArray, k: int = 1, n_jobs: int | None = None, verbose: int = 0
    ) -> Neighbors:
        """The k labelsets of smallest theta for each row with label probabilities `P`."""
        title = "nearest labelsets" if verbose else None
        found: Neighbors = self.index.query(X, P, self.score, k, n_jobs, title)
        return found


def find_pairs(
    T1: Any, T2: Any, P: FloatArray, scale: FloatArray, n_jobs: int | None = None, verbose: int = 0
) -> Pairs:
    """Each instance of T2 with its nearest row of T1 in features, and in labels.

    Where one row is nearest in both spaces, the instance gives a single pair.
    """
    index = T1.index(scale)
    m1, m2 = (
        index.query(T2.X, P, score, 1, n_jobs, f"pairs nearest in {space}" if verbose else None)
        for score, space in ((IN_FEATURES, "x"), (IN_LABELS, "y"))
    )
    twice = (m1.row != m2.row).ravel()
    instance = np.concatenate([np.arange(len(T2)), np.flatnonzero(twice)])

    def both(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([first[:, 0], second[twice, 0]])

    labelsets = index.labelsets[both(m1.labelset, m2.labelset)]
    weight = np.ones(len(T2)) if T2.sample_weight is None else T2.sample_weight
    return Pairs(
        Dx=both(m1.Dx, m2.Dx),
        Dy=both(m1.Dy, m2.Dy),
        errors=(T2.Y[instance] != labelsets).sum(axis=1),
        n_labels=T2.Y.shape[1],
        instance=T2.rows[instance],
        row=T1.rows[both(m1.row, m2.row)],
        weight=weight[instance],
    )
