"""What people have decided in a table, and what only shows a suggestion that nobody looked at.

A suggestion that nobody has looked at must not come back as a decision. So an answer of a review
counts as decided if its codes are others than the suggested ones, or if it is marked in
``nldd_ok``; one that came without a suggestion, if it has codes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nldd.coding.answers import (
    MISSING,
    NO,
    PREFIX,
    YES,
    CodeColumns,
    plain_text,
    read_mark,
    unescape_cell,
)
from nldd.coding.codebook import Codebook
from nldd.coding.tables.cells import TableBlock
from nldd.coding.tables.opening import open_table
from nldd.coding.tables.reader import TableReader
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula
from nldd.present.text import count_noun

SUGGESTED, STATUS, OK = (f"{PREFIX}{name}" for name in ("codes", "status", "ok"))
# Which only a review has.
NEXT = f"{PREFIX}next_1"
# What people write beside a suggestion that is right.
AGREED = YES | {"ok", "okay", "right", "correct", "+", "\u2713", "\u2714"}


def latest_column(names: Sequence[str], name: str, others: Iterable[str] = ()) -> int | None:
    """Where an added column stands, the last where a table was coded again: ``name (2)``."""
    pattern = re.compile(rf"{re.escape(name)}(?: \(([0-9]+)\))?")
    known = {escape_formula(other) for other in others}
    found = [
        (int(match[1] or 1), j)
        for j, text in enumerate(names)
        if escape_formula(text) not in known
        and (match := pattern.fullmatch(str(unescape_cell(text))))
    ]
    return max(found)[1] if found else None


@dataclass(frozen=True)
class DecidedCodes:
    """The codes of the rows of a block that somebody has decided, None for all others.

    Of these `n_open` only show a suggestion; of `n_bare` somebody has taken the suggestion away, or
    marked the row, and left no code.
    """

    codes: list[set[str] | None]
    n_open: int = 0
    n_bare: int = 0


def read_decisions(
    table: TableReader, block: TableBlock, codes: CodeColumns, codebook: Codebook = Codebook()
) -> DecidedCodes:
    """What people have decided; in a table without the columns of a review, all codes are that."""
    found = codes.read(table, block)
    places = [latest_column(table.names, name, codes.names) for name in (OK, SUGGESTED, STATUS)]
    ok, suggested, status = places
    if latest_column(table.names, NEXT, codes.names) is None and ok is None:
        return DecidedCodes(found)
    if ok is None or suggested is None or status is None:
        lost = next(n for n, j in zip((OK, SUGGESTED, STATUS), places, strict=True) if j is None)
        message = f"{table.path.name} is a review without its column {lost!r}, so that suggestions"
        hint = "give it with all its columns; or --accept-suggestions, if all rows were looked at"
        raise InputError(f"{message} cannot be told from decisions.", hint=hint)
    hint = f"x in {OK} where the suggested codes are right; nothing where nobody has looked"
    known = (AGREED | NO | MISSING, "x, or nothing", hint)
    decided, n_open, n_bare = list(found), 0, 0
    for i, given in enumerate(found):
        row = block.rows[i]
        agreed = read_mark(table, block.first + i, row, ok, *known) in AGREED
        shown = plain_text(row[suggested]).strip()
        unseen = not agreed and plain_text(row[status]).strip() != ""
        if given is None:
            n_bare += agreed or shown != ""
        elif unseen and _shows(shown, given, codes, codebook):
            decided[i] = None
            n_open += 1
    return DecidedCodes(decided, n_open, n_bare)


def _shows(cell: str, given: set[str], codes: CodeColumns, codebook: Codebook) -> bool:
    """Whether codes are those of a cell that lists a suggestion."""
    if codes.listed:
        return codes.split(cell) == given
    # As names of columns, codes may hold the separator; the codebook may have renamed them since.
    own = codes.join([name for name in codes.names if name in given]).strip()
    return cell.strip() == own or codebook.translate(cell.split(";")) == codebook.translate(given)


def open_notes(n_open: int, n_bare: int) -> list[str]:
    """What becomes of rows that nobody has decided, or without codes."""
    notes = []
    if n_open:
        notes.append(
            f"{count_noun(n_open, 'row')} with the suggestion unchanged and no mark in {OK}: not "
            "taken, as nobody may have looked at them. Mark those that are right with x; or nldd "
            "update --accept-suggestions."
        )
    if n_bare:
        notes.append(
            f"{count_noun(n_bare, 'row')} where somebody looked and left no code: not taken. If no "
            'code applies, write a mark such as - there, and --no-code "-".'
        )
    return notes


def refuse_decided(path: Path, codes: CodeColumns, codebook: Codebook = Codebook()) -> None:
    """Refuse to replace a review in which people have decided something, or that cannot be read."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with open_table(path) as table:
            decided = any(_is_decided(table, block, codes, codebook) for block in table.blocks())
    except InputError as error:
        unknown = "is there already, and what people may have filled in cannot be read"
        hint = "repair or rename it; or another name for the new file"
        raise InputError(f"{path} {unknown}: {error}", hint=hint) from None
    if decided:
        message = f"{path} holds codes that people have filled in; it is not replaced."
        hint = f"nldd update with {path} first, then delete it; or --review with another name"
        raise InputError(message, hint=hint)


def _is_decided(
    table: TableReader, block: TableBlock, codes: CodeColumns, codebook: Codebook
) -> bool:
    if not set(map(escape_formula, codes.names)) & set(map(escape_formula, table.names)):
        return False
    if not set(map(escape_formula, codes.names)) <= set(map(escape_formula, table.names)):
        return True  # somebody has changed its columns
    found = read_decisions(table, block, codes, codebook).codes
    return any(given is not None for given in found)
