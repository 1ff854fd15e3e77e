"""Weights that are all larger or smaller by one factor: the same coefficients, as well known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pairs_data import fit_quietly, make_pairs, random_pairs


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
