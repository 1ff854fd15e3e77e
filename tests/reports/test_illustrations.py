"""The pictures that explain NLDD on the yeast data."""

import re

import numpy as np
import pytest

from displays.drawn import assert_legible
from nldd.reports._illustrations import LABELS, N_TRAIN, illustrations


@pytest.fixture(scope="module")
def pictures():
    return {picture.key: picture for picture in illustrations()}


def words(picture):
    return [text.get_text() for axes in picture.figure.axes for text in axes.texts]


def test_there_are_three_with_captions_and_words_for_who_cannot_see_them(pictures):
    assert list(pictures) == ["hypercube", "pair_choice", "pairs"]
    for picture in pictures.values():
        assert picture.caption.endswith(".")
        assert len(picture.alt) > 30
        figure = picture.on_page()
        assert (figure.key, figure.caption, figure.alt) == (
            *(picture.key, picture.caption, picture.alt),
        )
        assert f'id="{picture.key}-' in figure.svg


def test_cube_has_the_seven_labelsets_of_training_with_their_rows(pictures, yeast):
    Y = yeast.Y[:N_TRAIN, LABELS]
    labelsets, counts = np.unique(Y, axis=0, return_counts=True)
    assert len(labelsets) == 7
    shown = dict(
        re.findall(r"\((\d, \d, \d)\)\n(\d+) rows", "\n".join(words(pictures["hypercube"])))
    )
    assert {vertex: int(n) for vertex, n in shown.items()} == {
        ", ".join(map(str, labelset)): n
        for labelset, n in zip(labelsets.tolist(), counts.tolist(), strict=True)
    }
    assert "40 genes" in pictures["hypercube"].caption


def test_cube_chooses_a_labelset_and_says_so(pictures):
    chosen = [word for word in words(pictures["hypercube"]) if word.endswith("chosen")]
    assert len(chosen) == 1


def test_choice_has_half_of_the_training_rows(pictures):
    (axes,) = pictures["pair_choice"].figure.axes
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert f"{N_TRAIN // 2} rows of T1" in told
    assert axes.get_xlabel() == "Dx, distance in feature space"


def test_pairs_state_the_regression(pictures):
    title = pictures["pairs"].figure.axes[0].get_title()
    n_pairs, beta = re.fullmatch(
        r"(\d+) pairs\nlog-odds of a wrong label = (-\d.\d+) \+ 0.\d+ Dx \+ 1.\d+ Dy", title
    ).groups()
    assert N_TRAIN // 2 < int(n_pairs) <= N_TRAIN
    assert -6 < float(beta) < -3


@pytest.mark.parametrize("key", ["hypercube", "pair_choice"])
def test_words_are_legible(pictures, key):
    assert_legible(pictures[key].figure)
