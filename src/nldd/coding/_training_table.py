"""The table that a model learns from: its columns, its coded rows, and what looks like a slip."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from operator import itemgetter
from os.path import commonprefix
from pathlib import Path
from unicodedata import normalize

import numpy as np

from nldd._wording import count_noun, quote, quote_first
from nldd.coding._answers import (
    DRAWN,
    MISSING,
    NO,
    PREFIX,
    YES,
    Answers,
    CodeColumns,
    Columns,
    plain_text,
    read_mark,
    unguard,
)
from nldd.coding._review import OK, latest_column, open_note, take_decided
from nldd.exceptions import InputError
from nldd.tables import Block, Cell, TableOptions, TableReader, cell_number

# Share of the rows that a column must tell apart to be taken for an id.
DISTINCT = 0.95
# What people write into a cell to say that no code applies.
DASHES = frozenset({"-", "--", "–", "—", "/"})  # noqa: RUF001 (other dashes are meant)
# A list that holds these within one cell may have them as its separator.
OTHER_SEPARATORS = (",", ";", "|", "/")
MOST_NOTES = 5
CLOSE = 0.8


@dataclass(frozen=True)
class Request:
    """Columns as a person names them; categorical ones are so even if they hold numbers."""

    text: tuple[str, ...] = ()
    labels: str = ""
    label_columns: str = ""
    separator: str = ";"
    none: str = ""
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()


def find_columns(path: Path, request: Request, options: TableOptions) -> Columns:
    """What the columns of a table mean: the named ones, with features told apart by their cells."""
    with options.open(path) as table:
        if bool(request.labels) == bool(request.label_columns):
            message = "Name either the column that lists the codes or the columns of 0 and 1."
            there = f"{path.name} has the columns {', '.join(map(repr, table.names[:12]))}"
            raise InputError(message, hint=f"--labels NAME or --label-columns PATTERN; {there}")
        codes = CodeColumns((request.labels,), request.separator, request.none)
        if request.label_columns:
            codes = CodeColumns(match_columns(request.label_columns, table.names), separator="")
        text, features, categorical = (
            _split_names(given, table.names)
            for given in (request.text, request.features, request.categorical)
        )
        for name in (*text, *features, *categorical, *codes.names):
            table.column(name)  # says so if there is none
        features = tuple(name for name in features if name not in categorical)
        cells = {name: set[Cell]() for name in features}
        for block in table.blocks() if cells else ():
            for name, values in cells.items():
                values.update(map(itemgetter(table.column(name)), block.rows))
    numeric = tuple(name for name in features if holds_numbers(cells[name], table.format.decimal))
    words = (name for name in features if name not in numeric)
    n_extra = 0 if table.numbers is None else table.numbers.n_columns
    return Columns(text, codes, numeric, (*words, *categorical), n_extra)


def holds_numbers(cells: Iterable[Cell], decimal: str | None = None) -> bool:
    """Whether all cells that are not empty are numbers, and some are."""
    try:
        numbers = [cell_number(unguard(cell), decimal=decimal) for cell in cells]
    except ValueError:
        return False
    return any(number is not None for number in numbers)


def match_columns(pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns whose names match a pattern such as ``q1_*``, or are listed with commas."""
    # Survey programs put brackets into names, which a pattern would read in its own way.
    parts = [part.strip().replace("[", "[[]") for part in pattern.split(",") if part.strip()]
    found = tuple(name for name in names if any(fnmatchcase(name, part) for part in parts))
    if not found:
        few = ", ".join(map(quote, names[:12])) + ", ..." * (len(names) > 12)
        hint = "--label-columns with a pattern such as 'q1_*', or names with commas"
        raise InputError(f"No column matches {pattern!r}; the columns are {few}.", hint=hint)
    return found


def _split_names(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Column names that were given one by one or with commas between; names may hold commas."""
    parts = (name for text in given for name in ([text] if text in names else text.split(",")))
    return tuple(name if name in names else name.strip() for name in parts if name.strip())


@dataclass(frozen=True, eq=False)
class CodedAnswers:
    """The rows of a table that somebody has coded, by their numbers in it, from 1.

    By `identities`, digests of the `identity_columns`, answers are known again; `tell_apart` says
    whether equal ones are one answer. `n_known` rows were left out: they are there already. Which
    were `drawn` at random, a column of the table may say.
    """

    answers: Answers
    codes: list[set[str]]
    rows: list[int]
    n_rows: int
    notes: list[str]
    identities: list[str] = field(default_factory=list)
    identity_columns: tuple[str, ...] = ()
    tell_apart: bool = False
    n_known: int = 0
    drawn: list[bool] = field(default_factory=list)

    @property
    def n_set_aside(self) -> int:
        """Rows without codes."""
        return self.n_rows - len(self.codes) - self.n_known

    def once(self) -> "CodedAnswers":
        """Each answer once; only where rows of the same identity are one answer."""
        if not self.tell_apart:
            return self
        first = {name: i for i, name in reversed(list(enumerate(self.identities)))}
        return self.take(sorted(first.values()), "in the table twice, and count once")

    def take(self, places: Sequence[int], why: str) -> "CodedAnswers":
        """Some of the answers; a note says how many others there are, and why they are left out."""
        n_out = len(self.codes) - len(places)
        if not n_out:
            return self
        return replace(
            self,
            answers=self.answers[np.array(places, dtype=np.intp)],
            codes=[self.codes[i] for i in places],
            rows=[self.rows[i] for i in places],
            identities=[self.identities[i] for i in places],
            drawn=[self.drawn[i] for i in places],
            notes=[*self.notes, f"{count_noun(n_out, 'coded answer')}: {why}."],
            n_known=self.n_known + n_out,
        )


def read_coded(
    path: Path,
    columns: Columns,
    options: TableOptions,
    identity_columns: Sequence[str] = (),
    drawn: bool = True,
    accept: bool = False,
) -> CodedAnswers:
    """All rows of a table that have codes; those of an earlier table may be known again by it.

    Rows that do not say whether they were drawn at random are taken to be as `drawn` says. Rows of
    a review that only show its suggestion count as coded where one may `accept` these unseen.
    """
    parts: list[Answers] = []
    codes: list[set[str]] = []
    rows: list[int] = []
    ids: list[tuple[str, ...]] = []
    cells: list[str] = []
    random: list[bool] = []
    n_rows = n_undecided = 0
    with options.open(path) as table:
        places = _identity_places(table, columns, identity_columns)
        for block in table.blocks():
            found = columns.codes.read(table, block)
            if not accept:
                found, n_open = take_decided(table, block, columns.codes, found)
                n_undecided += n_open
            coded = [i for i, names in enumerate(found) if names is not None]
            parts.append(columns.read(table, block, coded))
            # A letter and its accent become one character, so that equal looks are equal.
            codes += [{normalize("NFC", name) for name in found[i] or ()} for i in coded]
            rows += [block.first + i for i in coded]
            ids += [_identity(block.rows[i], places.values()) for i in coded]
            random += [_is_drawn(table, block, i, drawn) for i in coded]
            n_rows += len(block.rows)
            if columns.codes.listed:
                cells += filter(None, columns.codes.cells(table, block))
        columns.check_extra(table, n_rows)
        notes = [*table.notes, *_notes_on_columns(table.names, columns, identity_columns)]
    if not n_rows:
        hint = "put the answers below the header, one a row; or use another file"
        raise InputError(f"{path.name} has no rows below its header.", hint=hint)
    if n_undecided:
        notes.append(open_note(n_undecided))
    if not codes and n_undecided:
        raise InputError(f"{path.name}: {open_note(n_undecided)}", hint=f"x in {OK}")
    if not codes:
        named = quote_first(columns.codes.names)
        hint = "code some answers there first; or name another column of codes, or another file"
        raise InputError(f"{path.name}: none of the {n_rows} rows has codes in {named}.", hint=hint)
    if columns.codes.listed:
        notes += _notes_on_codes(cells, codes, columns.codes)
    names = tuple(identity_columns or places)
    contents = ("\x1f".join(map("=".join, zip(places, row, strict=True))) for row in ids)
    digests = [sha256(content.encode()).hexdigest() for content in contents]
    apart = len(places) == len(names) and _are_told_apart(ids, places, columns.text)
    known = (digests, names, apart)
    return CodedAnswers(Answers.join(parts), codes, rows, n_rows, notes, *known, drawn=random)


def _is_drawn(table: TableReader, block: Block, i: int, silent: bool) -> bool:
    """What a row says of having been drawn at random, or what it means if it is silent."""
    place, hint = latest_column(table.names, DRAWN), f"leave {DRAWN} as nldd predict wrote it"
    if place is None:
        return silent
    known = (YES | NO | MISSING, "yes or no", hint)
    mark = read_mark(table, block.first + i, block.rows[i], place, *known)
    return mark in YES or (mark in MISSING and silent)


def _identity_places(table: TableReader, columns: Columns, names: Sequence[str]) -> dict[str, int]:
    """Columns by which rows are known again: those of an earlier table (`names`), or its own.

    Codes and what nldd has added do not count: a review leaves all others alone.
    """
    places = {str(unguard(name)): j for j, name in enumerate(table.names)}
    own = {name for name in places if not name.startswith(PREFIX)} - {*columns.codes.names}
    return {name: places[name] for name in names or sorted(own) if name in places}


def _identity(row: Sequence[Cell], places: Iterable[int]) -> tuple[str, ...]:
    """Cells of a row; ids as they are after a spreadsheet took them for numbers."""
    texts = (plain_text(row[place]) for place in places)
    return tuple(text.lstrip("0") or "0" if text.isdecimal() else text for text in texts)


def _are_told_apart(ids: list[tuple[str, ...]], names: Iterable[str], text: Sequence[str]) -> bool:
    """Whether no rows are equal, or a column (not of text) tells nearly all others apart."""
    # Otherwise equal rows may as well be two people who say the same.
    columns = dict(zip(names, zip(*ids, strict=True), strict=True))
    most = max((len(set(columns[name])) for name in columns if name not in text), default=-1)
    return len(set(ids)) == len(ids) or most >= DISTINCT * len(set(ids))


def _notes_on_columns(names: Sequence[str], columns: Columns, earlier: Sequence[str]) -> list[str]:
    """Columns that look like codes of 0 and 1 and were not in the earlier table."""
    if columns.codes.listed or not earlier:
        return []
    start = commonprefix(columns.codes.names)  # noqa: RUF071 (letters are meant)
    known = {*columns.codes.names, *columns.inputs, *earlier}
    new = [name for name in names if start and name.startswith(start) and name not in known]
    note = f"{quote_first(new)}: no codes of the model, and left out; to use them, fit anew."
    return [note] if new else []


def _notes_on_codes(cells: list[str], codes: list[set[str]], named: CodeColumns) -> Iterator[str]:
    """What looks like a slip in a column that lists codes."""
    column, names = named.names[0], sorted(set().union(*codes))
    if other := likely_separator(cells, named.separator):
        yield (
            f"No cell of {column!r} holds {named.separator!r}, but many hold {other!r}. "
            f'If that separates codes, use --sep "{other}".'
        )
    if n_missing := sum(named.says_missing(cell) for cell in cells):
        yield f"{count_noun(n_missing, 'cell')} of {column!r}: NA or the like, taken as not coded."
    for group in similar_groups(names)[:MOST_NOTES]:
        one = "write them alike if they are one"
        yield f"{quote_first(group)} are taken as different codes; {one}."
    for mark in sorted(DASHES.intersection(names)):
        none = f"if it means that no code applies, use --no-code {mark!r}"
        yield f"{mark!r} is taken as a code; {none}."


def likely_separator(cells: Sequence[str], separator: str) -> str | None:
    """Another separator, if codes seem to be listed with that one."""
    if any(separator in cell for cell in cells):
        return None
    counts = {other: sum(other in cell for cell in cells) for other in OTHER_SEPARATORS}
    best = max(counts, key=lambda other: counts[other])
    return best if counts[best] >= max(2, len(cells) / 20) else None


def similar_groups(names: Sequence[str]) -> list[list[str]]:
    """Names that differ only in capitals or spaces, those of a group together."""
    groups = defaultdict(list)
    for name in names:
        groups[_fold(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def close_code(name: str, known: Sequence[str]) -> str | None:
    """The known code that a new one may be meant to be; codes with other numbers are others."""
    digits = partial(re.sub, r"\D", "")
    by_fold = {_fold(other): other for other in known if digits(other) == digits(name)}
    close = get_close_matches(_fold(name), by_fold, n=1, cutoff=CLOSE)
    return by_fold[close[0]] if close else None


def _fold(name: str) -> str:
    """A name without what people easily get wrong: capitals and spaces."""
    return " ".join(normalize("NFKC", name).casefold().split())
