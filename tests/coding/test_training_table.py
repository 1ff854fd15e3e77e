"""The table that a model learns from: its columns, its coded rows, and slips in it."""

import numpy as np
import pytest

from coding.made_up import write_csv
from nldd.coding.columns import CodeColumns, Columns, ColumnSpec, find_columns, match_columns
from nldd.coding.decisions import read_coded
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.exceptions import InputError

LISTED = CodeColumns(("codes",))


def test_features_are_told_apart_by_all_their_cells(tmp_path):
    rows = [["a", "bus", 30 + i, "N", i % 3, "", i] for i in range(50)]
    rows.append(["b", "", "NA", "S", 1, "", "late"])
    header = ["answer", "codes", "age", "region", "wave", "nothing", "seven"]
    path = write_csv(tmp_path / "a.csv", header, rows)
    features = ("seven", "age", "region", "nothing", "wave")
    request = ColumnSpec(("answer",), "codes", features=features, categorical=("wave",))
    columns = find_columns(read_table(path), request)
    assert columns.text == ("answer",)
    assert columns.numeric == ("age",)
    assert columns.categorical == ("seven", "region", "nothing", "wave")
    assert columns.inputs == ("answer", "age", "seven", "region", "nothing", "wave")
    assert columns.codes == CodeColumns(("codes",), ";", "")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ColumnSpec(("answer",)), "Name either"),
        (ColumnSpec(("answer",), "codes", "q1_*"), "Name either"),
        (ColumnSpec(("answr",), "codes"), "no column 'answr'"),
        (ColumnSpec(("answer",), "code"), "no column 'code'"),
        (ColumnSpec(("answer",), "codes", features=("ages",)), "no column 'ages'"),
        (ColumnSpec(("answer",), "codes", categorical=("ages",)), "no column 'ages'"),
        (ColumnSpec((), "codes"), "No column to code from"),
        (ColumnSpec(("answer", "answer"), "codes"), "'answer' is named twice"),
        (ColumnSpec(("answer",), "answer"), "'answer' is named twice"),
        (ColumnSpec(("answer",), "codes", features=("answer",)), "'answer' is named twice"),
        (ColumnSpec(("answer",), "codes", features=("age", "age")), "'age' is named twice"),
        (ColumnSpec(("answer",), "", "a*"), "'answer' is named twice"),
        (ColumnSpec(("answer",), "", "q9_*"), "No column matches 'q9_\\*'"),
    ],
)
def test_requests_that_make_no_sense(tmp_path, request_, message):
    path = write_csv(tmp_path / "a.csv", ["answer", "codes", "age"], [["a", "b", "1"]])
    with pytest.raises(InputError, match=message) as refused:
        find_columns(read_table(path), request_)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("q1_*", ("q1_bus", "q1_park")),
        ("q?_bus", ("q1_bus", "q2_bus")),
        ("q2_bus, q1_bus", ("q1_bus", "q2_bus")),
        ("q2_bus", ("q2_bus",)),
    ],
)
def test_columns_of_marks_by_pattern_or_name(pattern, expected):
    assert match_columns(pattern, ["id", "q1_bus", "q1_park", "Q1_bus", "q2_bus"]) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("code1,code2", ("code1", "code2")),
        ("code2, code1", ("code2", "code1")),
        ("code*", ("code1", "code2", "code10")),
        ("code10,code?", ("code10", "code1", "code2")),
        ("why, in short?", ("why, in short?",)),
        ("labels", ("labels",)),
    ],
)
def test_columns_that_hold_codes(tmp_path, labels, expected):
    header = ["answer", "code1", "code2", "nldd_code3", "code10", "why, in short?", "labels"]
    path = write_csv(tmp_path / "a.csv", header, [["a"] * len(header)])
    request = ColumnSpec(("answer",), labels, separators=("|", ","), none="-")
    assert find_columns(read_table(path), request).codes == CodeColumns(expected, "|", "-", (",",))


@pytest.mark.parametrize("labels", ["code1,code3", "c_*"])
def test_columns_of_codes_that_are_not_there(tmp_path, labels):
    path = write_csv(tmp_path / "a.csv", ["answer", "code1", "code2"], [["a", "b", "c"]])
    with pytest.raises(InputError, match=r"no column 'code3'|No column matches 'c_\*'") as refused:
        find_columns(read_table(path), ColumnSpec(("answer",), labels))
    assert "--labels" in refused.value.hint or "'code1'" in refused.value.hint


def test_marks_in_several_columns_are_no_codes(tmp_path):
    rows = [["a", "1", "0"], ["b", "0", ""], ["c", "1", "1"]]
    path = write_csv(tmp_path / "a.csv", ["answer", "q_bus", "q_park"], rows)
    codes = CodeColumns(("q_bus", "q_park"))
    with pytest.raises(InputError, match="'q_bus', 'q_park' hold nothing but '0', '1'") as refused:
        read_coded(path, Columns(("answer",), codes), TableOptions())
    assert refused.value.hint.startswith("--label-columns")


@pytest.mark.parametrize(("names", "told"), [(["q_a", "q_b"], ["q_new"]), (["a", "b"], [])])
def test_new_columns_that_begin_as_all_codes_do_are_told(tmp_path, names, told):
    path = write_csv(tmp_path / "a.csv", ["answer", *names, "q_new"], [["x", "1", "0", "1"]])
    columns = Columns(("answer",), CodeColumns(tuple(names), ""), identity=("answer",))
    _, found = read_coded(path, columns, TableOptions())
    assert [note.split(":")[0] for note in found.notes] == list(map(repr, told))


def test_numbers_as_codes_of_a_table_and_of_its_model(tmp_path):
    rows = [["a", "2.0", ""], ["b", "12", "3.0"], ["c", "2", "2.0"]]
    path = write_csv(tmp_path / "a.csv", ["answer", "c1", "c2"], rows)
    columns = Columns(("answer",), CodeColumns(("c1", "c2")))
    _, found = read_coded(path, columns, TableOptions())
    assert found.codes == [{"2"}, {"12", "3"}, {"2"}]
    assert found.notes == ["Numbers as codes: '2.0', '3.0' taken as '2', '3'."]
    _, found = read_coded(path, columns, TableOptions(), known=("02", "12", "3"))
    assert found.codes == [{"02"}, {"12", "3"}, {"02"}]


@pytest.mark.parametrize(
    ("first", "n_below", "is_told"),
    [("Number", 10, True), ("Number", 9, False), ("NA", 10, False), ("7", 10, False)],
)
def test_second_header_is_told(tmp_path, first, n_below, is_told):
    rows = [[first, "What?", "bus"], *([str(i), f"a{i}", "bus"] for i in range(n_below))]
    path = write_csv(tmp_path / "a.csv", ["id", "answer", "codes"], rows)
    columns = Columns(("answer",), LISTED)
    notes = read_coded(path, columns, TableOptions())[1].notes
    told = "Row 1 may be a second header: 'Number' stands in 'id'"
    assert [note.partition(", and")[0] for note in notes] == [told] * is_told
    skipped, _ = read_coded(path, columns, TableOptions(skip_rows=1))
    assert (len(skipped), skipped.texts[0], skipped.rows[0]) == (n_below, "a0", 1)


def test_coded_rows_of_a_table(tmp_path):
    rows = [["a", "bus", "1"], ["b", "", "x"], ["c", "bus;park", ""], ["d", " ", "2"]]
    rows.append(["e", "", ""])
    path = write_csv(tmp_path / "a.csv", ["answer", "codes", "age"], rows)
    # The word "x" stands in a row without codes, and does no harm.
    columns = Columns(("answer",), LISTED, numeric=("age",))
    answers, decisions = read_coded(path, columns, TableOptions())
    assert answers.texts == list("abcde")
    np.testing.assert_array_equal(answers.numbers[[0, 2]], [[1.0], [np.nan]])
    assert decisions.codes == [{"bus"}, None, {"bus", "park"}, None, None]
    assert decisions.notes == []
