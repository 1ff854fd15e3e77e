"""Coded tables: every row and column kept, with codes and why, and a file for people beside it."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nldd._wording import count_noun, quote, quote_first
from nldd.coding._answers import DRAWN, PREFIX, ROW, Row, find_column
from nldd.coding._decisions import refuse_decided, take_decided
from nldd.coding._model import CodingModel
from nldd.coding._predictions import Predictions
from nldd.coding._reasons import EMPTY, PART, Reason, Reasons, listed
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableOptions, TableReader, create_table, guarded

if TYPE_CHECKING:
    from nldd.coding._per_code import CodeLimits

AUTO, REVIEW, PARTLY, BY_PEOPLE = "auto", "review", "part", "coded"
BLOCK_ROWS = 2000
ADDED = ("codes", "status", "chance", "theta", "nearest", "why")
EXPLAINED = ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")
# Labelsets beside the suggestion that people can choose from in a review.
N_NEXT = 3

# What the columns hold, for files that have a place for such words.
DESCRIPTIONS = {
    f"{PREFIX}codes": "Codes by nldd",
    f"{PREFIX}status": "auto: by nldd; review, part: for people; coded: by people before",
    f"{PREFIX}chance": "Chance that all codes are right",
    f"{PREFIX}theta": "Probability that a code is wrong",
    f"{PREFIX}nearest": "The coded answer that is most like it",
    f"{PREFIX}why": "Why the answer is for people",
}

Item = TypeVar("Item")
# Passes the blocks of a table through; the second argument tells how far the file is read.
BlockWatch = Callable[[Iterable[Block], Callable[[], float]], Iterable[Block]]


@dataclass
class Counts:
    """How many rows got which status, and why people must look at the others.

    `n_part` rows have codes that are settled and others to decide, `n_drawn` were drawn at random
    for the review, whatever their status.
    """

    n_rows: int = 0
    n_auto: int = 0
    n_review: int = 0
    why: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    n_part: int = 0
    n_drawn: int = 0

    @property
    def n_coded(self) -> int:
        """Rows that had codes already."""
        return self.n_rows - self.n_auto - self.n_review - self.n_part

    def add(self, block: "CodedBlock", reasons: Iterable[Reason | None]) -> None:
        self.n_rows += len(block.statuses)
        self.n_auto += block.statuses.count(AUTO)
        self.n_review += block.statuses.count(REVIEW)
        self.n_part += block.statuses.count(PARTLY)
        self.n_drawn += sum(block.drawn)
        self.why.update(reason.kind for reason in reasons if reason is not None)


@dataclass(frozen=True)
class Policy:
    """Answers whose doubt is above `threshold` go to people; without one, all do.

    `rank_by` says what that is: theta, or one minus the chance that all codes are right.
    `explain` writes the distances and the next best codes as well, `raw` leaves cells as they are
    that a spreadsheet would run as formulas. Of the rows without codes, `n_random` are drawn by
    the `seed` for people, whether they are sure or not. By the limits `per_code`, codes are settled
    one by one instead.
    """

    threshold: float | None
    explain: bool = False
    raw: bool = False
    rank_by: str = "theta"
    n_random: int = 0
    seed: int = 0
    per_code: "CodeLimits | None" = None


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """Rows of a table, the first of which has the number `first`, with what was found for each.

    `ask` says which codes of an answer are to be decided, if others are `settled` one by one.
    """

    first: int
    rows: Sequence[Row]
    X: Any
    found: Predictions
    doubt: NDArray[np.float64]
    empty: NDArray[np.bool_]
    statuses: list[str]
    why: list[str]
    drawn: list[bool]
    ask: list[NDArray[np.bool_] | None]
    settled: NDArray[np.bool_]

    @property
    def for_people(self) -> list[int]:
        """Places of the rows that a review has: all but those that are sure, or coded."""
        each = enumerate(zip(self.statuses, self.drawn, strict=True))
        return [i for i, (status, drawn) in each if drawn or status in (REVIEW, PARTLY)]


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
    if review is not None:
        from nldd.coding._review import ReviewFile  # only where there is one

        refuse_decided(Path(review), model.columns.codes, model.codebook)
    drawn = draw_rows(model, path, policy.n_random, policy.seed, options)
    counts, coder = Counts(), _RowCoder(model, policy, N_NEXT + 1 if review else 2, drawn)
    with ExitStack() as stack:
        table = stack.enter_context(options.open(path))
        for name in model.columns.inputs:  # even where there are no rows
            find_column(table, name, model.columns.inputs)
        header = (*table.header, *coder.header(table.names))
        named = DESCRIPTIONS | {f"{PREFIX}{name}": f"{name}, by nldd" for name in model.labels}
        create = partial(create_table, like=table.format, raw=policy.raw, descriptions=named)
        writer = stack.enter_context(create(out, header))
        for_people = None
        if review is not None:
            for_people = stack.enter_context(ReviewFile(model, table, create, review, policy))
        for block in watch(table.blocks(BLOCK_ROWS), table.fraction_read):
            coded = coder.code(table, block, counts)
            writer.write(coder.rows(table, coded))
            if for_people is not None:
                for_people.add(coded)
        model.columns.check_extra(table, counts.n_rows)
        counts.notes += [*table.notes, *(for_people.notes if for_people else ())]
        counts.notes += _notes_on_earlier(table.names, header, counts, policy)
    return counts


def _notes_on_earlier(
    names: Sequence[str], header: Sequence[str], counts: Counts, policy: Policy
) -> Iterator[str]:
    """What a table that was coded before, or in part, means for the columns and for the draw."""
    own = tuple(f"{PREFIX}{name} (" for name in ADDED)
    numbered = [name for name in header[len(names) :] if name.startswith(own)]
    if numbered:
        yield f"The table was coded before; new columns are {quote_first(numbered)}."
    if policy.n_random and counts.n_coded:
        yield (
            f"{count_noun(counts.n_coded, 'row')} had codes, and were not drawn from. If people "
            "chose them, those drawn are no random sample of all: draw before anybody codes."
        )
    if policy.n_random > counts.n_drawn:
        yield f"{counts.n_drawn:,} answers were drawn; there are no more without codes."


def draw_rows(
    model: CodingModel, path: Path | str, size: int, seed: int, options: TableOptions
) -> frozenset[int]:
    """Numbers of some rows without codes, of which each set is equally likely.

    A pass of its own: which rows were drawn is known before the first is written.
    """
    if not size:
        return frozenset()
    with options.open(path) as table:
        numbers = (
            block.first + i
            for block in table.blocks(BLOCK_ROWS)
            for i, codes in enumerate(_codes_there(model, table, block))
            if codes is None
        )
        return frozenset(reservoir(numbers, size, seed)[0])


def reservoir(items: Iterable[Item], size: int, seed: int) -> tuple[list[Item], int]:
    """Some of the items, each set of them equally likely, in one pass (Vitter); how many there are.

    They come in no order.
    """
    rng = random.Random(seed)
    drawn: list[Item] = []
    n = 0
    for n, item in enumerate(items, 1):
        if len(drawn) < size:
            drawn.append(item)
        elif (place := int(rng.random() * n)) < size:
            drawn[place] = item
    return drawn, n


def _codes_there(model: CodingModel, table: TableReader, block: Block) -> list[set[str] | None]:
    """The codes that people have given already, if the table has columns for them."""
    codes = model.columns.codes
    if set(map(guarded, codes.names)) <= set(map(guarded, table.names)):
        return take_decided(table, block, codes, model.codebook).codes
    return [None] * len(block.rows)


def free_names(names: Iterable[str], taken: set[str]) -> list[str]:
    """Names of added columns, numbered where they are `taken`."""
    added: list[str] = []
    for name in names:
        ends = chain([""], (f" ({number})" for number in count(2)))
        added.append(next(n for end in ends if (n := name + end) not in taken))
        taken.add(added[-1])
    return added


class _RowCoder:
    """Rows of a table with the columns that coding adds."""

    def __init__(self, model: CodingModel, policy: Policy, k: int, drawn: frozenset[int]) -> None:
        self.model, self.policy, self.k, self.drawn = model, policy, k, drawn
        self.reasons = Reasons(model)

    def header(self, names: Sequence[str]) -> list[str]:
        """Names of the added columns, which differ from those that are there."""
        columns, policy = self.model.columns, self.policy
        marks = () if columns.codes.listed else self.model.labels
        # The column that people fill in must not be mistaken for that of the predictions.
        taken = {*names, *columns.codes.names, *columns.inputs}
        added = [*ADDED, *(("ask",) if policy.per_code else ()), *marks]
        added += EXPLAINED if policy.explain else ()
        whole = [ROW] if numbers_rows(self.model, names) else []
        whole += [PREFIX + name for name in added]
        return free_names([*whole, *([DRAWN] if policy.n_random else [])], taken)

    def code(self, table: TableReader, block: Block, counts: Counts) -> CodedBlock:
        """What a block of rows says, and what becomes of it."""
        answers = self.model.columns.read(table, block)
        X = self.model.features.transform(answers)
        found = self.model.code(answers, X, self.k)
        empty = self.model.says_nothing(answers)
        limit = -1.0 if self.policy.threshold is None else self.policy.threshold
        doubt = found.doubt(self.policy.rank_by)
        # Not "doubt > limit": a limit that is not a number lets nothing through.
        statuses: list[str] = np.where((doubt <= limit) & ~empty, AUTO, REVIEW).tolist()
        ask: list[NDArray[np.bool_] | None] = [None] * len(found)
        settled = np.zeros(len(found), dtype=bool)
        if self.policy.per_code is not None:
            assert found.P is not None
            given, asked = self.policy.per_code.settle(found.P, self.model.Y, empty)
            n_asked, settled = asked.sum(axis=1), np.asarray(~asked.all(axis=1))
            statuses = np.select([n_asked == 0, settled], [AUTO, PARTLY], REVIEW).tolist()
            ask = [own if s == PARTLY else None for s, own in zip(statuses, asked, strict=True)]
            found = _with_settled(found, given, settled)
        there = _codes_there(self.model, table, block)  # these answers are left alone
        statuses = [s if c is None else BY_PEOPLE for s, c in zip(statuses, there, strict=True)]
        drawn = [block.first + i in self.drawn for i in range(len(block.rows))]
        why = self._reasons(found, X, empty, statuses, ask)
        words = ["" if reason is None else reason.words for reason in why]
        rest = (doubt, empty, statuses, words, drawn, ask, settled)
        coded = CodedBlock(block.first, block.rows, X, found, *rest)
        counts.add(coded, why)
        return coded

    def _reasons(
        self,
        found: Predictions,
        X: Any,
        empty: NDArray[np.bool_],
        statuses: list[str],
        ask: list[NDArray[np.bool_] | None],
    ) -> list[Reason | None]:
        """Why each row is left to people; None for those that are not."""
        reasons: list[Reason | None] = [None] * len(statuses)
        unsure = [i for i, s in enumerate(statuses) if s == REVIEW and not empty[i]]
        rows = np.array(unsure, dtype=np.intp)
        for i, reason in zip(unsure, self.reasons.find(found, X, rows), strict=True):
            reasons[i] = reason
        for i, (status, codes) in enumerate(zip(statuses, ask, strict=True)):
            if status == REVIEW and empty[i]:
                reasons[i] = Reason(EMPTY, EMPTY)
            elif status == PARTLY and codes is not None:
                asked = self.model.codes(codes[np.newaxis])[0]
                reasons[i] = Reason(PART, f"to be decided: {listed(list(map(quote, asked)))}")
        return reasons

    def rows(self, table: TableReader, block: CodedBlock) -> list[tuple[Cell, ...]]:
        """The rows of a block with all added cells."""
        found, codes = block.found, self.model.columns.codes
        columns: list[Sequence[Cell]] = []
        if numbers_rows(self.model, table.names):
            columns.append(range(block.first, block.first + len(block.rows)))
        nearest = [self.model.answers.texts[row] for row in found.row.tolist()]
        columns += [suggestions(self.model, block), block.statuses, *doubts(block)]
        columns += [nearest, block.why]
        if self.policy.per_code is not None:
            columns.append(asked_codes(self.model, block))
        if not codes.listed:
            columns += found.Y.T.tolist()
        if self.policy.explain:
            columns += map(six_digits, (found.Dx, found.Dy, found.x_part, found.y_part))
            near = self.model.classifier.nearest_labelsets(block.X, k=2)
            columns += [join_codes(self.model, near.labelsets[:, 1]), six_digits(near.theta[:, 1])]
        if self.policy.n_random:
            columns.append(["yes" if drawn else "no" for drawn in block.drawn])
        added = zip(*columns, strict=True)
        return [(*row, *cells) for row, cells in zip(block.rows, added, strict=True)]


def _with_settled(
    found: Predictions, given: NDArray[np.bool_], settled: NDArray[np.bool_]
) -> Predictions:
    """Predictions with the codes that are settled one by one; the whole labelset comes next."""
    assert found.others is not None
    whole = found.Y[:, np.newaxis]
    behind = np.concatenate([whole, found.others[:, :-1]], axis=1)
    return replace(
        found,
        Y=np.where(settled[:, np.newaxis], given, found.Y).astype(np.int8),
        others=np.where(settled[:, np.newaxis, np.newaxis], behind, found.others),
    )


def numbers_rows(model: CodingModel, names: Sequence[str]) -> bool:
    """Whether rows get numbers, by which a review finds its extra features again."""
    return model.columns.n_extra > 0 and ROW not in names


def suggestions(model: CodingModel, block: CodedBlock) -> list[str]:
    """The codes of each row as one cell; empty where none of those that are settled applies."""
    cells = join_codes(model, block.found.Y)
    partly = zip(cells, block.found.Y, block.statuses, strict=True)
    return ["" if s == PARTLY and not Y.any() else cell for cell, Y, s in partly]


def join_codes(model: CodingModel, Y: NDArray[Any]) -> list[str]:
    return list(map(model.columns.codes.join, model.codes(Y)))


def asked_codes(model: CodingModel, block: CodedBlock) -> list[str]:
    """The codes that are to be decided, of rows of which others are settled."""
    asked = [np.zeros(len(model.labels), bool) if ask is None else ask for ask in block.ask]
    separator = model.columns.codes.separator or ";"
    return [separator.join(names) for names in model.codes(np.array(asked))] if asked else []


def doubts(block: CodedBlock) -> tuple[Sequence[Cell], Sequence[Cell]]:
    """Chance and theta of each row; both speak of whole labelsets, not of codes one by one."""
    found, n = block.found, len(block.rows)
    chance: Sequence[Cell] = [""] * n if found.chance is None else six_digits(found.chance)
    theta: Sequence[Cell] = six_digits(found.theta)
    if block.settled.any():
        chance, theta = (
            ["" if settled else cell for cell, settled in zip(cells, block.settled, strict=True)]
            for cells in (chance, theta)
        )
    return chance, theta


def six_digits(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def check_places(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)
