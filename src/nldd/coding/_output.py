"""Coded tables: every row and column kept, with codes and why; and a sample to check by hand."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.coding._answers import PREFIX, ROW, find_column, read_mark, unguard
from nldd.coding._model import CodingModel
from nldd.coding._predictions import Predictions
from nldd.coding._selective import accuracy_interval
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableOptions, TableReader, cell_text, create_table, guarded

AUTO, REVIEW, BY_PEOPLE = "auto", "review", "coded"
# Why an answer is left to people.
EMPTY = "the answer is empty"
FAR = "far from all coded answers"
NO_FIT = "no known combination of codes fits well enough"
UNSURE = "not sure enough for the target"
# From this part of the excess on, one distance alone is named.
MOST = 0.75
BLOCK_ROWS = 2000
ADDED = ("codes", "status", "chance", "theta", "nearest", "why")
EXPLAINED = ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")

# What the columns hold, for files that have a place for such words.
DESCRIPTIONS = {
    f"{PREFIX}codes": "Codes by nldd",
    f"{PREFIX}status": "auto: by nldd; review: for people; coded: by people before",
    f"{PREFIX}chance": "Chance that all codes are right",
    f"{PREFIX}theta": "Probability that a code is wrong",
    f"{PREFIX}nearest": "The coded answer that is most like it",
    f"{PREFIX}why": "Why the answer is for people",
}

STATUS = f"{PREFIX}status"
CHECK = f"{PREFIX}check"
RIGHT = ("1", "yes", "y", "true", "t", "right", "ok", "correct", "ja", "oui", "si")
WRONG = ("0", "no", "n", "false", "f", "wrong", "incorrect", "nein", "non")
MARKS = {"": None, **dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}

# Passes the blocks of a table through; the second argument tells how far the file is read.
BlockWatch = Callable[[Iterable[Block], Callable[[], float]], Iterable[Block]]


@dataclass
class Counts:
    """How many rows got which status, and why people must look at the others."""

    n_rows: int = 0
    n_auto: int = 0
    n_review: int = 0
    why: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def n_coded(self) -> int:
        """Rows that had codes already."""
        return self.n_rows - self.n_auto - self.n_review

    def add(self, statuses: list[str], why: list[str]) -> None:
        self.n_rows += len(statuses)
        self.n_auto += statuses.count(AUTO)
        self.n_review += statuses.count(REVIEW)
        self.why.update(filter(None, why))


@dataclass(frozen=True)
class Policy:
    """Answers whose doubt is above `threshold` go to people; without one, all do.

    `rank_by` says what that is: theta, or one minus the chance that all codes are right.
    `explain` writes the distances and the next best codes as well, `raw` leaves cells as they are
    that a spreadsheet would run as formulas.
    """

    threshold: float | None
    explain: bool = False
    raw: bool = False
    rank_by: str = "theta"


def code_table(
    model: CodingModel,
    path: Path | str,
    out: Path | str,
    policy: Policy,
    review: Path | str | None = None,
    options: TableOptions = TableOptions(),
    watch: BlockWatch = lambda blocks, fraction: blocks,
) -> Counts:
    """Code the answers of a table, a block of rows at a time.

    Written are `out`, with all rows, and `review`, with those for people only and columns for their
    codes. `watch` passes the blocks through, for a progress bar.
    """
    check_places(path, out, review, hint="-o coded.csv --review review.csv")
    codes = model.columns.codes.names
    if review is not None and is_filled_in(Path(review), codes):
        message = f"{review} holds codes that people have filled in; it is not replaced."
        hint = f"nldd update with {review} first, or --review with another name"
        raise InputError(message, hint=hint)
    counts, coder = Counts(), _RowCoder(model, policy)
    with ExitStack() as stack:
        table = stack.enter_context(options.open(path))
        for name in model.columns.inputs:  # even where there are no rows
            find_column(table, name, model.columns.inputs)
        header = (*table.header, *coder.header(table.names))
        blank = [name for name in codes if name not in table.names]
        named = DESCRIPTIONS | {f"{PREFIX}{name}": f"{name}, by nldd" for name in model.labels}
        create = partial(create_table, like=table.format, raw=policy.raw, descriptions=named)
        writer = stack.enter_context(create(out, header))
        for_people = stack.enter_context(create(review, (*header, *blank))) if review else None
        for block in watch(table.blocks(BLOCK_ROWS), table.fraction_read):
            rows, statuses = coder.rows(table, block, counts)
            writer.write(rows)
            if for_people is not None:
                marked = zip(rows, statuses, strict=True)
                for_people.write((*row, *[""] * len(blank)) for row, s in marked if s == REVIEW)
        model.columns.check_extra(table, counts.n_rows)
        counts.notes += table.notes
    return counts


class _RowCoder:
    """Rows of a table with the columns that coding adds."""

    def __init__(self, model: CodingModel, policy: Policy) -> None:
        self.model, self.policy = model, policy
        self.typical = typical_parts(model.evidence, policy)

    def header(self, names: Sequence[str]) -> list[str]:
        """Names of the added columns, which differ from those that are there."""
        columns = self.model.columns
        marks = () if columns.codes.listed else self.model.labels
        # The column that people fill in must not be mistaken for that of the predictions.
        taken = {*names, *columns.codes.names, *columns.inputs}
        added: list[str] = [ROW] if self._numbers_rows(names) else []
        for name in (*ADDED, *marks, *(EXPLAINED if self.policy.explain else ())):
            ends = chain([""], (f" ({number})" for number in count(2)))
            added.append(next(n for end in ends if (n := PREFIX + name + end) not in taken))
            taken.add(added[-1])
        return added

    def rows(
        self, table: TableReader, block: Block, counts: Counts
    ) -> tuple[list[tuple[Cell, ...]], list[str]]:
        """The rows of a block with all added cells, and the status of each."""
        answers = self.model.columns.read(table, block)
        X = self.model.features.transform(answers)
        found = self.model.code(answers, X)
        empty = self.model.says_nothing(answers)
        limit = -1.0 if self.policy.threshold is None else self.policy.threshold
        # Not "doubt > limit": a limit that is not a number lets nothing through.
        sure = found.doubt(self.policy.rank_by) <= limit
        statuses = np.where(sure & ~empty, AUTO, REVIEW).tolist()
        codes = self.model.columns.codes
        if set(map(guarded, codes.names)) <= set(map(guarded, table.names)):
            there = codes.read(table, block)  # these answers are left alone
            statuses = [s if c is None else BY_PEOPLE for s, c in zip(statuses, there, strict=True)]
        each = zip(statuses, empty, reasons(found, self.typical), strict=True)
        why = [(EMPTY if e else reason) if s == REVIEW else "" for s, e, reason in each]
        counts.add(statuses, why)
        nearest = [self.model.answers.texts[row] for row in found.row.tolist()]
        numbers = range(block.first, block.first + len(block.rows))
        chance = [""] * len(found) if found.chance is None else _six_digits(found.chance)
        columns: list[Sequence[Cell]] = [numbers] if self._numbers_rows(table.names) else []
        columns += [self._codes(found.Y), statuses, chance]
        columns += [_six_digits(found.theta), nearest, why]
        if not codes.listed:
            columns += found.Y.T.tolist()
        if self.policy.explain:
            columns += map(_six_digits, (found.Dx, found.Dy, found.x_part, found.y_part))
            near = self.model.classifier.nearest_labelsets(X, k=2)
            columns += [self._codes(near.labelsets[:, 1]), _six_digits(near.theta[:, 1])]
        added = zip(*columns, strict=True)
        return [(*row, *cells) for row, cells in zip(block.rows, added, strict=True)], statuses

    def _numbers_rows(self, names: Sequence[str]) -> bool:
        """Whether rows get numbers, by which a review finds its extra features again."""
        return self.model.columns.n_extra > 0 and ROW not in names

    def _codes(self, Y: NDArray[Any]) -> list[str]:
        return list(map(self.model.columns.codes.join, self.model.codes(Y)))


def _six_digits(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def typical_parts(evidence: Predictions, policy: Policy) -> tuple[float, float]:
    """Medians of both parts over the answers that the policy lets through, or the surer half."""
    doubt = evidence.doubt(policy.rank_by)
    sure = doubt <= (np.median(doubt) if policy.threshold is None else policy.threshold)
    some = evidence[sure] if sure.any() else evidence
    return float(np.median(some.x_part)), float(np.median(some.y_part))


def reasons(found: Predictions, typical: tuple[float, float]) -> list[str]:
    """The reason to abstain from each prediction: which distance exceeds its typical part."""
    x = np.maximum(found.x_part - typical[0], 0.0)
    y = np.maximum(found.y_part - typical[1], 0.0)
    cases = [x + y == 0, x >= MOST * (x + y), y >= MOST * (x + y)]
    return np.select(cases, [UNSURE, FAR, NO_FIT], f"{FAR}, and {NO_FIT}").tolist()


@dataclass(frozen=True)
class Sample:
    """Rows of the coded table, automatic codes among them, and codes that were drawn."""

    n_rows: int
    n_auto: int
    n_sample: int


@dataclass(frozen=True)
class Audit:
    """Rows of a sample: checked, right, not looked at yet; the accuracy with a 95 % interval."""

    n_checked: int
    n_right: int
    n_open: int
    accuracy: float
    low: float
    high: float


def draw_sample(
    path: Path,
    out: Path | str,
    size: int,
    random_state: int = 0,
    options: TableOptions = TableOptions(),
    raw: bool = False,
) -> Sample:
    """Draw rows with automatic codes at random, and write them with a column to fill in.

    One pass, whatever the size of the table (Vitter's reservoir); each set of rows is equally
    likely, and rows keep their order.
    """
    check_places(path, out, hint="-o sample.csv")
    if size < 1:
        raise InputError(f"The sample must have at least one row; got {size}.", hint="--sample 200")
    if str(out) != "-" and is_filled_in(Path(out), (CHECK,), options):
        message = f"{out} holds a sample that people have begun to check; it is not replaced."
        raise InputError(message, hint=f"nldd audit {out}, or -o with another name")
    rng = random.Random(random_state)
    drawn: list[tuple[int, tuple[Cell, ...]]] = []  # with their numbers, which tell them apart
    n_rows = n_auto = 0
    with options.open(path) as table:
        status = _status_column(table)
        for n_rows, row in enumerate((row for block in table.blocks() for row in block.rows), 1):
            if cell_text(row[status]).strip().lower() != AUTO:
                continue
            n_auto += 1
            if len(drawn) < size:
                drawn.append((n_rows, row))
            elif (place := int(rng.random() * n_auto)) < size:
                drawn[place] = (n_rows, row)
    if not n_auto:
        none = f"{path.name}: none of the {n_rows} rows has the status {AUTO!r}"
        hint = "nldd predict with a lower --target-accuracy, or --max-theta"
        raise InputError(f"{none}, so there are no automatic codes to check.", hint=hint)
    with create_table(out, (*table.header, CHECK), like=table.format, raw=raw) as writer:
        writer.write((*row, "") for _, row in sorted(drawn))
    return Sample(n_rows, n_auto, len(drawn))


def _status_column(table: TableReader) -> int:
    """The status of the latest coding: a table that is coded again has a second one behind."""
    pattern = re.compile(rf"{STATUS}( \([0-9]+\))?")
    found = [j for j, name in enumerate(table.names) if pattern.fullmatch(name)]
    if not found:
        lacks = f"{table.path.name} has no column {STATUS!r}"
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then nldd audit coded.csv"
        raise InputError(f"{lacks}, so it was not written by nldd predict.", hint=hint)
    return found[-1]


def is_checked(path: Path, options: TableOptions = TableOptions()) -> bool:
    """Whether a table has the column in which a sample is checked."""
    with options.open(path) as table:
        return CHECK in table.names


def read_audit(path: Path, options: TableOptions = TableOptions()) -> Audit:
    """What a sample proves whose rows people have marked as right or wrong."""
    with options.open(path) as table:
        hint = "yes where all codes of the row are right, no where one is wrong"
        check = (table.column(CHECK), MARKS, "yes or no", hint)
        rows = enumerate((row for block in table.blocks() for row in block.rows), 1)
        marks = [MARKS[read_mark(table, number, row, *check)] for number, row in rows]
    checked = [mark for mark in marks if mark is not None]
    n, n_right = len(checked), sum(checked)
    if not n:
        message = f"{path.name}: no row of the column {CHECK!r} is filled in yet."
        hint = "write yes or no into each row, then run the same command again"
        raise InputError(message, hint=hint)
    return Audit(n, n_right, len(marks) - n, n_right / n, *accuracy_interval(checked))


def check_places(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)


def is_filled_in(path: Path, names: Sequence[str], options: TableOptions = TableOptions()) -> bool:
    """Whether a table has text in one of these columns; a file that cannot be read may have."""
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with options.open(path) as table:
            places = [j for j, name in enumerate(table.names) if unguard(name) in names]
            rows = (row for block in table.blocks() for row in block.rows)
            return any(cell_text(row[j]).strip() for row in rows for j in places)
    except InputError as error:
        unknown = "is there already, and what people may have filled in cannot be read"
        hint = "repair or rename it; or another name for the new file"
        raise InputError(f"{path} {unknown}: {error}", hint=hint) from None
