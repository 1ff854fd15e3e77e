"""Write a table as CSV, a workbook or JSON lines, that is whole or not there."""

import codecs
import csv
import datetime
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, BinaryIO

import pandas as pd

from nldd._files import open_replacement
from nldd._wording import quote
from nldd.coding.tables.reading import SHEET_OF_CHOICES, distinct_names
from nldd.coding.tables.spreadsheet import Cell, TableFormat, cell_place, cell_text, python_value
from nldd.exceptions import InputError, NLDDError
from nldd.present.text import escape_formula

# Of a table, the header first.
Rows = Sequence[Sequence[Cell]]
STANDARD_OUTPUT = "-"
STATISTICS = (".sav", ".dta", ".xpt")
ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".jsonl", *STATISTICS)
MAX_ROWS, MAX_COLUMNS, MAX_TEXT, MAX_DIGITS = 1_048_576, 16_384, 32_767, 15
MOST_MESSAGE = 255  # characters in a rule of a cell


@dataclass(frozen=True)
class SheetLayout:
    """How a workbook looks that people work in; other formats have no look.

    Texts are wrapped, and the header stays in sight.

    Attributes
    ----------
    widths : mapping from int to float
        Widths of columns in characters, by their place from 0.
    choices : mapping from int to (sequence of cells, str)
        What the cells of columns offer to choose from, by their place from 0, and advice for
        whoever types something else, which is no error.
    """

    widths: Mapping[int, float] = field(default_factory=dict)
    choices: Mapping[int, tuple[Sequence[Cell], str]] = field(default_factory=dict)


def write_table(
    path: Path | str,
    frame: pd.DataFrame,
    *,
    header: Sequence[str] | None = None,
    like: TableFormat | None = None,
    raw: bool = False,
    layout: SheetLayout | None = None,
    descriptions: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write a table in the format that the ending of its name says.

    The file gets its name when it is complete. After an error there is no new file, and an old one
    of that name is as it was.

    Parameters
    ----------
    path : Path or str
        Ends in ``.csv``, ``.tsv``, ``.txt``, ``.xlsx``, ``.jsonl``, ``.sav``, ``.dta`` or ``.xpt``;
        ``-`` is CSV on standard output.
    frame : pandas.DataFrame
        The rows. Columns of dtype object hold cells as they are; in others, what pandas takes for
        missing is an empty cell.
    header : sequence of str, optional
        Names of the columns, if they are others than those of the frame, which are distinct.
    like : TableFormat, optional
        Of the table that it came from: CSV gets the same separator and line ends, and a byte order
        mark if that had one, was not in UTF-8 or was a workbook. All text is written in UTF-8.
    raw : bool
        Whether to write text to CSV without the apostrophe of :func:`escape_formula`.
    layout : SheetLayout, optional
        Of a workbook: widths of columns, choices in cells.
    descriptions : mapping from str to str
        What columns hold, in words, for files that have a place for that (SPSS, Stata and SAS).

    Notes
    -----
    A workbook gets whole numbers with more than 15 digits and times with microseconds as text, so
    that none changes. What it cannot hold is an error that names the cell: more than 32,767
    characters, NaN and infinity, days before 1900, time zones.

    Files of SPSS, Stata and SAS get the values, labels and missing values of the table that they
    came from.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.spreadsheet import frame_of
    >>> from nldd.coding.tables.writing import write_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "coded.csv")
    ...     write_table(path, frame_of({"answer": ["good", "=1+1"], "theta": [0.25, None]}))
    ...     print(path.read_text(), end="")
    answer,theta
    good,0.25
    '=1+1,
    """
    path, like = Path(path), like or TableFormat(kind="")
    names = tuple(frame.columns if header is None else header)
    _check_request(path, names)
    columns = [_cells(frame.iloc[:, j]) for j in range(frame.shape[1])]
    ending = path.suffix.lower()
    with _open_output(path) as stream:
        if ending in STATISTICS:
            from nldd.coding.tables.typed_files import write_statistics

            write_statistics(stream, path, names, columns, like.variables, descriptions)
            return
        rows = [names, *zip(*columns, strict=True)]
        if ending == ".xlsx":
            stream.write(_workbook(path, rows, like.sheet, layout))
        elif ending == ".jsonl":
            _write_jsonl(stream, rows)
        else:
            _write_csv(stream, path, rows, like, raw)


def _check_request(path: Path, header: Sequence[str]) -> None:
    if str(path) != STANDARD_OUTPUT and path.suffix.lower() not in ENDINGS:
        message = f"{path}: the ending {path.suffix!r} is none of those that are written."
        raise InputError(message, hint=f"use one of {', '.join(ENDINGS)}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is there and is no file.", hint="use another name")


def _cells(column: pd.Series) -> list[Any]:
    if column.dtype != object:
        column = column.astype(object).where(column.notna(), None)
    return column.tolist()


@contextmanager
def _open_output(path: Path) -> Iterator[BinaryIO]:
    """A stream of bytes to a new file, or an error that says why there is none."""
    try:
        if str(path) == STANDARD_OUTPUT:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with open_replacement(path) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "Standard output" if str(path) == STANDARD_OUTPUT else path
        message = f"{place} cannot be written: {error.strerror or error}."
        hint = "check the folder, who may write to it, and the space on the disk"
        raise NLDDError(message, hint=hint) from error
    except UnicodeEncodeError as error:
        message = f"{path}: the text {quote(error.object)} holds half of a character."
        raise InputError(message, hint="take the broken character out of the text") from None


def _write_csv(stream: BinaryIO, path: Path, rows: Rows, like: TableFormat, raw: bool) -> None:
    ending = path.suffix.lower()
    separator = "\t" if ending in (".tsv", ".txt") else ","
    if like.kind == "csv" and ending != ".tsv":
        separator = like.separator
    # Who works in Excel opens the file there, where umlauts without the mark are garbled.
    for_excel = like.bom or like.kind == "xlsx" or like.encoding not in ("utf-8", "ascii")
    if for_excel and str(path) != STANDARD_OUTPUT:
        stream.write(codecs.BOM_UTF8)
    out = TextIOWrapper(stream, encoding="utf-8", newline="")
    plain, quoted = (
        csv.writer(out, delimiter=separator, lineterminator=like.newline, quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    try:
        for row in rows:
            texts = list(map(cell_text if raw else _safe_text, row))
            # Python before 3.13 quotes only the line end that it writes itself.
            (quoted if "\r" in "".join(texts) else plain).writerow(texts)
    finally:
        out.detach()  # which writes the rest; else standard output would be closed with it


def _safe_text(cell: Cell) -> str:
    return escape_formula(cell) if isinstance(cell, str) else cell_text(cell)


def _write_jsonl(stream: BinaryIO, rows: Rows) -> None:
    header = list(map(str, rows[0]))
    keys = header if len(set(header)) == len(header) else distinct_names(header)
    for row in rows[1:]:
        record = dict(zip(keys, row, strict=True))
        text = json.dumps(record, ensure_ascii=False, default=_json_value)
        stream.write(f"{text}\n".encode())


def _json_value(cell: Any) -> Any:
    is_time = isinstance(cell, datetime.date | datetime.time)
    return cell_text(cell) if is_time else python_value(cell)


def _workbook(path: Path, rows: Rows, name: str, layout: SheetLayout | None) -> memoryview:
    """The bytes of a workbook; its rows wait in a file until it is whole."""
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    n_columns, n_rows = len(rows[0]), len(rows) - 1
    if n_columns > MAX_COLUMNS or n_rows >= MAX_ROWS:
        most = f"{MAX_COLUMNS:,} columns and {MAX_ROWS - 1:,} rows below the header"
        raise _refusal(path, f"a workbook has at most {most}; got {n_columns:,} and {n_rows:,}")
    content = BytesIO()
    with TemporaryDirectory(prefix="nldd-") as folder:
        book = Workbook(content, {"constant_memory": True, "tmpdir": folder})
        try:
            # Without the time of day, so that equal tables give equal files.
            book.set_properties({"created": datetime.datetime(2000, 1, 1)})
            sheet = book.add_worksheet(_sheet_name(name))
            form = cache(lambda code: book.add_format({"num_format": code}))
            if layout is not None:
                _format_sheet(book, sheet, layout, form)
            for number, row in enumerate(rows):
                for column, cell in enumerate(row):
                    try:
                        _write_cell(sheet, form, number, column, cell)
                    except OverflowError as error:
                        place = cell_place(path, number, str(rows[0][column]))
                        raise _refusal(place, error) from None
        finally:
            try:
                book.close()
            except FileCreateError as error:  # of the disk
                raise error.args[0] from error
    return content.getbuffer()


def _format_sheet(book: Any, sheet: Any, layout: SheetLayout, form: Callable[[str], Any]) -> None:
    """Give a sheet of XlsxWriter its look, before its first row."""
    from xlsxwriter.utility import xl_range_abs

    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    sheet.freeze_panes(1, 0)
    for column, width in layout.widths.items():
        sheet.set_column(column, column, width, wrapped)
    if not layout.choices:
        return
    hidden = book.add_worksheet(SHEET_OF_CHOICES)
    hidden.hide()
    for row, (column, (choices, advice)) in enumerate(layout.choices.items()):
        # A rule itself holds 255 characters, and no choice with a comma or a quotation mark.
        for place, choice in enumerate(choices):
            _write_cell(hidden, form, row, place, choice)
        source = xl_range_abs(row, 0, row, len(choices) - 1)
        rule = {
            "validate": "list",
            "source": f"='{SHEET_OF_CHOICES}'!{source}",
            # Several choices may stand in a cell: whoever types them is told, not stopped.
            "error_type": "information",
            "error_title": "Not in the list",
            "error_message": advice[:MOST_MESSAGE],
        }
        sheet.data_validation(1, column, MAX_ROWS - 1, column, rule)


def _refusal(place: Path | str, what: object) -> InputError:
    return InputError(f"{place}: {what}.", hint="write the table as CSV")


def _write_cell(sheet: Any, form: Callable[[str], Any], row: int, column: int, cell: Cell) -> None:
    """Write text as text, and numbers with too many digits too; what does not fit overflows."""
    if isinstance(cell, str):
        if len(cell) > MAX_TEXT // 2 and len(cell.encode("utf-16-le")) > 2 * MAX_TEXT:
            what = f"the text has {len(cell):,} characters; a cell of a workbook holds"
            raise OverflowError(f"{what} {MAX_TEXT:,}")
        cell.encode()  # an error, if it holds half of a character
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
    return name or "Sheet1"
