"""Licences: everything vendored has terms, and the page says what the installed metadata say."""

import re
import sys
from importlib.metadata import version

import pytest

from dependencies import EXTRAS, ROOT, pins, reached, run_time_dependencies
from licences import rows, written_rows

# Copyleft that would reach those who use nldd; what GCC excepts is no part of these expressions.
UNWANTED = re.compile(r"\b(A?GPL|LGPL|SSPL|BUSL|CC-BY-NC)", re.IGNORECASE)
# Files that are not ours or not code, and where their terms are stated.
EMBEDDED = {
    "src/nldd/datasets": ("yeast.csv.gz", "survey.csv.gz"),
    "src/nldd/reports/paper": ("explanations.csv",),
}


@pytest.fixture(scope="module")
def found():
    """The dependencies, where their versions are those that the page is about."""
    pytest.importorskip("pyreadstat", reason="the extras are not installed")
    pinned = pins()
    names = set().union(*(reached(extra) for extra in EXTRAS))
    if any(pinned.get(name) != version(name) for name in names):
        pytest.skip("the page is about the versions of constraints/newest.txt")
    return run_time_dependencies()


def test_page_has_the_licences_of_the_metadata(found):
    # Of Windows alone; the page names it in its text.
    everywhere = [each for name, each in found.items() if name != "colorama"]
    written, now = written_rows(), rows(everywhere)
    assert set(now) <= set(written), "run: python release/licences.py"
    if (sys.platform, sys.version_info[:2]) == ("linux", (3, 11)):
        assert now == written, "run: python release/licences.py"


def test_no_dependency_has_copyleft_that_reaches_users(found):
    assert {
        name: each.licence for name, each in found.items() if UNWANTED.search(each.licence)
    } == {}
    assert len(found) > 50


@pytest.mark.parametrize("folder", sorted(EMBEDDED))
def test_embedded_files_have_a_notice_that_names_them_and_a_row(folder):
    notice = (ROOT / folder / "NOTICE").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    assert all(name in notice for name in EMBEDDED[folder])
    assert folder in page


def test_nothing_else_is_embedded():
    """A new kind of file in the package needs a look at where it comes from."""
    known = {".py", ".pyi", ".toml", ".js", ".css", ".html", ".jinja", ".ts", ".svg", ".typed"}
    known |= {"", ".pyc"}
    package = ROOT / "src" / "nldd"
    others = {path for path in package.rglob("*") if path.is_file() and path.suffix not in known}
    others = {path.relative_to(package).as_posix() for path in others}
    data = {"datasets/catalogue.json", "datasets/survey.csv.gz", "datasets/yeast.csv.gz"}
    assert {name for name in others if not name.startswith("reports/paper/")} == data
    assert {path.suffix for path in (package / "reports" / "paper").iterdir()} == {".csv", ""}
