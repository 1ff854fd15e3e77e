"""Models of nldd as JSON and the bytes of their arrays; estimators of others by skops.

An object of nldd is a record, ``{"type": ..., "parameters": {...}, "learned": {...}}``: the name of
its type, and what its schema names (:mod:`._schemas`). Arrays say ``{"array": [type, shape]}``, and
their bytes follow each other in the order in which they are read. So nothing is stored once and
used twice: a model takes no more memory than its file has bytes, but for a small factor.

An estimator of another library is ``{"skops": number}`` and lies in a skops file, together with all
others of the model. That file is not looked into unless the user has named its types.
"""

import inspect
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import prod
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd._labels import LabelTable
from nldd.exceptions import InputError
from nldd.persistence._refusal import Refusal, damaged, in_one_line, quote
from nldd.persistence._rules import PLAIN, Misfit, Scope, narrowed, parameter
from nldd.persistence._schemas import SCHEMAS

TYPE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
MAX_THREADS = 1024
# Parameters that are neither written nor read: what a model prints would stand among its
# predictions, and none keeps files in a folder.
LEFT_OUT = ("verbose", "memory")


def is_own(thing: Any) -> bool:
    """Whether an object is of a type of nldd, or a pipeline that ends in one."""
    Type, schema = type(thing), SCHEMAS.get(type(thing).__name__)
    if schema is None or getattr(import_module(schema.module), Type.__name__) is not Type:
        return False
    return schema.module.startswith("nldd.") or bool(thing.steps and is_own(thing.steps[-1][1]))


class RecordWriter:
    """Turns values into JSON; bytes of arrays go to `content`, others' estimators to `foreign`."""

    def __init__(self) -> None:
        self.content: list[Any] = []
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
            return {"sparse": [value.shape[1], *(self._array(narrowed(part)) for part in parts)]}
        if isinstance(value, np.random.RandomState):
            return None
        if is_own(value):
            return self._record(value)
        self.foreign.append(value)
        return {"skops": len(self.foreign) - 1}

    def _array(self, array: NDArray[Any]) -> Any:
        array = np.asarray(array, order="C")
        self.content.append(array.reshape(-1).view(np.uint8).data)
        return {"array": [array.dtype.str, list(array.shape)]}

    def _record(self, thing: Any) -> Any:
        schema = SCHEMAS[type(thing).__name__]
        record: dict[str, Any] = {"type": type(thing).__name__}
        if hasattr(thing, "get_params"):
            given = thing.get_params(deep=False).items()
            record["parameters"] = {n: self.write(v) for n, v in given if n not in LEFT_OUT}
        state = dict(schema.state(thing))  # as it is now, whatever other threads add to it
        known = [name.removesuffix("?") for name in schema.attributes]
        record["learned"] = {name: self.write(state[name]) for name in known if name in state}
        return record


def _plain_names(names: NDArray[np.object_]) -> list[Any]:
    for name in names:
        is_plain = isinstance(name, str) or (isinstance(name, PLAIN[:3]) and np.isfinite(name))
        if not is_plain:
            raise Refusal(
                f"label names must be text, numbers or booleans to be stored; got {name!r:.100}",
                "Rename the labels, to text say, and fit again.",
            )
    return list(names)


class RecordReader:
    """Makes objects of records that may have come from anybody."""

    def __init__(self, content: bytes | bytearray, foreign: Sequence[Any]) -> None:
        self._content, self._n_bytes = content, 0
        self._foreign, self._n_foreign = foreign, 0

    def array(self, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """The next array of the file."""
        start, n_bytes = self._n_bytes, prod(shape) * np.dtype(kind).itemsize
        if n_bytes > len(self._content) - start:
            raise Misfit("reaches beyond the end of the file")
        self._n_bytes += n_bytes
        array: NDArray[Any] = np.ndarray(shape, kind, self._content, start)
        return array.copy()

    def foreign(self, number: Any) -> Any:
        """The next estimator of another library."""
        if type(number) is not int or number != self._n_foreign or number >= len(self._foreign):
            raise Misfit("is an estimator that is not there")
        self._n_foreign += 1
        return self._foreign[number]

    def build(self, record: Any, types: tuple[str, ...], sizes: Mapping[str, int]) -> Any:
        """An object of one of the types, or else any estimator."""
        match record:
            case {"type": str(kind), "learned": dict(learned), **rest}:
                pass
            case _:
                raise Misfit("is no object")
        schema = SCHEMAS.get(kind)
        Type: Any = schema and getattr(import_module(schema.module), kind)
        is_estimator = hasattr(Type, "predict")
        if schema is None or not (kind in types if types else is_estimator):
            raise Misfit(f"is of the type {quote(kind)}, which it never has")
        scope = Scope(self, dict(sizes))
        try:
            thing = object.__new__(Type)
            if hasattr(Type, "get_params"):
                thing = Type(**_parameters(Type, rest.get("parameters"), scope))
                thing._validate_params()
            if is_estimator and not learned:
                return thing
            attributes = _attributes(kind, learned, scope)
            if schema.make is not None:
                return schema.make(Type, attributes)
            vars(thing).update(attributes)
            if "label_names_" in attributes:
                none = np.empty((0, len(thing.label_names_)), dtype=np.int8)
                table = LabelTable(none, thing.label_names_, thing.single_label_)
                thing._remember_labels(table)
            if not schema.finish(thing):
                raise Misfit("has parts that do not fit together")
        except Refusal:
            raise
        except Exception as error:  # what a hostile parameter leads to can be many things
            reason = str(error) if isinstance(error, Misfit) else f"is none: {in_one_line(error)}"
            raise damaged(f"a {kind} in it {reason}") from error
        return thing

    def check_all_is_read(self) -> None:
        """Refuse what no object has asked for."""
        if self._n_bytes < len(self._content) or self._n_foreign < len(self._foreign):
            raise damaged("it holds more than its model has")


def _parameters(Type: Any, given: Any, scope: Scope) -> dict[str, Any]:
    known = inspect.signature(Type.__init__).parameters.keys() - {"self", *LEFT_OUT}
    if not isinstance(given, dict) or not given.keys() <= known:
        raise Misfit("has parameters that it never has")
    found = {name: parameter(value, scope) for name, value in given.items()}
    n_jobs = found.get("n_jobs")
    if n_jobs is not None and not (type(n_jobs) is int and abs(n_jobs) <= MAX_THREADS):
        raise Misfit("asks for too many threads")
    return found


def _attributes(kind: str, learned: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    rules = SCHEMAS[kind].attributes
    known = {name.removesuffix("?"): rule for name, rule in rules.items()}
    missing = [name for name in rules if name not in learned and not name.endswith("?")]
    if missing or not learned.keys() <= known.keys():
        raise Misfit(f"lacks {quote(missing[0])}" if missing else "has more than it may have")
    found = {}
    for name in (name for name in known if name in learned):
        try:
            found[name] = known[name](learned[name], scope)
        except Misfit as misfit:
            raise damaged(f"{quote(name)} of a {kind} in it {misfit}") from misfit
    return found


def _type_name(Type: type) -> str:
    return f"{Type.__module__}.{Type.__qualname__}"


def dump_skops(estimators: Sequence[Any]) -> tuple[list[str], bytes]:
    """The types that must be named to read estimators, and their skops file."""
    from skops import io as skops_io

    try:
        content: bytes = skops_io.dumps(list(estimators), compression=ZIP_DEFLATED)
        types = {_type_name(type(each)) for each in estimators}
        return sorted(types.union(skops_io.get_untrusted_types(data=content))), content
    except InputError:
        raise
    except Exception as error:  # whatever an estimator of a third party does when looked into
        raise Refusal(
            f"an estimator in it cannot be stored: {in_one_line(error)}",
            "Use estimators of scikit-learn or nldd, without functions of your own.",
        ) from error


def load_skops(content: bytes | bytearray, types: Sequence[str]) -> list[Any]:
    """The estimators of a skops file, whose types the user has named."""
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    with warnings.catch_warnings():
        # The manifest knows the version too, and one warning is enough.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        found = skops_io.loads(bytes(content), trusted=list(types))
    if not isinstance(found, list) or not {_type_name(type(each)) for each in found} <= {*types}:
        raise damaged("its estimators are of other types than it says")
    return found
