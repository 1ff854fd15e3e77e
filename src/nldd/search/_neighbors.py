"""Exact nearest neighbours with a fixed rule for ties: the lowest row first."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from nldd._parallel import delayed, do_all
from nldd.search._distances import exact_distances, scale_rows, squared_norms
from nldd.search._kernels import EPSILON

MAX_BLOCK = 512


class NeighborIndex:
    """Euclidean neighbours among the rows of `X`.

    Distances come from a matrix product and, where rounding leaves more than k rows in question,
    once more by subtraction, so that equal rows have equal distances.
    """

    def __init__(self, X: Any) -> None:
        self.Z = scale_rows(X, np.ones(X.shape[1]))
        self.norms = squared_norms(self.Z)

    def nearest(self, X: Any, k: int, n_jobs: int | None = None) -> NDArray[np.intp]:
        """The k rows nearest to each row of `X`, in rising order; ties go to the lowest rows."""
        return self._search(scale_rows(X, np.ones(X.shape[1])), k, n_jobs, without_self=False)

    def nearest_others(self, k: int, n_jobs: int | None = None) -> NDArray[np.intp]:
        """Rows nearest to each indexed row, itself left out by its number, not by distance 0."""
        return self._search(self.Z, k, n_jobs, without_self=True)

    def _search(self, A: Any, k: int, n_jobs: int | None, without_self: bool) -> NDArray[np.intp]:
        if k == 0:
            return np.empty((A.shape[0], 0), dtype=np.intp)
        budget = get_config()["working_memory"] * 2**20 / effective_n_jobs(n_jobs)
        block_rows = int(np.clip(budget // (24 * len(self.norms)), 1, MAX_BLOCK))
        blocks = list(gen_batches(A.shape[0], block_rows))
        tasks = (
            delayed(self._search_block)(A[block], k, block if without_self else None)
            for block in blocks
        )
        return np.concatenate(do_all(tasks, len(blocks), n_jobs))

    def _search_block(self, A: Any, k: int, themselves: slice | None) -> NDArray[np.intp]:
        # |a|^2 + |b|^2 - 2 a.b from one matrix product. A dot product of d terms is off by at most
        # about d * eps * |a| |b|, no more than half of d * eps * (|a|^2 + |b|^2).
        norms = squared_norms(A)
        squares = np.asarray(safe_sparse_dot(A, self.Z.T, dense_output=True))
        squares *= -2
        squares += norms[:, np.newaxis]
        squares += self.norms
        bound = (A.shape[1] + 8) * EPSILON * (norms + self.norms.max())
        if themselves is not None:
            np.fill_diagonal(squares[:, themselves], np.inf)
        kth = np.partition(squares, k - 1, axis=1)[:, k - 1]
        query, row = np.nonzero(squares <= (kth + 2 * bound)[:, np.newaxis])
        # Where just k rows come into question the order among them does not matter; only where
        # there are more must distances be told apart by subtraction.
        crowded = (np.bincount(query, minlength=len(squares)) > k)[query]
        distance = np.zeros(len(query))
        distance[crowded] = exact_distances(A, self.Z, query[crowded], row[crowded])
        order = np.lexsort((row, distance, query))
        # Queries come in order, so ranks are positions since the first candidate of the query.
        nearest = order[np.arange(len(order)) - np.searchsorted(query, query) < k]
        return np.sort(row[nearest].reshape(-1, k), axis=1)
