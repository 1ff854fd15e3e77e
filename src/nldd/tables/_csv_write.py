"""Rows as CSV and TSV files."""

import csv
import string
from io import StringIO
from pathlib import Path
from typing import BinaryIO, Literal

from nldd.exceptions import InputError
from nldd.tables._cells import cell_text, guarded, is_text, surrogate_error
from nldd.tables._records import Cell, Row, located
from nldd.tables._separator import told_separator

# Text that begins with these is safe; most text does, and a look at one letter is fast.
_SAFE_FIRST = frozenset(string.ascii_letters + string.digits + '."([{') | {""}


class CsvSink:
    """Write rows as text in UTF-8, see :class:`nldd.tables._records.Sink`.

    Parameters
    ----------
    stream : binary stream
    header : tuple of str
    path : Path
        For messages.
    separator, newline : str
    bom : bool
        Whether to begin with a byte order mark, by which Excel knows the encoding.
    raw : bool
        Whether to write text that a spreadsheet would run as it is.
    """

    def __init__(
        self,
        stream: BinaryIO,
        header: tuple[str, ...],
        path: Path,
        *,
        separator: str = ",",
        newline: str = "\n",
        bom: bool = False,
        raw: bool = False,
    ) -> None:
        self._stream = stream
        self._header = header
        self._path = path
        self._separator = separator
        self._newline = newline
        self._raw = raw
        if bom or header[0].startswith("\ufeff"):
            stream.write(b"\xef\xbb\xbf")
        text = self._text([self._safe(header)])
        if told_separator(text):
            # In quotes it is a name; without them Excel and our reader would obey it.
            text = _joined([self._safe(header)], separator, newline, quote_all=True)
        self._put(text, 0, [header])

    def write(self, rows: list[Row], first: int) -> None:
        """Write rows of which the first has this number, from 1."""
        self._put(self._text([self._safe(row) for row in rows]), first, rows)

    def finish(self) -> None:
        """Nothing comes after the last row."""

    def abandon(self) -> None:
        """Nothing has to be closed."""

    def _safe(self, row: Row) -> list[str]:
        if self._raw:
            return [cell_text(cell) for cell in row]
        return [
            cell if type(cell) is str and cell[:1] in _SAFE_FIRST else _safe_text(cell)
            for cell in row
        ]

    def _text(self, rows: list[list[str]]) -> str:
        text = _joined(rows, self._separator, self._newline)
        if self._newline == "\n" and "\r" in text:
            # Python before 3.13 quotes only the line end that it writes itself, and a carriage
            # return without quotes would end the row.
            lines = [_joined([row], self._separator, "\r\n") for row in rows]
            text = "".join(f"{line[:-2]}\n" for line in lines)
        return text

    def _put(self, text: str, first: int, rows: list[Row]) -> None:
        try:
            self._stream.write(text.encode())
        except UnicodeEncodeError:
            raise _no_text(self._path, self._header, rows, first) from None


def _safe_text(cell: Cell) -> str:
    return guarded(cell) if isinstance(cell, str) else cell_text(cell)


def _joined(rows: list[list[str]], separator: str, newline: str, *, quote_all: bool = False) -> str:
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    out = StringIO()
    csv.writer(out, delimiter=separator, lineterminator=newline, quoting=quoting).writerows(rows)
    return out.getvalue()


def _no_text(path: Path, header: tuple[str, ...], rows: list[Row], first: int) -> InputError:
    """The error that names the cell which no encoding can hold."""
    row, name = next(
        (row, name)
        for row, cells in enumerate(rows, first)
        for name, cell in zip(header, cells, strict=True)
        if isinstance(cell, str) and not is_text(cell)
    )
    return surrogate_error(located(path, row, name))
