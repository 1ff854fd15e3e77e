"""The binomial loss by hand, by scipy and by finite differences; where its minimum is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import comb
from scipy.stats import binom

from nldd.regression._likelihood import BinomialLoss, minimize_linear

SEEDS = range(4)


def random_loss(seed):
    """Counts, weights and log-odds of moderate size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    m = rng.integers(1, 50, n).astype(float)
    k = rng.binomial(m.astype(int), rng.uniform(0, 1)).astype(float)
    return BinomialLoss(k, m, rng.uniform(0.1, 5, n)), rng.normal(0, 3, n)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_value_is_binomial_log_likelihood_up_to_constant(seed):
    loss, eta = random_loss(seed)
    log_probability = binom.logpmf(loss.k, loss.m, 1 / (1 + np.exp(-eta)))
    constant = loss.weight @ np.log(comb(loss.m, loss.k))
    assert_allclose(loss.value(eta), constant - loss.weight @ log_probability, rtol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_derivatives_equal_finite_differences(seed):
    loss, eta = random_loss(seed)
    h = 1e-5
    rise = [loss.value(eta + h * u) - loss.value(eta - h * u) for u in np.eye(len(eta))]
    assert_allclose(loss.gradient(eta), np.array(rise) / (2 * h), rtol=1e-6, atol=1e-5)
    slope = (loss.gradient(eta + h) - loss.gradient(eta - h)) / (2 * h)
    assert_allclose(loss.curvature(eta), slope, rtol=1e-6, atol=1e-7)


def test_loss_at_extreme_log_odds_does_not_overflow():
    eta = np.array([800.0, -800.0, 800.0, -800.0])
    k, m = np.array([0.0, 3.0, 3.0, 0.0]), np.full(4, 3.0)
    # All 3 labels against the log-odds cost 800 each, all 3 in line with them nothing.
    one_by_one = [BinomialLoss(k[[i]], m[[i]], np.ones(1)).value(eta[[i]]) for i in range(4)]
    assert one_by_one == [2400, 2400, 0, 0]
    loss = BinomialLoss(k, m, np.ones(4))
    assert loss.value(eta) == 4800
    assert_array_equal(loss.gradient(eta), [3, -3, 0, 0])
    assert_array_equal(loss.curvature(eta), [0, 0, 0, 0])


def test_smoothed_by_hand():
    loss = BinomialLoss(np.array([1.0, 3.0]), np.array([4.0, 4.0]), np.array([1.0, 3.0]))
    smoothed = loss.smoothed(3)
    assert_allclose(smoothed.m, [4.75, 4.75])  # 3 labels for a total weight of 4
    assert_allclose(smoothed.k, [1.375, 3.375])  # half of them wrong
    assert_array_equal(smoothed.weight, [1, 3])
    assert_array_equal(loss.k, [1, 3])  # untouched
    assert_array_equal(loss.m, [4, 4])


# The minimum under bounds


def counts(k, m, weight=None):
    weight = np.ones(len(k)) if weight is None else np.asarray(weight, dtype=float)
    return BinomialLoss(np.asarray(k, dtype=float), np.asarray(m, dtype=float), weight)


def test_minimize_drops_slope_that_helps_alone_only():
    """Alone each slope would be positive; together one of them must go, and the other grow."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 200)
    Z = np.column_stack([np.ones(200), x, x + rng.normal(0, 0.1, 200)])
    k = rng.binomial(10, 1 / (1 + np.exp(2 - 6 * Z[:, 1] + 3 * Z[:, 2]))).astype(float)
    loss = counts(k, np.full(200, 10))
    alone = minimize_linear(loss, Z[:, [0, 2]])
    assert alone.b[1] > 0
    together = minimize_linear(loss, Z)
    assert together.b[2] == 0
    assert_allclose(together.b[:2], minimize_linear(loss, Z[:, :2]).b, rtol=1e-12)
    assert together.value < alone.value


@pytest.mark.parametrize("seed", range(4))
def test_minimize_takes_few_steps(seed):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(100), rng.uniform(0, 1, (100, 2))])
    k = rng.binomial(20, 1 / (1 + np.exp(-Z @ [-3, 2, 1]))).astype(float)
    loss = counts(k, np.full(100, 20))
    minimum = minimize_linear(loss, Z)
    assert minimum.n_steps <= 8
    assert minimum.converged
    assert_allclose(Z.T @ loss.gradient(Z @ minimum.b), 0, atol=1e-9)


@pytest.mark.parametrize("outlier", [1e2, 1e4, 1e6])
def test_minimize_survives_overshooting_steps(outlier):
    """One far pair would throw a full Newton step off: the loss must still fall to its minimum."""
    Z = np.array([[1, 0], [1, 1], [1, 2], [1, outlier]], dtype=float)
    loss = counts([1, 2, 1, 3], [4, 4, 4, 4])
    minimum = minimize_linear(loss, Z)
    gradient = Z.T @ loss.gradient(Z @ minimum.b)
    assert minimum.converged
    assert_allclose(gradient / [1, outlier], 0, atol=1e-9)
