"""What nldd offers by name: the public names, and the classes of what their calls return.

Public is what ``__all__`` of five packages lists; texts are docstrings. A constant has none at run
time: its text is the string that follows its assignment.
"""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

PACKAGES = ("nldd", "nldd.metrics", "nldd.linear", "nldd.coding", "nldd.bench")


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of the reference.

    Attributes
    ----------
    package : str
        Where users import it from; of a result, which they do not import, where it is defined.
    name : str
    kind : {"class", "function", "exception", "data"}
        Warnings are exceptions.
    doc : str
        Its docstring without indentation; empty where it has none.
    """

    package: str
    name: str
    kind: str
    doc: str


def public_names() -> list[Entry]:
    """Every public name, by package and name."""
    return [_describe(package, name) for package, name in _listed()]


def result_classes(package: str) -> list[Entry]:
    """Classes of what the public names of a package return or hold, and do not list."""
    public = [getattr(import_module(home), name) for home, name in _listed()]
    seen = {id(thing) for thing in public}
    waiting = [getattr(import_module(package), name) for name in import_module(package).__all__]
    found = []
    while waiting:
        for kind in _classes_of(waiting.pop()):
            if id(kind) not in seen:
                seen.add(id(kind))
                waiting.append(kind)
                found.append(_describe(kind.__module__, kind.__name__))
    return sorted(found, key=lambda each: each.name)


def _listed() -> list[tuple[str, str]]:
    return [(home, name) for home in PACKAGES for name in sorted(import_module(home).__all__)]


def _describe(package: str, name: str) -> Entry:
    thing = getattr(import_module(package), name)
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    else:
        kind = "function" if inspect.isroutine(thing) else "data"
    doc = _constant_doc(package, name) if kind == "data" else inspect.getdoc(thing)
    return Entry(package, name, kind, doc or "")


def _classes_of(thing: Any) -> Iterator[type]:
    """Classes of nldd that a function returns, or that a class holds and its methods return."""
    if inspect.isroutine(thing):
        yield from _classes_in(_hints(thing).get("return"))
    if not inspect.isclass(thing):
        return
    if is_dataclass(thing) or hasattr(thing, "_fields"):
        for hint in _hints(thing).values():
            yield from _classes_in(hint)
    for name, member in inspect.getmembers(thing):
        written = getattr(member, "fget", member)  # the function of a property
        if not name.startswith("_") and inspect.isroutine(written):
            yield from _classes_in(_hints(written).get("return"))


def _classes_in(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and hint.__module__.startswith("nldd."):
        yield hint
    for part in get_args(hint):
        yield from _classes_in(part)


def _hints(thing: Any) -> dict[str, Any]:
    try:
        return get_type_hints(thing)
    except (NameError, TypeError):  # names that only a type checker imports; built-in functions
        return {}


def _constant_doc(package: str, name: str) -> str:
    """The string that follows the assignment of a constant in the module that a package names."""
    homes = {
        node.module or ""
        for node in ast.walk(_parse(package))
        if isinstance(node, ast.ImportFrom) and {name, "*"} & {each.name for each in node.names}
    }
    for node, after in (pair for home in homes for pair in pairwise(_parse(home).body)):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(after, ast.Expr) and name in {getattr(each, "id", "") for each in targets}:
            return inspect.cleandoc(ast.literal_eval(after.value))
    return ""


def _parse(module: str) -> ast.Module:
    path = Path(import_module(module).__file__ or "")
    return ast.parse(path.read_text(encoding="utf-8"))
