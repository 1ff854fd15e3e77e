"""A table in memory: its cells, its header, how its file is written, and numbers beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import MAX_COLUMNS, Cell, TableFormat, cell_place, cell_text
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula, unescape_formula

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

    >>> close_matches("saftey", ["Safety", "Cycling"])
    ['Safety']
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
        self.path = path
        self._values = _mapped(path)
        self.n_rows, self.n_columns = self._values.shape

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

    def other_length(self, table: str, n_rows: str) -> InputError:
        """What to say where a table has more or fewer rows."""
        both = f"{self.path.name} has {self.n_rows} rows, {table} has {n_rows}"
        hint = "a row of numbers for each row of the table, coded or not, in the same order"
        return InputError(f"{both}: which row is whose cannot be told.", hint=hint)


def _mapped(path: Path) -> NDArray[Any]:
    if not path.is_file():  # opening a pipe would wait for somebody to write into it
        raise InputError(f"{path}: there is no such file.", hint="check its name and folder")
    try:
        values = open_memmap(path, mode="r")
    except (ValueError, OSError, OverflowError) as error:
        message = f"{path.name}: expected a .npy file of numbers; {' '.join(str(error).split())}"
        raise InputError(f"{message:.300}", hint=SAVE) from error
    if values.ndim != 2 or values.dtype.kind not in "fiu" or not 0 < values.shape[1] <= MAX_COLUMNS:
        found = f"got numbers of type {values.dtype} and shape {values.shape}"
        most = f"of at most {MAX_COLUMNS:,} columns"
        raise InputError(f"{path.name}: expected rows of numbers {most}; {found}.", hint=SAVE)
    return values
