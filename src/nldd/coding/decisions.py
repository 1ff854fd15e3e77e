"""What people decided in a table, a review sheet, a check sample or a review file.

A model learns from decisions, and they correct the code frequencies of a table that it has coded:
there rows are known again by all columns that are neither codes nor made by nldd.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.coding import columns as own
from nldd.coding.answers import Answers, BoolArray, Coded, Decisions, Entries, FloatArray
from nldd.coding.code_slips import notes_on_codes, other_names_of_numbers
from nldd.coding.codebook import Codebook
from nldd.coding.columns import CodeColumns, Codes, Columns
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel
from nldd.coding.review.store import is_store
from nldd.coding.rows import (
    SAMPLE,
    decided_codes,
    identity_rows,
    looked_at_codes,
    read_answers,
    read_drawn,
    suggested_codes,
)
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# Rows by which a first row that is unlike them is told from an answer.
FEWEST_BELOW = 10


def read_coded(path: Path, columns: Columns, options: TableOptions, **how: Any) -> Coded:
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
) -> Coded:
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
    coder = own.own_columns(table).get(columns.coder)
    coders = [] if coder is None else [cell.strip() for cell in table.texts(coder)]
    # Who is asked to check certain answers was not given a random sample of all.
    random = [] if kind == SAMPLE else read_drawn(table, drawn)
    decisions = Decisions(found, random, coders, [], [], table.path.name, table.sha256, kind, notes)
    return read_answers(table, columns, decisions.decided), decisions


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
    if columns.listed and len(columns.names) > 1 and not known and marks <= own.YES | own.NO:
        message = f"{name}: {named} hold nothing but {quote_first(sorted(marks))}, no codes."
        raise InputError(message, hint="--label-columns instead of --labels, if each is a code")


def keep_coder(answers: Answers, decisions: Decisions, columns: Columns, coder: str) -> Coded:
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


def _notes_on_marks(table: Spreadsheet, columns: Columns) -> Iterator[str]:
    """Columns that look like codes of 0 and 1 and were not in the earlier table."""
    start = commonprefix(columns.codes.names)  # noqa: RUF071 (letters are meant)
    known = {*columns.codes.names, *columns.inputs, *columns.identity}
    new = [name for name in table.names if name.startswith(start) and name not in known]
    if new and start and columns.identity and not columns.codes.listed:
        yield f"{quote_first(new)}: no codes of the model, and left out; to use them, fit anew."


def _notes_on_first_row(
    table: Spreadsheet, columns: Columns, codes: Sequence[Codes | None]
) -> list[str]:
    """A first row that is text where all others have numbers: it may be a second header."""
    rows = [row for row, names in enumerate(codes) if names is not None]
    for name in own.own_columns(table, columns.codes.names).values() if rows[0] == 0 else ():
        texts = table.texts(name)
        first, *below = (texts[row] for row in rows)
        cells = list(filter(None, below))
        if (
            len(cells) >= FEWEST_BELOW
            and own.holds_numbers(cells)
            and not own.holds_numbers([first, "1"])
        ):
            unlike = f"{quote(first)} stands in {quote(name)}, and numbers in all rows below"
            return [f"Row 1 may be a second header: {unlike}. If so, use --skip-rows 1."]
    return []


def refuse_decided(path: Path, columns: CodeColumns, codebook: Codebook = Codebook()) -> None:
    """Refuse to replace a review sheet in which people have decided something."""

    def is_filled(table: Spreadsheet) -> bool:
        if columns.are_in(table):
            return any(codes is not None for codes in looked_at_codes(table, columns, codebook)[0])
        # Somebody may have changed its columns.
        return not own.own_columns(table).keys().isdisjoint(columns.names)

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


@dataclass(frozen=True, eq=False)
class CodedRows(Entries):
    """Answers that a model has coded; all arrays have one entry per answer.

    Attributes
    ----------
    status : ndarray of str
        What became of each: "auto", "review", "part" or "coded".
    machine, people : ndarray of frozenset of str
        Codes of both; None until people have coded the answer.
    doubts : ndarray of shape (n_answers, n_rankings)
        Doubt of the machine by each ranking.
    is_blank : ndarray of bool
        Which answers say nothing.
    drawn, sampled : ndarray of bool
        Which were drawn at random from all, and which from those of their status, by that or by an
        audit.
    """

    status: NDArray[Any]
    machine: NDArray[Any]
    people: NDArray[Any]
    doubts: FloatArray
    is_blank: BoolArray
    drawn: BoolArray
    sampled: BoolArray

    @property
    def known(self) -> BoolArray:
        """Which answers people have coded."""
        return np.array([codes is not None for codes in self.people], dtype=bool)

    def drop_blank(self) -> "CodedRows":
        """Leave out what says nothing, unless people gave it codes."""
        return self[self.known | ~self.is_blank]


def open_decided(
    model: CodingModel, path: Path, options: TableOptions
) -> tuple[Spreadsheet, Decisions]:
    """A table that the model has coded, or that of a review file, and what people decided."""
    if is_store(path):
        from nldd.coding.review.decisions import review_as_table  # only where there is one

        table, found = review_as_table(path, model.columns, options)
        table.notes.extend(found.notes)
    else:
        table, columns = read_table(path, options), model.columns.codes
        codes, kind, _ = decided_codes(table, columns, model.labels, model.codebook, strict=True)
        found = Decisions(codes, kind=kind)
    codes = [given if given is None else _current(model, given) for given in found.codes]
    return table, replace(found, codes=codes)


def _current(model: CodingModel, codes: Iterable[str]) -> Codes:
    """Codes as they count today; a letter and its accent are one character."""
    return frozenset(model.codebook.translate(normalize("NFC", name) for name in codes))


def read_rows(model: CodingModel, table: Spreadsheet, decisions: Decisions) -> CodedRows:
    """The answers of a table that ``nldd predict`` wrote, with the codes that people have given."""
    columns = model.columns
    if own.latest_column(table, own.MACHINE) is not None:
        hint = "give the review itself, such as new.review.db, or what nldd predict wrote"
        message = "there, codes of people stand in the place of the machine's"
        raise InputError(f"{table.path.name} is an export of a review; {message}.", hint=hint)
    names = (own.STATUS, own.CODES, *(own.PREFIX + ranking for ranking in RANKINGS))
    stated, _, *doubts = (predicted_texts(table, name) for name in names)
    status = [text.strip().lower() for text in stated]
    machine = [_current(model, c) for c in suggested_codes(table, columns.codes, model.labels)]
    each = zip(decisions.codes, machine, status, strict=True)
    people = [old if new is None and said == own.BY_PEOPLE else new for new, old, said in each]
    texts = [table.texts(own.find_column(table, name, columns.inputs)) for name in columns.text]
    answers = Answers(list(map("\n".join, zip(*texts, strict=True))) or [""] * len(table))
    # That of an empty cell is as large as can be.
    numbers = pd.DataFrame(dict(zip(RANKINGS, doubts, strict=True)), dtype=object)
    numbers = numbers.replace(",", ".", regex=True).apply(pd.to_numeric, errors="coerce")
    doubt = numbers.assign(chance=1 - numbers["chance"]).fillna(np.inf).to_numpy(dtype=float)
    drawn = np.array(read_drawn(table), dtype=bool)
    said = [np.array(values, dtype=object) for values in (status, machine, people)]
    return CodedRows(said[0], said[1], said[2], doubt, model.is_blank(answers), drawn, drawn.copy())


def predicted_texts(table: Spreadsheet, name: str) -> list[str]:
    """The cells of a column that ``nldd predict`` wrote; refused if there is none."""
    column = own.latest_column(table, name)
    if column is None:
        hint = "nldd predict model.nldd answers.csv -o coded.csv, then name coded.csv"
        lacks = f"{table.path.name} has no column {name!r}"
        raise InputError(f"{lacks}, so nldd predict did not write it.", hint=hint)
    return table.texts(column)


def add_decided(
    model: CodingModel, rows: CodedRows, coded: Spreadsheet, of: Spreadsheet, decisions: Decisions
) -> list[str]:
    """Give `rows` of a coded table what people decided in another; what to note is returned."""
    here = coded.path.name
    mine, there = (own.own_columns(t, model.columns.codes.names) for t in (coded, of))
    names = [name for name in mine if name in there]
    if not names:
        hint = f"give a review or a sample that comes from {here}"
        raise InputError(f"{of.path.name} has no column of {here}.", hint=hint)
    waiting = _waiting(rows, identity_rows(coded, names))
    is_sample, n_found = decisions.kind == SAMPLE, 0
    each = zip(identity_rows(of, names), read_drawn(of), decisions.codes, strict=True)
    for i, (identity, drawn, codes) in enumerate(each, 1):
        if codes is None and not is_sample:
            continue
        # Of equal answers, one that was drawn as this one was.
        alike = waiting[identity, drawn] or waiting[identity, not drawn]
        if not alike:
            hint = f"give tables that come from {here}, with its columns as they were"
            raise InputError(f"{of.path.name}, row {i}: {here} has no such answer.", hint=hint)
        place = alike.pop()
        rows.drawn[place] |= drawn
        rows.sampled[place] |= drawn or is_sample
        if codes is not None:
            rows.people[place] = codes
            n_found += 1
    return [] if n_found else [f"{of.path.name}: nobody has coded or checked a row of it yet."]


def _waiting(
    rows: CodedRows, identities: Sequence[tuple[str, ...]]
) -> defaultdict[tuple[tuple[str, ...], bool], list[int]]:
    """Places of rows by their identity and whether they were drawn; the one to take comes last."""
    found = defaultdict[tuple[tuple[str, ...], bool], list[int]](list)
    # What had codes before is in no review and in no sample.
    for place in sorted(range(len(rows)), key=lambda i: (rows.status[i] != own.BY_PEOPLE, -i)):
        found[identities[place], bool(rows.drawn[place])].append(place)
    return found
