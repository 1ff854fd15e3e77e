"""A store as a table: the rows that it was made from, with what people decided filled in.

It has the columns of a review that ``nldd predict`` writes, and says of each row what such a file
would say once it is filled in. So whatever reads that reads a store as well.
"""

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from nldd._wording import quote_first
from nldd.coding.columns import CodeColumns
from nldd.coding.model import CodingModel
from nldd.coding.own_columns import unique_column_names
from nldd.coding.review.log import SKIPPED, ItemOutcome, latest, outcomes
from nldd.coding.review.queue import random_order
from nldd.coding.review.records import Item, Round, Study, Suggestion, pack
from nldd.coding.review.store import Store
from nldd.coding.review.store_file import is_store
from nldd.coding.tables.cells import Cell, TableFormat, cell_text
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.reading import TableOptions
from nldd.present.formulas import escape_formula
from nldd.present.text import count_noun

Row = tuple[Cell, ...]
# The cell of a list to which no code applies; in a store nobody has chosen a mark for that.
NO_CODE = "(no code)"
OK, SUGGESTED, STATUS, CHANCE, THETA, DRAWN, ROW = (
    f"nldd_{name}" for name in ("ok", "codes", "status", "chance", "theta", "drawn", "row")
)
WRITTEN = ("kind", "encoding", "separator", "bom", "newline", "sheet")


def is_of_table(path: Path, table_path: Path, options: TableOptions) -> bool:
    """Whether a store holds the rows of a table as they are now, however its file was saved."""
    with Store.open(path, write=False) as store, options.open(table_path) as table:
        rows = (row for block in table.blocks() for row in block.rows)
        if tuple(table.header) != store.study.header:
            return False
        both = zip_longest((item.cells for item in store.items()), rows, fillvalue=())
        return all(list(map(cell_text, ours)) == list(map(cell_text, row)) for ours, row in both)


def describe_table(table: TableReader, model: "CodingModel") -> dict[str, Any]:
    """How a table is written and where a model has its codes: `table_format` of a study."""
    codes = model.columns.codes
    layout = {
        "names": codes.names,
        "separator": codes.separator,
        "none": codes.none,
        "also": codes.also,
        "columns": code_columns(model),
    }
    written = {name: getattr(table.format, name) for name in WRITTEN}
    return {**written, "codes": layout}


def code_columns(model: "CodingModel") -> dict[str, str]:
    """The column of 0 and 1 of each code; there is none where codes are listed."""
    columns: dict[str, str] = {}
    for name in () if model.columns.codes.listed else model.columns.codes.names:
        # Of columns that were merged into one code, the first has the mark.
        columns.setdefault(model.codebook.current(name), name)
    return columns


def written_format(study: Study) -> TableFormat:
    """How the table of a study was written."""
    known = {name: study.table_format[name] for name in WRITTEN if name in study.table_format}
    return TableFormat(**{"kind": "csv", **known})


@dataclass(frozen=True)
class ReviewLayout:
    """Where codes stand in the tables of a model; columns of 0 and 1 are known by their codes."""

    codes: "CodeColumns"
    columns: Mapping[str, str]

    @classmethod
    def of(cls, study: Study, rounds: Sequence[Round] = ()) -> "ReviewLayout":
        """That of a study; without word on it, a column lists them.

        The model of the last of the `rounds` may have other names for some.
        """
        found = study.table_format.get("codes", {})
        names = tuple(found.get("names", ("codes",)))
        separator = found.get("separator", study.separator)
        also = tuple(found.get("also", ()))
        # The mark of the model's tables may be a code here, or missing.
        codes = CodeColumns(names, separator, NO_CODE if separator else "", also)
        columns = found.get("columns", {})
        renamed = rounds[-1].facts.get("columns", {}) if rounds else {}
        renamed = {code: name for code, name in renamed.items() if name in names}
        return cls(codes, {**columns, **renamed})

    def unknown(self, codes: AbstractSet[str]) -> set[str]:
        """Codes for which there is no column."""
        return set() if self.codes.listed else set(codes) - self.columns.keys()

    def cells(self, codes: AbstractSet[str]) -> list[Cell]:
        """Codes as the columns of the model hold them, so that they are read as what they are."""
        if not self.codes.listed:
            marked = {self.columns[code] for code in codes}
            return [int(name in marked) for name in self.codes.names]
        return [_listed(codes) or NO_CODE, *[""] * (len(self.codes.names) - 1)]


def _listed(codes: Iterable[str]) -> str:
    """Codes as JSON, to be read alike whatever they look like, and whatever else separates codes.

    Without apostrophes, which might be taken for those that keep a cell from being run.
    """
    found = sorted(codes)
    return json.dumps(found, ensure_ascii=False).replace("'", r"\u0027") if found else ""


class StoredRows:
    """Rows of the table that a store was made from, with its own columns; kinds say which."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with Store.open(path, write=False) as store:
            self.study = store.study
        self.header = self.study.header
        # Rows that belonged to the header are gone, so that none is to be looked for.
        self.format = replace(written_format(self.study), kind="review")
        self._is_read = False

    def fraction(self) -> float:
        return float(self._is_read)

    def notes(self) -> list[str]:
        return []

    def advice(self, hint: str) -> str:
        return hint


class DecidedRows(StoredRows):
    """Rows that are for people, or that people have decided, in the columns of a review.

    Or the `whole` table, with what the machine first said of each row.
    """

    def __init__(
        self,
        path: Path,
        *,
        until: int | None = None,
        numbered: bool = False,
        whole: bool = False,
    ) -> None:
        super().__init__(path)
        self._whole = whole
        with Store.open(path, write=False) as store:
            entries, outlines = store.entries(until=until), store.outlines()
            self.layout = ReviewLayout.of(self.study, store.rounds())
        self.outcomes = outcomes(entries)
        skipped = {
            item
            for item, by in latest(entries).items()
            if any(entry.after.state == SKIPPED for entry in by.values())
        }
        places = random_order(len(outlines), self.study.seed).tolist()
        ranks = zip(places, outlines, strict=True)
        drawn = [item for _, item in sorted((rank, line[0]) for rank, line in ranks if line[1])]
        self._n_avoided = _count_avoided(drawn, self.outcomes, skipped)
        # The rows that were read: of which table, and which row of it.
        self.row_names: list[str] = []
        names, known = self.layout.codes.names, list(map(escape_formula, self.header))
        self._places = {
            n: known.index(escape_formula(n)) for n in names if escape_formula(n) in known
        }
        self._new = [name for name in names if name not in self._places]
        self._numbered = numbered and ROW not in self.header
        added = [OK, SUGGESTED, STATUS, CHANCE, THETA, DRAWN, *([ROW] if self._numbered else [])]
        taken = {*self.header, *names}
        self.header = (*self.header, *self._new, *unique_column_names(added, taken))

    def decided(self, item: int) -> AbstractSet[str] | None:
        """The codes of an item on which people agree, if the columns of the model can hold them."""
        found = self.outcomes.get(item)
        if found is None or found.codes is None or self.layout.unknown(found.codes):
            return None
        return found.codes

    def rows(self) -> Generator[Row, None, None]:
        self.row_names.clear()
        with Store.open(self.path, write=False) as store:
            for item, said in with_suggestions(store):
                for_people = item.drawn or said is None or said.status != "auto"
                touched = for_people or item.item in self.outcomes
                decided = self.decided(item.item)
                if self._whole or decided is not None or (touched and item.given is None):
                    self.row_names.append(f"{self.study.table_sha256}:{item.item}")
                    given = item.given if self._whole and decided is None else decided
                    yield self._row(item, said, given)
        self._is_read = True

    def _row(self, item: Item, said: Suggestion | None, decided: AbstractSet[str] | None) -> Row:
        names, row = self.layout.codes.names, list(item.cells)
        cells = [""] * len(names) if decided is None else self.layout.cells(decided)
        by_name = dict(zip(names, cells, strict=True))
        for name, place in self._places.items():
            row[place] = by_name[name]
        added: list[Cell] = ["" if decided is None else "x"]
        # Beside an answer that nobody has decided, a suggestion would look like a decision.
        if said is not None and (self._whole or (decided is not None and not item.drawn)):
            doubts = (said.details.get(name) for name in ("chance", "theta"))
            added += [_listed(said.codes), said.status]
            added += ["" if doubt is None else doubt for doubt in doubts]
        else:
            added += ["", "coded" if self._whole and item.given is not None else "", "", ""]
        added += ["yes" if item.drawn else "no", *([item.item] if self._numbered else [])]
        return (*row, *(by_name[name] for name in self._new), *added)

    def notes(self) -> list[str]:
        found = self.outcomes.values()
        n_apart = sum(outcome.disagree for outcome in found)
        taken = (o for i, o in self.outcomes.items() if self.decided(i) is not None)
        n_flagged = sum(any(entry.after.flag for entry in o.by.values()) for o in taken)
        unknown = set(chain(*(self.layout.unknown(o.codes) for o in found if o.codes)))
        n_unknown = sum(bool(o.codes and self.layout.unknown(o.codes)) for o in found)
        notes = []
        if n_apart:
            which = count_noun(n_apart, "answer")
            notes.append(f"{which} on which coders disagree: not taken; settle them on the page.")
        if self._n_avoided:
            how = "skipped, passed over or in dispute"
            which = f"{count_noun(self._n_avoided, 'answer')} drawn at random, {how}"
            why = "the others drawn are easier than new ones, and the promise a little too good"
            notes.append(f"{which}: not taken. Until they are decided, {why}.")
        if n_flagged:
            which = count_noun(n_flagged, "answer")
            notes.append(f"{which} with a flag: taken as they are coded.")
        if unknown:
            which = f"{count_noun(n_unknown, 'answer')} with {quote_first(sorted(unknown))}"
            why = "the model has no columns for these codes"
            notes.append(f"{which}: not taken, as {why}; to use them, export and fit anew.")
        return notes


def _count_avoided(
    drawn: Sequence[int], found: Mapping[int, ItemOutcome], skipped: AbstractSet[int]
) -> int:
    """How many of the drawn items, in the order in which they came to people, these have left.

    They were skipped, are in dispute, or open before one that is decided; those that come after
    all that are decided, nobody has seen.
    """
    agreed = [item in found and found[item].codes is not None for item in drawn]
    n_seen = max((i for i, is_agreed in enumerate(agreed) if is_agreed), default=0)
    return sum(
        not is_agreed
        and (i < n_seen or item in skipped or (item in found and found[item].disagree))
        for i, (item, is_agreed) in enumerate(zip(drawn, agreed, strict=True))
    )


def with_suggestions(store: Store, round: int = 0) -> Iterator[tuple[Item, Suggestion | None]]:
    """All items in their order, with what the model of a round said of them, if anything."""
    said = store.suggestions(round)
    waiting = next(said, None)
    for item in store.items():
        if waiting is not None and waiting.item == item.item:
            yield item, waiting
            waiting = next(said, None)
        else:
            yield item, None


@dataclass(frozen=True)
class StoreOptions(TableOptions):
    r"""Opens a review as a table that people have filled in, and any other file as what it is.

    So functions that read coded tables read what people have decided on the page as well, such as
    :func:`nldd.coding.update_model`. What people decide after the first look at a store is not in
    it, so that all looks are at the same.

    Attributes
    ----------
    encoding, separator, sheet, numbers, header_row, skip_rows
        See :class:`nldd.coding.TableOptions`.
    whole : bool
        Whether the table has all rows, coded as in the first round, rather than those for people
        alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import prepare_review
    >>> from nldd.coding.review.log import LogEntry, Position
    >>> from nldd.coding.review.store import Store
    >>> from nldd.coding.review.store_tables import StoreOptions
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> prepared = prepare_review(model, new, store, (0.8, 0.9, "subset", "theta"), n_audit=3)
    >>> after = Position("done", frozenset({"safety"}))
    >>> with Store.open(store) as opened:
    ...     _ = opened.add([LogEntry(0, "a1", 3, "Ann", "code", after, "2026-01-02T03:04:05Z")])
    >>> with StoreOptions().open(store) as table:
    ...     rows = [row[:3] for block in table.blocks() for row in block.rows]
    >>> rows[-1]
    ('street lights', '["safety"]', 'x')
    >>> folder.cleanup()
    """

    whole: bool = False
    _until: dict[Path, int] = field(default_factory=dict, repr=False, compare=False)

    def open(self, path: Path | str) -> TableReader:
        """The table in a file, or the rows for people of a store."""
        path = Path(path)
        if not is_store(path):
            return super().open(path)
        how = {"numbered": self.numbers is not None, "whole": self.whole}
        with Store.open(path, write=False) as store:
            source = DecidedRows(path, until=self._last(store), **how)
        table = TableReader(path, source)
        table.format = written_format(source.study)
        table.no_code, table.row_names = NO_CODE, source.row_names
        return self.with_numbers(table)

    def digest(self, path: Path) -> str:
        """What tells whether a store has the same decisions as before; its bytes do not."""
        if not is_store(path):
            return super().digest(path)
        with Store.open(path, write=False) as store:
            study, found = store.study, outcomes(store.entries(until=self._last(store)))
        decided = [(i, sorted(o.codes)) for i, o in sorted(found.items()) if o.codes is not None]
        content = pack([study.table_sha256, study.header, decided])
        return sha256(content.encode()).hexdigest()

    def _last(self, store: Store) -> int:
        """The last entry of a store when it was first looked at."""
        return self._until.setdefault(store.path.absolute(), store.last_entry())
