"""Models of nldd as JSON and the bytes of their arrays, see :mod:`._record_reader`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.exceptions import InputError
from nldd.persistence._record_reader import LEFT_OUT, PLAIN
from nldd.persistence._schemas import SCHEMAS, find_type, narrow


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
