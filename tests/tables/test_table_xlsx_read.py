"""Workbooks that other programs wrote, and some that nobody should."""

import datetime
import io
import zipfile

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from table_files import load, put
from workbooks import number_formats, parts, sheet_xml, workbook, zipped

from nldd.exceptions import InputError
from nldd.tables import _xlsx_package, open_table

HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'


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
    assert loaded.notes == ["1 empty row was skipped.", "1 column had no name: 'column 5'."]


def test_shared_texts(tmp_path):
    strings = (
        "<si><t>plain</t></si><si><t></t></si>"
        "<si><r><t>in </t></r><r><rPr><b/></rPr><t>parts</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>"
        "<si><t>a_x000D_\nb _x005F_x000D_ &lt;&amp;</t></si>"
        "<si><t xml:space='preserve'> x </t></si>"
    )
    numbers = [f'<c t="s"><v>{k}</v></c>' for k in range(6)]
    assert cells(tmp_path, *numbers, strings=strings) == [
        "plain",
        "",
        "in parts",
        "東京",
        "a\r\nb _x000D_ <&",
        " x ",
    ]


def test_types_of_cells(tmp_path):
    assert cells(
        tmp_path,
        "<c><v>5</v></c>",
        '<c t="n"><v> 5.0 </v></c>',
        "<c><v>1E3</v></c>",
        '<c t="b"><v>1</v></c>',
        '<c t="b"><v>0</v></c>',
        '<c t="e"><v>#N/A</v></c>',
        '<c t="str"><f>"a"</f><v>a_x000D_</v></c>',
        "<c><f>A1*2</f><v>0.1</v></c>",
        '<c t="d"><v>2024-01-02T03:04:05</v></c>',
        '<c t="d"><v>2024-01-02</v></c>',
        '<c t="d"><v>03:04</v></c>',
        '<c t="d"><v>soon</v></c>',
        '<c t="inlineStr"><is><r><t>in </t></r><r><t>parts</t></r></is></c>',
        '<c t="inlineStr"/>',
        "<c><v>12345678901234567890</v></c>",
    ) == [
        5,
        5.0,
        1000.0,
        True,
        False,
        "#N/A",
        "a\r",
        0.1,
        datetime.datetime(2024, 1, 2, 3, 4, 5),
        datetime.date(2024, 1, 2),
        datetime.time(3, 4),
        "soon",
        "in parts",
        None,
        12345678901234567890,
    ]


def test_pronunciation_is_no_text(tmp_path):
    text = "<is><r><t>東</t></r><r><t>京</t></r><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></is>"
    assert cells(tmp_path, f'<c t="inlineStr">{text}</c>') == ["東京"]


def test_empty_cells_too_many_are_dropped(tmp_path):
    rows = '<row><c><v>1</v></c><c t="inlineStr"><is><t></t></is></c></row>'
    assert load(workbook(tmp_path, HEADER + rows)).rows == [(1,)]


def test_formula_without_a_value_is_empty(tmp_path):
    row = '<c><f>A1</f></c><c t="str"><f>A1</f><v></v></c><c><v>1</v></c>'
    header = (
        '<row r="1"><c t="str"><v>a</v></c><c t="str"><v>b</v></c><c t="str"><v>c</v></c></row>'
    )
    assert load(workbook(tmp_path, f"{header}<row>{row}</row>")).rows == [(None, None, 1)]


@pytest.mark.parametrize(
    ("code", "number", "value"),
    [
        (14, "45292", datetime.date(2024, 1, 1)),
        (14, "45292.5", datetime.datetime(2024, 1, 1, 12)),
        (22, "45292", datetime.datetime(2024, 1, 1)),
        (20, "0.75", datetime.time(18)),
        (20, "0.99999999999", datetime.datetime(1900, 1, 1)),
        (46, "0.5", datetime.time(12)),
        (46, "1.104166666666667", "26:30:00"),
        (46, "1.0000057986111", "24:00:00.501000"),
        (9, "0.25", 0.25),
        (10, "1", 1),
        (2, "45292", 45292),
        ("yyyy-mm-dd", "45292", datetime.date(2024, 1, 1)),
        ("[$-407]d. mmmm yyyy;@", "1", datetime.date(1900, 1, 1)),
        ("d.m.yy", "60", 60),
        ("d.m.yy", "-5", -5),
        ("d.m.yy", "1e10", 1e10),
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


def test_style_that_is_not_there(tmp_path):
    assert cells(tmp_path, '<c s="99"><v>45292</v></c>') == [45292]


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


def test_cells_elsewhere_in_the_sheet_are_none_of_the_table(tmp_path):
    after = "<extLst><ext><row><c><v>7</v></c></row></ext></extLst>"
    assert load(workbook(tmp_path, HEADER, after=after)).rows == []


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


def test_utf16_xml(tmp_path):
    members = parts()
    text = '<?xml version="1.0" encoding="UTF-16"?>' + sheet_xml(HEADER.replace(">a<", ">ä<"))
    members["xl/worksheets/sheet1.xml"] = text.encode("utf-16")
    assert load(zipped(tmp_path / "a.xlsx", members)).header == ("ä",)


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
    with open_table(path) as reader, pytest.raises(InputError) as caught:
        reader.column(wanted)
    assert caught.value.hint == f"{hint} sheets: 'Wave 2', 'Wave 3'"


def test_the_only_sheet_needs_no_name(tmp_path):
    with open_table(workbook(tmp_path, HEADER)) as reader, pytest.raises(InputError) as caught:
        reader.column("zzz")
    assert "--sheet" not in caught.value.hint


def test_hidden_sheet_is_not_the_first(tmp_path):
    sheets = (("One", 'state="veryHidden"'), ("Two", ""))
    assert load(workbook(tmp_path, HEADER, sheets=sheets)).header == ("sheet 2",)


def test_chart_alone_is_no_table(tmp_path):
    members = parts()
    rels = "xl/_rels/workbook.xml.rels"
    members[rels] = members[rels].replace("/worksheet", "/chartsheet")
    with pytest.raises(InputError, match="has no sheet with cells"):
        load(zipped(tmp_path / "a.xlsx", members))


def test_empty_sheet(tmp_path):
    with pytest.raises(InputError, match="the sheet 'Sheet1' is empty"):
        load(workbook(tmp_path, '<row r="1"/>'))


def test_empty_sheet_before_others(tmp_path):
    with pytest.raises(InputError, match="the sheet 'One' is empty") as caught:
        load(workbook(tmp_path, "", sheets=(("One", ""), ("Wave 2", ""))))
    assert caught.value.hint.endswith("or --sheet NAME, as the workbook has other sheets: 'Wave 2'")


def test_cell_too_many(tmp_path):
    rows = HEADER + '<row r="7"><c r="A7"><v>1</v></c><c r="D7"><v>2</v></c></row>'
    with pytest.raises(InputError) as caught:
        load(workbook(tmp_path, rows))
    assert "answers.xlsx, row 7 of the sheet: it has 4 cells, the header 1" in str(caught.value)
    assert "too many is '2'" in str(caught.value)


def test_fraction_read(tmp_path):
    rows = HEADER + "".join(f"<row><c><v>{k}</v></c></row>" for k in range(20_000))
    with open_table(workbook(tmp_path, rows)) as reader:
        fractions = [reader.fraction_read() for _ in reader.blocks(2000)]
    assert fractions == sorted(fractions)
    assert len(fractions) == 10
    assert 0 < fractions[0] < 0.5
    assert fractions[-1] == 1.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row r="0x1"/>', "a number is '0x1'"),
        ('<row r="9999999999999999999"/>', "a number is '9999999999999999999'"),
        ('<row r="1048577"/>', "a number is '1048577'"),
        ('<row><c r="ZZZ1"/></row>', "a cell is called 'ZZZ1'"),
        ('<row><c r="12"/></row>', "a cell is called '12'"),
        ("<row><c><v>1.2.3</v></c></row>", "a cell is no number: '1.2.3'"),
        ("<row><c><v>1e999</v></c></row>", "a cell is no number: '1e999'"),
        (f"<row><c><v>{'9' * 5000}</v></c></row>", "a cell is no number: '999999"),
        ('<row><c t="s"><v>0</v></c></row>', "there is no text 0"),
        ('<row><c t="s"><v>-1</v></c></row>', "a number is '-1'"),
        ('<row><c s="x"/></row>', "a number is 'x'"),
        ("<row><c></row>", "damaged workbook: mismatched tag"),
        ("&nbsp;", "damaged workbook: undefined entity"),
    ],
)
def test_damaged_sheets(tmp_path, rows, message):
    with pytest.raises(InputError) as caught:
        load(workbook(tmp_path, rows))
    assert message in str(caught.value)
    assert "save it again as .xlsx" in caught.value.hint


def test_document_types_are_refused(tmp_path):
    members = parts()
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    members["xl/worksheets/sheet1.xml"] = laughs + sheet_xml(HEADER)
    with pytest.raises(InputError, match="it declares a document type"):
        load(zipped(tmp_path / "a.xlsx", members))


def test_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = workbook(tmp_path, HEADER + " " * 2**25)
    with pytest.raises(InputError, match=r"would unpack from .* as a damaged or hostile file"):
        load(path)
    monkeypatch.setattr(_xlsx_package, "MAX_BYTES", 2**20)
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


def test_too_many_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(_xlsx_package, "MAX_MEMBERS", 3)
    with pytest.raises(InputError, match="in 4 parts; at most"):
        load(workbook(tmp_path, HEADER))


def test_zip_without_a_workbook(tmp_path):
    path = zipped(tmp_path / "a.xlsx", {"word/document.xml": "<x/>"})
    with pytest.raises(InputError, match="without the parts of an Excel workbook"):
        load(path)


def test_old_excel_file(tmp_path):
    path = put(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "a.xlsx")
    with pytest.raises(
        InputError, match=r"an old Excel file \(.xls\) or one with a pass"
    ) as caught:
        load(path)
    assert "save it as .xlsx" in caught.value.hint


def test_text_that_is_called_a_workbook(tmp_path):
    with pytest.raises(InputError, match="is no Excel workbook") as caught:
        load(put(tmp_path, "a,b\n1,2\n", "a.xlsx"))
    assert "ends in .csv" in caught.value.hint


def test_zip_with_a_password(tmp_path):
    path = workbook(tmp_path, HEADER)
    content = bytearray(path.read_bytes())
    place = content.find(b"PK\x01\x02")
    content[place + 8] |= 1
    with pytest.raises(InputError, match="has a password"):
        load(put(tmp_path, bytes(content), "b.xlsx"))


def test_name_of_a_part_that_is_no_text(tmp_path):
    path = zipped(tmp_path / "a.xlsx", parts(HEADER) | {"ä": ""})
    content = path.read_bytes().replace("ä".encode(), b"\xff\xff")
    with pytest.raises(InputError, match="damaged workbook"):
        load(put(tmp_path, content, "b.xlsx"))


@pytest.mark.parametrize("keep", [10, 200, 0.5, 0.99])
def test_cut_workbook(tmp_path, keep):
    content = workbook(tmp_path, HEADER + "<row><c><v>1</v></c></row>" * 50).read_bytes()
    n = keep if keep > 1 else int(keep * len(content))
    with pytest.raises(InputError, match="damaged workbook"):
        load(put(tmp_path, content[:n], "b.xlsx"))


def test_same_values_as_openpyxl(tmp_path):
    """On a sheet with all built-in number formats, but for what openpyxl rounds or leaves."""
    buffer = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append([f"c{j}" for j in range(50)])
    book.active.append([45292.75 + j for j in range(50)])
    for j, cell in enumerate(book.active[2]):
        cell.number_format = openpyxl.styles.numbers.BUILTIN_FORMATS.get(j, "General")
    book.save(buffer)
    path = put(tmp_path, buffer.getvalue(), "a.xlsx")
    (ours,) = load(path).rows
    (theirs,) = openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True)
    durations = [j for j, cell in enumerate(theirs) if isinstance(cell, datetime.timedelta)]
    assert durations == [46]
    assert ours[46] == "1088130:00:00"
    assert ours[:46] + ours[47:] == theirs[:46] + theirs[47:]
