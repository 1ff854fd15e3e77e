"""Binary relevance and subset mapping against plain loops over labels and over rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.tree import DecisionTreeClassifier

from nldd import BinaryRelevance, InputError, PlattSVC, SubsetMapping


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


class Echo(ClassifierMixin, BaseEstimator):
    """Predicts the column of X that equalled the label in training: BR's output is X itself."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.column_ = int(np.flatnonzero((y[:, np.newaxis] == X).all(axis=0))[0])
        return self

    def decision_function(self, X):
        return 2.0 * X[:, self.column_] - 1

    def predict(self, X):
        return X[:, self.column_].astype(int)


def trained_to_echo(Y):
    """A model of the labelsets `Y` whose classifiers say what they are given, constant or not."""
    model = SubsetMapping(Echo()).fit(Y.astype(float), Y)
    model.estimators_ = [Echo() for _ in Y.T]
    for column, echo in enumerate(model.estimators_):
        echo.column_ = column
    return model


def nearest_naively(b, Y):
    """Row of Y nearest to b; the labelset of most rows among equals, then the earliest."""
    rows = [tuple(row) for row in Y.tolist()]
    distance = {row: sum((p - q) ** 2 for p, q in zip(b, row, strict=True)) for row in rows}
    return min(rows, key=lambda row: (distance[row], -rows.count(row), rows.index(row)))


def random_labelsets(seed):
    rng = np.random.default_rng(seed)
    n_labels = rng.integers(1, 7)
    pool = rng.integers(0, 2, size=(rng.integers(1, 7), n_labels))
    Y = pool[rng.integers(len(pool), size=rng.integers(1, 15))].astype(np.int8)
    return Y, rng.integers(0, 2, size=(6, n_labels)).astype(np.int8)


@pytest.mark.parametrize("block", range(4))
def test_nearest_in_hamming_equals_a_loop_over_all_rows(block):
    """NLDD's search in label space alone, with b in place of the probabilities."""
    for seed in range(100 * block, 100 * block + 100):
        Y, B = random_labelsets(seed)
        model = trained_to_echo(Y)
        found = model.predict(B)
        assert_array_equal(found, [nearest_naively(b, Y) for b in B.tolist()])
        counts = [(u == Y).all(axis=1).sum() for u in model.labelsets_]
        assert_array_equal(model.counts_, counts)
        smallest = (B[:, np.newaxis] != Y).sum(axis=2).min(axis=1)
        assert_array_equal((found != B).sum(axis=1), smallest)


@pytest.mark.parametrize(
    "base", [None, DecisionTreeClassifier(max_depth=2)], ids=["logistic", "tree"]
)
def test_model_equals_loop_over_binary_relevance(small, base):
    X, Y = small
    train, new = slice(0, 30), slice(30, None)
    b = BinaryRelevance(base, random_state=0).fit(X[train], Y[train]).predict(X[new])
    found = SubsetMapping(base, random_state=0).fit(X[train], Y[train]).predict(X[new])
    assert_array_equal(found, [nearest_naively(row, Y[train]) for row in b.tolist()])
    seen = {tuple(row) for row in Y[train].tolist()}
    assert {tuple(row) for row in found.tolist()} <= seen
    was_seen = np.array([tuple(row) in seen for row in b.tolist()])
    assert was_seen.any()
    assert_array_equal(found[was_seen], b[was_seen])


@pytest.mark.parametrize("base", [PlattSVC(), None], ids=["platt", "logistic"])
def test_probabilities_are_those_of_binary_relevance_and_round_to_the_prediction(small, base):
    X, Y = small
    train = slice(0, 40)
    model = SubsetMapping(base, random_state=0).fit(X[train], Y[train])
    P = model.predict_proba(X)
    assert_array_equal(P > 0.5, model.predict(X))
    assert_array_equal(np.round(P), model.predict(X))
    plain = BinaryRelevance(base, random_state=0).fit(X[train], Y[train]).predict_proba(X)
    agree = (plain > 0.5) == model.predict(X)
    assert_allclose(P[agree], plain[agree])
    assert_allclose(P[~agree], 0.5)
    assert (~agree).any()
