"""What a store holds: its tables, and the study, answers, suggestions and decisions in them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from unicodedata import category

from nldd._wording import quote
from nldd.coding.code_slips import close_code
from nldd.exceptions import InputError

Codes = frozenset[str]
# What people do with an answer.
CODE, SKIP, FLAG, UNDO, SETTLE = ACTIONS = ("code", "skip", "flag", "undo", "settle")
# Where that leaves it.
OPEN, DONE, SKIPPED = STATES = ("open", "done", "skipped")
MOMENTS: dict[str, type[date | time]] = {kind.__name__: kind for kind in (datetime, date, time)}
LONGEST_CODE = 200
# Of the format of a table, what a review keeps.
WRITTEN = ("kind", "encoding", "separator", "bom", "newline", "sheet")
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # item: the number of the row in the table, from 1. given: codes that were there before, if any.
    "CREATE TABLE items (item INTEGER PRIMARY KEY, cells TEXT NOT NULL, text TEXT NOT NULL,"
    " drawn INTEGER NOT NULL, given TEXT)",
    "CREATE TABLE rounds (round INTEGER PRIMARY KEY, time TEXT NOT NULL, model TEXT NOT NULL,"
    " finished INTEGER NOT NULL, facts TEXT NOT NULL)",
    # likely: a byte for each code, its probability in 255ths. details: what only one view needs.
    "CREATE TABLE suggestions (round INTEGER NOT NULL, item INTEGER NOT NULL, codes TEXT NOT NULL,"
    " status TEXT NOT NULL, doubt REAL NOT NULL, likely BLOB NOT NULL, details TEXT NOT NULL,"
    " PRIMARY KEY (round, item)) WITHOUT ROWID",
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE,"
    " item INTEGER NOT NULL REFERENCES items, coder TEXT NOT NULL, action TEXT NOT NULL,"
    " state TEXT NOT NULL, codes TEXT, flag INTEGER NOT NULL, note TEXT NOT NULL,"
    " time TEXT NOT NULL, round INTEGER NOT NULL, model TEXT NOT NULL, shown TEXT NOT NULL,"
    " seconds REAL NOT NULL, batch TEXT NOT NULL, undoes INTEGER)",
    "CREATE INDEX by_item ON decisions (item, coder)",
    "CREATE TRIGGER no_change BEFORE UPDATE ON decisions"
    " BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END",
    "CREATE TRIGGER no_removal BEFORE DELETE ON decisions"
    " BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END",
)


@dataclass(frozen=True)
class Study:
    """What a review is about: the table and the model by name and checksum, and what was asked for.

    `codes` are those of the model in the order of its codebook, with names and descriptions;
    `header` and `table_format` say how the table was written.
    """

    table: str
    table_sha256: str
    model: str
    model_sha256: str
    header: tuple[str, ...]
    text: tuple[str, ...]
    codes: tuple[tuple[str, str, str], ...]
    target: float = 0.9
    confidence: float = 0.9
    measure: str = "subset"
    rank_by: str = "chance"
    n_audit: int = 0
    blind: bool = True
    seed: int = 0
    separator: str = ";"
    none: str = ""
    table_format: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @property
    def marks(self) -> Mapping[str, str]:
        """The column of 0 and 1 of each code; none if columns list the codes."""
        return self.table_format.get("codes", {}).get("columns", {})


class Item(NamedTuple):
    """An answer of a review.

    Attributes
    ----------
    item : int
        Its number in the table, from 1.
    cells : tuple
        Its row, as it stands in the table.
    text : str
        What it says.
    drawn : bool
        Whether it was drawn at random, to check the machine.
    given : frozenset of str or None
        Codes that it came with.

    Examples
    --------
    >>> from nldd.coding.review.records import Item
    >>> Item(1, ("r1", "cheaper rents"), "cheaper rents", drawn=False, given=None).text
    'cheaper rents'
    """

    item: int
    cells: tuple[Any, ...]
    text: str
    drawn: bool
    given: Codes | None


class Suggestion(NamedTuple):
    """What a model said of an item; `details` has theta, chance, why, next, nearest, empty."""

    item: int
    codes: tuple[str, ...]
    status: str
    doubt: float
    likely: bytes
    details: Mapping[str, Any]


class Round(NamedTuple):
    """One coding of all items that nobody has decided; `facts` has threshold, counts and codes."""

    round: int
    time: str
    model: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Position:
    """Where an answer stands for one coder.

    Attributes
    ----------
    state : {"open", "done", "skipped"}
        Whether the coder has decided it.
    codes : frozenset of str or None
        Once it is done; an empty set says that no code applies.
    flag : bool
        Whether the coder has flagged it.
    note : str
        What the coder wrote beside it.
    """

    state: str = OPEN
    codes: Codes | None = None
    flag: bool = False
    note: str = ""


@dataclass(frozen=True)
class LogEntry:
    """What a coder did with an answer, and where that left it: one line of the log of a review.

    It holds the whole position of the answer as it is afterwards, so that where an answer stands is
    its last entry; to undo is one more entry, with the position from before.

    Attributes
    ----------
    id : int
        Gives the order, whatever the clocks say; the store gives it.
    uid : str
        The sender's own name for it, which no other entry has.
    item : int
        Number of the answer in the table, from 1.
    coder : str
        Who did it.
    action : {"code", "skip", "flag", "undo", "settle"}
        What was done.
    after : Position
        Where that left the answer for this coder.
    time : str
        In UTC.
    round, model, shown : int, str, str
        The round of suggestions, the checksum of the model that made them, and what the page
        showed.
    seconds : float
        How long it took.
    batch : str
        Entries of one batch were made by one act.
    undoes : int or None
        The entry that was taken back.
    """

    id: int
    uid: str
    item: int
    coder: str
    action: str
    after: Position
    time: str
    round: int = 0
    model: str = ""
    shown: str = ""
    seconds: float = 0.0
    batch: str = ""
    undoes: int | None = None


class Standing(NamedTuple):
    """Where an item stands for one coder: the last entry, and decisions that are not undone.

    Flags are no decisions. The last decision is the one that counts.
    """

    last: LogEntry
    decisions: tuple[LogEntry, ...] = ()

    @property
    def own(self) -> Codes | None:
        """The codes that the coder gave it by themselves, not to settle it for all."""
        own = [entry for entry in self.decisions if entry.action != SETTLE]
        return own[-1].after.codes if own else None

    def then(self, entry: LogEntry) -> "Standing":
        """Where it stands after one more entry of the coder."""
        if entry.action == UNDO:
            return Standing(entry, tuple(e for e in self.decisions if e.id != entry.undoes))
        new = () if entry.action == FLAG else (entry,)
        return Standing(entry, self.decisions + new)


NOTHING = Standing(LogEntry(0, "", 0, "", "", Position(), ""))


@dataclass(frozen=True)
class ItemOutcome:
    """What has become of an answer: where it stands for each coder, and what that comes to.

    >>> given = {"Ann": frozenset({"safety"}), "Ben": frozenset({"cycling"})}
    >>> entries = [
    ...     LogEntry(i, f"e{i}", 7, coder, "code", Position("done", codes), "2026-01-02T03:04:05Z")
    ...     for i, (coder, codes) in enumerate(given.items(), 1)
    ... ]
    >>> found = outcomes(entries)[7]
    >>> found.codes is None, found.disagree, sorted(found.by)
    (True, True, ['Ann', 'Ben'])
    """

    standings: Mapping[str, Standing] = field(default_factory=dict)

    def then(self, entry: LogEntry) -> "ItemOutcome":
        """What has become of it after one more entry."""
        standing = self.standings.get(entry.coder, NOTHING).then(entry)
        return ItemOutcome({**self.standings, entry.coder: standing})

    def last(self, coder: str) -> LogEntry:
        """The last entry of a coder; one with the id 0 if there is none."""
        return self.standings.get(coder, NOTHING).last

    @property
    def entries(self) -> list[LogEntry]:
        """The last entries of all coders who did something with it."""
        return [each.last for each in self.standings.values()]

    @cached_property
    def by(self) -> Mapping[str, LogEntry]:
        """The entries that say what each coder gave it who has decided it."""
        done = {e.coder: e for e in self.entries if e.after.state == DONE}
        return done if self.settling is None else {self.settling.coder: self.settling, **done}

    @cached_property
    def settling(self) -> LogEntry | None:
        """The entry that has settled it for all, unless somebody decided otherwise since.

        Whoever flags it, skips it or takes an act back says nothing against it.
        """
        decisions = [each.decisions for each in self.standings.values() if each.decisions]
        settled = [e for made in decisions for e in made if e.action == SETTLE]
        last = max(settled, key=lambda entry: entry.id, default=None)
        since = [made[-1].after for made in decisions if last and made[-1].id > last.id]
        codes = {after.codes for after in since if after.state == DONE}
        return last if last and codes <= {last.after.codes} else None

    @property
    def deciding(self) -> list[LogEntry]:
        """The entries that count, in their order."""
        if self.settling is not None:
            return [self.settling]
        return sorted(self.by.values(), key=lambda entry: entry.id)

    @cached_property
    def codes(self) -> Codes | None:
        """The codes on which those agree who coded it; None if nobody has, or they disagree."""
        given = {entry.after.codes for entry in self.deciding}
        return given.pop() if len(given) == 1 else None

    @property
    def disagree(self) -> bool:
        """Whether coders gave it different codes, and nobody has settled it since."""
        return self.codes is None and bool(self.by)


UNTOUCHED = ItemOutcome()


def outcomes(entries: Iterable[LogEntry]) -> dict[int, ItemOutcome]:
    """What has become of each answer that is in a log, whose entries come in their order."""
    found: dict[int, ItemOutcome] = {}
    for entry in entries:
        found[entry.item] = found.get(entry.item, UNTOUCHED).then(entry)
    return found


class SimilarCodeError(InputError):
    """A new code looks like some that are known."""

    def __init__(self, message: str, like: Sequence[str], *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.like = list(like)


class KnownCodes:
    """Codes that may be given, by all of their names.

    A later round may be by a model that has other codes: those of others that have joined it, and
    what its codebook has made of some. Who gives a code that has become another gives that.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._names = {code: (name, about) for code, name, about in study.codes}
        self._of_people: set[str] = set()
        self._of_model = frozenset(self._names)
        self._becomes: Mapping[str, str] = {}

    def take(self, codes: Iterable[str]) -> None:
        """Take codes as known."""
        for code in codes:
            self._names.setdefault(code, ("", ""))

    def add(self, codes: Collection[str]) -> None:
        """Take codes that people have added."""
        self.take(codes)
        self._of_people.update(codes)

    def follow(self, facts: Mapping[str, Any]) -> None:
        """Take the codes of the model of a round, and what its codebook has made of others."""
        self.take(facts.get("codes", ()))
        self._of_model |= {*facts.get("codes", ())} - self._of_people
        self._becomes = facts.get("becomes", {})

    @property
    def listed(self) -> list[tuple[str, str, str, bool]]:
        """Each code with its name and description, and whether people have added it."""
        known = ((code, *words) for code, words in self._names.items() if code not in self._becomes)
        return [(code, name, about, code not in self._of_model) for code, name, about in known]

    def current(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Codes as they are called now, each once, in their order."""
        return tuple(dict.fromkeys(self._becomes.get(code, code) for code in codes))

    def chosen(self, codes: frozenset[str]) -> frozenset[str]:
        """The codes that somebody gives, as they are called now; unknown ones are refused."""
        if unknown := sorted(codes - self._names.keys()):
            message = f"There is no code {quote(unknown[0])} in this review."
            raise InputError(message, hint="choose one of the list, or add it as a new code first")
        return frozenset(self.current(codes))

    def check_new(self, code: str, sure: bool) -> None:
        """Refuse a new code that cannot be one, or looks like a known one and nobody is sure."""
        self._check_name(code)
        if self.study.marks:
            message = f"{quote(code)} cannot be added: each code of this table has its own column."
            hint = "flag the answer with a note; then add a column to the coded table, and fit anew"
            raise InputError(message, hint=hint)
        if not sure and (like := close_code(code, sorted(self._names))):
            message = f"There is a code {quote(like)}, which looks like {quote(code)}."
            raise SimilarCodeError(message, [like], hint="take that one, or add this as another")

    def _check_name(self, code: str) -> None:
        marks = [mark for mark in self.study.separator.strip() if mark in code]
        if not code or not code.isprintable() or len(code) > LONGEST_CODE:
            message = f"A code needs a name of 1 to {LONGEST_CODE} characters that can be printed."
            raise InputError(message, hint="write a short name of letters and digits")
        # As people write where no code applies.
        is_dash = all(category(letter).startswith("P") for letter in code)
        if marks or is_dash or code == self.study.none:
            what = f"{marks[0]!r} separates codes" if marks else "that says that no code applies"
            message = f"{quote(code)} cannot be a code: in the table, {what}."
            raise InputError(message, hint="write it in another way")

    def __contains__(self, code: str) -> bool:
        return code in self._names


def current_time() -> str:
    """The time in UTC, to the millisecond."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """A moment in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def pack(value: Any) -> str:
    """A value as JSON; dates and times, as cells hold them, become objects with their kind."""
    return json.dumps(value, ensure_ascii=False, default=lambda c: {type(c).__name__: str(c)})


def _unpack_cells(text: str) -> tuple[Any, ...]:
    def moment(found: dict[str, str]) -> date | time:
        ((kind, value),) = found.items()
        return MOMENTS[kind].fromisoformat(value)

    return tuple(json.loads(text, object_hook=moment))


def codes_text(codes: Iterable[str] | None) -> str | None:
    return None if codes is None else json.dumps(sorted(codes), ensure_ascii=False)


@lru_cache(maxsize=10_000)
def _read_codes(text: str | None) -> Codes | None:
    return None if text is None else frozenset(json.loads(text))


def read_item(row: tuple[Any, ...], n_cells: int) -> Item:
    """An answer, whose row has as many cells as the header."""
    item, packed, text, drawn, given = row
    cells = _unpack_cells(packed)
    if len(cells) != n_cells:
        raise ValueError(f"expected {n_cells} cells, got {len(cells)}")
    return Item(item, cells, text, bool(drawn), _read_codes(given))


def read_round(row: tuple[Any, ...]) -> Round:
    number, time, model, facts = row
    return Round(number, time, model, json.loads(facts))


def read_suggestion(row: tuple[Any, ...]) -> Suggestion:
    item, codes, status, doubt, likely, details = row
    return Suggestion(item, tuple(json.loads(codes)), status, doubt, likely, json.loads(details))


def entry_row(entry: LogEntry) -> tuple[Any, ...]:
    """The cells of an entry in the order of the table; its id is for the store to give."""
    _, uid, item, coder, action, after, *more = vars(entry).values()
    left = (after.state, codes_text(after.codes), int(after.flag), after.note)
    return (None, uid, item, coder, action, *left, *more)


def read_entry(row: tuple[Any, ...]) -> LogEntry:
    id_, uid, item, coder, action, state, codes, flag, note, *more = row
    after = Position(state, _read_codes(codes), bool(flag), note)
    return LogEntry(id_, uid, item, coder, action, after, *more)
