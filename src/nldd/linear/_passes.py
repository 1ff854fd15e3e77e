"""What the solver asks of X, compiled: slopes and curvatures of eight labels in one pass.

A pass goes over the rows once: the products of a row with the coefficients of eight labels, what
the loss makes of them, and at once, while the row is at hand, its share of the sums over rows.
Slopes, which decide where the optimum is, are in double precision. Curvatures only decide how to
get there; where there is much to do, single precision does it in half of the time.

A label has a slot: row ``slots[lane]`` of `W`, `D` and the other arrays that passes have in common.
Where there are fewer labels than lanes, some lanes do the same.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, var-annotated"

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd._kernels import cached_kernel, kernel
from nldd.linear._lanes import DOUBLE_WIDTH, exp, fill, fma, gather, load, scatter, store

FloatArray = NDArray[np.float64]

ROWS = 4  # dense rows that share a load of the coefficients
# Numbers in X from which on several threads do more than get in each other's way; one of a sparse
# row takes as long as several of a dense one.
WORTH_THREADS, SPARSE_COST = 300_000, 6
MANY = 4_000  # numbers in X, from which on single precision pays


@kernel()
def _pack(vectors, slots, packed):
    """Vectors of these slots side by side."""
    for lane in range(packed.shape[1]):
        for j in range(len(packed)):
            packed[j, lane] = vectors[slots[lane], j]


@kernel()
def _unpack(packed, vectors):
    """Back to one row a lane."""
    for lane in range(packed.shape[1]):
        for j in range(len(packed)):
            vectors[lane, j] = packed[j, lane]


@kernel()
def _slope_and_curvature(z, Y, labels, weight, i, C0, C1, D, slots):
    """Derivatives of the loss of row i by its log-odds z; the second ones are kept in `D`."""
    one, y = fill(1.0), gather(Y, labels, i, z)
    p = one / (one + exp(fill(0.0) - z))
    c = fill(weight[i]) * fma(y, C1 - C0, C0)
    curvature = c * p * (one - p)
    scatter(D, slots, i, curvature)
    return c * (p - y), curvature


@cached_kernel
def sparse_slopes(starts, columns, values, Y, labels, weight, C, W, slots, D, G, M, room):
    """Gradients `G` and diagonals `M` of the Hessians of the loss at `W`, and curvatures `D`."""
    w, g, m = room
    n_rows, last = len(starts) - 1, len(w) - 1
    _pack(W, slots, w)
    for j in range(last):
        store(g, j, fill(0.0))
        store(m, j, fill(0.0))
    C0, C1, intercept, t_sum, c_sum = load(C, 0), load(C, 1), load(w, last), fill(0.0), fill(0.0)
    for i in range(n_rows):
        z = intercept
        for k in range(starts[i], starts[i + 1]):
            z = fma(fill(np.float64(values[k])), load(w, columns[k]), z)
        t, c = _slope_and_curvature(z, Y, labels, weight, i, C0, C1, D, slots)
        t_sum, c_sum = t_sum + t, c_sum + c
        for k in range(starts[i], starts[i + 1]):
            j, x = columns[k], fill(np.float64(values[k]))
            store(g, j, fma(x, t, load(g, j)))
            store(m, j, fma(x * x, c, load(m, j)))
    store(g, last, t_sum)
    store(m, last, c_sum)
    _unpack(g, G)
    _unpack(m, M)


@cached_kernel
def sparse_curvatures(starts, columns, values, S, slots, D, Q, room):
    """Products `Q` of the Hessians of the loss with `S`."""
    s, q = room
    n_rows, last = len(starts) - 1, len(s) - 1
    _pack(S, slots, s)
    intercept = load(s, last)
    zero = intercept - intercept
    for j in range(last):
        store(q, j, zero)
    total = zero
    for i in range(n_rows):
        z = intercept
        for k in range(starts[i], starts[i + 1]):
            z = fma(fill(values[k]), load(s, columns[k]), z)
        z = z * gather(D, slots, i, intercept)
        total = total + z
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            store(q, j, fma(fill(values[k]), z, load(q, j)))
    store(q, last, total)
    _unpack(q, Q)


@cached_kernel
def dense_slopes(X, Y, labels, weight, C, W, slots, D, G, M, room):
    """As for sparse rows, four rows at a time; beyond the last row, `weight` has zeros."""
    w, g, m = room
    last_row, last = len(X) - 1, len(w) - 1
    _pack(W, slots, w)
    for j in range(last):
        store(g, j, fill(0.0))
        store(m, j, fill(0.0))
    C0, C1, intercept, t_sum, c_sum = load(C, 0), load(C, 1), load(w, last), fill(0.0), fill(0.0)
    for i in range(0, len(X), ROWS):
        i1, i2, i3 = min(i + 1, last_row), min(i + 2, last_row), min(i + 3, last_row)
        z0, z1, z2, z3 = intercept, intercept, intercept, intercept
        for j in range(last):
            wj = load(w, j)
            z0 = fma(fill(np.float64(X[i, j])), wj, z0)
            z1 = fma(fill(np.float64(X[i1, j])), wj, z1)
            z2 = fma(fill(np.float64(X[i2, j])), wj, z2)
            z3 = fma(fill(np.float64(X[i3, j])), wj, z3)
        t0, c0 = _slope_and_curvature(z0, Y, labels, weight, i, C0, C1, D, slots)
        t1, c1 = _slope_and_curvature(z1, Y, labels, weight, i + 1, C0, C1, D, slots)
        t2, c2 = _slope_and_curvature(z2, Y, labels, weight, i + 2, C0, C1, D, slots)
        t3, c3 = _slope_and_curvature(z3, Y, labels, weight, i + 3, C0, C1, D, slots)
        t_sum, c_sum = t_sum + (t0 + t1) + (t2 + t3), c_sum + (c0 + c1) + (c2 + c3)
        for j in range(last):
            x0, x1 = fill(np.float64(X[i, j])), fill(np.float64(X[i1, j]))
            x2, x3 = fill(np.float64(X[i2, j])), fill(np.float64(X[i3, j]))
            store(g, j, fma(x0, t0, fma(x1, t1, fma(x2, t2, fma(x3, t3, load(g, j))))))
            squares = fma(x2 * x2, c2, fma(x3 * x3, c3, load(m, j)))
            store(m, j, fma(x0 * x0, c0, fma(x1 * x1, c1, squares)))
    store(g, last, t_sum)
    store(m, last, c_sum)
    _unpack(g, G)
    _unpack(m, M)


@cached_kernel
def dense_curvatures(X, S, slots, D, Q, room):
    """As for sparse rows, four rows at a time; beyond the last row, `D` has zeros."""
    s, q = room
    last_row, last = len(X) - 1, len(s) - 1
    _pack(S, slots, s)
    intercept = load(s, last)
    zero = intercept - intercept
    for j in range(last):
        store(q, j, zero)
    total = zero
    for i in range(0, len(X), ROWS):
        i1, i2, i3 = min(i + 1, last_row), min(i + 2, last_row), min(i + 3, last_row)
        z0, z1, z2, z3 = intercept, intercept, intercept, intercept
        for j in range(last):
            sj = load(s, j)
            z0 = fma(fill(X[i, j]), sj, z0)
            z1 = fma(fill(X[i1, j]), sj, z1)
            z2 = fma(fill(X[i2, j]), sj, z2)
            z3 = fma(fill(X[i3, j]), sj, z3)
        z0, z1 = z0 * gather(D, slots, i, intercept), z1 * gather(D, slots, i + 1, intercept)
        z2, z3 = z2 * gather(D, slots, i + 2, intercept), z3 * gather(D, slots, i + 3, intercept)
        total = total + (z0 + z1) + (z2 + z3)
        for j in range(last):
            upper = fma(fill(X[i2, j]), z2, fma(fill(X[i3, j]), z3, load(q, j)))
            store(q, j, fma(fill(X[i, j]), z0, fma(fill(X[i1, j]), z1, upper)))
    store(q, last, total)
    _unpack(q, Q)


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
