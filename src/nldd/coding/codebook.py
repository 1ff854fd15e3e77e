"""The codebook of a study: what codes are called, what they mean, and which have become others.

A code is what stands in the data, perhaps a number; its name is for people. Codes that were merged
or renamed keep their entry, so that a table which still has the old code is understood. A model
takes over a changed codebook by :func:`apply_codebook`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pandas as pd

from nldd._files import file_sha256
from nldd._wording import quote, quote_first
from nldd.coding.answers import Decisions
from nldd.coding.code_slips import close_code
from nldd.coding.columns import CodeColumns
from nldd.coding.predictions import Watch, no_progress
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet, TableFormat, plain_text
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError
from nldd.persistence._archive import read_manifest
from nldd.present.table import Table, tabulate, to_text
from nldd.present.text import count_noun, visible

if TYPE_CHECKING:
    from nldd.coding.model import CodingModel

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
            passed = [code]
            while last := following.get(passed[-1]):
                if last in passed:
                    circle = " into ".join(map(quote, [*passed, last]))
                    hint = "let each chain of merged codes end at a code that stays"
                    raise InputError(f"Codes are merged in a circle: {circle}.", hint=hint)
                passed.append(last)
            found[code] = passed[-1]
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
    # Of equal headings, the first counts.
    headings = {"_".join(plain_text(n).casefold().split()): n for n in reversed(table.names)}
    columns: dict[str, str] = {}
    for field, known in HEADINGS.items():
        fitting = (headings[heading] for heading in known if heading in headings)
        if column := next((name for name in fitting if name not in columns.values()), None):
            columns[field] = column
    if "code" not in columns or (len(columns) == 1 and len(table.names) > 1):
        lacks = "of codes" if "code" not in columns else "that says anything of the codes"
        message = f"{table.path.name} has no column {lacks}; found {quote_first(table.names)}."
        hint = "name the columns code (or value), name (or label, text), description, merged_into"
        raise InputError(message, hint=hint)
    return columns


def _entry(table: Spreadsheet, row: int, texts: dict[str, str]) -> CodebookEntry:
    code, order = texts["code"], texts.pop("order", "").removesuffix(".0") or "0"
    wrong, hint = "", ""
    if not code:
        wrong, hint = "a code is missing", "write the code as in the data, or delete the row"
    elif not order.isdecimal() or len(order) > 9:
        wrong, hint = f"expected a whole number as order, got {quote(order)}", "or leave it empty"
    elif texts.get("merged_into") == code:
        wrong = f"{quote(code)} is merged into itself"
        hint = "leave merged_into empty for a code that stays"
    if wrong:
        raise InputError(f"{table.where(row)}: {wrong}.", hint=hint)
    return CodebookEntry(**texts, order=int(order))


@dataclass(frozen=True)
class CodebookUse:
    """A codebook, and how many answers carry each of its codes; those left out are 0."""

    codebook: Codebook
    counts: Mapping[str, int]

    def __str__(self) -> str:
        return to_text(self.table())

    def table(self) -> Table:
        """Make a table of the codes in their order, those that have become others last."""
        columns: dict[str, Any] = {
            "code": lambda e: visible(e.code),
            "name": lambda e: visible(e.name),
            "description": lambda e: visible(e.description, LONGEST_DESCRIPTION),
            "merged into": lambda e: visible(e.merged_into),
            "answers": lambda e: f"{self.counts.get(e.code, 0):,}",
        }
        title = "Codes, what they are called and what they mean"
        return tabulate("codebook", title, self.codebook.entries, columns)

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


def write_codebook(path: Path | str, codebook: Codebook, counts: Mapping[str, int]) -> None:
    """Write a codebook as a table, for people to change.

    Parameters
    ----------
    path : Path or str
        File for the table, in the format that its ending says.
    codebook : Codebook
        Its entries are the rows, in their order.
    counts : mapping from str to int
        How many answers carry each code; those left out are 0.

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
    write_table(path, CodebookUse(codebook, counts).to_frame(), like=TableFormat(kind="xlsx"))


def apply_codebook(
    model_path: Path,
    path: Path,
    options: TableOptions = TableOptions(),
    watch: Watch = no_progress,
    n_jobs: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple["CodingModel", list[str]]:
    r"""Let a saved model take over names, merges and the order of a codebook.

    A code that is merged into one that is there becomes it in all answers; one that is merged into
    a new code is renamed. Where labels changed, all is fitted anew to the model's own answers; a
    mere rename takes no fit. The model before is kept, see :func:`undo_model`.

    Parameters
    ----------
    model_path : Path
        The model file.
    path : Path
        A codebook, see :func:`read_codebook`.
    options : TableOptions, optional
        How the codebook is opened.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.
    n_jobs : int, optional
        Threads of a new fit.
    tell : callable, optional
        Is told in words if another process is at work on the model, for which this one waits.

    Returns
    -------
    model : CodingModel
        With the codebook.
    changes : list of str
        What that meant, in words.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, apply_codebook, fit_table
    >>> from nldd import load_survey
    >>> import pandas as pd
    >>> from nldd.coding.tables.writing import write_table
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> write_table(table, pd.DataFrame(rows[:80], columns=survey.header))
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> book = Path(folder.name, "codebook.csv")
    >>> _ = book.write_text("code,name,merged_into\ncycling,,bikes\nsafety,Crime and fear,\n")
    >>> changed, changes = apply_codebook(model, book)
    >>> changed.labels
    ('bikes', 'housing costs', 'safety')
    >>> changes
    ["'cycling' renamed to 'bikes'.", '1 code with another name or description.']
    >>> folder.cleanup()
    """
    # Here, as models have a codebook.
    from nldd.coding.model_file import load_coding_model, model_lock, replace_model

    read_manifest(model_path)
    with model_lock(model_path, tell):
        old = load_coding_model(model_path)
        given, digest = read_codebook(path, options), file_sha256(path)
        _check_codes_of_book(old, given, path)
        codebook = old.codebook.updated(given)
        check_listable(codebook, old.columns.codes)
        if codebook == old.codebook:
            return old, []
        model = recode(replace(old, settings=replace(old.settings, n_jobs=n_jobs)), codebook, watch)
        model = model.record("codebook", path.name, digest, 0, 0)
        replace_model(model, model_path)
    return model, _changes(old, codebook)


def recode(model: "CodingModel", codebook: Codebook, watch: Watch = no_progress) -> "CodingModel":
    """The model with other codes: fitted anew where some were merged, and else as it was."""
    from nldd.coding.model import fit_coding_model

    labels = tuple(map(codebook.current, model.labels))
    if len(set(labels)) == len(labels):
        before = model.fallback
        fallback = None if before is None else recode(before, codebook, watch)
        return replace(model, labels=labels, codebook=codebook, fallback=fallback)
    codes = [frozenset(names) for names in model.codes(model.Y)]
    known = Decisions([*codes], model.drawn.tolist(), agreed=model.taught.tolist())
    found = fit_coding_model(model.answers, known, model.columns, model.settings, watch, codebook)
    return replace(found, history=model.history, earlier=(*model.earlier, model.test))


def _check_codes_of_book(model: "CodingModel", given: Codebook, path: Path) -> None:
    """Refuse words that nobody has, but that look like a known code misspelt."""
    known = sorted({*model.labels, *model.codebook.by_code})
    targets = {entry.merged_into for entry in given.entries} - {""}
    for word in sorted({*given.by_code, *targets} - {*known}):
        meant = close_code(word, known)
        # A code may become a word that is like its own.
        if meant and given.current(meant) != word:
            unknown = f"the model does not know the code {quote(word)}, but {quote(meant)}"
            column = "merged_into" if word in targets else "code"
            hint = f"write {quote(meant)} in the column {column}; or leave the row out"
            raise InputError(f"{path.name}: {unknown}.", hint=hint)


def _changes(model: "CodingModel", codebook: Codebook) -> list[str]:
    """What a codebook does to the codes of a model, in words."""
    becomes: dict[str, list[str]] = {}
    for code in model.labels:
        becomes.setdefault(codebook.current(code), []).append(code)
    changes = []
    for new, old in becomes.items():
        if len(old) > 1:
            others = [code for code in old if code != new]
            changes.append(f"{quote_first(others)} merged into {quote(new)}.")
        elif old != [new]:
            changes.append(f"{quote(old[0])} renamed to {quote(new)}.")
    before = model.codebook.by_code
    pairs = [(e, before.get(e.code, CodebookEntry(e.code))) for e in codebook.entries]
    named = [e for e, was in pairs if (e.name, e.description) != (was.name, was.description)]
    if n_named := sum(e.code in becomes for e in named):
        changes.append(f"{count_noun(n_named, 'code')} with another name or description.")
    here = [code for code in model.codes_in_order if code in becomes]
    if codebook.sorted(here) != here:
        changes.append("The order of the codes changed.")
    known = {*model.labels, *becomes, *before}
    if new_codes := [code for code in codebook.codes if code not in known]:
        rename = "to rename a code, write the new word into merged_into of its row"
        changes.append(f"Codes that no answer has yet: {quote_first(new_codes)}; {rename}.")
    return changes
