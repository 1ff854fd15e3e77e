"""Workbooks made of XML by hand, as programs other than ours write them."""

import zipfile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
# The first row of a sheet of one column.
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'


def sheet_xml(rows, before="", after=""):
    """A sheet of rows that are XML already."""
    return f'<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def parts(rows="", *, strings=None, styles=None, sheets=(("Sheet1", ""),), **options):
    """The members of a workbook, the first sheet of which has these rows."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="rId{k}" {more}/>'
        for k, (name, more) in enumerate(sheets, 1)
    )
    relations = "".join(
        f'<Relationship Id="rId{k}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(sheets) + 1)
    )
    members = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/worksheets/sheet1.xml": sheet_xml(rows, **options),
    }
    for k in range(2, len(sheets) + 1):
        text = f'<row r="1"><c r="A1" t="inlineStr"><is><t>sheet {k}</t></is></c></row>'
        members[f"xl/worksheets/sheet{k}.xml"] = sheet_xml(text)
    if strings is not None:
        members["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
        relations += (
            f'<Relationship Id="s" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
        )
    if styles is not None:
        members["xl/styles.xml"] = f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
        relations += f'<Relationship Id="t" Type="{RELATIONS}/styles" Target="/xl/styles.xml"/>'
    members["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{PACKAGE}">{relations}</Relationships>'
    )
    return members


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def workbook(folder, rows="", **options):
    return zipped(folder / "answers.xlsx", parts(rows, **options))
