"""Estimators to and from bytes, through skops; never through pickle.

A skops file is a zip of arrays and ``schema.json``, a tree of nodes. A node names a type by
``__module__`` and ``__class__``, and by ``__loader__`` the way to make one; arrays are other
members of the file, named by ``file``. A node whose ``__id__`` was seen before is the same object
once more. All nodes are checked before skops sees them, and the objects made of them once more.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from nldd.exceptions import NLDDWarning
from nldd.io._allowed_types import (
    BY_CONSENT,
    BY_LOADER,
    KEY_TYPES,
    check_objects,
    everything_within,
    is_allowed,
)
from nldd.io._refusal import FETCH_AGAIN, Refusal, in_one_line, quote, quote_first
from nldd.io._stored_zip import StoredZip, stored_bytes
from nldd.io._values import PLAIN_KINDS, check_npz, read_json, read_npy, without_gaps

SCHEMA = "schema.json"
PROTOCOL = 2  # the version of skops' format that we know: that of all releases from 0.13 on
MAX_SCHEMA = 2**25
MAX_MEMBERS = 100_000
MAX_DEPTH = 250
NO_LIMIT = 2**63
# skops takes anything with one of these for a node.
NODE_KEYS = {"__class__", "__module__", "__loader__", "__id__"}
FILE_ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}

NOTHING = {
    **{"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"},
    **{"content": "null", "is_json": True},
}
# Random numbers are drawn in fitting alone, and their state can be forged into reading memory that
# is none of its business. A model fitted again draws others.
GENERATORS = {"RandomStateNode", "RandomGeneratorNode"}
NEIGHBOR_TREES = {"sklearn.neighbors._kd_tree", "sklearn.neighbors._ball_tree"}
# Objects that may be held in several places, and are then the same one after loading too.
SHARED = {"ObjectNode", "NdArrayNode", "SparseMatrixNode", "TreeNode"}
# Up to scikit-learn 1.6 this module gives its name without its package.
FULL_MODULES = {"_loss": "sklearn._loss._loss"}


class ForeignTypes(Refusal):
    """Types that are not on the list; `wanted` are theirs, as a list for `trusted`."""

    def __init__(self, names: set[str]) -> None:
        self.wanted = json.dumps(sorted(names))
        what = "type" if len(names) == 1 else "types"
        super().__init__(
            f"it holds the {what} {quote_first(sorted(names))}, which nldd does not load",
            f"Only if you know who made the file: load_model(path, trusted={self.wanted})",
        )


def dump_estimators(estimators: Sequence[Any], name: str) -> bytes:
    """A list of estimators as a skops file, found to be one that can be read again."""
    from skops import io as skops_io

    try:
        check_objects(estimators)
        content = _tidy(skops_io.dumps(list(estimators)))
        check_skops(content, frozenset(), NO_LIMIT)
    except ForeignTypes as foreign:
        warnings.warn(
            f"Estimators {name!r} hold types that nldd does not load by itself; to read the "
            f"model, its users must write load_model(path, trusted={foreign.wanted}).",
            NLDDWarning,
            stacklevel=2,
        )
    except Exception as error:  # whatever a third party's estimator does when looked into
        reason = error if isinstance(error, Refusal) else in_one_line(error)
        raise Refusal(
            f"estimators {name!r} cannot be stored: {reason}",
            "Use estimators of scikit-learn or nldd, without functions of your own.",
        ) from error
    return content


def load_estimators(
    content: bytes | bytearray,
    name: str,
    versions: Mapping[str, str],
    trusted: frozenset[str],
    max_bytes: int,
) -> list[Any]:
    """The estimators of a skops file that may have come from anybody."""
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    try:
        types = check_skops(content, trusted, max_bytes)
        with warnings.catch_warnings():
            # The manifest knows the version too, and one warning is enough.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            estimators = skops_io.loads(bytes(content), trusted=types)
        _grow_neighbor_trees(estimators)
        check_objects(estimators)
    except Refusal:
        raise
    except Exception as error:  # states that a type does not accept are refused in many ways
        what = f"estimators {quote(name)} cannot be rebuilt: {in_one_line(error)}"
        raise other_version(what, versions) from error
    return list(estimators)


def other_version(what: str, versions: Mapping[str, str]) -> Refusal:
    """The refusal of estimators that do not work here, which mostly is a matter of versions."""
    saved, here = versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if saved == here:
        return Refusal(f"{what} (saved with scikit-learn {saved}, as is here)", FETCH_AGAIN)
    return Refusal(
        f"{what}; it was saved with scikit-learn {saved}, and here is {here}",
        f'pip install "scikit-learn=={saved}", or fit the model anew.',
    )


def check_skops(content: bytes | bytearray, trusted: frozenset[str], max_bytes: int) -> list[str]:
    """Check all that can be checked before skops sees the file; the types that it needs.

    `max_bytes` limits what the arrays may take in memory, each as often as it is used. Nodes that
    make no sense raise errors of Python.
    """
    archive = StoredZip(BytesIO(content), MAX_MEMBERS)
    sizes = dict(archive.sizes)
    if sizes.pop(SCHEMA, MAX_SCHEMA + 1) > MAX_SCHEMA:
        raise Refusal(
            "its estimators are too many or no estimators", "Keep fewer estimators in one list."
        )
    schema = read_json(archive.read(SCHEMA), SCHEMA, MAX_SCHEMA, MAX_DEPTH)
    if schema["protocol"] != PROTOCOL:
        raise Refusal("its estimators are in a form of skops that this nldd does not know")
    if schema["__loader__"] != "ListNode":
        raise Refusal("its estimators are no list")
    nodes = list(_nodes(schema))
    types = {(node["__loader__"], _type_name(node)) for node in nodes}
    _check_types(types, trusted)
    if not all(_has_plain_keys(node) for node in nodes if node["__loader__"] == "DictNode"):
        raise Refusal("a dict of its estimators has keys that are no plain values")
    uses = Counter(
        _member(node, sizes)
        for node in nodes
        if "file" in node or node.get("type") in ("numpy", "scipy")
    )
    n_bytes = sum(sizes[file] * n_times for file, n_times in uses.items())
    if n_bytes > max_bytes:
        raise Refusal(f"its estimators would take {n_bytes} bytes; at most {max_bytes} are read")
    if unused := sizes.keys() - uses.keys():
        raise Refusal(f"members that its estimators do not use: {quote_first(sorted(unused))}")
    for member in sizes:
        if member.endswith(".npy"):
            read_npy(archive.read(member), member, PLAIN_KINDS + "V")
        else:
            check_npz(archive.read(member), member)
    return sorted(name for _, name in types)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a schema once."""
    seen: dict[int, Any] = {}
    to_visit = [schema]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, list):
            to_visit += value
        if not isinstance(value, dict):
            continue
        identity = value.get("__id__")
        if identity is not None:
            if type(identity) is not int or identity < 1:
                raise Refusal(f"a node of its estimators has the number {quote(str(identity))}")
            # Told apart, a node within itself would have skops run in circles, and a few nodes
            # that refer to each other could stand for billions.
            if seen.get(identity, value) != value:
                raise Refusal("two nodes of its estimators have the same number")
            if identity in seen:
                continue
            seen[identity] = value
        if not NODE_KEYS.isdisjoint(value):
            yield value
        to_visit += value.values()


def _type_name(node: Mapping[str, Any]) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def _check_types(types: set[tuple[str, str]], trusted: frozenset[str]) -> None:
    for loader, name in types:
        if loader not in BY_LOADER and loader not in BY_CONSENT:
            raise Refusal(
                f"its estimators need {quote(loader)} for {quote(name)}, which nldd never loads"
            )
    if foreign := {name for loader, name in types if not is_allowed(loader, name, trusted)}:
        raise ForeignTypes(foreign)


def _has_plain_keys(node: Mapping[str, Any]) -> bool:
    """Whether the types of a dict's keys are just types, and harmless ones: skops calls them."""
    keys = node["key_types"]
    return keys["__loader__"] == "ListNode" and all(
        kind["__loader__"] == "TypeNode" and _type_name(kind) in KEY_TYPES
        for kind in keys["content"]
    )


def _member(node: Mapping[str, Any], sizes: Mapping[str, int]) -> str:
    """The member of the file that a node names."""
    file, ending = node.get("file"), FILE_ENDINGS.get(node["__loader__"])
    if not isinstance(file, str) or ending is None or file not in sizes:
        raise Refusal(f"its estimators refer to a member {quote(str(file))} that is not there")
    if not file.endswith(ending):
        raise Refusal(f"its estimators take member {quote(file)} for something else")
    return file


def _grow_neighbor_trees(estimators: Any) -> None:
    """Build the search trees of nearest neighbours: stored ones could point outside of the rows."""
    from sklearn.neighbors import BallTree, KDTree

    trees: dict[Any, Any] = {"kd_tree": KDTree, "ball_tree": BallTree}
    for estimator in everything_within(estimators):
        state = getattr(estimator, "__dict__", {})
        Tree = trees.get(state.get("_fit_method", ""))
        if Tree is not None and state["_tree"] is None:
            options = {"metric": state["effective_metric_"], **state["effective_metric_params_"]}
            estimator._tree = Tree(state["_fit_X"], state["leaf_size"], **options)


def _tidy(raw: bytes) -> bytes:
    """The skops file `raw` without what differs from one saving to the next.

    That is addresses, names of members, order of sets, states of generators; and search trees.
    """
    with ZipFile(BytesIO(raw)) as archive:
        schema = archive.read(SCHEMA)
        tidy = _Tidy(archive, Counter(map(int, re.findall(rb'"__id__": (\d+)', schema))))
        text = json.dumps(json.loads(schema, object_hook=tidy.node), separators=(",", ":"))
        text = re.sub(r'(?<="file":")[^"]+', lambda file: tidy.member(file[0]), text)
    return stored_bytes({**tidy.members, SCHEMA: [text.encode("ascii")]})


class _Tidy:
    """Makes tidy nodes of those of a schema, inner ones first, and members of those they name."""

    def __init__(self, archive: ZipFile, times_used: Counter[int]) -> None:
        self.members: dict[str, list[bytes]] = {}
        self._archive = archive
        self._times_used = times_used
        self._numbers: dict[Any, int] = {}
        self._names: dict[bytes, str] = {}

    def node(self, node: dict[str, Any]) -> dict[str, Any]:
        loader, identity = node.get("__loader__"), node.pop("__id__", 0)
        if loader in GENERATORS:
            return NOTHING
        if loader is None:  # attributes by name
            tree = node.get("_tree")
            if isinstance(tree, dict) and tree.get("__module__") in NEIGHBOR_TREES:
                node["_tree"] = NOTHING
            return node
        node["__module__"] = FULL_MODULES.get(node["__module__"], node["__module__"])
        if loader == "SetNode":
            node["content"].sort(key=json.dumps)
        if loader == "DictNode":
            # Only looked through, never kept, so that all dicts with the same keys may share them.
            node["key_types"] = self._numbered(node["key_types"])
        if loader in SHARED and self._times_used[identity] > 1:
            return self._numbered(node, identity)
        # A number, text or type is one for all places, which loads twice as fast.
        is_value = loader == "JsonNode" and not node["content"].startswith(("[", "{"))
        return self._numbered(node) if is_value or loader == "TypeNode" else node

    def _numbered(self, node: dict[str, Any], identity: int | None = None) -> dict[str, Any]:
        key = json.dumps(node) if identity is None else identity
        return {**node, "__id__": self._numbers.setdefault(key, len(self._numbers) + 1)}

    def member(self, name: str) -> str:
        """New name of a member; members of the same content become one."""
        ending = name.rpartition(".")[2]
        content = TIDY_MEMBERS.get(ending, bytes)(self._archive.read(name))
        new = self._names.setdefault(sha256(content).digest(), f"{len(self._names)}.{ending}")
        self.members[new] = [content]
        return new


def _stored_npz(content: bytes) -> bytes:
    with ZipFile(BytesIO(content)) as matrix:
        return stored_bytes({part: [matrix.read(part)] for part in sorted(matrix.namelist())})


TIDY_MEMBERS = {"npy": without_gaps, "npz": _stored_npz}
