"""Thresholds that hold a target: against the definition, and in simulated studies."""

from math import comb, e, sqrt

import numpy as np
import pytest
from scipy.stats import beta, binomtest, t

from nldd.coding.guarantee import (
    accuracy_interval,
    critical_count,
    first_size,
    selective_threshold,
    starting_levels,
)
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

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
        count = critical_count(n, target, (1 - confidence) / factor)
        assert factor * tail(n, count, target) <= 1 - confidence + 1e-12
        assert factor * tail(n, count - 1, target) > 1 - confidence - 1e-12


def naive_threshold(theta, right, target, confidence):
    """The walk by its definition, one answer at a time."""
    level = (1 - confidence) / (1.0 if set(right) <= {0, 1} else e)
    n = len(theta)
    first = first_size(n, target, level)
    if first > n:
        return None
    starts = {first: level}
    if n >= 3 * first:
        part, starts = 0.55, {}
        for size, own in ((0.12 * n, 0.1), (0.25 * n, 0.1), (0.5 * n, 0.15), (n, 0.1)):
            if round(size) <= first_size(n, target, part * level):
                part += own
            else:
                starts[round(size)] = own * level
        first = first_size(n, target, part * level)
        starts[first] = part * level
    sizes = {round(first + (n - first) * step / 49) for step in range(50)} | {*starts}
    by_limit = dict.fromkeys(sorted({sorted(theta)[size - 1] for size in sizes}), 0.0)
    for size, own in starts.items():
        by_limit[sorted(theta)[size - 1]] += own
    chosen, at_hand = None, 0.0
    for limit, own in by_limit.items():
        at_hand += own
        let_through = [r for t, r in zip(theta, right, strict=True) if t <= limit]
        p_value = tail(len(let_through), int(sum(let_through) + 1e-9), target)
        passes = at_hand > 0 and p_value <= at_hand
        chosen, at_hand = (limit, at_hand) if passes else (chosen, 0.0)
    return chosen


@pytest.mark.parametrize("kind", ["whole", "shares", "tied"])
def test_threshold_is_that_of_the_definition(kind):
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(60):
        n = int(rng.integers(1, 360))
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
            assert selection.closest is None
    assert found > 8


def study(rng, n, kind):
    """Error probabilities, what theta says about them, and which answers are right."""
    error = rng.beta(A, B, n)
    others = {"underconfident": np.minimum(1.5 * error, 1.0), "distorted": error**3}
    theta = {"calibrated": error, "overconfident": error / 1.5, **others}[kind]
    return error, theta, rng.random(n) >= error


def true_accuracy():
    """Share that is right of all answers up to an error probability, in the long run."""
    errors = np.sort(np.random.default_rng(1).beta(A, B, 1_000_000))
    accuracy = 1 - np.cumsum(errors) / np.arange(1, len(errors) + 1)
    return lambda limit: accuracy[np.searchsorted(errors, limit, side="right") - 1]


KINDS = ["calibrated", "overconfident", "underconfident", "distorted"]
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "target", "n_studies"),
    [
        ("overconfident", 0.9, 100),
        *(pytest.param(k, t, 1000, marks=SLOW) for k in KINDS for t in (0.8, 0.9)),
    ],
)
def test_the_promise_is_broken_no_more_often_than_the_confidence_allows(kind, target, n_studies):
    rng = np.random.default_rng(2)
    accuracy = true_accuracy()
    broken, shares = 0, []
    for _ in range(n_studies):
        error, theta, right = study(rng, 500, kind)
        selection = selective_threshold(theta, right, target, confidence=0.9)
        shares.append(selection.share)
        if selection.threshold is not None:
            broken += accuracy(error[theta <= selection.threshold].max()) < target
    assert broken <= n_studies / 10
    # Not by promising nothing: 82 % and 55 % would be the best possible shares.
    assert np.mean(shares) > {0.8: 0.7, 0.9: 0.38}[target]


@pytest.mark.parametrize("n_studies", [100, pytest.param(1000, marks=SLOW)])
def test_the_promise_holds_for_shares_of_right_labels(n_studies):
    rng = np.random.default_rng(3)
    n_labels, broken, made = 8, 0, 0
    errors = np.sort(rng.beta(A, 8, 500_000))
    mean = 1 - np.cumsum(errors) / np.arange(1, len(errors) + 1)
    for _ in range(n_studies):
        error = rng.beta(A, 8, 600)
        # Labels of an answer err together: a third of the answers have all their errors at once.
        together = rng.random(600) < 1 / 3
        whole, single = n_labels * (rng.random(600) < error), rng.binomial(n_labels, error)
        wrong = np.where(together, whole, single)
        selection = selective_threshold(error, 1 - wrong / n_labels, 0.95, 0.9)
        if selection.threshold is not None:
            made += 1
            broken += mean[np.searchsorted(errors, selection.threshold, side="right") - 1] < 0.95
    assert made > 0.9 * n_studies
    assert broken <= n_studies / 10


@pytest.mark.parametrize(("accuracy", "n", "at_least"), [(0.95, 1000, 0.95), (0.97, 220, 0.9)])
def test_where_nearly_all_is_right_nearly_all_samples_find_a_threshold(accuracy, n, at_least):
    """Also if theta tells nothing; the walk from the surest answers alone finds one in half."""
    rng = np.random.default_rng(6)
    studies = [(rng.random(n), rng.random(n) < accuracy) for _ in range(100)]
    found = [selective_threshold(*study, 0.9).n_auto > 0.9 * n for study in studies]
    assert np.mean(found) >= at_least


# Shares of the answers, from the most confident on, and the probability that such a one is right.
CURVES = {"flat top": ((0, 0.5, 1), (0.9, 0.82, 0.55))}
CURVES["dip"] = (0, 0.03, 0.05, 0.4, 1), (0.7, 0.8, 0.93, 0.86, 0.4)


@pytest.mark.parametrize(("curve", "at_least"), [("flat top", 0.75), ("dip", 0.75)])
def test_a_bad_start_does_not_end_the_search(curve, at_least):
    """With four fifths of the level on the first test, 52 and 13 % of these had a result."""
    rng = np.random.default_rng(8)
    grid = np.linspace(0, 1, 10_001)
    accuracy = np.cumsum(np.interp(grid, *CURVES[curve])) / np.arange(1, 10_002)
    theta = rng.random((200, 600))
    right = rng.random((200, 600)) < np.interp(theta, *CURVES[curve])
    found = [selective_threshold(*study, 0.8).threshold for study in zip(theta, right, strict=True)]
    limits = np.array([limit for limit in found if limit is not None])
    assert len(limits) >= at_least * 200
    assert (accuracy[np.searchsorted(grid, limits) - 1] < 0.8).sum() <= 20


@pytest.mark.parametrize("level", [0.3, 0.1, 0.1 / e, 0.02])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.9, 0.98])
def test_starts_add_up_to_the_level(target, level):
    for n in (60, 150, 300, 600, 5000):
        starts = starting_levels(n, target, level)
        assert list(starts) == sorted(starts)
        assert not starts or sum(starts.values()) == pytest.approx(level)
        assert all(size <= n for size in starts)


def test_starts_of_few_and_of_many_answers():
    assert starting_levels(50, 0.9, 0.1) == {}
    assert starting_levels(100, 0.9, 0.1) == {52: 0.1}  # the whole level, as one test
    many = starting_levels(1500, 0.8, 0.1)
    assert many == pytest.approx({75: 0.055, 180: 0.01, 375: 0.01, 750: 0.015, 1500: 0.01})
    # 12 % of 300 are fewer than the first test takes.
    assert list(starting_levels(300, 0.9, 0.1)) == [72, 75, 150, 300]


def test_closest_test_is_that_with_the_fewest_right_answers_missing():
    theta, right = np.linspace(0, 1, 100), np.repeat([1.0, 0.0], [48, 52])
    found = selective_threshold(theta, right, 0.9)  # the first 52 answers are tested, once
    assert (found.threshold, found.n_auto) == (None, 0)
    assert found.closest == (52, 48, critical_count(52, 0.9, 0.1))
    assert selective_threshold(theta[:40], np.ones(40), 0.9).closest is None


def test_part_of_the_level_proves_as_much_as_that_level():
    rng = np.random.default_rng(9)
    theta = rng.random(400)
    right = rng.random(400) > theta / 2
    half = selective_threshold(theta, right, 0.8, 0.9, level_share=0.5)
    assert half.n_auto == selective_threshold(theta, right, 0.8, 0.95).n_auto > 0


def test_all_answers_right_are_all_let_through():
    selection = selective_threshold(np.linspace(0, 0.5, 100), np.ones(100), 0.9, 0.9)
    assert (selection.n_auto, selection.accuracy, selection.threshold) == (100, 1.0, 0.5)
    assert selection.share == 1.0


@pytest.mark.parametrize(
    ("theta", "correct", "options", "value"),
    [
        ([0.1, 0.2], [1], {}, "correct"),
        ([], [], {}, "theta"),
        ([0.1, np.nan], [1, 0], {}, "theta"),
        ([0.1, 0.2], [1, 2], {}, "correct"),
        ([0.1], [1], {"target": 1.0}, "target.*1.0"),
        ([0.1], [1], {"confidence": 90}, "confidence.*90"),
        ([0.1], [1], {"level_share": 0.0}, "level_share.*0.0"),
        ([0.1], [1], {"level_share": 1.5}, "level_share.*1.5"),
    ],
)
def test_bad_input_is_refused(theta, correct, options, value):
    with pytest.raises(InputError, match=value):
        selective_threshold(theta, correct, **options)


@pytest.mark.parametrize("n", [1, 5, 17])
def test_interval_is_clopper_and_pearsons(n):
    for k in range(n + 1):
        for level in (0.95, 0.8):
            expected = binomtest(k, n).proportion_ci(level, method="exact")
            found = accuracy_interval([1] * k + [0] * (n - k), level)
            assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
            assert found[0] <= k / n <= found[1]


def test_interval_of_shares_is_students():
    shares = np.array([1.0, 0.75, 0.5, 1.0, 0.75, 0.25] * 5)
    half = t.ppf(0.975, 29) * shares.std(ddof=1) / sqrt(30)
    expected = (shares.mean() - half, shares.mean() + half)
    assert accuracy_interval(shares) == pytest.approx(expected)
    low, high = accuracy_interval([0.99] * 29 + [0.0] + [1.0] * 5)
    assert (low > 0.8, high) == (True, 1.0)  # cut to what a share can be
    assert accuracy_interval([]) == (0.0, 1.0)


@pytest.mark.parametrize("shares", [[0.5], [0.75] * 5, [0.95] * 40, [1.0] * 9 + [0.95]])
def test_interval_of_few_or_equal_shares_is_exact_at_a_price(shares):
    """Clopper and Pearson's bounds of the whole answers that are right, at 2.5 % by e."""
    n, right, wrong = len(shares), int(sum(shares)), int(len(shares) - sum(shares))
    tail = 0.025 / np.e
    low = beta.ppf(tail, right, n - right + 1) if right else 0.0
    high = beta.isf(tail, n - wrong + 1, wrong) if wrong else 1.0
    assert accuracy_interval(shares) == pytest.approx((low, high))


def test_interval_of_few_shares_covers_the_truth():
    rng = np.random.default_rng(0)
    for n in (1, 5, 20):
        studies = rng.binomial(8, rng.choice([0.6, 0.98], (400, n))) / 8
        bounds = np.array([accuracy_interval(study) for study in studies])
        assert ((bounds[:, 0] <= 0.79) & (bounds[:, 1] >= 0.79)).mean() > 0.95
