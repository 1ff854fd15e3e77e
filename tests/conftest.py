"""Fixtures that many tests share."""

from pathlib import Path

import numpy as np
import pytest

from nldd.datasets import load_yeast

# A source distribution has no records; what reads them is left out there.
ROOT = Path(__file__).parents[1]
NEEDED = ("results", "benchmarks")
READERS = ["test_committed_*.py", "test_marks.py", "dist/*"]
collect_ignore_glob = [] if all((ROOT / name).is_dir() for name in NEEDED) else READERS


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
