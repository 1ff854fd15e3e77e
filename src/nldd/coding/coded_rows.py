"""Answers of a coded table with the codes of the machine, and those that people gave since.

People decide in other tables: in the review, and in samples of ``nldd audit``. Their rows are known
again by all columns that are neither codes nor made by nldd.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding import own_columns as own
from nldd.coding.answers import Answers
from nldd.coding.coded_answers import BY_PEOPLE
from nldd.coding.coded_table import read_given
from nldd.coding.columns import Codes, find_column, identity_rows
from nldd.coding.decisions import Check, read_checks, read_drawn, suggested_codes
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel
from nldd.coding.review.store import is_store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError
from nldd.present.text import count_noun

GivenCodes = Sequence[Codes | None]


@dataclass(frozen=True, eq=False)
class CodedRows:
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

    def drop_blank(self) -> Self:
        """Leave out what says nothing, unless people gave it codes."""
        kept = self.known | ~self.is_blank
        return type(self)(*(values[kept] for values in vars(self).values()))


def open_coded(
    model: CodingModel, path: Path, options: TableOptions
) -> tuple[Spreadsheet, GivenCodes]:
    """A table that the model has coded, or that of a review file, and the codes of people."""
    if is_store(path):
        from nldd.coding.review.decisions import review_as_table  # only where there is one

        table, decisions = review_as_table(path, model.columns, options)
        table = replace(table, notes=[*table.notes, *decisions.notes])
        given = decisions.codes
    else:
        table = read_table(path, options)
        given = read_given(table, model)
    return table, [None if codes is None else _current(model, codes) for codes in given]


def _current(model: CodingModel, codes: Iterable[str]) -> Codes:
    """Codes as they count today; a letter and its accent are one character."""
    return frozenset(model.codebook.translate(normalize("NFC", name) for name in codes))


def read_rows(model: CodingModel, table: Spreadsheet, given: GivenCodes) -> CodedRows:
    """The answers of a table that ``nldd predict`` wrote, with the codes that people have given."""
    if own.latest_column(table, own.MACHINE) is not None:
        hint = "give the review itself, such as new.review.db, or what nldd predict wrote"
        message = "there, codes of people stand in the place of the machine's"
        raise InputError(f"{table.path.name} is an export of a review; {message}.", hint=hint)
    names = (own.STATUS, own.CODES, *(own.PREFIX + ranking for ranking in RANKINGS))
    stated, _, *doubts = (_texts_of(table, name) for name in names)
    status = [text.strip().lower() for text in stated]
    columns = model.columns
    found = suggested_codes(table, columns.codes, model.labels)
    machine = [_current(model, codes) for codes in found]
    before = [
        codes if said == BY_PEOPLE else None for codes, said in zip(machine, status, strict=True)
    ]
    people = [old if new is None else new for new, old in zip(given, before, strict=True)]
    texts = [table.texts(find_column(table, name, columns.inputs)) for name in columns.text]
    answers = Answers(list(map("\n".join, zip(*texts, strict=True))) or [""] * len(table))
    drawn = np.array(read_drawn(table), dtype=bool)
    ranked = zip(RANKINGS, doubts, strict=True)
    doubt = np.array([[_doubt(text, name) for text in cells] for name, cells in ranked])
    said = [np.array(each, dtype=object) for each in (status, machine, people)]
    return CodedRows(
        said[0], said[1], said[2], doubt.T, model.is_blank(answers), drawn, drawn.copy()
    )


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
    model: CodingModel,
    rows: CodedRows,
    coded: Spreadsheet,
    other: Spreadsheet,
    given: GivenCodes,
) -> list[str]:
    """Give `rows` of a coded table what people decided in another; what to note is returned."""
    mine, there = (own.own_columns(t, model.columns.codes.names) for t in (coded, other))
    names = [name for name in mine if name in there]
    if not names:
        hint = f"give a review or a sample that comes from {coded.path.name}"
        raise InputError(f"{other.path.name} has no column of {coded.path.name}.", hint=hint)
    waiting = _waiting(rows, identity_rows(coded, names))
    is_sample = own.latest_column(other, own.CHECK) is not None
    checks = read_checks(other, model.columns.codes, given) if is_sample else None
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
        settled = codes if checks is None else _settle(model, checks[i], rows.machine[place], other)
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


def _waiting(
    rows: CodedRows, identities: Sequence[tuple[str, ...]]
) -> defaultdict[tuple[tuple[str, ...], bool], list[int]]:
    """Places of rows by their identity and whether they were drawn; the one to take comes last."""
    found = defaultdict[tuple[tuple[str, ...], bool], list[int]](list)
    # What had codes before is in no review and in no sample.
    for place in sorted(range(len(rows)), key=lambda i: (rows.status[i] != BY_PEOPLE, -i)):
        found[identities[place], bool(rows.drawn[place])].append(place)
    return found


def _settle(model: CodingModel, check: Check, machine: Codes, sample: Spreadsheet) -> Codes | None:
    """The right codes by a check; who says no must say which these are."""
    if check.right is False and check.codes is None:
        has_column = own.latest_column(sample, own.RIGHT_CODES) is not None
        name = own.RIGHT_CODES if has_column else model.columns.codes.names[0]
        none = "; - if none applies" * has_column
        message = f"{check.where}: says no, but not which codes are right."
        raise InputError(message, hint=f"write them into the column {quote(name)}{none}")
    codes = check.codes
    return Check(check.where, check.right, codes and _current(model, codes)).settle(machine)
