"""Each part of a model in a file is checked before the model exists."""

from dataclasses import replace

import numpy as np
import pytest
from model_files import (
    METHODS,
    members_of,
    put_together,
    refusal,
    small_problem,
    with_document,
    with_learned,
)
from scipy.sparse import csr_matrix
from sklearn.base import clone

from nldd.persistence import load_model, save_model


def setting(name, value):
    return lambda learned: learned.__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "way"),
    [
        (lambda d: d["label_names_"]["names"].pop(), ()),
        (setting("feature_names_in_", {"names": ["a"]}), ()),
        (setting("tau", 1.0), ("_fitted",)),
        (lambda d: d.pop("chosen_"), ()),
        (lambda d: d.clear(), ()),
        (lambda d: d["index"].update(type="NeighborIndex"), ("_fitted", "rule")),
        (lambda d: d["classifiers"].update(type="SeparateModels"), ("_fitted",)),
        (lambda d: d["chosen_"].update(type="os.system"), ()),
        (lambda d: d["estimators"].append(d["estimators"][0]), ("_fitted", "classifiers")),
        (setting("brier", {"dict": [["rbf", 2.0]]}), ("chosen_",)),
        (setting("with_trees", 1), ("chosen_",)),
        (setting("model", "multiplicative"), ("_fitted", "rule", "regression")),
        (setting("features_", None), ("_fitted", "classifiers", "estimators", 0)),
    ],
)
def test_records_that_no_model_has(path, members, change, way):
    """Each attribute alone is what it may be, or about; they do not fit together."""
    put_together(with_learned(members, change, *way), path)
    assert refusal(path, load_model).startswith("damaged: ")


def test_file_without_a_method_of_nldd(path, members):
    for models in ({}, {"other": 1}, {"model": {"type": "PlattSVC", "parameters": {}}}):
        put_together(with_document(members, lambda d, m=models: d.update(models=m)), path)
        assert refusal(path, load_model).startswith("damaged: ")


def fitted(name, sparse=False):
    X, Y = small_problem()
    X = csr_matrix(np.where(X > 0.5, X, 0)) if sparse else X
    return clone(METHODS[name]).fit(X, Y)


def changed(array, place, value):
    array[place] = value


def with_rule(model, **attributes):
    rule = model._fitted.rule
    for name, value in attributes.items():
        rule.__dict__[name] = value


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("nldd", lambda m: changed(m.index_.scale, 0, 0.0)),
        ("nldd", lambda m: changed(m.regression_.beta, 1, -1.0)),
        ("nldd", lambda m: changed(m._fitted.classifiers.constants, 3, 0.5)),
        ("nldd", lambda m: changed(m.rows_, 0, 61)),
        ("nldd of platt", lambda m: m.estimators_.pop()),
        ("binary relevance", lambda m: m.estimators_.append(m.estimators_[0])),
        ("chain", lambda m: setattr(m, "n_features_in_", 3)),
        ("rakel", lambda m: m.subsets_.pop()),
        ("mixture", lambda m: m.estimators_.pop()),
        ("nldd", lambda m: m._set_fitted(replace(m._fitted, rows=m.rows_[1:]))),
        ("nldd", lambda m: m.set_params(decision="f1")),
        ("nldd of subset", lambda m: m.set_params(decision="nearest")),
        ("nldd of subset", lambda m: changed(m._fitted.rule.seen, 0, 100)),
        ("nldd of subset", lambda m: changed(m._fitted.rule.seen, 0, 0)),
        ("nldd of subset", lambda m: with_rule(m, weights=(-0.1, 1.0, 1.0, 0.0))),
        ("nldd of subset", lambda m: with_rule(m, weights=(0.1, 1.0, 1.0))),
        ("nldd of subset", lambda m: with_rule(m, seen=m._fitted.rule.seen[1:])),
        ("nldd of platt", lambda m: setattr(m.estimators_[0], "sigmoid_", (1.0,))),
        ("chain of platt", lambda m: m.estimators_.pop()),
        ("ensemble of chains", lambda m: changed(m.estimators_[0].features, 0, 4)),
        ("ensemble of chains", lambda m: m.estimators_[0].links.clear()),
        ("ml-knn", lambda m: setattr(m, "k", 10**9)),
        ("kernel", lambda m: setattr(m, "coef_", m.coef_[:, 1:])),
        ("logistic", lambda m: setattr(m, "intercept_", m.intercept_[1:])),
    ],
)
def test_models_that_could_not_be_read_are_not_written(path, name, change):
    """The same check as that of a file from a stranger, on its way to the file."""
    model = fitted(name)
    save_model(model, path)
    path.unlink()
    change(model)
    assert "damaged" in refusal(path, lambda path: save_model(model, path))
    assert not path.exists()


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [("indices", 0, 4), ("indptr", 0, 1), ("indptr", 1, 2**63 - 1), ("data", 0, 1e200)],
)
def test_sparse_matrices_with_positions_outside(path, part, place, value):
    model = fitted("ml-knn", sparse=True)
    Z = model._index.Z
    setattr(Z, part, getattr(Z, part).astype(np.float64 if part == "data" else np.int64))
    getattr(Z, part)[place] = value
    assert "'Z' of a NeighborIndex" in refusal(path, lambda path: save_model(model, path))


def test_sparse_matrices_of_billions_of_columns(path):
    """They take no room in a file, but what is made of them would."""
    save_model(fitted("ml-knn", sparse=True), path)

    def widen(learned):
        learned["n_features_in_"] = learned["_index"]["learned"]["Z"]["sparse"][0] = 2**30

    put_together(with_learned(members_of(path), widen), path)
    assert "'n_features_in_' of a MLkNN" in refusal(path, load_model)


def test_bytes_that_nobody_asks_for(path, members):
    put_together({**members, "content.bin": members["content.bin"] + bytes(8)}, path)
    assert refusal(path, load_model).startswith("damaged: ")
    put_together({**members, "content.bin": members["content.bin"][:-1]}, path)
    assert refusal(path, load_model).startswith("damaged: ")
