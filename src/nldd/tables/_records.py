"""What readers and writers of tables share: cells, formats, and the places that messages name."""

import datetime
import math
import re
import string
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nldd._wording import count_noun, quote
from nldd.exceptions import InputError

Cell = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | None
Row = tuple[Cell, ...]

# What a workbook unpacks to at most.
MAX_BYTES = 2**30
# Blank but for spaces and the mark that old programs put at the end of a file.
BLANKS = " \t\x1a\u00a0"
MISSING = frozenset({"", "na", "n/a", "#n/a", "?", "-", ".", "nan", "null"})

_SPACES = " \t\u00a0\u2009\u202f"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(rf"([+-]?\d{{1,3}}(?:[{_SPACES}']\d{{3}})+)((?:[.,]\d*)?)")
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")

# A formula begins after whatever a spreadsheet skips: spaces, and characters without a width.
_SKIPPED = r"[\s\x00-\x20\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]"
_FORMULA = re.compile(rf"[\t\r\n]|{_SKIPPED}*[=+\-@\uff1d\uff0b\uff0d\uff20]")
# Text that begins with these is safe; most text does, and a look at one letter is fast.
_SAFE_FIRST = frozenset(string.ascii_letters + string.digits + '."([{') | {""}
_PLAIN_NUMBER = re.compile(rf"\s*{_NUMBER.pattern}\s*", re.ASCII)


@dataclass(frozen=True)
class TableFormat:
    """How a file was written, so that the output can be like it.

    The kind is "csv", "tsv", "xlsx" (all workbooks), "jsonl" or "parquet"; `bom` says whether text
    begins with a byte order mark, and `newline` how its lines end.
    """

    kind: str
    encoding: str = "utf-8"
    separator: str = ","
    bom: bool = False
    newline: str = "\n"
    sheet: str = ""

    @property
    def decimal(self) -> str | None:
        """The comma, where a file separates its cells by semicolons; else not known."""
        return "," if self.separator == ";" else None


@dataclass(frozen=True)
class Block:
    """Some rows of a table; `first` is the number of the first of them, from 1."""

    first: int
    rows: list[Row]


class Source(Protocol):
    """A file that is read from its first row on by each call of `rows`.

    `advice` adds to a hint about a missing column what the file itself makes likely.
    """

    header: tuple[str, ...]
    format: TableFormat

    def rows(self) -> Generator[Row, None, None]: ...
    def fraction(self) -> float: ...
    def notes(self) -> list[str]:
        return []

    def advice(self, hint: str) -> str:
        return hint


def located(path: Path, row: int, name: str | None = None) -> str:
    """The place of a cell for a message."""
    return f"{path.name}, row {row}" + (f", column {quote(name)}" if name is not None else "")


def skipped_note(n: int, noun: str) -> list[str]:
    """What to say about lines or rows without content, if there are any."""
    return [f"{count_noun(n, noun)} {'were' if n > 1 else 'was'} skipped."] if n else []


def without_surplus(row: Row, width: int, place: str) -> Row:
    """A row without the empty cells that it has beyond the header; an error names another one."""
    for cell in row[width:]:
        if cell is not None and (text := cell_text(cell)).strip(BLANKS):
            raise InputError(
                f"{place}: the row has {len(row)} cells, the header {width}; the first cell too "
                f"many is {quote(text)}.",
                hint="name its column in the header or empty the cell; in a CSV file, put text "
                "that holds the separator in quotes, or name the separator of the file",
            )
    return row[:width]


def cell_text(cell: Cell) -> str:
    """A cell as a person would type it: empty for None, dates and times in ISO 8601.

    Examples
    --------
    >>> import datetime
    >>> [cell_text(cell) for cell in ("yes", None, 5.0, 0.1, True, datetime.date(2024, 2, 29))]
    ['yes', '', '5', '0.1', 'TRUE', '2024-02-29']
    """
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int):
        return str(int(cell))
    if isinstance(cell, float):
        # NumPy's floats are floats with a repr of their own.
        return repr(float(cell)).removesuffix(".0")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return cell_text(plain(cell))


def plain(cell: Any) -> Cell:
    """The Python value of a scalar of NumPy or a like library."""
    item = getattr(cell, "item", None)
    if item is None:
        raise TypeError(f"a cell is text, a number, a date, a time or None; got {type(cell)}.")
    value: Cell = item()
    return value


def cell_number(cell: Cell, *, decimal: str | None = None) -> float | None:
    """The number in a cell.

    The comma may be the decimal sign, and spaces or apostrophes may part the thousands. Empty
    cells and what stands for one, such as ``NA``, ``?`` or ``-``, are None. `decimal`, a comma or a
    point, decides on cells such as ``1,234``, see :attr:`TableFormat.decimal`; without it they are
    a ValueError, as are cells that are no number.

    Examples
    --------
    >>> cell_number("1,5"), cell_number("1 234"), cell_number("N/A"), cell_number(7)
    (1.5, 1234.0, None, 7.0)
    >>> cell_number("1,234")
    Traceback (most recent call last):
    ValueError: '1,234' may mean 1234 or 1.234
    >>> cell_number("1,234", decimal=",")
    1.234
    """
    if cell is None:
        return None
    if isinstance(cell, str):
        return _read_number(cell, decimal)
    if isinstance(cell, int | float):
        value = float(cell)
        return None if math.isnan(value) else value
    if isinstance(cell, datetime.date | datetime.time):
        raise ValueError(f"{cell.isoformat()} is no number")
    return cell_number(plain(cell), decimal=decimal)


def _read_number(text: str, decimal: str | None) -> float | None:
    stripped = text.strip().replace("\u2212", "-")
    if stripped.lower() in MISSING:
        return None
    grouped = _GROUPED.fullmatch(stripped)
    if grouped:
        stripped = re.sub(rf"[{_SPACES}']", "", grouped[1]) + grouped[2]
    elif not _NUMBER.fullmatch(stripped):
        raise ValueError(f"{quote(text)} is no number")
    elif _AMBIGUOUS.fullmatch(stripped) and decimal != ",":
        if decimal is None:
            whole, part = stripped.split(",")
            raise ValueError(f"{quote(text)} may mean {whole}{part} or {whole}.{part}")
        stripped = stripped.replace(",", "")
    return float(stripped.replace(",", "."))


def guarded(text: str) -> str:
    """The text as it is safe in a CSV file that a spreadsheet opens.

    A spreadsheet runs what begins with ``=``, ``+``, ``-`` or ``@``, also in their wide forms and
    after spaces. An apostrophe before it makes it text. Plain numbers are left as they are.

    Examples
    --------
    >>> guarded("=1+1"), guarded(" @SUM(A1)"), guarded("-5"), guarded("so-so")
    ("'=1+1", "' @SUM(A1)", '-5', 'so-so')
    """
    if text[:1] in _SAFE_FIRST or not _FORMULA.match(text) or _PLAIN_NUMBER.fullmatch(text):
        return text
    return f"'{text}"


def is_text(text: str) -> bool:
    """Whether text has no half of a character, as damaged JSON may have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
