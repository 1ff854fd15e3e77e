"""Files of SPSS, Stata and SAS: what coders see, and that nothing is lost on the way out."""

import datetime
import sys

import pytest
from table_files import FILES, hint_of, load, save

from nldd.coding.tables.reading import read_table
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError, MissingExtraError, NLDDWarning

pandas = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

DAY, MOMENT = datetime.date(2020, 1, 2), datetime.datetime(1999, 12, 31, 23, 59, 30, 500_000)
COLUMNS = {
    "id": [1.0, 2.0, 3.5],
    "reason": [1.0, 99.0, None],
    "again": [2.0, 3.0, 150.0],
    "q1_price": [2.0, 1.0, None],
    "question1_quality": [1.0, 1.0, 2.0],
    "answer": ["good  ", "größe", ""],
    "day": [DAY, None, DAY],
    "moment": [13_166_063_970.5, None, None],
    "time": [datetime.time(1, 2, 3), None, None],
    "long": ["x" * 300, "y" * 32_767, "z"],
    "grade": ["a", "b", "zz"],
}


def spss_file(folder, name="answers.sav"):
    """A file of which each variable has something that must not get lost."""
    path = folder / name
    pyreadstat.write_sav(
        pandas.DataFrame(COLUMNS),
        str(path),
        file_label="Wave 2",
        note=["seen by é"],
        column_labels={"reason": "Why?", "answer": "Große Frage"},
        variable_value_labels={
            "reason": {1: "Price", 2: "Price", 99: "refused"},
            "again": {2: "Price", 3: "Quality"},
            "q1_price": {1: "no", 2: "yes"},
            "grade": {"a": "Best"},
        },
        missing_ranges={"reason": [99], "again": [{"lo": 100, "hi": 200}, 9], "grade": ["zz"]},
        variable_measure={"reason": "nominal", "id": "scale", "grade": "ordinal"},
        variable_format={"id": "F5.1", "time": "TIME5", "moment": "DATETIME20"},
    )
    return path


def told(path):
    """All that pyreadstat finds in a file: values as they are stored, and what is said of them."""
    read = {".sav": "read_sav", ".dta": "read_dta", ".xpt": "read_xport"}[path.suffix]
    how = {} if path.suffix == ".xpt" else {"user_missing": True}
    values, found = getattr(pyreadstat, read)(
        str(path), output_format="dict", disable_datetime_conversion=True, **how
    )
    return dict(values), found


def copy(source, target, added=(), cells=(), **how):
    """Read a file and write it again, with more columns."""
    table = read_table(source)
    frame = table.frame.assign(**dict(zip(added, cells, strict=True)))
    write_table(target, frame, header=(*table.header, *added), like=table.format, **how)
    return target


def test_labels_dates_and_missing_values_are_read_as_coders_know_them(tmp_path):
    loaded = load(spss_file(tmp_path))
    assert loaded.header == tuple(COLUMNS)
    time = datetime.time(1, 2, 3)
    assert loaded.rows == [
        (1, "Price", "Price", "yes", 1, "good", DAY, MOMENT, time, "x" * 300, "Best"),
        (2, "", "Quality", "no", 1, "größe", None, None, None, "y" * 32_767, "b"),
        (3.5, None, "", None, 2, "", DAY, None, None, "z", ""),
    ]
    assert [type(row[0]) for row in loaded.rows] == [int, int, float]
    assert [row[1].value for row in loaded.rows[:2]] == [1, 99]


def test_a_response_set_has_marks_of_its_counted_value():
    table = read_table(FILES / "response_set.sav")
    found = table.format.variables.response_set("$WHY")
    assert found["is_dichotomy"]
    assert found["variable_list"] == [f"why_{k}" for k in range(1, 6)]
    assert {*table.cells("why_1")} == {"0", "1"}
    assert table.format.variables.response_set("reason") is None


def test_an_spss_file_comes_back_with_all_that_it_said(tmp_path):
    source = spss_file(tmp_path)
    added = ("nldd_codes", "nldd_theta", "nldd_n")
    words = {"nldd_codes": "Codes by nldd"}
    target = copy(source, tmp_path / "out.sav", added, ("a;b", 0.25, 3), descriptions=words)
    (old, before), (new, after) = told(source), told(target)
    assert list(new) == [*old, *added]
    assert {name: new[name] for name in old} == old
    assert (new["nldd_codes"], new["nldd_theta"]) == (["a;b"] * 3, [0.25] * 3)
    for what in ("file_label", "notes", "missing_ranges", "variable_value_labels"):
        assert getattr(after, what) == getattr(before, what), what
    each = ("column_names_to_labels", "original_variable_types", "readstat_variable_types")
    each += ("variable_storage_width", "variable_measure")
    for what in each:
        found = getattr(after, what)
        assert {name: found[name] for name in old} == getattr(before, what), what
    assert after.column_names_to_labels["nldd_codes"] == "Codes by nldd"
    assert [after.original_variable_types[name] for name in added] == ["A3", "F10.6", "F8.0"]


def test_a_stata_file_keeps_its_kinds_of_missing_values(tmp_path):
    source = tmp_path / "answers.dta"
    frame = pandas.DataFrame({"q": pandas.Series([1, "a", None], dtype=object), "n": [0.5, 2, 3]})
    pyreadstat.write_dta(
        frame.assign(day=[DAY] * 3, text="ä" * 3000, whole=[7, 8, 9]),
        str(source),
        column_labels={"q": "Why?"},
        variable_value_labels={"q": {1: "Price", "a": "refused"}},
        missing_user_values={"q": ["a"]},
        version=14,
    )
    loaded = load(source)
    assert loaded.rows == [
        ("Price", 0.5, DAY, "ä" * 3000, 7),
        ("", 2, DAY, "ä" * 3000, 8),
        (None, 3, DAY, "ä" * 3000, 9),
    ]
    (old, before), (new, after) = told(source), told(copy(source, tmp_path / "out.dta"))
    assert new == old
    assert new["q"] == [1.0, "a", None]
    for what in ("missing_user_values", "variable_value_labels", "column_names_to_labels"):
        assert getattr(after, what) == getattr(before, what), what
    assert after.original_variable_types == before.original_variable_types


def test_another_program_gets_what_it_can_hold_and_the_rest_is_told(tmp_path):
    source = spss_file(tmp_path)
    with pytest.warns(NLDDWarning) as caught:
        target = copy(source, tmp_path / "out.dta", ("a b",), ("x",))
    dropped, renamed = sorted(str(one.message) for one in caught)
    assert "3 values that SPSS declares to be missing" in dropped
    assert "'long -> long_2', 'a b -> a_b'" in renamed
    values, found = told(target)
    assert values["reason"] == [1, None, None]
    assert values["grade"] == ["a", "b", ""]
    assert found.variable_value_labels["reason"] == {1: "Price", 2: "Price", 99: "refused"}
    assert found.column_names_to_labels["a_b"] == "a b"
    assert [row[6:9] for row in load(target).rows] == [row[6:9] for row in load(source).rows]


def test_sas_transport_files_go_in_and_out(tmp_path):
    source = tmp_path / "answers.xpt"
    frame = pandas.DataFrame({"answer": ["good", "größe"], "n": [1.5, None], "day": [DAY, DAY]})
    pyreadstat.write_xport(frame, str(source), column_labels={"n": "How many"})
    assert load(source).rows == [("good", 1.5, DAY), ("größe", None, DAY)]
    (old, before), (new, after) = told(source), told(copy(source, tmp_path / "out.xpt"))
    assert new == old
    assert after.column_names_to_labels == before.column_names_to_labels
    assert after.original_variable_types["day"] == before.original_variable_types["day"]
    with pytest.warns(NLDDWarning) as caught:
        copy(spss_file(tmp_path), tmp_path / "labels.xpt")
    assert any("this format of SAS has no value labels" in str(one.message) for one in caught)


def test_portable_files_are_read(tmp_path):
    frame = pandas.DataFrame({"Q": [1.0, 2.0], "ANSWER": ["good", "bad"]})
    pyreadstat.write_por(frame, str(tmp_path / "a.por"))
    loaded = load(tmp_path / "a.por")
    assert (loaded.header, loaded.rows) == (("Q", "ANSWER"), [(1, "good"), (2, "bad")])
    with pytest.raises(InputError, match="says by itself how its letters are written"):
        load(tmp_path / "a.por", encoding="cp1252")


def test_other_tables_become_variables(tmp_path):
    header = ("id", "2nd answer", "ID", "day", "all", "n", "empty")
    path = tmp_path / "new.sav"
    rows = [("01", "good", "x", DAY, "1", 2, ""), ("02", "", "y", None, "b", 0.5, None)]
    with pytest.warns(NLDDWarning, match="2nd answer -> v_2nd_answer"):
        save(path, header, rows)
    assert load(path).rows == [
        ("01", "good", "x", DAY, "1", 2, ""),
        ("02", "", "y", None, "b", 0.5, ""),
    ]
    found = told(path)[1]
    assert found.column_names == ["id", "v_2nd_answer", "ID_2", "day", "all_2", "n", "empty"]
    assert found.column_names_to_labels["v_2nd_answer"] == "2nd answer"
    # Where people are to fill in codes, they may type more than a letter.
    assert found.original_variable_types["empty"] == "A200"


def test_text_that_is_too_long_is_refused_by_its_place(tmp_path):
    path = tmp_path / "out.sav"
    with pytest.raises(InputError, match=r"out.sav, row 2, column 'answer': .* 40,000 bytes"):
        save(path, ["answer"], [("good",), ("ä" * 20_000,)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".sav", ".dta", ".sas7bdat"])
def test_damaged_files_are_refused_with_what_to_do(tmp_path, ending):
    path = tmp_path / f"answers{ending}"
    path.write_bytes(spss_file(tmp_path, "whole.sav").read_bytes()[:500])
    assert "save it again or as CSV" in hint_of("cannot be read as a file of S", load, path)


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    path = spss_file(tmp_path)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for attempt in (lambda: load(path), lambda: save(path, ["a"], [])):
        hint = hint_of("need pyreadstat", attempt, error=MissingExtraError)
        assert hint == 'pip install "nldd[spss]"'


def test_more_rows_than_a_file_can_hold_are_refused(tmp_path):
    path = tmp_path / "answers.dta"
    pyreadstat.write_dta(pandas.DataFrame({"n": [1.0]}), str(path), version=14)
    claimed = path.read_bytes().replace(b"<N>\1\0\0\0", b"<N>\0\0\0\x40")
    path.write_bytes(claimed)
    with pytest.raises(InputError, match=r"claims 1,073,741,824 .* too many for a file"):
        load(path)
