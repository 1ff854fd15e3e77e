"""Workbooks that we write: text is text, their look, and others read what we wrote."""

import datetime
import math
import tempfile
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import example, given, settings, strategies as st
from openpyxl.utils.escape import unescape
from table_files import hint_of, load, quick_save, save

from nldd.coding.tables import writing
from nldd.coding.tables.writing import SheetLayout
from present.test_formulas import RUN_BY_A_SPREADSHEET


def typed(rows):
    """Rows with the types of their cells, as 1 == True."""
    return [[(type(cell), repr(cell)) for cell in row] for row in rows]


def in_a_workbook(cell):
    """What a workbook makes of a cell: no text is no cell, 15 digits, no date with a midnight."""
    if cell == "":
        return None
    if isinstance(cell, datetime.datetime | datetime.time):
        cell = cell.replace(fold=0)
    if isinstance(cell, datetime.datetime) and not cell.microsecond % 1000:
        return cell.date() if cell.time() == datetime.time() else cell
    if isinstance(cell, datetime.datetime | datetime.time) and cell.microsecond % 1000:
        return cell.isoformat()
    if isinstance(cell, float):
        number = float(f"{cell:.16G}")
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) >= 10**15:
        return str(cell)
    return cell


# XML holds U+FFFE and U+FFFF in no way that all programs read; what looks like an escape is ODD.
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="_\ufffe\uffff"), max_size=20
)
ODD = st.sampled_from(
    ["", " ", "\r\n", "\r", "\t", "\x00", "_x0041_", "<&>\"'", "=1+1", " padded "]
)
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(9999, 12, 31))
CELLS = st.one_of(
    st.none(),
    TEXT,
    ODD,
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(allow_nan=False, allow_infinity=False),
    MOMENTS.map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)),
    MOMENTS,
    st.dates(datetime.date(1900, 1, 1)),
    st.times(),
)
TABLES = st.lists(TEXT | ODD, max_size=4).flatmap(
    lambda header: st.tuples(
        st.just(("id", *header, "end")),
        st.lists(st.tuples(*[CELLS] * len(header)), max_size=6).map(
            lambda rows: [(k, *row, "x") for k, row in enumerate(rows)]
        ),
    )
)


def as_in_openpyxl(cell):
    """It leaves out the escapes, and has no dates but with a time, and none before 1 March 1900."""
    if isinstance(cell, str):
        return unescape(unescape(cell)).replace("\r\n", "\n").replace("\r", "\n") or None
    if isinstance(cell, datetime.date | datetime.time):
        return None
    return cell


@given(TABLES)
@settings(max_examples=40, deadline=None)
@example((("a", "", "b"), [(5.0, None, -0.0), (None, "", 1)]))
@example((("a",), [(2**53 + 1,), (True,), (1,), (1.0,), (1e300,), (5e-324,), (10**300,)]))
@example((("id",), [(10**15 - 1,), (10**15,), (-(10**15),), (12345678901234567890,), (10**400,)]))
@example((("<r>", "</r>"), [("<r>a</r>", "<r></r>"), ("<r><t>b</t></r>", "<r>")]))
def test_all_values_come_back(table):
    header, rows = table
    with tempfile.TemporaryDirectory() as folder:
        path = quick_save(Path(folder, "t.xlsx"), header, rows)
        loaded = load(path)
        found = [*openpyxl.load_workbook(path).active.iter_rows(values_only=True)]
    assert loaded.header == header
    expected = [tuple(map(in_a_workbook, row)) for row in rows]
    assert typed(loaded.rows) == typed(expected)
    for theirs, ours in zip(found[1:], expected, strict=True):
        assert tuple(map(as_in_openpyxl, theirs)) == tuple(map(as_in_openpyxl, ours))


def test_text_is_never_a_formula(tmp_path):
    path = save(tmp_path / "t.xlsx", ["=1+1"], [[text] for text in RUN_BY_A_SPREADSHEET])
    with zipfile.ZipFile(path) as archive:
        assert b"<f" not in archive.read("xl/worksheets/sheet1.xml")
    assert load(path).rows == [(text,) for text in RUN_BY_A_SPREADSHEET]
    assert load(path).header == ("=1+1",)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("x" * 32_768, "the text has 32,768 characters"),
        ("\U0001f600" * 16_384, "the text has 16,384 characters"),  # two units of Excel each
        (math.nan, "cannot hold the number nan"),
        (-math.inf, "cannot hold the number -inf"),
        (datetime.date(1899, 12, 31), "cannot hold 1899-12-31;"),
        (datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), "it has no time zones"),
        (datetime.time(1, tzinfo=datetime.UTC), "it has no time zones"),
    ],
)
def test_what_a_workbook_cannot_hold_is_refused(tmp_path, cell, message):
    words, rows = f"^t.xlsx, row 2, column 'b': .*{message}", [("x", "y"), ("z", cell)]
    hint = hint_of(words, save, tmp_path / "t.xlsx", ["a", "b"], rows)
    assert hint == "write the table as CSV"
    assert list(tmp_path.iterdir()) == []


def test_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MAX_ROWS", 11)
    save(tmp_path / "t.xlsx", ["a"], [[1]] * 10)
    path = tmp_path / "u.xlsx"
    assert "CSV" in hint_of("10 rows below the header", save, path, ["a"], [[1]] * 11)
    assert not (tmp_path / "u.xlsx").exists()


HEADER = ("answer", "codes", "mark")
ROWS = [("a long answer", "b;c", 1), ("another", "", 0)]


def made(path, choices):
    look = SheetLayout({0: 50.0, 1: 20.0}, choices)
    return openpyxl.load_workbook(save(path, HEADER, ROWS, layout=look))


def test_header_stays_and_texts_are_wrapped(tmp_path):
    book = made(tmp_path / "t.xlsx", {})
    (sheet,) = book.worksheets
    assert sheet.freeze_panes == "A2"
    assert [round(sheet.column_dimensions[name].width) for name in "AB"] == [51, 21]
    assert sheet["A2"].alignment.wrap_text


@pytest.mark.parametrize("names", [["one, two", 'b"', "=1"], [f"code {i}" for i in range(80)]])
def test_choices_stand_on_a_hidden_sheet(tmp_path, names):
    book = made(tmp_path / "t.xlsx", {1: (names, "or others"), 2: ([0, 1], "?")})
    sheet, hidden = book.worksheets
    assert (sheet.sheet_state, hidden.sheet_state) == ("visible", "hidden")
    found = sheet.data_validations.dataValidation
    assert [str(rule.sqref) for rule in found] == ["B2:B1048576", "C2:C1048576"]
    assert [(rule.errorStyle, rule.error) for rule in found] == [
        ("information", "or others"),
        ("information", "?"),
    ]
    for rule, values in zip(found, (names, [0, 1]), strict=True):
        name, cells = rule.formula1.strip("'").split("'!")
        (row,) = book[name][cells.replace("$", "")]
        assert [cell.value for cell in row] == values
        assert "f" not in {cell.data_type for cell in row}
    loaded = load(tmp_path / "t.xlsx")
    assert (loaded.header, loaded.notes) == (HEADER, [])
    assert loaded.rows == [("a long answer", "b;c", 1), ("another", None, 0)]
