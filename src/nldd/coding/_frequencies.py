"""Shares of codes in all answers of a coded table, corrected for the errors of the machine.

What people coded counts as it is. For what only the machine coded, a random part that people
checked tells how often it was wrong (:mod:`nldd.coding._shares`), drawn by ``nldd audit`` or by
``nldd predict --random``. Answers that the machine was sure of and those that it left to people are
two parts, as it errs more in the latter. Where nothing of a part was checked, coded answers of the
model stand in, as predicted without themselves: those about which it was as sure.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd._labels import indicator
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
from nldd.coding._model import CodingModel, order_codes
from nldd.coding._output import AUTO, BY_PEOPLE, CHECK, MARKS, REVIEW, STATUS
from nldd.coding._predictions import RANKINGS
from nldd.coding._shares import PartCounts, count_part, estimate_rest
from nldd.coding._training_table import _identity
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableFormat, TableOptions, TableReader, guarded

# Where the errors of a part are known from.
CHECKED, MODEL = "checked", "model"
Codes = frozenset[str]


@dataclass(frozen=True)
class Frequency:
    """Answers with a code: of people and of the machine alone, and their share, raw and corrected.

    `low` and `high` are the limits of the corrected share.
    """

    code: str
    n_people: int
    n_machine: int
    raw: float
    share: float
    low: float
    high: float

    @property
    def bias(self) -> float:
        """How much the raw share is too large."""
        return self.raw - self.share


@dataclass(frozen=True)
class Basis:
    """A part of the answers: how many only the machine coded, and what tells of its errors.

    `source` says what the `n_checked` answers are: ``checked`` ones of the same part, drawn at
    random, of which `n_open` more are not coded yet; or coded ones of the ``model``.
    """

    part: str
    n_rest: int
    n_checked: int
    source: str
    n_open: int = 0


@dataclass(frozen=True)
class Frequencies:
    """Shares of the codes among `n_answers`, of which people coded `n_people`.

    `n_empty` rows more say nothing, and do not count.
    """

    codes: tuple[Frequency, ...]
    n_answers: int
    n_people: int
    n_empty: int
    basis: tuple[Basis, ...]
    notes: list[str]
    format: TableFormat


@dataclass
class _Row:
    """An answer of the coded table; `people` is None until somebody has coded it.

    It may be `drawn` at random from all, and `sampled` at random from its part by that or an audit.
    """

    identity: dict[str, Cell]
    status: str
    machine: Codes
    people: Codes | None
    doubts: dict[str, float]
    drawn: bool
    sampled: bool


def code_frequencies(
    model: CodingModel,
    path: Path,
    checked: Sequence[Path] = (),
    options: TableOptions = TableOptions(),
    level: float = 0.95,
) -> Frequencies:
    """Shares of the codes in a table that ``nldd predict`` wrote.

    `checked` are the tables that came back from people: reviews, and samples of ``nldd audit``.
    """
    rows, n_empty, format, notes = _read_rows(model, path, options)
    for other in checked:
        notes += _add_checked(model, rows, other, path, options)
    known = [row for row in rows if row.people is not None]
    labels = _all_labels(model, rows)
    parts = _parts(model, rows, labels)
    totals = estimate_rest([counts for _, counts in parts], level) if parts else (0.0, 0.0, 0.0)
    by_people = _matrix([row.people or frozenset() for row in known], labels).sum(axis=0)
    by_machine = sum((counts.rest_with for _, counts in parts), np.zeros(len(labels), dtype=int))
    shares = [(by_people + total) / len(rows) for total in totals]
    raw = (by_people + by_machine) / len(rows)
    columns = (by_people, by_machine, raw, *shares)
    each = zip(labels, *(values.tolist() for values in columns), strict=True)
    found = sorted((Frequency(*values) for values in each), key=lambda f: (-f.share, f.code))
    basis = tuple(basis for basis, _ in parts)
    return Frequencies(tuple(found), len(rows), len(known), n_empty, basis, notes, format)


def _read_rows(
    model: CodingModel, path: Path, options: TableOptions
) -> tuple[list[_Row], int, TableFormat, list[str]]:
    """All answers of the coded table, how many rows say nothing, and how it is written."""
    rows: list[_Row] = []
    n_all = 0
    with options.open(path) as table:
        status, codes = _latest(table, STATUS), _latest(table, f"{PREFIX}codes")
        doubts = {name: _latest(table, PREFIX + name) for name in RANKINGS}
        own = {str(unguard(name)): j for j, name in enumerate(table.names)}
        ids = [name for name in own if _identifies(name, model.columns.codes)]
        for block in table.blocks():
            people = _people(model, table, block)
            empty = _says_nothing(model, table, block)
            for i, row in enumerate(block.rows):
                n_all += 1
                if empty[i] and people[i] is None:
                    continue
                drawn = _is_drawn(table, block.first + i, row)
                rows.append(
                    _Row(
                        {name: row[own[name]] for name in ids},
                        plain_text(row[status]).strip().lower(),
                        _machine_codes(plain_text(row[codes]), model.columns.codes),
                        people[i],
                        {name: _doubt(row[j], name) for name, j in doubts.items()},
                        drawn,
                        sampled=drawn,
                    )
                )
        notes = table.notes
    if not rows:
        hint = "name the table that nldd predict wrote"
        raise InputError(f"{path.name} has no answers.", hint=hint)
    return rows, n_all - len(rows), table.format, notes


def _latest(table: TableReader, name: str) -> int:
    """A column of the latest coding: a table that is coded again has a second one behind."""
    pattern = re.compile(rf"{name}( \([0-9]+\))?")
    found = [j for j, other in enumerate(table.names) if pattern.fullmatch(other)]
    if not found:
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then name coded.csv"
        lacks = f"{table.path.name} has no column {name!r}"
        raise InputError(f"{lacks}, so nldd predict did not write it.", hint=hint)
    return found[-1]


def _identifies(name: str, codes: CodeColumns) -> bool:
    """Whether a column is the answer's own, rather than codes or what nldd has added."""
    return not name.startswith(PREFIX) and name not in codes.names


def _people(model: CodingModel, table: TableReader, block: Block) -> list[Codes | None]:
    """Codes that people gave, where the table has columns for them."""
    codes = model.columns.codes
    if not set(map(guarded, codes.names)) <= set(map(guarded, table.names)):
        return [None] * len(block.rows)
    found = codes.read(table, block)
    return [None if c is None else frozenset(normalize("NFC", n) for n in c) for c in found]


def _says_nothing(model: CodingModel, table: TableReader, block: Block) -> NDArray[np.bool_]:
    places = [find_column(table, name, model.columns.inputs) for name in model.columns.text]
    texts = ["\n".join(plain_text(row[j]) for j in places) for row in block.rows]
    return model.says_nothing(Answers(texts, np.empty((len(texts), 0)), [()] * len(texts)))


def _machine_codes(cell: str, codes: CodeColumns) -> Codes:
    listed = codes if codes.listed else replace(codes, separator=";")
    return frozenset(listed.split(cell) or ())


def _is_drawn(table: TableReader, number: int, row: Sequence[Cell]) -> bool:
    if DRAWN not in table.names:
        return False
    hint = f"leave the column {DRAWN} as nldd predict wrote it"
    place = table.names.index(DRAWN)
    return read_mark(table, number, row, place, YES | NO | MISSING, "yes or no", hint) in YES


def _doubt(cell: Cell, name: str) -> float:
    """Doubt of an answer by one ranking; that of an empty cell is as large as can be."""
    try:
        value = float(plain_text(cell).replace(",", "."))
    except ValueError:
        return np.inf
    return value if name == "theta" else 1 - value


def _add_checked(
    model: CodingModel, rows: list[_Row], path: Path, coded: Path, options: TableOptions
) -> list[str]:
    """Give rows the codes that people gave them in another table; and what to note about it."""
    places, missing = defaultdict[Any, list[int]](list), []
    n_found = 0
    with replace(options, numbers=None).open(path) as table:
        own = {str(unguard(name)): j for j, name in enumerate(table.names)}
        names = [name for name in rows[0].identity if name in own]
        if not names:
            hint = f"give a review or a sample that comes from {coded.name}"
            raise InputError(f"{path.name} has no column of {coded.name}.", hint=hint)
        for i, row in reversed(list(enumerate(rows))):
            cells = [row.identity[name] for name in names]
            places[_identity(cells, range(len(cells)))].append(i)
        for block in table.blocks():
            for number, found, codes, drawn, audited in _checked_rows(model, table, block):
                waiting = places[_identity(found, [own[name] for name in names])]
                if not waiting:
                    missing.append(number)
                    continue
                row = rows[waiting.pop()]
                row.people = row.machine if codes is None else codes
                row.drawn |= drawn
                row.sampled |= drawn or audited
                n_found += 1
    if missing:
        message = f"{path.name}, row {missing[0]}: {coded.name} has no such answer"
        others = f", nor that of {count_noun(len(missing) - 1, 'row')} more" * (len(missing) > 1)
        hint = f"give tables that come from {coded.name}, with its columns as they were"
        raise InputError(f"{message}{others}.", hint=hint)
    return [] if n_found else [f"{path.name}: nobody has coded or checked a row of it yet."]


def _checked_rows(
    model: CodingModel, table: TableReader, block: Block
) -> Iterable[tuple[int, Sequence[Cell], Codes | None, bool, bool]]:
    """Rows that people have coded or checked: number, cells, codes, whether drawn, or audited.

    Without codes, those of the machine are right.
    """
    people = _people(model, table, block)
    place = table.names.index(CHECK) if CHECK in table.names else None
    hint = "yes where all codes of the row are right, no where one is wrong"
    for number, (row, codes) in enumerate(zip(block.rows, people, strict=True), block.first):
        drawn = _is_drawn(table, number, row)
        if place is None:
            if codes is not None:
                yield number, row, codes, drawn, False
            continue
        mark = MARKS[read_mark(table, number, row, place, MARKS, "yes or no", hint)]
        if mark is False and codes is None:
            named = quote(model.columns.codes.names[0])
            where = table.where(number, place)
            lacks = "says no, but not which codes are right"
            add = f"write the right codes into the column {named} of each such row"
            raise InputError(f"{where}: {lacks}.", hint=f"{add} (add the column if it is missing)")
        if mark is not None or codes is not None:
            yield number, row, codes, drawn, True


def _all_labels(model: CodingModel, rows: list[_Row]) -> tuple[str, ...]:
    """The codes of the model, and those that people gave besides."""
    found = {code for row in rows for code in (*row.machine, *(row.people or ()))}
    new = found - set(model.labels)
    listed = replace(model.columns, codes=replace(model.columns.codes, separator=";"))
    return (*model.labels, *(order_codes([new], listed) if new else ()))


def _matrix(codes: Sequence[Codes], labels: Sequence[str]) -> NDArray[np.int8]:
    return indicator(codes, np.array(labels, dtype=object))


def _parts(
    model: CodingModel, rows: list[_Row], labels: tuple[str, ...]
) -> list[tuple[Basis, PartCounts]]:
    """What only the machine coded, sure and unsure, with what is known about its errors."""
    ranking, limit = _find_limit(model, rows)

    def part_of(row: _Row) -> str:
        # Drawn answers may stand in the review however sure the machine is.
        sure = row.status == AUTO or (row.drawn and row.doubts[ranking] <= limit)
        return AUTO if sure else REVIEW

    open_rows = [row for row in rows if row.status != BY_PEOPLE]
    parts = []
    for part in (AUTO, REVIEW):
        here = [row for row in open_rows if part_of(row) == part]
        rest = [row for row in here if row.people is None]
        if not rest:
            continue
        sample = [row for row in here if row.sampled and row.people is not None]
        machine = _matrix([row.machine for row in sample], labels)
        people = _matrix([row.people or frozenset() for row in sample], labels)
        source = CHECKED
        if not sample:
            machine, people = _stand_ins(model, ranking, limit, part, len(labels))
            source = MODEL
        counts = count_part(_matrix([row.machine for row in rest], labels), machine, people)
        n_open = sum(row.drawn for row in rest)
        parts.append((Basis(part, len(rest), len(machine), source, n_open), counts))
    return parts


def _find_limit(model: CodingModel, rows: list[_Row]) -> tuple[str, float]:
    """By which ranking answers were coded automatically, and up to which doubt."""
    auto = [row for row in rows if row.status == AUTO]
    others = [row for row in rows if row.status == REVIEW and not row.drawn]
    best = ("theta", -1.0)
    fewest = len(others) + 1
    for ranking in RANKINGS if model.evidence.chance is not None else ("theta",):
        limit = max((row.doubts[ranking] for row in auto), default=-1.0)
        # Of the ranking that was used, none are within the limit but for what rounding does.
        n_within = sum(row.doubts[ranking] <= limit for row in others)
        if n_within < fewest:
            best, fewest = (ranking, limit), n_within
    return best


def _stand_ins(
    model: CodingModel, ranking: str, limit: float, part: str, n_labels: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Codes of the machine and of people for answers of the model like those of a part."""
    found, Y = model.evidence[model.tested], model.Y[model.tested]
    sure = found.doubt(ranking) <= limit
    like = sure if part == AUTO else ~sure
    padding = ((0, 0), (0, n_labels - Y.shape[1]))
    return np.pad(found.Y[like], padding), np.pad(Y[like], padding)
