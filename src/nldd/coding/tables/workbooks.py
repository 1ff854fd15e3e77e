"""Sheets of workbooks by calamine, and what is refused before it takes all memory.

Calamine holds a sheet as a rectangle from the first to the last cell, and a copy of its text in
each cell. A cell that somebody left far below a table asks for a terabyte of that by accident.
The parts of .xlsx files are XML that tells so before calamine reads it. Of other workbooks only the
size is known.
"""

import datetime
import posixpath
import re
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any
from xml.parsers import expat

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import (
    MAX_BYTES,
    SHEET_OF_CHOICES,
    Cell,
    Row,
    RowSource,
    TableFormat,
    cell_text,
    drop_surplus_cells,
    skipped_note,
)
from nldd.coding.tables.text_files import OLE, ZIP
from nldd.exceptions import InputError
from nldd.present.text import count_noun

MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO = 400
FREE_BYTES = 2**24
CHUNK_BYTES = 2**20
# What calamine takes for a cell, without its text.
SHEET_CELL_BYTES = 32
MAX_ELEMENTS = 100_000

# Without such a reference a sheet has 26 columns and 99,999 rows, which is never too large; with
# one, the places of all cells that have a value count, and of rows whose cells have no place.
_FAR = re.compile(rb"r(?<!:r)\s*=\s*[\"'](?:[A-Za-z]{2}|[A-Za-z]?\d{6})")
_FAR_HINT = "delete the rows below and the columns right of the table, or save it as CSV"
# A formula that nobody has calculated; one that gives empty text is of the type "str".
_UNKNOWN = re.compile(
    rb'<(?:\w+:)?c\s(?![^>]{0,200}\bt="str")[^>]{0,200}?\br="([A-Z]+\d+)"[^>]{0,200}>\s*'
    rb"<(?:\w+:)?f(?:\s[^>]{0,500})?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?\bref="[A-Z]+(\d+):[A-Z]+(\d+)"')
_ERROR = re.compile(rb'\sr="([A-Z]+)(\d+)"[^>]*?\st="e"[^>]*>(?:<f.*?)?<(?:\w+:)?v>([^<]*)<')
_PLACE = re.compile(
    rb"(?<![\w:])r\s*=\s*[\"']([A-Za-z]*)(\d+)[\"'][^<>]*(?<!/)>\s*"
    rb"<(?!/|(?:\w+:)?c\s[^>]*\br\s*=)"
)
_SHARED = re.compile(rb"\st=[\"']s[\"'][^>]*>\s*<(?:\w+:)?v>\s*(\d+)")

# Whole numbers below this are what they are in the file; above it they may be other ones.
MAX_WHOLE = 2**53


class WorkbookRows(RowSource):
    """A sheet of a workbook, which is in memory but for the rows as Python objects."""

    def __init__(
        self, path: Path, head: bytes, sheet: str | None = None, header_row: int = 1
    ) -> None:
        if not head.startswith((ZIP, OLE)):
            hint = "if it is text, rename it so that it ends in .csv"
            raise InputError(f"{path} is no workbook; it does not begin as one.", hint=hint)
        self._path = path
        self._n_skipped = self._n_read = 0
        self._header_row = header_row
        with _reading(path):
            self._open(head, sheet)
        # Numbers of the header and the last row that were read, as far as that has come.
        self._ends = (0, 0)
        first = next(self._filled_rows(), None)
        if first is None:
            empty, hint = "is empty", "begin the sheet with a row of column names"
            if header_row > 1:
                empty = f"is empty from row {header_row} on"
                hint = "--header-row with a smaller number"
            message = f"{path}: the sheet {quote(self._sheet.name)} {empty}."
            raise InputError(message, hint=self.advice(hint))
        texts = list(map(cell_text, first[1]))
        while texts[-1] == "":
            texts.pop()
        self.header = tuple(texts)
        self.format = TableFormat(kind="xlsx", sheet=self._sheet.name)

    def _open(self, head: bytes, sheet: str | None) -> None:
        from python_calamine import CalamineWorkbook

        if (n_bytes := self._path.stat().st_size) > MAX_BYTES:
            message = f"{self._path} has {n_bytes:,} bytes; workbooks are read up to {MAX_BYTES:,}."
            raise InputError(message, hint=_FAR_HINT)
        parts = check_archive(self._path) if head.startswith(ZIP) else {}
        with self._path.open("rb") as stream:
            book = CalamineWorkbook.from_filelike(stream)
        name = self._choose_sheet(book.sheets_metadata, sheet)
        is_xml = "xl/workbook.xml" in parts and not parts.keys() & {
            "xl/workbook.bin",
            "content.xml",
        }
        self._part = check_sheet(self._path, name, parts) if is_xml else Part()
        self._sheet = book.get_sheet_by_name(name)
        self._left = [None] * (self._sheet.start or (0, 0))[1]

    def _choose_sheet(self, sheets: list[Any], name: str | None) -> str:
        names = {s.name: str(s.visible) for s in sheets if str(s.typ).endswith("WorkSheet")}
        if not names:
            raise InputError(f"{self._path} has no sheet with cells.", hint="save it as CSV")
        if name is None:
            name = next((n for n in names if names[n].endswith(".Visible")), next(iter(names)))
        elif name not in names:
            hint = f"name one of its sheets: {quote_first(names)}"
            raise InputError(f"{self._path} has no sheet {quote(name)}.", hint=hint)
        self._others = [other for other in names if other not in (name, SHEET_OF_CHOICES)]
        return name

    def rows(self) -> Generator[Row, None, None]:
        width = len(self.header)
        self._n_skipped = 0
        filled = self._filled_rows()
        header, _ = next(filled)
        latest = header
        for number, cells in filled:
            self._n_skipped += number - latest - 1
            latest = number
            self._ends = (header, latest)
            row = tuple(cells)
            if len(row) > width:
                row = drop_surplus_cells(row, width, f"{self._path}, row {number} of the sheet")
            yield row

    def fraction(self) -> float:
        return self._n_read / max(1, (self._sheet.end or (0, 0))[0] + 1)

    def notes(self) -> list[str]:
        notes = skipped_note(self._n_skipped, "empty row")
        if self._others:
            read = quote(self._sheet.name)
            notes.insert(0, f"The sheet {read} was read, and not {quote_first(self._others)}.")
        if unknown := self._part.unknown:
            cells = count_noun(len(unknown), "cell")
            where = f"with a formula and no value, the first {unknown[0].decode()}"
            how = "Open the file in a spreadsheet, save it and run the command again."
            notes.append(f"{cells} {where}: read as empty. {how}")
        header, end = self._ends
        if n_merged := sum(b > header and a <= end for a, b in self._part.merged):
            merged = "group" if n_merged == 1 else "groups"
            only = "only the first cell of each has a value. Unmerge them and fill in the others."
            notes.append(f"{n_merged:,} {merged} of merged cells in the rows: {only}")
        return notes

    def advice(self, hint: str) -> str:
        if not self._others:
            return hint
        joined = f"{hint} Or" if hint.endswith("?") else f"{hint}; or"
        others = quote_first(self._others)
        return f"{joined} --sheet NAME, as the workbook has other sheets: {others}"

    def _filled_rows(self) -> Iterator[tuple[int, list[Cell]]]:
        """Rows that are not empty, with their number in the sheet, from 1."""
        if self._sheet.start is None:
            return
        with _reading(self._path):
            rows: Iterator[list[Any]] = self._sheet.iter_rows()
            for k, values in enumerate(rows):
                self._n_read = k + 1
                cells: list[Cell] = [
                    (value or None)
                    if (kind := type(value)) is str
                    else int(value)
                    if kind is float and value.is_integer() and -MAX_WHOLE < value < MAX_WHOLE
                    else _cell(value)
                    for value in values
                ]
                if self._left:
                    cells = [*self._left, *cells]
                for column, error in self._part.errors.get(k, {}).items():
                    cells[column] = error
                if cells.count(None) < len(cells) and k + 1 >= self._header_row:
                    yield k + 1, cells


@contextmanager
def _reading(path: Path) -> Iterator[None]:
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


def _cell(value: Any) -> Any:
    """A value of calamine as a cell: durations as times of a day, or as text."""
    if type(value) is datetime.timedelta:
        if datetime.timedelta() <= value < datetime.timedelta(days=1):
            return (datetime.datetime.min + value).time()
        minutes, seconds = divmod(value.total_seconds(), 60)
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:02.0f}"
    return value


@dataclass
class Part:
    """What matters of a part: cells far away, elements, errors such as ``#N/A`` by row, column.

    Also formulas without a value, and the first and last rows of merged cells.
    """

    member: str = ""
    is_far: bool = False
    n_closed: int = 0
    errors: dict[int, dict[int, str]] = field(default_factory=dict)
    unknown: list[bytes] = field(default_factory=list)
    merged: list[tuple[int, int]] = field(default_factory=list)


def check_archive(path: Path) -> dict[str, Part]:
    """Refuse what unpacks to too much and XML that only an attacker writes; return the parts.

    They are by their names in lower case, as some programs write them in other letters.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        packed = sum(member.compress_size for member in members)
        allowed = min(MAX_BYTES, FREE_BYTES + MAX_RATIO * packed)
        if size > allowed or len(members) > MAX_MEMBERS:
            found = f"{size:,} bytes in {len(members):,} parts"
            most = f"{allowed:,} bytes in {MAX_MEMBERS:,} parts are read from a file of its size"
            hint = "open it in a spreadsheet and save it again, or save the sheet as CSV"
            raise InputError(f"{path} would unpack to {found}; at most {most}.", hint=hint)
        parts = [_scan(archive, member) for member in members]
    return {part.member.replace("\\", "/").lower(): part for part in parts}


def _scan(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Part:
    """Read a part to its end, which also proves the size that the archive tells of it."""
    found = Part(member.filename)
    for markup in _pieces(archive, member):
        if b"<!DOCTYPE" in markup or b"<!ENTITY" in markup:
            raise ValueError("it declares a document type")
        found.is_far = found.is_far or _FAR.search(markup) is not None
        found.n_closed += markup.count(b"</")
        for letters, row, text in _ERROR.findall(markup) if b't="e"' in markup else ():
            found.errors.setdefault(int(row) - 1, {})[_column_number(letters) - 1] = text.decode()
        if b"<f" in markup or b":f" in markup:
            found.unknown += _UNKNOWN.findall(markup)
        if b"mergeCell" in markup:
            found.merged += [(int(a), int(b)) for a, b in _MERGED.findall(markup)]
    return found


def _pieces(archive: zipfile.ZipFile, member: str | zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a part, cut before a row where it has rows, else before a tag."""
    rest = b""
    with archive.open(member) as part:
        while chunk := part.read(CHUNK_BYTES):
            markup = rest + chunk
            cut = max(markup.rfind(b"<row"), 0) or max(markup.rfind(b"<"), 0) or len(markup)
            rest = markup[cut:] if len(markup) - cut < CHUNK_BYTES else b""
            yield markup[: len(markup) - len(rest)]
    yield rest


def check_sheet(path: Path, name: str, parts: dict[str, Part]) -> Part:
    """Refuse a sheet that takes too much memory; return the part that holds it."""
    with zipfile.ZipFile(path) as archive:
        sheet = parts[_part_of_sheet(archive, parts, name)]
        shared = parts.get("xl/sharedstrings.xml")
        pieces = archive.read(shared.member).split(b"si>") if shared else []
        lengths = [len(text) for text in pieces[1::2]]
        # As if each cell referred to the longest of the texts that cells share.
        is_doubtful = sheet.is_far or sheet.n_closed * max(lengths, default=0) > MAX_BYTES
        if is_doubtful and _weigh(archive, sheet.member, lengths) > MAX_BYTES:
            message = f"{path} takes more memory than {MAX_BYTES:,} bytes."
            raise InputError(message, hint=_FAR_HINT)
    return sheet


def _weigh(archive: zipfile.ZipFile, member: str, lengths: list[int]) -> int:
    """The bytes that calamine takes for a sheet, by its last cells and the texts of all of them."""
    n_rows, n_columns, n_letters = 0, 1, 0
    for markup in _pieces(archive, member):
        places = _PLACE.findall(markup)
        n_rows = max([n_rows, *map(int, {row for _, row in places})])
        n_columns = max([n_columns, *map(_column_number, {letters for letters, _ in places})])
        shared = map(int, _SHARED.findall(markup))
        n_letters += sum(lengths[k] for k in shared if k < len(lengths))
    return n_letters + SHEET_CELL_BYTES * n_rows * n_columns


def _column_number(letters: bytes) -> int:
    """The number of a column, from 1; 0 without letters."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def _part_of_sheet(archive: zipfile.ZipFile, parts: dict[str, Part], name: str) -> str:
    def elements(part: str) -> list[tuple[str, dict[str, str]]]:
        return _elements(archive.read(parts[part].member))

    relations = elements("xl/_rels/workbook.xml.rels")
    targets = {relation.get("Id"): relation.get("Target", "") for _, relation in relations}
    for tag, sheet in elements("xl/workbook.xml"):
        if tag.endswith("}sheet") and sheet.get("name") == name:
            key = next(value for key, value in sheet.items() if key.endswith("}id"))
            target = targets[key].replace("\\", "/")
            return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/").lower()
    raise LookupError(f"no part holds the sheet {name}")


def _elements(content: bytes) -> list[tuple[str, dict[str, str]]]:
    """The elements of a part and their attributes, without a tree, which takes memory."""
    found: list[tuple[str, dict[str, str]]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(found) == MAX_ELEMENTS:
            raise ValueError("its elements are too many")
        found.append((tag, attributes))

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = start
    parser.Parse(content, True)
    return found
