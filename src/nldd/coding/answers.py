"""Answers as a table holds them: which columns a model reads, and what their cells say."""

import json
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding.tables.cells import Cell, TableBlock, cell_number, cell_text
from nldd.coding.tables.reader import TableReader
from nldd.exceptions import InputError
from nldd.present.formulas import escape_formula, unescape_formula

if TYPE_CHECKING:
    from nldd.coding.tables.number_files import NumberFile

Row = Sequence[Cell]
# Of the names of all columns that nldd adds to a table.
PREFIX = "nldd_"
# Which row of a file of extra features is an answer's, in tables of which rows may be missing.
ROW = f"{PREFIX}row"
# Whether an answer was drawn at random, rather than left over for people.
DRAWN = f"{PREFIX}drawn"
# The accuracy guarantee of a coded table, the same in each row.
GUARANTEE = f"{PREFIX}guarantee"
# How the name begins of an answer that is known again by its row in a review.
OF_REVIEW = "review:"
EXTRA = "--extra-features FILE.npy"
YES = frozenset({"1", "1.0", "1,0", "x", "yes", "y", "true", "t", "ja", "j", "oui", "si", "sí"})
NO = frozenset({"0", "0.0", "0,0", "no", "n", "false", "f", "nein", "non"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "."})
# What a spreadsheet shows where a formula is broken, in English and German.
ERRORS = frozenset(
    {"#ref!", "#value!", "#name?", "#div/0!", "#num!", "#null!", "#spill!", "#calc!", "#field!"}
    | {"#bezug!", "#wert!", "#zahl!", "#nv", "#leer!", "#überlauf!"}
)
# In a column that lists codes; "none" may be a code there.
NOT_CODED = ERRORS | {"na", "n/a", "#n/a", "nan", "null", "."}
# Alt+Enter in a spreadsheet, and how some programs write its carriage return.
BREAKS = r"(?:_x000[Dd]_|[\r\n\v\f\x85\u2028\u2029])+"
_QUOTED = r"""(?:'[^'\\]*'|"[^"\\]*")"""
_PYTHON_LIST = re.compile(rf"\[\s*{_QUOTED}\s*(?:,\s*{_QUOTED}\s*)*\]")
# Beyond this, squares are no numbers any more.
LARGEST = 1e150


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
    >>> from nldd.coding.answers import CodeColumns
    >>> columns = CodeColumns(("codes",)).listed_as(CodeFormat(separators=("|",), none="-"))
    >>> sorted(columns.split("bus|bike")), columns.split("-")
    (['bike', 'bus'], set())
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
    >>> from nldd.coding.answers import CodeColumns
    >>> columns = CodeColumns(("codes",), none="-")
    >>> sorted(columns.split("bus; bike")), columns.split("-"), columns.split("")
    (['bike', 'bus'], set(), None)
    >>> columns.join(["bus", "bike"])
    'bus;bike'
    """

    names: tuple[str, ...]
    separator: str = ";"
    none: str = ""
    also: tuple[str, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether columns list codes, rather than being codes that are marked there."""
        return bool(self.separator)

    @property
    def separators(self) -> tuple[str, ...]:
        """All that stands between two codes of a cell, line breaks apart."""
        return (self.separator, *self.also)

    def read(self, table: TableReader, block: TableBlock) -> list[set[str] | None]:
        """The codes of each row of a block; None for a row that nobody has coded."""
        if self.listed:
            own = replace(self, none=table.no_code) if table.no_code else self
            return [own.gather(cells) for cells in self.cells(table, block)]
        places = {name: find_column(table, name, self.names) for name in self.names}
        numbered = enumerate(block.rows, block.first)
        return [_marked_codes(table, number, row, places) for number, row in numbered]

    def cells(self, table: TableReader, block: TableBlock) -> list[list[str]]:
        """What the columns say that list the codes, for each row."""
        places = [find_column(table, name, self.names) for name in self.names]
        return [[plain_text(row[place]).strip() for place in places] for row in block.rows]

    def gather(self, cells: Iterable[str]) -> set[str] | None:
        """All codes that the cells of a row list; None if none of them says anything."""
        found = [codes for cell in cells if (codes := self.split(cell)) is not None]
        return set().union(*found) if found else None

    def split(self, cell: str) -> set[str] | None:
        """The codes that a cell lists; None if it says nothing."""
        cell = cell.strip()
        if cell.startswith("[") and (found := _written_list(cell)) is not None:
            return found or None
        if self.none and cell == self.none:
            return set()
        if self.says_missing(cell):
            return None
        parts = {part.strip() for part in self._between.split(cell)} - {""}
        return parts - {self.none} if parts else None

    @cached_property
    def _between(self) -> re.Pattern[str]:
        return re.compile("|".join((BREAKS, *map(re.escape, self.separators))))

    def says_missing(self, cell: str) -> bool:
        """Whether a cell says, as programs write it, that nobody has coded the answer."""
        return cell.lower() in NOT_CODED and cell != self.none

    def listed_as(self, listing: CodeFormat) -> "CodeColumns":
        """The same columns, in a file that lists codes in its own way."""
        if listing == CodeFormat():
            return self
        if not self.listed:
            message = "The codes of the model stand in columns of 0 and 1, which are no lists."
            raise InputError(message, hint="leave out --sep and --no-code")
        first, *also = listing.separators or self.separators
        return replace(self, separator=first, also=tuple(also), none=listing.none or self.none)

    def join(self, codes: Sequence[str]) -> str:
        """Codes as one cell, listed as in the table that the model was fitted to."""
        return (self.separator or ";").join(codes) if codes else self.none

    def spread(self, cell: str) -> list[str]:
        """What :meth:`join` made, over the columns: one code in each, and the rest in the last."""
        n, codes = len(self.names), [cell]
        if n > 1 and cell != self.none:
            codes = cell.split(self.separator)
            codes[n - 1 :] = [self.separator.join(codes[n - 1 :])] if len(codes) >= n else []
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
        So many features more come from a file beside the table.
    id, coder : str
        Columns that say whose answer it is, and who coded it; empty where no column does.

    Examples
    --------
    >>> from nldd.coding.answers import CodeColumns, Columns
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

    def read(
        self, table: TableReader, block: TableBlock, chosen: Sequence[int] | None = None
    ) -> "Answers":
        """The answers of a block of rows, or of those that are `chosen`."""
        places = range(len(block.rows)) if chosen is None else chosen
        rows = [block.rows[i] for i in places]
        used = (*self.inputs, *self.codes.names)
        text, numeric, categorical = (
            [find_column(table, name, used) for name in names]
            for names in (self.text, self.numeric, self.categorical)
        )
        numbers = [[_number(table, block, i, j) for j in numeric] for i in places]
        return Answers(
            ["\n".join(plain_text(row[j]) for j in text) for row in rows],
            np.array(numbers, dtype=float).reshape(len(rows), len(numeric)),
            [tuple(plain_text(row[j]).strip() for j in categorical) for row in rows],
            self._read_extra(table, block, places),
            self._read_ids(table, rows),
        )

    def _read_ids(self, table: TableReader, rows: Sequence[Row]) -> list[str]:
        """Whose answers they are; nobody is known in a table without the column."""
        own = own_columns(table)
        if self.id not in own:
            return []
        ids = (row_identity(row, [own[self.id]])[0].strip() for row in rows)
        return ["" if name.lower() in MISSING else name for name in ids]

    def _read_extra(
        self, table: TableReader, block: TableBlock, places: Sequence[int]
    ) -> NDArray[np.float32]:
        """Extra features, in the order of the table, or by numbers that ``nldd predict`` wrote."""
        n_given = 0 if table.numbers is None else table.numbers.n_columns
        if n_given != self.n_extra:
            has = f"was fitted with {self.n_extra or 'no'} extra features of each answer"
            hint = EXTRA + ", made as for nldd fit" if self.n_extra else f"leave out {EXTRA}"
            raise InputError(f"The model {has}; got {n_given or 'none'}.", hint=hint)
        if table.numbers is None:
            return np.empty((len(places), 0), dtype=np.float32)
        rows = [_extra_row(table, table.numbers, block, i) for i in places]
        return table.numbers.rows(np.array(rows, dtype=np.intp))

    def check_extra(self, table: TableReader, n_rows: int) -> None:
        """Refuse a file of extra features that has rows beyond those of the table."""
        numbers = table.numbers
        if numbers is not None and ROW not in table.names and numbers.n_rows != n_rows:
            raise numbers.other_length(table.path.name, f"{n_rows}")


# Of answers that come from no table, and of the tables that a model of these reads.
LISTED = Columns(("answer",), CodeColumns(("codes",)))


@dataclass(frozen=True, eq=False)
class Answers:
    """What answers say, without codes.

    Attributes
    ----------
    texts : list of str
        One text an answer.
    numbers : ndarray of shape (n_answers, n_numeric)
        Numeric features, NaN where one is missing; none if left out.
    categories : list of tuple of str
        Categorical features, empty where one is missing; none if left out.
    extra : ndarray of float32 of shape (n_answers, n_extra)
        Features that a person has made of the answers, such as embeddings; none if left out.
    ids : list of str
        Respondents who gave the answers; empty where one is not known, and all if left out.
    keys : list of tuple of str
        By which an answer that comes a second time is known again: its row in a review, its cells,
        its id and words. Two answers that share one are the same; all are empty if left out.
    rows : list of int
        Numbers of the answers in their table, from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.coding import Answers
    >>> answers = Answers(["more buses", "a raise", "safe cycle paths"])
    >>> len(answers), answers[np.array([2])].texts
    (3, ['safe cycle paths'])
    """

    texts: list[str]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    categories: list[tuple[str, ...]] = field(default_factory=list)
    extra: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    ids: list[str] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("numbers", "extra"):
            values = getattr(self, name)
            if not values.shape[1]:
                object.__setattr__(self, name, np.empty((len(self), 0), dtype=values.dtype))
        if not self.categories:
            object.__setattr__(self, "categories", [()] * len(self))
        if not self.ids:
            object.__setattr__(self, "ids", [""] * len(self))
        if not self.keys:
            object.__setattr__(self, "keys", [()] * len(self))
        if not self.rows:
            object.__setattr__(self, "rows", list(range(1, len(self) + 1)))

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, places: NDArray[np.intp]) -> "Answers":
        texts, categories, ids, keys, rows = (
            [values[place] for place in places.tolist()]
            for values in (self.texts, self.categories, self.ids, self.keys, self.rows)
        )
        arrays = self.numbers[places], self.extra[places]
        return Answers(texts, arrays[0], categories, arrays[1], ids, keys, rows)

    def contents(self) -> list[tuple[str, bytes, tuple[str, ...], bytes]]:
        """All that each answer says, to tell whether two say the same."""
        rows = zip(self.texts, self.numbers, self.categories, self.extra, strict=True)
        return [(text, nums.tobytes(), words, more.tobytes()) for text, nums, words, more in rows]

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All the answers of the parts, in their order."""
        texts = [text for part in parts for text in part.texts]
        categories = [row for part in parts for row in part.categories]
        ids = [name for part in parts for name in part.ids]
        keys = [key for part in parts for key in part.keys]
        rows = [row for part in parts for row in part.rows]
        numbers, extra = (
            np.concatenate(arrays)
            for arrays in zip(*((part.numbers, part.extra) for part in parts), strict=True)
        )
        return cls(texts, numbers, categories, extra, ids, keys, rows)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What people decided on some answers, one entry per answer.

    Attributes
    ----------
    codes : list of (frozenset of str or None)
        The codes of each answer; None if nobody has decided, an empty set if no code applies.
    drawn : list of bool
        Which answers belong to the random check sample; none if left out.
    coders : list of str
        Who decided; empty if not known, and all if left out.
    times : list of str
        When, in UTC; empty if not known, and all if left out.
    source : str
        The file that they come from.
    sha256 : str
        Its checksum; of a review, that of its decisions.

    Examples
    --------
    >>> from nldd.coding import Decisions
    >>> decisions = Decisions([frozenset({"bus"}), None, frozenset()])
    >>> len(decisions), decisions.decided.tolist()
    (3, [0, 2])
    """

    codes: list[frozenset[str] | None]
    drawn: list[bool] = field(default_factory=list)
    coders: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    source: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        for name, missing in (("drawn", False), ("coders", ""), ("times", "")):
            if not getattr(self, name):
                object.__setattr__(self, name, [missing] * len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: NDArray[np.intp]) -> "Decisions":
        lists = (self.codes, self.drawn, self.coders, self.times)
        some = ([values[place] for place in places.tolist()] for values in lists)
        return Decisions(*some, source=self.source, sha256=self.sha256)  # type: ignore[arg-type]

    @property
    def decided(self) -> NDArray[np.intp]:
        """Places of the answers that somebody has decided."""
        return np.flatnonzero([codes is not None for codes in self.codes])


def find_column(table: TableReader, name: str, used: Sequence[str] = ()) -> int:
    """Where a column stands that a model reads; an error proposes none that is `used` already."""
    for known in (name, escape_formula(name)):  # as a CSV file of ours may have it
        if known in table.names:
            return table.names.index(known)
    taken = {*used, *map(escape_formula, used)}
    free = [other for other in table.names if other not in taken and not other.startswith(PREFIX)]
    return table.column(name, free)


def unescape_cell(cell: Cell) -> Cell:
    """A cell without the apostrophes by which our CSV files keep it from being run."""
    return unescape_formula(cell) if isinstance(cell, str) else cell


def plain_text(cell: Cell) -> str:
    return cell_text(unescape_cell(cell))


def own_columns(table: TableReader, codes: Container[str] = ()) -> dict[str, int]:
    """Columns that are the answer's own, rather than codes or what nldd has added."""
    names = ((str(unescape_cell(name)), j) for j, name in enumerate(table.names))
    return {n: j for n, j in names if not n.startswith(PREFIX) and n not in codes}


def row_identity(row: Sequence[Cell], places: Iterable[int]) -> tuple[str, ...]:
    """Cells of a row; ids as they are after a spreadsheet took them for numbers."""
    texts = (plain_text(row[place]) for place in places)
    return tuple(text.lstrip("0") or "0" if text.isdecimal() else text for text in texts)


def digest_rows(rows: Iterable[tuple[str, ...]], names: Collection[str]) -> list[str]:
    """What rows are known by, short: a digest of their cells in the named columns."""
    contents = ("\x1f".join(map("=".join, zip(names, row, strict=True))) for row in rows)
    return [sha256(content.encode()).hexdigest() for content in contents]


def _number(table: TableReader, block: TableBlock, i: int, column: int) -> float:
    cell = unescape_cell(block.rows[i][column])
    try:
        value = cell_number(cell, decimal=table.format.decimal)
        if value is not None and not abs(value) <= LARGEST:
            raise ValueError
    except ValueError:
        found, where = quote(cell_text(cell)), table.where(block.first + i, column)
        hint = f"correct the cell, or fit the model with --categorical {quote(table.names[column])}"
        raise InputError(f"{where}: expected a number, got {found}.", hint=hint) from None
    return np.nan if value is None else value


def _extra_row(table: TableReader, numbers: "NumberFile", block: TableBlock, i: int) -> int:
    """The place of an answer's extra features in their file, from 0."""
    number = block.first + i
    if ROW in table.names:
        cell = block.rows[i][table.names.index(ROW)]
        text = plain_text(cell).strip().removesuffix(".0")
        if not (text.isdecimal() and 1 <= int(text) <= numbers.n_rows):
            where = table.where(number, table.names.index(ROW))
            message = f"{where}: expected a row of {numbers.path.name}, 1 to {numbers.n_rows}"
            hint = f"leave the column {ROW} as nldd predict wrote it, and give the same file"
            raise InputError(f"{message}, got {quote(text)}.", hint=hint)
        return int(text) - 1
    if number > numbers.n_rows:
        raise numbers.other_length(table.path.name, "more")
    return number - 1


def _written_list(cell: str) -> set[str] | None:
    """Codes of a list in JSON or in Python, as programs write one into a cell."""
    if _PYTHON_LIST.fullmatch(cell):
        return {text[1:-1].strip() for text in re.findall(_QUOTED, cell)} - {""}
    with suppress(ValueError, RecursionError):
        value = json.loads(cell)
        if isinstance(value, list) and all(isinstance(x, str | int | float) for x in value):
            return {cell_text(name).strip() for name in value} - {""}
    return None


def _marked_codes(table: TableReader, number: int, row: Row, places: dict[str, int]) -> Any:
    hint = "correct the cell; or --labels NAMES for columns that hold codes or lists of them"
    check = (YES | NO | MISSING, "0 or 1 (or yes, no, x)", hint)
    marks = {name: read_mark(table, number, row, j, *check) for name, j in places.items()}
    if MISSING.issuperset(marks.values()):
        return None
    return {name for name, mark in marks.items() if mark in YES}


def read_mark(
    table: TableReader, number: int, row: Row, place: int, known: Container[str], *advice: str
) -> str:
    """What people have put into a cell; `advice` is what was expected, and what to do about it."""
    mark, (expected, hint) = plain_text(row[place]).strip().lower(), advice
    # Behind a label such as "not mentioned", a statistics file has a number.
    if mark not in known and (value := cell_text(getattr(row[place], "value", None))) in known:
        mark = value or mark
    if mark not in known:
        message = f"{table.where(number, place)}: expected {expected}, got {quote(mark)}."
        raise InputError(message, hint=hint)
    return mark
