"""Rows as an Excel workbook in which text is text, and all values come back as they were."""

import datetime
import math
import re
import zipfile
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import BinaryIO

from nldd.exceptions import InputError
from nldd.tables._cells import is_text, plain, surrogate_error
from nldd.tables._records import Cell, Row, located
from nldd.tables._xlsx_package import MAX_BYTES
from nldd.tables._xlsx_values import (
    DATE_FORMAT,
    FINE_MOMENT_FORMAT,
    FINE_TIME_FORMAT,
    MAX_COLUMNS,
    MAX_ROWS,
    MOMENT_FORMAT,
    TIME_FORMAT,
    Temporal,
    escaped,
    from_serial,
    to_serial,
)

MAX_TEXT = 32_767
FORMATS = (DATE_FORMAT, TIME_FORMAT, MOMENT_FORMAT, FINE_TIME_FORMAT, FINE_MOMENT_FORMAT)
KINDS = ("date", "time", "moment", "time", "moment")

_USE_CSV = "write the table as CSV"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTENT_TYPES = (
    f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>'
)
_ROOT = (
    f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
_PARTS = (
    f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" '
    f'Type="{_RELATIONS}/styles" Target="styles.xml"/></Relationships>'
)
_WORKBOOK = (
    f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
    '<sheets><sheet name="{}" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
_FIRST_FORMAT = 164  # the lower numbers belong to formats that every workbook has
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_MAIN}"><numFmts count="{len(FORMATS)}">'
    + "".join(
        f'<numFmt numFmtId="{number}" formatCode="{code}"/>'
        for number, code in enumerate(FORMATS, _FIRST_FORMAT)
    )
    + '</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    f'<cellXfs count="{len(FORMATS) + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
    + "".join(
        f'<xf numFmtId="{number}" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"/>'
        for number, _ in enumerate(FORMATS, _FIRST_FORMAT)
    )
    + '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/>'
    "</cellStyles></styleSheet>"
)


class XlsxSink:
    """Write rows as the one sheet of a workbook, see :class:`nldd.tables._records.Sink`.

    Text is always text, never a formula. What a workbook cannot hold exactly is an error.

    Parameters
    ----------
    stream : binary stream
    header : tuple of str
    path : Path
        For messages.
    sheet : str
        Name of the sheet.
    """

    def __init__(
        self, stream: BinaryIO, header: tuple[str, ...], path: Path, *, sheet: str = ""
    ) -> None:
        if len(header) > MAX_COLUMNS:
            raise InputError(
                f"{path}: a workbook has at most {MAX_COLUMNS:,} columns; the table has "
                f"{len(header):,}.",
                hint=_USE_CSV,
            )
        self._header = header
        self._path = path
        self._letters = [column_letters(j) for j in range(len(header))]
        self._n_bytes = 0
        self._archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)
        for name, content in (
            ("[Content_Types].xml", _CONTENT_TYPES),
            ("_rels/.rels", _ROOT),
            ("xl/workbook.xml", _WORKBOOK.format(escape(_sheet_name(sheet)))),
            ("xl/_rels/workbook.xml.rels", _PARTS),
            ("xl/styles.xml", _STYLES),
        ):
            self._archive.writestr(_member(name), content)
        self._sheet = self._archive.open(_member("xl/worksheets/sheet1.xml"), "w")
        try:
            self._put(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>{self._row(header, 0)}')
        except BaseException:
            self.abandon()
            raise

    def write(self, rows: list[Row], first: int) -> None:
        """Write rows of which the first has this number, from 1."""
        if first + len(rows) > MAX_ROWS:
            raise InputError(
                f"{self._path}: a workbook has at most {MAX_ROWS - 1:,} rows below the header; the "
                "table has more.",
                hint=_USE_CSV,
            )
        self._put("".join([self._row(row, number) for number, row in enumerate(rows, first)]))

    def finish(self) -> None:
        """Write what comes after the last row."""
        self._put("</sheetData></worksheet>")
        self._sheet.close()
        self._archive.close()

    def abandon(self) -> None:
        """Let go of the stream after an error; what was written is thrown away."""
        with suppress(OSError, RuntimeError, ValueError):
            self._sheet.close()
            self._archive.close()

    def _put(self, text: str) -> None:
        content = text.encode()
        self._n_bytes += len(content)
        if self._n_bytes > MAX_BYTES - 2**16:
            raise InputError(
                f"{self._path}: the sheet would take more than {MAX_BYTES:,} bytes, too much for "
                "a workbook.",
                hint=_USE_CSV,
            )
        self._sheet.write(content)

    def _row(self, row: Row, number: int) -> str:
        line = number + 1
        cells = [
            self._cell(cell, f"{letters}{line}", number, j)
            for j, (letters, cell) in enumerate(zip(self._letters, row, strict=True))
            if cell is not None
        ]
        # So that the row is there, see _SheetParser: its cell is text without any.
        content = "".join(cells) or f'<c r="A{line}" t="inlineStr"/>'
        return f'<row r="{line}">{content}</row>'

    def _cell(self, cell: Cell, place: str, row: int, column: int) -> str:
        if isinstance(cell, str):
            return self._text(cell, place, row, column)
        if isinstance(cell, bool):
            return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
        if isinstance(cell, int | float):
            return f'<c r="{place}"><v>{self._number(cell, row, column)}</v></c>'
        if isinstance(cell, datetime.date | datetime.time):
            serial, style = self._days(cell, row, column)
            return f'<c r="{place}" s="{style}"><v>{serial!r}</v></c>'
        return self._cell(plain(cell), place, row, column)

    def _text(self, text: str, place: str, row: int, column: int) -> str:
        if len(text) > MAX_TEXT // 2 and len(text.encode("utf-16-le", "replace")) > 2 * MAX_TEXT:
            raise InputError(
                f"{self._where(row, column)}: the text has {len(text):,} characters; a cell of a "
                f"workbook holds {MAX_TEXT:,}.",
                hint=_USE_CSV,
            )
        if not text.isascii() and not is_text(text):
            raise surrogate_error(self._where(row, column))
        content = escape(escaped(text), quote=False)
        keep = "" if content == content.strip() else ' xml:space="preserve"'
        return f'<c r="{place}" t="inlineStr"><is><t{keep}>{content}</t></is></c>'

    def _number(self, number: int | float, row: int, column: int) -> str:
        try:
            if math.isfinite(number):
                return repr(float(number)) if isinstance(number, float) else str(int(number))
        except OverflowError:
            pass
        raise InputError(
            f"{self._where(row, column)}: a workbook cannot hold the number {str(number)[:40]}.",
            hint=_USE_CSV,
        )

    def _days(self, value: Temporal, row: int, column: int) -> tuple[int | float, int]:
        if isinstance(value, datetime.datetime):
            style = 4 if value.microsecond % 1000 else 2
        elif isinstance(value, datetime.date):
            style = 0
        else:
            style = 3 if value.microsecond % 1000 else 1
        serial = to_serial(value)
        if serial is None or from_serial(serial, KINDS[style], fine=style > 2) != value:
            raise InputError(
                f"{self._where(row, column)}: a workbook cannot hold {value.isoformat()} exactly; "
                "it has no time zones, no days before 1900, and no microseconds after 2079.",
                hint=_USE_CSV,
            )
        return serial, style + 1

    def _where(self, row: int, column: int) -> str:
        return located(self._path, row, self._header[column])


def column_letters(position: int) -> str:
    """Letters of a column, by its position from 0.

    Examples
    --------
    >>> [column_letters(position) for position in (0, 25, 26, 16383)]
    ['A', 'Z', 'AA', 'XFD']
    """
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _sheet_name(name: str) -> str:
    """A name that Excel takes: short, and without the signs of its formulas."""
    name = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", name).strip(" '")[:31]
    return name if name and is_text(name) else "Sheet1"


def _member(name: str) -> zipfile.ZipInfo:
    # Without the time of day, so that equal tables give equal files.
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
