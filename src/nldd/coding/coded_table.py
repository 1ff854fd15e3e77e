"""Coded tables: every row and column kept, with codes and why, and a sheet for people beside it.

The sheet has a suggestion for each answer, likely others, and a mark. Answers of the random check
sample come without any suggestion: they tell how right the model is, and who sees a suggestion
tends to agree with it. They stand before all others, in the order of the table; then come those
with the same suggestion together, the surest of these first; and empty ones last.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nldd._wording import quote_first
from nldd.coding import columns as own
from nldd.coding.answers import BoolArray, FloatArray, RowArray
from nldd.coding.coded_answers import (
    N_NEXT,
    CodedAnswers,
    CodingOptions,
    CodingSummary,
    code_answers,
    next_labelsets,
)
from nldd.coding.columns import Codes
from nldd.coding.decisions import refuse_decided
from nldd.coding.model import CodingModel
from nldd.coding.predictions import DRAWN_BLIND, Watch, no_progress
from nldd.coding.rows import looked_at_codes, read_answers
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Cell, Spreadsheet, frame_of, unique_column_names
from nldd.coding.tables.writing import SheetLayout, write_table
from nldd.coding.wording import fill_words
from nldd.exceptions import InputError
from nldd.present.text import escape_formula

Item = TypeVar("Item")
Column = Sequence[Cell]
# What is added to all rows, in this order, and to those for people.
SAID = (own.CODES, own.STATUS, own.CHANCE, own.THETA)
OF_TABLE = (own.ROW, *SAID, own.NEAREST, own.WHY, own.GUARANTEE, own.ASK)
TO_DECIDE = (own.OK, own.WHY, own.ASK, *own.NEXT, own.NEAREST)
OF_SHEET = (*TO_DECIDE, *SAID, own.GUARANTEE, own.DRAWN, own.ROW)
# Answers that are coded blind, and empty ones, have these alone in a sheet.
SHOWN_ALWAYS = {own.WHY, own.GUARANTEE, own.DRAWN, own.ROW}
WIDTHS = {own.OK: 7.0, own.WHY: 34.0, own.ASK: 28.0, own.CODES: 28.0, own.NEAREST: 40.0}
WIDTHS |= dict.fromkeys(own.NEXT, 22.0)
WIDTH, TEXT_WIDTH, CODES_WIDTH, MARK_WIDTH = 12.0, 60.0, 28.0, 7.0


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
    >>> from nldd.coding import Answers, CodingOptions, Settings
    >>> from nldd.coding import GuaranteeTarget, code_table, fit_coding_model
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
    >>> policy, _ = CodingOptions(None).follow(model, GuaranteeTarget(0.8))
    >>> counts = code_table(model, new, coded, policy)
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
    free = (place for place, codes in enumerate(given) if codes is None)
    drawn = frozenset(draw_at_random(free, coding.n_random, coding.seed))
    k = N_NEXT + 1 if review else 2
    coded = code_answers(model, answers, given, coding, k=k, watch=watch)
    coded = replace(coded, drawn=[place in drawn for place in range(len(table))])
    added = _table_columns(used, table, coded, coding)
    # The column that people fill in must not be mistaken for that of the predictions.
    taken = {*table.names, *used.columns.codes.names, *used.columns.inputs}
    names = unique_column_names(added, taken)
    numbered = [name for name, plain in zip(names, added, strict=True) if name != plain]
    counts = replace(coded.summary(), options=coding)
    counts.notes.extend(table.notes)
    if numbered:
        counts.notes.append(f"The table was coded before; new columns are {quote_first(numbered)}.")
    counts.notes.extend(fill_words("draw_notes", found=counts, n_asked=coding.n_random))
    frame = table.frame.assign(**frame_of(dict(zip(names, added.values(), strict=True))))
    described = own.DESCRIPTIONS | {own.PREFIX + code: f"{code}, by nldd" for code in model.labels}
    written: dict[str, Any] = {"like": table.format, "raw": coding.raw, "descriptions": described}
    write_table(out, frame, header=(*table.header, *names), **written)
    if review is not None:
        each = enumerate(zip(coded.statuses, coded.drawn, strict=True))
        for_people = [i for i, (s, is_drawn) in each if is_drawn or s in (own.REVIEW, own.PARTLY)]
        rows = np.array(sorted(for_people, key=lambda i: _sort_key(coded, i)), dtype=np.intp)
        sheet, header, layout = _review_sheet(used, table, rows, coded[rows], coding)
        write_table(review, sheet, header=header, layout=layout, **written)
    return counts


def read_given(table: Spreadsheet, model: CodingModel) -> list[Codes | None]:
    """The codes that people have given already, if the table has columns for them."""
    codes = model.columns.codes
    if not codes.are_in(table):
        return [None] * len(table)
    return looked_at_codes(table, codes, model.codebook)[0]


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


def _columns(
    model: CodingModel, table: Spreadsheet, coded: CodedAnswers, coding: CodingOptions
) -> dict[str, Column]:
    """What is said of each row; chance and theta speak of whole labelsets, not of single codes."""
    found, n = coded.found, len(coded)
    chance: Column = [""] * n if found.chance is None else _six_digits(found.chance)
    each = (zip(c, coded.settled, strict=True) for c in (chance, _six_digits(found.theta)))
    both = (["" if settled else cell for cell, settled in pairs] for pairs in each)
    # Empty where none of the codes that are settled applies.
    partly = zip(_join_codes(model, coded.Y), coded.Y, coded.statuses, strict=True)
    columns: dict[str, Column] = {
        own.CODES: ["" if s == own.PARTLY and not Y.any() else cell for cell, Y, s in partly],
        own.STATUS: coded.statuses,
        **dict(zip((own.CHANCE, own.THETA), both, strict=True)),
        own.NEAREST: [model.answers.texts[row] for row in found.row.tolist()],
        own.WHY: coded.why,
        own.GUARANTEE: [str(coding.guarantee or "")] * n,
        own.DRAWN: ["yes" if drawn else "no" for drawn in coded.drawn],
    }
    if coding.code_selection is not None:
        separator = model.columns.codes.separator or ";"
        columns[own.ASK] = list(map(separator.join, model.codes(coded.ask)))
    # By its number, a review finds the extra features of a row again.
    if model.columns.n_extra and own.ROW not in table.names:
        columns[own.ROW] = coded.answers.rows
    return columns


def _table_columns(
    model: CodingModel, table: Spreadsheet, coded: CodedAnswers, coding: CodingOptions
) -> dict[str, Column]:
    """The columns that coding adds to a table."""
    said, found = _columns(model, table, coded, coding), coded.found
    columns = {name: said[name] for name in OF_TABLE if name in said}
    if not model.columns.codes.listed:
        names = (own.PREFIX + label for label in model.labels)
        columns |= dict(zip(names, coded.Y.T.tolist(), strict=True))
    if coding.explain:
        assert found.others is not None
        assert found.ahead is not None
        assert found.others_probability is not None
        numbers = (found.probability, found.Dx, *found.ahead.T, found.others_probability[:, 0])
        *cells, last = map(_six_digits, numbers)
        next_codes = _join_codes(model, found.others[:, 0])
        columns |= dict(zip(own.EXPLAINED, (*cells, next_codes, last), strict=True))
    return columns | ({own.DRAWN: said[own.DRAWN]} if coding.n_random else {})


def _join_codes(model: CodingModel, Y: NDArray[Any]) -> list[str]:
    """The codes of each row as one cell."""
    return list(map(model.columns.codes.join, model.codes(Y)))


def _six_digits(values: FloatArray) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]


def _review_sheet(
    model: CodingModel, table: Spreadsheet, rows: RowArray, coded: CodedAnswers, how: CodingOptions
) -> tuple[pd.DataFrame, tuple[str, ...], SheetLayout]:
    """The rows for people with all that they need to decide, the header, and how it looks."""
    said = {own.OK: [""] * len(coded), **_columns(model, table, coded, how)}
    suggested, codes = said[own.CODES], model.columns.codes
    pairs = zip(suggested, next_labelsets(model, coded), strict=True)
    nexts = [[c for c in map(codes.join, others) if c != mine] for mine, others in pairs]
    for rank, name in enumerate(own.NEXT):  # those of small models are fewer
        said[name] = [cells[rank] if rank < len(cells) else "" for cells in nexts]
    blank = coded.empty | np.array(coded.drawn, dtype=bool)
    added = {name: said[name] for name in OF_SHEET if name in said}
    for name in added.keys() - SHOWN_ALWAYS:  # an empty status tells that nothing was suggested
        added[name] = ["" if b else cell for b, cell in zip(blank, added[name], strict=True)]
    each = zip(coded.drawn, said[own.WHY], strict=True)
    added[own.WHY] = [DRAWN_BLIND if drawn else why for drawn, why in each]
    # Where codes stand already: cells of these columns are empty in all rows for people.
    there = {escape_formula(name): name for name in table.names}
    texts = [there.get(escape_formula(name), name) for name in model.columns.text]
    cells = _code_cells(model, coded, suggested, blank).items()
    filled = {there.get(escape_formula(name), name): column for name, column in cells}
    new = [name for name in filled if name not in table.names]
    unique = unique_column_names(added, {*table.names, *codes.names, *model.columns.inputs})
    every = frame_of({**filled, **dict(zip(unique, added.values(), strict=True))})
    frame = table.frame.iloc[rows].reset_index(drop=True).assign(**every)
    widths = WIDTHS | dict.fromkeys(texts, TEXT_WIDTH)
    widths |= dict.fromkeys(filled, CODES_WIDTH if codes.listed else MARK_WIDTH)
    several = f"Several codes: type them with {codes.separator} between."
    offered = (model.codes_in_order, several) if codes.listed else ([0, 1], "0 or 1.")
    choices: dict[str, tuple[Column, str]] = dict.fromkeys(filled, offered)
    choices[own.OK] = (["x"], "x where the suggested codes are right.")
    names = list(enumerate((*table.names, *new, *added)))
    looks = {i: widths.get(name, WIDTH) for i, name in names}
    layout = SheetLayout(looks, {i: choices[name] for i, name in names if name in choices})
    return frame, (*table.header, *new, *unique), layout


def _sort_key(coded: CodedAnswers, i: int) -> tuple[Any, ...]:
    if coded.drawn[i]:
        return (0, i)
    if coded.empty[i]:
        return (2, i)
    # Labelsets with the first code come first.
    return (1, (1 - coded.Y[i]).tobytes(), float(coded.doubt[i]), i)


def _code_cells(
    model: CodingModel, coded: CodedAnswers, suggested: Column, blank: BoolArray
) -> dict[str, Column]:
    """The suggestions as the columns of the codes hold them; codes to decide are left open."""
    codes = model.columns.codes
    if codes.listed:
        rows = [codes.spread("" if b else str(s)) for b, s in zip(blank, suggested, strict=True)]
        return {name: [row[i] for row in rows] for i, name in enumerate(codes.names)}
    # Of columns that were merged into one code, the first has the mark.
    current = list(map(model.codebook.current, codes.names))
    firsts = [current.index(code) == i for i, code in enumerate(current)]
    places = [model.labels.index(code) for code in current]
    is_open = np.where(firsts, coded.ask[:, places], False) | blank[:, np.newaxis]
    marks = np.where(is_open, "", (coded.Y[:, places] * firsts).astype(object))
    return dict(zip(codes.names, marks.T.tolist(), strict=True))


def check_paths_differ(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)
