"""Separation in the linear model: found, smoothed, and told apart from mere certainty."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pairs_data import fit_quietly, fit_recording, make_pairs
from scipy.special import expit

import reference
from nldd.exceptions import SeparationWarning, ZeroWeightWarning
from nldd.regression._likelihood import identified_columns


def separated_pairs(kind, n_pairs=60):
    rng = np.random.default_rng(5)
    Dx, Dy = rng.uniform(0, 3, n_pairs), rng.uniform(0, 2, n_pairs)
    wrong = {
        "by Dx": Dx > 1.5,
        "by Dy": Dy > 1,
        "by both": Dx + Dy > 2.5,
        "by product": Dx * Dy > 1,
        "no errors": np.zeros(n_pairs, dtype=bool),
        "all wrong": np.ones(n_pairs, dtype=bool),
    }[kind]
    return make_pairs(Dx, Dy, np.where(wrong, 7, 0), 7)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        *product(["linear"], ["by Dx", "by Dy", "by both", "no errors", "all wrong"]),
        *product(["multiplicative"], ["by product", "no errors", "all wrong"]),
    ],
)
def test_separation_is_found_and_smoothed(kind, model):
    fit, messages = fit_recording(separated_pairs(kind), model=model)
    assert fit.separated
    assert fit.converged
    assert "the 60 pairs at hand" in messages[SeparationWarning]
    assert np.isfinite(fit.beta).all()
    assert (fit.beta[1:] >= 0).all()

    distances = np.array([0, 1e-3, 0.5, 1, 1.5, 2, 3, 10, 1e3, 1e6])
    theta = fit.theta(*np.meshgrid(distances, distances, indexing="ij"))
    assert theta.min() > 0
    assert theta.max() < 1
    assert (np.diff(theta, axis=0) >= 0).all()
    assert (np.diff(theta, axis=1) >= 0).all()


@pytest.mark.parametrize("kind", ["by Dx", "by Dy", "by both"])
def test_linear_separated_coefficients_are_the_smoothed_optimum(kind):
    pairs = separated_pairs(kind)
    fit = fit_quietly(pairs)
    m = np.full(len(pairs), 7.0)
    beta = reference.regression(np.column_stack([pairs.Dx, pairs.Dy, pairs.errors]), 7)
    assert_allclose(fit.beta, beta, rtol=1e-6)
    # The likelihood that is told is that of the true counts.
    assert_allclose(fit.log_likelihood, -reference.loss(pairs.design @ beta, pairs.errors, m))


@pytest.mark.parametrize(
    ("errors", "what"), [(0, "No label is wrong"), (5, "Every label is wrong")]
)
def test_linear_without_errors_or_without_right_labels_by_hand(errors, what):
    """10 pairs of 5 labels get 3/10 of a label more, half of it wrong."""
    rng = np.random.default_rng(0)
    pairs = make_pairs(rng.uniform(size=10), rng.uniform(size=10), np.full(10, errors), 5)
    fit, messages = fit_recording(pairs)
    assert set(messages) == {SeparationWarning, ZeroWeightWarning}
    assert_array_equal(fit.beta[1:], [0, 0])
    assert what in messages[SeparationWarning]
    assert_allclose(fit.theta(pairs.Dx, pairs.Dy), (errors + 0.15) / 5.3)


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 4))]
)
def test_linear_separation_agrees_with_linear_program(part):
    """A direction of ever growing likelihood exists or not: that is a linear program."""
    kinds = []
    for seed in range(part, 320, 4):
        rng = np.random.default_rng(seed)
        n_pairs, n_labels = int(rng.integers(3, 12)), int(rng.integers(1, 4))
        Dx, Dy = rng.integers(0, 4, n_pairs) / 2, rng.uniform(0, 1, n_pairs)
        errors = rng.binomial(n_labels, expit(-2 + 2 * Dx + 3 * Dy))
        pairs = make_pairs(Dx, Dy, errors, n_labels)
        m, columns = np.full(n_pairs, float(n_labels)), identified_columns(pairs.design)
        truth = reference.separated(pairs.design[:, columns], errors, m)
        if not truth:  # a maximum so far out that nothing is known about it counts as none
            beta = reference.constrained(pairs.design, errors, m, list(columns))
            truth = reference.ran_off(pairs.design, m, beta)
        kinds.append(bool(truth))
        assert fit_quietly(pairs).separated == truth, f"data set {seed}"
    assert min(kinds.count(True), kinds.count(False)) >= 15
