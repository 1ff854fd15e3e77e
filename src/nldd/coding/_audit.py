"""A random sample of automatic codes to check by hand, and what the checked sample proves."""

import random
import re
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from nldd._wording import quote
from nldd.coding._answers import PREFIX
from nldd.coding._output import AUTO, check_places, is_filled_in
from nldd.coding._selective import accuracy_interval
from nldd.exceptions import InputError
from nldd.tables import Cell, TableOptions, TableReader, cell_text, create_table

STATUS = f"{PREFIX}status"
CHECK = f"{PREFIX}check"
RIGHT = ("1", "yes", "y", "true", "t", "right", "ok", "correct", "ja", "oui", "si")
WRONG = ("0", "no", "n", "false", "f", "wrong", "incorrect", "nein", "non")
MARKS = {"": None, **dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}


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
    drawn: list[tuple[int, tuple[Cell, ...]]] = []
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
        header, like = table.header, table.format
    if not n_auto:
        none = f"{path.name}: none of the {n_rows} rows has the status {AUTO!r}"
        hint = "nldd predict with a lower --target-accuracy, or --max-theta"
        raise InputError(f"{none}, so there are no automatic codes to check.", hint=hint)
    with create_table(out, (*header, CHECK), like=like, raw=raw) as writer:
        writer.write((*row, "") for _, row in sorted(drawn, key=itemgetter(0)))
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
        place = table.column(CHECK)
        marks = [
            _read_mark(table, number, place, row[place])
            for block in table.blocks()
            for number, row in enumerate(block.rows, block.first)
        ]
    checked = [mark for mark in marks if mark is not None]
    n, n_right = len(checked), sum(checked)
    if not n:
        message = f"{path.name}: no row of the column {CHECK!r} is filled in yet."
        hint = "write yes or no into each row, then run the same command again"
        raise InputError(message, hint=hint)
    return Audit(n, n_right, len(marks) - n, n_right / n, *accuracy_interval(checked))


def _read_mark(table: TableReader, number: int, place: int, cell: Cell) -> bool | None:
    mark = cell_text(cell).strip().lower()
    if mark not in MARKS:
        message = f"{table.where(number, place)}: expected yes or no, got {quote(mark)}."
        hint = "yes where all codes of the row are right, no where one is wrong"
        raise InputError(message, hint=hint)
    return MARKS[mark]
