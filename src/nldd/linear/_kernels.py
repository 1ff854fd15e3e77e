"""What the solver asks of X, compiled: slopes and curvatures of eight labels in one pass.

A pass goes over the rows once: the products of a row with the coefficients of eight labels, what
the loss makes of them, and at once, while the row is at hand, its share of the sums over rows.
Slopes, which decide where the optimum is, are in double precision. Curvatures only decide how to
get there; where there is much to do, single precision does it in half of the time.

A label has a slot: row ``slots[lane]`` of `W`, `D` and the other arrays that passes have in common.
Where there are fewer labels than lanes, some lanes do the same.

Numba leaves it to the compiler to find vectors, and the compiler does not find them in sparse
products. With types of their own they are written down: ``z = fma(x, load(W, j), z)`` moves the
log-odds of eight labels by one feature, in an instruction or two. No lane looks at another one, so
what a label learns does not depend on the labels beside it. These types are in this file, and not
in one of their own, because numba looks for changes only in the file of the kernel that is kept.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, misc, var-annotated"

import operator
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from nldd._kernels import cached_kernel

DOUBLE_WIDTH, SINGLE_WIDTH = 8, 16  # 64 bytes
ROWS = 4  # dense rows that share a load of the coefficients
INT = ir.IntType(32)

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
kernel: Any = partial(njit, no_cpython_wrapper=True, **OPTIONS)  # for other kernels to call


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


def _row(context, builder, kind, array, row, lanes):
    """The address of one row of an array of shape (rows, width)."""
    data = context.make_array(kind)(context, builder, array).data
    first = builder.gep(data, [builder.mul(row, ir.Constant(row.type, lanes.width))])
    return builder.bitcast(first, lanes.vector.as_pointer()), kind.dtype.bitwidth // 8


@intrinsic
def load(typing, array, row):
    """Row `row` of an array of shape (rows, width)."""
    lanes = OF[array.dtype]

    def generate(context, builder, signature, args):
        address, align = _row(context, builder, signature.args[0], *args, lanes)
        return builder.load(address, align=align)

    return lanes(array, types.intp), generate


@intrinsic
def store(typing, array, row, value):
    """Replace row `row` of an array of shape (rows, width)."""

    def generate(context, builder, signature, args):
        address, align = _row(context, builder, signature.args[0], *args[:2], OF[array.dtype])
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


def _element(context, builder, kind, vectors, slots_kind, slots, lane, i):
    """The address of number i of the vector in the slot of one lane."""
    slots = context.make_array(slots_kind)(context, builder, slots)
    slot = builder.load(builder.gep(slots.data, [ir.Constant(i.type, lane)]))
    vectors = context.make_array(kind)(context, builder, vectors)
    n = builder.extract_value(vectors.shape, 1)
    return builder.gep(vectors.data, [builder.add(builder.mul(slot, n), i)])


@intrinsic
def gather(typing, vectors, slots, i, like):
    """Numbers ``vectors[slots, i]``, of the kind of the lanes `like`."""

    def generate(context, builder, signature, args):
        lanes = ir.Constant(like.vector, ir.Undefined)
        for lane in range(like.width):
            address = _element(context, builder, vectors, args[0], slots, args[1], lane, args[2])
            number = context.cast(builder, builder.load(address), vectors.dtype, like.dtype)
            lanes = builder.insert_element(lanes, number, ir.Constant(INT, lane))
        return lanes

    return like(vectors, slots, types.intp, like), generate


@intrinsic
def scatter(typing, vectors, slots, i, lanes):
    """Let ``vectors[slots, i]`` be the numbers of the lanes."""

    def generate(context, builder, signature, args):
        for lane in range(lanes.width):
            address = _element(context, builder, vectors, args[0], slots, args[1], lane, args[2])
            number = builder.extract_element(args[3], ir.Constant(INT, lane))
            builder.store(context.cast(builder, number, lanes.dtype, vectors.dtype), address)
        return context.get_dummy_value()

    return types.void(vectors, slots, types.intp, lanes), generate


def _elementwise(name, n_arguments):
    """A function that LLVM knows for vectors."""

    def generate(context, builder, signature, args):
        lanes = signature.return_type
        kind = ir.FunctionType(lanes.vector, [lanes.vector] * n_arguments)
        full_name = f"llvm.{name}.v{lanes.width}f{lanes.dtype.bitwidth}"
        function = cgutils.get_or_insert_function(builder.module, kind, full_name)
        return builder.call(function, args)

    return generate


@intrinsic
def fma(typing, a, b, c):
    """``a * b + c``."""
    return a(a, a, a), _elementwise("fmuladd", 3)


@intrinsic
def exp(typing, a):
    """Exponentials."""
    return a(a), _elementwise("exp", 1)


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


@kernel
def _pack(vectors, slots, packed):
    """Vectors of these slots side by side."""
    for lane in range(packed.shape[1]):
        for j in range(len(packed)):
            packed[j, lane] = vectors[slots[lane], j]


@kernel
def _unpack(packed, vectors):
    """Back to one row a lane."""
    for lane in range(packed.shape[1]):
        for j in range(len(packed)):
            vectors[lane, j] = packed[j, lane]


@kernel
def _slope_and_curvature(z, Y, labels, weight, i, C0, C1, D, slots):
    """Derivatives of the loss of row i by its log-odds z; the second ones are kept in `D`."""
    one, y = fill(1.0), gather(Y, labels, i, z)
    p = one / (one + exp(fill(0.0) - z))
    c = fill(weight[i]) * fma(y, C1 - C0, C0)
    curvature = c * p * (one - p)
    scatter(D, slots, i, curvature)
    return c * (p - y), curvature


@cached_kernel(**OPTIONS)
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


@cached_kernel(**OPTIONS)
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


@cached_kernel(**OPTIONS)
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


@cached_kernel(**OPTIONS)
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
