"""A study that a test may change."""

import shutil

import pytest


@pytest.fixture
def study(made, tmp_path):
    """A copy, as these commands change files."""
    return shutil.copytree(made, tmp_path / "study")
