"""A study that the tests of all coding commands read; those that change files take a copy."""

import pytest

from coding_tables import make_study


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("study"))
