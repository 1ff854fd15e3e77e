"""BR, LP and ECC that decide for a measure: against all labelsets that there can be."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bench.runner.trials import songs
from nldd import BinaryRelevance, EnsembleOfChains, LabelPowerset
from nldd.bench.decided import DecidedBR, DecidedECC, DecidedLP
from nldd.bench.runner.methods import own_method
from nldd.estimators._decisions import NEAREST
from nldd.estimators._registry import BY_MEASURE
from nldd.metrics._measures import row_values

KEYS = {
    "subset": "zero_one_loss",
    "hamming": "hamming_loss",
    "jaccard": "multilabel_accuracy",
    "f1": "f_measure",
}
EVERY = np.array(list(product((0, 1), repeat=4)))


def values(key):
    """Of each prediction (rows) if each labelset were true (columns), the larger the better."""
    pairs = [row_values(EVERY, np.tile(one, (len(EVERY), 1)))[key] for one in EVERY]
    return np.array(pairs) * (-1 if key.endswith("loss") else 1)


def independent(P, *, with_empty):
    """The probability of every labelset if labels are independent."""
    P = P.clip(NEAREST, 1 - NEAREST)[:, np.newaxis]
    W = np.where(EVERY == 1, P, 1 - P).prod(axis=2)
    W[:, 0] *= with_empty
    return W / W.sum(axis=1, keepdims=True)


def as_positions(Y):
    return Y @ [8, 4, 2, 1]


@pytest.fixture(params=[True, False], ids=["empty ones", "no empty one"])
def data(request):
    """With a row without labels in training, or not."""
    dataset = songs(90)
    X, Y = dataset.X[:60], dataset.Y[:60].copy()
    Y[:4] = 0
    keep = Y.any(axis=1) | request.param
    return X[keep], Y[keep], dataset.X[60:], request.param


@pytest.mark.parametrize(
    ("decided", "method"), [(DecidedBR, BinaryRelevance), (DecidedECC, EnsembleOfChains)]
)
@pytest.mark.parametrize("decision", KEYS)
def test_independent_labels_have_the_best_labelset_of_all(data, decided, method, decision):
    X, Y, X_new, with_empty = data
    model = decided(None, random_state=0).fit(X, Y).set_params(decision=decision)
    P = method(None, random_state=0).fit(X, Y).predict_proba(X_new)
    expected = independent(P, with_empty=with_empty) @ values(KEYS[decision]).T
    found = expected[np.arange(len(P)), as_positions(model.predict(X_new))]
    if decision == "hamming":  # each label by itself, even if no label is left
        M = independent(P, with_empty=with_empty) @ EVERY
        assert_array_equal(model.predict(X_new), M > 0.5)
        np.testing.assert_allclose(model.predict_proba(X_new), M, atol=1e-12)
    else:
        np.testing.assert_allclose(found, expected.max(axis=1), atol=1e-9)


@pytest.mark.parametrize("decision", KEYS)
def test_powerset_decides_by_the_probabilities_of_its_labelsets(data, decision):
    X, Y, X_new, _ = data
    model = DecidedLP(None, random_state=0).fit(X, Y).set_params(decision=decision)
    inner = LabelPowerset(None, random_state=0).fit(X, Y)
    Q = np.zeros((len(X_new), len(EVERY)))
    Q[:, as_positions(inner.labelsets_)] = inner.estimators_[0].predict_proba(X_new)
    expected = Q @ values(KEYS[decision]).T
    Y_pred = model.predict(X_new)
    found = expected[np.arange(len(Q)), as_positions(Y_pred)]
    # Of accuracy, those that training has and some others are looked at.
    among = as_positions(inner.labelsets_) if decision in ("subset", "jaccard") else slice(None)
    assert (found >= expected[:, among].max(axis=1) - 1e-9).all()
    np.testing.assert_allclose(model.predict_proba(X_new), Q @ EVERY, atol=1e-12)
    if decision == "subset":
        assert_array_equal(Y_pred, inner.predict(X_new))


def test_protocols_know_their_decisions():
    method = own_method("ECC-P=nldd.bench.decided:DecidedECC")
    assert (method.key, method.by_measure) == ("ECC-P", BY_MEASURE)
    model = clone(method.default()).fit(songs().X, songs().Y)
    assert model.decision == "subset"
    assert model.chosen_.brier
