"""Make models of nldd from JSON and bytes that may have come from anybody.

An object of nldd is a record, ``{"type": ..., "parameters": {...}, "learned": {...}}``: the name of
its type, and what its schema names (:mod:`._schemas`). Arrays say ``{"array": [type, shape]}``, and
their bytes follow each other in the order in which they are read. So nothing is stored once and
used twice: a model takes no more memory than its file has bytes, but for a small factor.

An estimator of another library is ``{"skops": number}`` and lies in a skops file, together with
all others of the model, see :mod:`._skops`.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._labels import LabelTable
from nldd.persistence._rules import MISSING, Schema
from nldd.persistence._schemas import SCHEMAS, find_type

PLAIN = (bool, int, float, str, type(None))
NUMBERS = tuple(np.dtype(kind).str for kind in "?bhiqBHIQfd")
MAX_DIMENSIONS = 4
MAX_EMPTY = 2**20  # as long may an array be that has no bytes
MAX_THREADS = 1024
# Parameters that are neither written nor read: what a model prints would stand among its
# predictions, and none keeps files in a folder.
LEFT_OUT = {"verbose", "memory"}


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
            none = np.empty((0, len(thing.label_names_)), dtype=np.int8)
            thing._remember_labels(LabelTable(none, thing.label_names_, thing.single_label_))
        if not schema.finish(thing):
            raise ValueError("parts that do not fit together")
