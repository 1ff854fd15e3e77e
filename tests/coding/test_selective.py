"""Thresholds that hold a target: against the definition, and in simulated studies."""

from math import comb, e

import numpy as np
import pytest

from nldd.coding import answers_needed, selective_threshold
from nldd.coding._selective import (
    critical_count,
    first_size,
    lower_bound,
    proven_size,
    sizes_of_tests,
)
from nldd.exceptions import InputError

# Error probabilities of the simulated answers: many sure ones, a long tail of doubtful ones.
A, B = 0.6, 1.4


def tail(n, count, p):
    """P(at least `count` of n), straight from the definition."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1))


@pytest.mark.parametrize("factor", [1.0, e])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.99])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.9, 0.95])
def test_critical_count_is_the_smallest_that_proves_the_target(target, confidence, factor):
    for n in (1, 2, 7, 22, 60, 137):
        count = critical_count(n, target, confidence, factor)
        assert factor * tail(n, count, target) <= 1 - confidence + 1e-12
        assert factor * tail(n, count - 1, target) > 1 - confidence - 1e-12


def test_lower_bound_is_where_the_test_turns():
    for right, n in ((10, 12), (50, 50), (1, 9)):
        bound = lower_bound(right, n, 0.9)
        assert tail(n, right, bound) == pytest.approx(0.1, abs=1e-9)
    assert lower_bound(0, 5, 0.9) == 0.0


def naive_threshold(theta, right, target, confidence):
    """The sizes_of_tests by its definition, one answer at a time."""
    factor = 1.0 if set(right) <= {0, 1} else e
    n = len(theta)
    first = first_size(n, target, confidence, factor)
    if first > n:
        return None
    sizes = [round(first + (n - first) * step / 49) for step in range(50)]
    chosen = None
    for size in sizes:
        limit = sorted(theta)[size - 1]
        let_through = [r for t, r in zip(theta, right, strict=True) if t <= limit]
        k = len(let_through)
        if factor * tail(k, int(sum(let_through) + 1e-9), target) > 1 - confidence:
            break
        chosen = limit
    return chosen


@pytest.mark.parametrize("kind", ["whole", "shares", "tied"])
def test_threshold_is_that_of_the_definition(kind):
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(150):
        n = int(rng.integers(1, 160))
        theta = rng.random(n)
        if kind == "tied":
            theta = theta.round(1)
        right = (rng.random(n) > theta**2).astype(float)
        if kind == "shares":
            right = rng.binomial(5, 1 - theta**3 / 2) / 5
        target, confidence = rng.choice([0.5, 0.7, 0.8]), rng.choice([0.7, 0.9])
        expected = naive_threshold(theta.tolist(), right.tolist(), target, confidence)
        selection = selective_threshold(theta, right, target, confidence)
        assert selection.threshold == expected
        if expected is not None:
            found += 1
            auto = theta <= expected
            assert selection.n_auto == auto.sum()
            assert selection.accuracy == pytest.approx(right[auto].mean())
            assert selection.lower >= target - 1e-9
            assert selection.needed is None
    assert found > 20


def study(rng, n, kind):
    """Error probabilities, what theta says about them, and which answers are right."""
    error = rng.beta(A, B, n)
    theta = {
        "calibrated": error,
        "overconfident": error / 1.5,
        "underconfident": np.minimum(1.5 * error, 1.0),
        "distorted": error**3,
    }[kind]
    return error, theta, rng.random(n) >= error


def true_accuracy():
    """Share that is right of all answers up to an error probability, in the long run."""
    errors = np.sort(np.random.default_rng(1).beta(A, B, 1_000_000))
    accuracy = 1 - np.cumsum(errors) / np.arange(1, len(errors) + 1)
    return lambda limit: accuracy[np.searchsorted(errors, limit, side="right") - 1]


@pytest.mark.parametrize("kind", ["calibrated", "overconfident", "underconfident", "distorted"])
@pytest.mark.parametrize("target", [0.8, 0.9])
def test_the_promise_is_broken_no_more_often_than_the_confidence_allows(kind, target):
    rng = np.random.default_rng(2)
    accuracy = true_accuracy()
    broken, shares = 0, []
    for _ in range(1000):
        error, theta, right = study(rng, 500, kind)
        selection = selective_threshold(theta, right, target, confidence=0.9)
        shares.append(selection.share)
        if selection.threshold is not None:
            broken += accuracy(error[theta <= selection.threshold].max()) < target
    assert broken <= 100
    # Not by promising nothing: 82 % and 55 % would be the best possible shares.
    assert np.mean(shares) > {0.8: 0.7, 0.9: 0.38}[target]


def test_the_promise_holds_for_shares_of_right_labels():
    rng = np.random.default_rng(3)
    n_labels, broken, made = 8, 0, 0
    errors = np.sort(rng.beta(A, 8, 500_000))
    mean = 1 - np.cumsum(errors) / np.arange(1, len(errors) + 1)
    for _ in range(1000):
        error = rng.beta(A, 8, 600)
        # Labels of an answer err together: a third of the answers have all their errors at once.
        together = rng.random(600) < 1 / 3
        wrong = np.where(
            together, n_labels * (rng.random(600) < error), rng.binomial(n_labels, error)
        )
        selection = selective_threshold(error, 1 - wrong / n_labels, 0.95, 0.9)
        if selection.threshold is not None:
            made += 1
            broken += mean[np.searchsorted(errors, selection.threshold, side="right") - 1] < 0.95
    assert made > 900
    assert broken <= 100


@pytest.mark.parametrize(("target", "n"), [(0.9, 100), (0.95, 200)])
def test_the_number_of_answers_that_a_target_takes_is_right_within_a_fifth(target, n):
    rng = np.random.default_rng(4)
    told = [
        answers_needed(theta, right.astype(float), target, 0.9)
        for _, theta, right in (study(rng, n, "overconfident") for _ in range(150))
    ]
    needed = np.median([number for number in told if number is not None])

    def found(size):
        _, theta, right = study(rng, size, "overconfident")
        order = np.argsort(theta)
        return proven_size(theta[order], right[order].astype(float), target, 0.9) > 0

    def chance(size):
        return np.mean([found(size) for _ in range(300)])

    # It is meant to suffice four times in five.
    assert chance(round(0.8 * needed)) < 0.8
    assert chance(round(1.2 * needed)) > 0.8


def test_no_number_of_answers_is_named_where_none_would_do():
    rng = np.random.default_rng(5)
    theta = rng.random(400)
    selection = selective_threshold(theta, rng.random(400) < 0.6, target=0.9)
    assert (selection.threshold, selection.n_auto, selection.needed) == (None, 0, None)


def test_few_answers_are_told_how_many_it_takes():
    selection = selective_threshold(np.linspace(0, 0.1, 40), np.ones(40), target=0.9)
    assert selection.threshold is None
    assert 50 <= selection.needed <= 60


def test_all_answers_right_are_all_let_through():
    selection = selective_threshold(np.linspace(0, 0.5, 100), np.ones(100), 0.9, 0.9)
    assert (selection.n_auto, selection.accuracy, selection.threshold) == (100, 1.0, 0.5)
    assert selection.share == 1.0
    assert selection.lower == pytest.approx(0.1 ** (1 / 100))


def test_answers_of_equal_theta_stay_together():
    theta = np.repeat([0.1, 0.2], [60, 60])
    right = np.repeat([1.0, 0.0], [60, 60])
    assert sizes_of_tests(theta, 0.9, 0.9, 1.0) == [60, 120]
    assert selective_threshold(theta, right, 0.9, 0.9).threshold == 0.1


def test_order_of_the_answers_does_not_matter():
    rng = np.random.default_rng(6)
    _, theta, right = study(rng, 300, "calibrated")
    order = rng.permutation(300)
    assert selective_threshold(theta, right) == selective_threshold(theta[order], right[order])


@pytest.mark.parametrize(
    ("theta", "correct", "options", "message"),
    [
        ([0.1, 0.2], [1], {}, r"got shapes \(2,\) and \(1,\)"),
        ([], [], {}, "of which there must be some"),
        ([0.1, np.nan], [1, 0], {}, "theta must lie between 0 and 1"),
        ([0.1, 0.2], [1, 2], {}, "correct must lie between 0 and 1"),
        ([0.1], [1], {"target": 1.0}, "target must lie between 0 and 1, such as 0.9; got 1.0"),
        ([0.1], [1], {"confidence": 90}, "confidence must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused(theta, correct, options, message):
    with pytest.raises(InputError, match=message):
        selective_threshold(theta, correct, **options)
