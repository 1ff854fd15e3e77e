"""CONTRIBUTING.md, followed to the letter: its code is put where it says, and its tests pass.

A block begins with the path of its file. One of Python is a new file; one of changes has lines that
are there, and lines to add (+) or to take away (-).
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nldd.estimators._registry import METHODS
from nldd.metrics._measures import MEASURES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python|diff)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
OWN_TESTS = [path for kind, path, _ in BLOCKS if kind == "python" and path.startswith("tests/")]


def follow(folder):
    """A checkout with the changes of the page; returns its path.

    Packages without a change are those of the real one, whose search is compiled for its place.
    """
    for package in {Path(path).parent for _, path, _ in BLOCKS if path.startswith("src/nldd/")}:
        shutil.copytree(ROOT / package, folder / package, dirs_exist_ok=True)
    shutil.copy(ROOT / "src/nldd/__init__.pyi", folder / "src/nldd")
    beside = f"__path__.append({str(ROOT / 'src/nldd')!r})\n"
    (folder / "src/nldd/__init__.py").write_text(
        beside + (ROOT / "src/nldd/__init__.py").read_text()
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    for kind, name, text in BLOCKS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "python":
            assert not (ROOT / name).exists()
            path.write_text(text)
            continue
        if not path.exists():
            shutil.copy(ROOT / name, path)
        path.write_text(changed(path.read_text(), text, name))
    return folder


def changed(content, change, name):
    """A text with the lines of a change put in, where its other lines stand together once."""
    lines = [line or " " for line in change.splitlines()]
    before, after = (
        "".join(f"{line[1:]}\n" for line in lines if line[0] != sign) for sign in ("+", "-")
    )
    assert content.count(before) == 1, f"{name} has not, or not once:\n{before}"
    return content.replace(before, after)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each test in a checkout that followed the page: None if it passed."""
    folder = follow(tmp_path_factory.mktemp("checkout"))
    # As this file, these checks are not part of the page; they see what a user would see.
    shutil.copy(ROOT / "tests/contributed.py", folder / "tests")
    chosen = [*OWN_TESTS, "tests/contributed.py", "tests/metrics/test_measures.py"]
    chosen += ["tests/test_common_checks.py", *(p for _, p, _ in BLOCKS if p.startswith("src/"))]
    python_files = [path for path in dict.fromkeys(chosen) if path.endswith(".py")]
    which = "contributed or NearestMean or within_one or covered or nearest_mean or rec"
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--junitxml=out.xml", "-k", which]
    paths = os.pathsep.join(map(str, (folder / "src", folder / "tests", ROOT / "tests")))
    # Files of the copy are not to be counted in the coverage of ours.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *python_files],
        cwd=folder,
        env={**kept, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert (folder / "out.xml").exists(), done.stdout + done.stderr
    cases = ElementTree.parse(folder / "out.xml").iter("testcase")
    return {f"{c.get('classname')}::{c.get('name')}": _failure(c) for c in cases}


def _failure(case):
    wrong = [each for each in case if each.tag in ("failure", "error")]
    return wrong[0].text if wrong else None


def passed(outcomes, part):
    """How many tests with that in their name there were; all of them must have passed."""
    found = {name: why for name, why in outcomes.items() if part in name}
    failed = [f"{name}\n{why}" for name, why in found.items() if why is not None]
    assert not failed, "\n\n".join(failed)
    return len(found)


def test_changes_of_the_page_fit_the_code(tmp_path):
    follow(tmp_path)  # which refuses a change whose place is not there
    changed_files = [path for kind, path, _ in BLOCKS if kind != "python"]
    assert len(changed_files) >= 3
    for path in changed_files:
        assert (tmp_path / path).read_text() != (ROOT / path).read_text(), path


def test_examples_are_not_part_of_nldd():
    assert "MEAN" not in METHODS
    assert "within_one" not in MEASURES


@pytest.mark.slow
def test_new_method(outcomes):
    assert passed(outcomes, "test_nearest_mean") == 3
    assert passed(outcomes, "_nearest_mean::nldd.estimators._nearest_mean") == 1  # its example
    assert passed(outcomes, "test_common_checks::") >= 60
    assert passed(outcomes, "contributed::test_benchmark_knows_the_method") == 1


@pytest.mark.slow
def test_new_measure(outcomes):
    assert passed(outcomes, "test_functions_are_all_covered_here") == 1
    assert passed(outcomes, "test_measures::test_measure_by_hand[within_one") == 1
    assert passed(outcomes, "test_measures::test_measure_equals_naive_loop[within_one") == 1
    assert passed(outcomes, "nldd.metrics._measures.within_one") == 1  # its example
    assert passed(outcomes, "contributed::test_report_has_the_measure") == 1


@pytest.mark.slow
def test_new_table_format(outcomes):
    assert passed(outcomes, "test_recfile") == 3
    assert passed(outcomes, "contributed::test_model_is_fitted_from_the_format") == 1


@pytest.mark.slow
def test_nothing_else_failed(outcomes):
    assert passed(outcomes, "") > 70


def test_page_names_what_is_there():
    """Links to files, and commands of the Makefile."""
    rules = re.findall(r"^([a-z][a-z -]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"(?:`|^)make ((?:[a-z-]+ ?)+)", PAGE, re.MULTILINE)
    named = {word for command in commands for word in command.split()}
    assert {"test", "check", "test-lowest"} <= named
    assert named <= {name for rule in rules for name in rule.split()}
    for link in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / link).exists(), link
