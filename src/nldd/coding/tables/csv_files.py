"""CSV and TSV: which separator splits a file, and its rows."""

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from io import TextIOWrapper
from itertools import chain, islice

from nldd._wording import quote
from nldd.coding.tables.cells import (
    BLANKS,
    MAX_CELL,
    MAX_ROW,
    Row,
    TableFormat,
    drop_surplus_cells,
    skipped_note,
)
from nldd.coding.tables.text_files import TextFile, TextSource
from nldd.exceptions import InputError
from nldd.present.text import count_noun

SEPARATORS = (",", ";", "\t", "|")
# What no text holds: with it each line is one cell, whatever commas it has.
NO_SEPARATOR = "\x1f"
SAMPLE_CHARACTERS = 2**18

_SEP_LINE = re.compile(r"sep=([^\r\n\"])[\r\n]*", re.IGNORECASE)
_SPACED_QUOTE = re.compile(r' +"')


class CsvRows(TextSource):
    """The rows of a file of cells between separators, with the lines on which they begin."""

    def __init__(
        self, text: TextFile, separator: str | None = None, kind: str = "csv", header_row: int = 1
    ) -> None:
        super().__init__(text)
        # The limit is one for the whole process, and answers may be longer than it is by default.
        csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
        self._given = None if separator is None else _check_separator(separator)
        with text.open() as stream:
            lines = stream.readlines(SAMPLE_CHARACTERS)
            complete = not stream.read(1)
        named = separator_line(lines[0]) if lines else None
        self._n_before = max(header_row - 1, 1 if named else 0)
        self._separator, self._spaces_dropped = find_dialect(
            lines[self._n_before :], complete, self._given or named
        )
        with text.open() as stream:
            _, self.header = next(self._numbered_rows(stream))
        self.format = TableFormat(
            kind=kind,
            encoding=text.encoding,
            separator="," if self._separator == NO_SEPARATOR else self._separator,
            bom=bool(text.mark),
            newline="\r\n" if lines[0].endswith("\r\n") else "\n",
        )

    def rows(self) -> Generator[Row, None, None]:
        with self._text.open() as self._stream:
            rows = self._numbered_rows(self._stream)
            width = len(next(rows)[1])
            pending = 0  # blank lines of one column, before it is known whether the file ends
            for line, row in rows:
                if width == 1 and not row:
                    pending += 1
                elif len(row) != width and _is_blank(row):
                    self._n_blank += 1
                else:
                    yield from [("",)] * pending
                    pending = 0
                    yield row if len(row) == width else self._fit(row, line)
            self._n_blank += pending

    def notes(self) -> list[str]:
        notes = list(self._text.notes)
        if self._spaces_dropped:
            notes.append("Spaces after a separator were dropped, as quotes follow them.")
        notes += skipped_note(self._n_blank, "blank line")
        if self._n_short:
            notes.append(
                f"{count_noun(self._n_short, 'row')} had fewer cells than the header, the first in "
                f"line {self._first_short}; empty ones were added."
            )
        return notes

    def advice(self, hint: str) -> str:
        line = self.header[0]
        likely = max((mark for mark in SEPARATORS if mark != self._given), key=line.count)
        if self._given is None or len(self.header) > 1 or likely not in line:
            return hint
        likely, given = ("tab" if mark == "\t" else f'"{mark}"' for mark in (likely, self._given))
        return f"--delimiter {likely}; with {given} the header is one name: {quote(line)}"

    def _numbered_rows(self, stream: TextIOWrapper) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The header and all below it, with their lines, or an error about a quote."""
        self._n_blank = self._n_short = self._first_short = 0
        before = self._n_before
        for _ in range(before):
            stream.readline()
        reader = csv.reader(
            self._lines_of_row(stream),
            delimiter=self._separator,
            skipinitialspace=self._spaces_dropped,
            strict=True,
        )
        line, is_header = before + 1, True
        try:
            for row in reader:
                if is_header and _is_blank(row):
                    self._n_blank += 1
                else:
                    is_header = False
                    yield line, tuple(row)
                self._row_length = 0
                line = reader.line_num + before + 1
        except csv.Error as error:
            raise _quote_error(f"{self._text.path}, line {line}", str(error)) from None
        if is_header:
            hint, below = "begin the file with a line of column names", ""
            if before > 1:
                hint, below = "--header-row with a smaller number", f" below line {before}"
            message = f"{self._text.path} holds nothing{below or ' but blank lines'}."
            raise InputError(message, hint=hint)

    def _lines_of_row(self, stream: TextIOWrapper) -> Iterator[str]:
        """The lines, as long as the row to which they belong is not longer than a row may be."""
        self._row_length = 0
        for line in stream:
            self._row_length += len(line)
            if self._row_length > MAX_ROW:
                raise csv.Error("row larger than the limit")
            yield line

    def _fit(self, row: tuple[str, ...], line: int) -> Row:
        """A row with as many cells as the header, if nothing is lost by that."""
        width = len(self.header)
        if len(row) < width:
            self._n_short += 1
            self._first_short = self._first_short or line
            return (*row, *[""] * (width - len(row)))
        return drop_surplus_cells(row, width, f"{self._text.path}, line {line}")


def _quote_error(place: str, reason: str) -> InputError:
    if "larger" in reason:
        what, limit = ("cell", MAX_CELL) if reason.startswith("field") else ("row", MAX_ROW)
        what = f"a {what} is longer than {limit:,} characters"
        return InputError(f"{place}: {what}.", hint="check that its quote is closed")
    what = "never closed" if "unexpected end" in reason else "closed within a cell"
    message = f"{place}: a quote of the row that begins here is {what}."
    return InputError(message, hint="write a quote within a quoted cell twice")


def _is_blank(row: Sequence[str]) -> bool:
    # A pair of quotes is no blank line, but a row that begins with an empty cell.
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(BLANKS))


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


def find_dialect(
    lines: Sequence[str], complete: bool, separator: str | None = None
) -> tuple[str, bool]:
    """The separator, and whether spaces after it belong to no cell, as in ``1, "yes, but"``.

    Where the lines are not `complete`, the last row may be cut, and does not count.
    """
    if separator is None:
        fits = {mark: _fit_of_rows(_sample_rows(lines, complete, mark)) for mark in SEPARATORS}
        separator = max(SEPARATORS, key=lambda mark: fits[mark])
        if fits[separator][0] == 0:
            separator = NO_SEPARATOR
    cells = chain.from_iterable(_sample_rows(lines, complete, separator))
    # Each is searched for in all the text, so they must not be many.
    spaced = list(islice(dict.fromkeys(filter(_SPACED_QUOTE.match, cells)), 1000))
    text = "".join(lines) if spaced else ""
    # A cell that stands as a whole in quotes is text that begins with a space and a quote.
    if any('"{}"'.format(cell.replace('"', '""')) not in text for cell in spaced):
        return separator, len(set(map(len, _sample_rows(lines, complete, separator, True)))) == 1
    return separator, False


def _sample_rows(
    lines: Sequence[str], complete: bool, separator: str, drop_spaces: bool = False
) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(lines, delimiter=separator, skipinitialspace=drop_spaces))
    except csv.Error:
        complete = False
    if not complete and len(rows) > 1:
        rows.pop()
    return [row for row in rows if any(row)]


def _fit_of_rows(rows: list[list[str]]) -> tuple[float, int]:
    """How well rows have as many cells as the header, and how many that are."""
    width = len(rows[0]) if rows else 1
    if width > 1:
        # The header fits itself, and counts only where it is alone.
        fits = [_fit_of_row(row, width) for row in rows[1:] or rows]
        return sum(fits) / len(fits), width
    # Rows below one name that all have more cells lack names, unless they are sentences.
    widths = {len(row) for row in rows[1:]}
    in_sentences = any(cell.startswith(" ") for row in rows[1:] for cell in row[1:])
    return (0.0, 1) if len(widths) != 1 or widths == {1} or in_sentences else (0.5, widths.pop())


def _fit_of_row(row: list[str], width: int) -> float:
    if any(cell.count('"') % 2 for cell in row):
        return 0.2  # a separator within quotes has cut them apart
    if len(row) >= width:
        return 1.0 if len(row) == width else 0.1 if any(row[width:]) else 0.9
    return 0.5 if len(row) > 1 else 0.0
