"""Listing labelsets by probability, and the mode of a mixture, against enumeration."""

from itertools import product

import numpy as np
import pytest
from nldd.estimators._best_labelset import falling_labelsets, joint_mode
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, logsumexp

from nldd.estimators import _labelset_mode


def labelset_log_probability(log_pi, Z, Y):
    """Log-probability of each labelset in `Y` under one mixture."""
    # log of the product of b^y (1 - b)^(1 - y) is y.z - sum of log(1 + exp(z)).
    by_component = Y @ Z.T - np.logaddexp(0, Z).sum(axis=1)
    return logsumexp(by_component + log_pi, axis=1)


def all_labelsets(n_labels):
    return np.array(list(product([0, 1], repeat=n_labels)))


def naive_probability(pi, Z, y):
    """Sum over components of the weight times the product over labels."""
    total = 0.0
    for weight, z in zip(pi, Z, strict=True):
        for b, on in zip(expit(z), y, strict=True):
            weight *= b if on else 1 - b
        total += weight
    return total


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


def test_labelset_log_probability_equals_naive_products():
    rng = np.random.default_rng(0)
    for _ in range(30):
        log_pi, Z = random_mixture(rng)
        Y = rng.integers(0, 2, size=(5, Z.shape[1]))
        expected = [naive_probability(np.exp(log_pi), Z, y) for y in Y]
        assert_allclose(np.exp(labelset_log_probability(log_pi, Z, Y)), expected, rtol=1e-9)


def test_labelset_log_probability_by_hand():
    # Half of each: (0.8, 0.5) and (0.2, 0.5) for the two labels.
    log_pi, Z = np.log([0.5, 0.5]), np.array([[np.log(4), 0.0], [-np.log(4), 0.0]])
    # {1, 2}: (0.8 * 0.5 + 0.2 * 0.5) / 2 = 0.25, and so are all others.
    assert_allclose(np.exp(labelset_log_probability(log_pi, Z, all_labelsets(2))), 0.25)


def test_labelset_probabilities_of_all_labelsets_sum_to_one():
    rng = np.random.default_rng(1)
    for _ in range(100):
        log_pi, Z = random_mixture(rng)
        p = np.exp(labelset_log_probability(log_pi, Z, all_labelsets(Z.shape[1])))
        assert_allclose(p.sum(), 1, rtol=1e-10)


def test_labelset_log_probability_of_certain_labels_does_not_underflow():
    Z = np.full((1, 40), 30.0)
    value = labelset_log_probability(np.zeros(1), Z, np.zeros((1, 40)))
    assert_allclose(value, -40 * 30.0, rtol=1e-12)


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
            log_probability, listed = zip(*falling_labelsets(z), strict=True)
            assert len(listed) == 2**L
            assert len({tuple(y.tolist()) for y in listed}) == 2**L
            assert (np.diff(log_probability) <= 1e-12).all()
            exact = np.where(listed, -np.logaddexp(0, -z), -np.logaddexp(0, z)).sum(axis=1)
            assert_allclose(log_probability, exact, rtol=1e-12, atol=1e-12)


def test_falling_labelsets_by_hand():
    # Flipping costs 3, 1 and 1.5; from {1, 3} on: nothing, 2, 3, 2 and 3, 1, 1 and 2, ...
    listed = [y.tolist() for _, y in falling_labelsets(np.array([3.0, -1.0, 1.5]))]
    assert listed == [
        [1, 0, 1],
        [1, 1, 1],
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 1],
        [0, 1, 1],
        [0, 0, 0],
        [0, 1, 0],
    ]


def test_falling_labelsets_keeps_what_it_has_listed():
    """A labelset that was handed out must not change when the next one is made."""
    listed = list(falling_labelsets(np.array([0.5, -0.2])))
    assert len({y.tobytes() for _, y in listed}) == 4


@pytest.mark.parametrize("allow_empty", [True, False], ids=["with empty", "without empty"])
def test_joint_mode_equals_enumeration(allow_empty):
    rng = np.random.default_rng(3)
    for _ in range(600):
        assert_mode(*random_mixture(rng), allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False], ids=["with empty", "without empty"])
@pytest.mark.parametrize("scale", [pytest.param(20.0, id="sharp"), pytest.param(0.0, id="flat")])
def test_joint_mode_of_sharp_and_flat_mixtures(scale, allow_empty):
    rng = np.random.default_rng(4)
    for K in (1, 2, 6):
        for L in (1, 2, 8):
            Z = np.clip(scale * rng.normal(size=(K, L)), -30, 30)
            assert_mode(log_softmax(rng.normal(size=K)), Z, allow_empty)


@pytest.mark.parametrize("allow_empty", [True, False], ids=["with empty", "without empty"])
def test_joint_mode_of_identical_components_is_that_of_one(allow_empty):
    rng = np.random.default_rng(5)
    for _ in range(20):
        z = rng.normal(size=6) - 1
        log_pi = log_softmax(rng.normal(size=5))
        mode = joint_mode(log_pi, np.tile(z, (5, 1)), allow_empty)
        expected = (z >= 0).astype(int)
        if not allow_empty and not expected.any():
            expected[z.argmax()] = 1
        assert_array_equal(mode, expected)


def test_joint_mode_can_be_no_components_mode():
    # Each component is sure of one label more; what all three share a little wins.
    Z = np.array([[5.0, -0.2, -0.2], [-0.2, 5.0, -0.2], [-0.2, -0.2, 5.0]])
    modes = [joint_mode(np.zeros(1), z[np.newaxis]).tolist() for z in Z]
    assert modes == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    # {1, 2, 3} has about 0.45^2 in every component, {1} about 0.55^2 in one of three.
    assert joint_mode(np.log([1 / 3] * 3), Z).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("z", "allow_empty", "mode"),
    [(1.0, True, 1), (1.0, False, 1), (-1.0, True, 0), (-1.0, False, 1), (-30.0, False, 1)],
)
def test_joint_mode_of_one_label(z, allow_empty, mode):
    assert joint_mode(np.zeros(1), np.array([[z]]), allow_empty).tolist() == [mode]


def test_joint_mode_without_empty_is_the_best_other_labelset_of_rare_labels():
    rng = np.random.default_rng(6)
    for _ in range(50):
        K, L = rng.integers(1, 7), rng.integers(1, 9)
        Z = -rng.uniform(2, 30, size=(K, L))
        log_pi = log_softmax(3 * rng.normal(size=K))
        assert joint_mode(log_pi, Z).sum() == 0
        assert_mode(log_pi, Z, allow_empty=False)


def test_joint_mode_stops_early_where_components_are_sure():
    """60 labels have 2^60 labelsets; a sharp mixture needs a handful of them."""
    rng = np.random.default_rng(7)
    Y = rng.integers(0, 2, size=(3, 60))
    mode = joint_mode(np.log([0.2, 0.5, 0.3]), 10.0 * (2 * Y - 1))
    assert_array_equal(mode, Y[1])


def test_joint_mode_gives_the_best_found_when_it_runs_out_of_steps(monkeypatch):
    monkeypatch.setattr(_labelset_mode, "MAX_POPS", 3)
    rng = np.random.default_rng(8)
    Z = 0.01 * rng.normal(size=(4, 30))
    mode = joint_mode(np.log([0.25] * 4), Z)
    found = labelset_log_probability(np.log([0.25] * 4), Z, np.vstack([mode, Z >= 0]))
    assert (found[0] >= found[1:4] - 1e-12).all()


def test_joint_mode_does_not_depend_on_the_order_of_components():
    rng = np.random.default_rng(9)
    for _ in range(50):
        log_pi, Z = random_mixture(rng)
        order = rng.permutation(len(Z))
        a, b = joint_mode(log_pi, Z), joint_mode(log_pi[order], Z[order])
        value = labelset_log_probability(log_pi, Z, np.array([a, b]))
        assert_allclose(value[0], value[1], rtol=0, atol=1e-10)
