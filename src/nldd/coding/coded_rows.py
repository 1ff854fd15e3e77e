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

from nldd._wording import quote
from nldd.coding.answers import Answers, row_identity
from nldd.coding.audit import machine_codes
from nldd.coding.codebook import Codebook
from nldd.coding.coded_answers import BY_PEOPLE
from nldd.coding.columns import find_column
from nldd.coding.decisions import Check, read_checks, read_decisions
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel
from nldd.coding.own_columns import PREFIX, RIGHT_CODES, STATUS, latest_column, own_columns
from nldd.coding.review.store_tables import SUGGESTED
from nldd.coding.tables.cells import Cell, TableBlock, TableFormat
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.reading import TableOptions
from nldd.coding.tables.spreadsheet import plain_text
from nldd.coding.training_table import drawn_marks
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula
from nldd.present.text import count_noun

Codes = frozenset[str]
# Which only the table has that nldd review exports.
EXPORTED = f"{PREFIX}machine"


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
        if latest_column(table.names, EXPORTED) is not None:
            hint = "give the review itself, such as new.review.db, or what nldd predict wrote"
            message = "there, codes of people stand in the place of the machine's"
            raise InputError(f"{path.name} is an export of a review; {message}.", hint=hint)
        status, _ = (_added_column(table, name) for name in (STATUS, SUGGESTED))
        machine = machine_codes(table, model.columns.codes, model.labels)
        doubts = {name: _added_column(table, PREFIX + name) for name in RANKINGS}
        own = own_columns(table, model.columns.codes.names)
        for block in table.blocks():
            people = _people(model, table, block)
            empty = _is_blank(model, table, block)
            drawn = drawn_marks(table, block, range(len(block.rows)))
            for i, row in enumerate(block.rows):
                said = plain_text(row[status]).strip().lower()
                codes = _normalised(machine(row), model.codebook)
                given = codes if people[i] is None and said == BY_PEOPLE else people[i]
                rows.append(
                    CodedRow(
                        {name: row[j] for name, j in own.items()},
                        said,
                        codes,
                        given,
                        {name: _doubt(row[j], name) for name, j in doubts.items()},
                        bool(empty[i]),
                        drawn[i],
                        sampled=drawn[i],
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


def _people(model: CodingModel, table: TableReader, block: TableBlock) -> list[Codes | None]:
    """Codes that people gave, where the table has columns for them."""
    codes = model.columns.codes
    if not set(map(escape_formula, codes.names)) <= set(map(escape_formula, table.names)):
        return [None] * len(block.rows)
    # A suggestion that nobody has looked at is no decision.
    decided = read_decisions(table, block, codes, model.codebook).codes
    return [None if names is None else _normalised(names, model.codebook) for names in decided]


def _normalised(codes: Iterable[str], codebook: Codebook) -> Codes:
    """Codes as they count today; a letter and its accent are one character."""
    return frozenset(codebook.translate(normalize("NFC", name) for name in codes))


def _is_blank(model: CodingModel, table: TableReader, block: TableBlock) -> NDArray[np.bool_]:
    places = [find_column(table, name, model.columns.inputs) for name in model.columns.text]
    texts = ["\n".join(plain_text(row[j]) for j in places) for row in block.rows]
    return model.is_blank(Answers(texts))


def _doubt(cell: Cell, name: str) -> float:
    """Doubt of an answer by one ranking; that of an empty cell is as large as can be."""
    try:
        value = float(plain_text(cell).replace(",", "."))
    except ValueError:
        return np.inf
    return value if name == "theta" else 1 - value


class _Decided(NamedTuple):
    """A row that people have coded; or one of a sample, whether they have checked it or not."""

    number: int
    cells: Sequence[Cell]
    check: Check
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
        own = own_columns(table, model.columns.codes.names)
        names = [name for name in rows[0].identity if name in own]
        if not names:
            hint = f"give a review or a sample that comes from {coded.name}"
            raise InputError(f"{path.name} has no column of {coded.name}.", hint=hint)
        waiting = _waiting(rows, names)
        for block in table.blocks():
            for decided in _decided_rows(model, table, block):
                identity = row_identity(decided.cells, [own[name] for name in names])
                # Of equal answers, one that was drawn as this one was.
                alike = waiting[identity, decided.drawn] or waiting[identity, not decided.drawn]
                if not alike:
                    missing.append(decided.number)
                    continue
                row = alike.pop()
                row.drawn |= decided.drawn
                row.sampled |= decided.drawn or decided.audited
                if (codes := decided.check.settle(row.machine)) is not None:
                    row.people = frozenset(codes)
                    n_found += 1
    if missing:
        message = f"{path.name}, row {missing[0]}: {coded.name} has no such answer"
        others = f", nor that of {count_noun(len(missing) - 1, 'row')} more" * (len(missing) > 1)
        hint = f"give tables that come from {coded.name}, with its columns as they were"
        raise InputError(f"{message}{others}.", hint=hint)
    return [] if n_found else [f"{path.name}: nobody has coded or checked a row of it yet."]


def _waiting(
    rows: Sequence[CodedRow], names: Sequence[str]
) -> defaultdict[tuple[Any, bool], list[CodedRow]]:
    """Rows by their identity and by whether they were drawn; the one to take first comes last."""
    waiting = defaultdict[tuple[Any, bool], list[CodedRow]](list)
    # What had codes before is in no review and in no sample.
    order = sorted(rows, key=lambda row: row.status == BY_PEOPLE)
    for row in reversed(order):
        cells = [row.identity[name] for name in names]
        waiting[row_identity(cells, range(len(cells))), row.drawn].append(row)
    return waiting


def _decided_rows(model: CodingModel, table: TableReader, block: TableBlock) -> Iterable[_Decided]:
    columns, people = model.columns.codes, _people(model, table, block)
    checks = read_checks(table, block, columns, people)
    drawn = drawn_marks(table, block, range(len(block.rows)))
    for i, (row, codes) in enumerate(zip(block.rows, people, strict=True)):
        number = block.first + i
        if checks is None:
            if codes is not None:
                check = Check(table.where(number), None, codes)
                yield _Decided(number, row, check, drawn[i], audited=False)
            continue
        check = checks[i]
        if check.right is False and check.codes is None:
            there = latest_column(table.names, RIGHT_CODES) is not None
            name = RIGHT_CODES if there else columns.names[0]
            hint = f"write them into the column {quote(name)} of each such row"
            none = "; - if none applies" * there
            message = f"{check.where}: says no, but not which codes are right."
            raise InputError(message, hint=hint + none)
        if check.codes is not None:
            check = check._replace(codes=_normalised(check.codes, model.codebook))
        yield _Decided(number, row, check, drawn[i], audited=True)
