"""Workbooks that people work in: what openpyxl finds of their look, and that rows stay the same."""

import openpyxl
import pytest
from table_files import load, save

from nldd.coding.tables.writing import SheetLayout

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
