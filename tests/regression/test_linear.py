"""The linear model: statsmodels where it has an answer, optimality conditions where it has none."""

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from pairs_data import (
    FEATURES,
    LABELS,
    fit_quietly,
    fit_recording,
    loss_of,
    make_pairs,
    random_pairs,
)
from scipy.optimize import minimize
from scipy.special import comb, expit
from statsmodels.tools.sm_exceptions import SpecificationWarning

import reference
from nldd.exceptions import ZeroWeightWarning
from nldd.regression._likelihood import CERTAIN, BinomialLoss, minimize_linear
from nldd.regression._regression import fit_regression

LOG3 = np.log(3)
N_PARTS = 8
first_part_or_all = pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, N_PARTS))]
)


def test_linear_three_groups_by_hand():
    # 1, 2 and 3 of 4 labels wrong: log-odds -log 3, 0 and log 3, as many as coefficients
    fit = fit_regression(make_pairs([0, 2, 0], [0, 0, 4], [1, 2, 3], 4, instance=[7, 7, 9]))
    assert_allclose(fit.beta, [-LOG3, LOG3 / 2, 2 * LOG3 / 4])
    # log-odds of k of m have variance 1 / k + 1 / (m - k): 4/3, 1 and 4/3
    variances = [4 / 3, (4 / 3 + 1) / 2**2, (4 / 3 + 4 / 3) / 4**2]
    assert_allclose(fit.standard_errors, np.sqrt(variances))
    assert_allclose(fit.log_likelihood, 2 * (3 * LOG3 - 4 * np.log(4)) - 4 * np.log(2))
    assert (fit.n_pairs, fit.n_instances, fit.n_labels) == (3, 2, 4)
    assert (fit.model, fit.covariance) == ("linear", "independent")
    assert (fit.converged, fit.separated, fit.fixed) == (True, False, ())


def statsmodels_glm(pairs, columns=(0, 1, 2), **options):
    """The unconstrained fit, iterated until the coefficients stand still."""
    response = np.column_stack([pairs.errors, pairs.n_labels - pairs.errors])
    Z, family = pairs.design[:, list(columns)], sm.families.Binomial()
    model = sm.GLM(response, Z, family=family, freq_weights=pairs.weight)
    return model.fit(tol_criterion="params", atol=0, rtol=1e-10, maxiter=100, **options)


def has_inner_optimum(pairs):
    """Whether statsmodels solves the same problem: finite, positive slopes, no certain pair."""
    if reference.separated(pairs.design, pairs.errors, np.full(len(pairs), pairs.n_labels)):
        return False
    beta = statsmodels_glm(pairs).params
    return (beta[1:] > 0).all() and np.abs(pairs.design @ beta).max() <= CERTAIN


def comparable(part, at_least):
    """Data sets of this part that statsmodels can judge; enough of them, or the test is void."""
    candidates = (random_pairs(seed) for seed in range(part, 320, N_PARTS))
    found = [pairs for pairs in candidates if has_inner_optimum(pairs)]
    assert len(found) >= at_least
    return found


@first_part_or_all
def test_linear_equals_statsmodels(part):
    for pairs in comparable(part, at_least=200 // N_PARTS):
        truth = statsmodels_glm(pairs)
        fit = fit_regression(pairs)  # without a warning
        assert_allclose(fit.beta, truth.params, rtol=1e-8)
        assert_allclose(fit.standard_errors, truth.bse, rtol=1e-8)
        assert_allclose(fit.covariance_matrix, truth.cov_params(), rtol=1e-7)
        constant = pairs.weight @ np.log(comb(pairs.n_labels, pairs.errors))
        assert_allclose(fit.log_likelihood + constant, truth.llf, rtol=1e-10)
        assert (fit.converged, fit.separated, fit.fixed) == (True, False, ())
        # statsmodels' own correction has a factor (n - 1) / (n - 3) more than ours.
        clusters = {"groups": pairs.instance, "use_correction": False}
        with warnings.catch_warnings():
            # "not fully supported with freq_weights": clusters are, as repeating pairs shows.
            warnings.simplefilter("ignore", SpecificationWarning)
            robust = statsmodels_glm(pairs, cov_type="cluster", cov_kwds=clusters).bse
        correction = np.sqrt(fit.n_instances / (fit.n_instances - 1))
        assert_allclose(fit.robust_standard_errors, correction * robust, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("which", ["Dx", "Dy", "both"])
def test_linear_coefficients_follow_the_unit_of_distance(scale, which):
    rng = np.random.default_rng(0)
    Dx, Dy = rng.uniform(0, 1, 200), rng.uniform(0, 2, 200)
    errors = rng.binomial(10, expit(-2 + Dx + 0.7 * Dy))
    x_scale = 1 if which == "Dy" else scale
    y_scale = 1 if which == "Dx" else scale
    back = [1, x_scale, y_scale]
    fit = fit_regression(make_pairs(Dx, Dy, errors, 10))
    scaled = fit_quietly(make_pairs(Dx * x_scale, Dy * y_scale, errors, 10))
    assert_allclose(scaled.beta * back, fit.beta, rtol=1e-7)
    assert_allclose(scaled.standard_errors * back, fit.standard_errors, rtol=1e-7)
    assert_allclose(scaled.robust_standard_errors * back, fit.robust_standard_errors, rtol=1e-7)


def falling_slope(seed):
    """Random pairs whose unconstrained optimum is finite and has a negative slope, or None."""
    pairs = random_pairs(10_000 + seed, slopes=(-4, 2))
    k, m = pairs.weight * pairs.errors, pairs.weight * pairs.n_labels
    if min(np.sum(k > 0), np.sum(k < m)) < 10:  # hardly anything to go by
        return None
    Z = pairs.design / np.abs(pairs.design).max(axis=0)
    beta = reference.newton(Z, k, m)
    return pairs if beta[1:].min() < -1e-3 and np.abs(Z @ beta).max() < 12 else None


def bounded_minimum(pairs):
    """Loss of scipy's bounded optimum, in distances of at most 1."""
    loss = loss_of(pairs)
    Z = pairs.design / np.abs(pairs.design).max(axis=0)
    return minimize(
        lambda b: (loss.value(Z @ b), Z.T @ loss.gradient(Z @ b)),
        np.zeros(3),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None), (0, None), (0, None)],
    ).fun


@first_part_or_all
def test_linear_constrained_optimum(part):
    candidates = (falling_slope(seed) for seed in range(part, 480, N_PARTS))
    found = [pairs for pairs in candidates if pairs is not None]
    assert len(found) >= 304 // N_PARTS
    for pairs in found:
        fit, messages = fit_recording(pairs)
        held = np.isnan(fit.standard_errors)
        assert not held[0]
        assert held.any()
        assert (fit.beta[held] == 0).all()
        assert (fit.beta[1:][~held[1:]] > 0).all()
        assert_array_equal(np.isnan(fit.robust_standard_errors), held)

        assert fit.fixed == tuple(np.array(["intercept", FEATURES, LABELS])[held])
        assert list(messages) == [ZeroWeightWarning]
        assert messages[ZeroWeightWarning].startswith(f"No weight for {' and '.join(fit.fixed)}:")

        loss, Z = loss_of(pairs), pairs.design / np.abs(pairs.design).max(axis=0)
        assert -fit.log_likelihood <= bounded_minimum(pairs) * (1 + 1e-10) + 1e-9
        # Karush, Kuhn and Tucker: flat where free, rising where held
        gradient = Z.T @ loss.gradient(pairs.design @ fit.beta) / loss.weight.sum()
        assert np.abs(gradient[~held]).max() < 1e-7
        assert gradient[held].min() > -1e-7
        # What is left after a slope went is an ordinary regression on the other distance.
        free = np.flatnonzero(~held)
        truth = statsmodels_glm(pairs, free)
        assert_allclose(fit.beta[free], truth.params, rtol=1e-7)
        assert_allclose(fit.standard_errors[free], truth.bse, rtol=1e-7)


CHANGING = [0.0, 0.0, 1.0, 1.0]
AFFINE = [3.0, 3.0, 1.0, 1.0]  # 3 - 2 * CHANGING


@pytest.mark.parametrize(
    ("Dx", "Dy", "beta", "fixed"),
    [
        ([5] * 4, CHANGING, [-LOG3, 0, 2 * LOG3], (FEATURES,)),
        (CHANGING, [5] * 4, [-LOG3, 2 * LOG3, 0], (LABELS,)),
        (CHANGING, CHANGING, [-LOG3, 0, 2 * LOG3], (FEATURES,)),
        (AFFINE, CHANGING, [-LOG3, 0, 2 * LOG3], (FEATURES,)),
        ([0] * 4, [0] * 4, [0, 0, 0], (FEATURES, LABELS)),
    ],
    ids=["constant Dx", "constant Dy", "Dx is Dy", "Dx falls with Dy", "all zero"],
)
def test_linear_unidentified_distance_gets_no_weight(Dx, Dy, beta, fixed):
    # 2 of 8 labels wrong where the distance is 0, 6 of 8 where it is 1; half of them overall
    pairs = make_pairs(Dx, Dy, [1, 1, 3, 3], 4)
    fit, messages = fit_recording(pairs)
    assert_allclose(fit.beta, beta, atol=1e-12)
    assert fit.fixed == fixed
    assert_array_equal(np.isnan(fit.standard_errors), [False, FEATURES in fixed, LABELS in fixed])
    assert list(messages) == [ZeroWeightWarning]
    # log-odds of 2 of 8, of 8 of 16: 1/2 + 1/6 and 1/8 + 1/8
    variance = 1 / 4 if len(fixed) == 2 else 2 / 3
    assert_allclose(fit.standard_errors[0], np.sqrt(variance))


def test_linear_of_one_pair_is_its_rate():
    fit, messages = fit_recording(make_pairs([0.5], [0.3], [3], 10))
    assert_allclose(fit.beta, [np.log(3 / 7), 0, 0])
    assert_allclose(fit.standard_errors, [np.sqrt(1 / 3 + 1 / 7), np.nan, np.nan])
    assert_allclose(fit.theta(np.array([0.0, 9.0]), np.array([0.0, 9.0])), [0.3, 0.3])
    assert list(messages) == [ZeroWeightWarning]


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


# The minimum under bounds


@pytest.mark.parametrize("outlier", [1e2, 1e4, 1e6])
def test_minimize_survives_overshooting_steps(outlier):
    """One far pair would throw a full Newton step off: the loss must still fall to its minimum."""
    Z = np.array([[1, 0], [1, 1], [1, 2], [1, outlier]], dtype=float)
    loss = BinomialLoss(np.array([1.0, 2, 1, 3]), np.full(4, 4.0), np.ones(4))
    minimum = minimize_linear(loss, Z)
    gradient = Z.T @ loss.gradient(Z @ minimum.b)
    assert minimum.converged
    assert_allclose(gradient / [1, outlier], 0, atol=1e-9)
