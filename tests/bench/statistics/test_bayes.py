"""The Bayesian signed-rank test against its definition, and where the answer is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta

from nldd.bench.statistics.bayes import bayesian_signed_rank
from nldd.exceptions import InputError


def naive_posterior(differences, rope, strength, n_samples, seed):
    """The definition, one draw and one pair of data sets at a time."""
    z = [0.0, *differences]
    rng = np.random.default_rng(seed)
    wins = np.zeros(3)
    for _ in range(n_samples):
        w = rng.dirichlet([strength, *np.ones(len(differences))])
        mass = np.zeros(3)
        for i in range(len(z)):
            for j in range(len(z)):
                mean = round((z[i] + z[j]) / 2, 10)
                region = 0 if mean < -rope else 2 if mean > rope else 1
                mass[region] += w[i] * w[j]
        wins[np.argmax(mass)] += 1
    return wins / n_samples


@pytest.mark.parametrize("strength", [0.5, 2.0])
def test_posterior_equals_the_definition(strength):
    """The same seed gives the same draws, so the shares are equal and not only close."""
    rng = np.random.default_rng(0)
    for n in (1, 4, 7):
        differences = rng.normal(0.01, 0.02, n).round(3)
        options = {"prior_strength": strength, "n_samples": 100, "random_state": 5}
        found = bayesian_signed_rank(differences, 0.01, **options)
        assert_array_equal(found, naive_posterior(differences, 0.01, strength, 100, 5))


def test_one_data_set_is_a_question_to_the_beta_distribution():
    """With w the weight of the one difference 1: above are w**2 and 2 w (1 - w), as 1/2 > rope.

    That is 1 - (1 - w)**2 > 1/2 for 1 - w < sqrt(1/2), and w ~ Beta(1, 1/2). With a rope of 0.6
    only w**2 lies above it.
    """
    above = bayesian_signed_rank([1.0], 0.01)[2]
    assert_allclose(above, beta.sf(1 - np.sqrt(0.5), 1, 0.5), atol=0.007)
    above = bayesian_signed_rank([1.0], 0.6)[2]
    assert_allclose(above, beta.sf(np.sqrt(0.5), 1, 0.5), atol=0.007)


def test_symmetric_differences_favour_nobody():
    below, within, above = bayesian_signed_rank([-0.3, -0.2, -0.1, 0.1, 0.2, 0.3])
    assert_allclose(below, above, atol=0.01)
    assert within < 0.05


def test_turning_the_differences_turns_the_answer():
    differences = np.random.default_rng(2).normal(0.01, 0.02, 9)
    found = bayesian_signed_rank(differences)
    assert_array_equal(bayesian_signed_rank(-differences), found[::-1])


@pytest.mark.parametrize(
    ("differences", "rope", "expected"),
    [
        ([0.005, -0.004, 0.0, 0.01], 0.01, [0, 1, 0]),  # the border belongs to the rope
        ([0.3 - 0.29], 0.01, [0, 1, 0]),  # so does what differs from it by rounding
        ([0.0] * 5, 0, [0, 1, 0]),
        ([], 0.01, [0, 1, 0]),  # the prior alone
        ([0.5] * 30, 0.01, [0, 0, 1]),
        ([-0.5] * 30, 0.01, [1, 0, 0]),
        (np.full((4, 2), [0.001, 0.0]), 0.01, [[0, 1, 0], [0, 1, 0]]),
        (np.empty((3, 0)), 0.01, np.empty((0, 3))),
    ],
    ids=["rope", "rounding", "equal", "none", "above", "below", "pairs", "no-pairs"],
)
def test_posterior_where_the_answer_is_known(differences, rope, expected):
    assert_array_equal(bayesian_signed_rank(differences, rope, n_samples=2000), expected)


def test_pairs_are_answered_as_if_each_were_alone(monkeypatch):
    D = np.random.default_rng(3).normal(0, 0.03, (8, 3))
    together = bayesian_signed_rank(D, n_samples=1000)
    assert_array_equal(together, [bayesian_signed_rank(d, n_samples=1000) for d in D.T])
    assert_allclose(together.sum(axis=1), 1)
    monkeypatch.setattr("nldd.bench.statistics.bayes.BLOCK", 9 * 64)
    assert_array_equal(bayesian_signed_rank(D, n_samples=1000), together)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayesian_signed_rank([0.1, np.nan]), r"finite .* shape \(2,\) with 1 that are"),
        (lambda: bayesian_signed_rank("abc"), "must be numbers"),
        (lambda: bayesian_signed_rank(0.5), r"got shape \(\)"),
        (lambda: bayesian_signed_rank([1], -1), "rope must be .* got -1"),
        (lambda: bayesian_signed_rank([1], prior_strength=0), "above 0, .* got 0"),
        (lambda: bayesian_signed_rank([1], n_samples=0), "1 or more; got 0"),
    ],
    ids=["nan", "text", "number", "rope", "prior", "samples"],
)
def test_unusable_differences_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
