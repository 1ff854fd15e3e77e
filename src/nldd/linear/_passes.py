"""Passes over rows in memory: dense ones by products of matrices, sparse ones by kernels.

Both answer for some labels at a time. `C`, of shape (n_labels, 2), counts the rows without and with
each label, and `weight` counts rows. In all answers, the last column is the intercept.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.linear._kernels import DOUBLE_WIDTH, SINGLE_WIDTH, sparse_curvatures, sparse_slopes

FloatArray = NDArray[np.float64]

# Labels that are solved together: of dense rows, and the most of sparse ones.
BATCH, MOST_TOGETHER = 16, 64


class InMemory:
    """Rows on this machine, for a solver that works on some labels at a time.

    They have so many numbers (`size`), one of which takes so long (`cost`), and passes of `widths`,
    for slopes and for curvatures of so many labels. Curvatures of rows are kept in D from one pass
    to the next.
    """

    widths: tuple[int, int]

    def ask(
        self, labels: Any, W: FloatArray, S: FloatArray, D: Any, first: Any, second: Any
    ) -> tuple[Any, Any, Any]:
        """Slopes of the first labels, as gradients and diagonals, and curvatures of the second."""
        G, M = self.slopes(labels, W, D, first) if len(first) else (None, None)
        return G, M, self.curvatures(S, D, second) if len(second) else None

    @abstractmethod
    def slopes(self, labels: Any, W: FloatArray, D: Any, u: Any) -> tuple[FloatArray, FloatArray]:
        """Gradients of the loss of labels u, and diagonals of its Hessians; curvatures go to D."""

    @abstractmethod
    def curvatures(self, S: FloatArray, D: NDArray[Any], u: Any) -> FloatArray:
        """Products of the Hessians of the loss with the vectors S of labels u."""


class DensePasses(InMemory):
    """Dense rows, in double precision, with a column of ones behind for the intercept.

    Diagonals of Hessians, which speed things up and decide nothing, are as if curvatures did not
    depend on rows.
    """

    cost = 1
    widths = BATCH, BATCH

    def __init__(self, X: Any, Y: NDArray[Any], weight: FloatArray, C: FloatArray) -> None:
        self.X = np.column_stack([X, np.ones(len(X))]).astype(np.float64, copy=False)
        self.Y, self.weight, self.C = np.ascontiguousarray(Y.T, dtype=np.float64), weight, C
        self.mean_squares = weight @ np.square(self.X) / weight.sum()
        self.size = X.size

    def n_batches(self, n_labels: int, n_workers: int) -> int:
        """Whatever the workers: products of matrices round otherwise if their shapes differ."""
        return -(-n_labels // BATCH)

    def allocate(self, n_labels: int) -> FloatArray:
        """Room for the curvatures of all rows, for so many labels."""
        return np.zeros((n_labels, len(self.X)))

    @np.errstate(over="ignore")  # where a probability is next to 0
    def slopes(self, labels: Any, W: FloatArray, D: Any, u: Any) -> tuple[FloatArray, FloatArray]:
        Y, (C0, C1) = self.Y[labels[u]], self.C[labels[u]].T[:, :, np.newaxis]
        cost = self.weight * (C0 + (C1 - C0) * Y)
        P = 1 / (1 + np.exp(-(W[u] @ self.X.T)))  # in a third of the time of scipy's expit
        curvature = cost * P * (1 - P)
        D[u] = curvature
        return (cost * (P - Y)) @ self.X, np.outer(curvature.sum(axis=1), self.mean_squares)

    def curvatures(self, S: FloatArray, D: FloatArray, u: Any) -> FloatArray:
        Z = S[u] @ self.X.T
        Z *= D[u]
        return np.asarray(Z @ self.X)


class SparsePasses(InMemory):
    """CSR rows: slopes in double precision, curvatures in single."""

    cost = 6
    widths = DOUBLE_WIDTH, SINGLE_WIDTH

    @np.errstate(over="ignore")  # numbers beyond all bounds end with a label that is stuck
    def __init__(self, X: Any, Y: NDArray[Any], weight: FloatArray, C: FloatArray) -> None:
        self.where = X.indptr.astype(np.int64), X.indices.astype(np.int32)
        self.values, self.single = X.data, X.data.astype(np.float32)
        self.Y, self.weight, self.C = Y, np.asarray(weight, dtype=np.float64), C
        self.size = X.nnz

    def n_batches(self, n_labels: int, n_workers: int) -> int:
        """As many for each worker, and few, so that enough labels wait for the same thing."""
        return n_workers * -(-n_labels // (n_workers * MOST_TOGETHER))

    def allocate(self, n_labels: int) -> NDArray[np.float32]:
        """Room for the curvatures of all rows, for so many labels."""
        return np.zeros((len(self.weight), n_labels), dtype=np.float32)

    def slopes(self, labels: Any, W: FloatArray, D: Any, u: Any) -> tuple[FloatArray, FloatArray]:
        lanes = u[np.arange(self.widths[0]) % len(u)]
        Y = self.Y.take(labels[lanes], axis=1).astype(np.float64)
        C, W = np.ascontiguousarray(self.C[labels[lanes]].T), np.ascontiguousarray(W[lanes].T)
        curvature, G, M = np.empty_like(Y), np.zeros_like(W), np.zeros_like(W)
        sparse_slopes(*self.where, self.values, Y, self.weight, C, W, curvature, G, M)
        D[:, u] = curvature[:, : len(u)]
        return np.array(G.T[: len(u)], order="C"), np.array(M.T[: len(u)], order="C")

    def curvatures(self, S: FloatArray, D: NDArray[np.float32], u: Any) -> FloatArray:
        lanes = u[np.arange(self.widths[1]) % len(u)]
        steps = S[lanes].astype(np.float32).T.copy()
        Q = np.zeros_like(steps)
        sparse_curvatures(*self.where, self.single, D, lanes, steps, Q)
        return np.array(Q.T[: len(u)], dtype=np.float64, order="C")
