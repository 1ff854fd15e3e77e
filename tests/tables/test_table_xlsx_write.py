"""Workbooks: text is text, and all values come back as they were."""

import datetime
import math
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import example, given, settings, strategies as st
from table_files import load, quick_save, save
from test_table_cells import RUN_BY_A_SPREADSHEET

from nldd.exceptions import InputError
from nldd.tables import TableFormat, _xlsx_write, create_table
from nldd.tables._xlsx_values import escaped, from_serial, kind_of_format, to_serial, unescaped


def through_xlsx(header, rows):
    with tempfile.TemporaryDirectory() as folder:
        return load(quick_save(Path(folder, "t.xlsx"), header, rows))


def typed(rows):
    """Rows with the types of their cells, as 1 == 1.0 == True and -0.0 == 0.0."""
    return [[(type(cell), repr(cell)) for cell in row] for row in rows]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ODD = st.sampled_from(
    [
        "",
        " ",
        "\r\n",
        "\r",
        "\t",
        "\x00",
        "\x0b",
        "\ufffe",
        "\uffff",
        "_x0041_",
        "_x005F_",
        "_x0041_x0042_",
        "_xABCD\r",
        "_x00\x01",
        "__x000d_",
        "<&>\"'",
        "]]>",
        "=1+1",
        " padded ",
    ]
)
MILLISECONDS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, fold=0)
)
MICROSECONDS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2079, 1, 1)).map(
    lambda moment: moment.replace(fold=0)
)
CELLS = st.one_of(
    st.none(),
    TEXT,
    ODD,
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(allow_nan=False, allow_infinity=False),
    MILLISECONDS,
    MICROSECONDS,
    st.dates(datetime.date(1900, 1, 1)),
    st.times().map(lambda time: time.replace(fold=0)),
)


@given(
    st.lists(TEXT | ODD, min_size=1, max_size=5).flatmap(
        lambda header: st.tuples(
            st.just(tuple(header)),
            st.lists(st.tuples(*[CELLS] * len(header)), max_size=6),
        )
    )
)
@settings(max_examples=200, deadline=None)
@example((("a", ""), [(None, None), (5.0, -0.0), (None, ""), (None, None)]))
@example((("",), [("",)]))
@example((("a",), [(2**53 + 1,), (True,), (1,), (1.0,), (1e300,), (5e-324,), (10**300,)]))
def test_all_values_come_back_as_they_were(table):
    header, rows = table
    loaded = through_xlsx(header, rows)
    assert loaded.header == header
    assert typed(loaded.rows) == typed(rows)


@given(TEXT | st.text("_x0041Fa\r\x01", max_size=20))
@settings(max_examples=500)
def test_escaped_text_comes_back(text):
    inside = escaped(text)
    assert unescaped(inside) == text
    assert not set(inside) & {chr(k) for k in range(32) if k not in (9, 10)}


@given(MILLISECONDS)
def test_days_are_exact_to_the_millisecond_in_any_year(moment):
    assert from_serial(to_serial(moment), "moment") == moment


@given(MICROSECONDS)
def test_days_are_exact_to_the_microsecond_for_some_time(moment):
    assert from_serial(to_serial(moment), "moment", fine=True) == moment


@pytest.mark.parametrize(
    ("day", "serial"),
    [
        (datetime.date(1900, 1, 1), 1),
        (datetime.date(1900, 2, 28), 59),
        (datetime.date(1900, 3, 1), 61),
        (datetime.date(2008, 2, 29), 39507),
        (datetime.date(9999, 12, 31), 2958465),
    ],
)
def test_days_as_excel_counts_them(day, serial):
    assert to_serial(day) == serial
    assert from_serial(serial, "date") == day


def test_numbers_that_are_no_days():
    assert from_serial(60, "date") is None  # 29 February 1900 never was
    assert from_serial(-1, "date") is None
    assert from_serial(2958466, "date") is None
    assert from_serial(1462, "date", from_1904=True) == datetime.date(1908, 1, 2)
    assert from_serial(0, "date", from_1904=True) == datetime.date(1904, 1, 1)
    assert from_serial(2957004, "date", from_1904=True) is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", None),
        ("0.00E+00", None),
        ("#,##0.00_);[Red](#,##0.00)", None),
        ('0 "days"', None),
        ("0\\d", None),
        ("@", None),
        ("0%", None),
        ("[$-409]d-mmm-yy;@", "date"),
        ('yyyy"年"m"月"d"日"', "date"),
        ("mmm", "date"),
        ("h:mm AM/PM", "time"),
        ("mm:ss.0", "time"),
        ("d.m.yyyy h:mm", "moment"),
        ("[h]:mm:ss", "duration"),
        ("[mm]:ss", "duration"),
        ("_-* #,##0 [$€-407]_-", None),
    ],
)
def test_kind_of_format(code, kind):
    assert kind_of_format(200, code) == kind


def test_openpyxl_reads_what_we_write(tmp_path):
    rows = [
        ("text", 5, 2.5, True, None, datetime.datetime(2024, 1, 2, 3, 4, 5)),
        *[
            (text, 2**40, -1e-7, False, "", datetime.datetime(1999, 12, 31))
            for text in ("=1", " x ")
        ],
    ]
    path = save(tmp_path / "t.xlsx", list("abcdef"), rows, like=TableFormat("xlsx", sheet="A & B"))
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["A & B"]
    sheet = book["A & B"]
    got = list(sheet.iter_rows(min_row=2, values_only=True))
    assert got == rows
    assert {cell.data_type for cell in sheet["A"]} == {"s"}
    assert sheet["F2"].number_format == "yyyy-mm-dd hh:mm:ss"


def test_scalars_of_numpy(tmp_path):
    rows = [(np.float64(0.1), np.int64(5), np.bool_(True), np.str_("x"), np.float32(0.5))]
    loaded = load(save(tmp_path / "t.xlsx", list("abcde"), rows))
    assert typed(loaded.rows) == typed([(0.1, 5, True, "x", 0.5)])


def test_text_is_never_a_formula(tmp_path):
    path = save(tmp_path / "t.xlsx", ["=1+1"], [[text] for text in RUN_BY_A_SPREADSHEET])
    with zipfile.ZipFile(path) as archive:
        assert b"<f" not in archive.read("xl/worksheets/sheet1.xml")
    assert load(path).rows == [(text,) for text in RUN_BY_A_SPREADSHEET]
    assert load(path).header == ("=1+1",)


def test_equal_tables_give_equal_files(tmp_path):
    paths = [save(tmp_path / f"{k}.xlsx", ["a"], [["x"], [1.5]]) for k in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("x" * 32_768, "the text has 32,768 characters"),
        ("\U0001f600" * 16_384, "the text has 16,384 characters"),  # two units of Excel each
        (math.nan, "cannot hold the number nan"),
        (-math.inf, "cannot hold the number -inf"),
        (10**400, "cannot hold the number 1000"),
        (datetime.date(1899, 12, 31), "cannot hold 1899-12-31 exactly"),
        (datetime.datetime(2150, 1, 1, 1, 1, 1, 2), "cannot hold 2150-01-01T01:01:01.000002 exact"),
        (datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), "it has no time zones"),
        (datetime.time(1, tzinfo=datetime.UTC), "it has no time zones"),
    ],
)
def test_what_a_workbook_cannot_hold_is_refused(tmp_path, cell, message):
    with pytest.raises(InputError, match=message) as caught:
        save(tmp_path / "t.xlsx", ["a", "b"], [("x", "y"), ("z", cell)])
    assert str(caught.value).startswith("t.xlsx, row 2, column 'b': ")
    assert caught.value.hint == "write the table as CSV"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["x" * 32_767, "\U0001f600" * 16_383, "_x0041_" * 4681])
def test_longest_text(text):
    assert through_xlsx(["a"], [[text]]).rows == [(text,)]


def test_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_xlsx_write, "MAX_ROWS", 11)
    save(tmp_path / "t.xlsx", ["a"], [[1]] * 10)
    with pytest.raises(InputError, match="at most 10 rows below the header") as caught:
        save(tmp_path / "u.xlsx", ["a"], [[1]] * 11)
    assert "CSV" in caught.value.hint
    assert not (tmp_path / "u.xlsx").exists()


def test_too_many_columns(tmp_path):
    save(tmp_path / "t.xlsx", ["a"] * 16_384, [[1] * 16_384])
    assert load(tmp_path / "t.xlsx").rows == [(1,) * 16_384]
    with pytest.raises(InputError, match="at most 16,384 columns; the table has 16,385"):
        save(tmp_path / "u.xlsx", ["a"] * 16_385, [])
    assert not (tmp_path / "u.xlsx").exists()


def test_sheet_too_large_to_be_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_xlsx_write, "MAX_BYTES", 2**16 + 5000)
    with pytest.raises(InputError, match="too much for a workbook"):
        save(tmp_path / "t.xlsx", ["a"], [["x" * 1000]] * 6)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "written"),
    [("", "Sheet1"), ("Umfrage 2024", "Umfrage 2024"), ("a/b:c", "a b c"), ("x" * 40, "x" * 31)],
)
def test_name_of_the_sheet(tmp_path, name, written):
    path = save(tmp_path / "t.xlsx", ["a"], [], like=TableFormat("xlsx", sheet=name))
    assert load(path).format.sheet == written


def test_alike_rows_are_no_bomb(tmp_path):
    path = save(tmp_path / "t.xlsx", list("abcdefgh"), [["the same text"] * 8] * 5_000)
    assert len(load(path).rows) == 5_000


def test_error_in_the_header_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match=r"t\.xlsx, row 0, column"):
        create_table(tmp_path / "t.xlsx", ["x" * 40_000]).__enter__()
    assert list(tmp_path.iterdir()) == []
