"""Newton's method under bounds, where the minimum is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal


LOG3 = np.log(3)


def counts(k, m, weight=None):
    weight = np.ones(len(k)) if weight is None else np.asarray(weight, dtype=float)
    return BinomialLoss(np.asarray(k, dtype=float), np.asarray(m, dtype=float), weight)


def test_minimize_intercept_is_log_odds_of_overall_rate():
    # 2 of 8 and, with weight 3, 1 of 4: 5 of 20 labels wrong, odds 1 to 3
    minimum = minimize_linear(counts([2, 1], [8, 4], [1, 3]), np.ones((2, 1)))
    assert_allclose(minimum.b, [-LOG3], rtol=1e-14)
    # -(5 log 1/4 + 15 log 3/4)
    assert_allclose(minimum.value, 20 * np.log(4) - 15 * LOG3)
    assert minimum.converged


def test_minimize_two_groups_by_hand():
    Z = np.array([[1.0, 0.0], [1.0, 1.0]])
    minimum = minimize_linear(counts([1, 3], [4, 4]), Z)
    # log-odds -log 3 in the first group, log 3 in the second
    assert_allclose(minimum.b, [-LOG3, 2 * LOG3], rtol=1e-14)
    assert_allclose(minimum.value, 2 * (4 * np.log(4) - 3 * LOG3))
    assert minimum.converged


def test_minimize_holds_falling_slope_at_zero():
    Z = np.array([[1.0, 0.0], [1.0, 1.0]])
    minimum = minimize_linear(counts([3, 1], [4, 4]), Z)
    assert_allclose(minimum.b, [0, 0], atol=1e-15)  # half of all labels are wrong
    assert minimum.b[1] == 0
    assert minimum.converged


def test_minimize_does_not_bound_intercept():
    for k, sign in (([1], -1), ([3], 1)):
        assert_allclose(minimize_linear(counts(k, [4]), np.ones((1, 1))).b, [sign * LOG3])


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


def test_minimize_stops_at_once_where_it_starts_at_minimum():
    minimum = minimize_linear(counts([1, 1], [2, 2]), np.ones((2, 1)))
    assert minimum.n_steps == 1
    assert_array_equal(minimum.b, [0])


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


def test_minimize_of_separated_counts_stays_finite():
    Z = np.array([[1.0, 0.0], [1.0, 1.0]])
    minimum = minimize_linear(counts([0, 4], [4, 4]), Z)
    assert np.isfinite(minimum.b).all()
    eta = Z @ minimum.b
    assert eta[0] < -15  # on its way to minus infinity
    assert eta[1] > 15


def test_minimize_weight_equals_repetition():
    Z = np.array([[1.0, 0.1], [1.0, 0.7], [1.0, 2.0]])
    rows = [0, 1, 1, 1, 2, 2]
    weighted = minimize_linear(counts([1, 1, 4], [5, 5, 5], [1, 3, 2]), Z)
    repeated = minimize_linear(counts(np.array([1, 1, 4])[rows], np.full(6, 5)), Z[rows])
    assert_allclose(weighted.b, repeated.b, rtol=1e-12)
    assert_allclose(weighted.value, repeated.value, rtol=1e-12)


    lower, upper = np.array([-np.inf, 0, 0, 0, 0, 0, 0]), np.full(7, 2.0)
    b = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0])
    gradient = np.array([1.0, 1.0, -1.0, 0.0, 1.0, 1.0, -1.0])
    # At 0 if the loss rises with the coefficient, at 2 if it falls; never in between.
    held = [False, True, False, False, False, False, True]
