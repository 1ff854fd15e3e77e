"""A table in memory: its cells, its header, and how its file is written."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import Cell, TableFormat, cell_place, cell_text
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula, unescape_formula

if TYPE_CHECKING:
    from nldd.coding.tables.number_files import NumberFile


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
            hint = f"{hint}{' Or' if hint.endswith('?') else '; or'} {self.advice}"
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


def frame_of(columns: dict[str, Sequence[Any]]) -> pd.DataFrame:
    """A frame of cells as they are: no column is made one of numbers, nothing becomes NaN."""
    return pd.DataFrame({name: pd.Series(list(c), dtype=object) for name, c in columns.items()})


def _column_hint(name: str, names: Sequence[str], free: Sequence[str] | None) -> str:
    """Name another column, or, if the name is fixed, rename one of the `free` columns."""
    if free is None:
        near = _near(name, names, n=3, cutoff=0.6)
        meant = f"Did you mean {' or '.join(map(quote, near))}?"
        return meant if near else f"name one of its columns: {quote_first(names)}"
    if not free:
        return f"add the column {quote(name)} to the file, or use another file"
    # To rename what only looks alike would code the wrong answers.
    near = _near(name, free, n=1, cutoff=0.8)
    which = f"the column {quote(near[0])}" if near else "the right column"
    hint = f"rename {which} to {quote(name)} in the file, or use another file"
    return hint if near else f"{hint}; this one also has {quote_first(free)}"


def _near(name: str, names: Sequence[str], n: int, cutoff: float) -> list[str]:
    # Comparing takes time by the square of the lengths, and a name can be as long as a cell.
    short = [known for known in names[:2000] if len(known) <= 200]
    folded = {known.casefold(): known for known in reversed(short)}
    keys = difflib.get_close_matches(name[:200].strip().casefold(), folded, n=n, cutoff=cutoff)
    return [folded[key] for key in keys]
