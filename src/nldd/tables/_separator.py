"""What separates the cells of a text file."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from nldd._wording import quote
from nldd.exceptions import InputError
from nldd.tables._records import MAX_CELL

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = (",", ";", "\t", "|")
# What no text holds: with it each line is one cell, whatever commas it has.
NO_SEPARATOR = "\x1f"
SAMPLE_CHARACTERS = 2**18

_TOLD = re.compile(r"sep=([^\r\n])[\r\n]*", re.IGNORECASE)
_SPACED_QUOTE = re.compile(r' +"')


@dataclass(frozen=True)
class Dialect:
    """How lines are split into cells.

    Attributes
    ----------
    separator : str
    spaces_dropped : bool
        Whether spaces after a separator belong to no cell, as in ``1, "yes, but"``.
    """

    separator: str
    spaces_dropped: bool = False

    def reader(self, lines: Iterator[str], strict: bool = True) -> "Reader":
        """The rows of some lines; see :func:`large_cells`."""
        return csv.reader(
            lines, delimiter=self.separator, skipinitialspace=self.spaces_dropped, strict=strict
        )


_limit_lock = Lock()
_limit_users = 0
_limit_before = 0


@contextmanager
def large_cells() -> Iterator[None]:
    """Let the csv module read cells of up to `MAX_CELL` characters, for the time of a block.

    Its limit is one for the whole process, so the last user puts back what the first one found.
    """
    global _limit_users, _limit_before
    with _limit_lock:
        if _limit_users == 0:
            _limit_before = csv.field_size_limit(MAX_CELL)
        _limit_users += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                csv.field_size_limit(_limit_before)


def told_separator(line: str) -> str | None:
    """The separator that Excel names in a first line such as ``sep=;``."""
    told = _TOLD.fullmatch(line)
    return told[1] if told and told[1] not in '"' else None


def checked_separator(separator: str) -> str:
    """A separator that a person has named."""
    separator = {"tab": "\t", "\\t": "\t"}.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n ':
        raise InputError(
            f"The separator must be one character; got {quote(separator)}.",
            hint='use "," or ";" or tab or "|"',
        )
    return separator


def find_dialect(lines: Sequence[str], complete: bool, separator: str | None = None) -> Dialect:
    """Tell by the first lines of a file how it is split.

    Parameters
    ----------
    lines : sequence of str
        With their ends.
    complete : bool
        Whether these are all lines; else the last row may be cut, and does not count.
    separator : str, optional
        Where it is known.

    Examples
    --------
    >>> find_dialect(["id;answer, and why\\n", "1;good, cheap\\n", "2;bad\\n"], True).separator
    ';'
    """
    if separator is None:
        fits = {mark: _fit(_split(lines, complete, mark)) for mark in SEPARATORS}
        separator = max(SEPARATORS, key=lambda mark: fits[mark])
        if fits[separator][0] == 0:
            separator = NO_SEPARATOR
    if _quotes_after_spaces(lines, _split(lines, complete, separator)):
        spaced = _split(lines, complete, separator, True)
        if len({len(row) for row in spaced}) == 1:
            return Dialect(separator, True)
    return Dialect(separator)


def _quotes_after_spaces(lines: Sequence[str], rows: list[list[str]]) -> bool:
    """Whether a cell begins with spaces and a quote, and not because it is quoted text."""
    cells = [cell for cell in chain.from_iterable(rows) if _SPACED_QUOTE.match(cell)]
    text = "".join(lines) if cells else ""
    return any('"{}"'.format(cell.replace('"', '""')) not in text for cell in cells)


def _split(
    lines: Sequence[str], complete: bool, separator: str, spaces_dropped: bool = False
) -> list[list[str]]:
    reader = Dialect(separator, spaces_dropped).reader(iter(lines), strict=False)
    rows: list[list[str]] = []
    with large_cells():
        try:
            rows.extend(reader)
        except csv.Error:
            complete = False
    if not complete and len(rows) > 1:
        rows.pop()
    return [row for row in rows if any(row)]


def _fit(rows: list[list[str]]) -> tuple[float, int]:
    """How well rows have as many cells as the header, and how many that are."""
    if not rows:
        return 0.0, 1
    width = len(rows[0])
    if width == 1:
        return _fit_without_names(rows[1:])
    fits = [_row_fit(row, width) for row in rows]
    # The header fits itself, and counts only where it is alone.
    return sum(fits[1:] or fits) / len(fits[1:] or fits), width


def _fit_without_names(rows: list[list[str]]) -> tuple[float, int]:
    """Whether rows below a header of one cell have more of them: then names are missing."""
    widths = {len(row) for row in rows}
    as_in_sentences = any(cell.startswith(" ") for row in rows for cell in row[1:])
    if len(widths) != 1 or widths == {1} or as_in_sentences:
        return 0.0, 1
    return 0.5, widths.pop()


def _row_fit(row: list[str], width: int) -> float:
    if any(cell.count('"') % 2 for cell in row):
        return 0.2  # a separator within quotes has cut them apart
    if len(row) == width:
        return 1.0
    if len(row) > width:
        return 0.1 if any(row[width:]) else 0.9
    return 0.5 if len(row) > 1 else 0.0
