"""Models of coded answers: what they learn, refuse, and become when answers join them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from coding.made_up import COLUMNS, SETTINGS, answers_of, assert_same, decided, fitted, made_up
from nldd.coding import model as model_module
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.features import AnswerFeatures
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import (
    GRID,
    Event,
    Settings,
    add_answers,
    choose_C,
    fit_coding_model,
    order_codes,
)
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(110, 0)
NEW, _ = made_up(30, 9)
MARKS = Columns(("answer",), CodeColumns(("rent", "bus", "never", "park"), ""))
EVENT = Event("fit", "2024-05-17T08:30:00Z", "a.csv", 64 * "a", 70, 0, 70, 3, 6, 0.9, 0.95)


@pytest.fixture(scope="module")
def model():
    return fitted(TEXTS[:70], CODES[:70])


def assert_equal_models(found, expected):
    assert found.labels == expected.labels
    assert found.answers.texts == expected.answers.texts
    np.testing.assert_array_equal(found.Y, expected.Y)
    assert_same(found.evidence, expected.evidence)
    new = answers_of(NEW)
    assert_same(found.code(new), expected.code(new))


def test_fit_is_repeatable_whatever_the_number_of_threads(model):
    assert_equal_models(fitted(TEXTS[:70], CODES[:70], settings=replace(SETTINGS, n_jobs=2)), model)


@pytest.mark.parametrize(
    ("noise", "lowest", "highest"), [(0.0, 30, 100), (0.3, 3, 10), (1.0, 1, 1)]
)
def test_c_is_the_smallest_of_a_low_brier_score(noise, lowest, highest, monkeypatch):
    """Of 100 answers, of which some have the codes of others; 10 of them are not looked at."""
    monkeypatch.setattr(model_module, "MOST_TO_CHOOSE", 90)
    answers, rng = answers_of(TEXTS[:100]), np.random.default_rng(1)
    X = AnswerFeatures.fit(answers).transform(answers)
    Y = np.array([[name in codes for name in ("bus", "park", "rent")] for codes in CODES[:100]])
    some = rng.random(100) < noise
    Y[some] = rng.permutation(Y[some])
    order = np.random.default_rng(SETTINGS.random_state).permutation(100)[:90]
    scores = []
    for C in GRID:
        base = OneVsRestClassifier(LogisticRegression(C=C, tol=1e-8, max_iter=1000))
        parts = [(order[::2], order[1::2]), (order[1::2], order[::2])]
        found = [(base.fit(X[a], Y[a]).predict_proba(X[b]), Y[b]) for a, b in parts]
        scores.append(sum(((P - truth) ** 2).sum() for P, truth in found))
    chosen = choose_C(X, Y.astype(np.int8), np.arange(100), SETTINGS)
    assert chosen == GRID[int(np.argmax(np.array(scores) <= 1.02 * min(scores)))]
    assert lowest <= chosen <= highest


def test_answers_that_join_give_the_model_of_all_answers(model):
    first = replace(model, history=(EVENT,))
    joined = add_answers(first, answers_of(TEXTS[70:]), decided(CODES[70:]))
    assert_equal_models(joined, fitted(TEXTS, CODES))
    assert joined.history == (EVENT,)
    assert len(model.answers) == 70  # the old one is as it was


def test_new_codes_and_no_code_may_join(model):
    texts = 6 * ["the noise at night is awful"] + 4 * ["dunno"]
    codes = 6 * [{"noise"}] + 4 * [set()]
    joined = add_answers(model, answers_of(texts), decided(codes))
    assert joined.labels == ("bus", "noise", "park", "rent")
    assert [set(names) for names in joined.codes(joined.Y)] == [*CODES[:70], *codes]
    assert joined.codes(joined.code(answers_of(["awful noise", "dunno"])).Y) == [("noise",), ()]


def test_marks_keep_the_order_of_their_columns():
    model = fitted(TEXTS[:70], CODES[:70], MARKS)
    assert model.labels == ("rent", "bus", "never", "park")
    assert model.Y[:, 2].sum() == 0
    assert model.code(answers_of(["more buses, clean park"])).Y.tolist() == [[0, 1, 0, 1]]
    assert add_answers(model, answers_of(["x"]), decided([set()])).labels == model.labels


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([{"10", "9"}, {"2", "b"}, set()], ("2", "9", "10", "b")),
        ([{"q2_b", "q10_a"}, {"q2_a"}], ("q2_a", "q2_b", "q10_a")),
        ([{"a1", "a"}, {"A", "01", "1"}], ("01", "1", "A", "a", "a1")),
        ([{"10.5", "9.75", "\u00e9", "z"}], ("9.75", "10.5", "z", "\u00e9")),
    ],
)
def test_order_of_codes(codes, expected):
    assert order_codes(codes, COLUMNS) == expected


def test_labelset_of_a_single_answer():
    """One fold then trains on a single labelset, and half of the others may."""
    codes = [{"a"}] * 19 + [{"b"}]
    model = fitted(TEXTS[:20], codes)
    assert model.evidence.right(model.Y)[19] == 0
    assert model.select(GuaranteeTarget(0.9)).threshold is None


def test_models_without_text_learn_from_features():
    columns = Columns((), CodeColumns(("codes",)), ("age",), ("region",))
    rng = np.random.default_rng(0)
    ages, north = rng.integers(18, 90, 80), rng.random(80) < 0.5
    numbers = np.where(rng.random(80) < 0.1, np.nan, ages)[:, np.newaxis]
    categories = [("north" if n else "south",) for n in north]
    each = zip(ages, north, strict=True)
    pairs = [(("old", age > 50), ("cold", n)) for age, n in each]
    codes = [{name for name, has in pair if has} for pair in pairs]
    model = fit_coding_model(answers_of([""] * 80, numbers, categories), codes, columns, SETTINGS)
    assert model.evidence.right(model.Y).mean() > 0.8
    new = answers_of([""] * 3, [[20.0], [85.0], [85.0]], [("south",), ("north",), ("nowhere",)])
    found = model.codes(model.code(new).Y)
    assert found[:2] == [(), ("cold", "old")]
    assert "old" in found[2]


@pytest.mark.parametrize("n_folds", [1, 0, -2])
def test_too_few_folds_are_refused(n_folds):
    with pytest.raises(InputError, match="folds"):
        fitted(TEXTS[:20], CODES[:20], settings=Settings(n_folds=n_folds))


def test_infinite_numbers_are_refused():
    columns = Columns(("answer",), CodeColumns(("codes",)), ("age",))
    answers = answers_of(TEXTS[:20], [[np.inf], *[[30.0]] * 19])
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match="infinite"):
        fit_coding_model(answers, CODES[:20], columns, SETTINGS)
