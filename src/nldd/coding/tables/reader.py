"""The rows of a table, whatever its format, in blocks; its columns, each by a name of its own."""

import difflib
import re
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import (
    MAX_BLOCK,
    Row,
    RowSource,
    TableBlock,
    TableFormat,
    cell_place,
    cell_text,
    check_width,
    row_weight,
)
from nldd.exceptions import InputError
from nldd.present.text import count_noun

if TYPE_CHECKING:
    from nldd.coding.tables.number_files import NumberFile

# Of cells in the third row of Qualtrics, and in the second of SurveyMonkey.
_IMPORT_ID = re.compile(r"""\{\s*["']ImportId["']""")
_OPEN_ENDED = frozenset({"response", "open-ended response", "open-ended-antwort", "beantwortung"})
_BLANKS = " \t\r\n\u00a0\ufeff"


class TableReader:
    r"""Rows of a table, read in blocks; made by :func:`open_table`.

    It is used in a ``with`` block.

    Parameters
    ----------
    path : Path
        The file.
    source : RowSource
        What reads its format.
    skip_rows : int
        Rows below the header that a person wants to have skipped.

    Attributes
    ----------
    path : Path
        The file.
    header : tuple of str
        The cells of the header as they are in the file.
    names : tuple of str
        Names of the columns, no two alike: a repeated one gets a number, an empty one its place.
    format : TableFormat
        How the file is written.
    numbers : NumberFile or None
        Numbers that lie beside the table in a file of their own.
    no_code : str
        Where nldd itself has written the codes, the cell which says that none applies.
    row_names : sequence of str
        Names of the rows read so far, where rows have some.

    Notes
    -----
    Rows below the header that belong to it, as survey programs write them, are left out with a
    note.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.opening import open_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text("id,answer,answer\n1,good,cheap\n")
    ...     with open_table(path) as table:
    ...         rows = [row for block in table.blocks() for row in block.rows]
    >>> table.header, table.names
    (('id', 'answer', 'answer'), ('id', 'answer', 'answer (2)'))
    >>> table.notes
    ["Repeated column names got a number: 'answer (2)'."]
    >>> rows
    [('1', 'good', 'cheap')]
    """

    def __init__(self, path: Path, source: RowSource, skip_rows: int = 0) -> None:
        check_width(path, len(source.header))
        self.path = path
        self.format: TableFormat = source.format
        is_typed = self.format.kind in ("csv", "tsv", "xlsx")
        first, are_wider = _first_rows(source) if is_typed else ([], False)
        self._n_below, self.header, self._below = _rest_of_header(source.header, first)
        # One cell above rows of several is a title rather than the names of columns.
        self._is_title = are_wider and _n_filled(source.header) == 1
        if skip_rows:
            self._n_below, rows = skip_rows, count_noun(skip_rows, "row")
            self._below = [f"{rows} below the header skipped; rows are counted after that."]
        self.names = distinct_names(self.header)
        self.numbers: NumberFile | None = None
        self.no_code = ""
        self.row_names: Sequence[str] = ()
        self._source = source
        self._open: list[Generator[Row, None, None]] = []
        self._begun = False

    @property
    def notes(self) -> list[str]:
        """What a person should know; what concerns the rows is complete once they are read."""
        of_names = _notes_on_names(self.header, self.names)
        return [*self._source.notes(), *self._below, *of_names]

    def blocks(self, n_rows: int = 2000) -> Iterator[TableBlock]:
        """All rows from the first one on, `n_rows` at a time, however often this is called.

        Rows of much text come fewer at a time, so that no block fills the memory.
        """
        if n_rows < 1:
            raise InputError(f"n_rows must be at least 1; got {n_rows}.")
        first = 1
        rows = self._source.rows()
        self._open.append(rows)
        self._begun = True
        try:
            for _ in islice(rows, self._n_below):
                pass
            while block := self._block(rows, first, n_rows):
                yield TableBlock(first, block)
                first += len(block)
        except (UnicodeError, OSError) as error:
            place = f"{cell_place(self.path, first)}: the file could not be read to its end"
            hint = "check whether another program changed it, and start again"
            raise InputError(f"{place}: {error}.", hint=hint) from error
        finally:
            self._open.remove(rows)
            rows.close()

    def _block(self, rows: Iterator[Row], first: int, n_rows: int) -> list[Row]:
        block: list[Row] = []
        weight = 0
        while len(block) < n_rows and weight < MAX_BLOCK and (row := next(rows, None)) is not None:
            block.append(row)
            weight += row_weight(row, self.path, first + len(block) - 1, self.names)
        return block

    def fraction_read(self) -> float:
        """How much of the file has been read, from 0 to 1."""
        return self._source.fraction() if self._begun else 0.0

    def column(self, name: str, free: Sequence[str] | None = None) -> int:
        """Position of a column; an error names those that are like it.

        Where the name is not the person's choice, `free` are the columns that could be renamed.
        """
        if name in self.names:
            return self.names.index(name)
        hint = self._source.advice(_column_hint(name, self.names, free))
        if self._is_title and free is None:
            hint += "; or --header-row N, if the names of the columns stand in a row below"
        raise InputError(f"{self.path.name} has no column {quote(name)}.", hint=hint)

    def where(self, row: int, column: int | None = None) -> str:
        """The place of a cell for a message: row from 1, and position of the column from 0."""
        return cell_place(self.path, row, None if column is None else self.names[column])

    def __enter__(self) -> "TableReader":
        return self

    def __exit__(self, *error: object) -> None:
        for rows in list(self._open):
            rows.close()


def _n_filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip(_BLANKS)) for cell in cells)


def _first_rows(source: RowSource) -> tuple[list[list[str]], bool]:
    """The first two rows as text, and whether one has several cells.

    None if they cannot be read, which reading them will tell; most often they have too many cells.
    """
    rows = source.rows()
    try:
        first = [list(map(cell_text, row)) for row in islice(rows, 2)]
    except (InputError, UnicodeError, OSError):
        return [], True
    finally:
        rows.close()
    return first, any(_n_filled(row) > 1 for row in first)


def _rest_of_header(
    header: tuple[str, ...], rows: list[list[str]]
) -> tuple[int, tuple[str, ...], list[str]]:
    """How many of the first rows belong to the header, the whole header, and a note on it.

    Qualtrics has the texts of the questions in the second row and their ids in the third.
    SurveyMonkey has the names of options in the second, below a question that stands there once.
    """
    counted = "no answers, and skipped; rows are counted after that."
    for n, row in enumerate(rows, 1):
        filled = [cell.strip() for cell in row if cell.strip()]
        n_ids = sum(_IMPORT_ID.match(cell) is not None for cell in filled)
        if n_ids and 2 * n_ids >= len(filled):
            what = count_noun(n, "row") + " below the header"
            return n, header, [f"{what}, as Qualtrics writes them (ImportId): {counted}"]
    if len(rows) < 2 or rows[0][0].strip() or not rows[1][0].strip():
        return 0, header, []
    if not any(cell.strip().lower() in _OPEN_ENDED for cell in rows[0]):
        return 0, header, []
    below = [cell.strip() for cell in rows[0]] + [""] * len(header)
    whole = tuple(name if name.strip(_BLANKS) else below[j] for j, name in enumerate(header))
    said = f"1 row below the header, as SurveyMonkey writes it ({quote_first(filter(None, below))})"
    return 1, whole, [f"{said}: {counted}"]


def distinct_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each column that no other one has, such as ``comment (2)`` or ``column 4``."""
    wanted = [cell.strip(_BLANKS) or f"column {j}" for j, cell in enumerate(header, 1)]
    names: dict[str, None] = {}
    latest: dict[str, int] = {}
    reserved = set(wanted)
    for name in wanted:
        chosen, k = name, latest.get(name, 1)
        while chosen in names or (chosen != name and chosen in reserved):
            k += 1
            chosen = f"{name} ({k})"
        latest[name] = k
        names[chosen] = None
    return tuple(names)


def _notes_on_names(header: Sequence[str], names: Sequence[str]) -> list[str]:
    pairs = [(cell.strip(_BLANKS), name) for cell, name in zip(header, names, strict=True)]
    repeated = [name for cell, name in pairs if cell not in ("", name)]
    empty = [name for cell, name in pairs if not cell]
    notes = []
    if repeated:
        notes.append(f"Repeated column names got a number: {quote_first(repeated)}.")
    if empty:
        notes.append(f"{count_noun(len(empty), 'column')} had no name: {quote_first(empty)}.")
    return notes


def _column_hint(name: str, names: Sequence[str], free: Sequence[str] | None) -> str:
    """Name another column, or, where the name is fixed, rename one of the `free` columns."""
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
