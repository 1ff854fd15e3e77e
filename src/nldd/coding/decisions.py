"""What people decided in a table, a review sheet, a check sample or a review file.

A suggestion that nobody has looked at must not come back as a decision. So an answer of a review
sheet counts as decided if its codes are others than the suggested ones, or if it is marked in the
column for that; one that came without a suggestion, if it has codes. An answer of a check sample is
decided once somebody has checked it: by the suggested codes if these are right, or by the given.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np

from nldd._wording import quote, quote_first
from nldd.coding import own_columns as own
from nldd.coding.answers import Answers, Decisions
from nldd.coding.code_slips import DASHES, notes_on_codes, other_names_of_numbers
from nldd.coding.codebook import Codebook
from nldd.coding.columns import (
    MISSING,
    NO,
    YES,
    CodeColumns,
    Codes,
    Columns,
    holds_numbers,
    read_answers,
    read_marks,
)
from nldd.coding.own_columns import latest_column, own_columns
from nldd.coding.review.store import is_store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# What people write beside a suggestion that is right.
RIGHT = YES | {"ok", "okay", "right", "correct", "r", "richtig", "vrai", "+", "\u2713", "\u2714"}
WRONG = NO | {"wrong", "incorrect", "w", "falsch", "faux", "-", "\u2212", "\u2013", "\u2717"}
CHECKS = {"": None, **dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}
CHECKS_HINT = (
    "yes where all codes of the row are right, no where one is wrong or missing (also y/n, j/n, "
    "ja/nein, oui/non, si/no, 1/0, +/-; x is right)"
)
# Rows by which a first row that is unlike them is told from an answer.
FEWEST_BELOW = 10
SHEET, SAMPLE = "review sheet", "check sample"


def read_coded(
    path: Path, columns: Columns, options: TableOptions, **how: Any
) -> tuple[Answers, Decisions]:
    """Read answers and decisions from a table, or from the file of a review; see `read_sheet`."""
    if is_store(path):
        from nldd.coding.review.decisions import read_review

        return read_review(path, columns, options, how.get("known", ()))
    return read_sheet(read_table(path, options), columns, **how)


def read_sheet(
    table: Spreadsheet,
    columns: Columns,
    *,
    known: Collection[str] = (),
    accept: bool = False,
    codebook: Codebook = Codebook(),
    drawn: bool = False,
) -> tuple[Answers, Decisions]:
    """The answers of a table in memory, and what people decided on them.

    Numbers are the `known` codes that they are equal to. Rows of a review sheet that only show its
    suggestion count as decided if one may `accept` these unseen. The `codebook` knows what a
    suggestion in columns of marks is called today. Rows that do not say if they were drawn at
    random are taken to be as `drawn` says.
    """
    codes, kind, undecided = decided_codes(table, columns.codes, sorted(known), codebook, accept)
    # A letter and its accent are one character, so that equal looks are equal.
    found = [names and frozenset(normalize("NFC", name) for name in names) for names in codes]
    given = [names for names in found if names is not None]
    if undecided and not given:
        raise InputError(f"{table.path.name}: {' '.join(undecided)}", hint=f"x in {own.OK}")
    if kind == SAMPLE and codes and not given:
        message = f"{table.path.name}: nobody has checked a row in the column {own.CHECK!r} yet."
        hint = f"yes where all codes are right; else no, and the right ones in {own.RIGHT_CODES}"
        raise InputError(message, hint=hint)
    _check_found(table, columns.codes, given, known)
    notes = [*table.notes, *_notes_on_marks(table, columns), *undecided]
    notes += _notes_on_first_row(table, columns, found)
    if columns.codes.listed:
        other = other_names_of_numbers(sorted(frozenset().union(*given)), known)
        if other:
            named = f"{quote_first(other)} taken as {quote_first(other.values())}"
            notes.append(f"Numbers as codes: {named}.")
        found = [names and frozenset(other.get(name, name) for name in names) for names in found]
        given = [names for names in found if names is not None]
        cells = columns.codes.cells(table) if columns.codes.are_in(table) else []
        written = list(filter(None, chain.from_iterable(cells)))
        notes += notes_on_codes(written, given, columns.codes, known)
    coder = own_columns(table).get(columns.coder)
    coders = [] if coder is None else [cell.strip() for cell in table.texts(coder)]
    # Who is asked to check certain answers was not given a random sample of all.
    random = [] if kind == SAMPLE else read_drawn(table, drawn)
    about = (table.path.name, table.sha256, kind, notes)
    decisions = Decisions(found, random, coders, [], [], *about)
    return read_answers(table, columns, decisions.decided), decisions


def decided_codes(
    table: Spreadsheet,
    codes: CodeColumns,
    labels: Sequence[str],
    codebook: Codebook = Codebook(),
    accept: bool = False,
    strict: bool = False,
) -> tuple[list[Codes | None], str, list[str]]:
    """The codes of each row that somebody has decided, what the table is, and what is open.

    If `strict`, who says that codes of a check sample are wrong must say which are right.
    """
    is_sample = latest_column(table, own.CHECK) is not None
    kind = SAMPLE if is_sample else SHEET if latest_column(table, own.OK) else "table"
    found, notes = list[Codes | None]([None] * len(table)), list[str]()
    # In a sample, codes may stand in its own column for them instead.
    if codes.are_in(table) or not (is_sample or strict):
        found, notes = (
            (codes.read(table), notes) if accept else looked_at_codes(table, codes, codebook)
        )
    if is_sample:
        suggested = suggested_codes(table, codes, labels)
        found = _checked_codes(table, codes, suggested, found, codebook, strict)
    return found, kind, notes


def looked_at_codes(
    table: Spreadsheet, codes: CodeColumns, codebook: Codebook = Codebook()
) -> tuple[list[Codes | None], list[str]]:
    """The codes that somebody gave or agreed to, and what to note about the others.

    In a table without the columns of a review sheet, all codes are that.
    """
    found = codes.read(table)
    names = (own.OK, own.CODES, own.STATUS)
    there = {name: latest_column(table, name, codes.names) for name in names}
    if latest_column(table, own.NEXT[0], codes.names) is None and there[own.OK] is None:
        return found, []
    if lost := [name for name, column in there.items() if column is None]:
        message = f"{table.path.name} is a review without its column {lost[0]!r}, so that"
        hint = "give it with all its columns; or --accept-suggestions, if all rows were looked at"
        raise InputError(f"{message} suggestions cannot be told from decisions.", hint=hint)
    ok, *shown = (column or "" for column in there.values())
    hint = f"x in {own.OK} where the suggested codes are right; nothing where nobody has looked"
    marks = read_marks(table, ok, RIGHT | NO | MISSING, "x, or nothing", hint)
    n_open = n_bare = 0
    cells = (map(str.strip, table.texts(name)) for name in shown)
    for i, (mark, suggested, status) in enumerate(zip(marks, *cells, strict=True)):
        agreed, given = mark in RIGHT, found[i]
        if given is None:
            n_bare += agreed or suggested != ""
        elif not agreed and status != "" and _shows(suggested, given, codes, codebook):
            found[i] = None
            n_open += 1
    notes = []
    if n_open:
        notes.append(
            f"{count_noun(n_open, 'row')} with the suggestion unchanged and no mark in {own.OK}: "
            "not taken, as nobody may have looked at them. Mark those that are right with x; or "
            "nldd update --accept-suggestions."
        )
    if n_bare:
        notes.append(
            f"{count_noun(n_bare, 'row')} where somebody looked and left no code: not taken. If no "
            'code applies, write a mark such as - there, and --no-code "-".'
        )
    return found, notes


def _shows(cell: str, given: Codes, codes: CodeColumns, codebook: Codebook) -> bool:
    """True if codes are those of a cell that lists a suggestion."""
    if codes.listed:
        return codes.split(cell) == given
    # As names of columns, codes may hold the separator; the codebook may have renamed them since.
    names = codes.join([name for name in codes.names if name in given]).strip()
    return cell == names or codebook.translate(cell.split(";")) == codebook.translate(given)


def _checked_codes(
    table: Spreadsheet,
    columns: CodeColumns,
    suggested: Sequence[Codes],
    given: Sequence[Codes | None],
    codebook: Codebook,
    strict: bool,
) -> list[Codes | None]:
    """The right codes of the rows of a check sample; None where they are not known.

    They are the suggested ones, or `given` in the table's own columns, or in the one for them.
    """
    check, right = latest_column(table, own.CHECK) or "", latest_column(table, own.RIGHT_CODES)
    marks = read_marks(table, check, CHECKS, "yes or no", CHECKS_HINT)
    cells = [""] * len(marks) if right is None else [cell.strip() for cell in table.texts(right)]
    found, current = list[Codes | None](), codebook.translate
    each = zip(map(CHECKS.get, marks), cells, given, suggested, strict=True)
    for row, (is_right, cell, names, shown) in enumerate(each, 1):
        if names is None and right is not None:
            names = frozenset() if cell in DASHES else _listed_codes(columns, cell)
        if is_right and names is not None and current(names) != current(shown):
            message = f"{table.where(row, check)}: says yes, but other codes are given as the right"
            hint = "no, if one of the machine's codes is wrong or missing; else clear the others"
            raise InputError(f"{message} ones.", hint=hint)
        if strict and is_right is False and names is None:
            message = f"{table.where(row, check)}: says no, but not which codes are right."
            hint = f"write them into the column {quote(right or columns.names[0])}"
            raise InputError(message, hint=hint + "; - if none applies" * bool(right))
        found.append(shown if is_right else names)
    return found


def suggested_codes(table: Spreadsheet, columns: CodeColumns, labels: Sequence[str]) -> list[Codes]:
    """The codes that ``nldd predict`` gave to the rows of a table.

    Names of columns may hold the separator: where codes are columns, their marks are read.
    """
    names = () if columns.listed else (*columns.names, *labels)
    marks = {name: column for name in names if (column := latest_column(table, own.PREFIX + name))}
    if set(labels) <= marks.keys():  # else it was coded before codes were merged or renamed
        marks = {name: marks[name] for name in labels or marks}
    if marks:
        cells = (map(str.strip, table.texts(column)) for column in marks.values())
        rows = (zip(marks, row, strict=True) for row in zip(*cells, strict=True))
        return [frozenset(name for name, cell in row if cell in YES) for row in rows]
    column = latest_column(table, own.CODES) or table.find(own.CODES)
    return [_listed_codes(columns, cell) or frozenset() for cell in table.texts(column)]


def _listed_codes(columns: CodeColumns, cell: str) -> Codes | None:
    """Codes of a cell that lists them as ``nldd predict`` does; None if it is empty."""
    return (columns if columns.listed else replace(columns, separator=";")).split(cell)


def read_drawn(table: Spreadsheet, silent: bool = False) -> list[bool]:
    """Which rows belong to the random check sample, as they say; or as `silent` ones are."""
    if (column := latest_column(table, own.DRAWN)) is None:
        return [silent] * len(table)
    hint = f"leave {own.DRAWN} as nldd predict wrote it"
    marks = read_marks(table, column, YES | NO | MISSING, "yes or no", hint)
    return [mark in YES or (mark in MISSING and silent) for mark in marks]


def _check_found(
    table: Spreadsheet, columns: CodeColumns, codes: Sequence[Codes], known: Collection[str]
) -> None:
    """Refuse a table without rows or codes, and marks of yes and no that are taken for codes."""
    name, named = table.path.name, quote_first(columns.names)
    if not len(table):
        hint = "put the answers below the header, one a row; or use another file"
        raise InputError(f"{name} has no rows below its header.", hint=hint)
    if not codes:
        hint = "code some answers there first; or name another column of codes, or another file"
        raise InputError(f"{name}: none of the {len(table)} rows has codes in {named}.", hint=hint)
    marks = {code.lower() for names in codes for code in names}
    if columns.listed and len(columns.names) > 1 and not known and marks <= YES | NO:
        message = f"{name}: {named} hold nothing but {quote_first(sorted(marks))}, no codes."
        raise InputError(message, hint="--label-columns instead of --labels, if each is a code")


def keep_coder(
    answers: Answers, decisions: Decisions, columns: Columns, coder: str
) -> tuple[Answers, Decisions]:
    """Answers and decisions of one coder alone."""
    places = np.flatnonzero([name == coder for name in decisions.coders])
    if not len(places):
        names = sorted({decisions.coders[i] for i in decisions.decided} - {""})
        there = "no column is known to say who coded a row"
        if names:
            there = f"{quote(columns.coder)} names {quote_first(names)}"
        message = f"{decisions.source} has no row coded by {quote(coder)}; {there}."
        raise InputError(message, hint="--coder with one of the names; or --coder-column")
    kept = decisions[places]
    n_out = len(decisions.decided) - len(kept.decided)
    out = f"{count_noun(n_out, 'coded answer')}: of other coders than {quote(coder)}; left out."
    return answers[places], replace(kept, notes=[*kept.notes, *[out] * bool(n_out)])


def _notes_on_marks(table: Spreadsheet, columns: Columns) -> list[str]:
    """Columns that look like codes of 0 and 1 and were not in the earlier table."""
    start = commonprefix(columns.codes.names)  # noqa: RUF071 (letters are meant)
    if columns.codes.listed or not columns.identity or not start:
        return []
    known = {*columns.codes.names, *columns.inputs, *columns.identity}
    new = [name for name in table.names if name.startswith(start) and name not in known]
    note = f"{quote_first(new)}: no codes of the model, and left out; to use them, fit anew."
    return [note] if new else []


def _notes_on_first_row(
    table: Spreadsheet, columns: Columns, codes: Sequence[Codes | None]
) -> list[str]:
    """A first row that is text where all others have numbers: it may be a second header."""
    rows = [row for row, names in enumerate(codes) if names is not None]
    for name in own_columns(table, columns.codes.names).values() if rows[0] == 0 else ():
        texts = table.texts(name)
        first, *below = (texts[row] for row in rows)
        cells = list(filter(None, below))
        if len(cells) >= FEWEST_BELOW and holds_numbers(cells) and not holds_numbers([first, "1"]):
            unlike = f"{quote(first)} stands in {quote(name)}, and numbers in all rows below"
            return [f"Row 1 may be a second header: {unlike}. If so, use --skip-rows 1."]
    return []


def refuse_decided(path: Path, columns: CodeColumns, codebook: Codebook = Codebook()) -> None:
    """Refuse to replace a review sheet in which people have decided something."""

    def is_filled(table: Spreadsheet) -> bool:
        if columns.are_in(table):
            return any(codes is not None for codes in looked_at_codes(table, columns, codebook)[0])
        # Somebody may have changed its columns.
        return not own_columns(table).keys().isdisjoint(columns.names)

    hint = f"nldd update with {path} first, then delete it; or --review with another name"
    _refuse_filled(path, TableOptions(), is_filled, hint)


def refuse_checked(path: Path, options: TableOptions) -> None:
    """Refuse to replace a check sample that people have begun to check."""

    def is_filled(table: Spreadsheet) -> bool:
        columns = [name for name in (own.CHECK, own.RIGHT_CODES) if name in table.names]
        return any(text.strip() for name in columns for text in table.texts(name))

    _refuse_filled(path, options, is_filled, f"nldd audit {path}, or -o with another name")


def _refuse_filled(
    path: Path, options: TableOptions, is_filled: Callable[[Spreadsheet], bool], hint: str
) -> None:
    """Refuse to replace a table that holds something of people, or that cannot be read."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        has_work = is_filled(read_table(path, options))
    except InputError as error:
        unknown = "is there already, and what people may have filled in cannot be read"
        again = "repair or rename it; or another name for the new file"
        raise InputError(f"{path} {unknown}: {error}", hint=again) from None
    if has_work:
        raise InputError(f"{path} holds what people filled in; it is not replaced.", hint=hint)
