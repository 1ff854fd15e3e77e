"""Where the tests of model files put theirs."""

import pytest
from model_files import members_of, small_problem

from nldd import NLDDClassifier, save_model


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.nldd"


@pytest.fixture(scope="session")
def members(tmp_path_factory):
    """The members of the file of a small model with linear classifiers."""
    path = tmp_path_factory.mktemp("models") / "model.nldd"
    save_model(NLDDClassifier(random_state=0).fit(*small_problem()), path)
    return members_of(path)
