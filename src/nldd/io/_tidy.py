"""A skops file made small, and the same each time: without addresses in memory and random names."""

import json
from collections import Counter
from hashlib import sha256
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from nldd.io._compressed import stored_npz
from nldd.io._npy import without_gaps
from nldd.io._stored_zip import stored_bytes

NOTHING = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
    "is_json": True,
}
# Random numbers are drawn in fitting alone, and their state can be forged into reading memory that
# is none of its business. A model fitted again draws others.
GENERATORS = {"RandomStateNode", "RandomGeneratorNode"}
NEIGHBOR_TREES = {"sklearn.neighbors._kd_tree", "sklearn.neighbors._ball_tree"}
# Objects that may be held in several places, and are then the same one after loading too.
SHARED = {"ObjectNode", "NdArrayNode", "SparseMatrixNode", "TreeNode"}
# Up to scikit-learn 1.6 this module gives its name without its package.
FULL_MODULES = {"_loss": "sklearn._loss._loss"}


def tidy(raw: bytes) -> bytes:
    """The skops file `raw` without what differs from one saving to the next.

    States of random generators are left out, and so are search trees of nearest neighbours, which
    loading builds anew.
    """
    with ZipFile(BytesIO(raw)) as archive:
        schema = json.loads(archive.read("schema.json"))
        writer = _Tidy(archive, schema)
        text = json.dumps(writer.node(schema), separators=(",", ":"))
    return stored_bytes({"schema.json": [text.encode("ascii")], **writer.members})


class _Tidy:
    def __init__(self, archive: ZipFile, schema: Any) -> None:
        self.members: dict[str, list[bytes]] = {}
        self._archive = archive
        self._times_used: Counter[Any] = Counter(_identities(schema))
        self._numbers: dict[Any, int] = {}
        self._names: dict[str, str] = {}
        self._by_content: dict[bytes, str] = {}

    def node(self, value: Any) -> Any:
        """A part of the schema, tidied."""
        if isinstance(value, list):
            return [self.node(child) for child in value]
        if not isinstance(value, dict):
            return value
        if value.get("__loader__") in GENERATORS:
            return NOTHING
        tidied = {key: self._child(key, child) for key, child in value.items() if key != "__id__"}
        if value.get("__loader__") == "SetNode":
            tidied["content"].sort(key=json.dumps)
        if "file" in tidied:
            tidied["file"] = self._file(tidied["file"])
        identity = value.get("__id__")
        if value.get("__loader__") in SHARED and self._times_used[identity] > 1:
            return self._numbered(tidied, identity)
        if _is_constant(tidied):
            return self._numbered(tidied, json.dumps(tidied))
        return tidied

    def _numbered(self, node: dict[str, Any], identity: Any) -> dict[str, Any]:
        return {**node, "__id__": self._numbers.setdefault(identity, len(self._numbers) + 1)}

    def _child(self, key: str, child: Any) -> Any:
        if key == "__module__" and isinstance(child, str):
            return FULL_MODULES.get(child, child)
        if key == "_tree" and isinstance(child, dict) and child.get("__module__") in NEIGHBOR_TREES:
            return NOTHING
        tidied = self.node(child)
        # Only looked through, never kept, so that all dicts with the same keys may share them.
        return self._numbered(tidied, json.dumps(tidied)) if key == "key_types" else tidied

    def _file(self, name: str) -> str:
        """New name of a member; members of the same content become one."""
        if name not in self._names:
            ending = name.rpartition(".")[2]
            content = _tidied_member(self._archive.read(name), ending)
            new = self._by_content.setdefault(
                sha256(content).digest(), f"{len(self._by_content)}.{ending}"
            )
            self._names[name] = new
            self.members[new] = [content]
        return self._names[name]


def _tidied_member(content: bytes, ending: str) -> bytes:
    if ending == "npy":
        return without_gaps(content)
    if ending != "npz":
        return content
    with ZipFile(BytesIO(content)) as matrix:
        return stored_npz({part: matrix.read(part) for part in matrix.namelist()})


def _is_constant(node: dict[str, Any]) -> bool:
    """Whether a node is a number, text or a type; one for all places loads twice as fast."""
    if node.get("__loader__") == "JsonNode":
        return not node["content"].startswith(("[", "{"))
    return node.get("__loader__") == "TypeNode"


def _identities(value: Any) -> list[int]:
    found, to_visit = [], [value]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, dict):
            if "__id__" in value:
                found.append(value["__id__"])
            to_visit += value.values()
        elif isinstance(value, list):
            to_visit += value
    return found
