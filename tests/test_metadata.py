"""What the metadata say of nldd: extras, errors that name them, all needs declared."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nldd
from dependencies import EXTRAS
from nldd.exceptions import MissingExtraError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALL_EXTRAS = PROJECT["optional-dependencies"]
FOR_WORK = {"all", "test", "dev", "docs"}
SOURCES = sorted(Path(nldd.__file__).parent.rglob("*.py"))
# Imported, but not asked for by name, and why.
UNDECLARED = {
    "llvmlite": "numba asks for the one version that it works with",
}


def calls(name):
    """Keywords with plain values of every call of that name in the sources."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                given = [each for each in node.keywords if isinstance(each.value, ast.Constant)]
                yield {each.arg: each.value.value for each in given}


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


def test_all_has_every_extra():
    (text,) = ALL_EXTRAS["all"]
    assert Requirement(text).extras == set(EXTRAS)


def test_missing_extras_that_are_named_exist():
    named = {keywords["extra"] for keywords in calls("MissingExtraError") if "extra" in keywords}
    assert named and named <= set(EXTRAS)


def test_missing_extra_says_what_to_run_once_and_after_a_copy_too():
    error = MissingExtraError("Pictures need matplotlib.", extra="bench")
    assert str(error) == 'Pictures need matplotlib. Run: pip install "nldd[bench]"'
    kind, arguments, state = error.__reduce__()
    copied = kind(*arguments)
    copied.__setstate__(state)
    assert (str(copied), copied.extra, copied.hint) == (str(error), "bench", error.hint)


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
