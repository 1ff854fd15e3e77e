"""The result of a fit: what it says, and that the unit of weights changes none of it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pairs_data import FEATURES, LABELS, fit_quietly, make_pairs, random_pairs

from nldd.regression._regression import DistanceRegression

LINEAR = DistanceRegression(
    model="linear",
    covariance="independent",
    beta=np.array([-1.0, 0.5, 2.0]),
    covariance_matrix=np.array([[0.04, 0.01, 0], [0.01, 0.09, 0], [0, 0, 0.16]]),
    robust_covariance_matrix=np.array([[0.25, 0, 0.1], [0, 0.36, 0], [0.1, 0, 0.49]]),
    log_likelihood=-12.345,
    n_pairs=30,
    n_instances=20,
    n_labels=8,
    n_steps=5,
    converged=True,
    separated=False,
    fixed=(),
)
MULTIPLICATIVE = replace(LINEAR, model="multiplicative", beta=np.array([-2.0, 0.5, 2.0]))


def logistic(eta):
    return 1 / (1 + np.exp(-np.asarray(eta, dtype=float)))


FLAT = replace(MULTIPLICATIVE, beta=np.array([-1.0, 0.0, 0.5]))


@pytest.mark.parametrize(
    ("fit", "Dx", "Dy", "parts", "score"),
    [
        pytest.param(LINEAR, [0, 2, 4], [0, 0.5, 1], [[0, 1, 2], [0, 1, 2]], [0, 2, 4], id="sum"),
        pytest.param(
            MULTIPLICATIVE, [0, 4, 9], [1, 2, 0], [[0, 2, 3], [1, 4, 0]], [0, 8, 0], id="product"
        ),
        pytest.param(FLAT, [0, 0], [4, 0], [[1, 1], [2, 0]], [2, 0], id="0^0 is 1"),
    ],
)
def test_parts_score_and_theta_by_hand(fit, Dx, Dy, parts, score):
    distances = np.array(Dx, dtype=float), np.array(Dy, dtype=float)
    assert_allclose(fit.parts(*distances), parts)
    assert_allclose(fit.score(*distances), score)
    assert_allclose(fit.theta(*distances), logistic(fit.beta[0] + np.array(score)))


@pytest.mark.parametrize("fit", [LINEAR, MULTIPLICATIVE], ids=["linear", "multiplicative"])
@pytest.mark.parametrize("intercept", [-1e4, -1.0, 1e4])
@pytest.mark.parametrize("distance", [0.0, 1.0, 1e6])
def test_theta_is_strictly_inside_zero_and_one(fit, intercept, distance):
    fit = replace(fit, beta=np.array([intercept, 0.5, 2.0]))
    theta = fit.theta(np.array([distance]), np.array([distance]))[0]
    assert 0 < theta < 1
    assert np.isfinite(np.log(theta))
    assert np.isfinite(np.log1p(-theta))


def test_summaries(snapshot):
    """theta at the origin is 1 / (1 + e) = 0.2689, and 1 / (1 + e^2) = 0.1192."""
    nan = np.full((3, 3), np.nan)
    held = {"covariance_matrix": nan, "robust_covariance_matrix": nan, "fixed": (FEATURES, LABELS)}
    fits = (
        LINEAR,
        MULTIPLICATIVE,
        replace(LINEAR, covariance="exchangeable", converged=False),
        replace(LINEAR, beta=np.array([-1.0, 0.0, 0.0]), **held),
        replace(LINEAR, separated=True),
    )
    snapshot("\n\n".join(map(str, fits)), "regression")


def separated(errors):
    Dx, Dy = np.linspace(0, 1, 40), np.linspace(0, 1, 40) ** 2
    return make_pairs(Dx, Dy, errors * (Dx > 0.5), 3, weight=1 + np.arange(40) % 3)


HOW = {
    "linear": (random_pairs(3), {}),
    "multiplicative": (random_pairs(6), {"model": "multiplicative"}),
    "exchangeable": (random_pairs(3), {"covariance": "exchangeable"}),
    "separated": (separated(3), {}),
    "separated, multiplicative": (separated(0), {"model": "multiplicative"}),
}


@pytest.mark.parametrize("factor", [1e-20, pytest.param(1e20, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("pairs", "options"), HOW.values(), ids=HOW)
def test_factor_of_all_weights_changes_no_coefficient(pairs, options, factor):
    if "covariance" in options:
        pytest.importorskip("statsmodels")
    plain = fit_quietly(pairs, **options)
    fit = fit_quietly(replace(pairs, weight=factor * pairs.weight), **options)
    assert (fit.converged, fit.separated) == (True, plain.separated)
    # Scoring steps of the multiplicative model do not square the error: the last leaves more.
    digits = 1e-7 if "model" in options else 1e-9
    assert_allclose(fit.beta, plain.beta, rtol=digits)
    assert_allclose(fit.robust_standard_errors, plain.robust_standard_errors, rtol=1e-7)
    assert_allclose(fit.log_likelihood, factor * plain.log_likelihood, rtol=1e-9)
    if plain.covariance == "independent":
        errors = plain.standard_errors / np.sqrt(factor)
        assert_allclose(fit.standard_errors, errors, rtol=1e-7)
