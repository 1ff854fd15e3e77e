"""Critical-difference diagrams from two methods to twenty, and the pairs of a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from drawn import assert_legible
from nldd import NLDDClassifier
from nldd.bench.displays import CriticalDifferenceDisplay, PairsDisplay, stacked_bars
from nldd.exceptions import InputError
from nldd.present.drawing import make_figure

PAPER = ("BR", "SMBR", "NLDD", "ECC", "RAKEL", "MLKNN", "CBM")
RANKS = (5.33, 4.0, 2.67, 2.11, 4.11, 6.67, 3.11)


def words(display):
    return [text.get_text() for text in display.ax_.texts]


def thick_bars(display):
    return [line for line in display.ax_.lines if line.get_linewidth() == 4]


def test_names_stand_in_order_of_rank_the_best_half_on_the_left():
    display = CriticalDifferenceDisplay(PAPER, RANKS, title="F-measure").plot()
    assert words(display)[10:] == [
        *("2.11", "ECC", "2.67", "NLDD", "3.11", "CBM", "4.00", "SMBR"),
        *("6.67", "MLKNN", "5.33", "BR", "4.11", "RAKEL"),
    ]
    sides = [text.get_ha() for text in display.ax_.texts[10:]]
    assert sides == 8 * ["right"] + 6 * ["left"]
    assert display.ax_.get_title() == "F-measure"
    elbows = [line for line in display.ax_.lines if len(line.get_xdata()) == 3]
    assert sorted(line.get_xdata()[0] for line in elbows) == sorted(RANKS)
    levels = [line.get_ydata()[1] for line in elbows]
    assert levels[:4] == sorted(levels[:4], reverse=True)
    assert not display.ax_.collections  # no cliques, no dots


def test_bars_join_the_members_and_dots_mark_them():
    display = CriticalDifferenceDisplay(PAPER, RANKS, [(2, 6), (0, 1, 4), (5,)]).plot()
    # A dot for a member: NLDD and CBM, then SMBR, RAKEL and BR. One method alone is no clique.
    dots = [points.get_offsets()[:, 0].tolist() for points in display.ax_.collections]
    assert dots == [[2.67, 3.11], [5.33, 4.0, 4.11]]
    bars = thick_bars(display)
    assert_allclose([bar.get_xdata() for bar in bars], [[2.67, 3.11], [4.0, 5.33]], atol=0.06)
    # At the ends of the axis half of a dot would be cut off.
    assert not any(artist.get_clip_on() for artist in (*display.ax_.collections, *bars))


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
    # ECC to RAKEL, then SMBR to BR, then BR to MLKNN; NLDD to RAKEL is a part of the first.
    bars = [bar.get_xdata() for bar in thick_bars(display)]
    assert_allclose(bars, [[2.11, 4.11], [4.0, 5.33], [5.33, 6.67]], atol=0.06)
    both = CriticalDifferenceDisplay(PAPER, RANKS, [(2, 6)], critical_difference=9.5).plot()
    assert len({bar.get_color() for bar in thick_bars(both)}) == 2
    assert len({bar.get_ydata()[0] for bar in thick_bars(both)}) == 2
    assert "CD = 9.50, longer than the axis" in words(both)


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (0.5, []),
        (1.0, [(1.3, 2.3), (2.3, 3.3), (3.3, 4.0)]),  # 1.1 + 2.2 is 3.3000000000000003
        (2.0, [(1.3, 3.3), (2.3, 4.0)]),
        (9.0, [(1.3, 4.0)]),
    ],
)
def test_bars_of_the_ruler_are_as_long_as_they_can_be(distance, expected):
    ranks = [1.1 + 2.2, 1.3, 2.3, 4.0]
    bars = thick_bars(CriticalDifferenceDisplay("abcd", ranks, critical_difference=distance).plot())
    assert_allclose([tuple(bar.get_xdata()) for bar in bars] or [], expected, atol=0.03)


@pytest.mark.parametrize(
    ("n_methods", "distance"), [(2, 0.9), (12, None), pytest.param(20, 0.9, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", ["M{}", "$a_{{ classifier chains {}", "x" * 45 + "{}"], ids=len)
def test_words_never_overlap_and_names_are_no_formulas(n_methods, name, distance):
    ranks = np.linspace(1, n_methods, n_methods)
    ranks[: n_methods // 2] = ranks[: n_methods // 2].mean()  # ties
    cliques = [tuple(range(i, min(i + 3, n_methods))) for i in range(n_methods - 1)]
    names = [name.format(i) for i in range(n_methods)]
    display = CriticalDifferenceDisplay(names, ranks, cliques, "$x_{", distance).plot()
    assert_legible(display.figure_)


@pytest.mark.parametrize(
    ("methods", "ranks", "cliques", "distance", "message"),
    [
        (["a"], [1.0], [], None, "two or more methods"),
        (["a", "b"], [1.0], [], None, r"list of 2 .* shape \(1,\)"),
        (["a", "b"], "ab", [], None, "average_ranks"),
        (["a", "b"], [0.5, 2.0], [], None, "got 0.5 at position 0"),
        (["a", "b"], [np.nan, 2.0], [], None, "got nan at position 0"),
        (["a", "b"], [1.0, 2.0], [(0, 2)], None, r"got \[0, 2\]"),
        *((["a", "b"], [1.0, 2.0], [], distance, "above 0") for distance in (0, np.nan, np.inf)),
    ],
)
def test_impossible_diagrams_are_refused(methods, ranks, cliques, distance, message):
    with pytest.raises(InputError, match=message):
        CriticalDifferenceDisplay(methods, ranks, cliques, critical_difference=distance)


@pytest.mark.parametrize(("kind", "formula"), [("linear", "Dx + "), ("multiplicative", "Dx^")])
def test_pairs_display_draws_every_pair_and_lines_of_theta(small, kind, formula):
    model = NLDDClassifier(model=kind, random_state=0).fit(*small)
    axes = make_figure((7, 5)).subplots()
    display = PairsDisplay.from_estimator(model).plot(ax=axes)
    assert display.ax_ is axes
    points = axes.collections[0]
    assert len(points.get_offsets()) == len(model.pairs_)
    assert sorted(points.get_array()) == sorted(model.pairs_.errors)
    assert formula in axes.get_title()
    assert len(axes.collections) > 1
