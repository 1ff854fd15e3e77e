"""Workbooks that other programs wrote; those that are damaged or hostile are refused."""

import datetime

import pytest
from table_files import FILES, hint_of, load, put
from workbooks import HEADER, parts, workbook, zipped

from nldd.coding.tables import spreadsheet
from nldd.exceptions import InputError


@pytest.mark.parametrize("ending", [".xlsx", ".xls", ".ods"])
def test_workbook_of_libreoffice(ending):
    """Dates, times, formulas, errors, a merged cell, and a hidden sheet before the one to read."""
    loaded = load(FILES / f"libreoffice{ending}")
    assert loaded.header[:6] == ("id", "answer", "day", "moment", "time", "duration")
    assert loaded.header[6:] == ("share", "flag", "formula", "error")
    # OpenDocument has durations as texts of its own, and flags as numbers.
    long = "PT26H30M00S" if ending == ".ods" else "26:30:00"
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5, 7)
    later = datetime.datetime(2023, 12, 31, 23, 59, 30)
    assert loaded.rows == [
        (1, "gut", day, moment, datetime.time(18, 30), long, 0.25, True, 2, None),
        (2, "schön, 日本", None, None, None, None, 1.5, False, "ab", None),
        (
            *(3, "two\nlines", datetime.date(1999, 12, 31), later),
            *(datetime.time(23, 59), datetime.time(2), -1e-7, None, True, None),
        ),
        ("merged", *[None] * 9),
    ]
    sheet, empty, *merged = loaded.notes
    assert sheet == "The sheet 'Answers' was read, and not 'Notes'."
    assert empty == "1 empty row was skipped."
    assert [note.split(":")[0] for note in merged] == (
        ["1 group of merged cells in the rows"] if ending != ".ods" else []
    )
    assert loaded.format.kind == "xlsx"
    assert load(FILES / f"libreoffice{ending}", sheet="Notes").header == ("not this one",)


@pytest.mark.parametrize("ending", [".xls", ".ods"])
def test_password(ending):
    path = FILES / f"password{ending}"
    assert "without a password" in hint_of("has a password, or is no workbook", load, path)


@pytest.mark.parametrize("wrong", [".xlsx", ".xlsb", ".xls", ".ods"])
@pytest.mark.parametrize("right", [".xlsx", ".xls", ".ods"])
def test_workbook_is_known_by_its_content(tmp_path, right, wrong):
    content = (FILES / f"libreoffice{right}").read_bytes()
    assert len(load(put(tmp_path, content, f"a{wrong}")).rows) == 4


def test_places_of_cells(tmp_path):
    rows = (
        '<row r="3"><c r="B3" t="str"><v>b</v></c><c r="D3" t="str"><v>d</v></c></row>'
        '<row r="5"><c r="A5"><v>1</v></c><c r="C5"><v>3</v></c></row>'
        "<row/><row><c/><c/></row>"
        '<row><c><v>4</v></c><c><v>5</v></c><c/><c/><c s="1"/></row>'
        '<row r="1000"><c r="A1000"/></row><row r="1048576"/>'
    )
    loaded = load(workbook(tmp_path, rows, before='<dimension ref="A1:B2"/>'))
    assert loaded.header == ("", "b", "", "d")
    assert loaded.rows == [(1, None, 3, None), (4, 5, None, None)]
    assert loaded.notes[0] == "3 empty rows were skipped."


def test_sheet_by_name(tmp_path):
    sheets = (("One", ""), ("Two &amp; three", ""), ("Four", 'state="hidden"'))
    path = workbook(tmp_path, HEADER, sheets=sheets)
    assert load(path).header == ("a",)
    assert load(path).notes == ["The sheet 'One' was read, and not 'Two & three', 'Four'."]
    assert load(path, sheet="Two & three").header == ("sheet 2",)
    assert load(path, sheet="Four").format.sheet == "Four"
    hint = hint_of("has no sheet 'five'", load, path, sheet="five")
    assert hint == "name one of its sheets: 'One', 'Two & three', 'Four'"


def test_cell_too_many(tmp_path):
    rows = HEADER + '<row r="7"><c r="A7"><v>1</v></c><c r="D7"><v>2</v></c></row>'
    with pytest.raises(InputError, match=r"xlsx, row 7 of the sheet: .* 4 cells, .* is '2'"):
        load(workbook(tmp_path, rows))


@pytest.mark.parametrize(
    ("cell", "is_told"),
    [
        ('<c r="B2"><f>A1</f><v/></c>', True),
        ('<c r="B2" s="3"><f>A1&lt;3</f><v></v></c>', True),
        ('<c r="B2" t="str"><f>IF(A1,"","x")</f><v></v></c>', False),  # calculated: empty text
        ('<c r="B2"><f>A1</f><v>3</v></c>', False),
        ('<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', False),
    ],
)
def test_formulas_that_nobody_has_calculated_are_told(tmp_path, cell, is_told):
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1"><v>7</v></c></row>'
    rows += f'<row r="2"><c r="A2"><v>1</v></c>{cell}</row><row r="3"><c r="A3"><v>2</v></c></row>'
    loaded = load(workbook(tmp_path, rows))
    assert loaded.rows[0] == (1, 3 if "<v>3<" in cell else None)
    assert ["such as B2" in note for note in loaded.notes] == [True] * is_told


@pytest.mark.parametrize(
    ("merged", "n"),
    [(("A1:B1",), 0), (("A2:A3",), 1), (("A1:A2", "B3:C3"), 2), (("A4:B9",), 0), ((), 0)],
)
def test_merged_cells_of_rows_are_told(tmp_path, merged, n):
    rows = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c></row>' for i in (1, 2, 3))
    listed = "".join(f'<mergeCell ref="{place}"/>' for place in merged)
    path = workbook(tmp_path, rows, after=f"<mergeCells>{listed}</mergeCells>" if merged else "")
    told = [note for note in load(path).notes if "merged" in note]
    assert [note.split()[0] for note in told] == [str(n)] * bool(n)


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
    assert "save it again as .xlsx" in hint_of("damaged workbook", load, workbook(tmp_path, rows))


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
        load(FILES / "libreoffice.xls")


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
    path = workbook(tmp_path, HEADER, before=form.format(last))
    assert "delete the rows below" in hint_of("takes more memory than", load, path)
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
    assert "ends in .csv" in hint_of("is no workbook", load, put(tmp_path, "a,b\n1,2\n", "a.xlsx"))
