"""Rules for what an attribute of an object in a model file may be, before the object exists.

A rule takes the JSON value of an attribute and the scope of its object; it returns the attribute
or raises :class:`Misfit`. Sizes have names: the first attribute that has a size of a name states
it, and all others of the object must agree.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

PLAIN = (bool, int, float, str, type(None))
NUMBERS = tuple(np.dtype(kind).str for kind in "?bhiqBHIQfd")
# Squares and products of two such numbers are finite, so searches and fits stay so, too.
LARGEST = 1e150
MAX_TEXT = 10_000
MAX_DIMENSIONS, MAX_LENGTH = 4, 2**40
MAX_WIDTH = 2**24  # of sparse matrices, whose columns may be in no file


class Misfit(Exception):
    """A value that no attribute of the name has; the message says what is wrong."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The object that is being read: its sizes so far, and what reads the values inside of it."""

    reader: Any  # a RecordReader, which gives arrays, objects and estimators of others
    sizes: dict[str, int] = field(default_factory=dict)

    def agree(self, size: str | int | None, n: int) -> None:
        """State a size, or compare it with what was stated."""
        expected = self.sizes.setdefault(size, n) if isinstance(size, str) else size
        if expected is not None and n != expected:
            raise Misfit(f"has {n} where there are {expected}")


Rule = Callable[[Any, Scope], Any]


def tagged(value: Any, tag: str) -> Any:
    """The part behind a tag, the one key of a dict."""
    if not isinstance(value, dict) or list(value) != [tag]:
        raise Misfit(f"is no {tag}")
    return value[tag]


def array_claim(value: Any) -> tuple[str, tuple[int, ...]]:
    """The type and the shape that an array of numbers or booleans says to have."""
    match tagged(value, "array"):
        case [str(kind), [*shape]] if kind in NUMBERS and len(shape) <= MAX_DIMENSIONS:
            if all(type(n) is int and 0 <= n <= MAX_LENGTH for n in shape):
                return kind, tuple(shape)
    raise Misfit("is no array of numbers")


def numbers(
    *shape: str | int | None,
    kinds: str = "f",
    least: float = -LARGEST,
    most: float = LARGEST,
    below: str | None = None,
    nan: bool = False,
) -> Rule:
    """An array of numbers of the shape; with `below`, positions in what has that size."""

    def rule(value: Any, scope: Scope) -> NDArray[Any]:
        kind, dims = array_claim(value)
        if np.dtype(kind).kind not in kinds or len(dims) != len(shape):
            raise Misfit(f"has the type {kind} and the shape {dims}")
        for size, n in zip(shape, dims, strict=True):
            scope.agree(size, n)
        array = scope.reader.array(kind, dims)
        known = array[~np.isnan(array)] if nan else array
        highest = scope.sizes[below] - 1 if below else most
        # If NaN is among them, both comparisons are false.
        if known.size and not (known.min().item() >= least and known.max().item() <= highest):
            raise Misfit("holds numbers that none has")
        return array

    return rule


def positions(size: str | None, below: str) -> Rule:
    """Positions in what has the size `below`."""
    return numbers(size, kinds="i", least=0, below=below)


def matrix(rows: str, columns: str) -> Rule:
    """A dense or CSR matrix of floats; counts and single precision become doubles."""
    dense, vector = numbers(rows, columns, kinds="uf"), numbers(None, kinds="uf")

    def rule(value: Any, scope: Scope) -> Any:
        match value:
            case {"sparse": [n_columns, *parts]} if len(parts) == 3:
                width = whole(columns, MAX_WIDTH)(n_columns, scope)
            case _:
                return np.asarray(dense(value, scope), dtype=np.float64)
        indptr = numbers(None, kinds="i", least=0)(parts[0], scope)
        scope.agree(rows, len(indptr) - 1)
        indices = positions(None, columns)(parts[1], scope)
        data = np.asarray(vector(parts[2], scope), dtype=np.float64)
        is_inside = (
            len(indptr)
            and indptr[0] == 0
            and indptr[-1] == len(indices) == len(data)
            and (indptr[1:] >= indptr[:-1]).all()
        )
        if not is_inside:
            raise Misfit("has positions outside of it")
        kind = np.int32 if max(len(data), width) < 2**31 else np.int64
        places = indices.astype(kind), indptr.astype(kind)
        return csr_array((data, *places), shape=(len(indptr) - 1, width))

    return rule


def whole(size: str | None = None, most: int = 2**62) -> Rule:
    """A count, which may be a size."""

    def rule(value: Any, scope: Scope) -> int:
        if type(value) is not int or not 0 <= value <= most:
            raise Misfit("is no count")
        scope.agree(size, value)
        return value

    return rule


def plain(kind: type, fits: Callable[[Any], bool] = lambda value: True) -> Rule:
    """A value of one type."""

    def rule(value: Any, scope: Scope) -> Any:
        del scope
        if type(value) is not kind or not fits(value):
            raise Misfit(f"is no {kind.__name__} that it may be")
        return value

    return rule


def real(least: float = -LARGEST, most: float = LARGEST) -> Rule:
    """A number within limits."""
    return plain(float, lambda value: least <= value <= most)


def text(*choices: str) -> Rule:
    """One of these words, or any text that is not too long."""
    return plain(str, lambda value: value in choices if choices else len(value) <= MAX_TEXT)


flag = plain(bool)


def names(size: str) -> Rule:
    """Names of labels or features, in an array of objects."""

    def rule(value: Any, scope: Scope) -> NDArray[np.object_]:
        given = tagged(value, "names")
        if not isinstance(given, list) or any(type(name) not in PLAIN[:4] for name in given):
            raise Misfit("is no list of names")
        scope.agree(size, len(given))
        array = np.empty(len(given), dtype=object)
        array[:] = given
        return array

    return rule


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in fewer bytes, where all of them fit to the last bit.

    Counts and words that occur or not fit a byte, single precision fits a half.
    """
    raw = values.tobytes()
    for kind in ("|u1", "<f4") if values.dtype.kind == "f" else ("<i2", "<i4"):
        with np.errstate(all="ignore"):
            narrow = values.astype(kind)
        if narrow.astype(values.dtype).tobytes() == raw:
            return narrow
    return values


def several(item: Rule, size: str | int | None = None) -> Rule:
    """A list."""

    def rule(value: Any, scope: Scope) -> list[Any]:
        if not isinstance(value, list):
            raise Misfit("is no list")
        scope.agree(size, len(value))
        return [item(each, scope) for each in value]

    return rule


def tuple_of(item: Rule) -> Rule:
    """A tuple of any length."""
    return lambda value, scope: tuple(several(item)(tagged(value, "tuple"), scope))


def by_name(item: Rule) -> Rule:
    """A dict with texts as keys."""

    def rule(value: Any, scope: Scope) -> dict[str, Any]:
        pairs = several(several(lambda part, _: part, 2))(tagged(value, "dict"), scope)
        return {text()(key, scope): item(part, scope) for key, part in pairs}

    return rule


def optional(item: Rule) -> Rule:
    """None, or something."""
    return lambda value, scope: None if value is None else item(value, scope)


def member(*types: str, **sizes: str) -> Rule:
    """An object of one of the types, whose sizes are those of its owner: ``inner="outer"``."""

    def rule(value: Any, scope: Scope) -> Any:
        given = {inner: scope.sizes[outer] for inner, outer in sizes.items()}
        return scope.reader.build(value, types, given)

    return rule


def estimator(value: Any, scope: Scope) -> Any:
    """Anything that predicts, of nldd or of another library."""
    found = parameter(value, scope)
    if not hasattr(found, "predict"):
        raise Misfit("is no estimator")
    return found


def parameter(value: Any, scope: Scope) -> Any:
    """A plain value, an array, an estimator, or a collection of these, as its tag says."""
    if isinstance(value, list):
        return [parameter(item, scope) for item in value]
    if not isinstance(value, dict):
        return value
    match list(value.items()):
        case [("tuple", [*items])]:
            return tuple(parameter(item, scope) for item in items)
        case [("dict", [*items])]:
            return {parameter(key, scope): parameter(part, scope) for key, part in items}
        case [("array", _)]:
            return scope.reader.array(*array_claim(value))
        case [("skops", number)]:
            return scope.reader.foreign(number)
    return scope.reader.build(value, (), {})
