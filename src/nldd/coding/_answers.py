"""Answers as a model reads them: their text, numbers and categories, and their codes."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding._columns import PREFIX, CodeColumns, Columns
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableReader, cell_number, cell_text, guarded

YES = frozenset({"1", "1.0", "1,0", "x", "yes", "y", "true", "t", "ja", "j", "oui", "si", "sí"})
NO = frozenset({"0", "0.0", "0,0", "no", "n", "false", "f", "nein", "non"})
MISSING = frozenset({"na", "n/a", "nan", "null", "none", "."})
# What nldd adds to a table begins with this.
# In a column that lists codes; "none" may be a code there.
NOT_CODED = frozenset({"na", "n/a", "#n/a", "nan", "null", "."})
# Beyond this, squares are no numbers any more.
LARGEST = 1e150
# A list that holds these within one cell may have them as its separator.
OTHER_SEPARATORS = (",", ";", "|", "/")


@dataclass(frozen=True)
class Answers:
    """What answers say, without their codes; ``answers[rows]`` is a part of them.

    Attributes
    ----------
    texts : list of str
        Text columns of an answer, one below the other.
    numbers : ndarray of shape (n_answers, n_numeric)
        NaN where a value is missing.
    categories : list of tuple of str
        Empty where a value is missing.
    """

    texts: list[str]
    numbers: NDArray[np.float64]
    categories: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: NDArray[np.intp]) -> "Answers":
        listed = rows.tolist()
        return Answers(
            [self.texts[row] for row in listed],
            self.numbers[rows],
            [self.categories[row] for row in listed],
        )

    @classmethod
    def join(cls, parts: Iterable["Answers"]) -> "Answers":
        """All the answers of the parts, in their order."""
        parts = list(parts)
        return cls(
            [text for part in parts for text in part.texts],
            np.concatenate([part.numbers for part in parts]),
            [row for part in parts for row in part.categories],
        )


def read_answers(
    table: TableReader, block: Block, columns: Columns, chosen: Sequence[int] | None = None
) -> Answers:
    """The answers of a block of rows, or of those that are `chosen`."""
    places = range(len(block.rows)) if chosen is None else chosen
    rows = [block.rows[i] for i in places]
    used = (*columns.inputs, *columns.codes.names)
    text = [place_of(table, name, used) for name in columns.text]
    numeric = [place_of(table, name, used) for name in columns.numeric]
    categorical = [place_of(table, name, used) for name in columns.categorical]
    numbers = [
        [_number(table, block.first + i, row, j) for j in numeric]
        for i, row in zip(places, rows, strict=True)
    ]
    return Answers(
        ["\n".join(plain_text(row[j]) for j in text) for row in rows],
        np.array(numbers, dtype=float).reshape(len(rows), len(numeric)),
        [tuple(plain_text(row[j]).strip() for j in categorical) for row in rows],
    )


def place_of(table: TableReader, name: str, used: Sequence[str] = ()) -> int:
    """Where a column stands that a model reads; an error names none that is `used` already.

    The name may have been guarded in a CSV file of ours.
    """
    for known in (name, guarded(name)):
        if known in table.names:
            return table.names.index(known)
    taken = {*used, *map(guarded, used)}
    free = [other for other in table.names if other not in taken and not other.startswith(PREFIX)]
    return table.column(name, free)


def _number(table: TableReader, number: int, row: Sequence[Cell], column: int) -> float:
    try:
        value = cell_number(unguarded(row[column]), decimal=table.format.decimal)
        if value is not None and not abs(value) <= LARGEST:
            raise ValueError
    except ValueError:
        found, name = quote(plain_text(row[column])), table.names[column]
        raise InputError(
            f"{table.where(number, column)}: expected a number, got {found}.",
            hint=f"correct the cell, or fit the model with --categorical {name!r}",
        ) from None
    return np.nan if value is None else value


def unguarded(cell: Cell) -> Cell:
    """A cell without the apostrophe by which our CSV files keep it from being run.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    if isinstance(cell, str) and cell.startswith("'") and guarded(cell[1:]) == cell:
        return cell[1:]
    return cell


def plain_text(cell: Cell) -> str:
    """What a cell says, without a guard."""
    return cell_text(unguarded(cell))


def is_numeric(cells: Iterable[Cell], decimal: str | None = None) -> bool:
    """Whether all cells that are not empty are numbers, and some are."""
    some = False
    for cell in cells:
        try:
            some |= cell_number(unguarded(cell), decimal=decimal) is not None
        except ValueError:
            return False
    return some


def read_codes(table: TableReader, block: Block, codes: CodeColumns) -> list[set[str] | None]:
    """The codes of each row of a block; None for a row that nobody has coded."""
    places = [place_of(table, name, codes.names) for name in codes.names]
    if codes.listed:
        return [listed_codes(plain_text(row[places[0]]), codes) for row in block.rows]
    return [
        _marked_codes(table, block.first + i, row, places, codes.names)
        for i, row in enumerate(block.rows)
    ]


def listed_codes(cell: str, codes: CodeColumns) -> set[str] | None:
    """Codes that a cell lists.

    Examples
    --------
    >>> sorted(listed_codes(" parks;; buses ", CodeColumns(("codes",))))
    ['buses', 'parks']
    >>> listed_codes("", CodeColumns(("codes",))) is None
    True
    """
    cell = cell.strip()
    if cell.startswith("[") and (found := _json_list(cell)) is not None:
        return found or None
    if codes.none and cell == codes.none:
        return set()
    if is_missing(cell, codes):
        return None
    found = {part.strip() for part in cell.split(codes.separator)} - {""}
    return found or None


def is_missing(cell: str, codes: CodeColumns) -> bool:
    """Whether a cell says, as programs write it, that nobody has coded the answer."""
    return cell.lower() in NOT_CODED and cell != codes.none


def _json_list(cell: str) -> set[str] | None:
    """Codes of a list in JSON, as cells of JSON lines may hold one."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(name, str | int) for name in value):
        return None
    return {str(name).strip() for name in value} - {""}


def _marked_codes(
    table: TableReader,
    number: int,
    row: Sequence[Cell],
    places: Sequence[int],
    names: Sequence[str],
) -> set[str] | None:
    marks = [plain_text(row[j]).strip().lower() for j in places]
    marks = ["" if mark in MISSING else mark for mark in marks]
    for j, mark in zip(places, marks, strict=True):
        if mark and mark not in YES and mark not in NO:
            raise InputError(
                f"{table.where(number, j)}: expected 0 or 1 (or yes, no, x), got {quote(mark)}.",
                hint="--labels NAME for a column that lists codes; or correct the cell",
            )
    if not any(marks):
        return None
    return {name for name, mark in zip(names, marks, strict=True) if mark in YES}


def codes_cell(names: Sequence[str], codes: CodeColumns) -> str:
    """Codes as one cell, in the way that the model's own column lists them."""
    return (codes.separator or ";").join(names) if names else codes.none


def likely_separator(cells: Sequence[str], separator: str) -> str | None:
    """Another separator, if codes seem to be listed with that one.

    Examples
    --------
    >>> likely_separator(["bus, park", "park", "bus, shop"], ";")
    ','
    """
    if any(separator in cell for cell in cells):
        return None
    counts = {other: sum(other in cell for cell in cells) for other in OTHER_SEPARATORS}
    best = max(counts, key=lambda other: counts[other])
    return best if counts[best] >= max(2, len(cells) / 20) else None
