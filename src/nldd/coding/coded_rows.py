"""Answers of a coded table with the codes of the machine, and those that people gave since.

People decide in other tables: in the review, and in samples of ``nldd audit``. Their rows are known
again by all columns that are neither codes nor made by nldd.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding.answers import Answers
from nldd.coding.coded_answers import BY_PEOPLE
from nldd.coding.coded_table import read_given
from nldd.coding.columns import Codes, find_column, identity_rows
from nldd.coding.decisions import Check, read_checks, read_drawn, suggested_codes
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel
from nldd.coding.own_columns import (
    CHECK,
    CODES,
    MACHINE,
    PREFIX,
    RIGHT_CODES,
    STATUS,
    latest_column,
    own_columns,
)
from nldd.coding.review.store_file import is_store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError
from nldd.present.text import count_noun


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Answers that a model has coded, one entry per answer.

    Attributes
    ----------
    statuses : list of str
        What became of each: "auto", "review", "part", "coded".
    machine : list of frozenset of str
        Codes of the machine.
    people : list of (frozenset of str or None)
        Codes of people; None until somebody has coded the answer.
    doubts : dict of ndarray
        Doubt of the machine by each ranking.
    is_blank : ndarray of bool
        Which answers say nothing.
    drawn, sampled : list of bool
        Which were drawn at random from all, and which from those of their status, by that or by an
        audit.
    """

    statuses: list[str]
    machine: list[Codes]
    people: list[Codes | None]
    doubts: dict[str, NDArray[np.float64]]
    is_blank: NDArray[np.bool_]
    drawn: list[bool]
    sampled: list[bool]

    def __len__(self) -> int:
        return len(self.statuses)

    def chosen(self) -> NDArray[np.intp]:
        """Places of those that count: what says nothing is no answer, unless it has codes."""
        known = np.array([codes is not None for codes in self.people], dtype=bool)
        return np.flatnonzero(known | ~self.is_blank)


def open_coded(
    model: CodingModel, path: Path, options: TableOptions
) -> tuple[Spreadsheet, list[Codes | None]]:
    """A table that the model has coded, or that of a review file, and the codes of people."""
    if is_store(path):
        from nldd.coding.review.decisions import review_as_table  # only where there is one

        table, decisions = review_as_table(path, model.columns, options)
        given = decisions.codes
    else:
        table = read_table(path, options)
        given = read_given(table, model)
    return table, [None if codes is None else _current(model, codes) for codes in given]


def _current(model: CodingModel, codes: Iterable[str]) -> Codes:
    """Codes as they count today; a letter and its accent are one character."""
    return frozenset(model.codebook.translate(normalize("NFC", name) for name in codes))


def read_rows(model: CodingModel, table: Spreadsheet, given: Sequence[Codes | None]) -> CodedRows:
    """The answers of a table that ``nldd predict`` wrote, with the codes that people have given."""
    if latest_column(table, MACHINE) is not None:
        hint = "give the review itself, such as new.review.db, or what nldd predict wrote"
        message = "there, codes of people stand in the place of the machine's"
        raise InputError(f"{table.path.name} is an export of a review; {message}.", hint=hint)
    statuses = [text.strip().lower() for text in table.texts(_added_column(table, STATUS))]
    _added_column(table, CODES)
    columns = model.columns
    found = suggested_codes(table, columns.codes, model.labels)
    machine = [_current(model, codes) for codes in found]
    people = [
        codes if own is None and status == BY_PEOPLE else own
        for own, codes, status in zip(given, machine, statuses, strict=True)
    ]
    names = (find_column(table, name, columns.inputs) for name in columns.text)
    texts = list(map("\n".join, zip(*map(table.texts, names), strict=True))) or [""] * len(table)
    doubts = {name: _doubts(table, name) for name in RANKINGS}
    drawn = read_drawn(table)
    blank = model.is_blank(Answers(texts))
    return CodedRows(statuses, machine, people, doubts, blank, drawn, [*drawn])


def _added_column(table: Spreadsheet, name: str) -> str:
    column = latest_column(table, name)
    if column is None:
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then name coded.csv"
        lacks = f"{table.path.name} has no column {name!r}"
        raise InputError(f"{lacks}, so nldd predict did not write it.", hint=hint)
    return column


def _doubts(table: Spreadsheet, name: str) -> NDArray[np.float64]:
    """Doubt of each answer by one ranking; that of an empty cell is as large as can be."""

    def doubt(text: str) -> float:
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            return np.inf
        return value if name == "theta" else 1 - value

    return np.array(list(map(doubt, table.texts(_added_column(table, PREFIX + name)))))


def add_decided(
    model: CodingModel,
    rows: CodedRows,
    coded: Spreadsheet,
    other: Spreadsheet,
    given: Sequence[Codes | None],
) -> list[str]:
    """Give `rows` of a coded table what people decided in another; what to note is returned."""
    own, there = (own_columns(table, model.columns.codes.names) for table in (coded, other))
    names = [name for name in own if name in there]
    if not names:
        hint = f"give a review or a sample that comes from {coded.path.name}"
        raise InputError(f"{other.path.name} has no column of {coded.path.name}.", hint=hint)
    waiting = defaultdict[tuple[tuple[str, ...], bool], list[int]](list)
    identities = identity_rows(coded, names)
    # The one to take first comes last; what had codes before is in no review and in no sample.
    for place in sorted(range(len(rows)), key=lambda i: (rows.statuses[i] != BY_PEOPLE, -i)):
        waiting[identities[place], rows.drawn[place]].append(place)
    is_sample = latest_column(other, CHECK) is not None
    checks = _read_checks(model, other, given) if is_sample else None
    missing, n_found = list[int](), 0
    each = zip(identity_rows(other, names), read_drawn(other), given, strict=True)
    for i, (identity, drawn, codes) in enumerate(each):
        if codes is None and not is_sample:
            continue
        # Of equal answers, one that was drawn as this one was.
        alike = waiting[identity, drawn] or waiting[identity, not drawn]
        if not alike:
            missing.append(i + 1)
            continue
        place = alike.pop()
        rows.drawn[place] |= drawn
        rows.sampled[place] |= drawn or is_sample
        settled = codes if checks is None else checks[i].settle(rows.machine[place])
        if settled is not None:
            rows.people[place] = settled
            n_found += 1
    if missing:
        message = f"{other.path.name}, row {missing[0]}: {coded.path.name} has no such answer"
        others = f", nor that of {count_noun(len(missing) - 1, 'row')} more" * (len(missing) > 1)
        hint = f"give tables that come from {coded.path.name}, with its columns as they were"
        raise InputError(f"{message}{others}.", hint=hint)
    nothing = f"{other.path.name}: nobody has coded or checked a row of it yet."
    return [] if n_found else [nothing]


def _read_checks(
    model: CodingModel, table: Spreadsheet, given: Sequence[Codes | None]
) -> list[Check]:
    """What people say of the rows of a sample; who says no must say which codes are right."""
    columns = model.columns.codes
    checks = read_checks(table, columns, given)
    for check in checks:
        if check.right is False and check.codes is None:
            has_column = latest_column(table, RIGHT_CODES) is not None
            name = RIGHT_CODES if has_column else columns.names[0]
            hint = f"write them into the column {quote(name)} of each such row"
            none = "; - if none applies" * has_column
            message = f"{check.where}: says no, but not which codes are right."
            raise InputError(message, hint=hint + none)
        if check.codes is not None:
            check.codes = _current(model, check.codes)
    return checks
