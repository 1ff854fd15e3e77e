"""Where the tests of model files put theirs."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.nldd"
