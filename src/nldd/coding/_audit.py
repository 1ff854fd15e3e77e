"""A random sample of automatic codes to check by hand, and what the checked sample proves."""

import random
import re
from dataclasses import dataclass
from pathlib import Path

from nldd._wording import quote
from nldd.coding._coded_output import AUTO
from nldd.coding._columns import PREFIX
from nldd.coding._filled_in import filled_in
from nldd.coding._interval import accuracy_interval
from nldd.coding._places import check_places
from nldd.exceptions import InputError
from nldd.tables import Cell, TableOptions, TableReader, cell_text, create_table

STATUS = f"{PREFIX}status"
_STATUSES = re.compile(rf"{STATUS}( \([0-9]+\))?")
CHECK = f"{PREFIX}check"
RIGHT = frozenset({"1", "yes", "y", "true", "t", "right", "ok", "correct", "ja", "oui", "si"})
WRONG = frozenset({"0", "no", "n", "false", "f", "wrong", "incorrect", "nein", "non"})


@dataclass(frozen=True)
class Sample:
    """A sample that was drawn.

    Attributes
    ----------
    n_rows, n_auto, n_sample : int
        Rows of the coded table, automatic codes among them, and codes that were drawn.
    """

    n_rows: int
    n_auto: int
    n_sample: int


@dataclass(frozen=True)
class Audit:
    """What a checked sample says about the automatic codes.

    Attributes
    ----------
    n_checked, n_right, n_open : int
        Rows that were checked, found right, and not looked at yet.
    accuracy, low, high : float
        Share that was right, with an exact 95 % interval.
    """

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
    _check_sample(size, out, options)
    rng = random.Random(random_state)
    kept: list[tuple[int, tuple[Cell, ...]]] = []
    n_rows = n_auto = 0
    with options.open(path) as table:
        status = _status_column(table)
        for block in table.blocks():
            for row in block.rows:
                n_rows += 1
                if cell_text(row[status]).strip().lower() != AUTO:
                    continue
                n_auto += 1
                if len(kept) < size:
                    kept.append((n_rows, row))
                elif (place := int(rng.random() * n_auto)) < size:
                    kept[place] = (n_rows, row)
        header, like = table.header, table.format
    if not n_auto:
        raise InputError(
            f"{path.name}: none of the {n_rows} rows has the status {AUTO!r}, so there are no "
            "automatic codes to check.",
            hint="nldd predict with a lower --target-accuracy, or --max-theta",
        )
    with create_table(out, (*header, CHECK), like=like, raw=raw) as writer:
        writer.write((*row, "") for _, row in sorted(kept, key=lambda numbered: numbered[0]))
    return Sample(n_rows, n_auto, len(kept))


def _check_sample(size: int, out: Path | str, options: TableOptions) -> None:
    if size < 1:
        raise InputError(f"The sample must have at least one row; got {size}.", hint="--sample 200")
    if str(out) != "-" and filled_in(Path(out), (CHECK,), options):
        raise InputError(
            f"{out} holds a sample that people have begun to check; it is not replaced.",
            hint=f"nldd audit {out}, or -o with another name",
        )


def _status_column(table: TableReader) -> int:
    """The status of the latest coding: a table that is coded again has a second one behind."""
    found = [j for j, name in enumerate(table.names) if _STATUSES.fullmatch(name)]
    if not found:
        raise InputError(
            f"{table.path.name} has no column {STATUS!r}, so it was not written by nldd predict.",
            hint="nldd predict model.nldd answers.csv -o coded.csv, then nldd audit coded.csv",
        )
    return found[-1]


def is_checked(path: Path, options: TableOptions = TableOptions()) -> bool:
    """Whether a table has the column in which a sample is checked."""
    with options.open(path) as table:
        return CHECK in table.names


def read_audit(path: Path, options: TableOptions = TableOptions()) -> Audit:
    """What a sample proves whose rows people have marked as right or wrong."""
    marks: list[float] = []
    n_open = 0
    with options.open(path) as table:
        place = table.column(CHECK)
        for block in table.blocks():
            for number, row in enumerate(block.rows, block.first):
                mark = cell_text(row[place]).strip().lower()
                if not mark:
                    n_open += 1
                elif mark in RIGHT or mark in WRONG:
                    marks.append(float(mark in RIGHT))
                else:
                    raise InputError(
                        f"{table.where(number, place)}: expected yes or no, got {quote(mark)}.",
                        hint="yes where all codes of the row are right, no where one is wrong",
                    )
    if not marks:
        raise InputError(
            f"{path.name}: no row of the column {CHECK!r} is filled in yet.",
            hint="yes or no in each row, then the same command again",
        )
    low, high = accuracy_interval(marks)
    return Audit(len(marks), int(sum(marks)), n_open, sum(marks) / len(marks), low, high)
