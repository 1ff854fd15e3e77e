"""Fixtures that many tests share."""

import re
from pathlib import Path

import numpy as np
import pytest

from nldd.datasets import load_yeast

# A source distribution has no records; what reads them is left out there.
ROOT = Path(__file__).parents[1]
NEEDED = ("results", "benchmarks")
READERS = ["test_study_records.py", "test_marks.py", "dist/*"]
collect_ignore_glob = [] if all((ROOT / name).is_dir() for name in NEEDED) else READERS


def pytest_addoption(parser):
    parser.addoption("--update-snapshots", action="store_true", help="Write tests/snapshots anew.")


@pytest.fixture
def snapshot(request, tmp_path):
    """Compare what a command prints or writes with tests/snapshots/NAME.txt.

    `tmp_path` is written as TMP. With `numbers=False` every number becomes #: for a text whose
    figures differ between versions of the dependencies, and are asserted elsewhere.
    """

    def check(text: str, name: str, numbers: bool = True):
        text = text.replace(str(tmp_path), "TMP").replace("\r\n", "\n")
        text = text if numbers else re.sub(r"\d+(\.\d+)?", "#", text)
        path = ROOT / "tests" / "snapshots" / f"{name}.txt"
        if request.config.getoption("--update-snapshots"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def yeast():
    return load_yeast()


@pytest.fixture
def small():
    """120 rows of three clusters, with two to three labels that follow them but for noise."""
    rng = np.random.default_rng(7)
    cluster = rng.integers(0, 3, size=120)
    X = rng.normal(size=(120, 4)) + 2.5 * np.eye(4)[cluster]
    Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]])[cluster]
    Y = Y ^ (rng.random(Y.shape) < 0.1)
    return X, Y


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A study that the tests of all coding commands read; those that change files take a copy."""
    from coding_tables import make_study

    return make_study(tmp_path_factory.mktemp("study"))
