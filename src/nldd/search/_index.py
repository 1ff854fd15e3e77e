"""Exact nearest labelset: the training rows, grouped by the labels they carry."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches

from nldd._parallel import delayed, do_all
from nldd.search._distances import (
    exact_distances,
    fast_squared_distances,
    rounding_bound,
    squared_norms,
)
from nldd.search._scale import scaled
from nldd.search._ties import TIE, first_in_group

# A score of feature and label distance that never falls when one of them grows.
Score = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

# Blocks beyond this many queries no longer gain speed, and only make the progress bar coarse.
MAX_BLOCK = 512


@dataclass(frozen=True)
class Neighbors:
    """The k nearest labelsets of each query, best first; all arrays have shape (n_queries, k).

    Attributes
    ----------
    row : training row that represents the labelset: its member nearest in feature space
    labelset : number of the labelset in ``LabelsetIndex.labelsets``
    Dx, Dy : distances of that row in feature space and in label space
    """

    row: NDArray[np.intp]
    labelset: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]

    @classmethod
    def stack(cls, parts: Iterable["Neighbors"]) -> "Neighbors":
        parts = list(parts)
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class LabelsetIndex:
    """Search structure over training rows.

    The label distance depends on the labelset alone, so rows are grouped by labelset once
    and a query needs one label distance per distinct labelset.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_features)
    Y : ndarray of shape (n_rows, n_labels), 0 and 1
    scale : ndarray of shape (n_features,)
        Divisors of the features, as from :func:`nldd.search.feature_scale`.

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        The distinct rows of `Y`.
    counts : ndarray of shape (n_labelsets,)
        How many rows carry each of them.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> Y = np.array([[1, 0], [1, 1], [1, 1]])
    >>> index = LabelsetIndex(X, Y, scale=np.ones(1))
    >>> near = index.query(np.array([[4.0]]), np.array([[0.9, 0.2]]), lambda Dx, Dy: Dx + 10 * Dy)
    >>> index.labelsets[near.labelset[:, 0]], near.row, near.Dx
    (array([[1, 0]]), array([[0]]), array([[4.]]))
    """

    def __init__(self, X: Any, Y: NDArray[Any], scale: NDArray[np.float64]) -> None:
        self.scale = scale
        self.labelsets, labelset = np.unique(Y, axis=0, return_inverse=True)
        # Stable: rows of one labelset stay in training order, so ties go to the lowest row.
        self.rows = np.argsort(labelset.ravel(), kind="stable")
        self.counts = np.bincount(labelset.ravel())
        self.starts = np.cumsum(self.counts) - self.counts
        self.Z = scaled(X[self.rows], scale)
        self.norms = squared_norms(self.Z)

    def query(
        self,
        X: Any,
        P: NDArray[np.float64],
        score: Score,
        k: int = 1,
        n_jobs: int | None = None,
        title: str | None = None,
    ) -> Neighbors:
        """The `k` distinct labelsets of smallest score for each row of `X` and `P`.

        Scores that differ by rounding alone are equal; then the smaller label distance wins,
        then the smaller feature distance, then the lowest training row. With a `title` there is
        a progress bar over the blocks.
        """
        blocks = list(gen_batches(X.shape[0], self._block_rows(n_jobs)))
        tasks = (delayed(self._query_block)(X[block], P[block], score, k) for block in blocks)
        return Neighbors.stack(do_all(tasks, len(blocks), n_jobs, title))

    def _block_rows(self, n_jobs: int | None) -> int:
        """Queries per block, so that all blocks at work fit scikit-learn's working memory."""
        budget = get_config()["working_memory"] * 2**20 / effective_n_jobs(n_jobs)
        # Per query: the distances to all rows, the candidate rows at worst, labelset arrays.
        bytes_per_query = 64 * (len(self.rows) + len(self.counts))
        return int(np.clip(budget // bytes_per_query, 1, MAX_BLOCK))

    def _query_block(self, X: Any, P: NDArray[np.float64], score: Score, k: int) -> Neighbors:
        A = scaled(X, self.scale)
        A_norms = squared_norms(A)
        squares = fast_squared_distances(A, self.Z, A_norms, self.norms)
        bound = rounding_bound(A.shape[1], A_norms, self.norms)[:, np.newaxis]
        nearest = np.minimum.reduceat(squares, self.starts, axis=1)

        query, labelset = self._candidate_labelsets(P, nearest, bound, score, k)
        Dy = exact_distances(P, self.labelsets, query, labelset)
        position, Dx = self._nearest_members(A, squares, nearest + 2 * bound, query, labelset)
        chosen = _k_best(query, (score(Dx, Dy), Dy, Dx, self.rows[position]), k)
        return Neighbors(self.rows[position[chosen]], labelset[chosen], Dx[chosen], Dy[chosen])

    def _candidate_labelsets(
        self,
        P: NDArray[np.float64],
        nearest: NDArray[np.float64],
        bound: NDArray[np.float64],
        score: Score,
        k: int,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs (query, labelset) that may be among the k best whatever the rounding was."""
        # |p - y|^2 = |p|^2 + sum of (1 - 2 p) over the labels in y, because y^2 = y.
        Dy2 = (1 - 2 * P) @ self.labelsets.T.astype(np.float64)
        Dy2 += squared_norms(P)[:, np.newaxis]
        Dy2_bound = (P.shape[1] + 8) * np.finfo(float).eps * P.shape[1]
        lowest = score(_root(nearest - bound), _root(Dy2 - Dy2_bound))
        highest = score(_root(nearest + bound), _root(Dy2 + Dy2_bound))
        cut = np.partition(highest, k - 1, axis=1)[:, [k - 1]]
        query, labelset = np.nonzero(lowest <= cut * (1 + 2 * TIE))
        return query, labelset

    def _nearest_members(
        self,
        A: Any,
        squares: NDArray[np.float64],
        limit: NDArray[np.float64],
        query: NDArray[np.intp],
        labelset: NDArray[np.intp],
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """For each pair (query, labelset): its member nearest in features, and how near it is."""
        size = self.counts[labelset]
        pair = np.repeat(np.arange(len(query)), size)
        step = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size)
        member = self.starts[labelset][pair] + step
        reach = limit[query, labelset] * (1 + 4 * TIE)
        close = squares[query[pair], member] <= reach[pair]
        pair, member = pair[close], member[close]
        Dx = exact_distances(A, self.Z, query[pair], member)
        first = first_in_group(pair, Dx, self.rows[member])
        return member[first], Dx[first]


def _root(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(squares, 0))


def _k_best(query: NDArray[np.intp], keys: tuple[NDArray[Any], ...], k: int) -> NDArray[np.intp]:
    """Positions of the k best candidates of each query, of shape (n_queries, k)."""
    left = np.arange(len(query))
    columns = []
    for _ in range(k):
        first = first_in_group(query[left], *(key[left] for key in keys))
        columns.append(left[first])
        left = np.delete(left, first)
    return np.stack(columns, axis=1)
