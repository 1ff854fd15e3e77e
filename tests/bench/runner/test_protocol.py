"""Folds, seeds and settings that a protocol gives to cells."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.svm import LinearSVC

from bench.runner.trials import rows_only, songs, trial
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.protocol import BASES, SHAPES, Protocol
from nldd.bench.runner.protocol_file import load_protocol
from nldd.estimators._registry import METHODS
from nldd.estimators._svm import LinearSVM, PlattSVC

LARGE = ("ohsumed", "tmc2007", "bibtex")
SMALL = tuple(name for name in CATALOGUE if name not in LARGE)
PAPER = load_protocol("paper")
DEFAULT = load_protocol("default")


def folds_of(protocol, n_samples):
    return protocol.split_of("rows", n_samples).rows(rows_only(n_samples), protocol.seed)


def n_folds(protocol, n_samples):
    return protocol.split_of("rows", n_samples).cut(rows_only(n_samples))["n_folds"]


def made(protocol, method, dataset, fold=0):
    return protocol.estimator(method, dataset, CATALOGUE[dataset].n_samples, fold)


def parameters(estimator, *names):
    return {name: estimator.get_params()[name] for name in names}


def settings(protocol, method, dataset, *names):
    return tuple(parameters(made(protocol, method, dataset), *names).values())


# Folds


@pytest.mark.parametrize(
    ("protocol", "splits"), [(PAPER, 1), (DEFAULT, 5)], ids=["paper", "default"]
)
def test_shipped_protocols_cut_small_data_into_ten_folds_and_split_large_ones(protocol, splits):
    assert (protocol.folds, protocol.split_from, protocol.test_share) == (10, 5000, 0.25)
    assert {name: n_folds(protocol, entry.n_samples) for name, entry in CATALOGUE.items()} == {
        **dict.fromkeys(SMALL, 10),
        **dict.fromkeys(LARGE, splits),
    }
    assert len(SMALL) == 6


@pytest.mark.parametrize("n_samples", [10, 593, 4999])
def test_folds_are_a_partition_into_even_parts(n_samples):
    folds = folds_of(PAPER, n_samples)
    assert len(folds) == 10
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), range(n_samples))
    for train, test in folds:
        assert_array_equal(np.sort(np.concatenate([train, test])), range(n_samples))
        assert len(test) in (n_samples // 10, -(-n_samples // 10))


@pytest.mark.parametrize("n_samples", [5000, 7395, 28596])
def test_large_data_are_split_once_into_three_quarters_and_one(n_samples):
    ((train, test),) = folds_of(PAPER, n_samples)
    assert len(test) == -(-n_samples // 4)
    assert_array_equal(np.sort(np.concatenate([train, test])), range(n_samples))
    assert test[:5].tolist() != list(range(5))  # drawn at random


@pytest.mark.parametrize("n_samples", [60, 6000])
def test_rows_are_decided_by_the_seed_alone(n_samples):
    first, again = (folds_of(Protocol("a", "a", seed=3), n_samples) for _ in range(2))
    other = folds_of(Protocol("a", "a", seed=4), n_samples)
    for (train, test), (train_again, test_again) in zip(first, again, strict=True):
        assert_array_equal(train, train_again)
        assert_array_equal(test, test_again)
    assert set(first[0][1]) != set(other[0][1])


# The paper's settings


@pytest.mark.parametrize("dataset", CATALOGUE)
def test_paper_takes_less_of_large_data(dataset):
    large, short = dataset in LARGE, dataset in ("tmc2007", "bibtex")
    names = ("max_pairs", "train_fraction")
    assert settings(PAPER, "NLDD", dataset, *names) == (None, 0.7 if large else 1.0)
    names = ("bootstrap", "row_fraction", "feature_fraction")
    default = tuple(parameters(METHODS["ECC"].default(), *names).values())
    assert settings(PAPER, "ECC", dataset, *names) == ((False, 0.75, 0.5) if large else default)
    assert settings(PAPER, "ECC", dataset, "n_members") == (10,)
    names = ("n_components", "variance", "n_iterations", "feature_fraction")
    expected = (20, 1.0, 5, 0.5) if short else (20, 1.0, 10, 1.0)
    assert settings(PAPER, "CBM", dataset, *names) == expected


@pytest.mark.parametrize("dataset", ["yeast", "slashdot", *LARGE])
@pytest.mark.parametrize("method", SHAPES)
def test_paper_base_is_libsvm_but_on_the_two_largest_data_sets(method, dataset):
    base = made(PAPER, method, dataset, fold=0).estimator
    by_liblinear = dataset in ("ohsumed", "tmc2007")
    if SHAPES[method] == "probabilities":
        assert isinstance(base, PlattSVC)
        solver = "liblinear" if by_liblinear else "libsvm"
        assert parameters(base, "C", "solver", "n_folds") == {
            "C": 1.0,
            "solver": solver,
            "n_folds": 5,
        }
    elif by_liblinear:
        assert isinstance(base, LinearSVC)
        assert parameters(base, "C", "loss", "dual", "penalty", "fit_intercept") == {
            "C": 1.0,
            "loss": "hinge",
            "dual": True,
            "penalty": "l2",
            "fit_intercept": True,
        }
    else:
        assert isinstance(base, LinearSVM)
        assert parameters(base, "C") == {"C": 1.0}


def test_paper_has_all_methods_and_the_study_of_shares():
    assert PAPER.methods == DEFAULT.methods == tuple(METHODS)
    steps = tuple(round(0.1 * step, 1) for step in range(1, 11))
    for protocol, own in ((PAPER, {"train_fraction": 1.0}), (DEFAULT, {})):
        shares = protocol.shares
        assert (shares.dataset, shares.method, shares.steps) == ("tmc2007", "NLDD", steps)
        assert shares.parameters == own


# Our defaults


@pytest.mark.parametrize("dataset", ["yeast", "ohsumed", "tmc2007"])
@pytest.mark.parametrize("method", METHODS)
def test_default_protocol_has_the_defaults_of_each_method(method, dataset):
    found = made(DEFAULT, method, dataset).get_params(deep=False)
    expected = METHODS[method].factory().get_params(deep=False)
    set_by_protocol = {"estimator", "random_state"}
    for name in expected.keys() - set_by_protocol:
        assert found[name] == expected[name], name
    assert found.get("random_state", 0) == 0


@pytest.mark.parametrize("method", [name for name, shape in SHAPES.items() if shape != "classes"])
def test_default_base_predicts_as_the_default_of_the_method(method):
    X, Y, _ = songs()
    named = DEFAULT.estimator(method, "songs", len(X), fold=0)
    unnamed = METHODS[method].default(estimator=None)  # NLDD's own default chooses
    if "random_state" in unnamed.get_params():
        unnamed.set_params(random_state=0)
    assert_array_equal(named.fit(X, Y).predict(X), unnamed.fit(X, Y).predict(X))


@pytest.mark.parametrize("method", [key for key in METHODS if key not in SHAPES])
def test_methods_without_a_base_get_none(method):
    assert "estimator" not in made(PAPER, method, "yeast").get_params()


def test_quick_protocol_is_the_default_with_three_folds():
    quick = load_protocol("quick")
    assert n_folds(quick, 2417) == 3
    for method in METHODS:
        assert repr(made(quick, method, "yeast")) == repr(made(DEFAULT, method, "yeast"))


# Seeds and precedence


@pytest.mark.parametrize("protocol", [PAPER, DEFAULT], ids=["paper", "default"])
@pytest.mark.parametrize("dataset", ["yeast", "bibtex"])
@pytest.mark.parametrize("method", METHODS)
def test_every_draw_of_a_cell_comes_from_seed_and_fold(method, dataset, protocol):
    estimator = made(protocol, method, dataset, fold=7)
    seeds = {
        name: value
        for name, value in estimator.get_params().items()
        if name.endswith("random_state")
    }
    assert seeds == dict.fromkeys(seeds, 7)
    assert repr(estimator) == repr(made(protocol, method, dataset, fold=7))


def test_parameters_of_data_set_come_before_large_before_method():
    protocol = trial(
        split_from=50,
        parameters={"MLKNN": {"k": 1, "s": 0.1}},
        large_parameters={"MLKNN": {"k": 2}},
        dataset_parameters={"songs": {"MLKNN": {"k": 3}}},
    )

    def k(*arguments, **given):
        return parameters(protocol.estimator("MLKNN", *arguments, fold=0, **given), "k", "s")

    assert k("films", 49) == {"k": 1, "s": 0.1}
    assert k("films", 50) == {"k": 2, "s": 0.1}
    assert k("songs", 49) == k("songs", 50) == {"k": 3, "s": 0.1}
    assert k("songs", 50, k=4) == {"k": 4, "s": 0.1}


# Base classifiers


@pytest.mark.parametrize(
    "base", [pytest.param(base, marks=[pytest.mark.slow] * (base == "platt-svc")) for base in BASES]
)
@pytest.mark.parametrize("method", ["NLDD", "CC", "LP"])
def test_every_method_runs_with_every_base_and_repeats_itself(method, base):
    X, Y, _ = songs()
    estimator = trial(base=base).estimator(method, "songs", len(X), fold=0)
    first = estimator.fit(X, Y).predict(X)
    assert_array_equal(clone(estimator).fit(X, Y).predict(X), first)
    # Better than no labels at all: it has learned something.
    assert (first != Y).mean() < 0.75 * (Y != 0).mean()
