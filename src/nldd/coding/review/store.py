"""The store of a review: one SQLite file with the answers, what the model said, and the log.

Answers and suggestions are written once and never changed; decisions are only added. A decision is
on the disk when :meth:`Store.add` returns: in WAL mode with ``synchronous=FULL`` a commit waits for
it, and a process that is killed loses nothing that it has acknowledged.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from nldd._files import temporary_path
from nldd._wording import quote
from nldd.coding.review.log import LogEntry
from nldd.coding.review.records import (
    COLUMNS,
    Item,
    Round,
    Study,
    Suggestion,
    codes_text,
    current_time,
    entry_row,
    pack,
    read_entry,
    read_item,
    read_round,
    read_suggestion,
)
from nldd.coding.review.store_file import (
    ENDING,
    SCHEMA,
    connect,
    explain_sqlite_errors,
    is_store,
    publish,
    refuse_foreign_values,
)
from nldd.exceptions import InputError

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
            return cls(path, connect(path, write))

    @classmethod
    @contextmanager
    def create(cls, path: Path, study: Study) -> Iterator[Self]:
        """A new store, which is there under its name once it is complete."""
        part, ends = temporary_path(path), ("", "-wal", "-shm")
        try:
            with explain_sqlite_errors(path):
                new = cls(path, connect(part, write=True, new=True))
            with closing(new):
                with new._transaction():
                    for statement in SCHEMA:
                        new._connection.execute(statement)
                    new._put("study", asdict(study))
                    new._put("setting:id", uuid4().hex)  # a browser knows it again by that
                yield new
            publish(part, path)
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

    @cached_property
    def study(self) -> Study:
        """What the review is about."""
        with refuse_foreign_values(self.path):
            found = json.loads(self._value("study") or "{}")
            names = ("header", "text")
            return Study(
                **found
                | {name: tuple(map(str, found[name])) for name in names}
                | {"codes": tuple((str(code), str(n), str(d)) for code, n, d in found["codes"])}
            )

    def add_items(self, items: Iterable[Item]) -> None:
        """Write answers."""
        rows = ((i.item, pack(i.cells), i.text, int(i.drawn), codes_text(i.given)) for i in items)
        self._write("INSERT INTO items VALUES (?, ?, ?, ?, ?)", rows)

    def items(self, numbers: Sequence[int] | None = None) -> Iterator[Item]:
        """Some answers in the given order, or all in that of the table."""
        read = partial(read_item, n_cells=len(self.study.header))
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
        with self._transaction():
            (last,) = self._connection.execute("SELECT max(round) FROM rounds").fetchone()
            number = 0 if last is None else int(last) + 1
            row = (number, current_time(), model, 0, "{}")
            self._connection.execute(_PUT_ROUND, row)
        return number

    def finish_round(
        self, round: int, model: str, facts: Mapping[str, Any], time: str = ""
    ) -> None:
        """Let a round count: from now on its suggestions are those that people see."""
        row = (round, time or current_time(), model, 1, json.dumps(facts))
        self._write(_PUT_ROUND, [row])

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
        return list(self._read(query, (), read_round))

    def suggestion(self, round: int, item: int) -> Suggestion | None:
        """What the model of a round said of an item; None for one that people had coded."""
        query = f"SELECT {_SUGGESTED} FROM suggestions WHERE round = ? AND item = ?"
        return next(self._read(query, (round, item), read_suggestion), None)

    def suggestions(self, round: int) -> Iterator[Suggestion]:
        """All suggestions of a round in the order of the table."""
        query = f"SELECT {_SUGGESTED} FROM suggestions WHERE round = ? ORDER BY item"
        return self._read(query, (round,), read_suggestion)

    def suggested_items(self, round: int = 0) -> Iterator[tuple[Item, Suggestion | None]]:
        """All answers in their order, with what the model of a round said, if anything."""
        said = self.suggestions(round)
        waiting = next(said, None)
        for item in self.items():
            found = waiting if waiting is not None and waiting.item == item.item else None
            yield item, found
            waiting = waiting if found is None else next(said, None)

    def suggestion_rows(self, round: int) -> list[tuple[int, str, str, float]]:
        """Of each suggestion of a round its item, codes as JSON, status and doubt."""
        query = "SELECT item, codes, status, doubt FROM suggestions WHERE round = ? ORDER BY item"
        return list(self._read(query, (round,)))

    # What is added while people work.

    def add(self, entries: Sequence[LogEntry], behind: int | None = None) -> list[LogEntry]:
        """Add entries to the log, all or none; those returned have their ids, and are on the disk.

        An entry whose `uid` is there already is returned as it was written then; it is refused if
        that was something else. If the last entry of the log is not the one that they shall stand
        `behind`, nothing is added.
        """
        added: list[LogEntry] = []
        with self._transaction():
            if behind is not None:
                (last,) = self._connection.execute("SELECT max(id) FROM decisions").fetchone()
                if (last or 0) != behind:
                    raise ChangedSinceError
            for entry in entries:
                known = self._connection.execute(
                    f"SELECT {COLUMNS} FROM decisions WHERE uid = ?", (entry.uid,)
                ).fetchone()
                if known is None:
                    query = f"INSERT INTO decisions ({COLUMNS}) VALUES ({', '.join('?' * 16)})"
                    written = self._connection.execute(query, entry_row(entry))
                    if written.rowcount != 1:  # nothing is acknowledged that is not there
                        raise sqlite3.DatabaseError("an entry was not written")
                    known = (written.lastrowid, *entry_row(entry)[1:])
                added.append(read_entry(known))
                if not added[-1].is_act_of(entry):
                    message = f"The name {quote(entry.uid)} is used already, for another decision."
                    raise InputError(message, hint="send each decision under a name of its own")
        return added

    def entries(self, after: int = 0) -> list[LogEntry]:
        """Entries of the log in their order, those behind an id."""
        query = f"SELECT {COLUMNS} FROM decisions WHERE id > ? ORDER BY id"
        return list(self._read(query, (after,), read_entry))

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
        return nullcontext() if self._connection.in_transaction else self._transaction("BEGIN")

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


_PUT_ROUND = "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?)"
_SUGGESTED = "item, codes, status, doubt, likely, details"
