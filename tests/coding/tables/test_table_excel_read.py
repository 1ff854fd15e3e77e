"""Workbooks that other programs wrote."""

import datetime
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from table_files import load, put
from workbooks import HEADER, number_formats, parts, workbook, zipped

from nldd.coding.tables.reading import read_table
from nldd.exceptions import InputError

FILES = Path(__file__).parent / "files"


def cells(folder, *row, **options):
    """The values of one cell each below a header."""
    rows = "".join(f'<row r="{k}">{cell}</row>' for k, cell in enumerate(row, 2))
    return [cell for (cell,) in load(workbook(folder, HEADER + rows, **options)).rows]


def test_workbook_of_openpyxl(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Answers"
    rows = [
        ["id", 2020, "when", "share", None, "formula", "flag"],
        [1, "gut", datetime.datetime(2024, 1, 2, 3, 4, 5), 0.25, None, "=1+1", True],
        [None] * 7,
        [2.5, "two\nlines", datetime.datetime(2024, 1, 2), 1, None, None, False],
        [
            3,
            CellRichText("so ", TextBlock(InlineFont(b=True), "bold")),
            None,
            None,
            None,
            None,
            None,
        ],
    ]
    for row in rows:
        sheet.append(row)
    sheet["C2"].number_format = "dd/mm/yyyy hh:mm:ss"
    sheet["C4"].number_format = "dd/mm/yyyy"
    sheet["D2"].number_format = "0%"
    book.save(tmp_path / "answers.xlsx")
    loaded = load(tmp_path / "answers.xlsx")
    assert loaded.header == ("id", "2020", "when", "share", "", "formula", "flag")
    assert loaded.names[4] == "column 5"
    assert loaded.rows == [
        (1, "gut", datetime.datetime(2024, 1, 2, 3, 4, 5), 0.25, None, None, True),
        (2.5, "two\nlines", datetime.date(2024, 1, 2), 1, None, None, False),
        (3, "so bold", None, None, None, None, None),
    ]
    assert loaded.format.sheet == "Answers"
    assert loaded.notes == [
        "1 empty row was skipped.",
        "1 cell with a formula and no value, the first F2: read as empty. Open the file in a "
        "spreadsheet, save it and run the command again.",
        "1 column had no name: 'column 5'.",
    ]


def test_shared_texts(tmp_path):
    strings = (
        "<si><t>plain</t></si>"
        "<si><r><t xml:space='preserve'>in </t></r><r><rPr><b/></rPr><t>parts</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>"
        "<si><t>a_x000D_\nb _x005F_x000D_ &lt;&amp;</t></si>"
        "<si><t xml:space='preserve'> x </t></si>"
    )
    numbers = [f'<c t="s"><v>{k}</v></c>' for k in range(5)]
    assert cells(tmp_path, *numbers, strings=strings) == [
        "plain",
        "in parts",
        "東京",
        "a\r\nb _x000D_ <&",
        " x ",
    ]


def test_types_of_cells(tmp_path):
    assert cells(
        tmp_path,
        "<c><v>5</v></c>",
        "<c><v>5.0</v></c>",
        "<c><v>1E3</v></c>",
        "<c><v>1E300</v></c>",
        '<c t="b"><v>1</v></c>',
        '<c t="b"><v>0</v></c>',
        '<c t="str"><f>"a"</f><v>a</v></c>',
        "<c><f>A1*2</f><v>0.1</v></c>",
        '<c t="d"><v>2024-01-02T03:04:05</v></c>',
        '<c t="d"><v>2024-01-02</v></c>',
        '<c t="d"><v>03:04</v></c>',
        '<c t="d"><v>soon</v></c>',
        '<c t="inlineStr"><is><r><t>in</t></r><r><t>parts</t></r></is></c>',
        "<c><v>123456789012345</v></c>",
    ) == [
        5,
        5,
        1000,
        1e300,
        True,
        False,
        "a",
        0.1,
        datetime.datetime(2024, 1, 2, 3, 4, 5),
        datetime.date(2024, 1, 2),
        datetime.time(3, 4),
        "soon",
        "inparts",
        123456789012345,
    ]


def test_errors_of_formulas_are_cells(tmp_path):
    rows = [
        '<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2"><v>1</v></c></row>',
        '<row r="3"><c r="A3"><v>2</v></c><c r="B3" s="0" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>',
        '<row r="4"><c r="B4" t="e"><f t="shared" si="0"/><v>#REF!</v></c></row>',
    ]
    header = '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>'
    loaded = load(workbook(tmp_path, header + "".join(rows)))
    assert loaded.rows == [("#N/A", 1), (2, "#DIV/0!"), (None, "#REF!")]


@pytest.mark.parametrize("ending", [".xlsx", ".xls", ".ods"])
def test_workbook_of_libreoffice(ending):
    """Dates, times, formulas, errors, a merged cell, and a hidden sheet before the one to read."""
    loaded = load(FILES / f"libreoffice{ending}")
    assert loaded.header[:6] == ("id", "answer", "day", "moment", "time", "duration")
    assert loaded.header[6:] == ("share", "flag", "formula", "error")
    # OpenDocument has durations as texts of its own, and flags as numbers.
    long = "PT26H30M00S" if ending == ".ods" else "26:30:00"
    errors = ("#DIV/0!", "#N/A") if ending == ".xlsx" else (None, None)
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5, 7)
    later = datetime.datetime(2023, 12, 31, 23, 59, 30)
    assert loaded.rows == [
        (1, "gut", day, moment, datetime.time(18, 30), long, 0.25, True, 2, errors[0]),
        (2, "schön, 日本", None, None, None, None, 1.5, False, "ab", errors[1]),
        (
            *(3, "two\nlines", datetime.date(1999, 12, 31), later),
            *(datetime.time(23, 59), datetime.time(2), -1e-7, None, True, None),
        ),
        ("merged", *[None] * 9),
    ]
    merged = (
        "1 group of merged cells in the rows: only the first cell of each has a value. Unmerge "
        "them and fill in the others."
    )
    assert loaded.notes == [
        "The sheet 'Answers' was read, and not 'Notes'.",
        "1 empty row was skipped.",
        *([merged] if ending != ".ods" else []),
    ]
    assert loaded.format.kind == "xlsx"
    assert load(FILES / f"libreoffice{ending}", sheet="Notes").header == ("not this one",)


@pytest.mark.parametrize("ending", [".xls", ".ods"])
def test_password(ending):
    with pytest.raises(InputError, match="has a password, or is no workbook") as caught:
        load(FILES / f"password{ending}")
    assert "without a password" in caught.value.hint


@pytest.mark.parametrize("wrong", [".xlsx", ".xlsb", ".xls", ".ods"])
@pytest.mark.parametrize("right", [".xlsx", ".xls", ".ods"])
def test_workbook_is_known_by_its_content(tmp_path, right, wrong):
    content = (FILES / f"libreoffice{right}").read_bytes()
    assert len(load(put(tmp_path, content, f"a{wrong}")).rows) == 4


@pytest.mark.parametrize(
    ("code", "number", "value"),
    [
        (14, "45292", datetime.date(2024, 1, 1)),
        (14, "45292.5", datetime.datetime(2024, 1, 1, 12)),
        (22, "45292.25", datetime.datetime(2024, 1, 1, 6)),
        (20, "0.75", datetime.time(18)),
        (46, "0.5", datetime.time(12)),
        (46, "1.104166666666667", "26:30:00"),
        (46, "-0.5", "-12:00:00"),
        (9, "0.25", 0.25),
        (10, "1", 1),
        (2, "45292", 45292),
        ("yyyy-mm-dd", "45292", datetime.date(2024, 1, 1)),
        ("[$-407]d. mmmm yyyy;@", "1", datetime.date(1900, 1, 1)),
        ("d.m.yy", "1e10", 10_000_000_000),
        ("dd.mm.yyyy hh:mm", "45292.524259259262", datetime.datetime(2024, 1, 1, 12, 34, 56)),
        ("dd.mm.yyyy hh:mm", "45292.52425925925", datetime.datetime(2024, 1, 1, 12, 34, 56)),
        ("General", "45292", 45292),
        ("#,##0.00 &quot;d&quot;", "45292", 45292),
    ],
)
def test_number_formats(tmp_path, code, number, value):
    cell = f'<c s="1"><v>{number}</v></c>'
    (got,) = cells(tmp_path, cell, styles=number_formats(code))
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize("true", ["1", "true"])
def test_days_from_1904(tmp_path, true):
    cell = '<c s="1"><v>43830</v></c>'
    book = f'<workbookPr date1904="{true}"/>'
    assert cells(tmp_path, cell, styles=number_formats(14), book=book) == [
        datetime.date(2024, 1, 1)
    ]


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


def test_other_prefixes_and_the_strict_namespace(tmp_path):
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    members = parts(strings="<si><t>x</t></si>")
    members["xl/worksheets/sheet1.xml"] = (
        f'<x:worksheet xmlns:x="{strict}"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c></x:row>'
        '<x:row><x:c t="inlineStr"><x:is><x:t>y</x:t></x:is></x:c></x:row></x:sheetData>'
        "</x:worksheet>"
    )
    members["xl/sharedStrings.xml"] = f'<s:sst xmlns:s="{strict}"><s:si><s:t>x</s:t></s:si></s:sst>'
    loaded = load(zipped(tmp_path / "a.xlsx", members))
    assert (loaded.header, loaded.rows) == (("x",), [("y",)])


def test_names_of_parts_as_windows_writes_them(tmp_path):
    members = {name.replace("/", "\\"): content for name, content in parts(HEADER).items()}
    assert load(zipped(tmp_path / "a.xlsx", members)).header == ("a",)


def test_sheet_by_name(tmp_path):
    sheets = (("One", ""), ("Two &amp; three", ""), ("Four", 'state="hidden"'))
    path = workbook(tmp_path, HEADER, sheets=sheets)
    assert load(path).header == ("a",)
    assert load(path).notes == ["The sheet 'One' was read, and not 'Two & three', 'Four'."]
    assert load(path, sheet="Two & three").header == ("sheet 2",)
    assert load(path, sheet="Four").format.sheet == "Four"
    with pytest.raises(InputError, match="has no sheet 'five'") as caught:
        load(path, sheet="five")
    assert caught.value.hint == "name one of its sheets: 'One', 'Two & three', 'Four'"


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("zzz", "name one of its columns: 'answer'; or --sheet NAME, as the workbook has other"),
        ("answr", "Did you mean 'answer'? Or --sheet NAME, as the workbook has other"),
    ],
)
def test_a_missing_column_may_be_on_another_sheet(tmp_path, wanted, hint):
    sheets = (("One", ""), ("Wave 2", ""), ("Wave 3", ""))
    path = workbook(tmp_path, HEADER.replace(">a<", ">answer<"), sheets=sheets)
    with pytest.raises(InputError) as caught:
        read_table(path).find(wanted)
    assert caught.value.hint == f"{hint} sheets: 'Wave 2', 'Wave 3'"


def test_hidden_sheet_is_not_the_first(tmp_path):
    sheets = (("One", 'state="veryHidden"'), ("Two", ""))
    assert load(workbook(tmp_path, HEADER, sheets=sheets)).header == ("sheet 2",)


def test_cell_too_many(tmp_path):
    rows = HEADER + '<row r="7"><c r="A7"><v>1</v></c><c r="D7"><v>2</v></c></row>'
    with pytest.raises(InputError) as caught:
        load(workbook(tmp_path, rows))
    assert "xlsx, row 7 of the sheet: the row has 4 cells, the header 1" in str(caught.value)
    assert "too many is '2'" in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "n"),
    [
        ('<c r="B2"><f>A1</f><v/></c>', 1),
        ('<c r="B2" s="3"><f>A1&lt;3</f><v></v></c>', 1),
        ('<c r="B2"><f t="shared" si="0"/></c>', 1),
        ('<c r="B2" t="str"><f>IF(A1,"","x")</f><v></v></c>', 0),  # calculated: empty text
        ('<c r="B2"><f>A1</f><v>3</v></c>', 0),
        ('<c r="B2" s="1"/>', 0),
    ],
)
def test_formulas_that_nobody_has_calculated_are_told(tmp_path, cell, n):
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1"><v>7</v></c></row>'
    rows += f'<row r="2"><c r="A2"><v>1</v></c>{cell}</row><row r="3"><c r="A3"><v>2</v></c></row>'
    told = [note for note in load(workbook(tmp_path, rows)).notes if "formula" in note]
    assert [note.partition(":")[0] for note in told] == [
        "1 cell with a formula and no value, the first B2"
    ] * n


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
