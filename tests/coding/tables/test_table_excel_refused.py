"""Workbooks that are damaged, hostile or none at all: refused before they take memory."""

import zipfile
from pathlib import Path

import pytest
from table_files import load, put
from workbooks import HEADER, parts, workbook, zipped

from nldd.coding.tables import workbooks
from nldd.exceptions import InputError


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row><c r="12"><v>1</v></c></row>', "damaged workbook"),
        ('<row><c t="s"><v>0</v></c></row>', "damaged workbook"),
        ('<row><c t="s"><v>-1</v></c></row>', "damaged workbook"),
        ("<row><c></row>", "damaged workbook"),
        ('<row r="1"><c r="A1"><v>1', "damaged workbook"),
    ],
)
def test_damaged_sheets(tmp_path, rows, message):
    with pytest.raises(InputError) as caught:
        load(workbook(tmp_path, rows))
    assert message in str(caught.value)
    assert "save it again as .xlsx" in caught.value.hint


def test_panics_are_errors_but_an_interrupt_is_not(tmp_path, monkeypatch):
    class PanicException(BaseException):
        pass

    for error, expected in ((PanicException, InputError), (KeyboardInterrupt, KeyboardInterrupt)):

        def fail(*_, error=error):
            raise error("called unwrap on None")

        monkeypatch.setattr("nldd.coding.tables.workbooks.check_archive", fail)
        with pytest.raises(expected):
            load(workbook(tmp_path, HEADER))


def test_document_types_are_refused(tmp_path):
    members = parts(HEADER)
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
        with pytest.raises(InputError, match="its list of sheets is none"):
            load(zipped(tmp_path / "a.xlsx", members | {name: laughs + members[name]}))


def test_lists_of_sheets_have_a_limit(tmp_path):
    members = parts(HEADER)
    wide = members["xl/workbook.xml"].replace("<sheets>", "<a/>" * 300_000 + "<sheets>")
    with pytest.raises(InputError, match="its list of sheets is none"):
        load(zipped(tmp_path / "a.xlsx", members | {"xl/workbook.xml": wide}))
    assert load(workbook(tmp_path, HEADER, after="<a>" * 500 + "</a>" * 500)).rows == []


def test_old_workbook_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="workbooks are read up to 1,000"):
        load(Path(__file__).parent / "files" / "libreoffice.xls")


def test_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = workbook(tmp_path, HEADER + " " * 2**25)
    with pytest.raises(InputError, match=r"would unpack to .* read from a file of its size"):
        load(path)
    monkeypatch.setattr(workbooks, "MAX_BYTES", 2**20)
    with pytest.raises(InputError, match="at most 1,048,576 bytes in 10,000 parts are read"):
        load(path)


def test_size_that_the_archive_hides(tmp_path):
    """What a member says about its size is also all that is read of it."""
    path = workbook(tmp_path, HEADER + "<row><c><v>1</v></c></row>" * 1000)
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    content = path.read_bytes().replace(size.to_bytes(4, "little"), (500).to_bytes(4, "little"))
    with pytest.raises(InputError, match="damaged workbook"):
        load(put(tmp_path, content, "b.xlsx"))


@pytest.mark.parametrize("place", ["XFD1048576", "xfd1048576", "A99999999"])
@pytest.mark.parametrize("form", [' r="{}"', " r='{}'", '\nr = "{}"'])
def test_cell_far_away_is_refused_and_not_made_room_for(tmp_path, place, form):
    cell = f"<row><c{form.format(place)}><v>1</v></c></row>"
    with pytest.raises(InputError, match="takes more memory than") as caught:
        load(workbook(tmp_path, HEADER + cell))
    assert "delete the rows below" in caught.value.hint


def test_wide_and_long_sheets_are_weighed_by_their_last_cells(tmp_path):
    """Neither its columns nor its rows are too many, but both together."""
    cells = (
        '<row r="2"><c r="ZZ2"><v>1</v></c></row><row r="90000"><c r="A90000"><v>1</v></c></row>'
    )
    with pytest.raises(InputError, match="takes more memory than"):
        load(workbook(tmp_path, HEADER + cells))
    narrow = cells.replace("ZZ2", "B2")
    assert load(
        workbook(tmp_path, HEADER.replace("</row>", '<c r="B1"><v>2</v></c></row>') + narrow)
    ).rows == [(None, 1), (1, None)]


def test_far_cells_without_a_value_do_not_matter(tmp_path):
    rows = '<row r="2"><c r="A2"><v>1</v></c></row><row r="9"><c r="XFD1048576" s="1"/></row>'
    assert load(workbook(tmp_path, HEADER + rows)).rows == [(1,)]


@pytest.mark.parametrize("name", ["word/document.xml", "answers.csv"])
def test_zip_without_a_workbook(tmp_path, name):
    path = zipped(tmp_path / "a.xlsx", {name: "<x/>"})
    with pytest.raises(InputError, match="has a password, or is no workbook"):
        load(path)


def test_text_that_is_called_a_workbook(tmp_path):
    with pytest.raises(InputError, match="is no workbook") as caught:
        load(put(tmp_path, "a,b\n1,2\n", "a.xlsx"))
    assert "ends in .csv" in caught.value.hint


def test_zip_with_a_password(tmp_path):
    path = workbook(tmp_path, HEADER)
    content = bytearray(path.read_bytes())
    place = content.find(b"PK\x01\x02")
    content[place + 8] |= 1
    with pytest.raises(InputError, match="has a password"):
        load(put(tmp_path, bytes(content), "b.xlsx"))
