"""``make lint``: public names, class names, kernels, dependencies, names in pages and examples.

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
from importlib.metadata import packages_distributions
from pathlib import Path

from api_reference import public_names

ROOT = Path(__file__).parents[1]
MOST_NAMES = 100
BASE = ["scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl", "numba", "click", "skops"]
FOR_WORK = {"all", "test", "dev", "docs"}
# Imported, but brought by another: numba asks for the one llvmlite, dask for distributed.
BROUGHT = {"llvmlite", "distributed"}


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


def kernel_problems() -> Iterator[str]:
    """Kernels beside which not all stands that is compiled with them.

    numba would run what it kept, although a file that it came from has changed.
    """
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        nodes = ast.walk(ast.parse(text)) if "@cached_kernel" in text else ()
        ours = (n for n in nodes if isinstance(n, ast.ImportFrom) and "nldd" in str(n.module))
        others = {each.name for node in ours for each in node.names} - {"cached_kernel"}
        yield from (f"{path}: kernels and {name} are in two files" for name in others)


def dependency_problems() -> Iterator[str]:
    """Dependencies other than the eight, not explained, not declared, or not part of `all`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    for_use = sorted(extras.keys() - FOR_WORK)
    if extras["all"] != [f"nldd[{','.join(for_use)}]"]:
        yield f"the extra `all` is {extras['all']}, not all of {for_use}"
    texts = [*project["dependencies"], *(text for extra in for_use for text in extras[extra])]
    declared, homes = {_name(text).lower() for text in texts} | BROUGHT, packages_distributions()
    for module in sorted(_imported_packages()):
        if not declared & {home.lower() for home in homes.get(module, [module])}:
            yield f"{module} is imported, but no dependency"
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
    beside = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
    for page in [*ROOT.glob("docs/*.md"), *(ROOT / name for name in beside)]:
        for told in re.findall(r"`([\w./*-]+)`", page.read_text("utf-8")):
            if re.fullmatch(r"(src|tests|results|benchmarks|constraints|\.ci)/.+", told):
                found = any(ROOT.glob(told.rstrip("/")))
            elif re.fullmatch(r"nldd(\.[a-zA-Z_]+)+", told) and not told.endswith(".lock"):
                found = _resolves(told)
            else:
                continue
            if not found:
                yield f"{page.name} speaks of {told}, which is not there"


def example_problems() -> Iterator[str]:
    """Examples of the gallery that import other names than public ones, or that no list names."""
    header = (ROOT / "examples/GALLERY_HEADER.rst").read_text("utf-8")
    paths = sorted(ROOT.glob("examples/plot_*.py"))
    if sorted(re.findall(r":doc:`(plot_\w+)`", header)) != [path.stem for path in paths]:
        yield "examples/GALLERY_HEADER.rst does not name each example once"
    public = {(each.package, each.name) for each in public_names()}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nldd"):
                used = {(node.module, each.name) for each in node.names}
                yield from (f"{path.name}: {a}.{b} is not public" for a, b in used - public)


def _imported_packages() -> set[str]:
    """Packages outside of the standard library that the sources import anywhere."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"nldd"}


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
    checks = (public_problems, class_problems, kernel_problems, dependency_problems)
    checks += (page_problems, example_problems)
    found = [problem for check in checks for problem in check()]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
