"""The store of a review: one SQLite file with the answers, what the model said, and the log.

Answers and suggestions are written once and never changed; decisions are only added. A decision is
on the disk when :meth:`Store.add` returns: in WAL mode with ``synchronous=FULL`` a commit waits for
it, and a process that is killed loses nothing that it has acknowledged.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import Any, Self
from uuid import uuid4

from nldd._files import temporary_path
from nldd.coding.review import records
from nldd.coding.review.records import Item, LogEntry, Round, Study, Suggestion, current_time, pack
from nldd.exceptions import InputError, NLDDError

ENDING = ".review.db"
# Bytes 68 to 71 of the file: "nldd".
APPLICATION, FORMAT = 0x6E6C6464, 1
WAIT_SECONDS = 10.0
_SAYS_READ_ONLY = "readonly|unable to open"
# What errors of SQLite mean, and what to do.
MEANINGS = (
    ("full", "the disk is full", "make room; what was saved before is kept"),
    ("locked|busy", "another process has held it too long", "end that process, then try again"),
    (_SAYS_READ_ONLY, "it cannot be written", "check who may write to the file and its folder"),
    ("disk i/o", "the disk reports an error", "copy the file to another disk"),
    (r"unique.*\.uid", "a decision of this name is there already", "give each its own name"),
)
# What an answer that says nothing may consist of.
BLANKS = " \t\n\r\f\v\u00a0\u2003\u3000"


class ChangedSinceError(Exception):
    """Another process has added to the log since it was read."""


class Store(AbstractContextManager["Store"]):
    r"""The file of a review: the answers, what the model said, and the log of what people decided.

    Opened by :meth:`open`, within a ``with`` block; :func:`prepare_review` makes one. It is an
    SQLite file. Answers and suggestions are written once and never changed; decisions are only
    added, and are on the disk when :meth:`add` returns.

    Parameters
    ----------
    path : Path
        The file.
    connection : sqlite3.Connection
        To it.

    Notes
    -----
    For reading, :meth:`open`, :attr:`study`, :meth:`items`, :meth:`rounds`, :meth:`suggestions` and
    :meth:`entries` are all that it takes, and :meth:`add` records decisions. The other methods
    serve nldd itself.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.store import Store
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> with Store.open(store, write=False) as opened:
    ...     texts = [item.text for item in opened.items()]
    ...     said = [(found.codes, found.status) for found in opened.suggestions(round=0)]
    ...     entries = opened.entries()
    >>> texts[0], said[0], entries
    ('cheaper rents', (('housing costs',), 'auto'), [])
    >>> folder.cleanup()
    """

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
        with explain_sqlite_errors(path):
            return cls(path, connect(path, "rw") if write else connect_to_read(path))

    @classmethod
    @contextmanager
    def create(cls, path: Path, study: Study) -> Iterator[Self]:
        """A new store, which is there under its name once it is complete."""
        part = temporary_path(path)
        try:
            with explain_sqlite_errors(path):
                new = cls(path, connect(part, "rwc"))
            with closing(new):
                with new._transaction():
                    for statement in records.SCHEMA:
                        new._connection.execute(statement)
                    new._put("study", asdict(study))
                    new._put("setting:id", uuid4().hex)  # a browser knows it again by that
                yield new
            publish(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; what was added stays."""
        self._connection.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    # What is written once.

    @cached_property
    def study(self) -> Study:
        """What the review is about."""
        with refuse_foreign_values(self.path):
            found = json.loads(self._value("study") or "{}")
            found |= {name: tuple(map(str, found[name])) for name in ("header", "text")}
            found["codes"] = tuple((str(code), str(n), str(d)) for code, n, d in found["codes"])
            return Study(**found)

    def add_items(self, items: Iterable[Item]) -> None:
        """Write answers."""
        known = ((item, records.codes_text(item.given)) for item in items)
        rows = ((i.item, pack(i.cells), i.text, int(i.drawn), given) for i, given in known)
        self._write("INSERT INTO items VALUES (?, ?, ?, ?, ?)", rows)

    def items(self, numbers: Sequence[int] | None = None) -> Iterator[Item]:
        """Some answers in the given order, or all in that of the table."""
        read = partial(records.read_item, n_cells=len(self.study.header))
        if numbers is None:
            yield from self._read("SELECT * FROM items ORDER BY item", (), read)
        for number in numbers or ():
            yield from self._read("SELECT * FROM items WHERE item = ?", (number,), read)

    def outlines(self) -> list[tuple[int, int, int, int]]:
        """Of each answer its number, and whether it was drawn, came with codes, and is blank."""
        query = "SELECT item, drawn, given IS NOT NULL, trim(text, ?) = '' FROM items ORDER BY item"
        return list(self._read(query, (BLANKS,)))

    def texts(self) -> Iterator[tuple[int, str]]:
        """The number and the text of each answer."""
        return self._read("SELECT item, text FROM items ORDER BY item")

    def add_suggestions(self, round: int, suggestions: Iterable[Suggestion]) -> None:
        """Write what a model said of some items in a round that is not finished."""
        rows = (
            (round, s.item, json.dumps(s.codes), s.status, s.doubt, s.likely, json.dumps(s.details))
            for s in suggestions
        )
        self._write("INSERT OR REPLACE INTO suggestions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def begin_round(self, model: str) -> int:
        """The number of a new round, which no other process has."""
        query = "INSERT INTO rounds SELECT coalesce(max(round) + 1, 0), ?, ?, 0, '{}' FROM rounds"
        with self._transaction():
            return int(self._connection.execute(query, (current_time(), model)).lastrowid or 0)

    def finish_round(
        self, round: int, model: str, facts: Mapping[str, Any], time: str = ""
    ) -> None:
        """Let a round count: from now on its suggestions are those that people see."""
        row = (round, time or current_time(), model, 1, json.dumps(facts))
        self._write("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)", [row])

    def drop_suggestions(self, round: int, most: int) -> int:
        """Remove suggestions of a round that no longer counts, some at a time; how many."""
        with self._transaction():
            some = "SELECT item FROM suggestions WHERE round = ?1 LIMIT ?2"
            query = f"DELETE FROM suggestions WHERE round = ?1 AND item IN ({some})"
            return self._connection.execute(query, (round, most)).rowcount

    def rounds(self) -> list[Round]:
        """All rounds that are finished; the last is the one that counts."""
        query = "SELECT round, time, model, facts FROM rounds WHERE finished ORDER BY round"
        return list(self._read(query, (), records.read_round))

    def suggestions(self, round: int, item: int | None = None) -> Iterator[Suggestion]:
        """All suggestions of a round in the order of the table; or that of one item, if any."""
        query = (
            "SELECT item, codes, status, doubt, likely, details FROM suggestions WHERE round = ?"
            " AND item BETWEEN ? AND ? ORDER BY item"
        )
        low, high = (0, 2**62) if item is None else (item, item)
        return self._read(query, (round, low, high), records.read_suggestion)

    def suggestion_rows(self, round: int) -> list[tuple[int, str, str, float]]:
        """Of each suggestion of a round its item, codes as JSON, status and doubt."""
        query = "SELECT item, codes, status, doubt FROM suggestions WHERE round = ? ORDER BY item"
        return list(self._read(query, (round,)))

    # What is added while people work.

    def add(self, entries: Sequence[LogEntry], behind: int | None = None) -> list[LogEntry]:
        """Add entries to the log, all or none; those returned have their ids, and are on the disk.

        An entry whose `uid` is in the log already is refused. If the last entry of the log is not
        the one that they shall stand `behind`, nothing is added.
        """
        added: list[LogEntry] = []
        with self._transaction():
            if behind is not None:
                (last,) = self._connection.execute("SELECT max(id) FROM decisions").fetchone()
                if (last or 0) != behind:
                    raise ChangedSinceError
            for entry in entries:
                row = records.entry_row(entry)
                query = f"INSERT INTO decisions VALUES ({', '.join('?' * len(row))})"
                written = self._connection.execute(query, row)
                if written.rowcount != 1:  # nothing is acknowledged that is not there
                    raise sqlite3.DatabaseError("an entry was not written")
                added.append(replace(entry, id=int(written.lastrowid or 0)))
        return added

    def entries(self, after: int = 0) -> list[LogEntry]:
        """Entries of the log in their order, those behind an id."""
        query = "SELECT * FROM decisions WHERE id > ? ORDER BY id"
        return list(self._read(query, (after,), records.read_entry))

    def data_version(self) -> int:
        """A number that is another one once another process has written."""
        ((found,),) = self._read("PRAGMA data_version")
        return int(found)

    def setting(self, key: str) -> Any:
        """What was kept under a key, or None."""
        found = self._value(f"setting:{key}")
        return None if found is None else json.loads(found)

    def keep(self, key: str, value: Any) -> None:
        """Keep a value, such as a coder's settings or codes that people have added."""
        with self._transaction():
            self._put(f"setting:{key}", value)

    def keep_more(self, key: str, values: Sequence[Any]) -> None:
        """Add values to a list that is kept, whatever other processes add meanwhile."""
        with self._transaction():
            known = self.setting(key) or []
            self._put(f"setting:{key}", known + [value for value in values if value not in known])

    def _value(self, key: str) -> str | None:
        row = next(self._read("SELECT value FROM meta WHERE key = ?", (key,)), None)
        return None if row is None else str(row[0])

    def _put(self, key: str, value: Any) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, pack(value)))

    def _read(
        self, query: str, words: Sequence[Any] = (), read: Callable[[Any], Any] = tuple
    ) -> Iterator[Any]:
        """Rows as the values that they are read as; those that nldd has not written are refused."""
        with refuse_foreign_values(self.path):
            yield from map(read, self._connection.execute(query, words))

    def _write(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._transaction():
            self._connection.executemany(query, rows)

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all that is read within be of one moment, whatever others write meanwhile."""
        return self._transaction("BEGIN")

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        with explain_sqlite_errors(self.path):
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise


def is_store(path: Path) -> bool:
    """Whether a file is a review of nldd, by its first bytes."""
    with suppress(OSError), path.open("rb") as stream:
        head = stream.read(72)
        return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")
    return False


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a file by a mode of SQLite; "rwc" makes a new one."""
    address = f"{file_address(path.absolute())}?mode={mode}"
    how: dict[str, Any] = {"uri": True, "isolation_level": None, "check_same_thread": False}
    connection = sqlite3.connect(address, timeout=WAIT_SECONDS, **how)
    new = (f"application_id = {APPLICATION}", f"user_version = {FORMAT}", "journal_mode = WAL")
    try:
        for pragma in ("trusted_schema = OFF", *new * (mode == "rwc"), "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
        if mode != "rwc":
            check_schema(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection to read only, which is made where the folder cannot be written, too."""
    try:
        return connect(path, "ro")
    except sqlite3.OperationalError as error:
        log = path.with_name(f"{path.name}-wal")
        if re.search(_SAYS_READ_ONLY, str(error)) is None:
            raise
        # SQLite keeps a note of its readers in the folder; none is needed where nobody writes.
        if not log.exists() or not log.stat().st_size:
            return connect(path, "ro&immutable=1")
        message = f"{path} cannot be read here: its last decisions are in {log.name}"
        hint = f"copy both, {path.name} and {log.name}, to a folder that you may write to"
        raise InputError(f"{message}, and the folder cannot be written.", hint=hint) from error


def file_address(path: PurePath) -> str:
    """A file as SQLite wants it named; it knows no other machine, but folders that one shares."""
    return re.sub("^file://(?!/)", "file:////", path.as_uri())


def check_schema(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file whose tables are not ours; a crafted one could hold triggers of its own."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > FORMAT:
        hint = "pip install --upgrade nldd"
        raise InputError(f"{path} was written by a newer nldd (format {found}).", hint=hint)
    # Tables that SQLite keeps for itself; a trigger may not hide behind such a name.
    own = "type = 'table' AND name GLOB 'sqlite_*'"
    query = f"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND NOT ({own})"
    if {sql for (sql,) in connection.execute(query)} != set(records.SCHEMA):
        hint = "use the file as nldd review made it, or a copy from before"
        raise InputError(f"{path} is not as nldd wrote it: its tables differ.", hint=hint)


def publish(part: Path, path: Path) -> None:
    """Give a complete file its name, which is not taken from another that was made meanwhile."""
    try:
        os.link(part, path)
    except FileExistsError:
        hint = "another name; or nldd review with the same words, which goes on with it"
        raise InputError(f"{path} already exists.", hint=hint) from None
    except OSError:  # no links on this file system
        os.rename(part, path)


@contextmanager
def explain_sqlite_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite as what they mean for a person."""
    try:
        yield
    except sqlite3.Error as error:
        found = (advice for words, *advice in MEANINGS if re.search(words, str(error).lower()))
        copy = "use a copy from before; nldd review export may still read the decisions"
        message, hint = next(found, (f"it is damaged, or no review ({error})", copy))
        raise NLDDError(f"{path}: {message}.", hint=hint) from error


@contextmanager
def refuse_foreign_values(path: Path) -> Iterator[None]:
    """Refuse values that nldd would not have written; and errors of SQLite, see above."""
    try:
        with explain_sqlite_errors(path):
            yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"{path} is damaged: it holds values that nldd has not written."
        raise InputError(message, hint="use a copy from before") from error
