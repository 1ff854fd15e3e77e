"""Estimators in skops: those of types that nldd does not know, and all of those in files of 0.1.0.

A skops file is a zip of arrays and ``schema.json``, a tree of nodes. A node names a type by
``__module__`` and ``__class__``, and by ``__loader__`` the way to make one; arrays are other
members of the file, named by ``file``. Nodes of known types are read as records, of which
:mod:`._objects` makes objects; skops itself gets to see a file only where its user trusts
all foreign types in it by name, which is to trust whoever made it.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from scipy.sparse import load_npz

from nldd.exceptions import NLDDWarning
from nldd.persistence._objects import KNOWN_TYPES, make_objects, other_version, short_name
from nldd.persistence._records import Record, allowance, object_array
from nldd.persistence._refusal import Refusal, in_one_line, quote, quote_first
from nldd.persistence._schemas import SCHEMAS, TREE_SIZES
from nldd.persistence._stored_zip import StoredZip
from nldd.persistence._values import PLAIN_KINDS, check_npz, read_json, read_npy

SCHEMA = "schema.json"
PROTOCOL = 2  # the version of skops' format that we know: that of all releases from 0.13 on
MAX_SCHEMA = 2**25
MAX_MEMBERS = 100_000
MAX_DEPTH = 250

# The types of a dict's keys, and what makes a key of its text.
KEYS: dict[str, Callable[[str], Any]] = {
    **{"builtins.str": str, "builtins.int": int, "builtins.float": float, "numpy.str_": str},
    **{f"numpy.{sign}int{n}": int for sign in ("", "u") for n in (8, 16, 32, 64)},
    **{"numpy.float32": float, "numpy.float64": float},
    **dict.fromkeys(("builtins.bool", "numpy.bool", "numpy.bool_"), "True".__eq__),
}
COLLECTIONS = ("builtins.dict", "builtins.list", "builtins.tuple")
# How skops makes a value -> how the types begin that it makes in that way without consent; objects
# are of types with a schema.
WAYS = {
    "JsonNode": ("builtins.str",),
    "DictNode": COLLECTIONS,
    "ListNode": COLLECTIONS,
    "TupleNode": COLLECTIONS,
    "NdArrayNode": ("numpy.ndarray", *KEYS),
    "SparseMatrixNode": ("scipy.sparse._csr.", "scipy.sparse._csc."),
    "TypeNode": tuple(KEYS),
    "TreeNode": ("sklearn.tree._tree.Tree",),
    "LossNode": ("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast.", "_loss."),
}
# Those that call a method or an operator which a file names: not even with consent.
NEVER = {"MethodNode", "OperatorFuncNode"}


class ForeignTypes(Refusal):
    """Types that are not on the list; `wanted` are theirs, as a list for `trusted`."""

    def __init__(self, names: set[str]) -> None:
        self.wanted = json.dumps(sorted(names))
        what = "type" if len(names) == 1 else "types"
        super().__init__(
            f"it holds the {what} {quote_first(sorted(names))}, which nldd does not load",
            f"Only if you know who made the file: load_model(path, trusted={self.wanted})",
        )


def dump_foreign(estimators: Sequence[Any], name: str) -> bytes:
    """A list of estimators of any types as a skops file, which takes consent to be read again."""
    from skops import io as skops_io

    try:
        content: bytes = skops_io.dumps(list(estimators))
        wanted = json.dumps(sorted(_foreign_types(_read_schema(content))))
    except Exception as error:  # whatever a third party's estimator does when looked into
        reason = error if isinstance(error, Refusal) else in_one_line(error)
        raise Refusal(f"estimators {name!r} cannot be stored: {reason}", KNOWN_TYPES) from error
    warnings.warn(
        f"Estimators {name!r} hold types that nldd does not load by itself; to read the "
        f"model, its users must write load_model(path, trusted={wanted}).",
        NLDDWarning,
        stacklevel=2,
    )
    return content


def load_skops(
    content: bytes | bytearray,
    name: str,
    versions: Mapping[str, str],
    trusted: frozenset[str],
    max_bytes: int,
) -> list[Any]:
    """The estimators of a skops file that may have come from anybody."""
    try:
        schema = _read_schema(content)
        foreign = _foreign_types(schema)
        if foreign - trusted:
            raise ForeignTypes(foreign - trusted)
        if foreign:
            return _load_trusted(content, schema)
        return make_objects(_Nodes(content, max_bytes).value(schema), versions)
    except Refusal:
        raise
    except Exception as error:  # nodes that make no sense
        what = f"estimators {quote(name)} cannot be rebuilt: {in_one_line(error)}"
        raise other_version(what, versions) from error


def _read_schema(content: bytes | bytearray) -> Any:
    archive = StoredZip(BytesIO(content), MAX_MEMBERS)
    if archive.sizes.get(SCHEMA, MAX_SCHEMA + 1) > MAX_SCHEMA:
        raise Refusal(
            "its estimators are too many or no estimators", "Keep fewer estimators in one list."
        )
    schema = read_json(archive.read(SCHEMA), SCHEMA, MAX_SCHEMA, MAX_DEPTH)
    if schema["protocol"] != PROTOCOL:
        raise Refusal("its estimators are in a form of skops that this nldd does not know")
    if schema["__loader__"] != "ListNode":
        raise Refusal("its estimators are no list")
    return schema


def _foreign_types(schema: Any) -> set[str]:
    """Names of all types in a file that take consent."""
    foreign = set()
    for node in _nodes(schema):
        loader, name = node["__loader__"], _type_name(node)
        if loader in NEVER:
            raise Refusal(
                f"its estimators need {quote(loader)} for {quote(name)}, which nldd never loads"
            )
        is_known = loader == "ObjectNode" and short_name(name) in SCHEMAS
        if not is_known and not name.startswith(WAYS.get(loader, ())):
            foreign.add(name)
    return foreign


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a schema: what has a way to be made."""
    to_visit = [schema]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, list):
            to_visit += value
        elif isinstance(value, dict):
            to_visit += value.values()
            if "__loader__" in value:
                yield value


def _type_name(node: Mapping[str, Any]) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def _load_trusted(content: bytes | bytearray, schema: Any) -> list[Any]:
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    with warnings.catch_warnings():
        # The manifest knows the version too, and one warning is enough.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        types = sorted({_type_name(node) for node in _nodes(schema)})
        return list(skops_io.loads(bytes(content), trusted=types))


class _Nodes:
    """Makes records, and the values that they hold, of nodes."""

    def __init__(self, content: bytes | bytearray, max_bytes: int) -> None:
        self._archive = StoredZip(BytesIO(content), MAX_MEMBERS)
        self._left = allowance(content, max_bytes)
        self._records: dict[int, Record] = {}

    def value(self, node: Mapping[str, Any]) -> Any:
        """What a node stands for; None for what predictions do not need, such as loss functions."""
        readers = {
            **{"JsonNode": self._json, "ListNode": self._list, "TupleNode": self._tuple},
            **{"DictNode": self._dict, "ObjectNode": self._object, "TreeNode": self._tree},
            **{"NdArrayNode": self._array, "SparseMatrixNode": self._matrix},
        }
        read: Callable[[Any], Any] | None = readers.get(node["__loader__"])
        return None if read is None else read(node)

    def _json(self, node: Mapping[str, Any]) -> Any:
        return json.loads(node["content"])

    def _list(self, node: Mapping[str, Any]) -> list[Any]:
        return [self.value(item) for item in node["content"]]

    def _tuple(self, node: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self._list(node))

    def _dict(self, node: Mapping[str, Any]) -> dict[Any, Any]:
        kinds = [KEYS[_type_name(kind)] for kind in node["key_types"]["content"]]
        pairs = zip(kinds, node["content"].items(), strict=True)
        return {kind(key): self.value(part) for kind, (key, part) in pairs}

    def _array(self, node: Mapping[str, Any]) -> Any:
        if node["type"] == "json":
            return object_array(self._list(node))
        return read_npy(self._member(node), node["file"], PLAIN_KINDS + "V")

    def _matrix(self, node: Mapping[str, Any]) -> Any:
        content = self._member(node)
        check_npz(content, node["file"])
        return load_npz(BytesIO(content))

    def _object(self, node: Mapping[str, Any]) -> Record:
        # A node with a number that was there before is the same object once more.
        number = node.get("__id__", 0)
        if not number or number not in self._records:
            state = self.value(node["content"]) if "content" in node else {}
            self._records[number] = Record(short_name(_type_name(node)), state)
        return self._records[number]

    def _tree(self, node: Mapping[str, Any]) -> Record:
        sizes = self.value(node["__reduce__"]["args"])
        state = self.value(node["content"])
        return Record("sklearn.Tree", {**state, **dict(zip(TREE_SIZES, sizes, strict=True))})

    def _member(self, node: Mapping[str, Any]) -> bytearray:
        file = node.get("file")
        if file not in self._archive.sizes:
            raise Refusal(f"its estimators refer to a member {quote(str(file))} that is not there")
        self._left -= self._archive.sizes[file]
        if self._left < 0:
            raise Refusal("its estimators would take more memory than max_bytes")
        return self._archive.read(file)
