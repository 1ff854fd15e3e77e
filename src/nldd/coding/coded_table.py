"""Coded tables: every row and column kept, with codes and why, and a file for people beside it."""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, combinations, count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote_first
from nldd.coding.answers import DRAWN, PREFIX, ROW
from nldd.coding.coded_blocks import (
    BLOCK_ROWS,
    N_NEXT,
    PARTLY,
    BlockWatch,
    CodedBlock,
    CodingOptions,
    CodingSummary,
    code_blocks,
    existing_codes,
)
from nldd.coding.decisions import refuse_decided
from nldd.coding.model import CodingModel
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.opening import TableOptions
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.writer import create_table
from nldd.exceptions import InputError
from nldd.present.text import count_noun

ADDED = ("codes", "status", "chance", "theta", "nearest", "why", "guarantee")
EXPLAINED = ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")

# What the columns hold, for files that have a place for such words.
DESCRIPTIONS = {
    f"{PREFIX}codes": "Codes by nldd",
    f"{PREFIX}status": "auto: by nldd; review, part: for people; coded: by people before",
    f"{PREFIX}chance": "Chance that all codes are right",
    f"{PREFIX}theta": "Probability that a code is wrong",
    f"{PREFIX}nearest": "The coded answer that is most like it",
    f"{PREFIX}why": "Why the answer is for people",
    f"{PREFIX}guarantee": "Accuracy guarantee: target, confidence level and threshold",
}

Item = TypeVar("Item")


def code_table(
    model: CodingModel,
    path: Path | str,
    out: Path | str,
    policy: CodingOptions,
    review: Path | str | None = None,
    options: TableOptions = TableOptions(),
    watch: BlockWatch = lambda blocks, fraction: blocks,
) -> CodingSummary:
    r"""Code the answers of a table, a block of rows at a time.

    Parameters
    ----------
    model : CodingModel
        Which codes.
    path : Path or str
        The table; rows that have codes already keep them.
    out : Path or str
        File for all rows and columns, with what was found: ``nldd_codes``, ``nldd_status`` and
        others.
    policy : CodingOptions
        Which answers go to people.
    review : Path or str, optional
        File for those only, with columns for their codes.
    options : TableOptions, optional
        How the table is opened.
    watch : callable, optional
        ``watch(blocks, fraction)`` passes the blocks through, for a progress bar; ``fraction()``
        tells how much of the file has been read.

    Returns
    -------
    CodingSummary
        How many rows got which status.

    Examples
    --------
    >>> from nldd.coding import Answers, CodingOptions, Settings
    >>> from nldd.coding import code_table, fit_coding_model, triage
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.opening import open_table
    >>> folder = TemporaryDirectory()
    >>> new, coded = Path(folder.name, "new.csv"), Path(folder.name, "coded.csv")
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\n\"\"\n")
    >>> found = triage(model, target=0.8).selection
    >>> counts = code_table(model, new, coded, CodingOptions(found.limit, rank_by=found.rank_by))
    >>> counts.n_rows, counts.n_auto, counts.n_review
    (3, 2, 1)
    >>> with open_table(coded) as table:
    ...     rows = [row[:3] for block in table.blocks() for row in block.rows]
    >>> rows[0]
    ('cheaper rents', 'housing costs', 'auto')
    >>> folder.cleanup()
    """
    check_paths_differ(path, out, review, hint="-o coded.csv --review review.csv")
    if review is not None:
        from nldd.coding.review_sheet import ReviewFile  # only where there is one

        refuse_decided(Path(review), model.columns.codes, model.codebook)
    drawn = draw_rows(model, path, policy.n_random, policy.seed, options)
    counts, k, used = CodingSummary(), N_NEXT + 1 if review else 2, policy.model_in_use(model)
    coder = _RowCoder(used, policy)
    with ExitStack() as stack:
        table = stack.enter_context(options.open(path))
        blocks = code_blocks(model, table, policy, counts, k, drawn, watch)
        header = (*table.header, *coder.header(table.names))
        named = DESCRIPTIONS | {f"{PREFIX}{name}": f"{name}, by nldd" for name in model.labels}
        create = partial(create_table, like=table.format, raw=policy.raw, descriptions=named)
        writer = stack.enter_context(create(out, header))
        for_people = None
        if review is not None:
            for_people = stack.enter_context(ReviewFile(used, table, create, review, policy))
        for block in blocks:
            writer.write(coder.rows(table, block))
            if for_people is not None:
                for_people.add(block)
        model.columns.check_extra(table, counts.n_rows)
        counts.notes += [*table.notes, *(for_people.notes if for_people else ())]
        counts.notes += _notes_on_earlier(table.names, header, counts, policy)
    return counts


def _notes_on_earlier(
    names: Sequence[str], header: Sequence[str], counts: CodingSummary, policy: CodingOptions
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
            for i, codes in enumerate(existing_codes(model, table, block))
            if codes is None
        )
        return frozenset(draw_sample_in_one_pass(numbers, size, seed)[0])


def draw_sample_in_one_pass(items: Iterable[Item], size: int, seed: int) -> tuple[list[Item], int]:
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


def unique_column_names(names: Iterable[str], taken: set[str]) -> list[str]:
    """Names of added columns, numbered where they are `taken`."""
    added: list[str] = []
    for name in names:
        ends = chain([""], (f" ({number})" for number in count(2)))
        added.append(next(n for end in ends if (n := name + end) not in taken))
        taken.add(added[-1])
    return added


class _RowCoder:
    """Rows of a table with the columns that coding adds."""

    def __init__(self, model: CodingModel, policy: CodingOptions) -> None:
        self.model, self.policy = model, policy

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
        return unique_column_names([*whole, *([DRAWN] if policy.n_random else [])], taken)

    def rows(self, table: TableReader, block: CodedBlock) -> list[tuple[Cell, ...]]:
        """The rows of a block with all added cells."""
        found, codes = block.found, self.model.columns.codes
        columns: list[Sequence[Cell]] = []
        if numbers_rows(self.model, table.names):
            columns.append(range(block.first, block.first + len(block.rows)))
        nearest = [self.model.answers.texts[row] for row in found.row.tolist()]
        columns += [suggestions(self.model, block), block.statuses, *confidence_cells(block)]
        columns += [nearest, block.why, [str(self.policy.guarantee or "")] * len(found)]
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


def confidence_cells(block: CodedBlock) -> tuple[Sequence[Cell], Sequence[Cell]]:
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


def check_paths_differ(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)
