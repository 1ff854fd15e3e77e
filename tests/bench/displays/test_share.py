"""Time and wrong labels against the share of the training data."""

import numpy as np
from numpy.testing import assert_allclose

from drawn import assert_legible
from nldd.bench.displays.share import ShareDisplay
from nldd.present.drawing import make_figure

SHARES = (1.0, 0.5, 0.25)
SECONDS = [[8.0, 12.0], [2.0, 4.0], [1.0, 1.0]]
MISMATCHES = [[1.0, 1.2], [1.3, 1.3], [1.5, 1.7]]


def line(ax):
    """The line of the means: the one with markers on it."""
    return next(line for line in ax.lines if line.get_marker() in ("o", "s")).get_xydata()


def test_time_is_relative_to_the_mean_of_the_whole_data():
    display = ShareDisplay(SHARES, SECONDS, MISMATCHES)
    assert_allclose(display.relative_time, [[80, 120], [20, 40], [10, 10]])
    left, right = display.plot().ax_
    assert_allclose(line(left), [[25, 10], [50, 30], [100, 100]])
    assert_allclose(line(right), [[25, 1.6], [50, 1.3], [100, 1.1]])


def test_repeats_are_dots_and_single_runs_have_none():
    left, _ = ShareDisplay(SHARES, SECONDS, MISMATCHES).plot().ax_
    dots = [dots.get_xydata() for dots in left.lines if dots.get_marker() == "."]
    assert_allclose(dots[0], [[100, 80], [50, 20], [25, 10]])
    assert len(dots) == 2
    left, _ = ShareDisplay([0.5, 1], [3.0, 9.0], [1.2, 1.1]).plot().ax_
    assert not [dots for dots in left.lines if dots.get_marker() == "."]
    assert_allclose(line(left), [[50, 100 / 3], [100, 100]])


def test_panels_show_reference_lines_and_axis_names():
    display = ShareDisplay(SHARES, SECONDS, MISMATCHES, title="tmc2007, $x_{").plot()
    left, right = display.ax_
    assert [text.get_text() for text in left.texts] == ["linear", "quadratic"]
    assert [text.get_text() for text in right.texts] == ["all of the data: 1.1"]
    quadratic = left.lines[1].get_xydata()
    assert_allclose(quadratic[:, 1], quadratic[:, 0] ** 2 / 100)
    assert left.get_ylim()[0] == 0
    assert display.figure_.get_suptitle() == "tmc2007, $x_{"
    assert {ax.get_xlabel() for ax in display.ax_} == {"share of the training data (%)"}


def test_words_never_overlap():
    share = np.arange(1, 11) / 10
    display = ShareDisplay(share, 5 * share + 30 * share**2, 1.1 + np.exp(-4 * share) / 3, "tmc")
    assert_legible(display.plot().figure_)


def test_draws_on_two_given_axes():
    axes = make_figure((7, 3)).subplots(2)
    assert ShareDisplay(SHARES, SECONDS, MISMATCHES).plot(axes).ax_ == tuple(axes)
