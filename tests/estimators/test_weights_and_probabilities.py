"""Methods with base classifiers: weights reach these, and probabilities come from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron

from nldd import METHODS

WEIGHTED = {
    # What the method's first classifier of label 2 was fitted to: its rows, and labels before it.
    "BR": (lambda model: model.estimators_[2], []),
    "SMBR": (lambda model: model.estimators_[2], []),
    "NLDD": (lambda model: model.estimators_[2], []),
    "CC": (lambda model: model.estimators_[2], [0, 1]),
    "ECC": (lambda model: model.estimators_[0].links[2], [0, 1]),
}


@pytest.mark.parametrize("key", WEIGHTED)
def test_weights_go_with_their_rows_to_the_base_classifiers(small, key):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    given = {"order": "given", "random_state": 0} if key == "ECC" else {"random_state": 0}
    model = METHODS[key].default(**given).fit(X, Y, sample_weight=weight)
    if key == "ECC":
        rows = rows[model.estimators_[0].rows]
    if key == "NLDD":
        assert_allclose(model.pairs_.weight, weight[model.pairs_.instance])
    found, before = WEIGHTED[key]
    alone = LogisticRegression(solver="liblinear")
    alone.fit(np.hstack([X, Y[:, before]])[rows], Y[rows, 2], sample_weight=weight[rows])
    assert_allclose(found(model).coef_, alone.coef_, rtol=1e-6)


def test_weights_reach_the_forest(small):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    model = METHODS["RFPCT"].default(n_estimators=8, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    forest = RandomForestClassifier(8, random_state=model.estimators_[0].random_state)
    forest.fit(X[rows], Y[rows], sample_weight=weight[rows])
    expected = np.column_stack([label[:, 1] for label in forest.predict_proba(X)])
    assert_allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("key", ["BR", "SMBR", "CC", "LP"])
def test_no_probabilities_where_the_base_has_none(small, key):
    model = METHODS[key].default(estimator=Perceptron(), random_state=0).fit(*small)
    assert not hasattr(model, "predict_proba")
    assert model.score(*small) > 0.25  # the share of the most frequent labelset
