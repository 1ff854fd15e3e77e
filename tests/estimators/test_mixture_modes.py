"""The mode of a mixture against enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, logsumexp

from nldd.estimators import _mixture_modes
from nldd.estimators._mixture_modes import iter_labelsets_by_probability, joint_mode, joint_modes


def labelset_log_probability(log_pi, Z, Y):
    """Log-probability of each labelset in `Y` under one mixture."""
    # log of the product of b^y (1 - b)^(1 - y) is y.z - sum of log(1 + exp(z)).
    by_component = Y @ Z.T - np.logaddexp(0, Z).sum(axis=1)
    return logsumexp(by_component + log_pi, axis=1)


def all_labelsets(n_labels):
    return np.array(list(product([0, 1], repeat=n_labels)))


def random_mixture(rng):
    """Up to 6 components of up to 10 labels, from flat to sharp."""
    K, L = rng.integers(1, 7), rng.integers(1, 11)
    log_pi = log_softmax(rng.normal(size=K) * rng.choice([0.0, 1.0, 5.0]))
    Z = rng.normal(size=(K, L)) * rng.choice([0.01, 1.0, 4.0]) - rng.choice([0.0, 0.5, 3.0])
    return log_pi, np.clip(Z, -30, 30)


def assert_mode(log_pi, Z, allow_empty):
    """The mode has the largest probability of all labelsets that are allowed."""
    Y = all_labelsets(Z.shape[1])
    if not allow_empty:
        Y = Y[1:]
    value = labelset_log_probability(log_pi, Z, Y)
    mode = joint_mode(log_pi, Z, allow_empty)
    assert allow_empty or mode.any()
    found = labelset_log_probability(log_pi, Z, mode[np.newaxis])[0]
    assert_allclose(found, value.max(), rtol=0, atol=1e-10)
    if (value > value.max() - 1e-9).sum() == 1:
        assert_array_equal(mode, Y[value.argmax()])


@pytest.mark.parametrize("kind", ["normal", "ties", "zeros", "certain"])
def test_falling_labelsets_lists_all_once_the_most_probable_first(kind):
    rng = np.random.default_rng(2)
    for L in range(1, 9):
        for _ in range(4):
            z = {
                "normal": rng.normal(size=L),
                "ties": rng.integers(-2, 3, size=L).astype(float),
                "zeros": np.zeros(L),
                "certain": rng.choice([-30.0, 30.0, 0.1], size=L),
            }[kind]
            log_probability, listed = zip(*iter_labelsets_by_probability(z), strict=True)
            assert len(listed) == 2**L
            assert len({tuple(y.tolist()) for y in listed}) == 2**L
            assert (np.diff(log_probability) <= 1e-12).all()
            exact = np.where(listed, -np.logaddexp(0, -z), -np.logaddexp(0, z)).sum(axis=1)
            assert_allclose(log_probability, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("allow_empty", [True, False], ids=["with empty", "without empty"])
def test_joint_mode_equals_enumeration(allow_empty):
    rng = np.random.default_rng(3)
    for _ in range(150):
        assert_mode(*random_mixture(rng), allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False], ids=["with empty", "without empty"])
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_joint_modes_equal_the_mode_of_each_mixture(scale, allow_empty):
    rng = np.random.default_rng(4)
    log_pi = log_softmax(rng.normal(size=(200, 4)), axis=1)
    Z = np.clip(scale * rng.normal(size=(200, 4, 6)) - 1, -30, 30)
    modes = joint_modes(log_pi, Z, allow_empty)
    expected = [joint_mode(*mixture, allow_empty) for mixture in zip(log_pi, Z, strict=True)]
    assert_array_equal(modes, expected)


def test_joint_mode_stops_early_where_components_are_sure():
    """60 labels have 2^60 labelsets; a sharp mixture needs a handful of them."""
    rng = np.random.default_rng(7)
    Y = rng.integers(0, 2, size=(3, 60))
    mode = joint_mode(np.log([0.2, 0.5, 0.3]), 10.0 * (2 * Y - 1))
    assert_array_equal(mode, Y[1])


def test_joint_mode_gives_the_best_found_when_it_runs_out_of_steps(monkeypatch):
    monkeypatch.setattr(_mixture_modes, "MAX_POPS", 3)
    rng = np.random.default_rng(8)
    Z = 0.01 * rng.normal(size=(4, 30))
    mode = joint_mode(np.log([0.25] * 4), Z)
    found = labelset_log_probability(np.log([0.25] * 4), Z, np.vstack([mode, Z >= 0]))
    assert (found[0] >= found[1:4] - 1e-12).all()
