"""Passes over rows in memory: which of the compiled ones, and the arrays that they take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.linear._kernels import (
    DOUBLE_WIDTH,
    ROWS,
    dense_curvatures,
    dense_slopes,
    sparse_curvatures,
    sparse_slopes,
)

FloatArray = NDArray[np.float64]

# Numbers in X from which on several threads do more than get in each other's way; one of a sparse
# row takes as long as several of a dense one.
WORTH_THREADS, SPARSE_COST = 300_000, 6
MANY = 4_000  # numbers in X, from which on single precision pays


class InMemory:
    """Dense or sparse rows on this machine, for a solver that works on some labels at a time.

    `weight` counts rows, and `C`, of shape (n_labels, 2), the rows without and with each label.
    """

    def __init__(self, X: Any, Y: NDArray[np.int8], weight: FloatArray, C: FloatArray) -> None:
        self.n_rows, self.n_features = X.shape
        filled = -self.n_rows % ROWS
        self.Y = np.pad(np.ascontiguousarray(Y.T, dtype=np.int8), ((0, 0), (0, filled)))
        self.weight, self.C = np.pad(np.asarray(weight, dtype=np.float64), (0, filled)), C
        self.is_sparse, where = issparse(X), tuple[Any, ...]()
        if self.is_sparse:
            where = X.indptr.astype(np.int64), X.indices.astype(np.int32)
        values = X.data if self.is_sparse else np.ascontiguousarray(X)
        self.is_small = values.size < MANY
        self.is_worth_threads = values.size * (SPARSE_COST if where else 1) >= WORTH_THREADS
        self.dtype = np.dtype(np.float64 if self.is_small else np.float32)
        self.rows = *where, values
        self.rows_for_curvatures = *where, values.astype(self.dtype, copy=False)
        # Labels whose slopes, and curvatures, take one pass.
        self.width = DOUBLE_WIDTH, 64 // self.dtype.itemsize

    def slots(self, n_slots: int) -> NDArray[Any]:
        """Curvatures of all rows, for so many labels at a time."""
        return np.zeros((n_slots, len(self.weight)), dtype=self.dtype)

    def ask(
        self, label: Any, W: FloatArray, S: FloatArray, first: Any, second: Any, D: Any
    ) -> tuple[Any, Any, Any]:
        """Slopes of the first slots, as gradients and diagonals, and curvatures of the second."""
        G, M = self.slopes(label[first], W, first, D) if len(first) else (None, None)
        return G, M, self.curvatures(S, second, D) if len(second) else None

    def slopes(self, labels: Any, W: FloatArray, slots: Any, D: Any) -> tuple[Any, Any]:
        """Gradients and diagonals of the Hessians of the loss; curvatures are kept in `D`."""
        width, p = self.width[0], self.n_features + 1
        lanes = np.arange(width) % len(slots)
        labels, slots = labels[lanes], slots[lanes]
        C = np.ascontiguousarray(self.C[labels].T)
        G, M = np.empty((2, width, p))
        run = sparse_slopes if self.is_sparse else dense_slopes
        given = self.Y, labels, self.weight, C, W, slots, D
        run(*self.rows, *given, G, M, tuple(np.empty((3, p, width))))
        return G, M

    def curvatures(self, S: FloatArray, slots: Any, D: Any) -> Any:
        """Products of the Hessians of the loss with the vectors of these slots."""
        width, p = self.width[1], self.n_features + 1
        slots, Q = slots[np.arange(width) % len(slots)], np.empty((width, p))
        run = sparse_curvatures if self.is_sparse else dense_curvatures
        room = tuple(np.empty((2, p, width), dtype=self.dtype))
        run(*self.rows_for_curvatures, S, slots, D, Q, room)
        return Q
