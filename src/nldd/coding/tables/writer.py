"""Write a table as CSV, a workbook or JSON lines, that is whole or not there."""

import csv
import datetime
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from nldd._files import open_replacement
from nldd._wording import quote_first
from nldd.coding.tables.cells import (
    MAX_BYTES,
    Cell,
    Row,
    TableFormat,
    cell_place,
    cell_text,
    is_text,
    python_value,
)
from nldd.coding.tables.csv_files import separator_line
from nldd.coding.tables.reader import distinct_names
from nldd.exceptions import InputError, NLDDError
from nldd.present.formulas import escape_formula

if TYPE_CHECKING:
    from nldd.coding.tables.sheet_layout import SheetLayout

STANDARD_OUTPUT = "-"
ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".jsonl", ".sav", ".dta", ".xpt")
STATISTICS = (".sav", ".dta", ".xpt")
BLOCK_ROWS = 2000
MAX_ROWS, MAX_COLUMNS, MAX_TEXT, MAX_DIGITS = 1_048_576, 16_384, 32_767, 15

# Writes rows, the first of which has the given number.
_Put = Callable[[list[Row], int], object]


class TableWriter:
    """Rows on their way into a file; made by :func:`create_table`.

    The file gets its name when the ``with`` block ends. After an error there is no new file, and an
    old one of that name is as it was.

    Parameters
    ----------
    path, header, like, raw, look, descriptions
        Those of :func:`create_table`.

    Attributes
    ----------
    path : Path
        The file.
    header : tuple of str
        Names of the columns.
    n_rows : int
        Rows written so far.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.writer import create_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "coded.jsonl")
    ...     with create_table(path, ["answer", "theta"]) as writer:
    ...         writer.write([("good", 0.25), ("cheap", 0.5)])
    ...     print(path.read_text(), end="")
    {"answer": "good", "theta": 0.25}
    {"answer": "cheap", "theta": 0.5}
    >>> writer.n_rows
    2
    """

    def __init__(
        self,
        path: Path,
        header: Sequence[str],
        like: TableFormat | None,
        raw: bool,
        look: "SheetLayout | None" = None,
        descriptions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.path = path
        self.header = tuple(header)
        self.n_rows = 0
        self._like = like or TableFormat(kind="")
        self._raw, self._look = raw, look
        self._descriptions = descriptions
        self._put: _Put | None = None
        self._stack = ExitStack()

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Add rows, each as long as the header."""
        if self._put is None:
            raise RuntimeError("a table is written within a `with` block")
        waiting = iter(rows)
        while block := [tuple(row) for row in islice(waiting, BLOCK_ROWS)]:
            first, width = self.n_rows + 1, len(self.header)
            for k, row in enumerate(block, first):
                if len(row) != width:
                    what = f"expected {width} cells as in the header; got {len(row)}"
                    raise InputError(f"{cell_place(self.path, k)}: {what}.")
            with self._explaining_errors(block, first):
                self._put(block, first)
            self.n_rows += len(block)

    def __enter__(self) -> "TableWriter":
        with self._explaining_errors([self.header], 0), ExitStack() as stack:
            stream = stack.enter_context(_stream(self.path))
            self._put = stack.enter_context(self._format(stream))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._put = None
        with self._explaining_errors([], 0):
            self._stack.__exit__(*error)

    def _format(self, stream: BinaryIO) -> AbstractContextManager[_Put]:
        ending = self.path.suffix.lower()
        if ending == ".xlsx":
            return _xlsx(stream, self.header, self.path, self._like.sheet, self._look)
        if ending == ".jsonl":
            return _jsonl(stream, self.header)
        like = self._like
        if ending in STATISTICS:
            from nldd.coding.tables.statistics_writer import statistics_file

            known = (like.variables, self._descriptions)
            return statistics_file(stream, self.header, self.path, *known)
        unicode = like.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "ascii", "us-ascii")
        # Who works in Excel opens the file there, where umlauts without the mark are garbled.
        bom = like.bom or not unicode or like.kind == "xlsx"
        separator = "\t" if ending in (".tsv", ".txt") else ","
        if like.kind == "csv" and ending != ".tsv":
            separator = like.separator
        like = replace(like, separator=separator, bom=bom and str(self.path) != STANDARD_OUTPUT)
        return _csv(stream, self.header, like, self._raw)

    @contextmanager
    def _explaining_errors(self, rows: Sequence[Row], first: int) -> Iterator[None]:
        """Say why a file cannot be written, or which of the rows holds what no file can hold."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            place = "Standard output" if str(self.path) == STANDARD_OUTPUT else self.path
            message = f"{place} cannot be written: {error.strerror or error}."
            hint = "check the folder, who may write to it, and the space on the disk"
            raise NLDDError(message, hint=hint) from error
        except UnicodeEncodeError:
            places = (
                cell_place(self.path, number, name) if number else f"{self.path.name}, header"
                for number, row in enumerate(rows, first)
                for name, cell in zip(self.header, row, strict=True)
                if isinstance(cell, str) and not is_text(cell)
            )
            what = "the text holds half of a character (a lone surrogate), which no file can hold"
            hint = "take the broken character out of the text"
            raise InputError(f"{next(places, self.path)}: {what}.", hint=hint) from None


@contextmanager
def _stream(path: Path) -> Iterator[BinaryIO]:
    if str(path) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # The file that a link points to is replaced, not the link.
    with open_replacement(path.resolve() if path.is_symlink() else path) as stream:
        yield stream


@contextmanager
def _csv(stream: BinaryIO, header: tuple[str, ...], like: TableFormat, raw: bool) -> Iterator[_Put]:
    if like.bom or header[0].startswith("\ufeff"):
        stream.write(b"\xef\xbb\xbf")
    text = _csv_text([header], like, raw)
    if separator_line(text):
        # In quotes it is a name; without them Excel and our reader would obey it.
        text = _csv_text([header], like, raw, csv.QUOTE_ALL)
    stream.write(text.encode())
    yield lambda rows, _: stream.write(_csv_text(rows, like, raw).encode())


def _csv_text(
    rows: Sequence[Row], like: TableFormat, raw: bool, quoting: Literal[0, 1] = csv.QUOTE_MINIMAL
) -> str:
    out = StringIO()
    writer = csv.writer(out, delimiter=like.separator, lineterminator=like.newline, quoting=quoting)
    writer.writerows(map(cell_text if raw else _safe_text, row) for row in rows)
    text = out.getvalue()
    if like.newline == "\n" and "\r" in text and not quoting:
        # Python before 3.13 quotes only the line end that it writes itself, and a carriage
        # return without quotes would end the row.
        return "".join(_csv_text([row], like, raw, csv.QUOTE_ALL) for row in rows)
    return text


def _safe_text(cell: Cell) -> str:
    return escape_formula(cell) if isinstance(cell, str) else cell_text(cell)


@contextmanager
def _jsonl(stream: BinaryIO, header: tuple[str, ...]) -> Iterator[_Put]:
    keys = header if len(set(header)) == len(header) else distinct_names(header)
    "".join(keys).encode()

    def put(rows: list[Row], _: int) -> None:
        records = (dict(zip(keys, row, strict=True)) for row in rows)
        dump = partial(json.dumps, ensure_ascii=False, default=_json_value)
        stream.write("".join(f"{dump(record)}\n" for record in records).encode())

    yield put


def _json_value(cell: Any) -> Any:
    is_time = isinstance(cell, datetime.date | datetime.time)
    return cell_text(cell) if is_time else python_value(cell)


class _Outlet:
    """The stream of a workbook; after an error, its zip file goes on to write an end nowhere.

    Python closes that file when it is forgotten, and would complain that the stream is closed.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream: BinaryIO = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def _xlsx(
    stream: BinaryIO, header: tuple[str, ...], path: Path, name: str, look: "SheetLayout | None"
) -> Iterator[_Put]:
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    def put(rows: Sequence[Row], first: int) -> None:
        if first + len(rows) > MAX_ROWS:
            raise _refusal(path, f"a workbook has at most {MAX_ROWS - 1:,} rows below the header")
        for number, row in enumerate(rows, first):
            for column, cell in enumerate(row):
                try:
                    _write_cell(sheet, form, number, column, cell)
                except OverflowError as error:
                    raise _refusal(cell_place(path, number, header[column]), error) from None
        if sheet.row_data_fh.tell() > MAX_BYTES - 2**24:
            what = f"a sheet of more than {MAX_BYTES:,} bytes is too much for a workbook"
            raise _refusal(path, what)

    if len(header) > MAX_COLUMNS:
        what = f"a workbook has at most {MAX_COLUMNS:,} columns; the table has {len(header):,}"
        raise _refusal(path, what)
    outlet = _Outlet(stream)
    with TemporaryDirectory(prefix="nldd-") as folder:
        book = Workbook(outlet, {"constant_memory": True, "tmpdir": folder})
        # Without the time of day, so that equal tables give equal files.
        book.set_properties({"created": datetime.datetime(2000, 1, 1)})
        sheet = book.add_worksheet(_sheet_name(name))
        sheets = [sheet]
        if look is not None:
            from nldd.coding.tables.sheet_layout import format_sheet

            sheets += format_sheet(book, sheet, look)
        form = cache(lambda code: book.add_format({"num_format": code}))
        try:
            put([header], 0)
            yield put
            book.close()
        except FileCreateError as error:
            raise OSError(*getattr(error.args[0], "args", error.args)) from error
        finally:
            outlet.stream = BytesIO()
            book.fileclosed = True
            for each in sheets:
                each.row_data_fh.close()


def _refusal(place: Path | str, what: object) -> InputError:
    return InputError(f"{place}: {what}.", hint="write the table as CSV")


def _write_cell(sheet: Any, form: Callable[[str], Any], row: int, column: int, cell: Cell) -> None:
    """Write text as text, and numbers with too many digits too; what does not fit overflows."""
    if isinstance(cell, str):
        _check_text(cell)
        if cell.startswith("<r>") and cell.endswith("</r>"):
            # XlsxWriter takes such text for XML of its own, unless it comes in two parts.
            general = form("General")
            sheet.write_rich_string(row, column, general, cell[:1], general, cell[1:])
        else:
            sheet.write_string(row, column, cell)
    elif isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif isinstance(cell, int) and abs(cell) >= 10**MAX_DIGITS:
        sheet.write_string(row, column, str(int(cell)))
    elif isinstance(cell, int | float):
        if not math.isfinite(cell):
            raise OverflowError(f"a workbook cannot hold the number {cell}")
        sheet.write_number(row, column, cell)
    elif isinstance(cell, datetime.date | datetime.time):
        if code := _time_format(cell):
            sheet.write_datetime(row, column, cell, form(code))
        else:
            sheet.write_string(row, column, cell.isoformat())
    elif cell is not None:
        _write_cell(sheet, form, row, column, python_value(cell))


def _check_text(text: str) -> None:
    if not text.isascii():
        text.encode()
    if len(text) > MAX_TEXT // 2 and len(text.encode("utf-16-le")) > 2 * MAX_TEXT:
        what = f"the text has {len(text):,} characters; a cell of a workbook holds"
        raise OverflowError(f"{what} {MAX_TEXT:,}")


def _time_format(value: datetime.date | datetime.time) -> str | None:
    """How a date or time is shown; None for one with microseconds, which becomes text."""
    if getattr(value, "tzinfo", None) is not None or getattr(value, "year", 1900) < 1900:
        what = f"a workbook cannot hold {value.isoformat()}; it has no time zones and no days"
        raise OverflowError(f"{what} before 1900")
    microsecond = getattr(value, "microsecond", 0)
    if microsecond % 1000:
        return None
    day = "yyyy-mm-dd" if isinstance(value, datetime.date) else ""
    time = "hh:mm:ss.000" if microsecond else "hh:mm:ss"
    return f"{day} {time if hasattr(value, 'hour') else ''}".strip()


def _sheet_name(name: str) -> str:
    """A name that Excel takes: short, and without the signs of its formulas."""
    name = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", name).strip(" '")[:31].rstrip(" '")
    return name if name and is_text(name) else "Sheet1"


def create_table(
    path: Path | str,
    header: Sequence[str],
    *,
    like: TableFormat | None = None,
    raw: bool = False,
    look: "SheetLayout | None" = None,
    descriptions: Mapping[str, str] = MappingProxyType({}),
) -> TableWriter:
    """Begin a table in the format that the ending of its name says.

    Parameters
    ----------
    path : Path or str
        Ends in ``.csv``, ``.tsv``, ``.txt``, ``.xlsx``, ``.jsonl``, ``.sav``, ``.dta`` or ``.xpt``;
        ``-`` is CSV on standard output.
    header : sequence of str
        Names of the columns.
    like : TableFormat, optional
        Of the table that it came from: CSV gets the same separator and line ends, and a byte order
        mark if that had one, was not in UTF-8 or was a workbook. All text is written in UTF-8.
    raw : bool
        Whether to write text to CSV without the apostrophe of :func:`escape_formula`.
    look : SheetLayout, optional
        Of a workbook: widths of columns, choices in cells. Other formats have none.
    descriptions : mapping from str to str
        What columns hold, in words, for files that have a place for that (SPSS, Stata and SAS).

    Returns
    -------
    TableWriter
        To be used in a ``with`` block.

    Notes
    -----
    A workbook gets whole numbers with more than 15 digits and times with microseconds
    as text, so that none changes. What it cannot hold is an error that names the cell: more than
    32,767 characters, NaN and infinity, days before 1900, time zones.

    Files of SPSS, Stata and SAS get the values, labels and missing values of the table that they
    came from. Their rows are held in memory until the file is written, ``2**24`` cells at most.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.writer import create_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "coded.csv")
    ...     with create_table(path, ["answer", "theta"]) as writer:
    ...         writer.write([("good", 0.25), ("=1+1", None)])
    ...     print(path.read_text(), end="")
    answer,theta
    good,0.25
    '=1+1,
    """
    path = Path(path)
    if str(path) != STANDARD_OUTPUT and path.suffix.lower() not in ENDINGS:
        message = f"{path}: the ending {path.suffix!r} is none of those that are written."
        raise InputError(message, hint=f"use one of {', '.join(ENDINGS)}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is there and is no file.", hint="use another name")
    if not header:
        raise InputError(f"{path}: a table needs at least one column.")
    if wrong := [str(name) for name in header if not isinstance(name, str)]:
        raise InputError(f"{path}: names of columns must be text; got {quote_first(wrong)}.")
    return TableWriter(path, header, like, raw, look, descriptions)
