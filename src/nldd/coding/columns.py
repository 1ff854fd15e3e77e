"""Columns of a table: those that a model reads, and those that nldd adds."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import compress

from nldd._wording import quote, quote_first
from nldd.coding.tables.spreadsheet import (
    Cell,
    Spreadsheet,
    cell_number,
    cell_text,
    plain_text,
    unescape_cell,
)
from nldd.exceptions import InputError
from nldd.present.text import escape_formula

PREFIX = "nldd_"
# What the model says of an answer.
CODES, STATUS, CHANCE, THETA, NEAREST, WHY, ASK = (
    PREFIX + name for name in ("codes", "status", "chance", "theta", "nearest", "why", "ask")
)
# What becomes of an answer: the cells of its status.
AUTO, REVIEW, PARTLY, BY_PEOPLE = "auto", "review", "part", "coded"
# The accuracy guarantee of a coded table, the same in each row.
GUARANTEE = PREFIX + "guarantee"
# With --explain.
SOURCES = tuple(f"{PREFIX}by_{name}" for name in ("distance", "probabilities", "frequency", "size"))
EXPLAINED = (PREFIX + "probability", PREFIX + "Dx", *SOURCES)
EXPLAINED += (PREFIX + "next_codes", PREFIX + "next_probability")
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
    THETA: "Expected share of wrong codes",
    NEAREST: "The most similar answer with these codes",
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
Codes = frozenset[str]
YES = frozenset({"1", "1.0", "1,0", "x", "yes", "y", "true", "t", "ja", "j", "oui", "si", "sí"})
NO = frozenset({"0", "0.0", "0,0", "no", "n", "false", "f", "nein", "non"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "."})
# What a spreadsheet shows where a formula is broken, in English and German.
ERRORS = {"#ref!", "#value!", "#name?", "#div/0!", "#num!", "#null!", "#spill!", "#calc!"}
ERRORS |= {"#field!", "#bezug!", "#wert!", "#zahl!", "#nv", "#leer!", "#überlauf!"}
# In a column that lists codes; "none" may be a code there.
NOT_CODED = ERRORS | {"na", "n/a", "#n/a", "nan", "null", "."}
# Alt+Enter in a spreadsheet, and how some programs write its carriage return.
BREAKS = r"(?:_x000[Dd]_|[\r\n\v\f\x85\u2028\u2029])+"
# Share of the rows that a column must tell apart to be taken for an id.
DISTINCT = 0.95
# Column names that say whose answer it is, and who coded it, in the ways of survey programs.
ID_NAME = re.compile(
    r"(?i:^_?(id|uuid|guid|lfdn|lfdnr|caseid|respid)$|[\W_](id|uuid)$"
    r"|^(respondent|participant|person|subject|case|teilnehmer|befragter?)"
    r"([\W_]*(id|nr|no|number|key|code))?$)|[a-z]I[Dd]$"
)
CODER_NAME = re.compile(
    r"(?i)^(coder|rater|annotator|coded[\W_]?by|kodierer(in)?|codierer(in)?|labell?er)"
    r"([\W_]*(id|nr|no|name))?$"
)
# Different ids, as a share of the rows; and coders of a table.
LEAST_IDS, MOST_CODERS = 0.05, 50


@dataclass(frozen=True)
class CodeFormat:
    """How one file lists its codes, where that differs from the table of the model.

    Attributes
    ----------
    separators : tuple of str
        What stands between two codes of a cell; if empty, as in the table of the model.
    none : str
        The cell which says that no code applies; if empty, as in the table of the model.

    Examples
    --------
    >>> from nldd.coding import CodeFormat
    >>> from nldd.coding.columns import CodeColumns
    >>> columns = CodeColumns(("codes",)).listed_as(CodeFormat(separators=("|",), none="-"))
    >>> sorted(columns.split("bus|bike")), columns.split("-")
    (['bike', 'bus'], frozenset())
    """

    separators: tuple[str, ...] = ()
    none: str = ""


@dataclass(frozen=True)
class CodeColumns:
    """Where codes stand: in a column that lists them, in several, or in one of 0 and 1 for each.

    Attributes
    ----------
    names : tuple of str
        The columns; those of 0 and 1 are the codes themselves.
    separator : str
        Between the codes of a cell; empty for columns of 0 and 1.
    none : str
        The cell of a list which says that no code applies to an answer; where all cells are empty,
        nobody has coded it yet.
    also : tuple of str
        Further separators. A line break always separates, as no code holds one.

    Examples
    --------
    >>> from nldd.coding.columns import CodeColumns
    >>> columns = CodeColumns(("codes",), none="-")
    >>> sorted(columns.split("bus; bike")), columns.split("-"), columns.split("")
    (['bike', 'bus'], frozenset(), None)
    >>> columns.join(["bus", "bike"])
    'bus;bike'
    """

    names: tuple[str, ...]
    separator: str = ";"
    none: str = ""
    also: tuple[str, ...] = ()

    @property
    def listed(self) -> bool:
        """True if columns list codes, rather than being codes that are marked there."""
        return bool(self.separator)

    @property
    def separators(self) -> tuple[str, ...]:
        """All that stands between two codes of a cell, line breaks apart."""
        return (self.separator, *self.also)

    def are_in(self, table: Spreadsheet) -> bool:
        """True if a table has all of these columns."""
        return set(map(escape_formula, self.names)) <= set(map(escape_formula, table.names))

    def read(self, table: Spreadsheet) -> list[Codes | None]:
        """The codes of each row; None for a row that nobody has coded."""
        if self.listed:
            return [self.gather(cells) for cells in self.cells(table)]
        known = (YES | NO | MISSING, "0 or 1 (or yes, no, x)")
        hint = "correct the cell; or --labels NAMES for columns that hold codes or lists of them"
        columns = [find_column(table, name, self.names) for name in self.names]
        rows = list(zip(*[read_marks(table, n, *known, hint) for n in columns], strict=True))
        codes = (frozenset(compress(self.names, (mark in YES for mark in row))) for row in rows)
        return [None if {*row} <= MISSING else own for row, own in zip(rows, codes, strict=True)]

    def cells(self, table: Spreadsheet) -> list[tuple[str, ...]]:
        """What the columns say that list the codes, for each row."""
        names = (find_column(table, name, self.names) for name in self.names)
        return list(zip(*(map(str.strip, table.texts(name)) for name in names), strict=True))

    def gather(self, cells: Iterable[str]) -> Codes | None:
        """All codes that the cells of a row list; None if none of them says anything."""
        found = [codes for cell in cells if (codes := self.split(cell)) is not None]
        return frozenset().union(*found) if found else None

    def split(self, cell: str) -> Codes | None:
        """The codes that a cell lists; None if it says nothing."""
        cell = cell.strip()
        if cell.startswith("[") and (found := _written_list(cell)) is not None:
            return found or None
        if self.none and cell == self.none:
            return frozenset()
        if self.says_missing(cell):
            return None
        between = "|".join((BREAKS, *map(re.escape, self.separators)))
        parts = frozenset(part.strip() for part in re.split(between, cell)) - {""}
        return parts - {self.none} if parts else None

    def says_missing(self, cell: str) -> bool:
        """True if a cell says, as programs write it, that nobody has coded the answer."""
        return cell.lower() in NOT_CODED and cell != self.none

    def listed_as(self, format: CodeFormat) -> "CodeColumns":
        """The same columns, in a file that lists codes in its own way."""
        if format == CodeFormat():
            return self
        if not self.listed:
            message = "The codes of the model stand in columns of 0 and 1, which are no lists."
            raise InputError(message, hint="leave out --sep and --no-code")
        first, *also = format.separators or self.separators
        return replace(self, separator=first, also=tuple(also), none=format.none or self.none)

    def join(self, codes: Sequence[str]) -> str:
        """Codes as one cell, listed as in the table that the model was fitted to."""
        return (self.separator or ";").join(codes) if codes else self.none

    def spread(self, cell: str) -> list[str]:
        """What :meth:`join` made, over the columns: one code in each, and the rest in the last."""
        n = len(self.names)
        codes = [cell] if cell == self.none else cell.split(self.separator, n - 1)
        return [*codes, *[""] * (n - len(codes))]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table a model reads, by name: text, codes, and features beside them.

    Attributes
    ----------
    text : tuple of str
        Columns of text; several are joined.
    codes : CodeColumns
        Where the codes stand.
    numeric, categorical : tuple of str
        Features beside the text.
    n_extra : int
        Number of features that come from a file beside the table.
    id, coder : str
        Columns that say whose answer it is, and who coded it; empty where no column does.
    identity : tuple of str
        Columns that tell answers apart, so that one that comes a second time is known again.

    Examples
    --------
    >>> from nldd.coding.columns import CodeColumns, Columns
    >>> columns = Columns(("answer",), CodeColumns(("codes",)), numeric=("age",))
    >>> columns.inputs
    ('answer', 'age')
    """

    text: tuple[str, ...]
    codes: CodeColumns
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    n_extra: int = 0
    id: str = ""
    coder: str = ""
    identity: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.inputs or self.n_extra):
            hint = "--text NAME, or --features NAMES, or both"
            raise InputError("No column to code from was named.", hint=hint)
        repeated, times = Counter((*self.inputs, *self.codes.names)).most_common(1)[0]
        if times > 1:
            message = f"Column {quote(repeated)} is named twice; it is text, a feature or codes."
            raise InputError(message, hint="name each column once")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that new answers must have."""
        return (*self.text, *self.numeric, *self.categorical)


# Of answers that come from no table, and of the tables that a model of these reads.
LISTED = Columns(("answer",), CodeColumns(("codes",)))


def latest_column(table: Spreadsheet, name: str, others: Iterable[str] = ()) -> str | None:
    """The name of an added column, the last one if a table was coded again: ``name (2)``."""
    pattern = re.compile(rf"{re.escape(name)}(?: \(([0-9]+)\))?")
    known, found = set(map(escape_formula, others)), dict[int, str]()
    for text in table.names:
        match = pattern.fullmatch(str(unescape_cell(text)))
        if match and escape_formula(text) not in known:
            found[int(match[1] or 1)] = text
    return found[max(found)] if found else None


def own_columns(table: Spreadsheet, codes: Sequence[str] = ()) -> dict[str, str]:
    """Columns of the answers themselves, by plain name: neither codes nor added by nldd."""
    names = ((str(unescape_cell(name)), name) for name in table.names)
    return {plain: n for plain, n in names if not plain.startswith(PREFIX) and plain not in codes}


def find_column(table: Spreadsheet, name: str, used: Iterable[str] = ()) -> str:
    """The column that a model reads; an error proposes none that is `used` already."""
    taken = {*used, *map(escape_formula, used)}
    free = [other for other in table.names if other not in taken and not other.startswith(PREFIX)]
    return table.find(name, free)


def read_marks(
    table: Spreadsheet, name: str, known: Container[str], expected: str, hint: str
) -> list[str]:
    """What people have put into the cells of a column; others than the `known` are refused."""
    marks = []
    for row, cell in enumerate(table.cells(name), 1):
        mark = plain_text(cell).strip().lower()
        # Behind a label such as "not mentioned", a statistics file has a number.
        if mark not in known and (value := cell_text(getattr(cell, "value", None))) in known:
            mark = value or mark
        if mark not in known:
            message = f"{table.where(row, name)}: expected {expected}, got {quote(mark)}."
            raise InputError(message, hint=hint)
        marks.append(mark)
    return marks


def _written_list(cell: str) -> Codes | None:
    """Codes of a list in JSON or in Python, as programs write one into a cell."""
    for read in (json.loads, literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            names = read(cell)
            if isinstance(names, list) and all(isinstance(x, str | int | float) for x in names):
                return frozenset(cell_text(name).strip() for name in names) - {""}
    return None


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
        Take codes that look like lists with another separator as they are; else they are refused.
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


def find_columns(table: Spreadsheet, spec: ColumnSpec) -> Columns:
    """What the columns of a table mean: the named ones, with features told apart by their cells."""
    if bool(spec.labels) == bool(spec.label_columns):
        message = "Name either the columns that hold the codes or the columns of 0 and 1."
        there = f"{table.path.name} has the columns {quote_first(table.names)}"
        raise InputError(message, hint=f"--labels NAMES or --label-columns PATTERN; {there}")
    names, codes = table.names, _code_columns(table, spec)
    given = (spec.text, spec.features, spec.categorical)
    text, features, categorical = (split_names(each, names) for each in given)
    features = tuple(name for name in features if name not in categorical)
    used = (*text, *features, *categorical, *codes.names)
    for name in (*used, *filter(None, (spec.id, spec.coder_column))):
        table.find(name)  # says so if there is none
    numeric = tuple(n for n in features if holds_numbers(table.cells(n), table.format.decimal))
    words = (name for name in features if name not in numeric)
    free = [name for name in names if name not in used]
    coders = [name for name in free if CODER_NAME.search(name)]
    coder = next((n for n in coders if 1 < len(set(table.cells(n))) <= MOST_CODERS), "")
    ids = {n: Counter(table.cells(n)) for n in free if ID_NAME.search(n) and n not in coders}
    # Of several, the one that keeps the most answers together.
    tell = [name for name, cells in ids.items() if _tells_respondents(cells)]
    respondent = spec.id or min(tell, key=lambda name: len(ids[name]), default="")
    n_extra = 0 if table.numbers is None else table.numbers.n_columns
    beside = (numeric, (*words, *categorical), n_extra)
    found = Columns(text, codes, *beside, respondent, spec.coder_column or coder)
    # Codes and what nldd has added do not tell answers apart: a review leaves all others alone.
    return replace(found, identity=tuple(sorted(own_columns(table, (*codes.names, found.coder)))))


def _code_columns(table: Spreadsheet, spec: ColumnSpec) -> CodeColumns:
    """The columns of the codes; a multiple-response set of an SPSS file may be named instead."""
    known, names = table.format.variables, (spec.labels or spec.label_columns).strip()
    is_marked, labels_of = bool(spec.label_columns), {} if known is None else known.values
    if known is not None and names not in table.names and (found := known.response_set(names)):
        names, is_marked = ",".join(found["variable_list"]), found["is_dichotomy"]
    if is_marked:
        return CodeColumns(match_columns(names, table.names), separator="")
    separator, *also = spec.separators
    codes = CodeColumns(_label_names(names, table.names), separator, spec.none, tuple(also))
    for name in codes.names:
        for label in labels_of.get(name, {}).values():
            if held := [by for by in codes.separators if by in label]:
                what = f"the label {quote(label)} of {quote(name)} holds {quote(held[0])}"
                message = f"{table.path.name}: {what}, which separates codes."
                raise InputError(message, hint='--sep "|"; or what else no label holds')
    return codes


def _tells_respondents(cells: Counter[Cell]) -> bool:
    """True if nearly all rows have a cell, and these are many, as ids are."""
    n_rows = cells.total()
    n_empty = sum(n for cell, n in cells.items() if plain_text(cell).strip().lower() in MISSING)
    return n_empty < (1 - DISTINCT) * n_rows and len(cells) > max(2, LEAST_IDS * n_rows)


def holds_numbers(cells: Iterable[Cell], decimal: str | None = None) -> bool:
    """True if all cells that are not empty are numbers, and some are."""
    try:
        numbers = [cell_number(unescape_cell(cell), decimal=decimal) for cell in set(cells)]
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
        hint = f"{option} with a pattern such as 'q1_*', or names with commas"
        message = f"No column matches {pattern!r}; the columns are {quote_first(names)}."
        raise InputError(message, hint=hint)
    return found


def _label_names(given: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that hold codes, by their names or by patterns."""
    own, found = [name for name in names if not name.startswith(PREFIX)], list[str]()
    for part in split_names((given,), names):
        is_pattern = part not in names and {*part} & {*"*?"}
        found += match_columns(part, own, "--labels") if is_pattern else [part]
    return tuple(dict.fromkeys(found))


def split_names(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Column names that were given one by one or with commas between; names may hold commas."""
    parts = (name for text in given for name in ([text] if text in names else text.split(",")))
    return tuple(name if name in names else name.strip() for name in parts if name.strip())
