"""Workbooks that people work in: what openpyxl finds of their look, and that rows stay the same."""

import openpyxl
import pytest
from table_files import load, save

from nldd.coding.tables.writing import Choices, SheetLayout

HEADER = ("answer", "codes", "mark")
ROWS = [("a long answer", "b;c", 1), ("another", "", 0)]


def made(path, choices):
    look = SheetLayout({0: 50.0, 1: 20.0}, choices)
    return openpyxl.load_workbook(save(path, HEADER, ROWS, layout=look))


def rules(sheet):
    found = sheet.data_validations.dataValidation
    return {str(rule.sqref): (rule.formula1, rule.errorStyle, rule.error) for rule in found}


def test_header_stays_and_texts_are_wrapped(tmp_path):
    book = made(tmp_path / "t.xlsx", {1: Choices(["b", "c"], "or both"), 2: Choices([0, 1], "?")})
    (sheet,) = book.worksheets
    assert sheet.freeze_panes == "A2"
    assert [round(sheet.column_dimensions[name].width) for name in "AB"] == [51, 21]
    assert sheet["A2"].alignment.wrap_text
    assert rules(sheet) == {
        "B2:B1048576": ('"b,c"', "information", "or both"),
        "C2:C1048576": ('"0,1"', "information", "?"),
    }


@pytest.mark.parametrize("names", [["one, two", "b"], [f"code {i:03}" for i in range(80)]])
def test_choices_that_a_rule_cannot_hold_stand_on_a_hidden_sheet(tmp_path, names):
    own = Choices(names, "or others")
    book = made(tmp_path / "t.xlsx", {1: own, 0: own, 2: Choices([0, 1], "?")})
    sheet, hidden = book.worksheets
    assert (sheet.sheet_state, hidden.sheet_state) == ("visible", "hidden")
    ((where, *_),) = {rules(sheet)[f"{column}2:{column}1048576"] for column in "AB"}
    name, cells = where.strip("'").split("'!")
    assert [cell.value for cell in book[name][cells.replace("$", "")][0]] == names
    assert hidden.max_row == 1
    loaded = load(tmp_path / "t.xlsx")
    assert (loaded.header, loaded.notes) == (HEADER, [])
    assert loaded.rows == [("a long answer", "b;c", 1), ("another", None, 0)]


def test_choices_with_quotation_marks_stand_on_a_sheet(tmp_path):
    look = SheetLayout(choices={0: Choices(['size 5"', "b"], "one of them")})
    book = openpyxl.load_workbook(save(tmp_path / "t.xlsx", ["a"], [("b",)], layout=look))
    (rule,) = book.active.data_validations.dataValidation
    assert rule.formula1.startswith("'nldd choices'!")
    assert [cell.value for row in book["nldd choices"] for cell in row] == ['size 5"', "b"]
