"""LabelPowerset against the multi-class classifier it stands on, and against scikit-multilearn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._powersets import LabelPowerset
from nldd.estimators._svm import PlattSVC
from nldd.linear._logistic import MultiLabelLogisticRegression


def codes_by_first_appearance(Y):
    """Class number of each row, and the labelsets in that order, by a plain loop."""
    seen = []
    codes = []
    for row in np.asarray(Y).tolist():
        if row not in seen:
            seen.append(row)
        codes.append(seen.index(row))
    return np.array(codes), np.array(seen)


def test_one_labelset_is_a_constant_without_a_fit():
    X = np.arange(6.0).reshape(3, 2)
    model = LabelPowerset().fit(X, [[0, 1, 1]] * 3)
    assert model.estimators_ == []
    assert_array_equal(model.predict(X - 50), [[0, 1, 1]] * 3)
    assert_array_equal(model.predict_proba(X), [[0, 1, 1]] * 3)


TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("base", [SVC(kernel="linear"), TREE], ids=["svc", "tree"])
def test_powerset_equals_a_multi_class_classifier_of_codes(small, base, sparse):
    X, Y = small
    codes, labelsets = codes_by_first_appearance(Y[:60])
    given, new = (csr_array(X[:60]), csr_array(X)) if sparse else (X[:60], X)
    model = LabelPowerset(base).fit(given, Y[:60])
    alone = type(base)(**base.get_params()).fit(given, codes)
    assert_array_equal(model.labelsets_, labelsets)
    assert_array_equal(model.predict(new), labelsets[alone.predict(new)])


@pytest.mark.parametrize(
    ("given", "base"),
    [
        (LogisticRegression(), LogisticRegression()),
        (None, MultiLabelLogisticRegression()),  # one labelset against the rest
    ],
    ids=["multinomial", "default"],
)
def test_marginals_are_sums_over_classes(small, given, base):
    X, Y = small
    codes, labelsets = codes_by_first_appearance(Y)
    classes = base.fit(X, codes).predict_proba(X)
    expected = np.zeros(Y.shape)
    for code, labelset in enumerate(labelsets):
        for label in np.flatnonzero(labelset):
            expected[:, label] += classes[:, code]
    model = LabelPowerset(given).fit(X, Y)
    P = model.predict_proba(X)
    agree = (expected > 0.5) == model.predict(X)
    assert_allclose(P[agree], expected[agree])
    assert_allclose(P[~agree], 0.5)
    assert_array_equal(np.round(P), model.predict(X))


def test_binary_base_is_used_one_against_the_rest(small):
    X, Y = small
    model = LabelPowerset(PlattSVC(), random_state=0).fit(X[:60], Y[:60])
    inner = model.estimators_[0]
    assert isinstance(inner, OneVsRestClassifier)
    seed = inner.estimator.random_state
    assert isinstance(seed, int)
    codes, labelsets = codes_by_first_appearance(Y[:60])
    alone = OneVsRestClassifier(PlattSVC(random_state=seed)).fit(X[:60], codes)
    assert_array_equal(model.predict(X), labelsets[alone.predict(X)])
    assert_array_equal(np.round(model.predict_proba(X)), model.predict(X))
    assert model.estimator.random_state is None  # the user's object is not touched
