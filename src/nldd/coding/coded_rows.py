"""Answers of a coded table with the codes of the machine, and those that people gave since.

People decide in other tables: in the review, and in samples of ``nldd audit``. Their rows are known
again by all columns that are neither codes nor made by nldd.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd.coding import own_columns as own
from nldd.coding.answers import Answers, Entries
from nldd.coding.coded_answers import BY_PEOPLE
from nldd.coding.columns import Codes, find_column, identity_rows
from nldd.coding.decisions import SAMPLE, decided_codes, read_drawn, suggested_codes
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel
from nldd.coding.review.store import is_store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError


@dataclass(frozen=True, eq=False)
class CodedRows(Entries):
    """Answers that a model has coded; all arrays have one entry per answer.

    Attributes
    ----------
    status : ndarray of str
        What became of each: "auto", "review", "part" or "coded".
    machine, people : ndarray of frozenset of str
        Codes of both; None until people have coded the answer.
    doubts : ndarray of shape (n_answers, n_rankings)
        Doubt of the machine by each ranking.
    is_blank : ndarray of bool
        Which answers say nothing.
    drawn, sampled : ndarray of bool
        Which were drawn at random from all, and which from those of their status, by that or by an
        audit.
    """

    status: NDArray[Any]
    machine: NDArray[Any]
    people: NDArray[Any]
    doubts: NDArray[np.float64]
    is_blank: NDArray[np.bool_]
    drawn: NDArray[np.bool_]
    sampled: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which answers people have coded."""
        return np.array([codes is not None for codes in self.people], dtype=bool)

    def drop_blank(self) -> "CodedRows":
        """Leave out what says nothing, unless people gave it codes."""
        return self[self.known | ~self.is_blank]


@dataclass(frozen=True, eq=False)
class DecidedTable:
    """A table with the codes that people gave to its rows; None where nobody has."""

    table: Spreadsheet
    codes: list[Codes | None]
    kind: str


def open_decided(model: CodingModel, path: Path, options: TableOptions) -> DecidedTable:
    """Open a table that the model has coded, or that of a review file."""
    if is_store(path):
        from nldd.coding.review.decisions import review_as_table  # only where there is one

        table, decisions = review_as_table(path, model.columns, options)
        table = replace(table, notes=[*table.notes, *decisions.notes])
        given, kind = decisions.codes, decisions.kind
    else:
        table, columns = read_table(path, options), model.columns.codes
        given, kind, _ = decided_codes(table, columns, model.labels, model.codebook, strict=True)
    return DecidedTable(table, [None if c is None else _current(model, c) for c in given], kind)


def _current(model: CodingModel, codes: Iterable[str]) -> Codes:
    """Codes as they count today; a letter and its accent are one character."""
    return frozenset(model.codebook.translate(normalize("NFC", name) for name in codes))


def read_rows(model: CodingModel, coded: DecidedTable) -> CodedRows:
    """The answers of a table that ``nldd predict`` wrote, with the codes that people have given."""
    table, columns = coded.table, model.columns
    if own.latest_column(table, own.MACHINE) is not None:
        hint = "give the review itself, such as new.review.db, or what nldd predict wrote"
        message = "there, codes of people stand in the place of the machine's"
        raise InputError(f"{table.path.name} is an export of a review; {message}.", hint=hint)
    names = (own.STATUS, own.CODES, *(own.PREFIX + ranking for ranking in RANKINGS))
    stated, _, *doubts = (_texts_of(table, name) for name in names)
    status = [text.strip().lower() for text in stated]
    machine = [_current(model, c) for c in suggested_codes(table, columns.codes, model.labels)]
    each = zip(coded.codes, machine, status, strict=True)
    people = [old if new is None and said == BY_PEOPLE else new for new, old, said in each]
    texts = [table.texts(find_column(table, name, columns.inputs)) for name in columns.text]
    answers = Answers(list(map("\n".join, zip(*texts, strict=True))) or [""] * len(table))
    ranked = zip(RANKINGS, doubts, strict=True)
    doubt = np.array([[_doubt(text, name) for text in cells] for name, cells in ranked]).T
    drawn = np.array(read_drawn(table), dtype=bool)
    said = [np.array(values, dtype=object) for values in (status, machine, people)]
    is_blank = model.is_blank(answers)
    return CodedRows(said[0], said[1], said[2], doubt, is_blank, drawn, drawn.copy())


def _texts_of(table: Spreadsheet, name: str) -> list[str]:
    column = own.latest_column(table, name)
    if column is None:
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then name coded.csv"
        lacks = f"{table.path.name} has no column {name!r}"
        raise InputError(f"{lacks}, so nldd predict did not write it.", hint=hint)
    return table.texts(column)


def _doubt(text: str, ranking: str) -> float:
    """Doubt by a ranking; that of an empty cell is as large as can be."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return np.inf
    return value if ranking == "theta" else 1 - value


def add_decided(
    model: CodingModel, rows: CodedRows, coded: Spreadsheet, other: DecidedTable
) -> list[str]:
    """Give `rows` of a coded table what people decided in another; what to note is returned."""
    of, here = other.table, coded.path.name
    mine, there = (own.own_columns(t, model.columns.codes.names) for t in (coded, of))
    names = [name for name in mine if name in there]
    if not names:
        hint = f"give a review or a sample that comes from {here}"
        raise InputError(f"{of.path.name} has no column of {here}.", hint=hint)
    waiting = _waiting(rows, identity_rows(coded, names))
    is_sample, n_found = other.kind == SAMPLE, 0
    each = zip(identity_rows(of, names), read_drawn(of), other.codes, strict=True)
    for i, (identity, drawn, codes) in enumerate(each, 1):
        if codes is None and not is_sample:
            continue
        # Of equal answers, one that was drawn as this one was.
        alike = waiting[identity, drawn] or waiting[identity, not drawn]
        if not alike:
            hint = f"give tables that come from {here}, with its columns as they were"
            message = f"{of.path.name}, row {i}: {here} has no such answer."
            raise InputError(message, hint=hint)
        place = alike.pop()
        rows.drawn[place] |= drawn
        rows.sampled[place] |= drawn or is_sample
        if codes is not None:
            rows.people[place] = codes
            n_found += 1
    nothing = f"{of.path.name}: nobody has coded or checked a row of it yet."
    return [] if n_found else [nothing]


def _waiting(
    rows: CodedRows, identities: Sequence[tuple[str, ...]]
) -> defaultdict[tuple[tuple[str, ...], bool], list[int]]:
    """Places of rows by their identity and whether they were drawn; the one to take comes last."""
    found = defaultdict[tuple[tuple[str, ...], bool], list[int]](list)
    # What had codes before is in no review and in no sample.
    for place in sorted(range(len(rows)), key=lambda i: (rows.status[i] != BY_PEOPLE, -i)):
        found[identities[place], bool(rows.drawn[place])].append(place)
    return found
