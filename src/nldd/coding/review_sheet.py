"""The sheet in which people decide: a suggestion for each answer, likely others, and a mark.

Answers of the random check sample come without any suggestion: they tell how right the model is,
and who sees a suggestion tends to agree with it. They stand before all others, in the order of the
table; then come those with the same suggestion together, the surest of these first; and empty ones
last.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nldd.coding import own_columns as own
from nldd.coding.coded_answers import CodedAnswers, CodingOptions, next_labelsets
from nldd.coding.coded_table import asked_codes, confidence_cells, numbers_rows, suggestions
from nldd.coding.columns import find_column
from nldd.coding.model import CodingModel
from nldd.coding.reasons import DRAWN_BLIND
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.spreadsheet import Spreadsheet, frame_of
from nldd.coding.tables.writing import Choices, SheetLayout
from nldd.present.formulas import escape_formula

WIDTHS = {own.OK: 7.0, own.WHY: 34.0, own.ASK: 28.0, own.CODES: 28.0, own.NEAREST: 40.0}
WIDTHS |= dict.fromkeys(own.NEXT, 22.0)
WIDTH, TEXT_WIDTH, CODES_WIDTH, MARK_WIDTH = 12.0, 60.0, 28.0, 7.0


def review_sheet(
    model: CodingModel, table: Spreadsheet, coded: CodedAnswers, coding: CodingOptions
) -> tuple[pd.DataFrame, tuple[str, ...], SheetLayout]:
    """The rows for people with all that they need to decide, the header, and how it looks."""
    order = sorted(coded.for_people, key=lambda i: _sort_key(coded, i))
    frame = table.frame.iloc[order].reset_index(drop=True)
    names, codes = model.columns.codes.names, _code_columns(model, coded, order)
    there = {escape_formula(name) for name in table.names}
    new = [name for name in names if escape_formula(name) not in there]
    # Where codes stand already: cells of these columns are empty in all rows for people.
    for name in names:
        column = name if name in new else find_column(table, name, names)
        frame[column] = pd.Series(codes[name], dtype=object)
    added = _added_columns(model, table, coded, coding, order)
    taken = {*table.names, *names, *model.columns.inputs}
    unique = own.unique_column_names(added, taken)
    frame = frame.assign(**frame_of(dict(zip(unique, added.values(), strict=True))))
    widths = [*_widths(model, table.header), *_widths(model, new), *_widths(model, added)]
    layout = SheetLayout(dict(enumerate(widths)), _choices(model, table, new))
    return frame, (*table.header, *new, *unique), layout


def _sort_key(coded: CodedAnswers, i: int) -> tuple[Any, ...]:
    if coded.drawn[i]:
        return (0, i)
    if coded.empty[i]:
        return (2, i)
    # Labelsets with the first code come first.
    return (1, (1 - coded.Y[i]).tobytes(), float(coded.doubt[i]), i)


def _added_columns(
    model: CodingModel,
    table: Spreadsheet,
    coded: CodedAnswers,
    coding: CodingOptions,
    order: Sequence[int],
) -> dict[str, list[Cell]]:
    """What a person needs to decide comes first; answers that are coded blind have nothing."""
    suggested, (chance, theta) = suggestions(model, coded), confidence_cells(coded)
    nearest = [model.answers.texts[row] for row in coded.found.row.tolist()]
    nexts = _next_cells(model, coded, suggested)
    shown: dict[str, Sequence[Cell]] = (
        {own.ASK: asked_codes(model, coded)} if coding.per_code else {}
    )
    shown |= {name: [cells[rank] for cells in nexts] for rank, name in enumerate(own.NEXT)}
    shown |= {own.NEAREST: nearest, own.CODES: suggested, own.STATUS: coded.statuses}
    shown |= {own.CHANCE: chance, own.THETA: theta}
    # An empty status tells that nothing was suggested.
    blank = {i for i in order if coded.drawn[i] or coded.empty[i]}
    why, row = coded.why, {own.ROW: coded.answers.rows} if numbers_rows(model, table) else {}
    return {
        own.OK: [""] * len(order),
        own.WHY: [DRAWN_BLIND if coded.drawn[i] else why[i] for i in order],
        **{name: ["" if i in blank else c[i] for i in order] for name, c in shown.items()},
        own.GUARANTEE: [str(coding.guarantee or "")] * len(order),
        own.DRAWN: ["yes" if coded.drawn[i] else "no" for i in order],
        **{name: [cells[i] for i in order] for name, cells in row.items()},
    }


def _next_cells(
    model: CodingModel, coded: CodedAnswers, suggested: Sequence[str]
) -> list[list[str]]:
    """The next best labelsets of each row as cells; those of small models are fewer."""
    n, join = len(own.NEXT), model.columns.codes.join
    pairs = zip(suggested, next_labelsets(model, coded), strict=True)
    shown = ([cell for cell in map(join, others) if cell != mine] for mine, others in pairs)
    return [[*cells, *[""] * n][:n] for cells in shown]


def _code_columns(
    model: CodingModel, coded: CodedAnswers, order: Sequence[int]
) -> dict[str, list[Cell]]:
    """The suggestions as the columns of the codes hold them; codes to decide are left open."""
    codes, suggested = model.columns.codes, suggestions(model, coded)
    first: dict[str, str] = {}
    for name in codes.names:
        # Of columns that were merged into one code, the first has the mark.
        first.setdefault(model.codebook.current(name), name)
    rows: list[dict[str, Cell]] = []
    for i in order:
        cells: dict[str, Cell] = dict.fromkeys(codes.names, "" if codes.listed else 0)
        if coded.empty[i] or coded.drawn[i]:
            cells = dict.fromkeys(codes.names, "")
        elif codes.listed:
            cells = dict(zip(codes.names, codes.spread(suggested[i]), strict=True))
        else:
            ask = coded.ask[i]
            for j, label in enumerate(model.labels):
                is_open = ask is not None and ask[j]
                cells[first[label]] = "" if is_open else int(coded.Y[i, j])
        rows.append(cells)
    return {name: [cells[name] for cells in rows] for name in codes.names}


def _widths(model: CodingModel, names: Sequence[str]) -> list[float]:
    codes, text = (
        set(map(escape_formula, n)) for n in (model.columns.codes.names, model.columns.text)
    )
    of_codes = CODES_WIDTH if model.columns.codes.listed else MARK_WIDTH
    known = WIDTHS | dict.fromkeys(text, TEXT_WIDTH) | dict.fromkeys(codes, of_codes)
    return [known.get(escape_formula(name), WIDTH) for name in names]


def _choices(model: CodingModel, table: Spreadsheet, new: Sequence[str]) -> dict[int, Choices]:
    """What cells offer to choose from, by the place of their column."""
    codes, start = model.columns.codes, len(table.header)
    several = f"Several codes: type them with {codes.separator} between."
    offered = Choices(model.codes_in_order, several) if codes.listed else Choices([0, 1], "0 or 1.")
    choices = {start + len(new): Choices(["x"], "x where the suggested codes are right.")}
    for name in codes.names:
        place = start + new.index(name) if name in new else None
        if place is None:
            place = table.names.index(find_column(table, name, codes.names))
        choices[place] = offered
    return choices
