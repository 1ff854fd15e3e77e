"""A table in memory: its cells, its header, how its file is written, and numbers beside it."""

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import count
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.exceptions import InputError
from nldd.present.text import count_noun, escape_formula, unescape_formula

Cell = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | None

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
    >>> from nldd.coding.tables.spreadsheet import TableFormat
    >>> TableFormat("csv", separator=";").decimal, TableFormat("csv").decimal
    (',', None)
    """

    kind: str
    encoding: str = "utf-8"
    separator: str = ","
    bom: bool = False
    newline: str = "\n"
    sheet: str = ""
    variables: Any = None

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


def drop_surplus_cells(row: Sequence[Any], width: int, place: str) -> Sequence[Any]:
    """A row without the empty cells that it has beyond the header; an error names another one."""
    if surplus := [text for cell in row[width:] if (text := cell_text(cell)).strip(BLANKS)]:
        found = f"the row has {len(row)} cells, the header {width}"
        message = f"{place}: {found}; the first cell too many is {quote(surplus[0])}."
        hint = "name its column in the header or empty the cell; in a CSV file, put text that holds"
        hint += " the separator in quotes, or name the separator of the file"
        raise InputError(message, hint=f"{hint}; or {HEADER_BELOW}" if width == 1 else hint)
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
    >>> from nldd.coding.tables.spreadsheet import cell_text
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
    >>> from nldd.coding.tables.spreadsheet import cell_number
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


# Comparing takes time by the square of the lengths, and a name can be as long as a cell.
LONGEST_NAME = 200
SAVE = "numpy.save('features.npy', array), where the array has a row for each row of the table"


@dataclass(frozen=True, eq=False)
class Spreadsheet:
    """A table of a file, whatever its format.

    Attributes
    ----------
    path : Path
        The file.
    frame : pandas.DataFrame
        The rows. All columns are of dtype object: a cell is text, a number, a truth value, a date,
        a time or None. Names of columns are distinct.
    header : tuple of str
        The cells of the header as they are in the file.
    format : TableFormat
        How the file is written, so that the output can be like it.
    notes : list of str
        What a person should know about the file.
    sha256 : str
        Checksum of the file.
    numbers : NumberFile or None
        Numbers beside the table in a file of their own.
    advice : str
        What the file itself suggests if a column is missing, such as another sheet.
    """

    path: Path
    frame: pd.DataFrame
    header: tuple[str, ...] = ()
    format: TableFormat = field(default_factory=lambda: TableFormat("csv"))
    notes: list[str] = field(default_factory=list)
    sha256: str = ""
    numbers: "NumberFile | None" = None
    advice: str = ""

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.frame.columns)

    def cells(self, name: str) -> list[Cell]:
        """The cells of a column as they are in the file."""
        return self.frame[self.find(name)].tolist()

    def texts(self, name: str) -> list[str]:
        """The cells of a column as text, without the apostrophes that keep it from being run."""
        return [plain_text(cell) for cell in self.cells(name)]

    def find(self, name: str, free: Sequence[str] | None = None) -> str:
        """The name that a column has in the frame; an error names those that are like it.

        If the name is not the person's choice, `free` are the columns that could be renamed.
        """
        for known in (name, escape_formula(name)):  # as a CSV file of ours may have it
            if known in self.frame.columns:
                return known
        hint = _column_hint(name, self.names, free)
        if self.advice:
            hint += f"{' Or' if hint.endswith('?') else '; or'} {self.advice}"
        raise InputError(f"{self.path.name} has no column {quote(name)}.", hint=hint)

    def where(self, row: int, name: str | None = None) -> str:
        """The place of a cell for a message; rows count from 1."""
        return cell_place(self.path, row, name)


def unescape_cell(cell: Cell) -> Cell:
    """A cell without the apostrophes by which our CSV files keep it from being run."""
    return unescape_formula(cell) if isinstance(cell, str) else cell


def plain_text(cell: Cell) -> str:
    """A cell as text, without the apostrophes by which our CSV files keep it from being run."""
    return cell_text(unescape_cell(cell))


def unique_column_names(names: Collection[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of columns, numbered if they are `taken` or came before.

    >>> unique_column_names(["a", "a", "a (2)", "b"], taken=["b"])
    ['a', 'a (3)', 'a (2)', 'b (2)']
    """
    used, wanted, unique = set(taken), set(names), list[str]()
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    for name in names:
        chosen = name
        while chosen in used or (chosen != name and chosen in wanted):
            chosen = f"{name} ({next(numbers[name])})"
        used.add(chosen)
        unique.append(chosen)
    return unique


def frame_of(columns: Mapping[Any, Iterable[Any]]) -> pd.DataFrame:
    """A frame of cells as they are: no column is made one of numbers, nothing becomes NaN."""
    return pd.DataFrame({name: pd.Series(list(c), dtype=object) for name, c in columns.items()})


def frame_of_rows(rows: Sequence[Sequence[Any]], width: int) -> pd.DataFrame:
    """A frame of cells as they are, from rows; its columns are numbered."""
    return pd.DataFrame(rows, columns=range(width), dtype=object)


def _column_hint(name: str, names: Sequence[str], free: Sequence[str] | None) -> str:
    """Name another column, or, if the name is fixed, rename one of the `free` columns."""
    if free is None:
        near = close_matches(name, names)
        meant = f"Did you mean {' or '.join(map(quote, near))}?"
        return meant if near else f"name one of its columns: {quote_first(names)}"
    if not free:
        return f"add the column {quote(name)} to the file, or use another file"
    # To rename what only looks alike would code the wrong answers.
    near = close_matches(name, free, n=1, cutoff=0.8)
    which = f"the column {quote(near[0])}" if near else "the right column"
    hint = f"rename {which} to {quote(name)} in the file, or use another file"
    return hint if near else f"{hint}; this one also has {quote_first(free)}"


def fold_name(name: str) -> str:
    """A name without what people easily get wrong: capitals, spaces, and forms of a letter.

    >>> fold_name(" Home  Office") == fold_name("home office")
    True
    """
    return " ".join(normalize("NFKC", name).casefold().split())


def close_matches(name: str, known: Sequence[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that are most like a name, the nearest first.

    >>> close_matches("cyclng", ["Safety", "Cycling"])
    ['Cycling']
    """
    short = (other for other in reversed(known) if len(other) <= LONGEST_NAME)
    by_fold = {fold_name(other): other for other in short}
    close = get_close_matches(fold_name(name[:LONGEST_NAME]), by_fold, n=n, cutoff=cutoff)
    return [by_fold[folded] for folded in close]


class NumberFile:
    """A matrix in a ``.npy`` file, of which nothing but the header has been read.

    Pickled objects are never loaded, and a header that claims more numbers than the file has is
    refused. Rows are read as they are asked for, so the file may be larger than the memory.

    Parameters
    ----------
    path : Path
        A two-dimensional array of floating-point or whole numbers, saved by :func:`numpy.save`.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():  # opening a pipe would wait for somebody to write into it
            raise InputError(f"{path}: there is no such file.", hint="check its name and folder")
        try:
            values = open_memmap(path, mode="r")
        except (ValueError, OSError, OverflowError) as error:
            reason = " ".join(str(error).split())[:250]
            message = f"{path.name}: expected a .npy file of numbers; {reason}"
            raise InputError(message, hint=SAVE) from error
        shape = values.shape
        if len(shape) != 2 or values.dtype.kind not in "fiu" or not 0 < shape[1] <= MAX_COLUMNS:
            found = f"got numbers of type {values.dtype} and shape {shape}"
            most = f"of at most {MAX_COLUMNS:,} columns"
            raise InputError(f"{path.name}: expected rows of numbers {most}; {found}.", hint=SAVE)
        self.path, self._values = path, values
        self.n_rows, self.n_columns = shape

    def rows(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The rows at these places, from 0, in single precision; all numbers are finite."""
        with np.errstate(over="ignore"):
            values = np.asarray(self._values[places], dtype=np.float32)
        if not (finite := np.isfinite(values).all(axis=1)).all():
            row = int(places[np.argmin(finite)]) + 1
            message = f"{self.path.name}, row {row}: expected numbers, got NaN or infinity"
            hint = "give each row of the table numbers, such as 0 for an answer without any"
            raise InputError(f"{message} (in single precision).", hint=hint)
        return values
