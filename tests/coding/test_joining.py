"""What may join a model: lists by another separator, new codes, rows that say nothing."""

from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import answers_of
from nldd.coding.answers import Decisions, drop_blank_answers
from nldd.coding.code_slips import agree_on_lists, check_new_codes
from nldd.coding.columns import CodeColumns, Columns
from nldd.exceptions import InputError

COLUMNS = Columns(("answer",), CodeColumns(("codes",)))


def coded(codes, texts=None, **features):
    """Answers and decisions of a table; the first answer stands in its second row."""
    n = len(codes)
    answers = answers_of(texts or [f"answer {i}" for i in range(n)], **features)
    answers = replace(answers, rows=[*range(2, n + 2)])
    return answers, Decisions(list(map(frozenset, codes)), source="t.csv")


MIXED = coded([{"bus"}, {"park"}, {"bus,park"}, {"bus", "park"}, {"park/bus"}])


def test_codes_that_look_like_lists_are_refused_with_all_their_rows():
    with pytest.raises(InputError, match=r"row 4: 'bus,park'.*\n.*row 6: 'park/bus'") as refused:
        agree_on_lists(MIXED, COLUMNS)
    assert refused.value.hint.startswith('--sep ";" --sep "," --sep "/"; or --as-written')


def test_a_person_may_agree_to_separators():
    questions = []
    found = agree_on_lists(MIXED, COLUMNS, lambda text: not questions.append(text))
    assert found.codes.separators == (";", ",", "/")
    assert questions[0].endswith("Does ',' or '/' separate codes, as ';' does?")
    with pytest.raises(InputError):
        agree_on_lists(MIXED, COLUMNS, lambda text: False)
    assert agree_on_lists(coded([{"bus"}, {"a/b"}]), COLUMNS) == COLUMNS


NEW = coded([{"bus"}, {"bus,park"}, {"tram"}, {"Park", "rent"}, {"rents"}])
LABELS = ("bus", "park", "rent")


def test_all_slips_of_a_file_are_refused_at_once():
    # What a person could answer does not help, as long as others must be corrected anyway.
    with pytest.raises(InputError) as refused:
        check_new_codes(NEW, LABELS, COLUMNS.codes, ask=lambda text: 1 / 0)
    rows = [line.split(": meant")[0] for line in str(refused.value).splitlines()[1:]]
    assert rows == ["  row 3: 'bus,park'", "  row 5: 'Park'", "  row 6: 'rents'"]
    assert '--sep ";" --sep ","' in refused.value.hint and "--new-codes" in refused.value.hint


def test_new_codes_that_are_allowed_are_told():
    found = check_new_codes(NEW, LABELS, COLUMNS.codes, allowed=True)
    assert found.codes == NEW[1].codes
    assert found.notes == ["New codes: 'Park', 'bus,park', 'rents', 'tram'."]


def test_lists_that_a_person_agrees_to_are_known_codes():
    table = coded([{"bus,park"}, {"food/drink"}, {"rent", "park|Bus"}])
    found = check_new_codes(table, LABELS, COLUMNS.codes, ask=lambda text: True)
    assert found.codes == [{"bus", "park"}, {"food/drink"}, {"rent", "park", "bus"}]
    assert found.notes == ["New codes: 'food/drink'."]
    with pytest.raises(InputError, match="does not know these codes"):
        check_new_codes(table, LABELS, COLUMNS.codes, ask=lambda text: False)


def test_rows_without_text_and_with_any_codes_are_left_out():
    table = coded([{"bus"}, {"park"}, {"rent"}, {"bus"}], ["late", " ", "high", "\n"])
    answers, found = drop_blank_answers(table, COLUMNS)
    assert (answers.texts, found.codes) == (["late", "high"], [{"bus"}, {"rent"}])
    assert answers.rows == [2, 4]
    assert found.notes[0].startswith("2 of 4 coded rows without text: left out")


@pytest.mark.parametrize(
    ("n_same", "n_other", "kept"), [(4, 0, False), (5, 0, True), (9, 1, True), (8, 1, False)]
)
def test_rows_without_text_teach_a_code_that_nearly_all_have(n_same, n_other, kept):
    codes = [{"bus"}] * 3 + [{"no answer"}] * n_same + [{"bus"}] * n_other
    _, found = drop_blank_answers(coded(codes, ["late"] * 3 + [""] * (n_same + n_other)), COLUMNS)
    assert len(found.codes) == (len(codes) if kept else 3)
    assert ("learned, as nearly all are coded 'no answer';" in found.notes[0]) == kept
    # Those of an update count with those that the model has.
    few = coded([{"a"}, {"no answer"}], ["x", ""])
    _, early = drop_blank_answers(few, COLUMNS, map(frozenset, codes[3:]))
    assert len(early.codes) == (2 if n_same + 1 >= max(5, 0.9 * (n_same + n_other + 1)) else 1)


def test_rows_without_text_are_learned_from_their_features():
    columns = Columns(("answer",), CodeColumns(("codes",)), ("age",), ("region",))
    features = {"numbers": [[1.0], [2.0], [np.nan], [np.nan]]}
    features["categories"] = [("N",), ("",), ("S",), ("",)]
    table = coded([{"a"}, {"b"}, {"a"}, {"b"}], ["x", "", "", ""], **features)
    answers, found = drop_blank_answers(table, columns)
    assert answers.rows == [2, 3, 4]
    assert found.notes[0] == "2 of 4 coded rows without text: learned from their other columns."
    assert found.notes[1].startswith("1 of 4 coded rows without text: left out")
    only_numbers = Columns((), CodeColumns(("codes",)), ("age",), ("region",))
    assert drop_blank_answers(table, only_numbers)[1].notes == []


@pytest.mark.parametrize(("texts", "n", "fewest"), [(["", ""], 0, 1), (["x", ""], 1, 10)])
def test_too_few_rows_with_text_are_refused(texts, n, fewest):
    said = f"t.csv: {n} of 2 coded rows have text; expected {fewest} or more"
    with pytest.raises(InputError, match=said) as refused:
        drop_blank_answers(coded([{"a"}, {"b"}], texts), COLUMNS, fewest=fewest)
    assert "'answer'" in refused.value.hint
