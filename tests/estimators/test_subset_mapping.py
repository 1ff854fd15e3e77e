"""SubsetMapping: nearest training labelset to what binary relevance says, against plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._binary_relevance import BinaryRelevance, SubsetMapping
from nldd.estimators._svm import PlattSVC


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
