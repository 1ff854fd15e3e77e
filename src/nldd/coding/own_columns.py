"""The columns that nldd adds to tables: the one place that knows their names."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count

from nldd.coding.tables.spreadsheet import Spreadsheet, unescape_cell
from nldd.present.text import escape_formula

PREFIX = "nldd_"
# What the model says of an answer.
CODES, STATUS, CHANCE, THETA, NEAREST, WHY, ASK = (
    PREFIX + name for name in ("codes", "status", "chance", "theta", "nearest", "why", "ask")
)
# The accuracy guarantee of a coded table, the same in each row.
GUARANTEE = PREFIX + "guarantee"
# With --explain.
EXPLAINED = tuple(
    PREFIX + name for name in ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")
)
# Of a review sheet: the mark of a suggestion that is right, and other code combinations.
OK = PREFIX + "ok"
NEXT = tuple(f"{PREFIX}next_{rank}" for rank in (1, 2, 3))
# Of a check sample: whether the codes are right, and else which are.
CHECK, RIGHT_CODES = PREFIX + "check", PREFIX + "right_codes"
# Groups of `nldd suggest`, to code from.
DRAFT = PREFIX + "draft_codes"
# Whether an answer belongs to the random check sample.
DRAWN = PREFIX + "drawn"
# Which row of a file of extra features is an answer's, in tables of which rows may be missing.
ROW = PREFIX + "row"
# Of the export of a review.
MACHINE, CODER, TIME, FLAG, NOTE, MODEL, PEOPLE = (
    PREFIX + name for name in ("machine", "coder", "time", "flag", "note", "model", "people")
)

# What the columns hold, for files that have a place for such words.
DESCRIPTIONS = {
    CODES: "Codes by nldd",
    STATUS: "auto: by nldd; review, part: for people; coded: by people before",
    CHANCE: "Chance that all codes are right",
    THETA: "Probability that a code is wrong",
    NEAREST: "The coded answer that is most like it",
    WHY: "Why the answer is for people",
    GUARANTEE: "Accuracy guarantee: target, confidence level and threshold",
}
EXPORT_DESCRIPTIONS = DESCRIPTIONS | {
    CODES: "Codes: of people where they have decided, else of the machine",
    STATUS: "people, auto: coded; review, part, skipped, disagree: open; coded: before",
    MACHINE: "Codes by the machine",
    CODER: "Who has decided",
    TIME: "When that was",
    PEOPLE: "Codes by each of several coders",
}


def latest_column(table: Spreadsheet, name: str, others: Iterable[str] = ()) -> str | None:
    """The name of an added column, the last one if a table was coded again: ``name (2)``."""
    pattern = re.compile(rf"{re.escape(name)}(?: \(([0-9]+)\))?")
    known, found = set(map(escape_formula, others)), dict[int, str]()
    for text in table.names:
        match = pattern.fullmatch(str(unescape_cell(text)))
        if match and escape_formula(text) not in known:
            found[int(match[1] or 1)] = text
    return found[max(found)] if found else None


def unique_column_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names of added columns, numbered if they are `taken`."""
    used, added = set(taken), list[str]()
    for name in names:
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        added.append(next(unique for unique in numbered if unique not in used))
        used.add(added[-1])
    return added


def own_columns(table: Spreadsheet, codes: Sequence[str] = ()) -> dict[str, str]:
    """Columns of the answers themselves, by plain name: neither codes nor added by nldd."""
    names = ((str(unescape_cell(name)), name) for name in table.names)
    return {plain: n for plain, n in names if not plain.startswith(PREFIX) and plain not in codes}
