"""Sheets of workbooks by calamine, and rows as an .xlsx workbook by XlsxWriter."""

import datetime
import math
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from nldd._wording import quote, quote_first
from nldd.exceptions import InputError
from nldd.tables._guard import MAX_BYTES, check_archive, check_by_trial, check_sheet
from nldd.tables._records import (
    Cell,
    Row,
    Sink,
    Source,
    TableFormat,
    cell_text,
    is_text,
    located,
    plain,
    skipped_note,
    surrogate_error,
)
from nldd.tables._text import OLE, ZIP

MAX_ROWS, MAX_COLUMNS, MAX_TEXT, MAX_DIGITS = 1_048_576, 16_384, 32_767, 15

# Whole numbers below this are what they are in the file; above it they may be other ones.
MAX_WHOLE = 2**53

_USE_CSV = "write the table as CSV"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


class WorkbookRows(Source):
    """A sheet of a workbook, which is in memory but for the rows as Python objects."""

    def __init__(self, path: Path, head: bytes, sheet: str | None = None) -> None:
        if not head.startswith((ZIP, OLE)):
            raise InputError(
                f"{path} is no workbook; it does not begin as one.",
                hint="if it is text, rename it so that it ends in .csv",
            )
        self._path = path
        self._n_skipped = self._n_read = 0
        with _reading(path):
            self._open(head, sheet)
        first = next(self._filled_rows(), None)
        if first is None:
            raise InputError(
                f"{path}: the sheet {quote(self._sheet.name)} is empty.",
                hint=self.advice("begin the sheet with a row of column names"),
            )
        texts = list(map(cell_text, first[1]))
        while texts[-1] == "":
            texts.pop()
        self.header = tuple(texts)
        self.format = TableFormat(kind="xlsx", sheet=self._sheet.name)

    def _open(self, head: bytes, sheet: str | None) -> None:
        from importlib.metadata import version

        from python_calamine import CalamineWorkbook

        parts = check_archive(self._path) if head.startswith(ZIP) else {}
        names = {part.replace("\\", "/").lower() for part in parts}
        is_xml = "xl/workbook.xml" in names and not names & {"xl/workbook.bin", "content.xml"}
        if not is_xml:
            check_by_trial(self._path, sheet)
        with self._path.open("rb") as stream:
            book = CalamineWorkbook.from_filelike(stream)
        name = self._choose_sheet(book.sheets_metadata, sheet)
        self._errors = check_sheet(self._path, name, parts) if is_xml else {}
        self._sheet = book.get_sheet_by_name(name)
        self._left = [None] * (self._sheet.start or (0, 0))[1]
        self._escaped = version("python-calamine") in ("0.5.0", "0.5.1", "0.5.2", "0.5.3")

    def _choose_sheet(self, sheets: list[Any], name: str | None) -> str:
        names = {s.name: str(s.visible) for s in sheets if str(s.typ).endswith("WorkSheet")}
        if not names:
            raise InputError(f"{self._path} has no sheet with cells.", hint="save it as CSV")
        if name is None:
            name = next(
                (n for n, how in names.items() if how.endswith(".Visible")), next(iter(names))
            )
        elif name not in names:
            raise InputError(
                f"{self._path} has no sheet {quote(name)}.",
                hint=f"name one of its sheets: {quote_first(names)}",
            )
        self._others = [other for other in names if other != name]
        return name

    def rows(self) -> Generator[Row, None, None]:
        width = len(self.header)
        self._n_skipped = 0
        filled = self._filled_rows()
        latest, _ = next(filled)
        for number, cells in filled:
            self._n_skipped += number - latest - 1
            latest = number
            if len(cells) > width and any(cell not in (None, "") for cell in cells[width:]):
                raise self._surplus_error(number, cells)
            yield tuple(cells[:width])

    def fraction(self) -> float:
        return self._n_read / max(1, (self._sheet.end or (0, 0))[0] + 1)

    def notes(self) -> list[str]:
        notes = skipped_note(self._n_skipped, "empty row")
        if self._others:
            read = quote(self._sheet.name)
            notes.insert(0, f"The sheet {read} was read, and not {quote_first(self._others)}.")
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
                if self._left or k in self._errors or self._escaped:
                    cells = self._completed(k, cells)
                if cells.count(None) < len(cells):
                    yield k + 1, cells

    def _completed(self, k: int, cells: list[Cell]) -> list[Cell]:
        """The cells with empty columns on their left, errors, and what old calamine leaves out."""
        cells = [*self._left, *cells]
        for column, error in self._errors.get(k, {}).items():
            cells[column] = error
        if self._escaped:
            return [_ESCAPED.sub(_character, c) if isinstance(c, str) else c for c in cells]
        return cells

    def _surplus_error(self, number: int, cells: list[Cell]) -> InputError:
        width = len(self.header)
        filled = [j for j, cell in enumerate(cells) if cell not in (None, "")]
        surplus = next(cells[j] for j in filled if j >= width)
        return InputError(
            f"{self._path}, row {number} of the sheet: it has {filled[-1] + 1} cells, the header "
            f"{width}; the first cell too many is {quote(cell_text(surplus))}.",
            hint="give its column a name in the header, or empty the cell",
        )


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
        if "detect file format" in str(error) or "encrypted" in str(error):
            raise InputError(
                f"{path} has a password, or is no workbook.",
                hint="open it in a spreadsheet and save it as .xlsx without a password",
            ) from error
        raise InputError(
            f"{path} is a damaged workbook: {str(error) or type(error).__name__}.",
            hint="open it in a spreadsheet and save it again as .xlsx",
        ) from error


def _cell(value: Any) -> Cell:
    """A value of calamine as a cell: durations as times of a day, or as text."""
    if type(value) is datetime.timedelta:
        if datetime.timedelta() <= value < datetime.timedelta(days=1):
            return (datetime.datetime.min + value).time()
        minutes, seconds = divmod(value.total_seconds(), 60)
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:02.0f}"
    cell: Cell = value
    return cell


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return match[0] if 0xD800 <= code <= 0xDFFF else chr(code)


class XlsxSink(Sink):
    """Write rows as the one sheet of a workbook, in which text is always text.

    What a number of a workbook cannot hold, because it has too many digits or is a time with
    microseconds, is written as text; what it cannot hold at all is an error.
    """

    def __init__(self, stream: BinaryIO, header: tuple[str, ...], path: Path, sheet: str) -> None:
        from xlsxwriter import Workbook

        if len(header) > MAX_COLUMNS:
            raise InputError(
                f"{path}: a workbook has at most {MAX_COLUMNS:,} columns; the table has "
                f"{len(header):,}.",
                hint=_USE_CSV,
            )
        self._header = header
        self._path = path
        self._folder = TemporaryDirectory(prefix="nldd-")
        self._book = Workbook(stream, {"constant_memory": True, "tmpdir": self._folder.name})
        # Without the time of day, so that equal tables give equal files.
        self._book.set_properties({"created": datetime.datetime(2000, 1, 1)})
        self._formats: dict[str, Any] = {}
        self._sheet = self._book.add_worksheet(_sheet_name(sheet))
        try:
            self._write_row(0, header)
        except BaseException:
            self.close()
            raise

    def write(self, rows: list[Row], first: int) -> None:
        if first + len(rows) > MAX_ROWS:
            raise InputError(
                f"{self._path}: a workbook has at most {MAX_ROWS - 1:,} rows below the header; the "
                "table has more.",
                hint=_USE_CSV,
            )
        for number, row in enumerate(rows, first):
            self._write_row(number, row)
        if self._sheet.row_data_fh.tell() > MAX_BYTES - 2**24:
            raise InputError(
                f"{self._path}: the sheet would take more than {MAX_BYTES:,} bytes, too much for "
                "a workbook.",
                hint=_USE_CSV,
            )

    def finish(self) -> None:
        from xlsxwriter.exceptions import FileCreateError

        try:
            self._book.close()
        except FileCreateError as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        self._book.fileclosed = True
        self._sheet.row_data_fh.close()
        self._folder.cleanup()

    def _write_row(self, number: int, row: Row | tuple[str, ...]) -> None:
        for column, cell in enumerate(row):
            if cell is not None:
                self._write_cell(number, column, cell)

    def _write_cell(self, row: int, column: int, cell: Cell) -> None:
        if isinstance(cell, str):
            self._write_text(row, column, cell)
        elif isinstance(cell, bool):
            self._sheet.write_boolean(row, column, cell)
        elif isinstance(cell, int) and abs(cell) >= 10**MAX_DIGITS:
            self._sheet.write_string(row, column, str(int(cell)))
        elif isinstance(cell, int | float):
            if not math.isfinite(cell):
                raise self._refused(row, column, f"a workbook cannot hold the number {cell}")
            self._sheet.write_number(row, column, cell)
        elif isinstance(cell, datetime.date | datetime.time):
            self._write_moment(row, column, cell)
        else:
            self._write_cell(row, column, plain(cell))

    def _write_text(self, row: int, column: int, text: str) -> None:
        if not text.isascii() and not is_text(text):
            raise surrogate_error(located(self._path, row, self._header[column]))
        if len(text) > MAX_TEXT // 2 and len(text.encode("utf-16-le")) > 2 * MAX_TEXT:
            what = f"the text has {len(text):,} characters; a cell of a workbook holds"
            raise self._refused(row, column, f"{what} {MAX_TEXT:,}")
        if text.startswith("<r>") and text.endswith("</r>"):
            # XlsxWriter takes such text for XML of its own, unless it comes in two parts.
            form = self._format("General")
            self._sheet.write_rich_string(row, column, form, text[:1], form, text[1:])
        else:
            self._sheet.write_string(row, column, text)

    def _write_moment(self, row: int, column: int, value: datetime.date | datetime.time) -> None:
        is_zoned = getattr(value, "tzinfo", None) is not None
        if is_zoned or (isinstance(value, datetime.date) and value.year < 1900):
            what = f"a workbook cannot hold {value.isoformat()}; it has no time zones and no days"
            raise self._refused(row, column, f"{what} before 1900")
        microsecond = getattr(value, "microsecond", 0)
        if microsecond % 1000:
            self._sheet.write_string(row, column, value.isoformat())
            return
        parts = ["yyyy-mm-dd"] if isinstance(value, datetime.date) else []
        if isinstance(value, datetime.datetime | datetime.time):
            parts.append("hh:mm:ss.000" if microsecond else "hh:mm:ss")
        self._sheet.write_datetime(row, column, value, self._format(" ".join(parts)))

    def _format(self, code: str) -> Any:
        if code not in self._formats:
            self._formats[code] = self._book.add_format({"num_format": code})
        return self._formats[code]

    def _refused(self, row: int, column: int, what: str) -> InputError:
        where = located(self._path, row, self._header[column])
        return InputError(f"{where}: {what}.", hint=_USE_CSV)


def _sheet_name(name: str) -> str:
    """A name that Excel takes: short, and without the signs of its formulas."""
    name = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", name).strip(" '")[:31].rstrip(" '")
    return name if name and is_text(name) else "Sheet1"
