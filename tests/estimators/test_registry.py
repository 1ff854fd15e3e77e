"""The registry: every method of the paper under its short name and with the paper's settings."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context

import nldd
from nldd import METHODS, PlattSVC
from nldd._base import MultiLabelClassifier


def test_methods_and_their_settings(snapshot):
    """Of each: its names, our defaults, the paper's settings, and those for large data."""
    lines = []
    for key, method in METHODS.items():
        settings = method.default(), method.as_in_paper(), method.as_in_paper(large=True)
        with config_context(print_changed_only=False):
            texts = [" ".join(repr(each).split()) for each in settings]
        lines += [f"{key}: {method.name}", *texts, ""]
    snapshot("\n".join(lines), "methods")
    assert all(key == method.key for key, method in METHODS.items())


def test_own_parameters_come_before_those_of_the_paper():
    model = METHODS["ECC"].as_in_paper(large=True, n_members=3, row_fraction=0.5, random_state=1)
    assert (model.n_members, model.row_fraction, model.random_state) == (3, 0.5, 1)
    assert METHODS["BR"].as_in_paper(estimator=PlattSVC()).estimator.__class__ is PlattSVC


@pytest.mark.parametrize("key", METHODS)
def test_settings_of_the_paper_fit_and_predict(small, key):
    X, Y = small
    few = {"ECC": {"n_members": 2}, "CBM": {"n_components": 2, "n_iterations": 2}}
    few["RFPCT"] = {"n_estimators": 5}
    model = METHODS[key].as_in_paper(**few.get(key, {}))
    assert isinstance(model, MultiLabelClassifier)
    assert type(model) is getattr(nldd, type(model).__name__)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    predicted = model.fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    # Labels follow clusters but for one cell in ten; all 0 would be wrong in about half.
    assert (predicted != Y).mean() < 0.2
    assert_array_equal(np.unique(predicted), [0, 1])
