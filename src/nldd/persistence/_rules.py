"""Rules for what an attribute of an object in a model file may be, before the object exists.

A rule takes the JSON value of an attribute and the reader; it returns the attribute or raises.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from nldd.persistence._records import RecordReader

MISSING = object()  # stands for an attribute that a record does not have
# Squares and products of two such numbers are finite, so searches and fits stay so, too.
LARGEST = 1e150
MAX_WIDTH = 2**24  # features: a sparse matrix may have columns that take no room in its file

Rule = Callable[[Any, "RecordReader"], Any]


class Schema:
    """A type of nldd that a model file may hold.

    Attributes
    ----------
    attributes : mapping of name to rule
        What an object has, in the order of the file. A rule takes a JSON value and the reader, and
        returns the attribute or raises.
    finish : function of an object
        Works out what follows from its attributes; whether these, each right by itself, fit
        together.
    state : function of an object
        The attributes that are stored, if they are not those of the object.
    """

    def __init__(
        self,
        finish: Callable[[Any], bool] = lambda _: True,
        state: Callable[[Any], Mapping[str, Any]] = vars,
        /,
        **attributes: Rule,
    ) -> None:
        self.finish, self.state, self.attributes = finish, state, attributes


def numbers(
    *shape: str | int | None,
    kinds: str = "f",
    least: float = -LARGEST,
    most: float = LARGEST,
    nan: bool = False,
    below: str | None = None,
) -> Rule:
    """An array of numbers of the shape; with `below`, positions in what has that size."""

    def rule(value: Any, reader: "RecordReader") -> NDArray[Any]:
        array = reader.array(value)
        if array.dtype.kind not in kinds:
            raise ValueError("numbers of another type")
        for size, n in zip(shape, array.shape, strict=True):
            reader.agree(size, n)
        known = array[~np.isnan(array)] if nan else array
        highest = reader.sizes[below] - 1 if below else most
        # If NaN is among them, both comparisons are false.
        if known.size and not (known.min().item() >= least and known.max().item() <= highest):
            raise ValueError("numbers out of range")
        return array

    return rule


def positions(size: str | None, below: str) -> Rule:
    """Positions in what has the size `below`."""
    return numbers(size, kinds="i", least=0, below=below)


def matrix(rows: str, columns: str) -> Rule:
    """A dense or CSR matrix of floats; counts and single precision become doubles."""
    dense, vector = numbers(rows, columns, kinds="uf"), numbers(None, kinds="uf")

    def rule(value: Any, reader: "RecordReader") -> Any:
        if "sparse" not in value:
            return np.asarray(dense(value, reader), dtype=np.float64)
        n_columns, *parts = value["sparse"]
        width = whole(columns, MAX_WIDTH)(n_columns, reader)
        kinds = (numbers(None, kinds="i", least=0), positions(None, columns), vector)
        indptr, indices, data = (
            kind(part, reader) for kind, part in zip(kinds, parts, strict=True)
        )
        reader.agree(rows, len(indptr) - 1)
        is_rising = bool((indptr[1:] >= indptr[:-1]).all())
        if indptr[0] != 0 or not indptr[-1] == len(indices) == len(data) or not is_rising:
            raise ValueError("positions outside of it")
        shape = (len(indptr) - 1, width)
        return csr_array((data.astype(np.float64), indices, indptr), shape=shape)

    return rule


def whole(size: str | None = None, most: int = 2**62) -> Rule:
    """A count, which may be a size."""

    def rule(value: Any, reader: "RecordReader") -> int:
        count: int = plain(int, lambda n: 0 <= n <= most)(value, reader)
        reader.agree(size, count)
        return count

    return rule


def plain(kind: type, fits: Callable[[Any], bool] = lambda value: True) -> Rule:
    """A value of one type."""

    def rule(value: Any, reader: "RecordReader") -> Any:
        found = reader.value(value)
        if type(found) is not kind or not fits(found):
            raise ValueError(f"no {kind.__name__} that it may be")
        return found

    return rule


def real(least: float = -LARGEST, most: float = LARGEST) -> Rule:
    """A number within limits."""
    return plain(float, lambda value: least <= value <= most)


def word(*choices: str) -> Rule:
    """One of these words."""
    return plain(str, lambda value: value in choices)


text, flag = plain(str), plain(bool)


def tuple_of(item: Rule) -> Rule:
    """A tuple of any length."""
    return lambda value, reader: tuple(item(each, reader) for each in plain(tuple)(value, reader))


def by_name(item: Rule) -> Rule:
    """A dict with texts as keys."""

    def rule(value: Any, reader: "RecordReader") -> dict[str, Any]:
        found = plain(dict)(value, reader).items()
        return {text(name, reader): item(part, reader) for name, part in found}

    return rule


def names(size: str) -> Rule:
    """Names of labels or features, in an array of objects."""

    def rule(value: Any, reader: "RecordReader") -> NDArray[np.object_]:
        found = reader.value(value)
        if not isinstance(found, np.ndarray) or found.dtype != object:
            raise ValueError("no names")
        reader.agree(size, len(found))
        return found

    return rule


def several(item: Rule, size: str | int | None = None) -> Rule:
    """A list."""

    def rule(value: Any, reader: "RecordReader") -> list[Any]:
        reader.agree(size, len(value))
        return [item(each, reader) for each in value]

    return rule


def optional(item: Rule) -> Rule:
    """None, or something."""
    return lambda value, reader: None if value is None else item(value, reader)


def maybe(item: Rule) -> Rule:
    """An attribute that may be missing."""
    return lambda value, reader: MISSING if value is MISSING else item(value, reader)


def member(*types: str, **sizes: str) -> Rule:
    """An object of one of the types, whose sizes are those of its owner: ``inner="outer"``."""

    def rule(value: Any, reader: "RecordReader") -> Any:
        given = {inner: reader.sizes[outer] for inner, outer in sizes.items()}
        return reader.build(value, types, **given)

    return rule


def estimator(value: Any, reader: "RecordReader") -> Any:
    """Anything that predicts, of nldd or of another library."""
    found = reader.value(value)
    if not hasattr(found, "predict"):
        raise ValueError("no estimator")
    return found


def fitted(width: str | None = None) -> Rule:
    """An estimator that has learned from so many features."""

    def rule(value: Any, reader: "RecordReader") -> Any:
        found = estimator(value, reader)
        if hasattr(found, "n_features_in_"):
            reader.agree(width, found.n_features_in_)
        elif type(found).__module__.startswith("nldd.") and hasattr(found, "fit"):
            raise ValueError("an estimator that is not fitted")
        return found

    return rule
