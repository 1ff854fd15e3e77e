"""The file in which people decide: a suggestion for each answer, likely others, and a mark.

A suggestion that nobody has looked at must not come back as a decision. So an answer counts as
decided if its codes are others than the suggested ones, or if it is marked in ``nldd_ok``. Answers
that were drawn at random come without any suggestion: they tell how right the machine is, and who
sees a suggestion tends to agree with it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nldd._wording import count_noun
from nldd.coding._answers import (
    DRAWN,
    MISSING,
    NO,
    PREFIX,
    ROW,
    YES,
    CodeColumns,
    find_column,
    plain_text,
    read_mark,
    unguard,
)
from nldd.coding._model import CodingModel
from nldd.coding._output import (
    N_NEXT,
    STATUS,
    CodedBlock,
    Policy,
    asked_codes,
    doubts,
    free_names,
    join_codes,
    numbers_rows,
    suggestions,
)
from nldd.coding._reasons import DRAWN_BLIND
from nldd.exceptions import InputError
from nldd.tables import (
    Block,
    Cell,
    Choices,
    Look,
    TableOptions,
    TableReader,
    TableWriter,
    guarded,
)

SUGGESTED = f"{PREFIX}codes"
OK = f"{PREFIX}ok"
# What people write beside a suggestion that is right.
AGREED = YES | {"ok", "okay", "right", "correct", "+", "\u2713", "\u2714"}
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
        self, model: CodingModel, table: TableReader, create: Create, path: Any, policy: Policy
    ) -> None:
        self.model, self.policy, self.notes = model, policy, list[str]()
        self.numbered = numbers_rows(model, table.names)
        self.seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
        names = model.columns.codes.names
        there = {guarded(name) for name in table.names}
        self.new_codes = [name for name in names if guarded(name) not in there]
        # Where codes stand already: cells of these columns are empty in all rows for people.
        self.places = {
            name: find_column(table, name, names) for name in names if name not in self.new_codes
        }
        taken = {*table.names, *names, *model.columns.inputs}
        self.header = (*table.header, *self.new_codes, *free_names(self._added(), taken))
        self.writer = create(path, self.header, look=self._look(table, names))
        self.waiting: list[tuple[Key, tuple[Cell, ...]]] | None = []

    def _added(self) -> list[str]:
        """What a person needs to decide comes first."""
        ask = ["ask"] if self.policy.per_code else []
        nexts = [f"next_{rank}" for rank in range(1, N_NEXT + 1)]
        behind = ["nearest", "codes", "status", "chance", "theta"]
        names = [PREFIX + name for name in ("ok", "why", *ask, *nexts, *behind)]
        return [*names, DRAWN, *([ROW] if self.numbered else [])]

    def _look(self, table: TableReader, names: Sequence[str]) -> Look:
        codes, inputs = self.model.columns.codes, set(map(guarded, self.model.columns.text))
        kinds = dict.fromkeys(map(guarded, table.header), "")
        kinds |= dict.fromkeys(inputs, "text") | dict.fromkeys(map(guarded, names), "codes")
        start = len(table.header) + len(self.new_codes)
        widths = {}
        for j, name in enumerate(self.header):
            kind = kinds.get(guarded(name), "") if j < start else _kind_of(name)
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
        return Look(widths, choices)

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
        suggested, nexts = suggestions(self.model, block), self._nexts(block)
        chance, theta = doubts(block)
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
            cells += ["yes" if drawn else "no", *([number] if self.numbered else [])]
            own = self._codes(block, i, "" if drawn else suggested[i])
            Y, doubt = block.found.Y[i], float(block.doubt[i])
            # Labelsets with the first code come first.
            order: Key = ((1 - Y).tobytes(), doubt, number)
            key: Key = (0, number) if drawn else (2, number) if block.empty[i] else (1, *order)
            yield key, (*own, *cells)

    def _nexts(self, block: CodedBlock) -> list[list[str]]:
        """The next best labelsets of each row; those of small models are fewer.

        Codes that are likely one by one come first, if that combination was never given.
        """
        found = block.found
        assert found.others is not None
        assert found.P is not None
        likely = found.P > 0.5
        columns = [likely, *found.others.swapaxes(0, 1)]
        cells = zip(*(join_codes(self.model, Y) for Y in columns), strict=True)
        nexts = []
        for i, (first, *others) in enumerate(cells):
            known = likely[i].tobytes() in self.seen or not likely[i].any()
            shown = others if known else [first, *others]
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
        Y = block.found.Y[i].tolist()
        return ["" if ask is not None and ask[j] else mark for j, mark in enumerate(Y)]


def _kind_of(name: str) -> str:
    """Which width an added column has."""
    plain = name.removeprefix(PREFIX).split(" (")[0]
    return {"ok": "mark", "why": "why", "nearest": "nearest", "codes": "codes", "ask": "codes"}.get(
        plain, "next" if plain.startswith("next_") else ""
    )


def latest_column(names: Sequence[str], name: str, others: Iterable[str] = ()) -> int | None:
    """Where an added column stands, the last where a table was coded again: ``name (2)``."""
    pattern = re.compile(rf"{re.escape(name)}(?: \(([0-9]+)\))?")
    known = {guarded(other) for other in others}
    found = [
        (int(match[1] or 1), j)
        for j, text in enumerate(names)
        if guarded(text) not in known and (match := pattern.fullmatch(str(unguard(text))))
    ]
    return max(found)[1] if found else None


def take_decided(
    table: TableReader, block: Block, codes: CodeColumns, found: list[set[str] | None]
) -> tuple[list[set[str] | None], int]:
    """The codes of the rows that somebody has decided, and how many others only show a suggestion.

    A table without the columns of a review has none of these.
    """
    places = [latest_column(table.names, name, codes.names) for name in (OK, SUGGESTED, STATUS)]
    ok, suggested, status = places
    if ok is None or suggested is None or status is None:
        return found, 0
    hint = f"x in {OK} where the suggested codes are right; nothing where nobody has looked"
    known = (AGREED | NO | MISSING, "x, or nothing", hint)
    decided, n_open = list(found), 0
    for i, given in enumerate(found):
        row = block.rows[i]
        agreed = read_mark(table, block.first + i, row, ok, *known) in AGREED
        unseen = not agreed and plain_text(row[status]).strip() != ""
        if given is not None and unseen and _shows(plain_text(row[suggested]), given, codes):
            decided[i] = None
            n_open += 1
    return decided, n_open


def _shows(cell: str, given: set[str], codes: CodeColumns) -> bool:
    """Whether codes are those of a cell that lists a suggestion."""
    if codes.listed:
        return codes.split(cell) == given
    # As names of columns, codes may hold the separator.
    return cell.strip() == codes.join([name for name in codes.names if name in given]).strip()


def open_note(n_open: int) -> str:
    """What becomes of rows that nobody has decided."""
    rows = count_noun(n_open, "row")
    return (
        f"{rows} with the suggestion unchanged and no mark in {OK}: not taken, as nobody may have "
        f"looked at them. Mark those that are right with x; or nldd update --accept-suggestions."
    )


def refuse_decided(path: Path, codes: CodeColumns, options: TableOptions = TableOptions()) -> None:
    """Refuse to replace a review in which people have decided something, or that cannot be read."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with options.open(path) as table:
            decided = any(_is_decided(table, block, codes) for block in table.blocks())
    except InputError as error:
        unknown = "is there already, and what people may have filled in cannot be read"
        hint = "repair or rename it; or another name for the new file"
        raise InputError(f"{path} {unknown}: {error}", hint=hint) from None
    if decided:
        message = f"{path} holds codes that people have filled in; it is not replaced."
        hint = f"nldd update with {path} first, then delete it; or --review with another name"
        raise InputError(message, hint=hint)


def _is_decided(table: TableReader, block: Block, codes: CodeColumns) -> bool:
    if not set(map(guarded, codes.names)) & set(map(guarded, table.names)):
        return False
    if not set(map(guarded, codes.names)) <= set(map(guarded, table.names)):
        return True  # somebody has changed its columns
    found, _ = take_decided(table, block, codes, codes.read(table, block))
    return any(given is not None for given in found)
