"""The binomial loss: values by hand and by scipy, derivatives by finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import comb
from scipy.stats import binom

from nldd.regression._likelihood import BinomialLoss

SEEDS = range(4)


def random_loss(seed):
    """Counts, weights and log-odds of moderate size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    m = rng.integers(1, 50, n).astype(float)
    k = rng.binomial(m.astype(int), rng.uniform(0, 1)).astype(float)
    return BinomialLoss(k, m, rng.uniform(0.1, 5, n)), rng.normal(0, 3, n)


def each(function, eta):
    """What `function`, of all log-odds, says of one at a time."""
    return np.array([function(i, value) for i, value in enumerate(eta)])


def only(loss, i):
    return BinomialLoss(loss.k[[i]], loss.m[[i]], loss.weight[[i]])


def test_loss_by_hand():
    loss = BinomialLoss(np.array([1.0, 0.0]), np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    eta = np.array([0.0, np.log(3)])  # theta = 1/2 and 3/4
    # 2 log 2 - 1 * 0, and twice 3 log 4 - 0
    assert_allclose(loss.value(eta), 14 * np.log(2))
    # 2 * 1/2 - 1, and twice 3 * 3/4 - 0
    assert_allclose(loss.gradient(eta), [0, 4.5], atol=1e-15)
    # 2 * 1/2 * 1/2, and twice 3 * 3/4 * 1/4
    assert_allclose(loss.curvature(eta), [0.5, 1.125])


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_value_is_binomial_log_likelihood_up_to_constant(seed):
    loss, eta = random_loss(seed)
    log_probability = binom.logpmf(loss.k, loss.m, 1 / (1 + np.exp(-eta)))
    constant = loss.weight @ np.log(comb(loss.m, loss.k))
    assert_allclose(loss.value(eta), constant - loss.weight @ log_probability, rtol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_gradient_equals_finite_differences(seed):
    loss, eta = random_loss(seed)
    h = 1e-5

    def slope(i, value):
        rise = only(loss, i).value(np.array([value + h])) - only(loss, i).value(
            np.array([value - h])
        )
        return rise / (2 * h)

    assert_allclose(loss.gradient(eta), each(slope, eta), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_curvature_equals_finite_differences(seed):
    loss, eta = random_loss(seed)
    h = 1e-5
    slope = (loss.gradient(eta + h) - loss.gradient(eta - h)) / (2 * h)
    assert_allclose(loss.curvature(eta), slope, rtol=1e-6, atol=1e-7)


def test_loss_of_fractions_equals_mixture():
    """Half a label is half of one: the loss is linear in the counts."""
    eta = np.array([0.7])
    one = BinomialLoss(np.array([1.0]), np.array([3.0]), np.ones(1))
    two = BinomialLoss(np.array([2.0]), np.array([4.0]), np.ones(1))
    between = BinomialLoss(np.array([1.5]), np.array([3.5]), np.ones(1))
    assert_allclose(between.value(eta), (one.value(eta) + two.value(eta)) / 2)
    assert_allclose(between.gradient(eta), (one.gradient(eta) + two.gradient(eta)) / 2)


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


@pytest.mark.parametrize("n_parameters", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_smoothed_adds_as_many_labels_as_parameters_half_of_them_wrong(seed, n_parameters):
    loss, _ = random_loss(seed)
    smoothed = loss.smoothed(n_parameters)
    assert_allclose(loss.weight @ (smoothed.m - loss.m), n_parameters)
    assert_allclose(loss.weight @ (smoothed.k - loss.k), n_parameters / 2)


@pytest.mark.parametrize("errors", ["none", "all", "one", "all but one"])
def test_smoothed_has_both_kinds_of_labels_everywhere(errors):
    n, m = 1000, 40.0
    k = np.full(n, m if errors.startswith("all") else 0.0)
    k[0] += {"one": 1, "all but one": -1}.get(errors, 0)
    smoothed = BinomialLoss(k, np.full(n, m), np.ones(n)).smoothed(1)
    assert (smoothed.k > 0).all()
    assert (smoothed.k < smoothed.m).all()


def test_smoothed_has_finite_minimum():
    smoothed = BinomialLoss(np.zeros(2), np.full(2, 5.0), np.ones(2)).smoothed(1)
    # Half a label more each, a quarter of it wrong: 5.5 theta = 0.25
    eta = np.full(2, np.log(0.25 / 5.25))
    assert_allclose(smoothed.gradient(eta), [0, 0], atol=1e-15)
    assert smoothed.value(eta) < smoothed.value(eta - 0.01)
    assert smoothed.value(eta) < smoothed.value(eta + 0.01)
