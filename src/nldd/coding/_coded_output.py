"""New answers coded: every row and column kept, with codes, theta, the reason and a status."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nldd.coding._abstention import Usual, abstained, reasons, usual
from nldd.coding._answers import codes_cell, place_of, read_answers, read_codes
from nldd.coding._columns import PREFIX
from nldd.coding._evidence import Predictions
from nldd.coding._filled_in import filled_in
from nldd.coding._model import CodingModel
from nldd.coding._places import check_places
from nldd.exceptions import InputError
from nldd.tables import (
    Block,
    Cell,
    TableOptions,
    TableReader,
    TableWriter,
    create_table,
    guarded,
)

AUTO, REVIEW, BY_PEOPLE = "auto", "review", "coded"
EMPTY = "the answer is empty"
BLOCK_ROWS = 2000
CODED = ("codes", "status", "theta", "nearest", "why")
EXPLAINED = ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")

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
        """Count the rows of a block."""
        self.n_rows += len(statuses)
        self.n_auto += statuses.count(AUTO)
        self.n_review += statuses.count(REVIEW)
        self.why.update(filter(None, why))


@dataclass(frozen=True)
class Policy:
    """What is coded automatically and what is written.

    Attributes
    ----------
    threshold : float or None
        Answers of a larger theta go to people; None sends all.
    explain : bool
        Write the distances and the next best codes as well.
    raw : bool
        Write cells that a spreadsheet would run as formulas as they are.
    """

    threshold: float | None
    explain: bool = False
    raw: bool = False


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

    Parameters
    ----------
    model : CodingModel
    path, out, review : path
        Table to read; table to write, with all its rows; and one with the rows for people only,
        which has columns for their codes as well.
    policy : Policy
    options : TableOptions
    watch : callable
        For a progress bar.

    Returns
    -------
    Counts
    """
    check_places(path, out, review, hint="-o coded.csv --review review.csv")
    if review is not None:
        _check_review(Path(review), model)
    counts = Counts()
    coder = _RowCoder(model, policy)
    with ExitStack() as stack:
        table = stack.enter_context(options.open(path))
        for name in model.columns.inputs:  # even where there are no rows
            place_of(table, name, model.columns.inputs)
        added = coder.header(table.names)
        writer = stack.enter_context(_writer(out, table, added, policy))
        blank = [name for name in model.columns.codes.names if name not in table.names]
        for_people = None
        if review is not None:
            for_people = stack.enter_context(_writer(review, table, [*added, *blank], policy))
        for block in watch(table.blocks(BLOCK_ROWS), table.fraction_read):
            rows, statuses = coder.rows(table, block, counts)
            writer.write(rows)
            if for_people is not None:
                for_people.write(
                    (*row, *[""] * len(blank))
                    for row, status in zip(rows, statuses, strict=True)
                    if status == REVIEW
                )
        counts.notes += table.notes
    return counts


def _check_review(path: Path, model: CodingModel) -> None:
    """Refuse to replace a review in which people have filled in codes."""
    if filled_in(path, model.columns.codes.names):
        raise InputError(
            f"{path} holds codes that people have filled in; it is not replaced.",
            hint=f"nldd update with {path} first, or --review with another name",
        )


def _writer(
    path: Path | str, table: TableReader, added: Sequence[str], policy: Policy
) -> TableWriter:
    return create_table(path, (*table.header, *added), like=table.format, raw=policy.raw)


class _RowCoder:
    """Rows of a table with the columns that coding adds."""

    def __init__(self, model: CodingModel, policy: Policy) -> None:
        self.model, self.policy = model, policy
        self.usual: Usual = usual(model.evidence, policy.threshold)

    def header(self, names: Sequence[str]) -> list[str]:
        """Names of the added columns, which differ from those that are there."""
        marks = () if self.model.columns.codes.listed else self.model.labels
        wanted = [*CODED, *marks, *(EXPLAINED if self.policy.explain else ())]
        # The column that people fill in must not be mistaken for that of the predictions.
        taken = {*names, *self.model.columns.codes.names, *self.model.columns.inputs}
        return [_free_name(f"{PREFIX}{name}", taken) for name in wanted]

    def rows(
        self, table: TableReader, block: Block, counts: Counts
    ) -> tuple[list[tuple[Cell, ...]], list[str]]:
        """The rows of a block with all added cells, and the status of each."""
        answers = read_answers(table, block, self.model.columns)
        X = self.model.features.transform(answers)
        found = self.model.code(answers, X)
        empty = self.model.says_nothing(answers)
        statuses = self._statuses(
            table, block, abstained(found.theta, self.policy.threshold) | empty
        )
        why = [
            (EMPTY if nothing else reason) if status == REVIEW else ""
            for nothing, reason, status in zip(
                empty, reasons(found, self.usual), statuses, strict=True
            )
        ]
        added = self._cells(found, statuses, why)
        if self.policy.explain:
            added = [(*a, *b) for a, b in zip(added, self._explained(X, found), strict=True)]
        counts.add(statuses, why)
        return [(*row, *cells) for row, cells in zip(block.rows, added, strict=True)], statuses

    def _statuses(self, table: TableReader, block: Block, review: Any) -> list[str]:
        """Who codes each answer; one that has codes already is left alone."""
        codes = self.model.columns.codes
        statuses = [REVIEW if doubtful else AUTO for doubtful in review]
        if {guarded(name) for name in codes.names} <= {guarded(name) for name in table.names}:
            there = read_codes(table, block, codes)
            statuses = [s if c is None else BY_PEOPLE for s, c in zip(statuses, there, strict=True)]
        return statuses

    def _cells(
        self, found: Predictions, statuses: list[str], why: list[str]
    ) -> list[tuple[Cell, ...]]:
        codes = self.model.columns.codes
        names = self.model.codes(found.Y)
        texts = [self.model.answers.texts[row] for row in found.row.tolist()]
        marks: list[tuple[int, ...]] = [()] * len(statuses)
        if not codes.listed:
            marks = [tuple(row) for row in found.Y.tolist()]
        return [
            (
                codes_cell(names[i], codes),
                statuses[i],
                shown(found.theta[i]),
                texts[i],
                why[i],
                *marks[i],
            )
            for i in range(len(statuses))
        ]

    def _explained(self, X: Any, found: Predictions) -> list[tuple[Cell, ...]]:
        near = self.model.classifier.nearest_labelsets(X, k=2)
        names = self.model.codes(near.labelsets[:, 1])
        codes = self.model.columns.codes
        return [
            (
                shown(found.Dx[i]),
                shown(found.Dy[i]),
                shown(found.x_part[i]),
                shown(found.y_part[i]),
                codes_cell(names[i], codes),
                shown(near.theta[i, 1]),
            )
            for i in range(len(found))
        ]


def shown(value: float) -> float:
    """Six digits are more than any of these numbers is good for."""
    return float(f"{value:.6g}")


def _free_name(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    taken.add(free)
    return free
