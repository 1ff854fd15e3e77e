"""Generalised estimating equations: statsmodels called directly is the truth."""

import sys

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from pairs_data import FEATURES, LABELS, fit_quietly, fit_recording, loss_of, make_pairs
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from nldd.exceptions import MissingExtraError, NLDDError, ZeroWeightWarning
from nldd.regression._regression import fit_regression


def two_pairs_each(seed, b, n_instances, spread):
    """Two pairs an instance that share part of their distances and, with `spread`, their luck."""
    rng = np.random.default_rng(seed)
    instance = np.repeat(np.arange(n_instances), 2)
    shared = rng.uniform(0, 1, n_instances)[instance]
    Dx = shared + rng.uniform(0, 0.3, 2 * n_instances)
    Dy = 0.5 * shared + rng.uniform(0, 2, 2 * n_instances)
    luck = spread * rng.normal(size=n_instances)[instance]
    errors = rng.binomial(10, expit(b[0] + b[1] * Dx + b[2] * Dy + luck))
    return make_pairs(Dx, Dy, errors, 10, instance)


def statsmodels_gee(pairs, columns=(0, 1, 2)):
    return sm.GEE(
        pairs.errors / pairs.n_labels,
        pairs.design[:, list(columns)],
        groups=pairs.instance,
        family=sm.families.Binomial(),
        cov_struct=sm.cov_struct.Exchangeable(),
        weights=pairs.weight,
    ).fit()


def exchangeable(pairs):
    return fit_regression(pairs, covariance="exchangeable")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_gee_equals_statsmodels(seed, weighted):
    pairs = two_pairs_each(seed, (-2.5, 1.5, 1), 80, spread=0.8)
    if weighted:
        weight = np.random.default_rng(seed).uniform(0.2, 4, 80)[pairs.instance]
        pairs = make_pairs(pairs.Dx, pairs.Dy, pairs.errors, 10, pairs.instance, weight)
    fit, truth = exchangeable(pairs), statsmodels_gee(pairs)  # without a warning
    assert_allclose(fit.beta, truth.params, rtol=1e-6)
    assert_allclose(fit.standard_errors, truth.bse, rtol=1e-6)
    assert_allclose(fit.robust_covariance_matrix, fit.covariance_matrix)
    assert_allclose(fit.covariance_matrix, truth.cov_robust, rtol=1e-5)
    assert_allclose(fit.log_likelihood, -loss_of(pairs).value(pairs.design @ truth.params))
    assert (fit.covariance, fit.model) == ("exchangeable", "linear")
    assert (fit.converged, fit.separated, fit.fixed) == (True, False, ())
    assert 2 <= fit.n_steps < 30
    assert "(GEE, exchangeable)" in fit.summary()


@pytest.mark.parametrize(
    ("seed", "b", "spread", "fixed_before", "fixed"),
    [
        pytest.param(12, (-2, 0.1, 0.1), 1, (), (LABELS,), id="one turns negative"),
        pytest.param(50, (-2, 0.1, 0.1), 1, (), (FEATURES, LABELS), id="one after the other"),
        pytest.param(0, (-1, -1.5, 1), 0.5, (FEATURES,), (FEATURES,), id="zero of likelihood"),
    ],
)
def test_gee_drops_slopes_that_turn_negative(seed, b, spread, fixed_before, fixed):
    pairs = two_pairs_each(seed, b, 100, spread)
    assert fit_quietly(pairs).fixed == fixed_before  # else this tests nothing
    fit, messages = fit_recording(pairs, covariance="exchangeable")
    free = np.array([True, FEATURES not in fixed, LABELS not in fixed])
    truth = statsmodels_gee(pairs, np.flatnonzero(free))
    assert fit.fixed == fixed
    assert_allclose(fit.beta[free], truth.params, rtol=1e-6)
    assert_array_equal(fit.beta[~free], 0)
    assert_allclose(fit.standard_errors[free], truth.bse, rtol=1e-6)
    assert_array_equal(np.isnan(fit.covariance_matrix), ~np.outer(free, free))
    assert list(messages) == [ZeroWeightWarning]
    assert f"No weight for {' and '.join(fixed)}: the 200" in messages[ZeroWeightWarning]


@pytest.mark.parametrize("seed", [4, 17, 18, 24, 36])
def test_gee_that_diverges_does_not_return_nonsense(seed):
    """On few, strongly correlated pairs statsmodels' iterations run off to infinity."""
    pairs = two_pairs_each(seed, (-2, 0.1, 0.1), 10, spread=1.5)
    likelihood = fit_quietly(pairs)
    assert not likelihood.separated
    with pytest.warns(ConvergenceWarning, match="estimates for independent pairs are kept"):
        fit = fit_quietly(pairs, covariance="exchangeable")
    assert fit.covariance == "independent"
    assert_array_equal(fit.beta, likelihood.beta)
    assert np.isfinite(fit.beta).all()
    assert np.abs(pairs.design @ fit.beta).max() <= 15
    assert "intercept" not in fit.fixed


def test_gee_without_statsmodels_names_the_extra(monkeypatch):
    pairs = two_pairs_each(0, (-2.5, 1.5, 1), 30, spread=0.5)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    monkeypatch.setitem(sys.modules, "statsmodels.api", None)
    with pytest.raises(MissingExtraError) as raised:
        exchangeable(pairs)
    assert 'pip install "nldd[gee]"' in str(raised.value)
    assert 'covariance="independent"' in str(raised.value)
    assert isinstance(raised.value, ImportError)
    assert isinstance(raised.value, NLDDError)
    assert isinstance(raised.value.__cause__, ImportError)
    assert fit_regression(pairs).converged  # the likelihood does without
