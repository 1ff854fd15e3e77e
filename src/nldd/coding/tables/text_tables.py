"""Tables of text: rows of cells between separators (CSV, TSV), and a JSON object in each line.

CSV is read by Python's own reader: that of pandas takes ``"1"2`` for 12, says nothing of rows
that are too short, and refuses empty cells behind the last column.
"""

import csv
import datetime
import decimal
import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from nldd._wording import quote
from nldd.coding.tables import spreadsheet as sheets
from nldd.coding.tables.text_files import EncodedText
from nldd.exceptions import InputError
from nldd.present.text import count_noun

SEPARATORS = (",", ";", "\t", "|")
# What no text holds: with it each line is one cell, whatever commas it has.
NO_SEPARATOR = "\x1f"
SAMPLE_CHARACTERS = 2**18

_SEP_LINE = re.compile(r"sep=([^\r\n\"])[\r\n]*", re.IGNORECASE)
_EXAMPLE = '{"id": 1, "answer": "good"}'
_HALF = re.compile("[\ud800-\udfff]")
# Python refuses to write whole numbers of thousands of digits.
MAX_DIGITS = 1000
_HALF_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]")


def read_csv(
    text: EncodedText, kind: str = "csv", separator: str | None = None, header_row: int = 1
) -> sheets.Spreadsheet:
    """A file of cells between separators; its rows are as long as the header."""
    # The limit is one for the whole process, and answers may be longer than it is by default.
    csv.field_size_limit(max(sheets.MAX_CELL, csv.field_size_limit()))
    given = None if separator is None else _check_separator(separator)
    stream = text.lines()
    lines, complete = stream.readlines(SAMPLE_CHARACTERS), not stream.read(1)
    named = separator_line(lines[0]) if lines else None
    n_before = max(header_row - 1, 1 if named else 0)
    mark = given or named or find_separator(lines[n_before:], complete)
    numbered = _numbered_rows(text, n_before, mark)
    header, n_above = _find_header(numbered, text, n_before)
    rows, n_blank, short = _fit_rows(numbered, len(header), text)
    notes = [*text.notes, *sheets.skipped_note(n_above + n_blank, "blank line")]
    if short:
        notes.append(
            f"{count_noun(len(short), 'row')} had fewer cells than the header, the first in "
            f"line {short[0]}; empty ones were added."
        )
    format = sheets.TableFormat(
        kind=kind,
        encoding=text.encoding,
        separator="," if mark == NO_SEPARATOR else mark,
        bom=bool(text.mark),
        newline="\r\n" if lines[0].endswith("\r\n") else "\n",
    )
    frame = sheets.frame_of_rows(rows, len(header))
    likely = max(SEPARATORS, key=header[0].count)
    # A separator that a person named, and that the header seems not to have.
    is_wrong = given is not None and len(header) == 1 and likely in header[0]
    shown = "tab" if likely == "\t" else quote(likely)
    advice = f"--delimiter {shown}" if is_wrong else ""
    return sheets.Spreadsheet(text.path, frame, header, format, notes, advice=advice)


def _find_header(
    numbered: Iterator[tuple[int, list[str]]], text: EncodedText, n_before: int
) -> tuple[tuple[str, ...], int]:
    """The first row that is not blank, and how many are above it."""
    for n_above, (_, row) in enumerate(numbered):
        if not _is_blank(row):
            return tuple(row), n_above
    hint, below = "begin the file with a line of column names", ""
    if n_before > 1:
        hint, below = "--header-row with a smaller number", f" below line {n_before}"
    raise InputError(f"{text.path} holds nothing{below or ' but blank lines'}.", hint=hint)


def _fit_rows(
    numbered: Iterator[tuple[int, list[str]]], width: int, text: EncodedText
) -> tuple[list[Sequence[str]], int, list[int]]:
    """Rows as long as the header if nothing is lost by that, blank lines, lines of short rows."""
    rows: list[Sequence[str]] = []
    n_blank, short = 0, []
    for line, row in numbered:
        if len(row) == width or (width == 1 and not row):
            rows.append(row)
        elif _is_blank(row):
            n_blank += 1
        elif len(row) < width:
            short.append(line)
            rows.append([*row, *[""] * (width - len(row))])
        else:
            rows.append(sheets.drop_surplus_cells(row, width, f"{text.path}, line {line}"))
    while rows and not rows[-1]:  # of one column, where a blank line is an answer between others
        rows.pop()
        n_blank += 1
    return [row or ("",) for row in rows] if width == 1 else rows, n_blank, short


def _numbered_rows(
    text: EncodedText, n_before: int, separator: str
) -> Iterator[tuple[int, list[str]]]:
    """The rows below some lines, each with the line on which it begins, or an error on a quote."""
    lines = islice(text.lines(), n_before, None)
    reader, line = csv.reader(lines, delimiter=separator, strict=True), n_before + 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + n_before + 1
    except csv.Error as error:
        raise _quote_error(f"{text.path}, line {line}", str(error)) from None


def _quote_error(place: str, reason: str) -> InputError:
    if "larger" in reason:
        what = f"a cell is longer than {sheets.MAX_CELL:,} characters"
        return InputError(f"{place}: {what}.", hint="check that its quote is closed")
    what = "never closed" if "unexpected end" in reason else "closed within a cell"
    message = f"{place}: a quote of the row that begins here is {what}."
    return InputError(message, hint="write a quote within a quoted cell twice")


def _is_blank(row: Sequence[str]) -> bool:
    # A pair of quotes is no blank line, but a row that begins with an empty cell.
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(sheets.BLANKS))


def separator_line(line: str) -> str | None:
    """The separator that Excel names in a first line such as ``sep=;``."""
    named = _SEP_LINE.fullmatch(line)
    return named[1] if named else None


def _check_separator(separator: str) -> str:
    separator = {"tab": "\t", "\\t": "\t"}.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n ':
        hint = 'use "," or ";" or tab or "|"'
        raise InputError(f"The separator must be one character; got {quote(separator)}.", hint=hint)
    return separator


def find_separator(lines: Sequence[str], complete: bool) -> str:
    """The separator by which most rows have as many cells as the header, and the most of them.

    Where the lines are not `complete`, the last row may be cut, and does not count.
    """
    fits = {mark: _fit(lines, complete, mark) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: fits[mark])
    return best if fits[best][0] else NO_SEPARATOR


def _fit(lines: Sequence[str], complete: bool, separator: str) -> tuple[float, int]:
    """How well a separator cuts rows into as many cells as the header has, and how many."""
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(lines, delimiter=separator))
    except csv.Error:
        complete = False
    rows = [row for row in rows[: None if complete else -1] or rows if any(row)]
    if not rows or len(rows[0]) == 1:
        return 0.0, 1
    # The header fits itself, and counts only where it is alone.
    fits = [_fit_of_row(row, len(rows[0])) for row in rows[1:] or rows]
    return sum(fits) / len(fits), len(rows[0])


def _fit_of_row(row: Sequence[str], width: int) -> float:
    # One quote alone in a cell: a separator within quotes has cut them apart.
    if len(row) < width or any(row[width:]) or any(cell.count('"') % 2 for cell in row):
        return 0.1 if len(row) > 1 else 0.0
    return 1.0


def read_jsonl(text: EncodedText) -> sheets.Spreadsheet:
    """A file with one JSON object a line, the keys of which are the columns."""
    records, n_blank, n_half = [], 0, 0
    for line, content in enumerate(text.lines(), 1):
        if not content.strip():
            n_blank += 1
            continue
        record = _record(content, f"{text.path}, line {line}")
        if _HALF_WRITTEN.search(content):
            whole, n = _HALF.subn("\ufffd", json.dumps(record, ensure_ascii=False))
            record, n_half = json.loads(whole), n_half + n
        records.append(record)
    header = tuple(dict.fromkeys(chain.from_iterable(records)))
    if not header:
        hint = f"write a line such as {_EXAMPLE} for each row"
        raise InputError(f"{text.path} holds no JSON object with a key.", hint=hint)
    sheets.check_width(text.path, len(header))  # of which each takes a cell of each record
    columns = ([nested_value(record.get(key)) for record in records] for key in header)
    frame = sheets.frame_of(dict(enumerate(columns)))
    notes = [*text.notes, *sheets.skipped_note(n_blank, "blank line")]
    if n_half:
        notes.append(f"\ufffd stands for {count_noun(n_half, 'broken character')}.")
    format = sheets.TableFormat(kind="jsonl", encoding=text.encoding, bom=bool(text.mark))
    return sheets.Spreadsheet(text.path, frame, header, format, notes)


def _record(content: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(content, object_pairs_hook=_distinct_keys)
        what = "" if isinstance(record, dict) else "JSON, but no object"
    except (ValueError, RecursionError) as error:
        what = f"no JSON object ({getattr(error, 'msg', None) or error})"
    if what:
        message = f"{place}: {what}: {quote(content.strip())}."
        raise InputError(message, hint=f"write one object such as {_EXAMPLE} on each line")
    return record


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key is there twice")
    return record


def nested_value(value: Any) -> Any:
    """A value of JSON or Parquet as a cell; what no cell can hold becomes text."""
    if isinstance(value, decimal.Decimal):
        # A number, if it is the same number, else its digits.
        if value == value.to_integral_value():
            return int(value) if value.adjusted() < MAX_DIGITS else str(value)
        return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_nested_text)
    return _nested_text(value) if isinstance(value, bytes | datetime.timedelta) else value


def _nested_text(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
