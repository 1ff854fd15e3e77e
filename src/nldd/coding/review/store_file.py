"""The file of a store: the tables of SQLite in it, how it is opened, and what its errors mean."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from nldd.exceptions import InputError, NLDDError

ENDING = ".review.db"
# Bytes 68 to 71 of the file: "nldd".
APPLICATION, FORMAT = 0x6E6C6464, 1
WAIT_MS = 10_000
_SAYS_READ_ONLY = "readonly|unable to open"
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


def is_store(path: Path) -> bool:
    """Whether a file is a review of nldd, by its first bytes."""
    with suppress(OSError), path.open("rb") as stream:
        head = stream.read(72)
        return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")
    return False


def connect(path: Path, write: bool, new: bool = False) -> sqlite3.Connection:
    """A connection to the file; one to read is made where the folder cannot be written, too."""
    if write or new:
        return _connect(path, "rwc" if new else "rw", new)
    try:
        return _connect(path, "ro")
    except sqlite3.OperationalError as error:
        log = path.with_name(f"{path.name}-wal")
        if re.search(_SAYS_READ_ONLY, str(error)) is None:
            raise
        # SQLite keeps a note of its readers in the folder; none is needed where nobody writes.
        if not log.exists() or not log.stat().st_size:
            return _connect(path, "ro&immutable=1")
        message = f"{path} cannot be read here: its last decisions are in {log.name}"
        hint = f"copy both, {path.name} and {log.name}, to a folder that you may write to"
        raise InputError(f"{message}, and the folder cannot be written.", hint=hint) from error


def _connect(path: Path, mode: str, new: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{address(path.absolute())}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=WAIT_MS / 1000,
    )
    pragmas = [f"application_id = {APPLICATION}", f"user_version = {FORMAT}", "journal_mode = WAL"]
    try:
        for pragma in ("trusted_schema = OFF", *(pragmas if new else ()), "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
        if not new:
            check_schema(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def address(path: PurePath) -> str:
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
    if {sql for (sql,) in connection.execute(query)} != set(SCHEMA):
        hint = "use the file as nldd review made it, or a copy from before"
        raise InputError(f"{path} is not as nldd wrote it: its tables differ.", hint=hint)


def publish(part: Path, path: Path) -> None:
    """Give a complete file its name, which is not taken from another that was made meanwhile."""
    try:
        os.link(part, path)
    except FileExistsError:
        hint = "nldd review with the same words goes on with it"
        raise InputError(f"{path} already exists.", hint=hint) from None
    except OSError:  # no links on this file system
        os.rename(part, path)


# What errors of SQLite mean, and what to do.
MEANINGS = (
    ("full", "the disk is full", "make room; what was saved before is kept"),
    ("locked|busy", "another process has held it too long", "end that process, then try again"),
    (_SAYS_READ_ONLY, "it cannot be written", "check who may write to the file and its folder"),
    ("disk i/o", "the disk reports an error", "copy the file to another disk"),
)


@contextmanager
def explain_sqlite_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite as what they mean for a person."""
    try:
        yield
    except sqlite3.Error as error:
        said, damaged = str(error).lower(), f"it is damaged, or no review ({error})"
        found = (advice for words, *advice in MEANINGS if re.search(words, said))
        message, hint = next(found, (damaged, "use a copy from before"))
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
