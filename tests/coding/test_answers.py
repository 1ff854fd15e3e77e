"""What the columns of a table mean, and what its cells say."""

import numpy as np
import pytest
from openpyxl import Workbook

from coding.made_up import write_csv
from nldd.coding.answers import Answers
from nldd.coding.columns import CodeColumns, CodeFormat, Columns
from nldd.coding.rows import read_answers
from nldd.coding.tables.reading import read_table
from nldd.exceptions import InputError

LISTED = CodeColumns(("codes",))


def codes_of(path, codes):
    return codes.read(read_table(path))


def answers_in(path, columns):
    return read_answers(read_table(path), columns)


def write_xlsx(path, header, rows):
    book = Workbook()
    for row in (header, *rows):
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *(("bus", {"bus"}), ("bus;park", {"bus", "park"}), (" bus ;\tpark\u00a0", {"bus", "park"})),
        *((";;bus;; ;", {"bus"}), ("bus;bus; bus", {"bus"}), ("Bus;bus", {"Bus", "bus"})),
        ("public transport;\U0001f6b2", {"public transport", "\U0001f6b2"}),
        ("a,b|c", {"a,b|c"}),
        *(("-", {"-"}), ("", None), ("   ", None), (" ; ;;", None), ("NA", None), ("[]", None)),
        ('["bus", " park ", 3, ""]', {"bus", "park", "3"}),
        ("['bus', 'my \"park\"']", {"bus", 'my "park"'}),
        ("[3.0, 12]", {"3", "12"}),
        ("[bus, park]", {"[bus, park]"}),
        ("[bus];park", {"[bus]", "park"}),
        ("bus\npark", {"bus", "park"}),
        ("bus\r\npark;rent", {"bus", "park", "rent"}),
        ("bus_x000D_\npark_x000D_", {"bus", "park"}),
        *(("#REF!", None), ("#Value!", None)),
        ('[["bus"]]', {'[["bus"]]'}),
    ],
)
def test_codes_of_a_list(cell, expected):
    assert LISTED.split(cell) == expected


@pytest.mark.parametrize("separator", [";", ",", "|", " and "])
def test_codes_survive_being_written(separator):
    codes = CodeColumns(("codes",), separator, "-")
    for names in (("bus",), ("bus", "park"), ("10", "2", "public transport"), ()):
        assert codes.split(codes.join(names)) == set(names)


def test_several_separators_and_the_mark_for_no_code_within_a_list():
    codes = CodeColumns(("codes",), ";", "-", (",", " and "))
    assert codes.split("bus, park;rent and tram") == {"bus", "park", "rent", "tram"}
    assert codes.split("bus;-") == {"bus"}
    assert codes.split("-\n-") == set()
    assert codes.join(["bus", "park"]) == "bus;park"


def test_a_file_may_list_codes_in_its_own_way():
    codes = CodeColumns(("codes",), ";", "-", (",",))
    assert codes.listed_as(CodeFormat()) == codes
    assert codes.listed_as(CodeFormat(("|", "/"))) == CodeColumns(("codes",), "|", "-", ("/",))
    assert codes.listed_as(CodeFormat((), "none")) == CodeColumns(("codes",), ";", "none", (",",))
    with pytest.raises(InputError, match="columns of 0 and 1") as refused:
        CodeColumns(("bus", "park"), "").listed_as(CodeFormat((",",)))
    assert refused.value.hint == "leave out --sep and --no-code"


SEVERAL = CodeColumns(("c1", "c2", "c3"), ";", "-")


def test_codes_of_several_columns(tmp_path):
    rows = [
        ["a", "bus", "park", ""],
        ["b", "", "", " bus"],
        ["c", "bus;park", "", "rent\nbus"],  # the same code twice counts once
        ["d", "", " ", "NA"],
        ["e", "", "-", ""],
        ["f", "-", "bus", ""],
    ]
    path = write_csv(tmp_path / "a.csv", ["answer", "c1", "c2", "c3"], rows)
    expected = [{"bus", "park"}, {"bus"}, {"bus", "park", "rent"}, None, set(), {"bus"}]
    assert codes_of(path, SEVERAL) == expected
    numbers = [["x", 3.0, "3", 12], ["y", None, None, 12.0]]
    path = write_xlsx(tmp_path / "a.xlsx", ["answer", "c1", "c2", "c3"], numbers)
    assert codes_of(path, SEVERAL) == [{"3", "12"}, {"12"}]


@pytest.mark.parametrize(
    ("codes", "cells"),
    [
        ((), ["-", "", ""]),
        (("a",), ["a", "", ""]),
        (("a", "b", "c"), ["a", "b", "c"]),
        (("a", "b", "c", "d"), ["a", "b", "c;d"]),
    ],
)
def test_codes_spread_over_several_columns_and_are_read_again(codes, cells):
    assert SEVERAL.spread(SEVERAL.join(codes)) == cells
    assert SEVERAL.gather(cells) == set(codes)
    assert LISTED.spread(LISTED.join(codes)) == [";".join(codes)]
    assert SEVERAL.spread("") == ["", "", ""]


def test_numbers_of_a_workbook_are_codes_without_a_fraction(tmp_path):
    rows = [["x", 3], ["y", 3.0], ["z", "3;12"], ["v", 2.5], ["w", None], ["u", 0]]
    path = write_xlsx(tmp_path / "a.xlsx", ["answer", "codes"], rows)
    assert codes_of(path, LISTED) == [{"3"}, {"3"}, {"3", "12"}, {"2.5"}, None, {"0"}]


YES = ["1", "x", "X", " yes ", "Y", "TRUE", "t", "ja", "oui", "si", "s\u00ed"]
NO = ["0", "no", "N", "False", "f", "nein", "non"]


def test_marked_codes(tmp_path):
    marks = CodeColumns(("bus", "park"), "")
    rows = [["a", mark, "0"] for mark in YES] + [["b", mark, "x"] for mark in NO]
    rows += [["c", "1", ""], ["d", "", "1"], ["e", "", "0"], ["f", "", " "], ["g", "1", "1"]]
    path = write_csv(tmp_path / "a.csv", ["answer", "bus", "park"], rows)
    expected = [{"bus"}] * len(YES) + [{"park"}] * len(NO)
    expected += [{"bus"}, {"park"}, set(), None, {"bus", "park"}]
    assert codes_of(path, marks) == expected


@pytest.mark.parametrize("mark", ["2", "maybe", "0.5", "01"])
def test_other_marks_are_refused_with_their_place(tmp_path, mark):
    rows = [["a", "1", "0"], ["b", "", ""], ["c", "1", mark]]
    path = write_csv(tmp_path / "a.csv", ["answer", "bus", "park"], rows)
    with pytest.raises(InputError, match=f"a.csv, row 3, column 'park': .* {mark!r}") as refused:
        codes_of(path, CodeColumns(("bus", "park"), ""))
    assert "--labels" in refused.value.hint


def test_text_of_several_columns_stands_on_lines(tmp_path):
    rows = [["good", "1", "cheap"], ["", "2", "far"], ["fine", "3", ""], ["", "4", ""]]
    path = write_csv(tmp_path / "a.csv", ["first", "id", "second"], rows)
    found = answers_in(path, Columns(("second", "first"), LISTED))
    assert found.texts == ["cheap\ngood", "far\n", "\nfine", "\n"]
    assert found.numbers.shape == (4, 0)
    assert found.categories == [()] * 4


def test_numbers_and_missing_ones(tmp_path):
    cells = ["7", " 7.5", "-1e3", "1,5", "1 234", "", "NA", "?", "-", "n/a"]
    path = write_csv(tmp_path / "a.csv", ["id", "age"], [["i", cell] for cell in cells])
    found = answers_in(path, Columns((), LISTED, numeric=("age",)))
    expected = [7, 7.5, -1000, 1.5, 1234] + 5 * [np.nan]
    np.testing.assert_array_equal(found.numbers[:, 0], expected)
    assert found.texts == [""] * 10


def test_word_in_a_numeric_column_is_refused_with_its_place(tmp_path):
    path = write_csv(tmp_path / "a.csv", ["answer", "age"], [["a", "3"], ["b", "old"]])
    with pytest.raises(InputError, match=r"a.csv, row 2, column 'age': .* 'old'") as refused:
        answers_in(path, Columns(("answer",), LISTED, numeric=("age",)))
    huge = write_csv(tmp_path / "b.csv", ["answer", "age"], [["a", "1e200"]])
    with pytest.raises(InputError, match="'1e200'"):
        answers_in(huge, Columns(("answer",), LISTED, numeric=("age",)))
    assert refused.value.hint.endswith("--categorical 'age'")


def test_categories_are_trimmed_text_of_any_cell(tmp_path):
    rows = [["a", 5, " N "], ["b", 5.0, None], ["c", "5", "n"], ["d", True, 1.25]]
    path = write_xlsx(tmp_path / "a.xlsx", ["answer", "wave", "region"], rows)
    found = answers_in(path, Columns(("answer",), LISTED, categorical=("region", "wave")))
    assert found.categories == [("N", "5"), ("", "5"), ("n", "5"), ("1.25", "TRUE")]


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["id", "answers", "age"], "rename the column 'answers' to 'answer' in the file"),
        (["id", "Answer ", "age"], "rename the column 'Answer' to 'answer' in the file"),
        (["id", "Ort", "age"], "rename the right column to 'answer' in the file, or use another"),
        (["id", "nldd_answer", "age"], "another file; this one also has 'id'"),
        (["id", "answer2", "age"], "another file; this one also has 'id'"),
        (["'+answer", "age"], "add the column 'answer' to the file, or use another file"),
    ],
    ids=["near", "letters", "far", "of nldd", "used", "guarded"],
)
def test_column_of_a_model_that_a_table_lacks(tmp_path, names, hint):
    path = write_csv(tmp_path / "a.csv", names, [["1"] * len(names)])
    columns = Columns(("answer",), LISTED, numeric=("age",), categorical=("answer2", "+answer"))
    with pytest.raises(InputError, match=r"a\.csv has no column 'answer'\.") as refused:
        answers_in(path, columns)
    assert hint in refused.value.hint
    assert "Did you mean" not in refused.value.hint


def test_texts_alone_are_answers_without_features():
    answers = Answers(["more buses", "a raise"])
    assert answers.numbers.shape == answers.extra.shape == (2, 0)
    assert answers.categories == [(), ()]
    joined = Answers.join([answers, answers[np.array([1])]])
    assert joined.texts == ["more buses", "a raise", "a raise"]
    assert joined.contents()[1] == joined.contents()[2]
