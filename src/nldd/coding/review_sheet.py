"""The file in which people decide: a suggestion for each answer, likely others, and a mark.

Answers that were drawn at random come without any suggestion: they tell how right the machine is,
and who sees a suggestion tends to agree with it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from types import TracebackType
from typing import Any, Self

from nldd.coding.answers import DRAWN, GUARANTEE, PREFIX, ROW, find_column
from nldd.coding.coded_blocks import N_NEXT, CodedBlock, CodingOptions, next_labelsets
from nldd.coding.coded_table import (
    asked_codes,
    confidence_cells,
    numbers_rows,
    suggestions,
    unique_column_names,
)
from nldd.coding.model import CodingModel
from nldd.coding.reasons import DRAWN_BLIND
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.sheet_layout import Choices, SheetLayout
from nldd.coding.tables.writer import TableWriter
from nldd.present.formulas import escape_formula

# So many rows are sorted; more are no work for people, and would not fit into memory.
MOST_SORTED = 200_000
WIDTHS = {"text": 60.0, "codes": 28.0, "mark": 7.0, "why": 34.0, "next": 22.0, "nearest": 40.0}

Create = Callable[..., TableWriter]
Key = tuple[Any, ...]


class ReviewFile(AbstractContextManager["ReviewFile"]):
    """Rows for people, those with the same suggestion together, the surest of these first.

    Answers that were drawn at random stand before all others, in the order of the table, and empty
    ones behind.
    """

    def __init__(
        self,
        model: CodingModel,
        table: TableReader,
        create: Create,
        path: Any,
        policy: CodingOptions,
    ) -> None:
        self.model, self.policy, self.notes = model, policy, list[str]()
        self.numbered = numbers_rows(model, table.names)
        names = model.columns.codes.names
        there = {escape_formula(name) for name in table.names}
        self.new_codes = [name for name in names if escape_formula(name) not in there]
        # Where codes stand already: cells of these columns are empty in all rows for people.
        self.places = {
            name: find_column(table, name, names) for name in names if name not in self.new_codes
        }
        taken = {*table.names, *names, *model.columns.inputs}
        self.header = (*table.header, *self.new_codes, *unique_column_names(self._added(), taken))
        self.writer = create(path, self.header, look=self._look(table, names))
        self.waiting: list[tuple[Key, tuple[Cell, ...]]] | None = []

    def _added(self) -> list[str]:
        """What a person needs to decide comes first."""
        ask = ["ask"] if self.policy.per_code else []
        nexts = [f"next_{rank}" for rank in range(1, N_NEXT + 1)]
        behind = ["nearest", "codes", "status", "chance", "theta"]
        names = [PREFIX + name for name in ("ok", "why", *ask, *nexts, *behind)]
        return [*names, GUARANTEE, DRAWN, *([ROW] if self.numbered else [])]

    def _look(self, table: TableReader, names: Sequence[str]) -> SheetLayout:
        codes, inputs = self.model.columns.codes, set(map(escape_formula, self.model.columns.text))
        kinds = dict.fromkeys(map(escape_formula, table.header), "")
        kinds |= dict.fromkeys(inputs, "text") | dict.fromkeys(map(escape_formula, names), "codes")
        start = len(table.header) + len(self.new_codes)
        widths = {}
        for j, name in enumerate(self.header):
            kind = kinds.get(escape_formula(name), "") if j < start else _kind_of(name)
            if kind == "codes" and not codes.listed:
                kind = "mark"
            widths[j] = WIDTHS.get(kind, 12.0)
        several = f"Several codes: type them with {codes.separator} between."
        own = (
            Choices(self.model.codes_in_order, several)
            if codes.listed
            else Choices([0, 1], "0 or 1.")
        )
        choices = {start: Choices(["x"], "x where the suggested codes are right.")}
        for name in names:
            place = self.places.get(name, len(table.header))
            if name in self.new_codes:
                place += self.new_codes.index(name)
            choices[place] = own
        return SheetLayout(widths, choices)

    def __enter__(self) -> Self:
        self.writer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self.waiting is not None:
            rows = [row for _, row in sorted(self.waiting, key=itemgetter(0))]
            try:
                self.writer.write(rows)
            except BaseException as failure:
                self.writer.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self.writer.__exit__(kind, error, trace)

    def add(self, block: CodedBlock) -> None:
        """Take those rows of a block that are for people."""
        rows = list(self._rows(block))
        if self.waiting is None:
            self.writer.write(row for _, row in rows)
            return
        self.waiting += rows
        if len(self.waiting) > MOST_SORTED:
            self.writer.write(row for _, row in self.waiting)
            self.waiting = None
            more = f"more than {MOST_SORTED:,} answers for people"
            self.notes.append(f"The review has {more}: they stand in the order of the table.")

    def _rows(self, block: CodedBlock) -> Iterable[tuple[Key, tuple[Cell, ...]]]:
        suggested = suggestions(self.model, block)
        nexts = self._nexts(block, suggested)
        chance, theta = confidence_cells(block)
        ask = asked_codes(self.model, block)
        for i in block.for_people:
            drawn, number = block.drawn[i], block.first + i
            nearest = self.model.answers.texts[int(block.found.row[i])]
            cells: list[Cell] = ["", block.why[i]]
            cells += [ask[i]] if self.policy.per_code else []
            cells += [*nexts[i], nearest, suggested[i], block.statuses[i], chance[i], theta[i]]
            if drawn or block.empty[i]:  # an empty status tells that nothing was suggested
                blank: list[Cell] = [""] * (len(cells) - 2)
                cells = ["", DRAWN_BLIND if drawn else block.why[i], *blank]
            cells += [str(self.policy.guarantee or ""), "yes" if drawn else "no"]
            cells += [number] if self.numbered else []
            own = self._codes(block, i, "" if drawn else suggested[i])
            Y, doubt = block.found.Y[i], float(block.doubt[i])
            # Labelsets with the first code come first.
            order: Key = ((1 - Y).tobytes(), doubt, number)
            key: Key = (0, number) if drawn else (2, number) if block.empty[i] else (1, *order)
            yield key, (*own, *cells)

    def _nexts(self, block: CodedBlock, suggested: Sequence[str]) -> list[list[str]]:
        """The next best labelsets of each row as cells; those of small models are fewer."""
        join, nexts = self.model.columns.codes.join, []
        for own, others in zip(suggested, next_labelsets(self.model, block), strict=True):
            shown = [cell for cell in map(join, others) if cell != own]
            nexts.append([*shown, *[""] * N_NEXT][:N_NEXT])
        return nexts

    def _codes(self, block: CodedBlock, i: int, suggested: str) -> list[Cell]:
        """A row of the table with the codes that are suggested, or with none."""
        row, names = list(block.rows[i]), self.model.columns.codes.names
        cells = self._code_cells(block, i, suggested)
        for name, cell in zip(names, cells, strict=True):
            if name in self.places:
                row[self.places[name]] = cell
        new = (cell for name, cell in zip(names, cells, strict=True) if name in self.new_codes)
        return [*row, *new]

    def _code_cells(self, block: CodedBlock, i: int, suggested: str) -> list[Cell]:
        """The suggestion as the columns of the codes hold it; codes to decide are left open."""
        codes, ask = self.model.columns.codes, block.ask[i]
        if block.empty[i] or block.drawn[i]:
            return [""] * len(codes.names)
        if codes.listed:
            return [*codes.spread(suggested)]
        # Of columns that were merged into one code, the first has the mark.
        model, first = self.model, dict[str, str]()
        for name in codes.names:
            first.setdefault(model.codebook.current(name), name)
        cells: dict[str, Cell] = dict.fromkeys(codes.names, 0)
        for j, label in enumerate(model.labels):
            open_mark = ask is not None and ask[j]
            cells[first[label]] = "" if open_mark else int(block.found.Y[i, j])
        return list(cells.values())


def _kind_of(name: str) -> str:
    """Which width an added column has."""
    plain = name.removeprefix(PREFIX).split(" (")[0]
    return {"ok": "mark", "why": "why", "nearest": "nearest", "codes": "codes", "ask": "codes"}.get(
        plain, "next" if plain.startswith("next_") else ""
    )
