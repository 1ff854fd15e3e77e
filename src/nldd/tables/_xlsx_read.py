"""Rows of a sheet of an Excel workbook, a part of the file at a time."""

import datetime
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO
from xml.parsers import expat

from nldd._wording import count_noun, quote, quote_first
from nldd.exceptions import InputError
from nldd.tables._cells import cell_text
from nldd.tables._records import Cell, Row, TableFormat
from nldd.tables._xlsx_package import Attributes, local, opened, parse
from nldd.tables._xlsx_values import MAX_COLUMNS, MAX_ROWS, from_serial, unescaped
from nldd.tables._xlsx_workbook import Style, Workbook, choose_sheet, read_workbook

_PLAIN = Style(None, False)
_FLOAT = re.compile("[.eE]")


class XlsxRows:
    """A sheet of a workbook, see :class:`nldd.tables._records.Source`.

    Texts that cells share are in memory; all else is read as it is needed.

    Parameters
    ----------
    path : Path
    head : bytes
        The first bytes of the file.
    sheet : str, optional
        Its name; by default the first one that is not hidden.
    """

    def __init__(self, path: Path, head: bytes, sheet: str | None = None) -> None:
        self._path = path
        self._head = head
        self._n_skipped = 0
        self._read, self._size = 0, 1
        with opened(path, head) as archive:
            self._workbook = read_workbook(path, archive)
            self._sheet = choose_sheet(path, self._workbook.sheets, sheet)
            with archive.open(self._sheet.member) as stream:
                first = next(self._rows(stream), None)
        if first is None:
            raise InputError(
                f"{path}: the sheet {quote(self._sheet.name)} is empty.",
                hint=self.advice("begin the sheet with a row of column names"),
            )
        self.header = tuple(map(cell_text, first[1]))
        self.format = TableFormat(kind="xlsx", sheet=self._sheet.name)

    def batches(self, n_rows: int) -> Iterator[list[Row]]:
        """All rows from the first one on, at most `n_rows` at a time."""
        self._n_skipped = 0
        with opened(self._path, self._head) as archive:
            self._size = max(1, archive.getinfo(self._sheet.member).file_size)
            with archive.open(self._sheet.member) as stream:
                yield from self._batches(stream, n_rows)

    def fraction(self) -> float:
        """How much of the file the latest call of :meth:`batches` has read."""
        return min(1.0, self._read / self._size)

    def notes(self) -> list[str]:
        """What a person should know about what has been read."""
        notes = []
        if others := self._other_sheets():
            notes.append(
                f"The sheet {quote(self._sheet.name)} was read, and not {quote_first(others)}."
            )
        if self._n_skipped:
            verb = "were" if self._n_skipped > 1 else "was"
            notes.append(f"{count_noun(self._n_skipped, 'empty row')} {verb} skipped.")
        return notes

    def advice(self, hint: str) -> str:
        """The hint about a column that is not there, and the sheets where it may be."""
        others = self._other_sheets()
        if not others:
            return hint
        joined = f"{hint} Or" if hint.endswith("?") else f"{hint}; or"
        return f"{joined} --sheet NAME, as the workbook has other sheets: {quote_first(others)}"

    def _other_sheets(self) -> list[str]:
        return [sheet.name for sheet in self._workbook.sheets if sheet != self._sheet]

    def _batches(self, stream: IO[bytes], n_rows: int) -> Iterator[list[Row]]:
        width = len(self.header)
        batch: list[Row] = []
        rows = self._rows(stream)
        latest = next(rows)[0]
        for number, cells in rows:
            self._n_skipped += max(0, number - latest - 1)
            latest = number
            if len(cells) > width:
                self._check_surplus(number, cells)
            batch.append((*cells[:width], *[None] * (width - len(cells))))
            if len(batch) == n_rows:
                yield batch
                batch = []
        if batch:
            yield batch

    def _rows(self, stream: IO[bytes]) -> Iterator[tuple[int, list[Cell]]]:
        """Rows that are not empty, with their number in the sheet, from 1."""
        sheet = _SheetParser(self._path, self._workbook)
        for _ in parse(stream, sheet.parser):
            self._read = stream.tell()
            yield from sheet.rows
            sheet.rows.clear()

    def _check_surplus(self, number: int, cells: list[Cell]) -> None:
        width = len(self.header)
        surplus = [cell for cell in cells[width:] if cell not in (None, "")]
        if surplus:
            raise InputError(
                f"{self._path}, row {number} of the sheet: it has {len(cells)} cells, the header "
                f"{width}; the first cell too many is {quote(cell_text(surplus[0]))}.",
                hint="give its column a name in the header, or empty the cell",
            )


class _SheetParser:
    """Handlers that put the rows of a sheet into a list."""

    def __init__(self, path: Path, workbook: Workbook) -> None:
        self.rows: list[tuple[int, list[Cell]]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._before
        self._path = path
        self._workbook = workbook
        self._number = self._column = 0
        self._cells: list[Cell] = []
        self._present = False
        self._type = ""
        self._style = _PLAIN
        self._parts: list[str] = []  # with an empty one for each element that may hold text
        self._silent = False

    def _before(self, name: str, _: Attributes) -> None:
        if local(name) == "sheetData":
            self.parser.StartElementHandler = self._start
            self.parser.EndElementHandler = self._end

    def _start(self, name: str, attributes: Attributes) -> None:
        name = local(name)
        if name == "c":
            self._start_cell(attributes)
        elif name in ("v", "t"):
            if not self._silent:
                self._parts.append("")
                self.parser.CharacterDataHandler = self._parts.append
        elif name == "row":
            self._cells, self._present, self._column = [], False, 0
            self._number = self._whole(attributes.get("r"), self._number + 1, MAX_ROWS)
        elif name == "rPh":
            self._silent = True

    def _end(self, name: str) -> None:
        name = local(name)
        if name in ("v", "t"):
            self.parser.CharacterDataHandler = None
        elif name == "c":
            self._end_cell()
        elif name == "row":
            if self._present:
                self.rows.append((self._number, self._cells))
        elif name == "rPh":
            self._silent = False
        elif name == "sheetData":
            # What follows has elements of the same names.
            self.parser.StartElementHandler = self.parser.EndElementHandler = None

    def _start_cell(self, attributes: Attributes) -> None:
        self._column = self._position(attributes.get("r"))
        self._type = attributes.get("t", "n")
        self._style = _PLAIN
        if "s" in attributes:
            style = self._whole(attributes["s"], 0, 2**31)
            styles = self._workbook.styles
            self._style = styles[style] if style < len(styles) else _PLAIN
        self._parts = []

    def _end_cell(self) -> None:
        value: Cell = None
        if self._parts:
            value = self._value("".join(self._parts))
        # A cell that is declared to be text and has none keeps its row, but holds nothing.
        if value is not None or self._type == "inlineStr":
            self._present = True
            self._cells.extend([None] * (self._column - len(self._cells)))
            self._cells[self._column - 1] = value

    def _position(self, reference: str | None) -> int:
        """Number of the column, from 1."""
        if reference is None:
            return self._column + 1
        column = _column_of(reference.rstrip("0123456789"))
        if column is None:
            raise self._damage(f"a cell is called {quote(reference)}")
        return column

    def _whole(self, text: str | None, otherwise: int, most: int) -> int:
        if text is None:
            return otherwise
        if not (text.isdecimal() and len(text) < 12 and int(text) <= most):
            raise self._damage(f"a number is {quote(text)}")
        return int(text)

    def _value(self, text: str) -> Cell:
        if self._type == "inlineStr":
            return unescaped(text)
        if text == "":
            return None
        if self._type == "n":
            return self._numeric(text)
        if self._type == "s":
            return self._shared(text)
        if self._type == "b":
            return text.strip() in ("1", "true")
        if self._type == "d":
            return _from_iso(text.strip())
        return unescaped(text)  # the text of a formula, or of its error

    def _shared(self, text: str) -> str:
        texts = self._workbook.texts
        number = self._whole(text.strip(), 0, 2**31)
        if number >= len(texts):
            raise self._damage(f"there is no text {number}")
        return texts[number]

    def _numeric(self, text: str) -> Cell:
        try:
            number = float(text) if _FLOAT.search(text) else int(text)
            if not math.isfinite(number):
                raise OverflowError
        except (ValueError, OverflowError):
            raise self._damage(f"a cell is no number: {quote(text)}") from None
        kind = self._style.kind
        if kind is None:
            return number
        fine, from_1904 = self._style.fine, self._workbook.from_1904
        moment = from_serial(number, kind, fine=fine, from_1904=from_1904)
        return number if moment is None else moment

    def _damage(self, what: str) -> InputError:
        return InputError(
            f"{self._path}, row {self._number} of the sheet: {what}. The workbook is damaged.",
            hint="open it in a spreadsheet and save it again as .xlsx",
        )


@lru_cache(MAX_COLUMNS)
def _column_of(letters: str) -> int | None:
    """Number of a column, from 1, by its letters."""
    if not 1 <= len(letters) <= 3 or not letters.isascii() or not letters.isalpha():
        return None
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column if column <= MAX_COLUMNS else None


def _from_iso(text: str) -> Cell:
    """The date, the time or both that ISO 8601 text stands for."""
    for kind in (datetime.date, datetime.time, datetime.datetime):
        try:
            return kind.fromisoformat(text)
        except ValueError:
            continue
    return text
