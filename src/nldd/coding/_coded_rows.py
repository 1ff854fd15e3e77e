"""Answers of a coded table with the codes of the machine, and those that people gave since.

People decide in other tables: in the review, and in samples of ``nldd audit``. Their rows are known
again by all columns that are neither codes nor made by nldd.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd._wording import count_noun, quote
from nldd.coding._answers import (
    DRAWN,
    MISSING,
    NO,
    PREFIX,
    YES,
    Answers,
    CodeColumns,
    find_column,
    plain_text,
    read_mark,
    unguard,
)
from nldd.coding._audit import CHECK, MARKS, RIGHT_CODES, STATUS
from nldd.coding._codebook import Codebook
from nldd.coding._decisions import latest_column, take_decided
from nldd.coding._model import CodingModel
from nldd.coding._predictions import RANKINGS
from nldd.coding._training_table import _identity
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableFormat, TableOptions, TableReader, guarded

# What says there that no code applies.
DASHES = frozenset({"-", "--", "\u2013", "\u2014"})
Codes = frozenset[str]


@dataclass
class CodedRow:
    """An answer of a coded table; `people` is None until somebody has coded it.

    It may be `drawn` at random from all, and `sampled` at random from those of its status, by that
    or by an audit. `doubts` are those of both rankings.
    """

    identity: dict[str, Cell]
    status: str
    machine: Codes
    people: Codes | None
    doubts: dict[str, float]
    empty: bool
    drawn: bool
    sampled: bool


class CodedTable(NamedTuple):
    """All answers of a coded table, how it is written, and what a person should know."""

    rows: list[CodedRow]
    format: TableFormat
    notes: list[str]


def read_rows(model: CodingModel, path: Path, options: TableOptions) -> CodedTable:
    """The answers of a table that ``nldd predict`` wrote."""
    rows: list[CodedRow] = []
    with options.open(path) as table:
        status, codes = (_added_column(table, name) for name in (STATUS, f"{PREFIX}codes"))
        doubts = {name: _added_column(table, PREFIX + name) for name in RANKINGS}
        own = _own_columns(table, model.columns.codes)
        for block in table.blocks():
            people = _people(model, table, block)
            empty = _says_nothing(model, table, block)
            for i, row in enumerate(block.rows):
                drawn = _is_drawn(table, block.first + i, row)
                rows.append(
                    CodedRow(
                        {name: row[j] for name, j in own.items()},
                        plain_text(row[status]).strip().lower(),
                        _listed(model, plain_text(row[codes])) or frozenset(),
                        people[i],
                        {name: _doubt(row[j], name) for name, j in doubts.items()},
                        bool(empty[i]),
                        drawn,
                        sampled=drawn,
                    )
                )
        return CodedTable(rows, table.format, table.notes)


def _added_column(table: TableReader, name: str) -> int:
    place = latest_column(table.names, name)
    if place is None:
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then name coded.csv"
        lacks = f"{table.path.name} has no column {name!r}"
        raise InputError(f"{lacks}, so nldd predict did not write it.", hint=hint)
    return place


def _own_columns(table: TableReader, codes: CodeColumns) -> dict[str, int]:
    """Columns that are the answer's own, rather than codes or what nldd has added."""
    names = ((str(unguard(name)), j) for j, name in enumerate(table.names))
    return {n: j for n, j in names if not n.startswith(PREFIX) and n not in codes.names}


def _people(model: CodingModel, table: TableReader, block: Block) -> list[Codes | None]:
    """Codes that people gave, where the table has columns for them."""
    codes = model.columns.codes
    if not set(map(guarded, codes.names)) <= set(map(guarded, table.names)):
        return [None] * len(block.rows)
    # A suggestion that nobody has looked at is no decision.
    decided = take_decided(table, block, codes, model.codebook).codes
    return [_normalised(names, model.codebook) for names in decided]


def _normalised(codes: Iterable[str] | None, codebook: Codebook) -> Codes | None:
    """Codes as they count today; a letter and its accent are one character."""
    if codes is None:
        return None
    return frozenset(codebook.translate(normalize("NFC", name) for name in codes))


def _listed(model: CodingModel, cell: str) -> Codes | None:
    """Codes of a cell that lists them as a table of ``nldd predict`` does; None if it is empty."""
    codes = model.columns.codes
    listed = codes if codes.listed else replace(codes, separator=";")
    return _normalised(listed.split(cell), model.codebook)


def _says_nothing(model: CodingModel, table: TableReader, block: Block) -> NDArray[np.bool_]:
    places = [find_column(table, name, model.columns.inputs) for name in model.columns.text]
    texts = ["\n".join(plain_text(row[j]) for j in places) for row in block.rows]
    return model.says_nothing(Answers(texts, np.empty((len(texts), 0)), [()] * len(texts)))


def _is_drawn(table: TableReader, number: int, row: Sequence[Cell]) -> bool:
    if (place := latest_column(table.names, DRAWN)) is None:
        return False
    hint = f"leave the column {DRAWN} as nldd predict wrote it"
    return read_mark(table, number, row, place, YES | NO | MISSING, "yes or no", hint) in YES


def _doubt(cell: Cell, name: str) -> float:
    """Doubt of an answer by one ranking; that of an empty cell is as large as can be."""
    try:
        value = float(plain_text(cell).replace(",", "."))
    except ValueError:
        return np.inf
    return value if name == "theta" else 1 - value


class _Decided(NamedTuple):
    """A row that people have coded or checked; without codes, those of the machine are right."""

    number: int
    cells: Sequence[Cell]
    codes: Codes | None
    drawn: bool
    audited: bool


def add_decided(
    model: CodingModel, rows: list[CodedRow], path: Path, coded: Path, options: TableOptions
) -> list[str]:
    """Give rows of the `coded` table what people decided in another; and what to note about it."""
    missing: list[int] = []
    n_found = 0
    # The sheet is that of the coded table.
    with replace(options, numbers=None, sheet=None).open(path) as table:
        own = _own_columns(table, model.columns.codes)
        names = [name for name in rows[0].identity if name in own]
        if not names:
            hint = f"give a review or a sample that comes from {coded.name}"
            raise InputError(f"{path.name} has no column of {coded.name}.", hint=hint)
        waiting = defaultdict[Any, list[CodedRow]](list)
        for row in reversed(rows):
            cells = [row.identity[name] for name in names]
            waiting[_identity(cells, range(len(cells)))].append(row)
        for block in table.blocks():
            for decided in _decided_rows(model, table, block):
                alike = waiting[_identity(decided.cells, [own[name] for name in names])]
                if not alike:
                    missing.append(decided.number)
                    continue
                row = alike.pop()
                row.people = row.machine if decided.codes is None else decided.codes
                row.drawn |= decided.drawn
                row.sampled |= decided.drawn or decided.audited
                n_found += 1
    if missing:
        message = f"{path.name}, row {missing[0]}: {coded.name} has no such answer"
        others = f", nor that of {count_noun(len(missing) - 1, 'row')} more" * (len(missing) > 1)
        hint = f"give tables that come from {coded.name}, with its columns as they were"
        raise InputError(f"{message}{others}.", hint=hint)
    return [] if n_found else [f"{path.name}: nobody has coded or checked a row of it yet."]


def _decided_rows(model: CodingModel, table: TableReader, block: Block) -> Iterable[_Decided]:
    columns, people = model.columns.codes, _people(model, table, block)
    check, right = latest_column(table.names, CHECK), latest_column(table.names, RIGHT_CODES)
    for number, (row, codes) in enumerate(zip(block.rows, people, strict=True), block.first):
        drawn = _is_drawn(table, number, row)
        if check is None:
            if codes is not None:
                yield _Decided(number, row, codes, drawn, audited=False)
            continue
        if right is not None and codes is None:
            cell = plain_text(row[right]).strip()
            codes = frozenset() if cell in DASHES else _listed(model, cell)
        hint = "yes where all codes of the row are right, no where one is wrong"
        mark = MARKS[read_mark(table, number, row, check, MARKS, "yes or no", hint)]
        if mark is False and codes is None:
            name = RIGHT_CODES if right is not None else columns.names[0]
            none = "" if right is None else "; - if none applies"
            hint = f"write them into the column {quote(name)} of each such row{none}"
            where = table.where(number, check)
            raise InputError(f"{where}: says no, but not which codes are right.", hint=hint)
        if mark is not None or codes is not None:
            yield _Decided(number, row, codes, drawn, audited=True)
