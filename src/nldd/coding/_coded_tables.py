"""Coded answers from a table: what the columns mean, and which rows are coded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nldd.coding._answers import (
    Answers,
    is_numeric,
    likely_separator,
    place_of,
    read_answers,
    read_codes,
)
from nldd.coding._columns import CodeColumns, Columns, expanded, matching
from nldd.coding._identities import identities
from nldd.exceptions import InputError
from nldd.tables import Cell, TableReader, cell_text, open_table


@dataclass(frozen=True)
class TableOptions:
    """How a table is opened; what is None is found out.

    Attributes
    ----------
    encoding, separator, sheet : str or None
    """

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None

    def open(self, path: Path | str) -> TableReader:
        """The table in a file."""
        return open_table(path, encoding=self.encoding, separator=self.separator, sheet=self.sheet)


@dataclass(frozen=True)
class Request:
    """Columns as a person names them.

    Attributes
    ----------
    text : tuple of str
    labels : str
        The column that lists codes; or empty.
    label_columns : str
        Pattern or names of the columns of 0 and 1; or empty.
    separator, none : str
        See :class:`nldd.coding.CodeColumns`.
    features, categorical : tuple of str
        Further columns to code from; those named as categorical are so even if they hold numbers.
    """

    text: tuple[str, ...] = ()
    labels: str = ""
    label_columns: str = ""
    separator: str = ";"
    none: str = ""
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()


@dataclass(frozen=True)
class CodedAnswers:
    """The rows of a table that somebody has coded.

    Attributes
    ----------
    answers : Answers
    codes : list of set of str
    rows : list of int
        Their numbers in the table, from 1.
    n_rows : int
        All rows of the table; those without codes are set aside.
    notes : list of str
        What a person should know about the table.
    identities : list of str
        By which each answer is known again, see :func:`identities`.
    n_known : int
        Coded rows that were left out because the model has them already.
    """

    answers: Answers
    codes: list[set[str]]
    rows: list[int]
    n_rows: int
    notes: list[str]
    identities: list[str] = field(default_factory=list)
    n_known: int = 0

    @property
    def n_set_aside(self) -> int:
        """Rows without codes."""
        return self.n_rows - len(self.codes) - self.n_known


def find_columns(path: Path, request: Request, options: TableOptions) -> Columns:
    """What the columns of a table mean: the named ones, with features told apart by their cells."""
    with options.open(path) as table:
        if bool(request.labels) == bool(request.label_columns):
            raise InputError(
                "Name either the column that lists the codes or the columns of 0 and 1.",
                hint=f"--labels NAME or --label-columns PATTERN; {path.name} has the columns "
                + ", ".join(map(repr, table.names[:12])),
            )
        if request.label_columns:
            codes = CodeColumns(matching(request.label_columns, table.names), separator="")
        else:
            codes = CodeColumns((request.labels,), request.separator, request.none)
        text, features, categorical = (
            expanded(given, table.names)
            for given in (request.text, request.features, request.categorical)
        )
        for name in (*text, *features, *categorical, *codes.names):
            table.column(name)  # says so if there is none
        asked = [name for name in features if name not in categorical]
        numeric = _numeric_columns(table, asked)
    return Columns(
        text=text,
        codes=codes,
        numeric=tuple(name for name in asked if name in numeric),
        categorical=(
            *(name for name in asked if name not in numeric),
            *categorical,
        ),
    )


def _numeric_columns(table: TableReader, names: Sequence[str]) -> set[str]:
    places = {name: table.column(name) for name in names}
    if not places:
        return set()
    values: dict[str, set[Cell]] = {name: set() for name in names}
    for block in table.blocks():
        for name, place in places.items():
            values[name].update(row[place] for row in block.rows)
    return {name for name in names if is_numeric(values[name], table.format.decimal)}


def read_coded(path: Path, columns: Columns, options: TableOptions) -> CodedAnswers:
    """All rows of a table that have codes."""
    parts: list[Answers] = []
    codes: list[set[str]] = []
    rows: list[int] = []
    known: list[str] = []
    n_rows = 0
    cells: list[str] = []
    with options.open(path) as table:
        for block in table.blocks():
            found = read_codes(table, block, columns.codes)
            coded = [i for i, labels in enumerate(found) if labels is not None]
            parts.append(read_answers(table, block, columns, coded))
            codes += [found[i] or set() for i in coded]
            rows += [block.first + i for i in coded]
            known += identities(table, [block.rows[i] for i in coded], columns)
            n_rows += len(block.rows)
            if columns.codes.listed:
                place = place_of(table, columns.codes.names[0])
                cells += [cell_text(block.rows[i][place]) for i in coded]
        notes = list(table.notes)
    if not codes:
        raise InputError(
            f"{path.name}: none of the {n_rows} rows has codes in "
            f"{', '.join(map(repr, columns.codes.names[:5]))}.",
            hint="name the column with the codes by --labels, or code some answers first",
        )
    other = likely_separator(cells, columns.codes.separator) if columns.codes.listed else None
    if other:
        notes.append(
            f"No cell of {columns.codes.names[0]!r} holds {columns.codes.separator!r}, but many "
            f'hold {other!r}. If that separates codes, use --sep "{other}".'
        )
    return CodedAnswers(Answers.join(parts), codes, rows, n_rows, notes, known)
