"""Folds, seeds and settings that a protocol gives to cells."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bench.runner.trials import rows_only, songs, trial
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.cell import settings_text
from nldd.bench.runner.protocol import BASES, SHAPES, DatasetRules
from nldd.bench.runner.protocol_file import load_protocol
from nldd.estimators._registry import METHODS

LARGE = ("ohsumed", "tmc2007", "bibtex")
PAPER, DEFAULT = load_protocol("paper"), load_protocol("default")


def folds_of(protocol, n_samples):
    return protocol.split_of("rows", n_samples).rows(rows_only(n_samples), protocol.seed)


def made(protocol, method, dataset, fold=0):
    return protocol.estimator(method, dataset, CATALOGUE[dataset].n_samples, fold)


def settings(estimator, *names):
    return tuple(estimator.get_params()[name] for name in names)


# Folds


@pytest.mark.parametrize(("name", "n_splits"), [("paper", 1), ("default", 5), ("quick", 1)])
def test_small_data_are_cut_into_folds_and_large_ones_split(name, n_splits):
    protocol = load_protocol(name)
    found = {entry.name: len(folds_of(protocol, entry.n_samples)) for entry in CATALOGUE.values()}
    assert found == {name: n_splits if name in LARGE else protocol.folds for name in CATALOGUE}
    assert protocol.folds == (3 if name == "quick" else 10)


# Settings


def test_settings_of_every_method_on_small_and_large_data(snapshot):
    lines = []
    for protocol in (PAPER, DEFAULT):
        for dataset in ("yeast", *LARGE):
            settings = (settings_text(made(protocol, method, dataset)) for method in METHODS)
            lines += [f"{protocol.name}, {dataset}", *settings, ""]
    snapshot("\n".join(lines), "protocols")


def test_paper_has_all_methods_and_the_study_of_shares():
    assert PAPER.methods == DEFAULT.methods == tuple(METHODS)
    steps = tuple(round(0.1 * step, 1) for step in range(1, 11))
    for protocol, own in ((PAPER, {"train_fraction": 1.0}), (DEFAULT, {})):
        shares = protocol.shares
        assert (shares.dataset, shares.method, shares.steps) == ("tmc2007", "NLDD", steps)
        assert shares.parameters == own


@pytest.mark.parametrize("method", [name for name, shape in SHAPES.items() if shape != "classes"])
def test_default_base_predicts_as_the_default_of_the_method(method):
    X, Y, _ = songs()
    named = DEFAULT.estimator(method, "songs", len(X), fold=0)
    unnamed = METHODS[method].default(estimator=None)  # NLDD's own default chooses
    if "random_state" in unnamed.get_params():
        unnamed.set_params(random_state=0)
    assert_array_equal(named.fit(X, Y).predict(X), unnamed.fit(X, Y).predict(X))


# Seeds, precedence and bases


@pytest.mark.parametrize("protocol", [PAPER, DEFAULT], ids=["paper", "default"])
@pytest.mark.parametrize("method", METHODS)
def test_every_draw_of_a_cell_comes_from_seed_and_fold(method, protocol):
    estimator = made(protocol, method, "bibtex", fold=7)
    seeds = [v for k, v in estimator.get_params().items() if k.endswith("random_state")]
    assert seeds == [7] * len(seeds)
    assert ("estimator" in estimator.get_params()) == (method in SHAPES)


def test_rules_of_a_data_set_come_before_large_before_all():
    protocol = trial(
        split_from=50,
        parameters={"MLKNN": {"k": 1, "s": 0.1}},
        large=DatasetRules(base="platt-svc", parameters={"MLKNN": {"k": 2}}),
        datasets={"songs": DatasetRules(base="auto", parameters={"MLKNN": {"k": 3}})},
    )

    def found(*arguments, **given):
        base = protocol.estimator("BR", *arguments, fold=0).estimator
        method = protocol.estimator("MLKNN", *arguments, fold=0, **given)
        return type(base).__name__, *settings(method, "k", "s")

    assert found("films", 49) == ("MultiLabelLogisticRegression", 1, 0.1)
    assert found("films", 50) == ("PlattSVC", 2, 0.1)
    assert found("songs", 49) == found("songs", 50) == ("str", 3, 0.1)
    assert found("songs", 50, k=4) == ("str", 4, 0.1)


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
