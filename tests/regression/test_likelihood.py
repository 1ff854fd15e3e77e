"""The binomial loss by hand, by scipy and by finite differences; where its minimum is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nldd.regression._likelihood import BinomialLoss, minimize_linear


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


@pytest.mark.parametrize("outlier", [1e2, 1e4, 1e6])
def test_minimize_survives_overshooting_steps(outlier):
    """One far pair would throw a full Newton step off: the loss must still fall to its minimum."""
    Z = np.array([[1, 0], [1, 1], [1, 2], [1, outlier]], dtype=float)
    loss = counts([1, 2, 1, 3], [4, 4, 4, 4])
    minimum = minimize_linear(loss, Z)
    gradient = Z.T @ loss.gradient(Z @ minimum.b)
    assert minimum.converged
    assert_allclose(gradient / [1, outlier], 0, atol=1e-9)
