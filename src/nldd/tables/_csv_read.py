"""Rows of CSV and TSV files, a block at a time."""

import csv
import re
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice

from nldd._wording import count_noun, quote
from nldd.exceptions import InputError
from nldd.tables._records import MAX_CELL, Row, TableFormat
from nldd.tables._separator import (
    NO_SEPARATOR,
    SAMPLE_CHARACTERS,
    SEPARATORS,
    Dialect,
    checked_separator,
    find_dialect,
    large_cells,
    told_separator,
)
from nldd.tables._text import Reading, TextFile

# So many rows are taken at once; a block of long texts ends after so many bytes.
STEP_ROWS = 100
BLOCK_BYTES = 2**24

_LINE_END = re.compile(r"\r\n|\r|\n")
# Blank but for spaces and the mark that old programs put at the end of a file.
_BLANKS = " \t\x1a\u00a0"


class CsvRows:
    """A file of cells between separators, see :class:`nldd.tables._records.Source`.

    Parameters
    ----------
    text : TextFile
    separator : str, optional
        Detected, if it is not given.
    kind : {"csv", "tsv"}
    """

    def __init__(self, text: TextFile, separator: str | None = None, kind: str = "csv") -> None:
        self._text = text
        self._reading = Reading(text)
        self._n_blank = self._n_short = self._first_short = 0
        if separator is not None:
            separator = checked_separator(separator)
        with text.open() as stream:
            lines, complete = _first_lines(stream)
        told = told_separator(lines[0]) if lines else None
        self._skipped_lines = 1 if told else 0
        self._dialect = find_dialect(lines[self._skipped_lines :], complete, separator or told)
        with text.open() as stream:
            self.header, _ = self._read_header(stream)
        self._given = separator
        separator = self._dialect.separator
        self.format = TableFormat(
            kind=kind,
            encoding=text.encoding,
            separator="," if separator == NO_SEPARATOR else separator,
            bom=bool(text.mark),
            newline="\r\n" if lines[0].endswith("\r\n") else "\n",
        )

    def batches(self, n_rows: int) -> Iterator[list[Row]]:
        """All rows from the first one on, at most `n_rows` at a time."""
        self._n_blank = self._n_short = self._first_short = 0
        with self._reading.opened() as stream:
            yield from self._batches(stream, n_rows)

    def fraction(self) -> float:
        """How much of the file the latest call of :meth:`batches` has read."""
        return self._reading.fraction()

    def notes(self) -> list[str]:
        """What a person should know about what has been read."""
        notes = list(self._text.notes)
        if self._dialect.spaces_dropped:
            notes.append("Spaces after a separator were dropped, as quotes follow them.")
        if self._n_blank:
            verb = "were" if self._n_blank > 1 else "was"
            notes.append(f"{count_noun(self._n_blank, 'blank line')} {verb} skipped.")
        if self._n_short:
            notes.append(
                f"{count_noun(self._n_short, 'row')} had fewer cells than the header, the first in "
                f"line {self._first_short}; empty ones were added."
            )
        return notes

    def advice(self, hint: str) -> str:
        """The hint about a column that is not there, or the separator that would give columns."""
        if self._given is None or len(self.header) > 1:
            return hint
        line = self.header[0]
        likely = max((mark for mark in SEPARATORS if mark != self._given), key=line.count)
        if likely not in line:
            return hint
        return (
            f"--delimiter {_told(likely)}; with {_told(self._given)} the header is one name: "
            f"{quote(line)}"
        )

    def _read_header(self, stream: TextIOWrapper) -> tuple[tuple[str, ...], "_Rows"]:
        for _ in range(self._skipped_lines):
            stream.readline()
        rows = _Rows(self._text, self._dialect, stream, self._skipped_lines)
        while found := rows.take(1):
            if not _is_blank(found[0]):
                return tuple(found[0]), rows
            self._n_blank += 1
        raise InputError(
            f"{self._text.path} holds nothing but blank lines.",
            hint="begin the file with a line of column names",
        )

    def _batches(self, stream: TextIOWrapper, n_rows: int) -> Iterator[list[Row]]:
        _, source = self._read_header(stream)
        width = len(self.header)
        batch: list[Row] = []
        pending = 0  # blank lines of a file with one column, before it is known whether it ends
        start = self._reading.position()
        while raw := source.take(min(STEP_ROWS, n_rows - len(batch))):
            if width == 1 and (pending or [] in raw):
                pending = self._add_answers(raw, batch, pending, source)
            elif set(map(len, raw)) == {width}:
                batch.extend(map(tuple, raw))
            else:
                batch.extend(self._fitted(raw, source))
            while len(batch) >= n_rows:
                yield batch[:n_rows]
                batch, start = batch[n_rows:], self._reading.position()
            if batch and self._reading.position() - start > BLOCK_BYTES:
                yield batch
                batch, start = [], self._reading.position()
        if batch:
            yield batch
        self._n_blank += pending

    def _add_answers(
        self, raw: list[list[str]], batch: list[Row], pending: int, source: "_Rows"
    ) -> int:
        """Rows of one column, where a blank line is an empty answer unless it ends the file."""
        for k, row in enumerate(raw):
            if not row:
                pending += 1
                continue
            batch.extend([("",)] * pending)
            pending = 0
            batch.append((row[0],) if len(row) == 1 else self._fit(row, k, source))
        return pending

    def _fitted(self, raw: list[list[str]], source: "_Rows") -> Iterator[Row]:
        for k, row in enumerate(raw):
            if len(row) == len(self.header):
                yield tuple(row)
            elif _is_blank(row):
                self._n_blank += 1
            else:
                yield self._fit(row, k, source)

    def _fit(self, row: list[str], k: int, source: "_Rows") -> Row:
        """A row with as many cells as the header, if nothing is lost by that."""
        width = len(self.header)
        if len(row) < width:
            self._n_short += 1
            self._first_short = self._first_short or source.line(k)
            return (*row, *[""] * (width - len(row)))
        surplus = [cell for cell in row[width:] if cell.strip(_BLANKS)]
        if not surplus:
            return tuple(row[:width])
        raise InputError(
            f"{self._text.path}, line {source.line(k)}: the row has {len(row)} cells, the header "
            f"{width}; the first cell too many is {quote(surplus[0])}.",
            hint="put text that holds the separator in quotes, or name the separator of the file",
        )


class _Rows:
    """Rows as they are split, with the lines on which they begin."""

    def __init__(
        self, text: TextFile, dialect: Dialect, stream: TextIOWrapper, n_lines: int
    ) -> None:
        self._text = text
        self._dialect = dialect
        self._reader = dialect.reader(stream)
        self._skipped = n_lines
        self._first_line = n_lines + 1
        self._rows: list[list[str]] = []

    def take(self, n: int) -> list[list[str]]:
        """The next rows; none at the end of the file."""
        self._first_line = self._skipped + self._reader.line_num + 1
        self._rows = []
        try:
            with large_cells():
                # Rows before an error stay in the list: they tell the line of the error.
                self._rows.extend(islice(self._reader, n))
        except csv.Error as error:
            raise self._error(error) from None
        return self._rows

    def line(self, k: int) -> int:
        """Line on which row `k` of the latest ones begins."""
        return self._first_line + sum(_n_lines(row) for row in self._rows[:k])

    def _error(self, error: csv.Error) -> InputError:
        path, line = self._text.path, self.line(len(self._rows))
        hint = "write a quote within a quoted cell twice"
        if "unexpected end" in str(error):
            line = self._open_quote(line)
            return InputError(f"{path}, line {line}: the quote is never closed.", hint=hint)
        if "field larger" in str(error):
            return InputError(
                f"{path}, line {line}: a cell is longer than {MAX_CELL:,} characters.",
                hint="check that its quote is closed",
            )
        line = self._skipped + self._reader.line_num
        return InputError(f"{path}, line {line}: a quote is closed within a cell.", hint=hint)

    def _open_quote(self, first: int) -> int:
        """Line of the quote that is open at the end, in the row that begins on line `first`."""
        with self._text.open() as stream, large_cells():
            rows = self._dialect.reader(islice(stream, first - 1, None), strict=False)
            row: list[str] = next(rows, [])
        return first + _n_lines(row[:-1]) - 1


def _told(separator: str) -> str:
    """A separator as a person may give it."""
    return "tab" if separator == "\t" else f'"{separator}"'


def _n_lines(row: list[str]) -> int:
    return 1 + sum(len(_LINE_END.findall(cell)) for cell in row)


def _is_blank(row: list[str]) -> bool:
    # A pair of quotes is no blank line, but a row that begins with an empty cell.
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(_BLANKS))


def _first_lines(stream: TextIOWrapper) -> tuple[list[str], bool]:
    """Lines for the detection of the separator, and whether these are all."""
    lines: list[str] = []
    n_characters = 0
    for line in stream:
        lines.append(line)
        n_characters += len(line)
        if n_characters > SAMPLE_CHARACTERS:
            return lines, False
    return lines, True
