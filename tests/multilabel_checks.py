"""Checks that every multi-label method must pass, beside scikit-learn's own.

Each takes a fresh, seeded estimator and a small problem, and asserts values.
"""

import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

from nldd._labels import as_label_sets

NAMES = ["joy", "fear", "anger", "calm"]


def check_multilabel_output_is_an_indicator(estimator, X, Y):
    Y_pred = clone(estimator).fit(X, Y).predict(X)
    assert Y_pred.shape == Y.shape
    assert set(np.unique(Y_pred)) <= {0, 1}
    # Better than the best constant: the most frequent labelset, and label by label.
    counts = np.unique(Y, axis=0, return_counts=True)[1]
    assert (Y_pred == Y).all(axis=1).mean() > counts.max() / len(Y)
    assert (Y_pred == Y).mean() > np.maximum(Y.mean(axis=0), 1 - Y.mean(axis=0)).mean()


def check_multilabel_probabilities_round_to_the_prediction(estimator, X, Y):
    model = clone(estimator).fit(X, Y)
    P = model.predict_proba(X)
    assert ((P >= 0) & (P <= 1)).all()
    assert_array_equal(P.round(), model.predict(X))


def check_multilabel_sparse_equals_dense(estimator, X, Y):
    X = np.where(np.abs(X) < 0.7, 0, X)
    expected = clone(estimator).fit(X, Y)
    for container in (csr_matrix, csr_array):
        model = clone(estimator).fit(container(X), csr_matrix(Y))
        assert_array_equal(model.predict(container(X)), expected.predict(X))
        assert_allclose(model.predict_proba(container(X)), expected.predict_proba(X), atol=1e-6)


def check_multilabel_constant_labels(estimator, X, Y):
    ones, zeros = np.ones((len(Y), 1), dtype=int), np.zeros((len(Y), 1), dtype=int)
    model = clone(estimator).fit(X, np.hstack([ones, Y, zeros]))
    Y_pred = model.predict(X)
    assert (Y_pred[:, 0] == 1).all()
    assert (Y_pred[:, -1] == 0).all()
    P = model.predict_proba(X)
    assert (P[:, 0] > 0.9).all()
    assert (P[:, -1] < 0.1).all()


def check_multilabel_single_label(estimator, X, Y):
    model = clone(estimator).fit(X, Y[:, [0]])
    Y_pred = model.predict(X)
    assert Y_pred.shape == (len(X), 1)
    assert (Y_pred == Y[:, [0]]).mean() > 0.7


def check_multilabel_empty_labelsets(estimator, X, Y):
    Y = Y * (np.arange(len(Y)) % 3 > 0)[:, np.newaxis]
    Y_pred = clone(estimator).fit(X, Y).predict(X)
    assert Y_pred.shape == Y.shape
    assert (Y_pred == Y).mean() > 0.5


def check_multilabel_names_are_kept(estimator, X, Y):
    model = clone(estimator).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert model.label_names_.tolist() == NAMES
    assert_array_equal(model.predict(X), clone(estimator).fit(X, Y).predict(X))


def check_multilabel_sets_equal_columns(estimator, X, Y):
    names = sorted(NAMES)
    sets = [set(labels) for labels in as_label_sets(Y, names)]
    model = clone(estimator).fit(X, sets)
    assert model.label_names_.tolist() == names
    expected = clone(estimator).fit(X, Y)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert model.score(X, sets) == expected.score(X, Y)


def check_multilabel_exclusive_classes(estimator, X, Y):
    classes = np.array(["high", "low", "mid"])
    y = classes[Y[:, 1] + Y[:, 2]]
    model = clone(estimator).fit(X, y)
    assert_array_equal(model.classes_, classes)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.predict(X), classes[P.argmax(axis=1)])
    assert model.score(X, y) == (model.predict(X) == y).mean() > 0.6


def check_multilabel_seeds_are_respected(estimator, X, Y):
    if "random_state" not in estimator.get_params():
        return
    drawn = clone(estimator).set_params(random_state=np.random.RandomState(0)).fit(X, Y)
    seeded = clone(estimator).set_params(random_state=0).fit(X, Y)
    assert_array_equal(drawn.predict_proba(X), seeded.predict_proba(X))


def check_multilabel_prediction_changes_nothing(estimator, X, Y):
    """Neither an attribute nor anything inside one, also where threads share the model."""
    model = clone(estimator).fit(X, Y)
    attributes, everything = dict(vars(model)), pickle.dumps(model)
    expected = model.predict(X)
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(model.predict, [X] * 8):
            assert_array_equal(answer, expected)
    for name in ("predict_proba", "predict_theta", "explain", "search_stats"):
        if hasattr(model, name):
            getattr(model, name)(X)
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is value for name, value in attributes.items())
    assert pickle.dumps(model) == everything


def check_multilabel_data_are_left_alone(estimator, X, Y):
    X_before, Y_before = X.copy(), Y.copy()
    model = clone(estimator).fit(X, Y)
    expected = model.predict(X)
    assert_array_equal(X, X_before)
    assert_array_equal(Y, Y_before)
    X_before, X[:], Y[:] = X.copy(), 0, 0  # what was learned is the model's own
    assert_array_equal(model.predict(X_before), expected)


def check_multilabel_refit_equals_clone(estimator, X, Y):
    model = clone(estimator).fit(X[::2], Y[::2]).fit(X, Y)
    assert_array_equal(model.predict_proba(X), clone(estimator).fit(X, Y).predict_proba(X))


def check_multilabel_workers_change_nothing(estimator, X, Y):
    if "n_jobs" not in estimator.get_params():
        return
    one = clone(estimator).set_params(n_jobs=1).fit(X, Y)
    two = clone(estimator).set_params(n_jobs=2).fit(X, Y)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def check_multilabel_duplicate_rows_are_harmless(estimator, X, Y):
    rows = np.r_[np.arange(len(X)), np.arange(0, len(X), 2), np.zeros(5, dtype=int)]
    model = clone(estimator).fit(X[rows], Y[rows])
    assert_array_equal(model.predict(X[rows]), model.predict(X)[rows])


def check_multilabel_rows_are_predicted_alone(estimator, X, Y):
    model = clone(estimator).fit(X, Y)
    together = model.predict(X[:7])
    alone = np.vstack([model.predict(X[[i]]) for i in range(7)])
    assert_array_equal(together, alone)
    assert_array_equal(model.predict(X[:7][::-1]), together[::-1])


def check_multilabel_weight_zero_is_absence(estimator, X, Y):
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        return
    weight = (np.arange(len(X)) % 4 > 0).astype(float)
    kept = weight > 0
    weighted = clone(estimator).fit(X, Y, sample_weight=weight)
    removed = clone(estimator).fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert_allclose(weighted.predict_proba(X), removed.predict_proba(X))


def check_multilabel_bad_input_is_refused(estimator, X, Y):
    model = clone(estimator)
    for bad_X, bad_Y, message in (
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, Y + 1, "must hold only 0 and 1"),
        (np.where(X > 2, np.nan, X), Y, "contains NaN"),
        (X, np.zeros((len(X), 0)), "no label columns"),
        (X, None, "requires y"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(bad_X, bad_Y)
    model.fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


def check_multilabel_permuted_labels_permute_predictions(estimator, X, Y):
    order = [2, 0, 3, 1]
    expected = clone(estimator).fit(X, Y).predict(X)[:, order]
    assert_array_equal(clone(estimator).fit(X, Y[:, order]).predict(X), expected)


CHECKS = [
    function for name, function in list(globals().items()) if name.startswith("check_multilabel_")
]
