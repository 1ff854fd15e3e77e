"""The multiplicative model: derivatives, recovery, a dense grid as the truth of its minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pairs_data import FEATURES, LABELS, fit_quietly, fit_recording, loss_of, make_pairs
from scipy.optimize import minimize
from scipy.special import expit

from nldd.exceptions import SeparationWarning, ZeroWeightWarning
from nldd.regression._likelihood import fit_multiplicative, log_odds
from nldd.regression._regression import fit_regression


def fit_model(pairs):
    return fit_regression(pairs, model="multiplicative")


def simulate(seed, b, n_pairs, n_labels):
    """Pairs of two an instance, from the model with coefficients b."""
    rng = np.random.default_rng(seed)
    Dx, Dy = 4 * rng.uniform(0, 1, n_pairs), 2 * rng.uniform(0, 1, n_pairs)
    errors = rng.binomial(n_labels, expit(b[0] + Dx ** b[1] * Dy ** b[2]))
    return make_pairs(Dx, Dy, errors, n_labels, instance=np.arange(n_pairs) // 2)


def numerical_hessian(function, b, h=1e-4):
    """Second differences in every pair of directions."""
    steps = h * np.eye(len(b))

    def mixed(u, v):
        corners = function(b + u + v) - function(b + u - v) - function(b - u + v)
        return (corners + function(b - u - v)) / (4 * h**2)

    return np.array([[mixed(u, v) for v in steps] for u in steps])


def test_multiplicative_standard_errors_equal_numerical_hessian():
    """With errors at their expectation, where expected and observed information are the same."""
    b = np.array([-2.0, 0.6, 1.2])
    rng = np.random.default_rng(1)
    Dx, Dy = rng.uniform(0, 3, 200), rng.uniform(0, 2, 200)
    Dx[:20] = 0
    Dy[10:30] = 0
    pairs = make_pairs(Dx, Dy, 8 * expit(b[0] + Dx ** b[1] * Dy ** b[2]), 8)
    loss, fit = loss_of(pairs), fit_model(pairs)
    assert_allclose(fit.beta, b, rtol=1e-4)
    hessian = numerical_hessian(lambda b: loss.value(log_odds(b, Dx, Dy)[0]), fit.beta)
    assert_allclose(fit.covariance_matrix, np.linalg.inv(hessian), rtol=1e-4)


def test_multiplicative_robust_errors_by_definition():
    """bread @ meat @ bread with G / (G - 1), each score a sum over the pairs of an instance."""
    pairs = simulate(4, (-3, 0.5, 0.8), n_pairs=300, n_labels=10)
    fit = fit_model(pairs)
    eta, J = log_odds(fit.beta, pairs.Dx, pairs.Dy)
    theta = expit(eta)
    information = J.T @ ((10 * theta * (1 - theta))[:, np.newaxis] * J)
    scores = J * (10 * theta - pairs.errors)[:, np.newaxis]
    meat = sum(np.outer(u, u) for u in (scores[0::2] + scores[1::2]))
    bread = np.linalg.inv(information)
    assert_allclose(fit.robust_covariance_matrix, 150 / 149 * bread @ meat @ bread, rtol=1e-8)


EXPONENTS = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1, 1.3, 1.7, 2.2, 3, 4.5, 7, 10])


def smallest_loss(loss, Dx, Dy):
    """Best of a dense grid of exponents with the best intercept of each, then polished."""
    b1, b2 = (grid.ravel()[:, np.newaxis] for grid in np.meshgrid(EXPONENTS, EXPONENTS))
    term = Dx**b1 * Dy**b2
    rate = (loss.weight @ loss.k + 0.5) / (loss.weight @ loss.m + 1)
    b0 = np.log(rate / (1 - rate)) - np.median(term, axis=1, keepdims=True)
    b0 = np.clip(b0, -40, 40)
    for _ in range(8):
        theta = expit(b0 + term)
        gradient = (theta * loss.m - loss.k) @ loss.weight
        curvature = (theta * (1 - theta) * loss.m) @ loss.weight
        b0 = np.clip(b0 - np.clip(gradient / (curvature + 1e-9), -2, 2)[:, np.newaxis], -50, 50)
    eta = b0 + term
    values = (np.logaddexp(0, eta) * loss.m - loss.k * eta) @ loss.weight
    best = values.argmin()

    def objective(b):
        eta, J = log_odds(b, Dx, Dy)
        return loss.value(eta), J.T @ loss.gradient(eta)

    start = [b0[best, 0], b1[best, 0], b2[best, 0]]
    bounds = [(-50, 50), (0, 10), (0, 10)]
    polished = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return min(polished.fun, values[best])


def random_problem(seed, n_pairs, zeros):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 20))
    x_scale, y_scale = 10 ** rng.uniform(-0.5, 1, 2)
    Dx, Dy = x_scale * rng.uniform(0, 1, n_pairs), y_scale * rng.uniform(0, 1, n_pairs)
    if zeros:
        Dx[rng.random(n_pairs) < 0.2] = 0
        Dy[rng.random(n_pairs) < 0.2] = 0
    b = np.array([rng.uniform(-5, 0), *rng.uniform(0, 1, 2)])
    errors = rng.binomial(n_labels, expit(b[0] + Dx ** b[1] * Dy ** b[2]))
    return make_pairs(Dx, Dy, errors, n_labels)


some_or_many = pytest.mark.parametrize("n_seeds", [2, pytest.param(50, marks=pytest.mark.slow)])


@some_or_many
@pytest.mark.parametrize("zeros", [False, True], ids=["positive distances", "some zero distances"])
@pytest.mark.parametrize("n_pairs", [20, 150])
def test_multiplicative_reaches_smallest_loss(n_pairs, zeros, n_seeds):
    worse = {}
    for seed in range(n_seeds):
        pairs = random_problem(seed, n_pairs, zeros)
        estimate = fit_multiplicative(loss_of(pairs), pairs.Dx, pairs.Dy)
        loss = loss_of(pairs).smoothed(3) if estimate.separated else loss_of(pairs)
        excess = loss.value(estimate.eta) - smallest_loss(loss, pairs.Dx, pairs.Dy)
        if excess > 1e-3:
            worse[seed] = round(excess, 4)
        # At the optimum it must not say that it did not converge.
        gradient = estimate.J.T @ loss.gradient(estimate.eta) / loss.m.sum()
        is_flat = np.abs(gradient[estimate.free]).max() < 1e-6
        assert estimate.converged or not is_flat or n_pairs == 20, seed
    assert worse == {}


def test_multiplicative_of_zero_distances_is_overall_rate():
    pairs = make_pairs(np.zeros(4), np.zeros(4), [1, 2, 0, 1], 4)  # 4 of 16
    fit, messages = fit_recording(pairs, model="multiplicative")
    assert list(messages) == [ZeroWeightWarning]
    assert fit.fixed == (FEATURES, LABELS)
    assert_allclose(fit.theta(np.zeros(1), np.zeros(1)), 0.25, rtol=1e-6)
    assert_allclose(fit.log_likelihood, 12 * np.log(3) - 16 * np.log(4), rtol=1e-9)
    # log-odds of 4 of 16: 1/4 + 1/12
    assert_allclose(fit.standard_errors, [np.sqrt(1 / 3), np.nan, np.nan], rtol=1e-5)


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("fixed", [FEATURES, LABELS])
def test_multiplicative_constant_distance_leaves_power_of_the_other(constant, fixed):
    # 1 of 4, 2 of 4 and 3 of 4 labels wrong at distances 1, 2 and 4
    other, same = np.array([1.0, 2.0, 4.0]), np.full(3, constant)
    Dx, Dy = (same, other) if fixed == FEATURES else (other, same)
    fit, messages = fit_recording(make_pairs(Dx, Dy, [1, 2, 3], 4), model="multiplicative")
    assert list(messages) == [ZeroWeightWarning]
    assert fit.fixed == (fixed,)

    def loss(b):
        eta = b[0] + other ** b[1]
        return np.sum(4 * np.logaddexp(0, eta) - np.array([1, 2, 3]) * eta)

    found = minimize(loss, [-2, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    assert_allclose(fit.beta[[0, 2 if fixed == FEATURES else 1]], found.x, rtol=1e-4)


DISTANCES = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("Dx", "Dy"),
    [
        ([1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1]),  # 0^b2 and 1^b2 are the same for all b2 > 0
        (DISTANCES, DISTANCES),  # only b1 + b2 counts
        (np.full(6, 0.5), np.full(6, 0.3)),  # one number for three coefficients
    ],
    ids=["zeros and ones", "Dx is Dy", "both constant"],
)
def test_multiplicative_unidentified_exponent_has_no_standard_error(Dx, Dy):
    """As in the linear model: a number would claim that the pairs determine it."""
    fit = fit_quietly(make_pairs(Dx, Dy, [1, 3, 2, 4, 2, 5], 8), model="multiplicative")
    assert np.isnan(fit.standard_errors[1:]).any()
    assert fit.fixed != ()


def test_multiplicative_without_errors_has_no_weights():
    """Nothing grows with the distances: what is left of the exponents is rounding, not weight."""
    rng = np.random.default_rng(0)
    pairs = make_pairs(rng.uniform(0, 1, 200), rng.uniform(0, 2, 200), np.zeros(200), 10)
    fit, messages = fit_recording(pairs, model="multiplicative")
    # 200 pairs of 10 labels get 3/200 more each, half of it wrong
    rate = 0.0075 / 10.015
    assert_allclose(fit.theta(pairs.Dx, pairs.Dy), rate, rtol=1e-4)
    assert_array_equal(fit.beta[1:], [0, 0])
    assert fit.fixed == (FEATURES, LABELS)
    assert set(messages) == {SeparationWarning, ZeroWeightWarning}
