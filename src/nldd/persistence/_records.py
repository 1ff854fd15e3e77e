"""Estimators as records: a type's name and its attributes, as JSON beside the bytes of its arrays.

A value of a record is None, a boolean, number or text, a list, tuple or dict of values, an array,
a sparse matrix, or a record. In JSON, what is not a plain value or a list is a dict of one key::

    {"type": ["sklearn.GaussianNB", {"theta_": {"array": ["<f8", [2, 4], 64]}}]}
    {"same": 3}                       the fourth record once more
    {"array": [type, shape, offset]}  numbers or text, from that byte on
    {"sparse": [form, shape, data, indices, indptr]}
    {"tuple": [...]}  {"dict": [[key, value], ...]}  {"objects": [...]}

Nothing here makes an object of any type: see :mod:`nldd.persistence._schemas`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray
from scipy import sparse

from nldd.persistence._refusal import Refusal, damaged, quote
from nldd.persistence._values import check_compressed

PLAIN = (bool, int, float, str, type(None))
ARRAY_KINDS = "biufUV"
MAX_DIMENSIONS = 4
MATRICES: dict[str, Any] = {
    name: getattr(sparse, name) for name in ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
}


@dataclass(frozen=True, eq=False)
class Record:
    """What an object is made of: the short name of its type, and its attributes by name."""

    type: str
    state: Mapping[str, Any]


class Encoder:
    """Values to JSON, with the bytes of all arrays, equal ones once, in `content`.

    `record` gives the record of an object.
    """

    def __init__(self, record: Callable[[Any], Record]) -> None:
        self.content = bytearray()
        self._record = record
        self._numbers: dict[int, int] = {}
        self._offsets: dict[bytes, int] = {}

    def encode(self, value: Any) -> Any:
        """The JSON value of an estimator, or of a list of them, or of what one holds."""
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            value = value.item()
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key), self.encode(value[key])] for key in value]}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if type(value).__name__ in MATRICES and sparse.issparse(value):
            parts = [self._array(part) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [type(value).__name__, list(value.shape), *parts]}
        return self._object(value)

    def _array(self, array: NDArray[Any]) -> Any:
        if array.dtype == object and array.ndim == 1:
            return {"objects": [self.encode(item) for item in array]}
        array = repack_fields(array)  # no gaps, in which leftovers of memory stand
        raw = array.tobytes()
        offset = self._offsets.setdefault(sha256(raw).digest(), len(self.content))
        if offset == len(self.content):
            self.content += raw
        form = array.dtype.descr if array.dtype.names else array.dtype.str
        return {"array": [form, list(array.shape), offset]}

    def _object(self, value: Any) -> Any:
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        record = self._record(value)
        state = {name: self.encode(part) for name, part in sorted(record.state.items())}
        self._numbers[id(value)] = len(self._numbers)
        return {"type": [record.type, state]}


class Decoder:
    """Values of JSON that may have come from anybody; arrays take a limited number of bytes."""

    def __init__(self, content: bytes | bytearray, max_bytes: int) -> None:
        self._content = content
        self._left = allowance(content, max_bytes)
        self._records: list[Record] = []

    def decode(self, value: Any) -> Any:
        """The value with its records, arrays and matrices."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        ((tag, inner),) = value.items()
        if tag == "same":
            if type(inner) is not int or inner < 0:
                raise damaged("an estimator in it is said to be another that is not there")
            return self._records[inner]
        if tag == "array":
            return self._array(*inner)
        if tag == "sparse":
            return self._matrix(*inner)
        if tag == "type":
            kind, state = inner
            if type(kind) is not str:
                raise damaged("an estimator in it is of no type")
            record = Record(kind, {name: self.decode(part) for name, part in state.items()})
            self._records.append(record)
            return record
        items = [self.decode(item) for item in inner]
        return COLLECTIONS[tag](items)

    def _array(self, form: Any, shape: list[int], offset: int) -> NDArray[Any]:
        fields = [tuple(field) for field in form] if isinstance(form, list) else form
        dtype = np.dtype(fields)
        numbers = [offset, *shape]
        is_plain = dtype.kind in ARRAY_KINDS and not dtype.hasobject and dtype.itemsize > 0
        if not is_plain or any(type(n) is not int or n < 0 for n in numbers):
            raise damaged(f"an array of its estimators is of type {quote(str(form))}")
        n_bytes = math.prod(shape) * dtype.itemsize
        self._left -= n_bytes
        if offset + n_bytes > len(self._content) or len(shape) > MAX_DIMENSIONS:
            raise damaged("an array of its estimators reaches beyond their end")
        if self._left < 0:
            raise Refusal("its estimators would take more memory than max_bytes")
        array: NDArray[Any] = np.ndarray(shape, dtype, self._content, offset)
        return array.copy()

    def _matrix(self, form: str, shape: list[int], *parts: Any) -> Any:
        data, indices, indptr = (self.decode(part) for part in parts)
        major = 0 if form.startswith("csr") else 1
        check_compressed(data, indices, indptr, shape[major], shape[1 - major])
        return MATRICES[form]((data, indices, indptr), shape=tuple(shape))


def allowance(content: bytes | bytearray, max_bytes: int) -> int:
    """Bytes that all arrays may take in memory: a few times those of the file, or many if small.

    Equal arrays are stored once, so that a small one may be used often, but not a large one.
    """
    return min(max_bytes, 4 * len(content) + 2**26)


def object_array(items: list[Any]) -> NDArray[np.object_]:
    """The items as they are, in an array."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "dict": dict,
    "objects": object_array,
}
