"""Many numbers at a time: the vector types of the kernels, with one label in each lane.

Numba leaves it to the compiler to find vectors, and the compiler does not find them in sparse
products. With types of their own they are written down: ``z = fma(x, load(W, j), z)`` moves the
log-odds of eight labels by one feature, in an instruction or two. No lane looks at another one, so
what a label learns does not depend on the labels beside it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, misc"

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

DOUBLE_WIDTH, SINGLE_WIDTH = 8, 16  # 64 bytes
INT = ir.IntType(32)


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
