"""The table that a model learns from: its columns, its coded rows, and which of them to doubt."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from operator import itemgetter
from os.path import commonprefix
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np

from nldd._wording import quote, quote_first
from nldd.coding.answers import (
    DRAWN,
    MISSING,
    NO,
    OF_REVIEW,
    PREFIX,
    YES,
    Answers,
    CodeColumns,
    Columns,
    digest_rows,
    own_columns,
    plain_text,
    read_mark,
    row_identity,
    unescape_cell,
)
from nldd.coding.audit import CHECK, RIGHT_CODES, machine_codes, read_checks
from nldd.coding.code_slips import notes_on_codes, other_names_of_numbers
from nldd.coding.codebook import Codebook
from nldd.coding.decisions import OK, latest_column, open_notes, read_decisions
from nldd.coding.tables.cells import Cell, TableBlock, cell_number
from nldd.coding.tables.opening import TableOptions
from nldd.coding.tables.reader import TableReader
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula
from nldd.present.text import count_noun

# Share of the rows that a column must tell apart to be taken for an id.
DISTINCT = 0.95
# Column names that say whose answer it is, and who coded it, in the ways of survey programs.
ID = re.compile(
    r"(?i:^_?(id|uuid|guid|lfdn|lfdnr|caseid|respid)$|[\W_](id|uuid)$"
    r"|^(respondent|participant|person|subject|case|teilnehmer|befragter?)"
    r"([\W_]*(id|nr|no|number|key|code))?$)|[a-z]I[Dd]$"
)
CODER = re.compile(
    r"(?i)^(coder|rater|annotator|coded[\W_]?by|kodierer(in)?|codierer(in)?|labell?er)"
    r"([\W_]*(id|nr|no|name))?$"
)
# Different ids, as a share of the rows; and coders of a table.
LEAST_IDS, MOST_CODERS = 0.05, 50
# Rows by which a first row that is unlike them is told from an answer.
FEWEST_BELOW = 10


@dataclass(frozen=True)
class ColumnSpec:
    """Which columns of a table have what, as a person names them.

    Attributes
    ----------
    text : tuple of str
        Columns with the answers.
    labels : str
        One column that lists codes or several, with commas between, or a pattern such as
        ``code_*``.
    label_columns : str
        Columns of 0 and 1, one a code, instead: names with commas between, or a pattern.
    separators : tuple of str
        Between codes of a list.
    none : str
        The cell which says that no code applies.
    features, categorical : tuple of str
        Columns beside the text; categorical ones are so even if they hold numbers.
    as_written : bool
        Whether to take codes that look like lists with another separator as they are; else they are
        refused.
    id, coder_column : str
        Columns that say whose answer it is, and who coded it; found by their names if left out.
    coder : str
        Take the rows of this coder alone.

    Examples
    --------
    >>> from nldd.coding import ColumnSpec
    >>> request = ColumnSpec(text=("answer",), labels="codes", features=("age", "region"))
    >>> request.separators
    (';',)
    """

    text: tuple[str, ...] = ()
    labels: str = ""
    label_columns: str = ""
    separators: tuple[str, ...] = (";",)
    none: str = ""
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    as_written: bool = False
    id: str = ""
    coder_column: str = ""
    coder: str = ""


def find_columns(path: Path, request: ColumnSpec, options: TableOptions) -> Columns:
    """What the columns of a table mean: the named ones, with features told apart by their cells."""
    with options.open(path) as table:
        if bool(request.labels) == bool(request.label_columns):
            message = "Name either the columns that hold the codes or the columns of 0 and 1."
            there = f"{path.name} has the columns {', '.join(map(repr, table.names[:12]))}"
            raise InputError(message, hint=f"--labels NAMES or --label-columns PATTERN; {there}")
        request = _with_members(request, table)
        if request.label_columns:
            codes = CodeColumns(match_columns(request.label_columns, table.names), separator="")
        else:
            separator, *also = request.separators
            names = _label_names(request.labels, table.names)
            codes = CodeColumns(names, separator, request.none, tuple(also))
        text, features, categorical = (
            _split_names(given, table.names)
            for given in (request.text, request.features, request.categorical)
        )
        for name in (*text, *features, *categorical, *codes.names):
            table.column(name)  # says so if there is none
        _check_labels(table, codes)
        features = tuple(name for name in features if name not in categorical)
        for name in filter(None, (request.id, request.coder_column)):
            table.column(name)
        free = set(table.names) - {*text, *features, *categorical, *codes.names}
        ids = [name for name in table.names if name in free and ID.search(name)]
        coders = [name for name in table.names if name in free and CODER.search(name)]
        cells = {name: Counter[Cell]() for name in (*features, *ids, *coders)}
        for block in table.blocks() if cells else ():
            for name, values in cells.items():
                values.update(map(itemgetter(table.column(name)), block.rows))
    ids = [name for name in ids if name not in coders and _tells_respondents(cells[name])]
    # Of several, the one that keeps the most answers together.
    id_column = request.id or min(ids, key=lambda name: len(cells[name]), default="")
    coders = [name for name in coders if 1 < len(cells[name]) <= MOST_CODERS]
    coder = request.coder_column or next(iter(coders), "")
    numeric = tuple(name for name in features if holds_numbers(cells[name], table.format.decimal))
    words = (name for name in features if name not in numeric)
    n_extra = 0 if table.numbers is None else table.numbers.n_columns
    return Columns(text, codes, numeric, (*words, *categorical), n_extra, id_column, coder)


def _tells_respondents(cells: Counter[Cell]) -> bool:
    """Whether nearly all rows have a cell, and these are many, as ids are."""
    n_rows = cells.total()
    n_empty = sum(n for cell, n in cells.items() if plain_text(cell).strip().lower() in MISSING)
    return n_empty < (1 - DISTINCT) * n_rows and len(cells) > max(2, LEAST_IDS * n_rows)


def _with_members(request: ColumnSpec, table: TableReader) -> ColumnSpec:
    """The columns of a multiple-response set, where codes are named by that of an SPSS file."""
    known, given = table.format.variables, (request.labels or request.label_columns).strip()
    found = known.response_set(given) if known is not None and given not in table.names else None
    if found is None:
        return request
    members = ",".join(found.variables)
    if found.is_marked:
        return replace(request, labels="", label_columns=members)
    return replace(request, labels=members)


def _check_labels(table: TableReader, codes: CodeColumns) -> None:
    """Refuse codes of a statistics file whose labels hold what separates codes in a list."""
    known = table.format.variables
    for name in codes.names if known is not None and codes.listed else ():
        labels = list(known.values.get(name, {}).values()) if known is not None else []
        held = [(label, by) for label in labels for by in codes.separators if by in label]
        if held:
            free = next((by for by in "|#^~" if not any(by in label for label in labels)), "||")
            what = f"the label {quote(held[0][0])} of {quote(name)} holds {quote(held[0][1])}"
            message = f"{table.path.name}: {what}, which separates codes."
            raise InputError(message, hint=f'--sep "{free}"')


def holds_numbers(cells: Iterable[Cell], decimal: str | None = None) -> bool:
    """Whether all cells that are not empty are numbers, and some are."""
    try:
        numbers = [cell_number(unescape_cell(cell), decimal=decimal) for cell in cells]
    except ValueError:
        return False
    return any(number is not None for number in numbers)


def match_columns(
    pattern: str, names: Sequence[str], option: str = "--label-columns"
) -> tuple[str, ...]:
    """Columns whose names match a pattern such as ``q1_*``, or are listed with commas."""
    # Survey programs put brackets into names, which a pattern would read in its own way.
    parts = [part.strip().replace("[", "[[]") for part in pattern.split(",") if part.strip()]
    found = tuple(name for name in names if any(fnmatchcase(name, part) for part in parts))
    if not found:
        few = ", ".join(map(quote, names[:12])) + ", ..." * (len(names) > 12)
        hint = f"{option} with a pattern such as 'q1_*', or names with commas"
        raise InputError(f"No column matches {pattern!r}; the columns are {few}.", hint=hint)
    return found


def _label_names(given: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that hold codes, by their names or by patterns."""
    own = [name for name in names if not name.startswith(PREFIX)]
    found = (
        match_columns(part, own, "--labels") if part not in names and {*part} & {*"*?"} else (part,)
        for part in _split_names((given,), names)
    )
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _split_names(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Column names that were given one by one or with commas between; names may hold commas."""
    parts = (name for text in given for name in ([text] if text in names else text.split(",")))
    return tuple(name if name in names else name.strip() for name in parts if name.strip())


@dataclass(frozen=True, eq=False)
class CodedAnswers:
    """The rows of a table that somebody has coded, as a :class:`Step` and an evaluation have them.

    Attributes
    ----------
    answers : Answers
        What they say.
    codes : list of set of str
        Their codes.
    rows : list of int
        Their numbers in the table, from 1.
    n_rows : int
        Rows of the table.
    notes : list of str
        What a person should know about it.
    identities, identity_columns, tell_apart : list of str, tuple of str, bool
        Digests of some columns, by which answers are known again, and whether equal ones are one
        answer.
    n_known : int
        Rows that were left out, as they are in the model already.
    drawn : list of bool
        Which were drawn at random; a column of the table may say so.
    is_review : bool
        Whether it is a review, as :func:`code_table` writes one.
    names, left : list of str, list of (str, str)
        Names of rows where they have some, and name and identity of rows without codes.
    coders : list of str
        Who coded them, where a column says so.
    taught : list of bool
        Which to learn from; all if empty.

    Examples
    --------
    >>> from nldd.coding import Answers
    >>> from nldd.coding.training_table import CodedAnswers
    >>> answers = Answers(["more buses", "cheaper rents"])
    >>> table = CodedAnswers(answers, [{"bus"}, {"rent"}], rows=[1, 4], n_rows=5, notes=[])
    >>> table.n_set_aside
    3
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
    is_review: bool = False
    names: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    coders: list[str] = field(default_factory=list)
    taught: list[bool] = field(default_factory=list)

    @property
    def n_set_aside(self) -> int:
        """Rows without codes."""
        return self.n_rows - len(self.codes) - self.n_known

    def drop_duplicates(self) -> "CodedAnswers":
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
        lists = ("codes", "rows", "identities", "drawn", "names", "coders", "taught")
        given = {name: getattr(self, name) for name in lists}
        some: dict[str, Any] = {n: [each[i] for i in places] for n, each in given.items() if each}
        return replace(
            self,
            answers=self.answers[np.array(places, dtype=np.intp)],
            **some,
            notes=[*self.notes, f"{count_noun(n_out, 'coded answer')}: {why}."],
            n_known=self.n_known + n_out,
        )


def read_coded(
    path: Path,
    columns: Columns,
    options: TableOptions,
    identity_columns: Sequence[str] = (),
    drawn: bool = True,
    known: Collection[str] = (),
    accept: bool = False,
    codebook: Codebook = Codebook(),
    coder: str = "",
) -> CodedAnswers:
    """All rows of a table that have codes; those of an earlier table may be known again by it.

    Rows that do not say whether they were drawn at random are taken to be as `drawn` says. Numbers
    are the `known` codes that they are equal to. Rows of a review that only show its suggestion
    count as coded where one may `accept` these unseen. Those of a sample of ``nldd audit`` are
    coded once somebody has checked them; they were drawn at random from sure ones, not from all.
    The `codebook` knows what a suggestion in columns of marks is called today. Rows of other coders
    than the `coder` are left out.
    """
    with options.open(path) as table:
        places = _identity_places(table, columns, identity_columns)
        how = (drawn, accept, sorted(known), codebook)
        found = _read_rows(table, columns, places, *how)
        columns.check_extra(table, found.n_rows)
        is_review = latest_column(table.names, OK) is not None
        own = [f"{OF_REVIEW}{name}" for name in table.row_names]
        notes = [*table.notes, *_notes_on_columns(table.names, columns, identity_columns)]
    undecided = open_notes(found.n_open, found.n_bare)
    notes += undecided
    if undecided and not found.codes:
        raise InputError(f"{path.name}: {' '.join(undecided)}", hint=f"x in {OK}")
    codes = found.codes
    _check_found(path, columns.codes, codes, found.n_rows, known)
    notes += _notes_on_first_row(found.ids, places, found.rows)
    if columns.codes.listed:
        codes = _settle_numbers(codes, known, notes)
        notes += notes_on_codes(found.cells, codes, columns.codes, known)
    names = tuple(identity_columns or places)
    digests, left = (digest_rows(ids, places) for ids in (found.ids, found.left_ids))
    apart = len(places) == len(names) and _are_told_apart(found.ids, places, columns.text)
    joined, rows = Answers.join(found.answers), found.rows
    named = [own[row - 1] for row in rows] if own else []
    left_names = zip((own[row - 1] for row in found.left), left, strict=True)
    again = (digests, names, apart, 0, found.drawn, is_review, named, list(left_names))
    read = CodedAnswers(joined, codes, rows, found.n_rows, notes, *again, found.coders)
    return _of_coder(read, columns, coder, path) if coder else read


def _of_coder(table: CodedAnswers, columns: Columns, coder: str, path: Path) -> CodedAnswers:
    own = [row for row, name in enumerate(table.coders) if name == coder]
    if not own:
        if not columns.coder:
            message = f"{path.name}: no column is known to say who coded a row."
            raise InputError(message, hint="--coder-column NAME; or leave out --coder")
        there = quote_first(sorted({*table.coders}))
        message = (
            f"{path.name}: {quote(columns.coder)} names the coders {there}, not {quote(coder)}."
        )
        raise InputError(message, hint="--coder with one of these names, or another --coder-column")
    return table.take(own, f"of other coders than {quote(coder)}; left out")


@dataclass
class _ReadRows:
    """Coded rows, as they are read block by block; others are counted as :class:`Decided` does.

    `ids` are the cells by which rows are known again, `cells` those that list codes. Of a table
    whose rows have names, those that are `left` without codes are kept, too.
    """

    answers: list[Answers] = field(default_factory=list)
    codes: list[set[str]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    ids: list[tuple[str, ...]] = field(default_factory=list)
    coders: list[str] = field(default_factory=list)
    drawn: list[bool] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    left_ids: list[tuple[str, ...]] = field(default_factory=list)
    n_rows: int = 0
    n_open: int = 0
    n_bare: int = 0


def _read_rows(
    table: TableReader,
    columns: Columns,
    places: Mapping[str, int],
    drawn: bool,
    accept: bool,
    known: Sequence[str],
    codebook: Codebook,
) -> _ReadRows:
    found, names = _ReadRows(), set(map(escape_formula, table.names))
    audited = latest_column(table.names, CHECK) is not None
    # In a sample, codes may stand in its own column for them instead.
    there = not audited or set(map(escape_formula, columns.codes.names)) <= names
    for block in table.blocks():
        codes: list[set[str] | None] = [None] * len(block.rows)
        if there and accept:
            codes = columns.codes.read(table, block)
        elif there:
            decided = read_decisions(table, block, columns.codes, codebook)
            codes = decided.codes
            found.n_open += decided.n_open
            found.n_bare += decided.n_bare
        if audited:
            codes = _checked_codes(table, block, columns.codes, codes, known)
        coded = [i for i, names in enumerate(codes) if names is not None]
        found.answers.append(columns.read(table, block, coded))
        # A letter and its accent become one character, so that equal looks are equal.
        found.codes += [{normalize("NFC", name) for name in codes[i] or ()} for i in coded]
        found.rows += [block.first + i for i in coded]
        found.ids += [row_identity(block.rows[i], places.values()) for i in coded]
        if (place := own_columns(table).get(columns.coder)) is not None:
            found.coders += [plain_text(block.rows[i][place]).strip() for i in coded]
        left = [i for i, names in enumerate(codes) if names is None and table.row_names]
        found.left += [block.first + i for i in left]
        found.left_ids += [row_identity(block.rows[i], places.values()) for i in left]
        marks = drawn_marks(table, block, coded, drawn)
        found.drawn += [mark and not audited for mark in marks]
        found.n_rows += len(block.rows)
        if columns.codes.listed and there and not table.no_code:  # else no person wrote them
            found.cells += filter(None, chain(*columns.codes.cells(table, block)))
    if audited and found.n_rows and not found.codes:
        message = f"{table.path.name}: nobody has checked a row in the column {CHECK!r} yet."
        hint = f"yes where all codes are right; else no, and the right ones in {RIGHT_CODES}"
        raise InputError(message, hint=hint)
    return found


def _checked_codes(
    table: TableReader,
    block: TableBlock,
    columns: CodeColumns,
    given: list[set[str] | None],
    known: Sequence[str],
) -> list[set[str] | None]:
    """The codes of a sample's rows: those of the machine where they are right, else the given."""
    machine, checks = (
        machine_codes(table, columns, known),
        read_checks(table, block, columns, given),
    )
    rows = zip(block.rows, checks or (), strict=True)
    found = (check.settle(machine(row)) for row, check in rows)
    return [None if codes is None else set(codes) for codes in found]


def _check_found(
    path: Path, columns: CodeColumns, codes: list[set[str]], n_rows: int, known: Collection[str]
) -> None:
    """Refuse a table without rows or codes, and marks of yes and no that are taken for codes."""
    if not n_rows:
        hint = "put the answers below the header, one a row; or use another file"
        raise InputError(f"{path.name} has no rows below its header.", hint=hint)
    named = quote_first(columns.names)
    if not codes:
        hint = "code some answers there first; or name another column of codes, or another file"
        raise InputError(f"{path.name}: none of the {n_rows} rows has codes in {named}.", hint=hint)
    marks = {name.lower() for names in codes for name in names}
    if columns.listed and len(columns.names) > 1 and not known and marks <= YES | NO:
        message = f"{path.name}: {named} hold nothing but {quote_first(sorted(marks))}, no codes."
        raise InputError(message, hint="--label-columns instead of --labels, if each is a code")


def _settle_numbers(
    codes: list[set[str]], known: Collection[str], notes: list[str]
) -> list[set[str]]:
    """The codes, with one name for each number."""
    other = other_names_of_numbers(sorted(set().union(*codes)), known)
    if other:
        notes.append(
            f"Numbers as codes: {quote_first(other)} taken as {quote_first(other.values())}."
        )
    return [{other.get(name, name) for name in names} for names in codes]


def drawn_marks(
    table: TableReader, block: TableBlock, chosen: Sequence[int], silent: bool = False
) -> list[bool]:
    """Whether the chosen rows were drawn at random, as they say; or as `silent` ones are."""
    place, hint = latest_column(table.names, DRAWN), f"leave {DRAWN} as nldd predict wrote it"
    if place is None:
        return [silent] * len(chosen)
    known = (YES | NO | MISSING, "yes or no", hint)
    marks = (read_mark(table, block.first + i, block.rows[i], place, *known) for i in chosen)
    return [mark in YES or (mark in MISSING and silent) for mark in marks]


def _identity_places(table: TableReader, columns: Columns, names: Sequence[str]) -> dict[str, int]:
    """Columns by which rows are known again: those of an earlier table (`names`), or its own.

    Codes and what nldd has added do not count: a review leaves all others alone.
    """
    places = {str(unescape_cell(name)): j for j, name in enumerate(table.names)}
    own = {name for name in places if not name.startswith(PREFIX)}
    own -= {*columns.codes.names, columns.coder}
    return {name: places[name] for name in names or sorted(own) if name in places}


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


def _notes_on_first_row(
    ids: list[tuple[str, ...]], names: Iterable[str], rows: list[int]
) -> list[str]:
    """A first row that is text where all others have numbers: it may be a second header."""
    if rows[0] != 1:
        return []
    first, *below = ids
    for j, name in enumerate(names):
        cells = [row[j] for row in below if row[j]]
        if (
            not holds_numbers([first[j], "1"])
            and len(cells) >= FEWEST_BELOW
            and holds_numbers(cells)
        ):
            unlike = f"{quote(first[j])} stands in {quote(name)}, and numbers in all rows below"
            return [f"Row 1 may be a second header: {unlike}. If so, use --skip-rows 1."]
    return []
