"""Workbooks that are damaged, hostile or none at all: refused before they take memory."""

from pathlib import Path

import pytest
from table_files import load, put
from workbooks import HEADER, parts, workbook, zipped

from nldd.coding.tables import spreadsheet
from nldd.exceptions import InputError


@pytest.mark.parametrize(
    "rows",
    [
        '<row><c r="12"><v>1</v></c></row>',
        '<row><c t="s"><v>0</v></c></row>',
        '<row><c t="s"><v>-1</v></c></row>',
        "<row><c></row>",
        '<row r="1"><c r="A1"><v>1',
    ],
)
def test_damaged_sheets(tmp_path, rows):
    with pytest.raises(InputError, match="damaged workbook") as caught:
        load(workbook(tmp_path, rows))
    assert "save it again as .xlsx" in caught.value.hint


def test_panics_are_errors_but_an_interrupt_is_not(tmp_path, monkeypatch):
    class PanicException(BaseException):
        pass

    for error, expected in ((PanicException, InputError), (KeyboardInterrupt, KeyboardInterrupt)):

        def fail(*_, error=error):
            raise error("called unwrap on None")

        monkeypatch.setattr("nldd.coding.tables.reading.check_archive", fail)
        with pytest.raises(expected):
            load(workbook(tmp_path, HEADER))


def test_old_workbook_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(spreadsheet, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="workbooks are read up to 1,000"):
        load(Path(__file__).parent / "files" / "libreoffice.xls")


def test_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = workbook(tmp_path, HEADER + " " * 2**25)
    with pytest.raises(InputError, match=r"would unpack to .* read from a file of its size"):
        load(path)
    monkeypatch.setattr(spreadsheet, "MAX_BYTES", 2**20)
    with pytest.raises(InputError, match="at most 1,048,576 bytes in 10,000 parts are read"):
        load(path)


@pytest.mark.parametrize("last", ["XFD1048576", "xfd1048576", "ZZ90000", "A99999999"])
@pytest.mark.parametrize("form", ['<dimension ref="{}"/>', "<x:dimension ref = 'A1:{}'/>"])
def test_sheet_that_goes_far_is_refused_and_not_made_room_for(tmp_path, last, form):
    """Neither its columns nor its rows may be too many, but both together."""
    with pytest.raises(InputError, match="takes more memory than") as caught:
        load(workbook(tmp_path, HEADER, before=form.format(last)))
    assert "delete the rows below" in caught.value.hint
    assert load(workbook(tmp_path, HEADER, before='<dimension ref="A1:ZZ9"/>')).header == ("a",)


def test_only_the_sheet_that_is_read_is_weighed(tmp_path):
    members = parts(HEADER, before='<dimension ref="XFD1048576"/>', sheets=(("A", ""), ("B", "")))
    path = zipped(tmp_path / "a.xlsx", members)
    assert load(path, sheet="B").header == ("sheet 2",)
    with pytest.raises(InputError, match="takes more memory than"):
        load(path)


@pytest.mark.parametrize("name", ["word/document.xml", "answers.csv"])
def test_zip_without_a_workbook(tmp_path, name):
    path = zipped(tmp_path / "a.xlsx", {name: "<x/>"})
    with pytest.raises(InputError, match="has a password, or is no workbook"):
        load(path)


def test_text_that_is_called_a_workbook(tmp_path):
    with pytest.raises(InputError, match="is no workbook") as caught:
        load(put(tmp_path, "a,b\n1,2\n", "a.xlsx"))
    assert "ends in .csv" in caught.value.hint
