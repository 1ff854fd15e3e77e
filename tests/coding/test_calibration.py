"""Expected and observed shares of wrong labels, and their picture."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from drawn import assert_legible
from nldd.coding.calibration import Calibration, CalibrationDisplay, calibration_deciles
from nldd.exceptions import InputError
from nldd.present.drawing import make_figure
from problems import some_quick


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


def draw(expected, observed, counts, lower, upper, **looks):
    """The picture of bins that are given one by one."""
    bins = Calibration(*map(np.array, (expected, observed, counts, lower, upper)))
    return CalibrationDisplay(bins, **looks).plot()


def marked(ax, marker):
    return [line.get_xydata() for line in ax.lines if line.get_marker() == marker]


def test_bins_by_hand():
    theta = [0.5, 0.1, 0.2, 0.4, 0.3, 0.2]
    n_wrong = [3, 0, 1, 1, 2, 0]
    # Sorted: 0.1 0.2 0.2 | 0.3 0.4 0.5 with 0, 1, 0 | 2, 1, 3 wrong of 4.
    bins = calibration_deciles(theta, n_wrong, 4, n_bins=2)
    assert_array_equal(bins.counts, [3, 3])
    assert_allclose(bins.expected, [0.5 / 3, 0.4])
    assert_allclose(bins.observed, [1 / 12, 6 / 12])
    # Shares 0, 1/4, 0 and 1/2, 1/4, 3/4 have standard errors 1/12 and 1/4/sqrt(3); t is 4.3027.
    assert_allclose(bins.lower, [0, 0])
    assert_allclose(bins.upper, [1 / 12 + 4.302653 / 12, 1], rtol=1e-6)
    assert bins.error == pytest.approx((3 * (0.5 / 3 - 1 / 12) + 3 * 0.1) / 6)


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


def test_ties_stay_together():
    theta = np.repeat([0.1, 0.2, 0.3], [70, 20, 10])
    bins = calibration_deciles(theta, np.zeros(100), 5)
    assert_allclose(bins.expected, [0.1, 0.2, 0.3])
    assert_array_equal(bins.counts, [70, 20, 10])


def test_one_answer_says_nothing():
    bins = calibration_deciles([0.1, 0.9], [0, 2], 4)
    assert_array_equal([bins.lower, bins.upper], [[0, 0], [1, 1]])


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
    ("arguments", "message"),
    [
        (([], [], 3), "theta must be a list of one or more"),
        (([0.1, 2], [0, 0], 3), "theta must hold numbers from 0 to 1; got 2 at position 1"),
        (([0.1], [0, 0], 3), r"n_wrong must be a list of 1 numbers from 0 on; got shape \(2,\)"),
        (([0.1, 0.2], [0, 4], 3), "got 4 of 3 at position 1"),
        (([0.1, 0.2], [0, -1], 3), "n_wrong must hold numbers from 0 on; got -1 at position 1"),
        (([0.1, 0.2], [0, np.nan], 3), "n_wrong.*got nan at position 1"),
        (([0.1, 0.2], [0, 0], [3, 0]), "n_labels must hold numbers from 1 on; got 0 at position 1"),
        (([0.1, 0.2], [0, 0], [3, np.inf]), "n_labels.*got inf at position 1"),
        (([0.1, 0.2], [0, 0], [3, 3, 3]), r"n_labels must be a list of 2.*got shape \(3,\)"),
        (([0.1, 0.2], ["a", "b"], 3), r"n_wrong must hold numbers.*got \['a', 'b'\]"),
        (([0.1, 0.2], [0, 0], 3, 0), "n_bins must be a whole number from 1 on; got 0"),
        (([0.1, 0.2], [0, 0], 3, 2.5), "got 2.5"),
    ],
)
def test_impossible_predictions_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        calibration_deciles(*arguments)


def test_picture_shows_points_intervals_counts_and_diagonal():
    ax = draw([0.01, 0.05], [0.02, 0.04], [300, 150], [0.01, 0.03], [0.03, 0.05], title="$a_{").ax_
    assert_allclose(marked(ax, "o"), [[[1, 2], [5, 4]]])
    assert_allclose(marked(ax, "_"), [[[1, 1], [1, 3]], [[5, 3], [5, 5]]])
    (diagonal,) = [line for line in ax.lines if line.is_dashed()]
    assert_allclose(diagonal.get_xydata(), [[0, 0], [100, 100]])
    bars = [line.get_xydata() for line in ax.lines if line.get_linewidth() == 3]
    assert [bar[0, 0] for bar in bars] == [1, 5]
    heights = [np.ptp(bar[:, 1]) for bar in bars]
    assert heights[0] == pytest.approx(2 * heights[1])
    assert max(bar.max() for bar in np.array(bars)[:, :, 1]) < 0
    assert ax.get_title() == "$a_{"
    assert [text.get_text() for text in ax.texts] == [
        "1 percentage points apart on average",
        "more wrong\nthan expected",
        "fewer wrong\nthan expected",
    ]
    assert ax.get_xlabel().endswith("grey bars: number of answers (150 to 300)")
    assert ax.get_ylabel() == "wrong labels observed (%)\nwith confidence interval"


def test_axes_are_equal_and_scaled_to_the_data():
    ax = draw([0.01, 0.04], [0.02, 0.05], [9, 9], [0, 0.03], [0.03, 0.07]).ax_
    assert ax.get_xlim()[0] == 0 and ax.get_xlim()[1] == ax.get_ylim()[1] == 8
    assert_array_equal(ax.get_xticks(), ax.get_yticks())
    assert ax.get_yticks()[0] == 0 and ax.get_aspect() == 1


@pytest.mark.parametrize(
    ("largest", "top", "step"),
    [(7.2, 8, 2), (5.0, 6, 1), (0.03, 0.04, 0.01), (48, 50, 10), (99, 100, 20), (0, 1, 0.2)],
)
def test_top_is_round_and_above_the_largest_value(largest, top, step):
    share = largest / 100
    ticks = draw([share], [share], [9], [share], [share]).ax_.get_yticks()
    assert_allclose(ticks, np.arange(0, top + step / 2, step))


def test_interval_of_one_answer_does_not_set_the_scale():
    display = draw([0.01, 0.02], [0.01, 0.03], [9, 1], [0, 0], [0.02, 1.0])
    assert display.ax_.get_xlim()[1] == 5


def test_picture_of_predictions():
    theta, n_wrong, n_labels = answers(300)
    display = CalibrationDisplay.from_predictions(theta, n_wrong, n_labels, n_bins=4, title="t")
    bins = calibration_deciles(theta, n_wrong, n_labels, 4)
    for name in ("expected", "observed", "counts", "lower", "upper"):
        assert_array_equal(getattr(display.bins, name), getattr(bins, name))
    assert display.bins.error == bins.error and display.title == "t"


CASES = {
    "good": answers(1500),
    "more-wrong": answers(1500, worse=4),
    "fewer-wrong": answers(1500, worse=0.1),
    "few": answers(12),
    "one": ([0.03], [1], 20),
    "none-wrong": (np.zeros(50), np.zeros(50), 20),
    "all-wrong": (np.linspace(0.9, 1, 50), np.full(50, 20), 20),
}


@pytest.mark.parametrize("case", some_quick(CASES, ["good", "few", "none-wrong", "all-wrong"]))
def test_words_never_overlap(case):
    display = CalibrationDisplay.from_predictions(*CASES[case], title="Long name. " * 9).plot()
    assert_legible(display.figure_)
    top = display.ax_.get_ylim()[1]
    for text, above in zip(display.ax_.texts[1:], (True, False), strict=True):
        x, y = text.get_position()
        assert bool(y > x) == above and 0 < y < top


def test_bins_on_given_axes():
    figure = make_figure((9, 5))
    for ax in figure.subplots(1, 2):
        bins = calibration_deciles([0.1, 0.1, 0.2, 0.2], [1, 1, 3, 2], 10)
        display = CalibrationDisplay(bins).plot(ax)
        assert display.ax_ is ax and display.figure_ is figure
        assert len(marked(ax, "_")) == 2
        assert ax.get_xlabel().endswith("(2)")
    assert_legible(figure)
