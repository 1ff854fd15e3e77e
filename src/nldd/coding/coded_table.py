"""Coded tables: every row and column kept, with codes and why, and a sheet for people beside it."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote_first
from nldd.coding import own_columns as own
from nldd.coding.coded_answers import (
    N_NEXT,
    PARTLY,
    CodedAnswers,
    CodingOptions,
    CodingSummary,
    code_answers,
)
from nldd.coding.columns import Codes, read_answers
from nldd.coding.decisions import looked_at_codes, refuse_decided
from nldd.coding.model import CodingModel
from nldd.coding.predictions import Watch, no_progress
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet, frame_of
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError
from nldd.present.text import count_noun

Item = TypeVar("Item")
Column = Sequence[Cell]


def code_table(
    model: CodingModel,
    path: Path | str,
    out: Path | str,
    coding: CodingOptions,
    review: Path | str | None = None,
    options: TableOptions = TableOptions(),
    watch: Watch = no_progress,
) -> CodingSummary:
    r"""Code the answers of a table.

    Parameters
    ----------
    model : CodingModel
        Which codes.
    path : Path or str
        The table; rows that have codes already keep them.
    out : Path or str
        File for all rows and columns, with what was found: ``nldd_codes``, ``nldd_status`` and
        others.
    coding : CodingOptions
        Which answers go to people.
    review : Path or str, optional
        File for those only, with columns for their codes.
    options : TableOptions, optional
        How the table is opened.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.

    Returns
    -------
    CodingSummary
        How many rows got which status.

    Examples
    --------
    >>> from nldd.coding import Answers, CodingOptions, GuaranteeTarget, Settings
    >>> from nldd.coding import code_table, fit_coding_model, triage
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.reading import read_table
    >>> folder = TemporaryDirectory()
    >>> new, coded = Path(folder.name, "new.csv"), Path(folder.name, "coded.csv")
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\n\"\"\n")
    >>> found = triage(model, GuaranteeTarget(0.8)).selection
    >>> counts = code_table(model, new, coded, CodingOptions(found.limit, rank_by=found.rank_by))
    >>> counts.n_rows, counts.n_auto, counts.n_review
    (3, 2, 1)
    >>> read_table(coded).frame.iloc[0, :3].tolist()
    ['cheaper rents', 'housing costs', 'auto']
    >>> folder.cleanup()
    """
    check_paths_differ(path, out, review, hint="-o coded.csv --review review.csv")
    if review is not None:
        refuse_decided(Path(review), model.columns.codes, model.codebook)
    table, used = read_table(path, options), coding.model_in_use(model)
    answers, given = read_answers(table, model.columns), read_given(table, model)
    drawn = frozenset(draw_at_random(_open_places(given), coding.n_random, coding.seed))
    how: dict[str, Any] = {"k": N_NEXT + 1 if review else 2, "drawn": drawn, "watch": watch}
    coded = code_answers(model, answers, given, coding, **how)
    added = _added_columns(used, table, coded, coding)
    names = own.unique_column_names(added, _taken_names(used, table))
    numbered = [name for name, plain in zip(names, added, strict=True) if name != plain]
    notes = [*table.notes, *_notes_on_earlier(numbered, coded, coding)]
    counts = replace(coded.summary(notes), options=coding)
    frame = table.frame.assign(**frame_of(dict(zip(names, added.values(), strict=True))))
    described = own.DESCRIPTIONS | {own.PREFIX + code: f"{code}, by nldd" for code in model.labels}
    written: dict[str, Any] = {"like": table.format, "raw": coding.raw, "descriptions": described}
    write_table(out, frame, header=(*table.header, *names), **written)
    if review is not None:
        from nldd.coding.review_sheet import review_sheet  # only where there is one

        sheet, header, layout = review_sheet(used, table, coded, coding)
        write_table(review, sheet, header=header, layout=layout, **written)
    return counts


def read_given(table: Spreadsheet, model: CodingModel) -> list[Codes | None]:
    """The codes that people have given already, if the table has columns for them."""
    codes = model.columns.codes
    if not codes.are_in(table):
        return [None] * len(table)
    return looked_at_codes(table, codes, model.codebook)[0]


def _open_places(given: Sequence[Codes | None]) -> Iterator[int]:
    return (place for place, codes in enumerate(given) if codes is None)


def _notes_on_earlier(
    numbered: Sequence[str], coded: CodedAnswers, coding: CodingOptions
) -> Iterator[str]:
    """What a table that was coded before, or in part, means for the columns and for the draw."""
    if numbered:
        yield f"The table was coded before; new columns are {quote_first(numbered)}."
    yield from notes_on_draw(coded.summary(), coding.n_random)


def notes_on_draw(counts: CodingSummary, n_asked: int) -> Iterator[str]:
    """What rows that had codes already, or are too few, mean for those drawn at random."""
    if n_asked and counts.n_coded:
        yield (
            f"{count_noun(counts.n_coded, 'row')} had codes, and were not drawn from. If people "
            "chose them, those drawn are no random sample of all: draw before anybody codes."
        )
    if n_asked > counts.n_drawn:
        yield f"{counts.n_drawn:,} answers were drawn; there are no more without codes."


def draw_at_random(items: Iterable[Item], size: int, seed: int) -> list[Item]:
    """Some of the items, each set of them equally likely (Vitter's algorithm R); in no order."""
    rng = random.Random(seed)
    drawn: list[Item] = []
    for n, item in enumerate(items, 1):
        if len(drawn) < size:
            drawn.append(item)
        elif (place := int(rng.random() * n)) < size:
            drawn[place] = item
    return drawn


def _taken_names(model: CodingModel, table: Spreadsheet) -> set[str]:
    # The column that people fill in must not be mistaken for that of the predictions.
    return {*table.names, *model.columns.codes.names, *model.columns.inputs}


def _added_columns(
    model: CodingModel, table: Spreadsheet, coded: CodedAnswers, coding: CodingOptions
) -> dict[str, Column]:
    """The columns that coding adds to a table."""
    found, n = coded.found, len(coded)
    nearest = [model.answers.texts[row] for row in found.row.tolist()]
    chance, theta = confidence_cells(coded)
    columns: dict[str, Column] = {own.ROW: coded.answers.rows} if numbers_rows(model, table) else {}
    columns |= {
        own.CODES: suggestions(model, coded),
        own.STATUS: coded.statuses,
        own.CHANCE: chance,
        own.THETA: theta,
        own.NEAREST: nearest,
        own.WHY: coded.why,
        own.GUARANTEE: [str(coding.guarantee or "")] * n,
    }
    if coding.per_code is not None:
        columns[own.ASK] = asked_codes(model, coded)
    if not model.columns.codes.listed:
        names = (own.PREFIX + label for label in model.labels)
        columns |= dict(zip(names, coded.Y.T.tolist(), strict=True))
    if coding.explain:
        assert found.others is not None
        assert found.others_theta is not None
        parts = (found.Dx, found.Dy, found.x_part, found.y_part)
        following = join_codes(model, found.others[:, 0]), six_digits(found.others_theta[:, 0])
        columns |= dict(zip(own.EXPLAINED, (*map(six_digits, parts), *following), strict=True))
    if coding.n_random:
        columns[own.DRAWN] = ["yes" if drawn else "no" for drawn in coded.drawn]
    return columns


def numbers_rows(model: CodingModel, table: Spreadsheet) -> bool:
    """True if rows get numbers, by which a review finds its extra features again."""
    return model.columns.n_extra > 0 and own.ROW not in table.names


def suggestions(model: CodingModel, coded: CodedAnswers) -> list[str]:
    """The codes of each row as one cell; empty where none of those that are settled applies."""
    partly = zip(join_codes(model, coded.Y), coded.Y, coded.statuses, strict=True)
    return ["" if s == PARTLY and not Y.any() else cell for cell, Y, s in partly]


def join_codes(model: CodingModel, Y: NDArray[Any]) -> list[str]:
    return list(map(model.columns.codes.join, model.codes(Y)))


def asked_codes(model: CodingModel, coded: CodedAnswers) -> list[str]:
    """The codes that are to be decided, of rows of which others are settled."""
    nothing = np.zeros(len(model.labels), dtype=bool)
    asked = np.array([nothing if ask is None else ask for ask in coded.ask], dtype=bool)
    separator = model.columns.codes.separator or ";"
    return [separator.join(names) for names in model.codes(asked)] if len(asked) else []


def confidence_cells(coded: CodedAnswers) -> tuple[Column, Column]:
    """Chance and theta of each row; both speak of whole labelsets, not of codes one by one."""
    found = coded.found
    chance: Column = [""] * len(coded) if found.chance is None else six_digits(found.chance)
    theta: Column = six_digits(found.theta)
    if coded.settled.any():
        chance, theta = (
            ["" if settled else cell for cell, settled in zip(cells, coded.settled, strict=True)]
            for cells in (chance, theta)
        )
    return chance, theta


def six_digits(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]


def check_paths_differ(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)
