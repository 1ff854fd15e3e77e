"""Conditional Bernoulli mixtures: identities, enumeration and falling objectives."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from nldd.estimators import _cbm
from nldd.estimators._cbm import ConditionalBernoulliMixture


def cbm(**parameters):
    settings = {"n_components": 3, "n_iterations": 3, "n_restarts": 2, "random_state": 0}
    return ConditionalBernoulliMixture(**(settings | parameters))


def all_labelsets(n_labels):
    return np.array(list(product([0, 1], repeat=n_labels)))


def enumerated(model, X, Y):
    """Log-probability of every labelset of `Y` for every row, through the public method."""
    return np.column_stack([model.labelset_log_proba(X, np.tile(y, (len(X), 1))) for y in Y])


def naive_log_proba(model, x, y):
    """The formula of the model for one row, with loops over components and labels."""
    pi = softmax(x @ model.gating_.W + model.gating_.bias)
    total = 0.0
    for weight, component in zip(pi, model.estimators_, strict=True):
        for label, on in enumerate(y):
            b = expit(x @ component.W[:, label] + component.bias[label])
            weight *= b if on else 1 - b
        total += weight
    return np.log(total)


@pytest.fixture
def rare():
    """90 rows of five labels, one each: to a single component the empty labelset is likeliest."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    return X, np.eye(5, dtype=int)[rng.integers(0, 5, size=90)]


@pytest.mark.parametrize("variance", [0.1, 1.0, 10.0])
def test_cbm_of_one_component_is_independent_logistic_regressions(small, variance):
    X, Y = small
    model = cbm(n_components=1, variance=variance, inner_steps=500, predictor="marginal")
    model.fit(X, Y)
    P = np.column_stack(
        [
            LogisticRegression(C=2 * variance, tol=1e-10, max_iter=1000)
            .fit(X, y)
            .predict_proba(X)[:, 1]
            for y in Y.T
        ]
    )
    assert_allclose(model.predict_proba(X), P, atol=1e-4)
    assert_array_equal(model.predict(X), P >= 0.5)
    # Labels are independent, so the most probable labelset is the most probable labels.
    joint = clone(model).set_params(predictor="joint").fit(X, np.vstack([Y[:-1], np.zeros((1, 4))]))
    assert joint.allow_empty_
    assert_array_equal(joint.predict(X), joint.predict_proba(X) > 0.5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("inner_steps", [1, 2, 5, 15])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_cbm_objective_never_rises(small, inner_steps, seed, scale):
    X, Y = small
    model = cbm(n_iterations=8, inner_steps=inner_steps, random_state=seed).fit(scale * X, Y)
    assert model.objective_.shape == (9,)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    assert model.objective_[-1] < model.objective_[0]


def test_cbm_objective_is_minus_log_likelihood_plus_penalties(small):
    X, Y = small
    model = cbm(variance=0.3).fit(X, Y)
    penalty = sum((component.W**2).sum() for component in model.estimators_) / (4 * 0.3)
    penalty += (model.gating_.W**2).sum() / (2 * 0.3)
    loss = -sum(naive_log_proba(model, x, y) for x, y in zip(X, Y, strict=True))
    assert_allclose(model.objective_[-1], loss + penalty, rtol=1e-9)


def test_cbm_maximisation_equals_weighted_logistic_regressions(small):
    """Each component's labels, and the gating, are at their own optimum given the gammas."""
    X, Y = small
    model = cbm(n_components=3, n_iterations=0, inner_steps=500, variance=0.5).fit(X, Y)
    gamma = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    gamma[:20] = [[0.0, 1e-9, 1 - 1e-9]] * 10 + [[1.0, 0.0, 0.0]] * 10  # rows that do not count
    model._maximise(X, Y, gamma)
    for k, component in enumerate(model.estimators_):
        for label, y in enumerate(Y.T):
            alone = LogisticRegression(C=2 * 0.5, tol=1e-10, max_iter=1000)
            alone.fit(X, y, sample_weight=gamma[:, k])
            assert_allclose(component.W[:, label], alone.coef_[0], atol=1e-5)
            assert_allclose(component.bias[label], alone.intercept_[0], atol=1e-5)
    # Soft targets: every row three times, as each component, with weight gamma.
    gating = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000)
    gating.fit(np.repeat(X, 3, axis=0), np.tile(range(3), len(X)), sample_weight=gamma.ravel())
    pi = softmax(model.gating_.outputs(X), axis=1)
    assert_allclose(pi, gating.predict_proba(X), atol=1e-4)


def test_cbm_log_probabilities_equal_the_formula(small):
    X, Y = small
    model = cbm().fit(X, Y)
    expected = [naive_log_proba(model, x, y) for x, y in zip(X, Y, strict=True)]
    assert_allclose(model.labelset_log_proba(X, Y), expected, rtol=1e-9)
    assert_allclose(model.labelset_log_proba(csr_array(X), Y.tolist()), expected, rtol=1e-9)


def test_cbm_marginals_equal_sums_over_labelsets(small):
    X, Y = small
    model = cbm(predictor="marginal").fit(X, Y)
    sets = all_labelsets(4)
    marginals = np.exp(enumerated(model, X, sets)) @ sets
    assert_allclose(model.predict_proba(X), marginals, rtol=1e-9)
    assert_array_equal(model.predict(X), marginals >= 0.5)


def test_cbm_joint_prediction_is_empty_only_where_training_was(rare):
    X, Y = rare
    sets = all_labelsets(5)
    model = cbm(n_components=1).fit(X, Y)
    log_p = enumerated(model, X, sets)
    assert (log_p.argmax(axis=1) == 0).sum() > 30  # the empty labelset would often win
    assert not model.allow_empty_
    assert_array_equal(model.predict(X), sets[1:][log_p[:, 1:].argmax(axis=1)])
    assert model.predict(X).any(axis=1).all()

    model.fit(X, np.vstack([Y[:-1], np.zeros((1, 5), int)]))
    log_p = enumerated(model, X, sets)
    assert model.allow_empty_
    assert_array_equal(model.predict(X), sets[log_p.argmax(axis=1)])
    assert not model.predict(X).any(axis=1).all()


def test_cbm_support_prediction_is_the_best_training_labelset(small):
    X, Y = small
    train = np.r_[0:40]
    model = cbm(predictor="support", n_iterations=1).fit(X[train], Y[train])
    known = np.unique(Y[train], axis=0)
    assert_array_equal(model.labelsets_, known)
    assert (model.labelsets_.dtype, model.predict(X).dtype) == (np.int8, np.int64)
    assert len(known) < 16
    Y_pred = model.predict(X)
    assert_array_equal(Y_pred, known[enumerated(model, X, known).argmax(axis=1)])
    assert {tuple(y) for y in Y_pred.tolist()} <= {tuple(y) for y in known.tolist()}


@pytest.mark.parametrize("empty", [False, True], ids=["without empty", "with empty"])
def test_cbm_expected_f_prediction_is_best_given_the_training_labelsets(rare, empty):
    X, Y = rare
    if empty:
        Y = Y * (np.arange(len(Y)) % 3 > 0)[:, np.newaxis]
    model = cbm(predictor="expected_f").fit(X, Y)
    known, sets = model.labelsets_, all_labelsets(5)
    p = np.exp(enumerated(model, X, known))
    p /= p.sum(axis=1, keepdims=True)
    total = known.sum(axis=1)[:, np.newaxis] + sets.sum(axis=1)
    F = np.where(total == 0, 1.0, 2 * known @ sets.T / np.maximum(total, 1))
    best = (p @ F).max(axis=1)
    chosen = (p @ F)[np.arange(len(X)), model.predict(X) @ (2 ** np.arange(4, -1, -1))]
    assert_allclose(chosen, best, rtol=1e-12)


@pytest.mark.parametrize("as_given", [np.array, csr_array], ids=["dense", "sparse"])
def test_cbm_label_constant_in_a_component_is_its_share_of_all_rows(as_given):
    """Two components, each sure of two rows but for 1e-9; the label is in the last two.

    The first one's log-odds are then log(2e-9 / 2), and the second one's the opposite. Labels of
    all rows, or of none, are certain in both.
    """
    X, Y = as_given([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]]), np.zeros((4, 3), np.int8)
    Y[2:, 0], Y[:, 1] = 1, 1
    gamma = np.array([[1 - 1e-9, 1e-9]] * 2 + [[1e-9, 1 - 1e-9]] * 2)
    flat = _cbm.label_log_odds(Y, gamma)
    assert_allclose(flat[0], [np.log(1e-9), 30, -30], rtol=1e-6)
    assert_allclose(flat[1], [-np.log(1e-9), 30, -30], rtol=1e-6)
    for k in range(2):
        start = _cbm.Weights(np.ones((2, 3)), np.ones(3))
        fitted = _cbm.fit_component(X, Y, gamma[:, k], start, flat[k], 1.0, 1e-2, 15)
        assert_array_equal(fitted.W, 0)
        assert_array_equal(fitted.bias, flat[k])


def test_cbm_features_of_rows_that_do_not_count_have_no_weight(small):
    X, Y = small
    X = np.maximum(X, 0)
    X[30:, 1] = 0  # a feature of the first rows only, which are not of the component
    gamma = np.r_[np.zeros(30), np.ones(len(X) - 30)]
    start = _cbm.Weights(np.ones((4, 4)), np.zeros(4))
    dense, sparse = (
        _cbm.fit_component(given, Y, gamma, start, np.zeros(4), 1.0, 1e-8, 50)
        for given in (X, csr_array(X))
    )
    assert_array_equal(sparse.W[1], 0)
    assert_allclose(sparse.W, dense.W, atol=1e-6)


def test_cbm_separable_labels_stay_finite():
    X = np.linspace(-1, 1, 40)[:, np.newaxis]
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] < 0]).astype(int)
    model = cbm(variance=1e6, inner_steps=100).fit(1e3 * X, Y)
    assert np.isfinite(model.objective_).all()
    # Log-odds end at 30, so both labels wrong cost at most twice that, however far away.
    wrong = model.labelset_log_proba(1e6 * X, 1 - Y)
    assert_allclose(wrong.min(), -60, rtol=1e-9)
    assert_array_equal(model.predict(1e3 * X), Y)


@pytest.mark.parametrize(
    ("fraction", "n_kept"), [(0.01, 1), (0.25, 2), (0.5, 4), (0.75, 6), (1.0, 8)]
)
def test_cbm_uses_a_fraction_of_the_features(small, fraction, n_kept):
    X, Y = small
    X = np.column_stack([X, X[::-1]])
    model = cbm(feature_fraction=fraction).fit(X, Y)
    assert len(model.features_) == len(set(model.features_.tolist())) == n_kept
    assert model.gating_.W.shape == (n_kept, 3)
    assert [component.W.shape for component in model.estimators_] == [(n_kept, 4)] * 3
    # What is in the other columns does not matter, neither in training nor later.
    changed = np.full_like(X, 7.0)
    changed[:, model.features_] = X[:, model.features_]
    P = model.predict_proba(X)
    assert_array_equal(model.predict_proba(changed), P)
    assert_array_equal(cbm(feature_fraction=fraction).fit(changed, Y).predict_proba(X), P)
    assert_allclose(model.predict_proba(csr_array(X)), P, rtol=1e-9)


@pytest.fixture
def labels():
    """60 rows of five labels, in two overlapping groups."""
    rng = np.random.default_rng(0)
    p = np.array([[0.8, 0.7, 0.2, 0.1, 0.5], [0.2, 0.1, 0.7, 0.6, 0.5]])[rng.integers(0, 2, 60)]
    return (rng.random(p.shape) < p).astype(np.int8)


def naive_em(Y, K, seed, steps):
    """Gammas and log-likelihoods of `steps` expectations, row by row and product by product."""
    mu = np.random.RandomState(seed).uniform(0.25, 0.75, size=(K, Y.shape[1])).tolist()
    weight = [1 / K] * K
    values = []
    for _ in range(steps):
        gamma, value = [], 0.0
        for y in Y.tolist():
            joint = [
                w * math.prod(m if on else 1 - m for m, on in zip(row, y, strict=True))
                for w, row in zip(weight, mu, strict=True)
            ]
            gamma.append([p / sum(joint) for p in joint])
            value += math.log(sum(joint))
        values.append(value)
        total = [sum(g[k] for g in gamma) for k in range(K)]
        weight = [t / len(Y) for t in total]
        mu = [
            [sum(g[k] * y[label] for g, y in zip(gamma, Y, strict=True)) / total[k]
             for label in range(Y.shape[1])]
            for k in range(K)
        ]  # fmt: skip
    return np.array(gamma), np.array(values)


def run(Y, K, seed, steps, monkeypatch):
    """Log-likelihood and gammas of the package after just so many expectations."""
    monkeypatch.setattr(_cbm, "MAX_STEPS", steps)
    monkeypatch.setattr(_cbm, "TOLERANCE", -math.inf)
    labelsets, inverse, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    value, gamma = _cbm._expectation_maximisation(
        labelsets.astype(float), counts.astype(float), K, np.random.RandomState(seed)
    )
    return value, gamma[inverse.ravel()]


@pytest.mark.parametrize("steps", [1, 2, 7, 20])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_bernoulli_mixture_equals_naive_em_from_the_same_start(labels, K, steps, monkeypatch):
    value, gamma = run(labels, K, 3, steps, monkeypatch)
    expected, values = naive_em(labels, K, 3, steps)
    assert_allclose(value, values[-1], rtol=1e-9)
    assert_allclose(gamma, expected, atol=1e-9)
