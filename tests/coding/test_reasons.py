"""Reasons to leave an answer to people: the first that applies, with the codes that it is about."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from coding.made_up import answers_of, fitted, made_up
from nldd.coding import predictions
from nldd.coding.predictions import Predictions, Reasons, log_odds

LABELS = ("bus", "park", "rent", "taxi")
# Labelsets of forty coded answers: taxi was given twice, bus with park once.
SEEN = [[1, 0, 0, 0]] * 14 + [[0, 1, 0, 0]] * 14 + [[0, 0, 1, 0]] * 9
SEEN += [[0, 0, 0, 1]] * 2 + [[1, 1, 0, 0]]


@pytest.fixture
def model():
    labelsets, counts = np.unique(SEEN, axis=0, return_counts=True)
    classifier = SimpleNamespace(labelsets_=labelsets, index_=SimpleNamespace(counts=counts))
    return SimpleNamespace(
        Y=np.array(SEEN, dtype=np.int8),
        labels=LABELS,
        shown=LABELS,
        classifier=classifier,
        evidence=SimpleNamespace(Dx=np.linspace(0, 1, 101)),
        features=SimpleNamespace(words=SimpleNamespace(terms=["a", "b"])),
        columns=SimpleNamespace(text=("answer",)),
    )


def reason(model, Y, other, P, Dx=0.5, words=1):
    zeros, ahead = np.zeros(1), np.subtract(Y, other) * log_odds(P)
    found = Predictions(
        *(np.array([Y], dtype=np.int8), zeros, zeros, zeros, np.array([Dx])),
        P=np.array([P], dtype=np.float32),
        ahead=ahead[np.newaxis],
        others=np.array([[other]], dtype=np.int8),
    )
    return Reasons(model).find(found, csr_array(np.array([[words, 0, 3.0]])), np.arange(1))[0]


BUS, PARK, RENT, TAXI = np.eye(4, dtype=int).tolist()
CASES = {
    # Nothing of the answer is known; the letters, which come behind the words, do not count.
    "no word": ((BUS, PARK, [0.9, 0, 0, 0], 0.5, 0), "FAR", "none of its words is in one"),
    # Farther than 95 of 100 coded answers from theirs.
    "far": ((BUS, PARK, [0.9, 0, 0, 0], 0.96), "FAR", "the nearest is far away"),
    "conflict": ((BUS, RENT, [0.7, 0.1, 0.6, 0]), "CONFLICT", "'bus' and 'rent'"),
    "rare code": ((TAXI, BUS, [0.1, 0, 0, 0.9]), "RARE", "'taxi' was given only 2 times"),
    "rare pair": (([1, 1, 0, 0], BUS, [0.9, 0.8, 0, 0]), "RARE", "'bus' and 'park'"),
    # Odds of 0.5 : 0.5 for the one and of 0.6 : 0.4 for the other.
    "close": ((BUS, PARK, [0.45, 0.4, 0, 0]), "CLOSE", "either 'bus' or 'park'"),
    # 0.45 against 0.55 is within 1 : 2.
    "with or without": ((BUS, [1, 1, 0, 0], [0.95, 0.45, 0, 0]), "CLOSE", "with 'park' or without"),
    # 0.3 : 0.7 against 0.1 : 0.9 are odds of nearly 4.
    "no code": ((BUS, PARK, [0.3, 0.1, 0, 0]), "NO_CODE", "'bus' (30 % likely)"),
    "no candidate": ((BUS, PARK, [0.05, 0.05, 0, 0]), "NO_CODE", "'bus' (5 % likely)"),
    "unsure": ((BUS, PARK, [0.7, 0.1, 0, 0]), "UNSURE", "'bus' (70 % likely)"),
    "further": ((BUS, PARK, [0.95, 0.2, 0, 0]), "FURTHER", "'park' (20 % likely)"),
    "nearly": ((BUS, PARK, [0.95, 0.1, 0, 0]), "NEARLY", "likely right"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_first_reason_that_applies_is_told(model, name):
    arguments, kind, value = CASES[name]
    found = reason(model, *arguments)
    assert found.kind == getattr(predictions, kind)
    assert value in found.words
    assert found.words[0] not in "'\"=+-@"


def test_reasons_of_a_model_name_its_own_codes():
    """On answers that differ, no reason takes nearly all."""
    texts, codes = made_up(90, 0)
    model = fitted(texts, codes)
    new = ["zzz qqq", "more buses, greener parks, cheaper rent", "the park or the bus, who knows"]
    X = model.features.transform(answers_of(new))
    found = Reasons(model).find(model.code(answers_of(new), X), X, np.arange(3))
    assert found[0].kind == predictions.FAR
    assert len({reason.kind for reason in found}) == 3
