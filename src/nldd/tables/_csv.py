"""CSV and TSV: which separator splits a file, its rows, and rows as such a file."""

import csv
import re
import string
from collections.abc import Generator, Iterator, Sequence
from io import StringIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from nldd._wording import count_noun, quote
from nldd.exceptions import InputError
from nldd.tables._records import (
    Cell,
    Row,
    Sink,
    TableFormat,
    cell_text,
    guarded,
    is_text,
    located,
    skipped_note,
    surrogate_error,
)
from nldd.tables._text import MAX_CELL, TextFile, TextSource

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = (",", ";", "\t", "|")
# What no text holds: with it each line is one cell, whatever commas it has.
NO_SEPARATOR = "\x1f"
SAMPLE_CHARACTERS = 2**18

_SEP_LINE = re.compile(r"sep=([^\r\n\"])[\r\n]*", re.IGNORECASE)
_SPACED_QUOTE = re.compile(r' +"')
# Blank but for spaces and the mark that old programs put at the end of a file.
_BLANKS = " \t\x1a\u00a0"
# Text that begins with these is safe; most text does, and a look at one letter is fast.
_SAFE_FIRST = frozenset(string.ascii_letters + string.digits + '."([{') | {""}


class CsvRows(TextSource):
    """The rows of a file of cells between separators, with the lines on which they begin."""

    def __init__(self, text: TextFile, separator: str | None = None, kind: str = "csv") -> None:
        super().__init__(text)
        self._given = None if separator is None else _check_separator(separator)
        with text.open() as stream:
            lines, complete = _first_lines(stream)
        named = separator_line(lines[0]) if lines else None
        self._n_before = 1 if named else 0
        self._separator, self._spaces_dropped = find_dialect(
            lines[self._n_before :], complete, self._given or named
        )
        with text.open() as stream:
            self.header = self._read_header(self._reader(stream))
        self.format = TableFormat(
            kind=kind,
            encoding=text.encoding,
            separator="," if self._separator == NO_SEPARATOR else self._separator,
            bom=bool(text.mark),
            newline="\r\n" if lines[0].endswith("\r\n") else "\n",
        )

    def rows(self) -> Generator[Row, None, None]:
        width = len(self.header)
        pending = 0  # blank lines of a file with one column, before it is known whether it ends
        with self._opened() as stream:
            reader = self._reader(stream)
            self._read_header(reader)
            line = reader.line_num + self._n_before + 1
            for row in self._unbroken(reader):
                if width == 1 and not row:
                    pending += 1
                elif len(row) != width and _is_blank(row):
                    self._n_blank += 1
                else:
                    yield from [("",)] * pending
                    pending = 0
                    yield tuple(row) if len(row) == width else self._fit(row, line)
                line = reader.line_num + self._n_before + 1
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
        if self._given is None or len(self.header) > 1:
            return hint
        line = self.header[0]
        likely = max((mark for mark in SEPARATORS if mark != self._given), key=line.count)
        if likely not in line:
            return hint
        likely, given = ("tab" if mark == "\t" else f'"{mark}"' for mark in (likely, self._given))
        return f"--delimiter {likely}; with {given} the header is one name: {quote(line)}"

    def _reader(self, stream: TextIOWrapper) -> "Reader":
        """The rows below a line such as ``sep=;``, counted anew."""
        self._n_blank = self._n_short = self._first_short = 0
        for _ in range(self._n_before):
            stream.readline()
        return _split_lines(stream, self._separator, self._spaces_dropped, strict=True)

    def _read_header(self, reader: "Reader") -> tuple[str, ...]:
        for row in self._unbroken(reader):
            if not _is_blank(row):
                return tuple(row)
            self._n_blank += 1
        raise InputError(
            f"{self._text.path} holds nothing but blank lines.",
            hint="begin the file with a line of column names",
        )

    def _unbroken(self, reader: "Reader") -> Iterator[list[str]]:
        """Rows, or an error that says what is wrong with a quote."""
        line = reader.line_num
        try:
            for row in reader:
                yield row
                line = reader.line_num
        except csv.Error as error:
            place = f"{self._text.path}, line {line + self._n_before + 1}"
            if "field larger" in str(error):
                raise InputError(
                    f"{place}: a cell is longer than {MAX_CELL:,} characters.",
                    hint="check that its quote is closed",
                ) from None
            what = "never closed" if "unexpected end" in str(error) else "closed within a cell"
            raise InputError(
                f"{place}: a quote of the row that begins here is {what}.",
                hint="write a quote within a quoted cell twice",
            ) from None

    def _fit(self, row: list[str], line: int) -> Row:
        """A row with as many cells as the header, if nothing is lost by that."""
        width = len(self.header)
        if len(row) < width:
            self._n_short += 1
            self._first_short = self._first_short or line
            return (*row, *[""] * (width - len(row)))
        surplus = [cell for cell in row[width:] if cell.strip(_BLANKS)]
        if not surplus:
            return tuple(row[:width])
        raise InputError(
            f"{self._text.path}, line {line}: the row has {len(row)} cells, the header {width}; "
            f"the first cell too many is {quote(surplus[0])}.",
            hint="put text that holds the separator in quotes, or name the separator of the file",
        )


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


def separator_line(line: str) -> str | None:
    """The separator that Excel names in a first line such as ``sep=;``."""
    named = _SEP_LINE.fullmatch(line)
    return named[1] if named else None


def _check_separator(separator: str) -> str:
    separator = {"tab": "\t", "\\t": "\t"}.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n ':
        raise InputError(
            f"The separator must be one character; got {quote(separator)}.",
            hint='use "," or ";" or tab or "|"',
        )
    return separator


def find_dialect(
    lines: Sequence[str], complete: bool, separator: str | None = None
) -> tuple[str, bool]:
    """Tell by the first lines of a file how it is split, unless the separator is known.

    Where the lines are not `complete`, the last row may be cut, and does not count. The second
    result says whether spaces after a separator belong to no cell, as in ``1, "yes, but"``.

    Examples
    --------
    >>> find_dialect(["id;answer, and why\\n", "1;good, cheap\\n", "2;bad\\n"], True)
    (';', False)
    """
    if separator is None:
        fits = {mark: _fit_of_rows(_sample_rows(lines, complete, mark)) for mark in SEPARATORS}
        separator = max(SEPARATORS, key=lambda mark: fits[mark])
        if fits[separator][0] == 0:
            separator = NO_SEPARATOR
    cells = chain.from_iterable(_sample_rows(lines, complete, separator))
    spaced = [cell for cell in cells if _SPACED_QUOTE.match(cell)]
    text = "".join(lines) if spaced else ""
    # A cell that stands as a whole in quotes is text that begins with a space and a quote.
    if any('"{}"'.format(cell.replace('"', '""')) not in text for cell in spaced):
        widths = {len(row) for row in _sample_rows(lines, complete, separator, True)}
        return separator, len(widths) == 1
    return separator, False


def _split_lines(
    lines: Iterator[str], separator: str, spaces_dropped: bool = False, strict: bool = False
) -> "Reader":
    # The limit is one for the whole process, and answers may be longer than it is by default.
    csv.field_size_limit(max(MAX_CELL, csv.field_size_limit()))
    return csv.reader(lines, delimiter=separator, skipinitialspace=spaces_dropped, strict=strict)


def _sample_rows(
    lines: Sequence[str], complete: bool, separator: str, spaces_dropped: bool = False
) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        rows.extend(_split_lines(iter(lines), separator, spaces_dropped))
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
    if len(row) == width:
        return 1.0
    if len(row) > width:
        return 0.1 if any(row[width:]) else 0.9
    return 0.5 if len(row) > 1 else 0.0


class CsvSink(Sink):
    """Write rows as text in UTF-8.

    With `raw`, text that a spreadsheet would run is written as it is. By the byte order mark
    (`bom`) Excel knows the encoding.
    """

    def __init__(
        self, stream: BinaryIO, header: tuple[str, ...], path: Path, like: TableFormat, raw: bool
    ) -> None:
        self._stream = stream
        self._header = header
        self._path = path
        self._like = like
        self._raw = raw
        if like.bom or header[0].startswith("\ufeff"):
            stream.write(b"\xef\xbb\xbf")
        text = self._joined([header])
        if separator_line(text):
            # In quotes it is a name; without them Excel and our reader would obey it.
            text = self._joined([header], csv.QUOTE_ALL)
        self._put(text, 0, [header])

    def write(self, rows: list[Row], first: int) -> None:
        self._put(self._joined(rows), first, rows)

    def _joined(self, rows: list[Row] | list[tuple[str, ...]], quoting: Literal[0, 1] = 0) -> str:
        out, newline = StringIO(), self._like.newline
        lines = [self._safe(row) for row in rows]
        csv.writer(
            out, delimiter=self._like.separator, lineterminator=newline, quoting=quoting
        ).writerows(lines)
        text = out.getvalue()
        if newline == "\n" and "\r" in text and not quoting:
            # Python before 3.13 quotes only the line end that it writes itself, and a carriage
            # return without quotes would end the row.
            return "".join(self._joined([row], csv.QUOTE_ALL) for row in rows)
        return text

    def _safe(self, row: Row | tuple[str, ...]) -> list[str]:
        if self._raw:
            return [cell_text(cell) for cell in row]
        return [
            cell if type(cell) is str and cell[:1] in _SAFE_FIRST else _safe_text(cell)
            for cell in row
        ]

    def _put(self, text: str, first: int, rows: list[Row] | list[tuple[str, ...]]) -> None:
        try:
            self._stream.write(text.encode())
        except UnicodeEncodeError:
            broken = (
                located(self._path, number, name)
                for number, row in enumerate(rows, first)
                for name, cell in zip(self._header, row, strict=True)
                if isinstance(cell, str) and not is_text(cell)
            )
            raise surrogate_error(next(broken)) from None


def _safe_text(cell: Cell) -> str:
    return guarded(cell) if isinstance(cell, str) else cell_text(cell)
