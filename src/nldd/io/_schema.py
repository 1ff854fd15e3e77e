"""The description of estimators in a skops file, checked before skops sees it.

skops reads ``schema.json``, a tree of nodes. A node names a type by ``__module__`` and
``__class__``, and by ``__loader__`` the way to make one; arrays are other members of the file,
named by ``file``. A node whose ``__id__`` was seen before is the same object once more.
"""

from collections.abc import Mapping
from typing import Any

from nldd.io._allowed_types import BY_CONSENT, BY_LOADER, KEY_TYPES, is_allowed
from nldd.io._refusal import ORIGIN, Refusal, listed, quoted

# The version of skops' format that we know: the one of all releases from 0.13 on.
PROTOCOL = 2
MAX_DEPTH = 250
MARKS = ("__class__", "__module__", "__loader__")
NODE_KEYS = {*MARKS, "__id__"}  # skops takes anything with one of them for a node
FILE_ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}


class ForeignTypes(Refusal):
    """Types that are not on the list; `names` are theirs."""

    def __init__(self, names: set[str]) -> None:
        few = sorted(names)
        what = "type" if len(few) == 1 else "types"
        wanted = ", ".join(f'"{name}"' for name in few[:5])
        super().__init__(
            f"it holds the {what} {listed(few)}, which nldd does not load",
            f"Only if you know who made the file: load_model(path, trusted=[{wanted}])",
        )
        self.names = frozenset(names)


def check_schema(
    schema: Any, sizes: Mapping[str, int], trusted: frozenset[str], max_bytes: int
) -> frozenset[str]:
    """Check all nodes of a schema; the types that it needs.

    Parameters
    ----------
    schema : parsed ``schema.json``
    sizes : mapping of the other members of the file to their bytes
    trusted : types that are allowed beside those on the list
    max_bytes : what the arrays may take in memory, each as often as it is used
    """
    if not isinstance(schema, dict) or schema.get("protocol") != PROTOCOL:
        raise Refusal("its estimators are in a form of skops that this nldd does not know")
    if schema.get("__loader__") != "ListNode":
        raise Refusal("its estimators are no list")
    walk = _Walk(sizes, trusted)
    walk.over(schema)
    if walk.foreign:
        raise ForeignTypes(walk.foreign)
    if walk.n_bytes > max_bytes:
        raise Refusal(
            f"its estimators would take {walk.n_bytes} bytes; at most {max_bytes} are read"
        )
    unused = sizes.keys() - walk.files
    if unused:
        raise Refusal(f"members that its estimators do not use: {listed(sorted(unused))}")
    return frozenset(walk.types)


class _Walk:
    """What was met on the way through a schema."""

    def __init__(self, sizes: Mapping[str, int], trusted: frozenset[str]) -> None:
        self.sizes = sizes
        self.trusted = trusted
        self.types: set[str] = set()
        self.foreign: set[str] = set()
        self.files: set[str] = set()
        self.n_bytes = 0
        self._seen: dict[int, Any] = {}

    def over(self, schema: Any) -> None:
        """Visit every node once."""
        to_visit = [(schema, 0)]
        while to_visit:
            value, depth = to_visit.pop()
            if depth > MAX_DEPTH:
                raise Refusal(f"its estimators are nested more than {MAX_DEPTH} levels deep")
            if isinstance(value, list):
                to_visit += [(child, depth + 1) for child in value]
            elif isinstance(value, dict):
                if not value.keys().isdisjoint(NODE_KEYS) and self._is_known(value):
                    continue
                to_visit += [(child, depth + 1) for child in value.values()]

    def _is_known(self, node: dict[str, Any]) -> bool:
        """Whether a node is one seen before; else it is checked."""
        identity = node.get("__id__")
        if identity is not None:
            if type(identity) is not int or identity < 1:
                raise Refusal(f"a node of its estimators has the number {quoted(str(identity))}")
            if identity in self._seen:
                # Told apart, a node within itself would have skops run in circles, and a few nodes
                # that refer to each other could stand for billions.
                if self._seen[identity] != node:
                    raise Refusal("two nodes of its estimators have the same number")
                return True
            self._seen[identity] = node
        self._check(node)
        return False

    def _check(self, node: dict[str, Any]) -> None:
        if not all(isinstance(node.get(mark), str) for mark in MARKS):
            raise Refusal("a node of its estimators has no type")
        loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
        if loader not in BY_LOADER and loader not in BY_CONSENT:
            raise Refusal(
                f"its estimators need {quoted(loader)} for {quoted(name)}, which nldd never loads",
                ORIGIN,
            )
        (self.types if is_allowed(loader, name, self.trusted) else self.foreign).add(name)
        if loader == "DictNode":
            _check_keys(node)
        if loader == "JsonNode" and not isinstance(node.get("content"), str):
            raise Refusal("a value of its estimators is no text")
        if "file" in node or node.get("type") in ("numpy", "scipy"):
            self._use(node.get("file"), FILE_ENDINGS.get(loader))

    def _use(self, file: Any, ending: str | None) -> None:
        if not isinstance(file, str) or ending is None or file not in self.sizes:
            raise Refusal(f"its estimators refer to a member {quoted(str(file))} that is not there")
        if not file.endswith(ending):
            raise Refusal(f"its estimators take member {quoted(file)} for something else")
        self.files.add(file)
        self.n_bytes += self.sizes[file]


def _check_keys(node: dict[str, Any]) -> None:
    """skops calls the types of keys; so they must be types, and harmless ones."""
    types = node.get("key_types")
    content = types.get("content") if isinstance(types, dict) else None
    is_harmless = (
        isinstance(types, dict)
        and isinstance(content, list)
        and types.get("__loader__") == "ListNode"
        and all(isinstance(kind, dict) and kind.get("__loader__") == "TypeNode" for kind in content)
        and all(
            f"{kind.get('__module__')}.{kind.get('__class__')}" in KEY_TYPES for kind in content
        )
    )
    if not is_harmless:
        raise Refusal("a dict of its estimators has keys that are no plain values")
