"""Sheets of workbooks by calamine, and what is refused before it takes all memory.

Calamine holds a sheet as a rectangle from the first to the last cell, so one that somebody left far
below a table asks for a terabyte: what a workbook says of its sizes is checked before it is read.
Cells with an error such as ``#REF!``, and formulas that nobody has calculated, are empty for it.
"""

import datetime
import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

from nldd._wording import quote, quote_first
from nldd.coding.tables import spreadsheet as sheets
from nldd.coding.tables.text_tables import OLE, ZIP
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# A sheet that our workbooks have for the choices of their cells; hidden, and of no use to read.
SHEET_OF_CHOICES = "nldd choices"
MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO, FREE_BYTES = 400, 2**24
# What calamine takes for a cell, without its text; where a sheet says how far it goes.
SHEET_CELL_BYTES, HEAD_BYTES = 32, 4096
# Whole numbers below this are what they are in the file; above it they may be other ones.
MAX_WHOLE = 2**53

_HINT = "delete the rows below and the columns right of the table, or save it as CSV"
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*?\w+:id\s*=\s*[\"']([^\"']+)")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*[\"']([^\"']*)")
_DIMENSION = re.compile(rb"dimension\s[^>]*?ref\s*=\s*[\"'][^\"']*?([A-Za-z]+)(\d+)[\"']")
# A formula as programs write it that calculate nothing.
_UNKNOWN = re.compile(rb'<c r="([A-Z]+\d+)"(?: s="\d+")?><f>[^<]*</f>(?:<v ?/>|<v></v>)?</c>')


def read_workbook(
    path: Path, head: bytes, sheet: str | None = None, header_row: int = 1
) -> sheets.Spreadsheet:
    """A sheet of a workbook, by default the first that is not hidden."""
    if not head.startswith((ZIP, OLE)):
        hint = "if it is text, rename it so that it ends in .csv"
        raise InputError(f"{path} is no workbook; it does not begin as one.", hint=hint)
    if (n_bytes := path.stat().st_size) > sheets.MAX_BYTES:
        message = f"{path} has {n_bytes:,} bytes; workbooks are read up to {sheets.MAX_BYTES:,}."
        raise InputError(message, hint=_HINT)
    unknown = None
    with _explaining_damage(path):
        from python_calamine import CalamineWorkbook

        if head.startswith(ZIP):
            check_archive(path)
        with path.open("rb") as stream:
            book = CalamineWorkbook.from_filelike(stream)
        name, others = _choose_sheet(path, book.sheets_metadata, sheet)
        if head.startswith(ZIP):
            unknown = _check_sheet(path, [one.name for one in book.sheets_metadata].index(name))
        found = book.get_sheet_by_name(name)
        rows = _filled_rows(found.to_python(skip_empty_area=False), header_row)
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
    notes += sheets.skipped_note(last - first + 1 - len(rows), "empty row")
    if unknown:
        how = "open the file in a spreadsheet, save it and run the command again"
        notes.append(f"Formulas without a value, such as {unknown}, were read as empty: {how}.")
    if n_merged := sum(b >= first and a < last for (a, _), (b, _) in merged):
        what = f"{count_noun(n_merged, 'group')} of merged cells in the rows"
        only = "only the first cell of each has a value. Unmerge them and fill in the others."
        notes.append(f"{what}: {only}")
    texts = list(map(sheets.cell_text, rows[0][1]))
    width = max(place for place, text in enumerate(texts, 1) if text)
    fitted = [
        sheets.drop_surplus_cells(cells, width, f"{path}, row {number} of the sheet")
        for number, cells in rows[1:]
    ]
    format, frame = sheets.TableFormat("xlsx", sheet=name), sheets.frame_of_rows(fitted, width)
    return sheets.Spreadsheet(path, frame, tuple(texts[:width]), format, notes, advice=advice)


def _choose_sheet(path: Path, listed: list[Any], name: str | None) -> tuple[str, list[str]]:
    """The sheet to read, and the others that a person may have meant."""
    names = {s.name: str(s.visible) for s in listed if str(s.typ).endswith("WorkSheet")}
    if not names:
        raise InputError(f"{path} has no sheet with cells.", hint="save it as CSV")
    if name is None:
        name = next((n for n in names if names[n].endswith(".Visible")), next(iter(names)))
    elif name not in names:
        hint = f"name one of its sheets: {quote_first(names)}"
        raise InputError(f"{path} has no sheet {quote(name)}.", hint=hint)
    return name, [other for other in names if other not in (name, SHEET_OF_CHOICES)]


def _filled_rows(rows: list[list[Any]], header_row: int) -> list[tuple[int, list[sheets.Cell]]]:
    """Rows that are not empty, with their numbers in the sheet, from 1."""
    filled = []
    for number, values in enumerate(rows, 1):
        cells: list[sheets.Cell] = [
            (value or None)
            if (kind := type(value)) is str
            else int(value)
            if kind is float and value.is_integer() and -MAX_WHOLE < value < MAX_WHOLE
            else _clock_time(value)
            if kind is datetime.timedelta
            else value
            for value in values
        ]
        if cells.count(None) < len(cells) and number >= header_row:
            filled.append((number, cells))
    return filled


def _clock_time(value: datetime.timedelta) -> datetime.time | str:
    """A duration as a time of a day, or as text."""
    if datetime.timedelta() <= value < datetime.timedelta(days=1):
        return (datetime.datetime.min + value).time()
    minutes, seconds = divmod(value.total_seconds(), 60)
    return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:02.0f}"


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


def check_archive(path: Path) -> None:
    """Refuse what unpacks to too much, by the directory of the archive."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    size = sum(member.file_size for member in members)
    allowed = min(sheets.MAX_BYTES, FREE_BYTES + MAX_RATIO * sum(m.compress_size for m in members))
    if size > allowed or len(members) > MAX_MEMBERS:
        found = f"{size:,} bytes in {len(members):,} parts"
        most = f"{allowed:,} bytes in {MAX_MEMBERS:,} parts are read from a file of its size"
        hint = "open it in a spreadsheet and save it again, or save the sheet as CSV"
        raise InputError(f"{path} would unpack to {found}; at most {most}.", hint=hint)


def _check_sheet(path: Path, place: int) -> str | None:
    """Refuse a sheet of an .xlsx file that says that it goes too far.

    Return the first cell with a formula that nobody has calculated, if there is one.
    """
    with zipfile.ZipFile(path) as archive:
        parts = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
        if "xl/workbook.xml" not in parts:
            return None
        key = _SHEET.findall(archive.read(parts["xl/workbook.xml"]))[place]
        listed = archive.read(parts["xl/_rels/workbook.xml.rels"])
        relations = (dict(_ATTRIBUTE.findall(one)) for one in _RELATION.findall(listed))
        target = next(one[b"Target"] for one in relations if one[b"Id"] == key)
        name = posixpath.normpath(posixpath.join("/xl", target.decode().replace("\\", "/")))
        markup = archive.read(parts[name.lower().lstrip("/")])
    if last := _DIMENSION.search(markup[:HEAD_BYTES]):
        n_columns = reduce(lambda n, letter: 26 * n + letter - 64, last[1].upper(), 0)
        if SHEET_CELL_BYTES * n_columns * int(last[2]) > sheets.MAX_BYTES:
            raise InputError(
                f"{path} takes more memory than {sheets.MAX_BYTES:,} bytes.", hint=_HINT
            )
    unknown = _UNKNOWN.search(markup) if b"<f>" in markup else None
    return unknown[1].decode() if unknown else None
