"""Shares of codes in all answers of a coded table, corrected for the errors of the machine.

What people coded counts as it is. For what only the machine coded, a random part that people
checked tells how often it was wrong (:mod:`nldd.coding._shares`), drawn by ``nldd audit`` or by
``nldd predict --random``. Answers that the machine was sure of and those that it left to people are
two parts, as it errs more in the latter. Where nothing of a part was checked, coded answers of the
model stand in, as predicted without themselves: those about which it was as sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd._labels import indicator
from nldd._wording import count_noun, quote_first
from nldd.coding._coded_blocks import AUTO, BY_PEOPLE, REVIEW
from nldd.coding._coded_rows import CodedRow, Codes, add_decided, read_rows
from nldd.coding._decisions import STATUS
from nldd.coding._model import CodingModel, order_codes
from nldd.coding._predictions import RANKINGS
from nldd.coding._shares import PartCounts, count_part, estimate_rest
from nldd.exceptions import InputError
from nldd.tables import TableFormat, TableOptions

# Where the errors of a part are known from.
CHECKED, MODEL = "checked", "model"


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
    random, of which `n_open` more are not coded yet; or coded ones of the ``model``. People chose
    to code `n_chosen` more of this part themselves.
    """

    part: str
    n_rest: int
    n_checked: int
    source: str
    n_open: int = 0
    n_chosen: int = 0


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


def code_frequencies(
    model: CodingModel,
    path: Path,
    checked: Sequence[Path] = (),
    options: TableOptions = TableOptions(),
) -> Frequencies:
    """Shares of the codes in a table that ``nldd predict`` wrote.

    `checked` are the tables that came back from people: reviews, and samples of ``nldd audit``.
    """
    table = read_rows(model, path, options)
    notes = list(table.notes)
    for other in checked if table.rows else ():
        notes += add_decided(model, table.rows, other, path, options)
    _check_people(model, table.rows, path)
    # What says nothing is no answer, unless people gave it codes.
    rows = [row for row in table.rows if row.people is not None or not row.empty]
    if not rows:
        hint = "name the table that nldd predict wrote"
        raise InputError(f"{path.name} has no answers.", hint=hint)
    known = [row for row in rows if row.people is not None]
    labels = _all_labels(model, rows)
    if new := labels[len(model.labels) :]:
        notes.append(f"Codes that the model does not know: {quote_first(new)}.")
    parts = _parts(model, rows, labels)
    totals = estimate_rest([counts for _, counts in parts]) if parts else (0.0, 0.0, 0.0)
    by_people = _matrix([row.people or frozenset() for row in known], labels).sum(axis=0)
    by_machine = sum((counts.rest_with for _, counts in parts), np.zeros(len(labels), dtype=int))
    shares = [(by_people + total) / len(rows) for total in totals]
    raw = (by_people + by_machine) / len(rows)
    columns = (by_people, by_machine, raw, *shares)
    each = zip(labels, *(values.tolist() for values in columns), strict=True)
    found = sorted((Frequency(*values) for values in each), key=lambda f: (-f.share, f.code))
    basis = tuple(basis for basis, _ in parts)
    counts = (len(rows), len(known), len(table.rows) - len(rows))
    return Frequencies(tuple(found), *counts, basis, notes, table.format)


def _check_people(model: CodingModel, rows: list[CodedRow], path: Path) -> None:
    """Refuse answers that people coded before, if their codes are not there."""
    lost = [n for n, row in enumerate(rows, 1) if row.status == BY_PEOPLE and row.people is None]
    if lost:
        others = f", nor do {count_noun(len(lost) - 1, 'row')} more" * (len(lost) > 1)
        names = quote_first(model.columns.codes.names)
        says = f"{path.name}, row {lost[0]}: {STATUS} says {BY_PEOPLE!r}, by people"
        hint = f"leave {names} in the table, as nldd predict wrote it"
        raise InputError(f"{says}, but it has no codes in {names}{others}.", hint=hint)


def _all_labels(model: CodingModel, rows: list[CodedRow]) -> tuple[str, ...]:
    """The codes of the model, and those that people gave besides."""
    found = {code for row in rows for code in (*row.machine, *(row.people or ()))}
    new = found - set(model.labels)
    listed = replace(model.columns, codes=replace(model.columns.codes, separator=";"))
    return (*model.labels, *(order_codes([new], listed) if new else ()))


def _matrix(codes: Sequence[Codes], labels: Sequence[str]) -> NDArray[np.int8]:
    return indicator(codes, np.array(labels, dtype=object))


def _parts(
    model: CodingModel, rows: list[CodedRow], labels: tuple[str, ...]
) -> list[tuple[Basis, PartCounts]]:
    """What only the machine coded, by status, with what is known about its errors."""
    ranking, limit = _find_limit(model, rows)
    parts = []
    for part in dict.fromkeys((AUTO, REVIEW, *(row.status for row in rows))):
        here = [row for row in rows if row.status == part != BY_PEOPLE]
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
        n_open, n_chosen = sum(row.sampled for row in rest), len(here) - len(rest) - len(sample)
        basis = Basis(part, len(rest), len(machine), source, n_open, n_chosen)
        parts.append((basis, counts))
    return parts


def _find_limit(model: CodingModel, rows: list[CodedRow]) -> tuple[str, float]:
    """By which ranking answers were coded automatically, and up to which doubt; NaN if by none."""
    auto = [row for row in rows if row.status == AUTO]
    others = [row for row in rows if row.status == REVIEW]
    best = ("theta", np.nan if auto else -1.0)
    fewest = len(others) + 1
    for ranking in RANKINGS if model.evidence.chance is not None else ("theta",):
        limit = max((row.doubts[ranking] for row in auto), default=-1.0)
        # Of the ranking that was used, none are within the limit but for what rounding does.
        n_within = sum(row.doubts[ranking] <= limit for row in others)
        if np.isfinite(limit) and n_within < fewest:
            best, fewest = (ranking, limit), n_within
    return best


def _stand_ins(
    model: CodingModel, ranking: str, limit: float, part: str, n_labels: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Codes of the machine and of people for answers of the model like those of a part.

    There are none where codes were settled one by one, which leaves no doubt about the whole.
    """
    found, Y = model.evidence[model.tested], model.Y[model.tested]
    sure = found.doubt(ranking) <= limit
    like = (sure if part == AUTO else ~sure) & np.isfinite(limit) & (part in (AUTO, REVIEW))
    padding = ((0, 0), (0, n_labels - Y.shape[1]))
    return np.pad(found.Y[like], padding), np.pad(Y[like], padding)
