"""Answers as numbers, against the formulas written out in loops."""

import math
import re

import numpy as np
import pytest

from coding.made_up import answers_of
from nldd.coding import features as features_module
from nldd.coding.answers import Answers
from nldd.coding.features import AnswerFeatures, Terms, count_terms
from nldd.exceptions import NLDDWarning


def word_terms(text):
    return re.findall(r"\w+", text.lower())


def letter_terms(text):
    found = []
    for word in text.lower().split():
        padded = f" {word} "
        for size in (2, 3):
            found += [padded[i : i + size] for i in range(max(1, len(padded) - size + 1))]
            if len(padded) <= size:
                break  # a short word counts once, not for each size
    return found


def naive_tfidf(train, texts, split):
    """Terms in order, and for each text (1 + ln tf) (1 + ln ((1 + n) / (1 + df))).

    A text of length l in these numbers gets the length sqrt(l / m), where m is the mean length of
    the texts that were learned from and have a term.
    """
    known = sorted({term for text in train for term in split(text)})
    df = {term: sum(term in split(text) for text in train) for term in known}

    def row(text):
        terms = split(text)
        return [
            (1 + math.log(terms.count(term))) * (1 + math.log((1 + len(train)) / (1 + df[term])))
            if term in terms
            else 0.0
            for term in known
        ]

    mean = np.mean([math.hypot(*row(text)) for text in train if any(row(text))])
    rows = [np.array(row(text)) / (math.sqrt(math.hypot(*row(text)) * mean) or 1) for text in texts]
    return known, np.array(rows).reshape(len(texts), len(known))


def fit_terms(texts, kind):
    return Terms.fit(getattr(count_terms(answers_of(texts)), kind), kind)


TEXTS = ["More buses, please! More BUSES", "a", "", "Stra\u00dfe \u0130stanbul na\u00efve"]
TEXTS += ["\u5730\u9435 \u592a\u8cb4", "bus\n\nstop 24/7 \U0001f68c\U0001f68c", "!!! ???", "   "]


@pytest.mark.parametrize(("kind", "split"), [("words", word_terms), ("letters", letter_terms)])
def test_texts_against_the_formula(kind, split):
    made = fit_terms(TEXTS, kind)
    new = [*TEXTS, "unheard-of things", "more bus stops", "\u592a"]
    known, expected = naive_tfidf(TEXTS, new, split)
    assert made.terms == known
    found = made.weigh(made.count(new)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    squares = (found[: len(TEXTS)] ** 2).sum(axis=1)
    assert squares[squares > 0].mean() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["words", "letters"])
def test_texts_without_terms(kind):
    empty = fit_terms(["", " ", ""], kind)
    assert empty.terms == []
    assert empty.weights.shape == (0,)
    assert empty.weigh(empty.count(["bus", ""])).shape == (2, 0)


def test_only_the_most_frequent_terms_are_kept(monkeypatch):
    monkeypatch.setitem(features_module.MOST_TERMS, "words", 2)
    assert fit_terms(["rent bus park", "bus park", "bus park"], "words").terms == ["bus", "park"]
    assert fit_terms(["rent rent rent", "park", "park bus"], "words").terms == ["park", "rent"]


def test_counted_answers_give_the_same_features():
    """Of a fold: terms that only the others have are unknown, and weights are its own."""
    texts = ["more buses", "", "buses late late", "greener parks", "rent", "the rent is late"]
    answers = answers_of(texts, np.arange(6.0)[:, np.newaxis], [(text[:1],) for text in texts])
    train, test = np.array([0, 1, 2, 4]), np.array([3, 5])
    counted, features = count_terms(answers), AnswerFeatures.fit(answers[train])
    from_counts = AnswerFeatures.fit(counted[train])
    assert from_counts.words.terms == features.words.terms == ["buses", "late", "more", "rent"]
    assert from_counts.letters.terms == features.letters.terms
    for rows in (train, test):
        expected = features.transform(answers[rows])
        assert (from_counts.transform(counted[rows]) != expected).nnz == 0
        assert (from_counts.transform(answers[rows]) != expected).nnz == 0


def test_numbers_are_standardised_and_missing_ones_flagged():
    numbers = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, np.nan]])
    made = AnswerFeatures.fit(answers_of(["", "", ""], numbers))
    assert made.centre.tolist() == [2, 5, 0]  # of the values that are there
    assert made.scale.tolist() == [1, 1, 1]  # 1, and 1 for no spread and for no value
    # Three values, then three flags; all of them have a quarter of the weight.
    expected = [[-1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 1]]
    assert (4 * made.transform(answers_of(["", "", ""], numbers)).toarray()).tolist() == expected
    new = np.array([[6.0, np.nan, 2.0]])
    assert (4 * made.transform(answers_of([""], new)).toarray()).tolist() == [[4, 0, 2, 0, 1, 0]]


def test_extra_features_weigh_as_much_as_a_text():
    extra = np.array([[1, 5, 7], [3, 5, 7], [2, 9, 7], [2, 1, 7]], dtype=np.float32)
    answers = Answers([""] * 4, np.full((4, 1), 2.0), [()] * 4, extra)
    made = AnswerFeatures.fit(answers)
    assert made.centre.tolist() == [2, 2, 5, 7]
    # Variances are 1/2, 8 and 0: by the root of their sum, one number for all columns.
    found = made.transform(answers).toarray()
    np.testing.assert_allclose(found[:, 1:4], (extra - [2, 5, 7]) / np.sqrt(8.5), rtol=1e-7)
    assert (found[:, 1:4] ** 2).sum(axis=1).mean() == pytest.approx(1)
    same = Answers([""] * 2, np.empty((2, 0)), [()] * 2, np.ones((2, 2), dtype=np.float32))
    assert AnswerFeatures.fit(same).transform(same).toarray().tolist() == [[0, 0], [0, 0]]


def test_numbers_beyond_single_precision_stay_finite():
    made = AnswerFeatures.fit(answers_of(["", ""], [[1.0], [2.0]]))
    found = made.transform(answers_of(["", ""], [[1e150], [-1e150]])).toarray()[:, 0]
    assert found.tolist() == [np.finfo(np.float32).max, np.finfo(np.float32).min]


def test_categories_are_columns_of_their_own():
    rows = [("south", "5"), ("north", ""), ("north", "10"), ("", "south")]
    made = AnswerFeatures.fit(answers_of([""] * 4, categories=rows))
    assert made.levels == (("north", "south"), ("10", "5", "south"))
    expected = [[0, 1, 0, 1, 0], [1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    found = made.transform(answers_of([""] * 4, categories=rows)).toarray()
    assert (4 * found).tolist() == expected
    new = [("east", "5"), ("5", "north"), ("", "")]  # known in the other column at most
    expected = [[0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    assert (4 * made.transform(answers_of([""] * 3, categories=new)).toarray()).tolist() == expected


def test_of_an_endless_answer_the_beginning_is_read(monkeypatch):
    monkeypatch.setattr(features_module, "MOST_CHARACTERS", 20)
    features = AnswerFeatures.fit(answers_of(["more buses", "cheaper rent", "rent and buses"]))
    long = "more buses and rent " + "cheaper " * 10
    said = "1 answer had more than 20 characters; only the first ones were read"
    with pytest.warns(NLDDWarning, match=said):
        found = features.transform(answers_of([long, "rent"]))
    assert (found != features.transform(answers_of([long[:20], "rent"]))).nnz == 0
    with pytest.warns(NLDDWarning, match=said):
        fitted = AnswerFeatures.fit(answers_of(["more buses", long]))
    assert "cheaper" not in fitted.words.terms
