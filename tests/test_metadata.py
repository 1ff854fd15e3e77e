"""What the metadata say of nldd: extras explained, errors that name them, all needs declared."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nldd
from dependencies import EXTRAS
from nldd.exceptions import MissingExtraError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALL_EXTRAS = PROJECT["optional-dependencies"]
FOR_WORK = {"test", "dev", "docs"}
SOURCES = sorted(Path(nldd.__file__).parent.rglob("*.py"))
# Imported, but not asked for by name, and why.
UNDECLARED = {
    "llvmlite": "numba asks for the one version that it works with",
}


def calls(name):
    """Every call of that name in the sources, with its file."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield path, {each.arg: ast.literal_eval(each.value) for each in node.keywords}


def imported():
    """Names of the packages outside of the standard library that the sources import anywhere."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
                found.update(
                    a.value.partition(".")[0] for a in node.args if isinstance(a, ast.Constant)
                )
    return found - set(sys.stdlib_module_names) - {"nldd"}


def test_extras_are_those_for_use_and_those_for_work():
    assert set(ALL_EXTRAS) == {*EXTRAS, *FOR_WORK}


@pytest.mark.parametrize("extra", sorted(ALL_EXTRAS))
def test_every_package_of_an_extra_is_explained(extra):
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{extra}` |")]
    assert rows, f"docs/dependencies.md has no row for the extra {extra}"
    explained = re.split(r"[ ,|]+", " ".join(rows).lower())
    names = {Requirement(text).name.lower() for text in ALL_EXTRAS[extra]} - {"nldd"}
    assert names <= set(explained), (
        f"docs/dependencies.md does not say why {names - set(explained)}"
    )


def test_missing_extras_are_named_and_exist():
    named = {keywords["extra"] for _, keywords in calls("MissingExtraError")}
    assert named == set(EXTRAS) - {"survey"}  # whose libraries are those of two others


def test_missing_extra_says_what_to_run_once_and_after_a_copy_too():
    error = MissingExtraError("Pictures need matplotlib.", extra="plot")
    assert str(error) == 'Pictures need matplotlib. Run: pip install "nldd[plot]"'
    kind, arguments, state = error.__reduce__()
    copied = kind(*arguments)
    copied.__setstate__(state)
    assert (str(copied), copied.extra, copied.hint) == (str(error), "plot", error.hint)


def test_everything_imported_is_declared():
    texts = [*PROJECT["dependencies"], *(text for name in EXTRAS for text in ALL_EXTRAS[name])]
    texts += ["distributed"]  # an extra of dask, by which it is asked for
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    homes = packages_distributions()
    strangers = {
        name
        for name in imported()
        if not declared & {canonicalize_name(home) for home in homes.get(name, [name])}
    }
    assert strangers == set(UNDECLARED)
