"""Bars of the Bayesian test: their widths, their words, and names of all kinds."""

import pytest
from numpy.testing import assert_allclose

from drawn import assert_legible
from nldd.bench.displays.posterior import PosteriorDisplay
from nldd.exceptions import InputError


def test_parts_of_a_bar_are_as_wide_as_the_probabilities():
    P = [[0.9, 0.08, 0.02], [0.1, 0.5, 0.4]]
    ax = PosteriorDisplay("NLDD", ["BR", "ECC"], P, "F-measure").plot().ax_
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    assert_allclose(list(zip(*widths, strict=True)), P)
    assert_allclose([bars[1].get_x() for bars in ax.containers], [0, 0.1, 0.6])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["BR", "ECC"]
    # No room for the number of 2 %.
    assert [text.get_text() for text in ax.texts] == ["90 %", "10 %", "8 %", "50 %", "40 %"]
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["better", "the same", "worse"]
    assert legend.get_title().get_text() == "Compared with these, NLDD is practically"


def test_words_never_overlap():
    names = ["BR", "Ensemble of classifier chains of many", "$x_{", "x" * 60]
    P = [[0.9, 0.1, 0], [0, 0, 1], [0.2, 0.3, 0.5], [0.07, 0.07, 0.86]]
    assert_legible(PosteriorDisplay("a $ name_1 " * 5, names, P, "$y_{").plot().figure_)


@pytest.mark.parametrize(
    ("methods", "P", "message"),
    [
        ([], [], "one method or more"),
        (["a"], [[0.5, 0.5]], r"got 1 and an array of shape \(1, 2\)"),
        (["a"], [[0.5, 0.5, 0.5]], "add up to 1"),
        (["a"], [[1.5, -0.5, 0]], "add up to 1"),
    ],
    ids=["none", "shape", "sum", "negative"],
)
def test_impossible_probabilities_are_refused(methods, P, message):
    with pytest.raises(InputError, match=message):
        PosteriorDisplay("NLDD", methods, P)
