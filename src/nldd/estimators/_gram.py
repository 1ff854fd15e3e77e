"""Inner products of the training rows, which the support vector machines of all labels share.

LIBSVM with a linear kernel works out the same inner products again for every label, and most of
its time goes there. A method takes them once for all of its labels, with ``with shared(Gram(X))``
around the fits; the machines find them by the X that they are given.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches

# More rows than that would take more than half a gigabyte.
MOST_ROWS = 8_000
# Sparse rows are multiplied as dense ones where more of their numbers are not 0 than this, and
# where that takes no more memory than the largest Gram matrix.
DENSE, MOST_DENSE = 0.05, MOST_ROWS**2
BATCH = 64


class Gram:
    """The Gram matrix of the rows of `X`, worked out when it is first asked for."""

    def __init__(self, X: Any, cut_from: "tuple[Gram, NDArray[np.intp]] | None" = None) -> None:
        """`X` may be some rows of another one, from whose matrix this one is cut."""
        self.X = X
        self._cut_from = cut_from
        self._matrix: NDArray[np.float64] | None = None
        self._lock = Lock()

    @property
    def is_small(self) -> bool:
        """Whether there are few enough rows for a matrix of all pairs."""
        return bool(self.X.shape[0] <= MOST_ROWS)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Inner product of each row with each; of threads that ask, one does the work."""
        with self._lock:
            if self._matrix is None:
                self._matrix = self._work_out()
            return self._matrix

    def _work_out(self) -> NDArray[np.float64]:
        if self._cut_from is None or not self._cut_from[0].is_small:
            return _inner_products(self.X)
        whole, rows = self._cut_from
        cut = np.empty((len(rows), len(rows)))
        # Some rows at a time, which stay in the cache of the processor.
        for batch in gen_batches(len(rows), BATCH):
            np.take(whole.matrix[rows[batch]], rows, axis=1, out=cut[batch], mode="clip")
        return cut

    def grow(self, X: Any, column: NDArray[np.int8]) -> None:
        """Become that of `X`: the rows so far, with a `column` of 0 and 1 behind them."""
        with self._lock:
            self.X = X
            if self._matrix is not None:
                on = np.flatnonzero(column)
                self._matrix[np.ix_(on, on)] += 1


def _inner_products(X: Any) -> NDArray[np.float64]:
    X = X.astype(np.float64, copy=False)
    size = X.shape[0] * X.shape[1]
    if issparse(X) and DENSE * size < X.nnz and size <= MOST_DENSE:
        X = X.toarray()
    products = X @ X.T
    return products.toarray() if issparse(products) else np.asarray(products)


# Those that methods are fitting with now. X must not change meanwhile, and it does not: nothing
# here writes to it, and `shared` ends with the fit, also by an error.
_shared: list[Gram] = []


@contextmanager
def share_gram(*grams: Gram) -> Iterator[None]:
    """Let machines that are fitted inside to the X of a gram, the object itself, use its matrix.

    All threads see it. Other processes do not, and their machines work it out for themselves.
    """
    _shared.extend(grams)
    try:
        yield
    finally:
        for gram in grams:
            _shared.remove(gram)


def gram_of(X: Any) -> Gram | None:
    """The Gram matrix that is shared for this very object, if there is one."""
    return next((gram for gram in tuple(_shared) if gram.X is X), None)
