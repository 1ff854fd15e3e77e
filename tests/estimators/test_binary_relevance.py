"""BinaryRelevance against a plain loop over labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._svm import PlattSVC
from nldd.exceptions import InputError


def test_binary_relevance_equals_loop(small):
    X, Y = small
    model = BinaryRelevance(LogisticRegression()).fit(X, Y)
    columns = [LogisticRegression().fit(X, y) for y in Y.T]
    assert_array_equal(model.predict(X), np.column_stack([m.predict(X) for m in columns]))
    proba = np.column_stack([m.predict_proba(X)[:, 1] for m in columns])
    assert_allclose(model.predict_proba(X), proba)


def test_decision_by_sign_or_by_probability(small):
    X, Y = small
    rows = np.r_[0:40]
    by_sign = BinaryRelevance(PlattSVC(), random_state=0).fit(X[rows], Y[rows])
    by_proba = BinaryRelevance(PlattSVC(), decision="probability", random_state=0)
    by_proba.fit(X[rows], Y[rows])
    f = np.column_stack([m.decision_function(X) for m in by_sign.estimators_])
    assert_array_equal(by_sign.predict(X), f > 0)
    assert_array_equal(by_proba.predict(X), by_proba.predict_proba(X) > 0.5)
    assert (by_sign.predict(X) != by_proba.predict(X)).any()


def test_auto_decision_takes_probabilities_where_there_is_no_decision_function(small):
    X, Y = small
    model = BinaryRelevance(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, Y)
    assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_decision_that_the_estimator_cannot_make(small):
    X, Y = small
    with pytest.raises(InputError, match="decision='sign' needs an estimator with decision_func"):
        BinaryRelevance(DecisionTreeClassifier(), decision="sign").fit(X, Y)
    with pytest.raises(InputError, match="needs an estimator with predict_proba; Perceptron"):
        BinaryRelevance(Perceptron(), decision="probability").fit(X, Y)


def test_every_label_has_its_seed_but_the_users_is_respected(small):
    X, Y = small
    forest = RandomForestClassifier(n_estimators=5)
    seeds = [m.random_state for m in BinaryRelevance(forest, random_state=0).fit(X, Y).estimators_]
    assert len(set(seeds)) == 4
    own = RandomForestClassifier(n_estimators=5, random_state=42)
    model = BinaryRelevance(own, random_state=0).fit(X, Y)
    assert [m.random_state for m in model.estimators_] == [42] * 4
    assert own.random_state == 42
    assert not hasattr(own, "estimators_")  # the user's object is not touched


def test_exclusive_classes_that_all_have_probability_zero():
    class Never(LogisticRegression):
        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (X.shape[0], 1))

    X = np.arange(6.0).reshape(-1, 1)
    P = BinaryRelevance(Never()).fit(X, [0, 1, 2, 0, 1, 2]).predict_proba(X)
    assert_allclose(P, 1 / 3)
