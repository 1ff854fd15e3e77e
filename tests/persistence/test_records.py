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
        (lambda d: d["label_names_"]["names"].append("more"), ()),
        (lambda d: d["label_names_"]["names"].__setitem__(0, None), ()),
        (setting("label_names_", ["a", "b", "c", "d"]), ()),
        (setting("single_label_", 1), ()),
        (setting("n_features_in_", 5), ()),
        (setting("n_features_in_", "4"), ()),
        (setting("n_features_in_", 4.0), ()),
        (setting("n_fitted", -1), ("_fitted",)),
        (setting("feature_names_in_", {"names": ["a"]}), ()),
        (setting("tau", 1.0), ("_fitted",)),
        (setting("new_", 1), ()),
        (lambda d: d.pop("regression"), ("_fitted",)),
        (lambda d: d.pop("chosen_"), ()),
        (lambda d: d.clear(), ()),
        (setting("_fitted", None), ()),
        (lambda d: d["_fitted"].update(type="Pairs"), ()),
        (setting("index", None), ("_fitted",)),
        (lambda d: d["index"].update(type="NeighborIndex"), ("_fitted",)),
        (lambda d: d["classifiers"].update(type="SeparateModels"), ("_fitted",)),
        (lambda d: d["classifiers"].update(type="Pairs"), ("_fitted",)),
        (lambda d: d["chosen_"].update(type="os.system"), ()),
        (lambda d: d.update(estimators=[]), ("_fitted", "classifiers")),
        (lambda d: d["estimators"].append(d["estimators"][0]), ("_fitted", "classifiers")),
        (setting("brier", {"dict": [["rbf", 2.0]]}), ("chosen_",)),
        (setting("brier", {"dict": [["rbf"]]}), ("chosen_",)),
        (setting("n_rows", -3), ("chosen_",)),
        (setting("f", {"dict": [["alone", 0.5]]}), ("chosen_",)),
        (setting("name", 3), ("chosen_",)),
        (setting("model", "multiplicative"), ("_fitted", "regression")),
        (setting("model", "cubic"), ("_fitted", "regression")),
        (setting("converged", 1), ("_fitted", "regression")),
        (setting("log_likelihood", float("nan")), ("_fitted", "regression")),
        (setting("features_", None), ("_fitted", "classifiers", "estimators", 0)),
    ],
)
def test_records_that_no_model_has(path, members, change, way):
    put_together(with_learned(members, change, *way), path)
    assert refusal(path, load_model).startswith("damaged: ")


@pytest.mark.parametrize(
    "change",
    [
        {"model": "cubic"},
        {"model": "multiplicative"},
        {"decision": "f"},  # which takes a temperature
        {"estimator": None},  # of which none is chosen
        {"estimator": "auto+forests"},
        {"n_jobs": 5000},
        {"n_jobs": True},
        {"verbose": 1},
        {"new": 1},
        {"self": 1},
    ],
)
def test_parameters_that_no_model_has(path, members, change):
    def change_parameters(document):
        document["models"]["model"]["parameters"].update(change)

    put_together(with_document(members, change_parameters), path)
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


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("nldd", lambda m: changed(m.index_.scale, 0, 0.0)),
        ("nldd", lambda m: changed(m.index_.scale, 0, np.nan)),
        ("nldd", lambda m: changed(m.index_.scale, 0, 1e200)),
        ("nldd", lambda m: changed(m.regression_.beta, 1, -1.0)),
        ("nldd", lambda m: changed(m.regression_.beta, 0, np.inf)),
        ("nldd", lambda m: changed(m.rows_, 0, -1)),
        ("nldd", lambda m: changed(m.rows_, 0, 61)),
        ("nldd", lambda m: changed(m.pairs_.row, 0, -1)),
        ("nldd", lambda m: changed(m._fitted.classifiers.constants, 3, 1e160)),
        ("nldd", lambda m: changed(m._fitted.classifiers.constants, 3, 0.5)),
        ("nldd", lambda m: changed(m.estimators_[0].coef_, (0, 0), np.nan)),
        ("nldd", lambda m: m._set_fitted(replace(m._fitted, rows=m.rows_[1:]))),
        ("nldd of platt", lambda m: m._set_fitted(replace(m._fitted, tau=0.0))),
        ("nldd of platt", lambda m: m.estimators_.pop()),
        ("nldd of platt", lambda m: setattr(m.estimators_[3], "value", 2)),
        ("nldd of platt", lambda m: setattr(m.estimators_[0], "sigmoid_", (1.0,))),
        ("binary relevance", lambda m: m.estimators_.append(m.estimators_[0])),
        ("subset mapping", lambda m: changed(m.labelsets_, (0, 0), 2)),
        ("chain", lambda m: changed(m.order_, 0, 4)),
        ("chain of platt", lambda m: m.estimators_.pop()),
        ("chain", lambda m: setattr(m, "n_features_in_", 3)),
        ("ensemble of chains", lambda m: changed(m.estimators_[0].features, 0, 4)),
        ("ensemble of chains", lambda m: m.estimators_[0].links.clear()),
        ("rakel", lambda m: m.subsets_.pop()),
        ("rakel", lambda m: changed(m.subsets_[0], 0, -1)),
        ("ml-knn", lambda m: changed(m.prior_, 0, 1.5)),
        ("ml-knn", lambda m: setattr(m, "k", 10**9)),
        ("ml-knn", lambda m: changed(m._Y, (0, 0), -1)),
        ("mixture", lambda m: m.estimators_.pop()),
        ("mixture", lambda m: changed(m.features_, 0, 99)),
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


LARGEST = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("indices", 0, 4),
        ("indices", 0, -1),
        ("indptr", 0, 1),
        ("indptr", 1, -1),
        ("indptr", 1, LARGEST),
        ("indptr", -1, 10**6),
        ("data", 0, np.inf),
        ("data", 0, 1e200),
    ],
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
