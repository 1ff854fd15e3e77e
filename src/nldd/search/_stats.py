"""How much work the searches of an index were."""

from dataclasses import dataclass

from nldd.search._index import Neighbors


@dataclass
class SearchStats:
    """Counts over the searches since `fit`.

    Attributes
    ----------
    n_queries : int
    n_evaluated : int
        Feature distances that were computed.
    n_pairs : int
        Feature distances that a search without shortcuts would have computed.
    n_certified : int
        Queries in which the candidate to start from, if there was one, was proven right.
    """

    n_queries: int = 0
    n_evaluated: int = 0
    n_pairs: int = 0
    n_certified: int = 0

    @property
    def share_evaluated(self) -> float:
        """Share of the feature distances that were computed; the others could not matter."""
        return self.n_evaluated / self.n_pairs if self.n_pairs else 0.0

    @property
    def share_certified(self) -> float:
        """Share of queries that needed no more than the candidate; all are answered exactly."""
        return self.n_certified / self.n_queries if self.n_queries else 1.0

    def count(self, found: Neighbors, n_rows: int) -> None:
        """Add the searches that gave `found` in an index of so many rows."""
        self.n_queries += len(found.evaluated)
        self.n_evaluated += int(found.evaluated.sum())
        self.n_certified += int(found.certified.sum())
        self.n_pairs += len(found.evaluated) * n_rows
