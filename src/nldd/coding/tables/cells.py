"""What readers and writers of tables share: cells, formats, and the places that messages name."""

import datetime
import decimal
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nldd._wording import quote
from nldd.exceptions import InputError
from nldd.present.text import count_noun

if TYPE_CHECKING:
    from nldd.coding.tables.typed_files import Variables

Cell = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | None

# A sheet that our workbooks have for the choices of their cells; hidden, and of no use to read.
SHEET_OF_CHOICES = "nldd choices"

# What a file may unpack to, letters of a cell, columns. What a person wrote is far below them; a
# longer cell comes from a quote that is never closed.
MAX_BYTES = 2**30
MAX_CELL = 2**20
MAX_COLUMNS = 2**16
# Python refuses to write whole numbers of thousands of digits.
MAX_DIGITS = 1000
# Blank but for spaces and the mark that old programs put at the end of a file.
BLANKS = " \t\x1a\u00a0"
MISSING = frozenset({"", "na", "n/a", "#n/a", "?", "-", ".", "nan", "null"})

# What to say if the first row is a title rather than the names of columns.
HEADER_BELOW = "--header-row N, if the names of the columns stand in a row below"

_SPACES = " \t\u00a0\u2009\u202f"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(rf"([+-]?\d{{1,3}}(?:[{_SPACES}']\d{{3}})+)((?:[.,]\d*)?)")
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True)
class TableFormat:
    """How a file was written, so that the output can be like it.

    Attributes
    ----------
    kind : str
        "csv", "tsv", "xlsx" (all workbooks), "jsonl" or "parquet", or the ending of a statistics
        file.
    encoding, separator : str
        Of text.
    bom : bool
        Whether text begins with a byte order mark.
    newline : str
        How lines end.
    sheet : str
        Of a workbook.
    variables : Variables or None
        What a statistics file knows of its variables.

    Examples
    --------
    >>> from nldd.coding.tables.cells import TableFormat
    >>> TableFormat("csv", separator=";").decimal, TableFormat("csv").decimal
    (',', None)
    """

    kind: str
    encoding: str = "utf-8"
    separator: str = ","
    bom: bool = False
    newline: str = "\n"
    sheet: str = ""
    variables: "Variables | None" = None

    @property
    def decimal(self) -> str | None:
        """The comma, where a file separates its cells by semicolons; else not known."""
        return "," if self.separator == ";" else None


def cell_place(path: Path, row: int, name: str | None = None) -> str:
    """The place of a cell for a message."""
    return f"{path.name}, row {row}" + (f", column {quote(name)}" if name is not None else "")


def skipped_note(n: int, noun: str) -> list[str]:
    """What to say about lines or rows without content, if there are any."""
    return [f"{count_noun(n, noun)} {'were' if n > 1 else 'was'} skipped."] if n else []


def check_width(path: Path, n_columns: int) -> None:
    """Refuse a table of more columns than any of its rows should take memory for."""
    if n_columns > MAX_COLUMNS:
        message = f"{path} has more than {MAX_COLUMNS:,} columns"
        raise InputError(f"{message}; got {n_columns:,}.", hint="leave out what is not needed")


def check_claim(path: Path, n_rows: int) -> None:
    """Refuse a file that claims far more rows than it has bits.

    A column that says the same in all rows takes a few bytes, however many they are.
    """
    if n_rows > 2**20 + 64 * path.stat().st_size:
        message = f"{path} claims {n_rows:,} values in a column, too many for a file of its size"
        raise InputError(f"{message}.", hint="write it again, or save the table as CSV")


def drop_surplus_cells(row: Sequence[Any], width: int, place: str) -> Sequence[Any]:
    """A row without the empty cells that it has beyond the header; an error names another one."""
    for cell in row[width:]:
        if cell is not None and (text := cell_text(cell)).strip(BLANKS):
            raise InputError(
                f"{place}: the row has {len(row)} cells, the header {width}; the first cell too "
                f"many is {quote(text)}.",
                hint="name its column in the header or empty the cell; in a CSV file, put text "
                "that holds the separator in quotes, or name the separator of the file"
                + f"; or {HEADER_BELOW}"
                * (width == 1),
            )
    return row[:width]


def cell_text(cell: Cell) -> str:
    """A cell as a person would type it.

    Parameters
    ----------
    cell : str, int, float, bool, date, time, datetime or None
        Or a scalar of NumPy.

    Returns
    -------
    str
        Empty for None; dates and times in ISO 8601.

    Examples
    --------
    >>> import datetime
    >>> from nldd.coding.tables.cells import cell_text
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
    return cell_text(python_value(cell))


def python_value(cell: Any) -> Any:
    """The Python value of a scalar of NumPy or a like library."""
    item = getattr(cell, "item", None)
    if item is None:
        raise TypeError(f"a cell is text, a number, a date, a time or None; got {type(cell)}.")
    return item()


def cell_number(cell: Cell, *, decimal: str | None = None) -> float | None:
    """The number in a cell.

    The comma may be the decimal sign, and spaces or apostrophes may part the thousands.

    Parameters
    ----------
    cell : str, int, float, bool, date, time, datetime or None
        Or a scalar of NumPy.
    decimal : {",", "."}, optional
        Decides on cells such as ``1,234``, see :attr:`TableFormat.decimal`; without it they are a
        ValueError, as are cells that are no number.

    Returns
    -------
    float or None
        None for empty cells and what stands for one, such as ``NA``, ``?`` or ``-``.

    Examples
    --------
    >>> from nldd.coding.tables.cells import cell_number
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
        try:
            value = float(cell)
        except OverflowError:  # a whole number of hundreds of digits
            raise ValueError("a number of more than 308 digits is too large") from None
        return None if math.isnan(value) else value
    if isinstance(cell, datetime.date | datetime.time):
        raise ValueError(f"{cell.isoformat()} is no number")
    return cell_number(python_value(cell), decimal=decimal)


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


def is_text(text: str) -> bool:
    """Whether text has no half of a character, as damaged JSON may have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def nested_value(value: Any) -> Any:
    """A value of JSON or Parquet as a cell; what no cell can hold becomes text."""
    if isinstance(value, decimal.Decimal):
        # A number, if it is the same number, else its digits.
        if value == value.to_integral_value():
            return int(value) if value.adjusted() < MAX_DIGITS else str(value)
        return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | dict):
        text = json.dumps(value, ensure_ascii=False, default=_nested_text)
        return text if is_text(text) else json.dumps(value, default=_nested_text)
    return _nested_text(value) if isinstance(value, bytes | datetime.timedelta) else value


def _nested_text(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
