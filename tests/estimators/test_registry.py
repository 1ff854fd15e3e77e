"""The registry: every method of the paper under its short name and with the paper's settings."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import nldd
from nldd._base import MultiLabelClassifier
from nldd.estimators._registry import METHODS
from nldd.estimators._svm import LinearSVM, PlattSVC

CLASSES = {
    "BR": "BinaryRelevance",
    "SMBR": "SubsetMapping",
    "NLDD": "NLDDClassifier",
    "CC": "ClassifierChain",
    "ECC": "EnsembleOfChains",
    "LP": "LabelPowerset",
    "RAKEL": "RAkEL",
    "MLKNN": "MLkNN",
    "CBM": "ConditionalBernoulliMixture",
    "RFPCT": "RandomForestPCT",
}
PAPER = {
    "NLDD": {"max_pairs": None, "model": "linear", "train_fraction": 1.0},
    "ECC": {"n_members": 10, "bootstrap": True, "row_fraction": 1.0, "feature_fraction": 1.0}
    | {"order": "random", "threshold": "cardinality"},
    "RAKEL": {"k": 3, "n_models": None, "threshold": 0.5},
    "MLKNN": {"k": 10, "s": 1.0},
    "CBM": {"n_components": 20, "n_iterations": 10, "variance": 1.0}
    | {"predictor": "joint", "feature_fraction": 1.0},
}
LARGE = {
    "NLDD": {"train_fraction": 0.7},
    "ECC": {"bootstrap": False, "row_fraction": 0.75, "feature_fraction": 0.5},
    "CBM": {"n_iterations": 5, "feature_fraction": 0.5},
}
BASES = dict.fromkeys(["BR", "SMBR", "CC", "ECC", "LP", "RAKEL"], LinearSVM(C=1.0))
BASES["NLDD"] = PlattSVC(C=1.0, n_folds=5)


def flat(estimator):
    """Parameters with the base classifiers as text, so that they can be compared."""
    return {name: repr(value) for name, value in estimator.get_params(deep=True).items()}


def test_registry_has_all_methods_of_the_paper_and_their_relatives():
    assert {key: method.factory.__name__ for key, method in METHODS.items()} == CLASSES
    assert all(key == method.key for key, method in METHODS.items())
    assert len({method.name for method in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize("key", CLASSES)
def test_default_has_our_defaults_and_takes_parameters(key):
    factory = getattr(nldd, CLASSES[key])
    assert isinstance(METHODS[key].default(), MultiLabelClassifier)
    assert flat(METHODS[key].default()) == flat(factory())
    if "random_state" in factory().get_params():
        assert METHODS[key].default(random_state=7).random_state == 7


@pytest.mark.parametrize("key", CLASSES)
def test_base_of_the_paper_is_a_linear_support_vector_machine(key):
    found = METHODS[key].as_in_paper().get_params(deep=False)
    assert ("estimator" in found) == (key in BASES)
    if key in BASES:
        assert type(found["estimator"]) is type(BASES[key])
        assert flat(found["estimator"]) == flat(BASES[key])


@pytest.mark.parametrize("key", PAPER)
def test_settings_of_the_paper(key):
    found = METHODS[key].as_in_paper().get_params(deep=False)
    assert {name: found[name] for name in PAPER[key]} == PAPER[key]


@pytest.mark.parametrize("key", CLASSES)
def test_large_data_changes_what_the_paper_changes_and_nothing_else(key):
    usual, large = flat(METHODS[key].as_in_paper()), flat(METHODS[key].as_in_paper(large=True))
    changed = {name: large[name] for name in large if large[name] != usual[name]}
    assert changed == {name: repr(value) for name, value in LARGE.get(key, {}).items()}


def test_own_parameters_come_before_those_of_the_paper():
    model = METHODS["ECC"].as_in_paper(large=True, n_members=3, row_fraction=0.5, random_state=1)
    assert (model.n_members, model.row_fraction, model.random_state) == (3, 0.5, 1)
    assert METHODS["BR"].as_in_paper(estimator=PlattSVC()).estimator.__class__ is PlattSVC


@pytest.mark.parametrize("key", CLASSES)
def test_settings_of_the_paper_fit_and_predict(small, key):
    X, Y = small
    few = {"ECC": {"n_members": 2}, "CBM": {"n_components": 2, "n_iterations": 2}}
    few["RFPCT"] = {"n_estimators": 5}
    parameters = few.get(key, {})
    model = METHODS[key].as_in_paper(**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    predicted = model.fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    # Labels follow clusters but for one cell in ten; all 0 would be wrong in about half.
    assert (predicted != Y).mean() < 0.2
    assert_array_equal(np.unique(predicted), [0, 1])
