"""Candidates from faiss, proven or replaced: for dense data of very many rows."""

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.exceptions import InputError, MissingExtraError
from nldd.search._distances import FloatArray, exact_distances
from nldd.search._index import LabelsetIndex, Score

# Neighbours that faiss is asked for, and lists of rows that it looks through for them.
NEIGHBORS = 32
LISTS_SEARCHED = 16
# Below so many rows, faiss compares with all of them.
FEW_ROWS = 10_000


class FaissLabelsetIndex(LabelsetIndex):
    """A :class:`LabelsetIndex` in which every search starts from the neighbours that faiss finds.

    The best of them is a score to beat. Where the bounds prove that nothing beats it, it is the
    answer; elsewhere the search goes on. So answers are exact, whatever faiss missed.
    """

    def _arrange(self, Z: Any, Y: NDArray[Any], number: NDArray[np.int64]) -> None:
        faiss = check_faiss(Z)
        super()._arrange(Z, Y, number)
        rows = np.ascontiguousarray(self._rows() - self.sketch.centre, dtype=np.float32)
        n_rows, n_features = rows.shape
        if n_rows < FEW_ROWS:
            self.faiss = faiss.IndexFlatL2(n_features)
        else:
            n_lists = int(np.sqrt(n_rows))
            self.faiss = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_features), n_features, n_lists)
            self.faiss.train(rows[:: max(1, n_rows // (64 * n_lists))])
            self.faiss.nprobe = LISTS_SEARCHED
        self.faiss.add(rows)

    def _known_scores(self, A: Any, P: FloatArray, score: Score, k: int) -> FloatArray:
        """Exact score of the best neighbour that faiss finds, where one labelset is asked for."""
        if k > 1:
            return super()._known_scores(A, P, score, k)
        # Blocks are shared out among workers already.
        check_faiss(A).omp_set_num_threads(1)
        n_neighbors = min(NEIGHBORS, len(self))
        _, at = self.faiss.search((A - self.sketch.centre).astype(np.float32), n_neighbors)
        at = np.where(at < 0, at[:, :1], at).astype(np.intp)  # fewer found than asked for
        labelset = np.repeat(np.arange(len(self.counts)), self.counts)
        query = np.repeat(np.arange(len(A)), n_neighbors)
        Dx = exact_distances(A, self._rows(), query, at.ravel())
        Dy = exact_distances(P, self.labelsets, query, labelset[at.ravel()])
        return score.of(Dx, Dy).reshape(at.shape).min(axis=1)


def check_faiss(X: Any) -> ModuleType:
    """The faiss module; an error if it is not installed or has no use for `X`."""
    if issparse(X):
        raise InputError(
            'search="faiss" takes dense features, but X is sparse. Reduce it first, with '
            'sklearn.decomposition.TruncatedSVD say, or use search="exact".'
        )
    try:
        return import_module("faiss")
    except ImportError as error:
        raise MissingExtraError(
            'search="faiss" needs faiss; the default, search="exact", needs nothing more.',
            extra="faiss",
        ) from error
