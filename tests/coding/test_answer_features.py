"""Answers as numbers, against the formulas written out in loops."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest

from coding.made_up import answers_of
from nldd.coding import AnswerFeatures, _features as features_module
from nldd.coding._features import Terms
from nldd.exceptions import NLDDWarning


def word_terms(text):
    words = re.findall(r"\w+", text.lower())
    return words + [f"{a} {b}" for a, b in pairwise(words)]


def letter_terms(text):
    found = []
    for word in text.lower().split():
        padded = f" {word} "
        for size in (2, 3, 4):
            found += [padded[i : i + size] for i in range(max(1, len(padded) - size + 1))]
            if len(padded) <= size:
                break  # a short word counts once, not for each size
    return found


def naive_tfidf(train, texts, split):
    """Terms in order, and for each text (1 + ln tf) (1 + ln ((1 + n) / (1 + df))) of length 1."""
    known = sorted({term for text in train for term in split(text)})
    df = {term: sum(term in split(text) for text in train) for term in known}
    rows = []
    for text in texts:
        terms = split(text)
        row = [
            (1 + math.log(terms.count(term))) * (1 + math.log((1 + len(train)) / (1 + df[term])))
            if term in terms
            else 0.0
            for term in known
        ]
        length = math.sqrt(sum(value**2 for value in row))
        rows.append([value / length for value in row] if length else row)
    return known, np.array(rows).reshape(len(texts), len(known))


TEXTS = [
    "More buses, please! More BUSES",
    "a",
    "",
    "Stra\u00dfe \u0130stanbul na\u00efve",
    "\u5730\u9435 \u592a\u8cb4",
    "bus\n\nstop 24/7 \U0001f68c\U0001f68c",
    "!!! ???",
    "   ",
]


@pytest.mark.parametrize(("kind", "split"), [("words", word_terms), ("letters", letter_terms)])
def test_texts_against_the_formula(kind, split):
    made = Terms.fit(TEXTS, kind)
    new = [*TEXTS, "unheard-of things", "more bus stops", "\u592a"]
    known, expected = naive_tfidf(TEXTS, new, split)
    assert made.terms == known
    found = made.transform(new).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    lengths = np.sqrt((found**2).sum(axis=1))
    np.testing.assert_allclose(lengths, (lengths > 0).astype(float), atol=1e-12)


@pytest.mark.parametrize("kind", ["words", "letters"])
def test_texts_without_terms(kind):
    empty = Terms.fit(["", " ", ""], kind)
    assert empty.terms == []
    assert empty.weights.shape == (0,)
    assert empty.transform(["bus", ""]).shape == (2, 0)


def test_only_the_most_frequent_terms_are_kept(monkeypatch):
    monkeypatch.setitem(features_module.MOST_TERMS, "words", 2)
    words = Terms.fit(["bus park", "bus park rent", "bus park"], "words")
    assert len(words.terms) == 2
    assert set(words.terms) <= {"bus", "park", "bus park"}  # each three times
    assert Terms.fit(["bus bus bus", "park", "park rent"], "words").terms[0] == "bus"


def test_numbers_are_standardised_and_missing_ones_flagged():
    numbers = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, np.nan]])
    made = AnswerFeatures.fit(answers_of(["", "", ""], numbers))
    assert made.centre.tolist() == [2, 5, 0]  # of the values that are there
    assert made.scale.tolist() == [1, 1, 1]  # 1, and 1 for no spread and for no value
    # Three values, then three flags.
    expected = [[-1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 1]]
    assert made.transform(answers_of(["", "", ""], numbers)).toarray().tolist() == expected
    new = np.array([[6.0, np.nan, 2.0]])
    assert made.transform(answers_of([""], new)).toarray().tolist() == [[4, 0, 2, 0, 1, 0]]


def test_categories_are_columns_of_their_own():
    rows = [("south", "5"), ("north", ""), ("north", "10"), ("", "south")]
    made = AnswerFeatures.fit(answers_of([""] * 4, categories=rows))
    assert made.levels == (("north", "south"), ("10", "5", "south"))
    expected = [[0, 1, 0, 1, 0], [1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert made.transform(answers_of([""] * 4, categories=rows)).toarray().tolist() == expected
    new = [("east", "5"), ("5", "north"), ("", "")]  # known in the other column at most
    expected = [[0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    assert made.transform(answers_of([""] * 3, categories=new)).toarray().tolist() == expected


def test_all_parts_side_by_side():
    texts = ["more buses", "", "buses late"]
    numbers = [[1.0], [np.nan], [3.0]]
    categories = [("N",), ("S",), ("",)]
    answers = answers_of(texts, numbers, categories)
    X = AnswerFeatures.fit(answers).transform(answers).toarray()
    words = naive_tfidf(texts, texts, word_terms)[1]
    letters = naive_tfidf(texts, texts, letter_terms)[1]
    rest = [[-1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0]]
    np.testing.assert_allclose(X, np.hstack([words, letters, rest]), atol=1e-12)


def test_of_an_endless_answer_the_beginning_is_read(monkeypatch):
    monkeypatch.setattr(features_module, "MOST_CHARACTERS", 20)
    features = AnswerFeatures.fit(answers_of(["more buses", "cheaper rent", "rent and buses"]))
    long = "more buses and rent " + "cheaper " * 10
    said = "1 answer had more than 20 characters; only the first ones were read"
    with pytest.warns(NLDDWarning, match=said):
        found = features.transform(answers_of([long, "rent"]))
    expected = features.transform(answers_of([long[:20], "rent"]))
    assert (found != expected).nnz == 0
    with pytest.warns(NLDDWarning, match=said):
        fitted = AnswerFeatures.fit(answers_of(["more buses", long]))
    assert "cheaper" not in fitted.words.terms
