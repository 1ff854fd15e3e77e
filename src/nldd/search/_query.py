"""What is asked of a search, what it answers, and how much work that was."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Score(NamedTuple):
    """``x * Dx + y * Dy``, or as a product ``Dx^x * Dy^y``: what a search minimises.

    The weights x and y are not negative; in a product, as in the multiplicative model, they are
    exponents.
    """

    x: float
    y: float
    product: bool = False

    def of(self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of pairs of distances; it never falls when one of them grows."""
        if self.product:
            return np.power(Dx, self.x) * np.power(Dy, self.y)
        return self.x * Dx + self.y * Dy


IN_FEATURES = Score(x=1.0, y=0.0)
IN_LABELS = Score(x=0.0, y=1.0)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k nearest labelsets of each query, best first; arrays of shape (n_queries, k).

    A `labelset` of the index is represented by a `row`: its member nearest in feature space. For
    each query, `evaluated` counts the feature distances that the search computed, and `certified`
    says whether the candidate that it started from was proven to be the answer; True where it
    started from none. Answers are exact in any case.
    """

    row: NDArray[np.intp]
    labelset: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    evaluated: NDArray[np.intp]
    certified: NDArray[np.bool_]

    @classmethod
    def stack(cls, parts: Iterable["Neighbors"]) -> "Neighbors":
        """The answers to several blocks of queries as one."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))


@dataclass(frozen=True)
class SearchStats:
    """How much work a search was.

    For `n_queries` queries, `n_evaluated` feature distances were computed, where a search without
    shortcuts would have computed `n_pairs`. In `n_certified` of them the candidate to start from,
    if there was one, was proven right.

    Examples
    --------
    >>> stats = SearchStats(n_queries=2, n_evaluated=30, n_pairs=1000, n_certified=2)
    >>> stats.share_evaluated, stats.share_certified
    (0.03, 1.0)
    """

    n_queries: int = 0
    n_evaluated: int = 0
    n_pairs: int = 0
    n_certified: int = 0

    @classmethod
    def of(cls, found: Neighbors, n_rows: int) -> "SearchStats":
        """The work of the search that gave `found` in an index of so many rows."""
        n_queries = len(found.evaluated)
        n_evaluated, n_certified = int(found.evaluated.sum()), int(found.certified.sum())
        return cls(n_queries, n_evaluated, n_queries * n_rows, n_certified)

    @property
    def share_evaluated(self) -> float:
        """Share of the feature distances that were computed; the others could not matter."""
        return self.n_evaluated / self.n_pairs if self.n_pairs else 0.0

    @property
    def share_certified(self) -> float:
        """Share of queries that needed no more than the candidate; all are answered exactly."""
        return self.n_certified / self.n_queries if self.n_queries else 1.0
