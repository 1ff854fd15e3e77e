"""Critical-difference diagrams, from two methods to twenty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from drawn import assert_legible
from nldd.bench.displays import (
    CriticalDifferenceDisplay,
    runs_within,
    stacked_bars,
)
from nldd.exceptions import InputError

PAPER = ("BR", "SMBR", "NLDD", "ECC", "RAKEL", "MLKNN", "CBM")
RANKS = (5.33, 4.0, 2.67, 2.11, 4.11, 6.67, 3.11)


def words(display):
    return [text.get_text() for text in display.ax_.texts]


def test_names_stand_in_order_of_rank_the_best_half_on_the_left():
    display = CriticalDifferenceDisplay(PAPER, RANKS, title="F-measure").plot()
    assert words(display)[:10] == [
        *"1234567",
        *("\N{LEFTWARDS ARROW} best", "average rank", "worst \N{RIGHTWARDS ARROW}"),
    ]
    assert words(display)[10:] == [
        *("2.11", "ECC", "2.67", "NLDD", "3.11", "CBM", "4.00", "SMBR"),
        *("6.67", "MLKNN", "5.33", "BR", "4.11", "RAKEL"),
    ]
    sides = [text.get_ha() for text in display.ax_.texts[10:]]
    assert sides == 8 * ["right"] + 6 * ["left"]
    assert display.ax_.get_title() == "F-measure"
    assert display.figure_ is display.ax_.figure


def test_elbows_hang_from_the_axis_at_the_ranks():
    display = CriticalDifferenceDisplay(PAPER, RANKS).plot()
    elbows = [line for line in display.ax_.lines if len(line.get_xdata()) == 3]
    assert sorted(line.get_xdata()[0] for line in elbows) == sorted(RANKS)
    assert {line.get_ydata()[0] for line in elbows} == {0}
    levels = [line.get_ydata()[1] for line in elbows]
    assert levels[:4] == sorted(levels[:4], reverse=True)


def test_bars_join_the_members_and_dots_mark_them():
    display = CriticalDifferenceDisplay(PAPER, RANKS, [(2, 6), (0, 1, 4), (5,)]).plot()
    # A dot for a member: NLDD and CBM, then SMBR, RAKEL and BR. One method alone is no clique.
    dots = [points.get_offsets()[:, 0].tolist() for points in display.ax_.collections]
    assert dots == [[2.67, 3.11], [5.33, 4.0, 4.11]]
    bars = [line.get_xdata() for line in display.ax_.lines if line.get_linewidth() == 4]
    assert_allclose(bars, [[2.67, 3.11], [4.0, 5.33]], atol=0.06)
    assert words(display)[-1].startswith("A bar joins methods")
    # At the ends of the axis half of a dot would be cut off.
    thick = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert not any(artist.get_clip_on() for artist in (*display.ax_.collections, *thick))


def test_no_cliques_no_bars_and_no_note():
    display = CriticalDifferenceDisplay(PAPER, RANKS).plot()
    assert not display.ax_.collections
    assert words(display)[-1] == "RAKEL"


def test_overlapping_bars_get_rows_of_their_own():
    ranks = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert stacked_bars(ranks, [(0, 1), (1, 2), (2, 3), (3, 4)]) == [
        *(((0, 1), 0), ((1, 2), 1), ((2, 3), 0), ((3, 4), 1))
    ]
    assert stacked_bars(ranks, [(4, 0), (0, 2), (2, 1)]) == [((0, 2), 0), ((4, 0), 1), ((2, 1), 2)]
    assert stacked_bars(ranks, [(3,), (2, 2)]) == []


def test_ruler_is_as_long_as_the_critical_difference_and_bars_join_ranks_within_it():
    display = CriticalDifferenceDisplay(PAPER, RANKS, critical_difference=2.0).plot()
    (ruler,) = (line for line in display.ax_.lines if len(line.get_xdata()) == 4)
    assert ruler.get_xdata().tolist() == [1, 1, 3, 3]
    assert "CD = 2.00" in words(display)
    bars = [line.get_xdata() for line in display.ax_.lines if line.get_linewidth() == 4]
    # ECC to RAKEL, then SMBR to BR, then BR to MLKNN; NLDD to RAKEL is a part of the first.
    assert_allclose(bars, [[2.11, 4.11], [4.0, 5.33], [5.33, 6.67]], atol=0.06)
    assert not display.ax_.collections
    assert words(display)[-1].startswith("A bar without dots joins")


def test_both_kinds_of_bars_have_rows_and_a_note_of_their_own():
    display = CriticalDifferenceDisplay(PAPER, RANKS, [(2, 6)], critical_difference=9.5).plot()
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert (
        len({line.get_color() for line in bars}) == len({line.get_ydata()[0] for line in bars}) == 2
    )
    assert "CD = 9.50, longer than the axis" in words(display)
    assert words(display)[-1].count("\n") == 1


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (0.5, [(1,), (2,), (0,), (3,)]),
        (1.0, [(1, 2), (2, 0), (3,)]),
        (2.0, [(1, 2, 0), (0, 3)]),
        (9.0, [(1, 2, 0, 3)]),
    ],
)
def test_runs_within_a_distance(distance, expected):
    ranks = np.array([1.1 + 2.2, 1.3, 2.3, 5.3])
    assert runs_within(ranks, distance) == expected


@pytest.mark.parametrize(
    ("n_methods", "distance"),
    [(2, 0.9), (12, None), pytest.param(20, 0.9, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(
    "name", ["M{}", "Ensemble of classifier chains {}", "x" * 45 + "{}"], ids=len
)
def test_words_never_overlap(n_methods, name, distance):
    ranks = np.linspace(1, n_methods, n_methods)
    ranks[: n_methods // 2] = ranks[: n_methods // 2].mean()  # ties
    cliques = [tuple(range(i, min(i + 3, n_methods))) for i in range(n_methods - 1)]
    names = [name.format(i) for i in range(n_methods)]
    display = CriticalDifferenceDisplay(names, ranks, cliques, "Hamming loss", distance).plot()
    assert_legible(display.figure_)


def test_names_are_no_formulas():
    display = CriticalDifferenceDisplay(["$a_{$", "b^2"], [1.2, 1.8], title="$x_{").plot()
    assert "$a_{$" in words(display)
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("methods", "ranks", "cliques", "message"),
    [
        (["a"], [1.0], [], "two or more methods"),
        (["a", "b"], [1.0], [], r"average_ranks must be a list of 2 numbers.*shape \(1,\)"),
        (["a", "b"], [0.5, 2.0], [], "from 1 to 2; got 0.5 at position 0"),
        (["a", "b"], [np.nan, 2.0], [], "got nan at position 0"),
        (["a", "b"], [1.0, 2.0], [(0, 2)], r"from 0 to 1; got \[0, 2\]"),
    ],
    ids=["one", "too-few", "below-1", "nan", "stranger"],
)
def test_impossible_ranks_are_refused(methods, ranks, cliques, message):
    with pytest.raises(InputError, match=message):
        CriticalDifferenceDisplay(methods, ranks, cliques)


@pytest.mark.parametrize("distance", [0, -1.0, np.nan, np.inf])
def test_impossible_critical_differences_are_refused(distance):
    with pytest.raises(InputError, match="a length above 0; got"):
        CriticalDifferenceDisplay(["a", "b"], [1.0, 2.0], critical_difference=distance)
