"""Commands that a test runs, and a study that it may change."""

import shutil
from functools import partial

import pytest

import coding_tables


@pytest.fixture
def nldd(capsys):
    return partial(coding_tables.nldd, capsys)


@pytest.fixture
def succeed(capsys):
    return partial(coding_tables.succeed, capsys)


@pytest.fixture
def refuse(capsys):
    return partial(coding_tables.refuse, capsys)


@pytest.fixture
def study(made, tmp_path):
    """A copy, as these commands change files."""
    return shutil.copytree(made, tmp_path / "study")
