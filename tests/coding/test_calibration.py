"""How far theta and the surest answers can be trusted, and the pictures of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from drawn import assert_legible
from nldd.coding.calibration import CalibrationDisplay, RiskCoverageDisplay, calibration_deciles
from nldd.exceptions import InputError


def naive_bins(theta, n_bins):
    """Bin of each answer: where the middle of those with the same theta lies among all."""
    ranks = []
    for value in theta:
        below, same = sum(t < value for t in theta), sum(t == value for t in theta)
        ranks.append(int((2 * below + same) * n_bins // (2 * len(theta))))
    return np.array(ranks)


def answers(n, seed=0, worse=1.0, a=1.2, b=20):
    """theta and wrong labels of n answers with 20 labels each."""
    rng = np.random.default_rng(seed)
    theta = rng.beta(a, b, n)
    return theta, rng.binomial(20, np.minimum(worse * theta, 1)), 20


def test_bins_are_those_of_naive_loops():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, n_bins = rng.integers(1, 40), int(rng.integers(1, 13))
        theta = rng.integers(0, rng.integers(1, 60), n) / 60
        n_labels = rng.integers(1, 9, n)
        n_wrong = rng.binomial(n_labels, 0.4)
        bins = calibration_deciles(theta, n_wrong, n_labels, n_bins)
        of_answer = naive_bins(theta.tolist(), n_bins)
        groups = [of_answer == number for number in sorted(set(of_answer.tolist()))]
        assert_array_equal(bins.counts, [group.sum() for group in groups])
        assert_allclose(bins.expected, [theta[group].mean() for group in groups])
        observed = [n_wrong[group].sum() / n_labels[group].sum() for group in groups]
        assert_allclose(bins.observed, observed)
        for number, group in enumerate(groups):
            shares = (n_wrong / n_labels)[group]
            if np.ptp(shares) > 0:
                half = stats.sem(shares) * stats.t.ppf(0.975, len(shares) - 1)
                limits = np.clip([observed[number] - half, observed[number] + half], 0, 1)
                assert_allclose([bins.lower[number], bins.upper[number]], limits, atol=1e-12)


def test_bin_without_spread_borrows_that_of_all_answers():
    """Else 50 answers without a wrong label would prove that there is none."""
    theta, n_wrong = np.repeat([0.01, 0.2], 50), np.r_[np.zeros(50), np.tile([0, 2], 25)]
    bins = calibration_deciles(theta, n_wrong, 10)
    spread = np.std(n_wrong / 10, ddof=1)
    assert bins.lower[0] == 0
    assert bins.upper[0] == pytest.approx(stats.t.ppf(0.975, 49) * spread / np.sqrt(50))


@pytest.mark.parametrize(("wrong", "limits"), [(0, (0, 0.0711217)), (5, (1 - 0.0711217, 1))])
def test_answers_without_any_spread(wrong, limits):
    bins = calibration_deciles(np.full(50, 0.1), np.full(50, wrong), 5)  # 0.9288783**50 = 0.025
    assert (bins.lower[0], bins.upper[0]) == pytest.approx(limits, abs=1e-7)


def test_interval_holds_where_all_labels_of_an_answer_fail_together():
    """Labels counted as if they were independent would give an interval of a third the length."""
    rng = np.random.default_rng(0)
    holds = []
    for _ in range(300):
        n_wrong = 10 * (rng.random(150) < 0.2)
        bins = calibration_deciles(np.full(150, 0.2), n_wrong, 10)
        holds.append(bins.lower[0] <= 0.2 <= bins.upper[0])
    assert 0.91 < np.mean(holds) < 0.985


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (([], [], 3), "theta"),
        (([0.1, 2], [0, 0], 3), "theta.*got 2 at position 1"),
        (([0.1], [0, 0], 3), "n_wrong"),
        (([0.1, 0.2], [0, 4], 3), "got 4 of 3 at position 1"),
        (([0.1, 0.2], [0, -1], 3), "n_wrong.*got -1 at position 1"),
        (([0.1, 0.2], [0, np.nan], 3), "n_wrong.*got nan at position 1"),
        (([0.1, 0.2], [0, 0], [3, 0]), "n_labels.*got 0 at position 1"),
        (([0.1, 0.2], [0, 0], [3, 3, 3]), "n_labels"),
        (([0.1, 0.2], ["a", "b"], 3), "n_wrong"),
        (([0.1, 0.2], [0, 0], 3, 0), "n_bins.*got 0"),
        (([0.1, 0.2], [0, 0], 3, 2.5), "n_bins.*got 2.5"),
    ],
)
def test_impossible_predictions_are_refused(arguments, value):
    with pytest.raises(InputError, match=value):
        calibration_deciles(*arguments)


CASES = {"good": answers(1500), "more-wrong": answers(1500, worse=4), "few": answers(12)}
CASES |= {"one": ([0.03], [1], 20), "none-wrong": (np.zeros(50), np.zeros(50), 20)}
CASES["all-wrong"] = (np.linspace(0.9, 1, 50), np.full(50, 20), 20)


@pytest.mark.parametrize("case", CASES)
def test_picture_of_bins(case):
    bins = calibration_deciles(*CASES[case])
    display = CalibrationDisplay.from_predictions(*CASES[case], title="Long $name_{ " * 9).plot()
    assert_legible(display.figure_)
    (points,) = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert_allclose(points.get_xydata(), 100 * np.column_stack([bins.expected, bins.observed]))
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    assert display.ax_.get_xlim()[1] >= points.get_xydata().max()


from_predictions = RiskCoverageDisplay.from_predictions


def naive_curve(theta, right):
    """Point by point, as it is defined."""
    points = []
    for limit in sorted(set(theta)):
        taken = [r for t, r in zip(theta, right, strict=True) if t <= limit]
        points.append((len(taken) / len(theta), sum(taken) / len(taken)))
    return np.transpose(points)


def test_curve_is_that_of_a_naive_loop():
    rng = np.random.default_rng(0)
    for case in range(150):
        n = rng.integers(1, 25)
        theta = rng.integers(0, rng.integers(1, 30), n) / 30
        right = rng.random(n) if case % 2 else rng.random(n) < 0.7
        curve = from_predictions(theta, right)
        expected = naive_curve(theta.tolist(), right.tolist())
        assert_allclose([curve.coverage, curve.accuracy], expected, rtol=1e-13)


def test_picture_shows_curve_target_and_choice():
    about = {"target": 0.9, "chosen": (0.6, 0.93), "title": "$5_{ " * 30}
    display = RiskCoverageDisplay([0.2, 0.6, 1.0], [1.0, 0.93, 0.82], **about).plot()
    ax = display.ax_
    assert_allclose(ax.lines[0].get_xydata(), [[20, 100], [60, 93], [100, 82]])
    assert_allclose(ax.lines[1].get_ydata(), [90, 90])
    assert_allclose(ax.collections[0].get_offsets(), [[60, 93]])
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["all: 82.0 %", "target 90 %", "60 % automatic at 93.0 %"]
    assert_legible(display.figure_)
