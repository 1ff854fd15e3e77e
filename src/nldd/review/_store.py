"""The store of a review: one SQLite file with the answers, what the model said, and the log.

Answers and suggestions are written once and never changed; decisions are only added. A decision is
on the disk when :meth:`Store.add` returns: in WAL mode with ``synchronous=FULL`` a commit waits for
it, and a process that is killed loses nothing that it has acknowledged.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple, Self

from nldd.exceptions import InputError, NLDDError
from nldd.review._log import Codes, Entry, Position

ENDING = ".review.db"
# Bytes 68 to 71 of the file: "nldd".
APPLICATION, FORMAT = 0x6E6C6464, 1
WAIT_MS = 10_000
# What an answer that says nothing may consist of.
BLANKS = " \t\n\r\f\v\u00a0\u2003\u3000"
MOMENTS: dict[str, type[date | time]] = {kind.__name__: kind for kind in (datetime, date, time)}
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
COLUMNS = (
    "id, uid, item, coder, action, state, codes, flag, note, time, round, model, shown, seconds,"
    " batch, undoes"
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


class Item(NamedTuple):
    """An answer: its cells as they stand in the table, its text, and codes that it came with."""

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


class Overtaken(Exception):
    """Another process has added to the log since it was read."""


class Store(AbstractContextManager["Store"]):
    """An open store; by :meth:`open`, or :meth:`create` for a new one."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    @classmethod
    def open(cls, path: Path, *, write: bool = True) -> Self:
        """Open a store that is there; what is no store, or a damaged one, is refused."""
        if not path.is_file():
            hint = "nldd review model.nldd answers.csv makes one"
            raise InputError(f"{path}: there is no such review.", hint=hint)
        if not is_store(path):
            hint = f"name a file that nldd review made, such as answers{ENDING}"
            raise InputError(f"{path} is no review that nldd wrote.", hint=hint)
        with _explained(path):
            connection = _connect(path, write)
            _check_schema(path, connection)
            return cls(path, connection)

    @classmethod
    @contextmanager
    def create(cls, path: Path, study: Study) -> Iterator[Self]:
        """A new store, which is there under its name once it is complete."""
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        ends = ("", "-wal", "-shm")
        try:
            with _explained(path):
                for end in ends:
                    Path(f"{part}{end}").unlink(missing_ok=True)
                connection = _connect(part, write=True, new=True)
                store = cls(path, connection)
                try:
                    with store._transaction():
                        for statement in SCHEMA:
                            connection.execute(statement)
                        store._put("study", asdict(study))
                    yield store
                finally:
                    connection.close()
                _publish(part, path)
        finally:
            for end in ends:
                with suppress(OSError):
                    Path(f"{part}{end}").unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; what was added stays."""
        self._connection.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    # What is written once.

    @property
    def study(self) -> Study:
        """What the review is about."""
        with _as_written(self.path):
            found = json.loads(self._value("study") or "{}")
            names = ("header", "text")
            return Study(
                **found
                | {name: tuple(map(str, found[name])) for name in names}
                | {"codes": tuple((str(code), str(n), str(d)) for code, n, d in found["codes"])}
            )

    def add_items(self, items: Iterable[Item]) -> None:
        """Write answers."""
        rows = ((i.item, pack(i.cells), i.text, int(i.drawn), _codes_text(i.given)) for i in items)
        with self._transaction():
            self._connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?)", rows)

    def mark_drawn(self, numbers: Iterable[int]) -> None:
        """Say which answers were drawn at random; only while the store is being made."""
        with self._transaction():
            query = "UPDATE items SET drawn = 1 WHERE item = ?"
            self._connection.executemany(query, ((number,) for number in numbers))

    def items(self, numbers: Sequence[int] | None = None) -> Iterator[Item]:
        """Some answers in the given order, or all in that of the table."""
        with _as_written(self.path):
            if numbers is None:
                for row in self._connection.execute("SELECT * FROM items ORDER BY item"):
                    yield _item(row)
                return
            for number in numbers:
                query = "SELECT * FROM items WHERE item = ?"
                row = self._connection.execute(query, (number,)).fetchone()
                if row is not None:
                    yield _item(row)

    def outlines(self) -> list[tuple[int, int, int, int]]:
        """Of each answer its number, and whether it was drawn, came with codes, and is blank."""
        query = "SELECT item, drawn, given IS NOT NULL, trim(text, ?) = '' FROM items ORDER BY item"
        with _explained(self.path):
            return self._connection.execute(query, (BLANKS,)).fetchall()

    def texts(self) -> Iterator[tuple[int, str]]:
        """The number and the text of each answer."""
        with _explained(self.path):
            yield from self._connection.execute("SELECT item, text FROM items ORDER BY item")

    def add_suggestions(self, round: int, suggestions: Iterable[Suggestion]) -> None:
        """Write what a model said of some items in a round that is not finished."""
        rows = (
            (round, s.item, json.dumps(s.codes), s.status, s.doubt, s.likely, json.dumps(s.details))
            for s in suggestions
        )
        with self._transaction():
            query = "INSERT OR REPLACE INTO suggestions VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._connection.executemany(query, rows)

    def begin_round(self, model: str) -> int:
        """The number of a new round, which no other process has."""
        with self._transaction():
            (last,) = self._connection.execute("SELECT max(round) FROM rounds").fetchone()
            number = -1 if last is None else int(last)
            row = (number + 1, now(), model, 0, "{}")
            self._connection.execute("INSERT INTO rounds VALUES (?, ?, ?, ?, ?)", row)
        return number + 1

    def finish_round(
        self, round: int, model: str, facts: Mapping[str, Any], time: str = ""
    ) -> None:
        """Let a round count: from now on its suggestions are those that people see."""
        row = (round, time or now(), model, 1, json.dumps(facts))
        with self._transaction():
            query = "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)"
            self._connection.execute(query, row)

    def drop_suggestions(self, round: int, most: int = 2000) -> int:
        """Remove suggestions of a round that no longer counts, some at a time; how many."""
        with self._transaction():
            query = (
                "DELETE FROM suggestions WHERE round = ? AND item IN"
                " (SELECT item FROM suggestions WHERE round = ? LIMIT ?)"
            )
            return self._connection.execute(query, (round, round, most)).rowcount

    def rounds(self) -> list[Round]:
        """All rounds that are finished; the last is the one that counts."""
        query = "SELECT round, time, model, facts FROM rounds WHERE finished ORDER BY round"
        with _as_written(self.path):
            rows = self._connection.execute(query).fetchall()
            return [
                Round(number, time, model, json.loads(text)) for number, time, model, text in rows
            ]

    def suggestion(self, round: int, item: int) -> Suggestion | None:
        """What the model of a round said of an item; None for one that people had coded."""
        query = f"SELECT {_SUGGESTED} FROM suggestions WHERE round = ? AND item = ?"
        with _as_written(self.path):
            row = self._connection.execute(query, (round, item)).fetchone()
            return None if row is None else _suggestion(row)

    def suggestions(self, round: int) -> Iterator[Suggestion]:
        """All suggestions of a round in the order of the table."""
        query = f"SELECT {_SUGGESTED} FROM suggestions WHERE round = ? ORDER BY item"
        with _as_written(self.path):
            for row in self._connection.execute(query, (round,)):
                yield _suggestion(row)

    def leanings(self, round: int) -> list[tuple[int, str, str, float]]:
        """Of each suggestion of a round its item, codes as JSON, status and doubt."""
        query = "SELECT item, codes, status, doubt FROM suggestions WHERE round = ? ORDER BY item"
        with _explained(self.path):
            return self._connection.execute(query, (round,)).fetchall()

    # What is added while people work.

    def add(self, entries: Sequence[Entry], behind: int | None = None) -> list[Entry]:
        """Add entries to the log, all or none; those returned have their ids, and are on the disk.

        An entry whose `uid` is there already is returned as it was written then. If the last entry
        of the log is not the one that they shall stand `behind`, nothing is added (`Overtaken`).
        """
        added: list[Entry] = []
        with self._transaction():
            if behind is not None:
                (last,) = self._connection.execute("SELECT max(id) FROM decisions").fetchone()
                if (last or 0) != behind:
                    raise Overtaken
            for entry in entries:
                known = self._connection.execute(
                    f"SELECT {COLUMNS} FROM decisions WHERE uid = ?", (entry.uid,)
                ).fetchone()
                if known is None:
                    query = f"INSERT INTO decisions ({COLUMNS}) VALUES ({', '.join('?' * 16)})"
                    number = self._connection.execute(query, _row(entry)).lastrowid
                    known = (number, *_row(entry)[1:])
                added.append(_entry(known))
        return added

    def entries(self, after: int = 0) -> list[Entry]:
        """Entries of the log in their order, those behind an id."""
        query = f"SELECT {COLUMNS} FROM decisions WHERE id > ? ORDER BY id"
        with _as_written(self.path):
            return [_entry(row) for row in self._connection.execute(query, (after,))]

    def touched(self) -> int:
        """A number that is another one once another process has written."""
        with _explained(self.path):
            (found,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(found)

    def setting(self, key: str) -> Any:
        """What was kept under a key, or None."""
        found = self._value(f"setting:{key}")
        return None if found is None else json.loads(found)

    def keep(self, key: str, value: Any) -> None:
        """Keep a value, such as a coder's settings or codes that people have added."""
        with self._transaction():
            self._put(f"setting:{key}", value)

    def _value(self, key: str) -> str | None:
        with _explained(self.path):
            query = "SELECT value FROM meta WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        return None if row is None else str(row[0])

    def _put(self, key: str, value: Any) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, pack(value)))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise


_SUGGESTED = "item, codes, status, doubt, likely, details"


def _publish(part: Path, path: Path) -> None:
    """Give a complete file its name, which is not taken from another that was made meanwhile."""
    try:
        os.link(part, path)
    except FileExistsError:
        hint = "nldd review with the same words goes on with it"
        raise InputError(f"{path} is there already.", hint=hint) from None
    except OSError:  # no links on this file system
        os.rename(part, path)


def is_store(path: Path) -> bool:
    """Whether a file is a review of nldd, by its first bytes."""
    with suppress(OSError), path.open("rb") as stream:
        head = stream.read(72)
        return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")
    return False


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def pack(value: Any) -> str:
    """A value as JSON; dates and times, as cells hold them, become objects with their kind."""
    return json.dumps(value, ensure_ascii=False, default=lambda c: {type(c).__name__: str(c)})


def _unpack_cells(text: str) -> tuple[Any, ...]:
    def moment(found: dict[str, str]) -> date | time:
        ((kind, value),) = found.items()
        return MOMENTS[kind].fromisoformat(value)

    return tuple(json.loads(text, object_hook=moment))


def _connect(path: Path, write: bool, new: bool = False) -> sqlite3.Connection:
    mode = "rwc" if new else "rw" if write else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=WAIT_MS / 1000,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    if new:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _check_schema(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file whose tables are not ours; a crafted one could hold triggers of its own."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > FORMAT:
        hint = "pip install --upgrade nldd"
        raise InputError(f"{path} was written by a newer nldd (format {found}).", hint=hint)
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    if {sql for (sql,) in connection.execute(query)} != set(SCHEMA):
        hint = "use the file as nldd review made it, or a copy from before"
        raise InputError(f"{path} is not as nldd wrote it: its tables differ.", hint=hint)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of SQLite as what they mean for a person."""
    try:
        yield
    except sqlite3.Error as error:
        said = str(error).lower()
        if "full" in said:
            message, hint = "the disk is full", "make room; what was saved before is kept"
        elif "locked" in said or "busy" in said:
            message = "another process has held it too long"
            hint = "end the other process, then try again"
        elif "readonly" in said or "unable to open" in said:
            message = "it cannot be written"
            hint = "check who may write to the file and its folder"
        elif isinstance(error, sqlite3.OperationalError) and "i/o" in said:
            message, hint = "the disk reports an error", "copy the file to another disk"
        else:
            message = f"it is damaged, or no review ({error})"
            hint = "use a copy from before; nldd review export may still read the decisions"
        raise NLDDError(f"{path}: {message}.", hint=hint) from error


@contextmanager
def _as_written(path: Path) -> Iterator[None]:
    """Refuse values that nldd would not have written; and errors of SQLite, see above."""
    try:
        with _explained(path):
            yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"{path} is damaged: it holds values that nldd has not written."
        raise InputError(message, hint="use a copy from before") from error


def _codes_text(codes: Iterable[str] | None) -> str | None:
    return None if codes is None else json.dumps(sorted(codes), ensure_ascii=False)


def _read_codes(text: str | None) -> Codes | None:
    return None if text is None else frozenset(json.loads(text))


def _item(row: tuple[Any, ...]) -> Item:
    item, cells, text, drawn, given = row
    return Item(item, _unpack_cells(cells), text, bool(drawn), _read_codes(given))


def _suggestion(row: tuple[Any, ...]) -> Suggestion:
    item, codes, status, doubt, likely, details = row
    return Suggestion(item, tuple(json.loads(codes)), status, doubt, likely, json.loads(details))


def _row(entry: Entry) -> tuple[Any, ...]:
    """The cells of an entry in the order of `COLUMNS`; its id is for the store to give."""
    after = entry.after
    left = (after.state, _codes_text(after.codes), int(after.flag), after.note)
    more = (entry.time, entry.round, entry.model, entry.shown, entry.seconds, entry.batch)
    return (None, entry.uid, entry.item, entry.coder, entry.action, *left, *more, entry.undoes)


def _entry(row: tuple[Any, ...]) -> Entry:
    id_, uid, item, coder, action, state, codes, flag, note, *more = row
    time, round_, model, shown, seconds, batch, undoes = more
    after = Position(state, _read_codes(codes), bool(flag), note)
    what = (time, round_, model, shown, seconds, batch, undoes)
    return Entry(id_, uid, item, coder, action, after, *what)
