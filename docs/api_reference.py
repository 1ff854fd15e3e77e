"""What nldd offers by name: every public name of every package, with the text of its page.

Names come from the stubs beside the packages' ``__init__.py``, texts from docstrings. A constant
has none at run time: its text is the string that stands behind its assignment.
"""

import ast
import inspect
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import nldd

SOURCE = Path(nldd.__file__).parent
# Modules that have public names and are no packages.
MODULES = ("nldd.exceptions",)


@dataclass(frozen=True, slots=True)
class Public:
    """A name that users may import from a package.

    Attributes
    ----------
    package : str
        Where users import it from, such as ``"nldd.estimators"``.
    name : str
    module : str
        Where it is defined, such as ``"nldd.estimators._mlknn"``: equal for names that two
        packages share.
    kind : {"class", "function", "exception", "data"}
        Warnings are exceptions; constants and aliases of types are data.
    doc : str
        Its docstring without indentation; empty where it has none.
    """

    package: str
    name: str
    module: str
    kind: str
    doc: str


def public_names() -> list[Public]:
    """Every public name, by package and name; one that two packages share is there for both."""
    return [
        describe(package, name)
        for package in public_packages()
        for name in sorted(import_module(package).__all__)
    ]


def public_packages() -> list[str]:
    """Packages with a stub, and the plain modules with public names."""
    stubs = (stub.parent.relative_to(SOURCE).parts for stub in SOURCE.rglob("__init__.pyi"))
    return sorted({".".join(("nldd", *parts)) for parts in stubs} | {*MODULES})


def describe(package: str, name: str) -> Public:
    """One public name: looked up, and its text read."""
    module = home(package, name)
    thing = getattr(import_module(package), name)
    kind = kind_of(thing)
    doc = attribute_doc(source(module), name) if kind == "data" else inspect.getdoc(thing)
    return Public(package, name, module, kind, doc or "")


def members(kind: type) -> list[str]:
    """Public methods and properties of a class that nldd wrote, those of its bases included.

    What scikit-learn, tuples and exceptions add has pages elsewhere.
    """
    found = []
    for name, member in inspect.getmembers(kind):
        written = getattr(member, "fget", member)  # the function of a property
        is_own = getattr(written, "__module__", None) or ""
        if not name.startswith("_") and inspect.isroutine(written) and is_own.startswith("nldd."):
            found.append(name)
    return found


def kind_of(thing: Any) -> str:
    """Which of the four kinds an object is."""
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if inspect.isroutine(thing) else "data"


def home(package: str, name: str) -> str:
    """The module that defines a name: stubs are followed until one ends at a plain module."""
    stub = Path(source(package)).with_suffix(".pyi")
    if not stub.exists():
        return package
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
            return home(f"{package}.{node.module}", name)
    raise LookupError(f"{stub} imports no {name}: take it from __all__ or import it there.")


def source(module: str) -> Path:
    """The file of a module or of a package's ``__init__``."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f"No file of the module {module}.")
    return Path(spec.origin)


def attribute_doc(path: Path, name: str) -> str:
    """The string behind the assignment of a module's attribute, or nothing."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node, after in pairwise(body):
        if name in assigned(node) and isinstance(after, ast.Expr):
            text = ast.literal_eval(after.value) if isinstance(after.value, ast.Constant) else ""
            return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def assigned(node: ast.stmt) -> set[str]:
    """Names that a statement assigns."""
    if isinstance(node, ast.Assign):
        return {ast.unparse(target) for target in node.targets}
    return {ast.unparse(node.target)} if isinstance(node, ast.AnnAssign) else set()
