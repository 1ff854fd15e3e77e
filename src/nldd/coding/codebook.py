"""The codebook of a study: what codes are called, what they mean, and which have become others.

A code is what stands in the data, perhaps a number; its name is for people. Codes that were merged
or renamed keep their entry, so that a table which still has the old code is understood.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from nldd._wording import quote, quote_first
from nldd.coding.columns import CodeColumns
from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.reading import TableOptions
from nldd.coding.tables.spreadsheet import plain_text
from nldd.coding.tables.writer import create_table
from nldd.exceptions import InputError

FIELDS = ("code", "name", "description", "merged_into", "order")
LARGEST_ORDER = 10**9


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
        """What each code has become, through all steps."""
        following = {e.code: e.merged_into for e in self.entries if e.merged_into}
        found: dict[str, str] = {}
        for code in following:
            passed = dict.fromkeys([code])
            last = code
            while last in following and last not in found:
                last = following[last]
                if last in passed:
                    names = [*passed, last]
                    circle = " into ".join(map(quote, names[names.index(last) :]))
                    hint = "let each chain of merged codes end at a code that stays"
                    raise InputError(f"Codes are merged in a circle: {circle}.", hint=hint)
                passed[last] = None
            found |= dict.fromkeys(passed, found.get(last, last))
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
        A table with a column ``code``, and any of ``name``, ``description``, ``merged_into`` and
        ``order``.
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
    entries = []
    with options.open(path) as table:
        names = [name.strip().lower().replace(" ", "_") for name in table.names]
        if "code" not in names:
            table.column("code")
        places = {field: names.index(field) for field in FIELDS if field in names}
        for block in table.blocks():
            for number, row in enumerate(block.rows, block.first):
                texts = {f: normalize("NFC", plain_text(row[j]).strip()) for f, j in places.items()}
                if any(texts.values()):
                    entries.append(_entry(table, number, texts))
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
        if columns.split(code) != {code}:
            by = " or ".join(map(quote, columns.separators))
            message = f"{quote(code)} cannot be a code: cells that list it would be read otherwise."
            raise InputError(message, hint=f"a code without {by}, and not NA or the like")


def _entry(table: TableReader, number: int, texts: dict[str, str]) -> CodebookEntry:
    if not texts["code"]:
        hint = "write the code as it stands in the data, or delete the row"
        raise InputError(f"{table.where(number)}: a code is missing.", hint=hint)
    order = texts.pop("order", "").removesuffix(".0") or "0"
    if not order.isdecimal() or len(order) > 9:
        place = f"{table.where(number)}: expected a whole number as order"
        raise InputError(f"{place}, got {quote(order)}.", hint="1, 2, 3, ...; or leave it empty")
    entry = CodebookEntry(**texts, order=int(order))
    if entry.merged_into == entry.code:
        same = f"{table.where(number)}: {quote(entry.code)} is merged into itself."
        raise InputError(same, hint="leave merged_into empty for a code that stays")
    return entry


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
    with create_table(path, (*FIELDS, "answers"), like=like, raw=raw) as writer:
        for place, entry in enumerate(codebook.entries, 1):
            cells = asdict(entry) | {"order": "" if entry.merged_into else place}
            writer.write([(*cells.values(), counts.get(entry.code, 0))])
