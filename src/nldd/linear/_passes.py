"""Passes over rows in memory: dense ones by products of matrices, sparse ones by kernels.

Both answer for some labels at a time. `C`, of shape (n_labels, 2), counts the rows without and with
each label, and `weight` counts rows. In all answers, the last column is the intercept.

A kernel gives the slopes of eight labels, or the curvatures of sixteen, in one pass. It goes over
the rows once: the products of a row with the coefficients of all lanes, what the loss makes of
them, and at once, while the row is at hand, its share of the sums over rows. Slopes, which decide
where the optimum is, are in double precision. Curvatures only decide how to get there; single
precision does it in half of the time.

Numba leaves it to the compiler to find vectors, and the compiler does not find them in sparse
products. With types of their own they are written down: ``z = fma(x, load(W, j), z)`` moves the
log-odds of eight labels by one feature, in an instruction or two. No lane looks at another one, so
what a label learns does not depend on the labels beside it. ``benchmarks/lanes.py`` measures what
that gains over the same passes in plain numba, which the tests compare them with.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, misc, var-annotated"

import operator
from abc import abstractmethod
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model
from numpy.typing import NDArray

from nldd.search._kernels import cached_kernel

DOUBLE_WIDTH, SINGLE_WIDTH = 8, 16  # 64 bytes
INT = ir.IntType(32)
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
FloatArray = NDArray[np.float64]

# Labels that are solved together: of dense rows, and the most of sparse ones.
BATCH, MOST_TOGETHER = 16, 64


class LanesType(types.Type):
    """Numbers side by side in a vector register."""

    def __init__(self, dtype: Any, number: Any, width: int) -> None:
        super().__init__(name=f"Lanes({dtype})")
        self.dtype, self.width, self.vector = dtype, width, ir.VectorType(number, width)


DOUBLES = LanesType(types.float64, ir.DoubleType(), DOUBLE_WIDTH)
SINGLES = LanesType(types.float32, ir.FloatType(), SINGLE_WIDTH)
OF = {lanes.dtype: lanes for lanes in (DOUBLES, SINGLES)}


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """How the compiler holds them."""

    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, lanes.vector)


def _row(context, builder, kind, array, row):
    """The address of one row of an array of shape (rows, width), and its alignment."""
    lanes, size = OF[kind.dtype], kind.dtype.bitwidth // 8
    data = context.make_array(kind)(context, builder, array).data
    first = builder.gep(data, [builder.mul(row, ir.Constant(row.type, lanes.width))])
    return builder.bitcast(first, lanes.vector.as_pointer()), size


@intrinsic
def load(typing, array, row):
    """Row `row` of an array of shape (rows, width)."""

    def generate(context, builder, signature, args):
        address, align = _row(context, builder, signature.args[0], *args)
        return builder.load(address, align=align)

    return OF[array.dtype](array, types.intp), generate


@intrinsic
def store(typing, array, row, value):
    """Replace row `row` of an array of shape (rows, width)."""

    def generate(context, builder, signature, args):
        address, align = _row(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], address, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, OF[array.dtype]), generate


@intrinsic
def fill(typing, number):
    """The same number in all lanes."""
    lanes = OF[number]

    def generate(context, builder, signature, args):
        nothing = ir.Constant(lanes.vector, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(INT, 0))
        zeros = ir.Constant(ir.VectorType(INT, lanes.width), [0] * lanes.width)
        return builder.shuffle_vector(first, nothing, zeros)

    return lanes(number), generate


def _elementwise(name):
    """A function that LLVM knows for vectors."""

    def generate(context, builder, signature, args):
        lanes = signature.return_type
        kind = ir.FunctionType(lanes.vector, [lanes.vector] * len(args))
        full_name = f"llvm.{name}.v{lanes.width}f{lanes.dtype.bitwidth}"
        return builder.call(builder.module.declare_intrinsic(full_name, fnty=kind), args)

    return generate


@intrinsic
def fma(typing, a, b, c):
    """``a * b + c``."""
    return a(a, a, a), _elementwise("fmuladd")


@intrinsic
def exp(typing, a):
    """Exponentials."""
    return a(a), _elementwise("exp")


def _between_lanes(operation, method):
    @intrinsic
    def compute(typing, a, b):
        def generate(context, builder, signature, args):
            return getattr(builder, method)(*args)

        return a(a, a), generate

    @overload(operation)
    def of_lanes(a, b):
        if isinstance(a, LanesType) and a == b:
            return lambda a, b: compute(a, b)


_between_lanes(operator.add, "fadd")
_between_lanes(operator.sub, "fsub")
_between_lanes(operator.mul, "fmul")
_between_lanes(operator.truediv, "fdiv")


@cached_kernel(**OPTIONS)
def sparse_slopes(starts, columns, values, Y, weight, C, W, D, G, M):
    """Add up gradients `G` and diagonals `M` of the Hessians of the loss at `W`; curvatures `D`.

    One column per label, in all arrays; the last row of `W`, `G` and `M` is the intercept, and `C`
    counts rows without the label, and rows with it.
    """
    last, one = len(W) - 1, fill(1.0)
    C0, intercept, t_sum, c_sum = load(C, 0), load(W, last), fill(0.0), fill(0.0)
    difference = load(C, 1) - C0
    for i in range(len(starts) - 1):
        z = intercept
        for k in range(starts[i], starts[i + 1]):
            z = fma(fill(np.float64(values[k])), load(W, columns[k]), z)
        y, p = load(Y, i), one / (one + exp(fill(0.0) - z))
        cost = fill(weight[i]) * fma(y, difference, C0)
        t, c = cost * (p - y), cost * p * (one - p)
        store(D, i, c)
        t_sum, c_sum = t_sum + t, c_sum + c
        for k in range(starts[i], starts[i + 1]):
            j, x = columns[k], fill(np.float64(values[k]))
            store(G, j, fma(x, t, load(G, j)))
            store(M, j, fma(x * x, c, load(M, j)))
    store(G, last, t_sum)
    store(M, last, c_sum)


@cached_kernel(**OPTIONS)
def sparse_curvatures(starts, columns, values, D, labels, S, Q):
    """Add up products `Q` of the Hessians of the loss with `S`, one column per label.

    `labels` are the columns of `D` that belong to the lanes.
    """
    last, curvature = len(S) - 1, np.empty_like(S[:1])
    intercept = load(S, last)
    total = load(Q, last)
    for i in range(len(starts) - 1):
        z = intercept
        for k in range(starts[i], starts[i + 1]):
            z = fma(fill(values[k]), load(S, columns[k]), z)
        for lane in range(SINGLE_WIDTH):
            curvature[0, lane] = D[i, labels[lane]]
        z = z * load(curvature, 0)
        total = total + z
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            store(Q, j, fma(fill(values[k]), z, load(Q, j)))
    store(Q, last, total)


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
