"""Models of nldd as JSON and the bytes of their arrays, which may have come from anybody.

An object of nldd is a record, ``{"type": ..., "parameters": {...}, "learned": {...}}``: the name of
its type, and what its schema names (:mod:`._schemas`). Arrays say ``{"array": [type, shape]}``, and
their bytes follow each other in the order in which they are read. So nothing is stored once and
used twice: a model takes no more memory than its file has bytes, but for a small factor.

An estimator of another library is ``{"skops": number}`` and lies in a skops file, together with
all others of the model, see `load_skops`.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.exceptions import InputError
from nldd.persistence._rules import MISSING, Schema
from nldd.persistence._schemas import SCHEMAS, find_type, narrow

PLAIN = (bool, int, float, str, type(None))
NUMBERS = tuple(np.dtype(kind).str for kind in "?bhiqBHIQfd")
MAX_DIMENSIONS = 4
MAX_EMPTY = 2**20  # as long may an array be that has no bytes
MAX_THREADS = 1024
# Parameters that are neither written nor read: what a model prints would stand among its
# predictions, and none keeps files in a folder.
LEFT_OUT = {"verbose", "memory"}


def is_own(thing: Any) -> bool:
    """Find out if an object is of a type of nldd, or a pipeline that ends in one."""
    name = type(thing).__name__
    if name not in SCHEMAS or find_type(name) is not type(thing):
        return False
    return name != "Pipeline" or bool(thing.steps and is_own(thing.steps[-1][1]))


class RecordWriter:
    """Turns values into JSON; bytes of arrays go to `content`, others' estimators to `foreign`."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.foreign: list[Any] = []

    def write(self, value: Any) -> Any:
        """The JSON value of a model, an array, or what they hold."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, list):
            return [self.write(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.write(item) for item in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.write(key), self.write(part)] for key, part in value.items()]}
        if isinstance(value, np.ndarray):
            return {"names": _plain_names(value)} if value.dtype == object else self._array(value)
        if issparse(value):
            parts = (value.indptr, value.indices, value.data)
            return {"sparse": [value.shape[1], *(self._array(narrow(part)) for part in parts)]}
        if isinstance(value, np.random.RandomState):
            return None
        if is_own(value):
            return self._record(value)
        self.foreign.append(value)
        return {"skops": len(self.foreign) - 1}

    def _array(self, array: NDArray[Any]) -> Any:
        self.content += np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        return {"array": [array.dtype.str, list(array.shape)]}

    def _record(self, thing: Any) -> Any:
        schema = SCHEMAS[type(thing).__name__]
        record: dict[str, Any] = {"type": type(thing).__name__}
        if hasattr(thing, "get_params"):
            given = thing.get_params(deep=False).items()
            record["parameters"] = {n: self.write(v) for n, v in given if n not in LEFT_OUT}
        state = dict(schema.state(thing))  # as it is now, whatever other threads add to it
        known = (name for name in schema.attributes if name in state)
        record["learned"] = {name: self.write(state[name]) for name in known}
        return record


def _plain_names(names: NDArray[np.object_]) -> list[Any]:
    for name in names:
        if not isinstance(name, str) and not (isinstance(name, PLAIN[:3]) and np.isfinite(name)):
            raise InputError(
                f"label names must be text, numbers or booleans to be stored; got {name!r:.100}",
                hint="Rename the labels, to text say, and fit again.",
            )
    return list(names)


class RecordReader:
    """Reads values one after the other, each of them once.

    Attributes
    ----------
    place : str
        What is being read, for messages.
    sizes : dict
        Sizes of the object that is being read, by name. The first attribute that has a size of a
        name states it, and all others of the object must agree.
    """

    def __init__(self, content: bytes | bytearray, foreign: Sequence[Any]) -> None:
        self.place, self.sizes = "it", dict[str, int]()
        self._content, self._start, self._foreign = content, 0, dict(enumerate(foreign))

    def agree(self, size: str | int | None, n: int) -> None:
        """State a size, or compare it with what was stated."""
        expected = self.sizes.setdefault(size, n) if isinstance(size, str) else size
        if expected is not None and n != expected:
            raise ValueError(f"{n} where there are {expected}")

    def check_all_is_read(self) -> None:
        """Refuse what no object has asked for."""
        if self._start < len(self._content) or self._foreign:
            raise ValueError("more than its model has")

    def value(self, value: Any) -> Any:
        """A plain value, an array, an estimator, or a collection of these, as its tag says."""
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        match list(value.items()):
            case [("tuple", [*items])]:
                return tuple(self.value(item) for item in items)
            case [("dict", [*items])]:
                return {self.value(key): self.value(part) for key, part in items}
            case [("array", _)]:
                return self.array(value)
            case [("names", [*names])] if all(type(name) in PLAIN[:4] for name in names):
                return np.array(names, dtype=object)
            case [("skops", number)]:
                return self._foreign.pop(number)
        return self.build(value)

    def array(self, value: Any) -> NDArray[Any]:
        """The next array of numbers or booleans, of the type and the shape that it claims."""
        kind, shape = value["array"]
        longest = len(self._content) + MAX_EMPTY
        is_shape = all(type(n) is int and 0 <= n <= longest for n in shape)
        if kind not in NUMBERS or not is_shape or len(shape) > MAX_DIMENSIONS:
            raise ValueError("no array of numbers")
        start, n_bytes = self._start, prod(shape) * np.dtype(kind).itemsize
        if n_bytes > len(self._content) - start:
            raise ValueError("an array that reaches beyond the end")
        self._start += n_bytes
        return np.ndarray(shape, kind, self._content, start).copy()

    def build(self, record: Any, types: Sequence[str] = (), **sizes: int) -> Any:
        """An object of one of the types, or else any estimator."""
        kind, learned = record["type"], record["learned"]
        schema, Type = SCHEMAS[kind], find_type(kind)
        if not (kind in types if types else hasattr(Type, "predict")):
            raise ValueError(f"a {kind}, which it never has")
        outer = self.place, self.sizes
        self.place, self.sizes = f"a {kind}", sizes
        has_parameters = hasattr(Type, "get_params")
        thing = self._create(Type, record["parameters"]) if has_parameters else object.__new__(Type)
        if learned or not has_parameters:
            self._teach(thing, schema, learned)
        self.place, self.sizes = outer
        return thing

    def _create(self, Type: Any, parameters: Mapping[str, Any]) -> Any:
        """An estimator that is not fitted."""
        given = {name: self.value(value) for name, value in parameters.items()}
        n_jobs = given.get("n_jobs")
        if n_jobs is not None and not (type(n_jobs) is int and 1 <= abs(n_jobs) <= MAX_THREADS):
            raise ValueError("no number of threads")
        if LEFT_OUT & given.keys():
            raise ValueError("parameters that are not stored")
        thing = Type(**given)
        thing._validate_params()
        return thing

    def _teach(self, thing: Any, schema: Schema, learned: Mapping[str, Any]) -> None:
        """Give an object its attributes, found to fit together."""
        place, found = self.place, {}
        for name, rule in schema.attributes.items():
            self.place = f"{name!r} of {place}"
            found[name] = rule(learned.get(name, MISSING), self)
        self.place = place
        if not learned.keys() <= found.keys():
            raise ValueError("more attributes than it may have")
        vars(thing).update({name: part for name, part in found.items() if part is not MISSING})
        if "label_names_" in found:
            thing._remember_labels(thing.label_names_, thing.single_label_)
        if not schema.finish(thing):
            raise ValueError("parts that do not fit together")
