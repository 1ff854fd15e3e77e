"""Accuracy of the surest answers, and its picture."""

from io import StringIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from drawn import assert_legible
from nldd.coding.risk_coverage import RiskCoverageDisplay
from nldd.exceptions import InputError
from nldd.present.drawing import make_figure, spread
from problems import some_quick

from_predictions = RiskCoverageDisplay.from_predictions


def naive_curve(theta, right):
    """Point by point, as it is defined."""
    points = []
    for limit in sorted(set(theta)):
        taken = [r for t, r in zip(theta, right, strict=True) if t <= limit]
        points.append((len(taken) / len(theta), sum(taken) / len(taken)))
    return np.transpose(points)


def survey(n, slope, seed=0):
    """Coverage and accuracy of n answers, the more wrong the larger theta."""
    rng = np.random.default_rng(seed)
    theta = rng.beta(1.2, 8, n)
    curve = from_predictions(theta, rng.random(n) > slope * theta)
    return curve.coverage, curve.accuracy


def chosen_at(curve, coverage):
    return next(point for point in zip(*curve, strict=True) if point[0] >= coverage)


def words(display):
    return [text.get_text() for text in display.ax_.texts]


def curve_on(ax):
    return ax.lines[0].get_xydata()


def test_curve_by_hand():
    # Sorted: 0.1 right | 0.2 right, 0.2 wrong | 0.4 right | 0.5 wrong
    curve = from_predictions([0.2, 0.4, 0.1, 0.5, 0.2], [True, True, True, False, False])
    assert_array_equal(curve.coverage, [0.2, 0.6, 0.8, 1.0])
    assert_array_equal(curve.accuracy, [1, 2 / 3, 3 / 4, 3 / 5])


def test_curve_is_that_of_a_naive_loop():
    rng = np.random.default_rng(0)
    for case in range(150):
        n = rng.integers(1, 25)
        theta = rng.integers(0, rng.integers(1, 30), n) / 30
        right = rng.random(n) if case % 2 else rng.random(n) < 0.7
        curve = from_predictions(theta, right)
        expected = naive_curve(theta.tolist(), right.tolist())
        assert_allclose([curve.coverage, curve.accuracy], expected, rtol=1e-13)


def test_order_of_the_answers_does_not_matter_in_any_bit():
    rng = np.random.default_rng(1)
    theta, right = rng.integers(0, 5, 500) / 7, rng.random(500)
    one = from_predictions(theta, right)
    for _ in range(5):
        order = rng.permutation(500)
        other = from_predictions(theta[order], right[order])
        assert_array_equal(one.accuracy, other.accuracy)
        assert_array_equal(one.coverage, other.coverage)


def test_accuracy_never_exceeds_one():
    """Rounding of long sums must not carry it over the limit that displays check."""
    right = np.full(10_000, np.nextafter(1, 0))
    assert from_predictions(np.linspace(0, 1, 10_000), right).accuracy.max() <= 1


@pytest.mark.parametrize(
    ("theta", "right", "message"),
    [
        ([], [], r"theta must be a list of one or more.*got shape \(0,\)"),
        ([0.1, 0.2], [1], r"right must be a list of 2 numbers.*got shape \(1,\)"),
        ([[0.1]], [1], r"got shape \(1, 1\)"),
        ([0.1, 1.5], [1, 1], "theta must hold numbers from 0 to 1; got 1.5 at position 1"),
        ([0.1, np.nan], [1, 1], "got nan at position 1"),
        ([0.1, 0.2], [1, -1], "right must hold numbers from 0 to 1; got -1 at position 1"),
        (["sure", "unsure"], [1, 1], r"theta must hold numbers.*got \['sure', 'unsure'\]"),
        (0.3, 1, r"got shape \(\)"),
    ],
    ids=["none", "length", "table", "large", "missing", "negative", "words", "number"],
)
def test_impossible_predictions_are_refused(theta, right, message):
    with pytest.raises(InputError, match=message):
        from_predictions(theta, right)


def test_percentages_get_a_hint():
    with pytest.raises(InputError) as caught:
        RiskCoverageDisplay([50, 100], [99, 90])
    assert "shares rather than percentages" in caught.value.hint


def test_picture_shows_curve_target_and_choice():
    display = RiskCoverageDisplay(
        [0.2, 0.6, 1.0], [1.0, 0.93, 0.82], target=0.9, chosen=(0.6, 0.93)
    ).plot()
    ax = display.ax_
    assert_allclose(curve_on(ax), [[20, 100], [60, 93], [100, 82]])
    target = ax.lines[1]
    assert_allclose(target.get_ydata(), [90, 90])
    assert target.is_dashed()
    (dot,) = ax.collections
    assert_allclose(dot.get_offsets(), [[60, 93]])
    assert words(display) == ["target 90 %", "all: 82.0 %", "60 % automatic at 93.0 %"]
    assert ax.get_ylabel() == "answers coded right (%)"
    assert ax.get_xlabel() == "answers coded automatically (%)"
    assert ax.get_legend() is None
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 100), (80, 100))


def test_picture_of_predictions():
    display = from_predictions([0.1, 0.2, 0.2, 0.3], [1, 1, 0, 0], measure="labels right").plot()
    assert_allclose(curve_on(display.ax_), [[25, 100], [75, 200 / 3], [100, 50]])
    assert display.ax_.get_ylabel() == "labels right (%)"
    assert words(display) == ["all: 50.0 %"]


@pytest.mark.parametrize(
    ("lowest", "floor", "step"),
    [(100, 95, 1), (96, 95, 1), (82.3, 80, 5), (80, 75, 5), (61, 50, 10), (4, 0, 20), (0, 0, 20)],
)
def test_floor_is_round_and_below_the_lowest_value(lowest, floor, step):
    ax = RiskCoverageDisplay([1.0], [lowest / 100]).plot().ax_
    assert_array_equal(ax.get_yticks(), range(floor, 101, step))
    assert ax.get_ylim() == (floor, 100)


def test_first_answers_do_not_squeeze_the_rest():
    """One wrong answer at the very start: the curve comes from below and fills the picture."""
    right = np.r_[False, np.ones(399)]
    display = from_predictions(np.arange(400) / 400, right).plot()
    assert curve_on(display.ax_)[0].tolist() == [0.25, 0]
    assert display.ax_.get_ylim() == (94, 100)


def test_long_curves_are_thinned_to_points_on_them():
    coverage, accuracy = survey(50_000, 2)
    display = RiskCoverageDisplay(coverage, accuracy).plot()
    drawn = curve_on(display.ax_) / 100
    assert len(drawn) <= 1000
    at = np.searchsorted(coverage, drawn[:, 0] - 1e-9)
    assert_allclose(drawn[:, 1], accuracy[at])
    assert_allclose(drawn[[0, -1], 0], coverage[[0, -1]])
    assert np.abs(np.diff(drawn[:, 0])).max() < 0.0011
    picture = StringIO()
    display.figure_.savefig(picture, format="svg")
    assert len(picture.getvalue()) < 300_000


def test_labels_at_the_same_height_move_apart():
    assert spread([80.0], 3, 0) == [80]
    assert spread([], 3, 0) == []
    assert spread([80.0, 80.0], 4, 0) == [82, 78]
    assert spread([79.0, 80.0], 4, 0) == [77.5, 81.5]
    assert spread([80.0, 79.0], 4, 79) == [83, 79]


SURVEY, LARGE, SURE = survey(1500, 1.4), survey(5000, 2.5), survey(3000, 0.03)
N = np.arange(1, 101) / 100
CASES = {
    "usual": (*SURVEY, 0.9, chosen_at(SURVEY, 0.6)),
    "left": (*LARGE, 0.99, chosen_at(LARGE, 0)),
    "right": (*LARGE, 0.75, chosen_at(LARGE, 0.99)),
    "bottom": (*LARGE, 0.7, (1.0, LARGE[1][-1])),
    "high": (*SURE, 0.995, (1.0, SURE[1][-1])),
    "few": (*survey(40, 1.5), 0.85, (0.3, 0.9)),
    "all-right": (N, np.ones(100), 1.0, (1.0, 1.0)),
    "all-wrong": (N, np.zeros(100), 0.0, (0.01, 0.0)),
    "one-point": ([1.0], [0.83], 0.83, (1.0, 0.83)),
}


@pytest.mark.parametrize("case", some_quick(CASES, ["usual", "left", "high", "few", "one-point"]))
def test_words_never_overlap_each_other_or_the_curve(case):
    display = RiskCoverageDisplay(*CASES[case], title="Why $5 are {not} enough").plot()
    assert_legible(display.figure_)
    (text,) = [text for text in display.ax_.texts if "automatic at" in text.get_text()]
    box = text.get_window_extent()
    curve = display.ax_.transData.transform(curve_on(display.ax_))
    assert not ((curve > box.min) & (curve < box.max)).all(axis=1).any()
    axes = display.ax_.get_window_extent()
    assert (box.min >= axes.min - 2).all() and (box.max <= axes.max + 2).all()


def test_words_from_users_are_no_formulas():
    title = "a $\\frac{ " + "long " * 30
    display = RiskCoverageDisplay(*SURVEY, measure="$x_{", title=title).plot()
    assert display.ax_.get_ylabel() == "$x_{ (%)"
    assert display.ax_.get_title().startswith("a $\\frac{ long")
    assert_legible(display.figure_)


def test_words_keep_their_distance_on_small_axes():
    figure = make_figure((7, 3))
    for ax, coverage in zip(figure.subplots(1, 2), (0.1, 0.8), strict=True):
        display = RiskCoverageDisplay(*SURVEY, 0.9, chosen_at(SURVEY, coverage)).plot(ax)
        assert display.ax_ is ax and display.figure_ is figure
    assert_legible(figure)


def test_line_at_the_rim_is_not_cut_in_half():
    """Drawn at 100 %, it is as thick as elsewhere."""
    ax = RiskCoverageDisplay([0.5, 1.0], [1.0, 1.0]).plot().ax_
    assert ax.lines[0].get_clip_box().y1 > ax.get_window_extent().y1 + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accuracy": [0.9]}, r"accuracy must be a list of 2 numbers.*\(1,\)"),
        ({"accuracy": [0.9, 90]}, "accuracy must hold numbers from 0 to 1; got 90 at position 1"),
        ({"coverage": [0.5, 0.5]}, "coverage must rise from point to point; got 0.5 after 0.5"),
        ({"target": 90}, "target must hold numbers from 0 to 1; got 90"),
        ({"chosen": (0.5,)}, "chosen must be a list of 2"),
        ({"chosen": (0.5, 93)}, "chosen must hold.*got 93 at position 1"),
    ],
    ids=["length", "percent", "falls", "target", "pair", "chosen"],
)
def test_impossible_pictures_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        RiskCoverageDisplay(**{"coverage": [0.5, 1.0], "accuracy": [0.9, 0.8]} | arguments)
