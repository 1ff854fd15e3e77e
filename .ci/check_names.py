"""``make lint``: public names, class names, dependencies, and names that the pages speak of.

Prints what is wrong, one line each, and then fails.
"""

import ast
import doctest
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from api_reference import public_names

ROOT = Path(__file__).parents[1]
MOST_NAMES = 100
BASE = ["scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl", "numba", "click", "skops"]


def public_problems() -> Iterator[str]:
    """Too many public names, and those without a docstring that has an example."""
    names = public_names()
    if len(names) > MOST_NAMES:
        yield f"{len(names)} names are public; at most {MOST_NAMES} are allowed"
    yield from (f"{e.package}.{e.name}: no example" for e in names if ">>>" not in e.doc)
    for each in names:
        if each.kind == "data":  # pytest runs the examples of all others
            test = doctest.DocTestParser().get_doctest(each.doc, {}, each.name, None, 0)
            if doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed:
                yield f"{each.package}.{each.name}: its example fails"


def class_problems() -> Iterator[str]:
    """Classes of one name in two places, and stubs."""
    yield from (f"{path}: a stub" for path in (ROOT / "src").rglob("*.pyi"))
    trees = (ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py"))
    names = (n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
    yield from (f"{name}: {n} classes" for name, n in Counter(names).items() if n > 1)


def dependency_problems() -> Iterator[str]:
    """Dependencies other than the eight, and those that docs/dependencies.md does not explain."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if (base := [_name(text) for text in project["dependencies"]]) != BASE:
        yield f"base dependencies are {base}, not {BASE}"
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8").lower()
    for extra, texts in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        rows = [row for row in page.splitlines() if row.startswith(f"| `{extra}`" if extra else "")]
        words = set(re.split(r"[ ,|]+", " ".join(rows)))
        unsaid = {_name(text).lower() for text in texts} - words - {"nldd"}
        yield from (f"docs/dependencies.md, {extra or 'base'}: no {name}" for name in unsaid)


def page_problems() -> Iterator[str]:
    """Modules, names and files that a page speaks of and that are not there."""
    for page in [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for told in re.findall(r"`([\w./*-]+)`", page.read_text("utf-8")):
            if re.fullmatch(r"(src|tests|results|benchmarks|constraints)/.+", told):
                found = any(ROOT.glob(told.rstrip("/")))
            elif re.fullmatch(r"nldd(\.[a-zA-Z_]+)+", told) and not told.endswith(".lock"):
                found = _resolves(told)
            else:
                continue
            if not found:
                yield f"{page.name} speaks of {told}, which is not there"


def _name(requirement: str) -> str:
    return re.split(r"[\[>=]", requirement)[0]


def _resolves(dotted: str) -> bool:
    try:
        import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return _resolves(module) and hasattr(import_module(module), name)
    return True


if __name__ == "__main__":
    found = [*public_problems(), *class_problems(), *dependency_problems(), *page_problems()]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
