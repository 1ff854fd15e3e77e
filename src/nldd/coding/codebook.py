"""The codebook of a study: what codes are called, what they mean, and which have become others.

A code is what stands in the data, perhaps a number; its name is for people. Codes that were merged
or renamed keep their entry, so that a table which still has the old code is understood.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd

from nldd._wording import quote, quote_first
from nldd.coding.columns import CodeColumns
from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet, close_matches, plain_text
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError
from nldd.present.table import Table, tabulate, to_text
from nldd.present.text import visible

FIELDS = ("code", "name", "description", "merged_into", "order")
# How codebooks call a field, those of survey firms too; of several columns, the first counts.
HEADINGS = {field: (field,) for field in FIELDS} | {
    "code": ("code", "value"),
    "name": ("name", "label", "text"),
    "description": ("description", "text"),
}
LARGEST_ORDER, LONGEST_DESCRIPTION = 10**9, 60


@dataclass(frozen=True)
class CodebookEntry:
    """A code of a codebook.

    Attributes
    ----------
    code : str
        As it stands in the data; perhaps a number.
    name, description : str
        For people.
    merged_into : str
        The code that it has become, if any.
    order : int
        Its place from 1 on; 0 for none.

    Examples
    --------
    >>> from nldd.coding.codebook import CodebookEntry
    >>> CodebookEntry("7", "Public transport").shown
    '7: Public transport'
    """

    code: str
    name: str = ""
    description: str = ""
    merged_into: str = ""
    order: int = 0

    @property
    def shown(self) -> str:
        """What a report shows: the code, and its name behind it."""
        return f"{self.code}: {self.name}" if self.name and self.name != self.code else self.code


@dataclass(frozen=True)
class Codebook:
    """What codes are called, what they mean, and which have become others.

    Codes without an entry are what they are called.

    Attributes
    ----------
    entries : tuple of CodebookEntry
        Each code once.

    Examples
    --------
    >>> from nldd.coding import Codebook
    >>> from nldd.coding.codebook import CodebookEntry
    >>> book = Codebook((CodebookEntry("1", "Transport"), CodebookEntry("2", merged_into="1")))
    >>> book.shown("1"), book.current("2"), book.codes
    ('1: Transport', '1', ('1',))
    """

    entries: tuple[CodebookEntry, ...] = ()

    @cached_property
    def by_code(self) -> Mapping[str, CodebookEntry]:
        return {entry.code: entry for entry in self.entries}

    @cached_property
    def _current(self) -> Mapping[str, str]:
        """What each merged code has become, through all steps."""
        following = {e.code: e.merged_into for e in self.entries if e.merged_into}
        found: dict[str, str] = {}
        for code in following:
            passed, last = {code: None}, code
            while last in following:
                last = following[last]
                if last in passed:
                    names = [*passed, last]
                    circle = " into ".join(map(quote, names[names.index(last) :]))
                    hint = "let each chain of merged codes end at a code that stays"
                    raise InputError(f"Codes are merged in a circle: {circle}.", hint=hint)
                passed[last] = None
            found[code] = last
        return found

    def current(self, code: str) -> str:
        """The code that counts: the code itself, or what it was merged into."""
        return self._current.get(code, code)

    def translate(self, codes: Iterable[str]) -> set[str]:
        """Codes of an answer as they count today."""
        return set(map(self.current, codes))

    def unique(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Codes as they count today, each once, in their order."""
        return tuple(dict.fromkeys(map(self.current, codes)))

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes that count, and have an entry."""
        return tuple(entry.code for entry in self.entries if not entry.merged_into)

    def shown(self, code: str) -> str:
        """A code with its name, as reports show it."""
        return self.by_code[code].shown if code in self.by_code else code

    def sorted(self, codes: Sequence[str]) -> list[str]:
        """Codes in the order of the codebook; those that have no place there come behind."""
        place = {e.code: e.order for e in self.entries if e.order}
        return sorted(codes, key=lambda code: place.get(code, LARGEST_ORDER + 1))

    def for_labels(self, labels: Sequence[str]) -> "Codebook":
        """The codebook with an entry for each of these codes, in its order, merged ones last."""
        missing = [CodebookEntry(code) for code in labels if code not in self.by_code]
        both = {entry.code: entry for entry in (*self.entries, *missing)}
        here = [both[code] for code in self.sorted([c for c in both if not both[c].merged_into])]
        gone = [entry for entry in both.values() if entry.merged_into]
        return Codebook((*here, *gone))

    def updated(self, new: "Codebook") -> "Codebook":
        """The codebook with entries of another one, which win, and of codes that stay."""
        joined = Codebook(tuple({**self.by_code, **new.by_code}.values()))
        joined.current("")  # says so if codes are merged in a circle
        return joined


def read_codebook(path: Path, options: TableOptions = TableOptions()) -> Codebook:
    r"""Read a codebook from a table.

    Parameters
    ----------
    path : Path
        A table with a column ``code`` or ``value``, and any of ``name`` (or ``label``, ``text``),
        ``description``, ``merged_into`` and ``order``, in any case. Others are left alone, but
        refused where nothing else is there.
    options : TableOptions, optional
        How the table is opened.

    Returns
    -------
    Codebook
        With an entry for each row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import read_codebook
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name, "codebook.csv")
    >>> _ = path.write_text("code,name,merged_into\n1,Transport,\n2,Buses,1\n")
    >>> [(entry.code, entry.name, entry.merged_into) for entry in read_codebook(path).entries]
    [('1', 'Transport', ''), ('2', 'Buses', '1')]
    >>> folder.cleanup()
    """
    table = read_table(path, options)
    columns = {field: table.texts(name) for field, name in _find_fields(table).items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    texts = [{field: normalize("NFC", cell.strip()) for field, cell in row.items()} for row in rows]
    entries = [_entry(table, row, own) for row, own in enumerate(texts, 1) if any(own.values())]
    if not entries:
        hint = "nldd codebook model.nldd -o codebook.csv writes one to start from"
        raise InputError(f"{path.name} has no codes.", hint=hint)
    repeated = [code for code, n in Counter(e.code for e in entries).items() if n > 1]
    if repeated:
        named = f"{path.name}: more than one row for the code {quote_first(repeated)}."
        raise InputError(named, hint="leave one row for each code")
    found = Codebook(tuple(entries))
    found.current("")
    return found


def check_listable(codebook: Codebook, columns: CodeColumns) -> None:
    """Refuse codes that a cell which lists codes would not give back as they are."""
    for entry in codebook.entries if columns.listed else ():
        code = entry.merged_into or entry.code
        if columns.split(code) != frozenset({code}):
            by = " or ".join(map(quote, columns.separators))
            message = f"{quote(code)} cannot be a code: cells that list it would be read otherwise."
            raise InputError(message, hint=f"a code without {by}, and not NA or the like")


def _find_fields(table: Spreadsheet) -> dict[str, str]:
    """The column of each field that a table has; one that says nothing of its codes is refused."""
    headings: dict[str, str] = {}
    for name in table.names:
        headings.setdefault("_".join(plain_text(name).casefold().split()), name)
    columns: dict[str, str] = {}
    for field, known in HEADINGS.items():
        fitting = (headings[heading] for heading in known if heading in headings)
        if column := next((name for name in fitting if name not in columns.values()), None):
            columns[field] = column
    if "code" not in columns or (len(columns) == 1 and len(table.names) > 1):
        lacks = "of codes" if "code" not in columns else "that says anything of the codes"
        message = f"{table.path.name} has no column {lacks}; found {quote_first(table.names)}."
        hint = "name the columns code (or value), name (or label, text), description, merged_into"
        near = [] if "code" in columns else close_matches("code", table.names, n=1)
        raise InputError(
            message, hint="".join(f"rename {quote(n)} to code; or " for n in near) + hint
        )
    return columns


def _entry(table: Spreadsheet, row: int, texts: dict[str, str]) -> CodebookEntry:
    where = table.where(row)
    if not texts["code"]:
        hint = "write the code as it stands in the data, or delete the row"
        raise InputError(f"{where}: a code is missing.", hint=hint)
    order = texts.pop("order", "").removesuffix(".0") or "0"
    if not order.isdecimal() or len(order) > 9:
        message = f"{where}: expected a whole number as order, got {quote(order)}."
        raise InputError(message, hint="1, 2, 3, ...; or leave it empty")
    entry = CodebookEntry(**texts, order=int(order))
    if entry.merged_into == entry.code:
        same = f"{where}: {quote(entry.code)} is merged into itself."
        raise InputError(same, hint="leave merged_into empty for a code that stays")
    return entry


@dataclass(frozen=True)
class CodebookUse:
    """A codebook, and how many answers carry each of its codes; those left out are 0."""

    codebook: Codebook
    counts: Mapping[str, int]

    def __str__(self) -> str:
        return to_text(self.table())

    def table(self) -> Table:
        """Make a table of the codes in their order, those that have become others last."""
        return tabulate(
            "codebook",
            "Codes, what they are called and what they mean",
            self.codebook.entries,
            {
                "code": lambda e: visible(e.code),
                "name": lambda e: visible(e.name),
                "description": lambda e: visible(e.description, LONGEST_DESCRIPTION),
                "merged into": lambda e: visible(e.merged_into),
                "answers": lambda e: f"{self.counts.get(e.code, 0):,}",
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = self.counts
        codes = [asdict(e) | {"answers": counts.get(e.code, 0)} for e in self.codebook.entries]
        return {"codes": codes}

    def to_frame(self) -> pd.DataFrame:
        """One row per code, with places in a row, so that the order stays what it was."""
        rows = self.to_dict()["codes"]
        for place, row in enumerate(rows, 1):
            row["order"] = "" if row["merged_into"] else place
        return pd.DataFrame(rows, columns=(*FIELDS, "answers"), dtype=object)


def write_codebook(
    path: Path | str, codebook: Codebook, counts: Mapping[str, int], raw: bool = False
) -> None:
    """Write a codebook as a table, for people to change.

    Parameters
    ----------
    path : Path or str
        File for the table, in the format that its ending says.
    codebook : Codebook
        Its entries are the rows, in their order.
    counts : mapping from str to int
        How many answers carry each code; those left out are 0.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Codebook, write_codebook
    >>> from nldd.coding.codebook import CodebookEntry
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name, "codebook.csv")
    >>> entries = (CodebookEntry("1", "Transport"), CodebookEntry("2", "Pay"))
    >>> write_codebook(path, Codebook(entries), {"1": 40})
    >>> print(path.read_text("utf-8-sig"), end="")
    code,name,description,merged_into,order,answers
    1,Transport,,,1,40
    2,Pay,,,2,0
    >>> folder.cleanup()
    """
    # With a byte order mark, which spreadsheets need to read letters beyond ASCII.
    like = TableFormat(kind="xlsx")
    write_table(path, CodebookUse(codebook, counts).to_frame(), like=like, raw=raw)
