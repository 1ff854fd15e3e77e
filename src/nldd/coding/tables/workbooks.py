"""Sheets of workbooks by calamine, and what is refused before it takes all memory.

Calamine holds a sheet as a rectangle from the first to the last cell, so one that somebody left far
below a table asks for a terabyte. The XML of an .xlsx file tells so before calamine reads it, and
which cells are errors or formulas without a value, which calamine takes for empty.
"""

import datetime
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import (
    MAX_BYTES,
    SHEET_OF_CHOICES,
    Cell,
    TableFormat,
    cell_text,
    check_width,
    drop_surplus_cells,
    skipped_note,
)
from nldd.coding.tables.spreadsheet import Spreadsheet, frame_of_rows
from nldd.coding.tables.text_files import OLE, ZIP
from nldd.exceptions import InputError
from nldd.present.text import count_noun

MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO, FREE_BYTES = 400, 2**24
# Of the lists of sheets, which are parsed here.
MAX_LIST_BYTES = 2**20
# What calamine takes for a cell, without its text.
SHEET_CELL_BYTES = 32
# Whole numbers below this are what they are in the file; above it they may be other ones.
MAX_WHOLE = 2**53

_HINT = "delete the rows below and the columns right of the table, or save it as CSV"
# Without such a reference a sheet has 26 columns and 99,999 rows, which is never too large; with
# one, the places of all cells that have a value count, and of rows whose cells have no place.
_FAR = re.compile(rb"r(?<!:r)\s*=\s*[\"'](?:[A-Za-z]{2}|[A-Za-z]?\d{6})")
_PLACE = re.compile(
    rb"(?<![\w:])r\s*=\s*[\"']([A-Za-z]*)(\d+)[\"'][^<>]*(?<!/)>\s*"
    rb"<(?!/|(?:\w+:)?c\s[^>]*\br\s*=)"
)
_FORMULA = rb"<(?:\w+:)?f(?:\s[^>]{0,500})?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
# A formula that nobody has calculated; one that gives empty text is of the type "str".
_UNKNOWN = re.compile(
    rb'<(?:\w+:)?c\s(?![^>]{0,200}\bt="str")[^>]{0,200}?\br="([A-Z]+\d+)"[^>]{0,200}>\s*'
    + _FORMULA
    + rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_ERROR = re.compile(
    rb'\sr="([A-Z]{1,3})(\d{1,7})"[^>]{0,200}?\st="e"[^>]{0,200}>\s*(?:'
    + _FORMULA
    + rb")?<(?:\w+:)?v>([^<]*)<"
)


def read_workbook(
    path: Path, head: bytes, sheet: str | None = None, header_row: int = 1
) -> Spreadsheet:
    """A sheet of a workbook, by default the first that is not hidden."""
    if not head.startswith((ZIP, OLE)):
        hint = "if it is text, rename it so that it ends in .csv"
        raise InputError(f"{path} is no workbook; it does not begin as one.", hint=hint)
    if (n_bytes := path.stat().st_size) > MAX_BYTES:
        message = f"{path} has {n_bytes:,} bytes; workbooks are read up to {MAX_BYTES:,}."
        raise InputError(message, hint=_HINT)
    with _explaining_damage(path):
        from python_calamine import CalamineWorkbook

        parts = check_archive(path) if head.startswith(ZIP) else {}
        with path.open("rb") as stream:
            book = CalamineWorkbook.from_filelike(stream)
        name, others = _choose_sheet(path, book.sheets_metadata, sheet)
        is_xml = "xl/workbook.xml" in parts and not {"xl/workbook.bin", "content.xml"} & {*parts}
        errors, unknown = _scan_sheet(path, name, parts) if is_xml else ({}, [])
        found = book.get_sheet_by_name(name)
        rows = _filled_rows(found.to_python(skip_empty_area=False), errors, header_row)
        merged = found.merged_cell_ranges or []
    advice = ""
    if others:
        advice = f"--sheet NAME, as the workbook has other sheets: {quote_first(others)}"
    if not rows:
        empty, hint = "is empty", "begin the sheet with a row of column names"
        if header_row > 1:
            empty, hint = f"is empty from row {header_row} on", "--header-row with a smaller number"
        message = f"{path}: the sheet {quote(name)} {empty}."
        raise InputError(message, hint=f"{hint}; or {advice}" if advice else hint)
    notes = [f"The sheet {quote(name)} was read, and not {quote_first(others)}."] if others else []
    (first, *_), (last, *_) = rows[0], rows[-1]
    notes += skipped_note(last - first + 1 - len(rows), "empty row")
    notes += _notes_on_cells(unknown, sum(b >= first and a < last for (a, _), (b, _) in merged))
    texts = list(map(cell_text, rows[0][1]))
    width = max(place for place, text in enumerate(texts, 1) if text)
    check_width(path, width)
    fitted = [
        drop_surplus_cells(cells, width, f"{path}, row {number} of the sheet")
        for number, cells in rows[1:]
    ]
    format, frame = TableFormat("xlsx", sheet=name), frame_of_rows(fitted, width)
    return Spreadsheet(path, frame, tuple(texts[:width]), format, notes, advice=advice)


def _choose_sheet(path: Path, sheets: list[Any], name: str | None) -> tuple[str, list[str]]:
    """The sheet to read, and the others that a person may have meant."""
    names = {s.name: str(s.visible) for s in sheets if str(s.typ).endswith("WorkSheet")}
    if not names:
        raise InputError(f"{path} has no sheet with cells.", hint="save it as CSV")
    if name is None:
        name = next((n for n in names if names[n].endswith(".Visible")), next(iter(names)))
    elif name not in names:
        hint = f"name one of its sheets: {quote_first(names)}"
        raise InputError(f"{path} has no sheet {quote(name)}.", hint=hint)
    return name, [other for other in names if other not in (name, SHEET_OF_CHOICES)]


def _filled_rows(
    rows: list[list[Any]], errors: dict[int, dict[int, str]], header_row: int
) -> list[tuple[int, list[Cell]]]:
    """Rows that are not empty, with their numbers in the sheet, from 1."""
    filled = []
    for number, values in enumerate(rows, 1):
        cells: list[Cell] = [
            (value or None)
            if (kind := type(value)) is str
            else int(value)
            if kind is float and value.is_integer() and -MAX_WHOLE < value < MAX_WHOLE
            else _clock_time(value)
            if kind is datetime.timedelta
            else value
            for value in values
        ]
        for column, error in errors.get(number, {}).items():
            cells[column] = error
        if cells.count(None) < len(cells) and number >= header_row:
            filled.append((number, cells))
    return filled


def _clock_time(value: datetime.timedelta) -> datetime.time | str:
    """A duration as a time of a day, or as text."""
    if datetime.timedelta() <= value < datetime.timedelta(days=1):
        return (datetime.datetime.min + value).time()
    minutes, seconds = divmod(value.total_seconds(), 60)
    return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:02.0f}"


def _notes_on_cells(unknown: Sequence[bytes], n_merged: int) -> list[str]:
    notes = []
    if unknown:
        cells = count_noun(len(unknown), "cell")
        where = f"with a formula and no value, the first {unknown[0].decode()}"
        how = "Open the file in a spreadsheet, save it and run the command again."
        notes.append(f"{cells} {where}: read as empty. {how}")
    if n_merged:
        merged = f"{count_noun(n_merged, 'group')} of merged cells in the rows"
        only = "only the first cell of each has a value. Unmerge them and fill in the others."
        notes.append(f"{merged}: {only}")
    return notes


@contextmanager
def _explaining_damage(path: Path) -> Iterator[None]:
    """Turn whatever a damaged workbook may raise into an error that says what to do."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except BaseException as error:
        # The panics of calamine are no Exception, as KeyboardInterrupt is none.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        # Some of it the file says, at any length.
        reason = repr((str(error) or type(error).__name__)[:200])[1:-1]
        what, how = f"is a damaged workbook: {reason}", "again as .xlsx"
        if "detect file format" in str(error) or "encrypted" in str(error):
            what, how = "has a password, or is no workbook", "as .xlsx without a password"
        hint = f"open it in a spreadsheet and save it {how}"
        raise InputError(f"{path} {what}.", hint=hint) from error


def check_archive(path: Path) -> dict[str, str]:
    """Refuse what unpacks to too much; return the names of the parts as the file has them.

    They are by their names in lower case, as some programs write them in other letters.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    size = sum(member.file_size for member in members)
    allowed = min(MAX_BYTES, FREE_BYTES + MAX_RATIO * sum(m.compress_size for m in members))
    if size > allowed or len(members) > MAX_MEMBERS:
        found = f"{size:,} bytes in {len(members):,} parts"
        most = f"{allowed:,} bytes in {MAX_MEMBERS:,} parts are read from a file of its size"
        hint = "open it in a spreadsheet and save it again, or save the sheet as CSV"
        raise InputError(f"{path} would unpack to {found}; at most {most}.", hint=hint)
    return {member.filename.replace("\\", "/").lower(): member.filename for member in members}


def _scan_sheet(
    path: Path, name: str, parts: dict[str, str]
) -> tuple[dict[int, dict[int, str]], list[bytes]]:
    """Errors such as ``#N/A`` by row and column, and formulas without a value.

    A sheet that would take too much memory is refused.
    """
    with zipfile.ZipFile(path) as archive:
        markup = archive.read(_part_of_sheet(archive, name, parts))
    if _FAR.search(markup):
        places = _PLACE.findall(markup)
        n_rows = max(map(int, {row for _, row in places}), default=0)
        n_columns = max(map(_column_number, {letters for letters, _ in places}), default=0)
        if SHEET_CELL_BYTES * n_rows * max(1, n_columns) > MAX_BYTES:
            raise InputError(f"{path} takes more memory than {MAX_BYTES:,} bytes.", hint=_HINT)
    errors: dict[int, dict[int, str]] = {}
    for letters, row, text in _ERROR.findall(markup) if b't="e"' in markup else ():
        errors.setdefault(int(row), {})[_column_number(letters) - 1] = text.decode()
    return errors, _UNKNOWN.findall(markup) if b"<f" in markup or b":f" in markup else []


def _column_number(letters: bytes) -> int:
    """The number of a column, from 1; 0 without letters."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def _part_of_sheet(archive: zipfile.ZipFile, name: str, parts: dict[str, str]) -> str:
    """The part that holds a sheet, by the lists of sheets and of parts."""

    def elements(part: str) -> Iterator[ElementTree.Element]:
        content = archive.read(parts[part])
        if b"<!DOCTYPE" in content or len(content) > MAX_LIST_BYTES:
            raise ValueError("its list of sheets is none")
        return ElementTree.fromstring(content).iter()

    for sheet in elements("xl/workbook.xml"):
        if sheet.tag.endswith("}sheet") and sheet.get("name") == name:
            key = next(value for key, value in sheet.items() if key.endswith("}id"))
            relations = elements("xl/_rels/workbook.xml.rels")
            target = next(r.get("Target", "") for r in relations if r.get("Id") == key)
            place = posixpath.join("/xl", target.replace("\\", "/"))
            return parts[posixpath.normpath(place).lstrip("/").lower()]
    raise LookupError(f"no part holds the sheet {name}")
