"""Files that are whole or not there, written by one process at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from filelock import FileLock, Timeout

from nldd.exceptions import NLDDError

WAIT_SECONDS = 600.0
POLL_SECONDS = 0.1


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream beside the place of a file; at the end it is moved there in one step.

    Until the move the old file stays as it is, and nobody ever reads half of the new one. After an
    error within the block the old file is still there, and nothing else.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file as a whole, see :func:`replacing`."""
    with replacing(path) as stream:
        stream.write(content)


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder, where the system can wait for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def file_lock(path: Path, doing: str, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock file `path`; whoever comes second waits, and is told so by `tell`.

    The lock belongs to the process and ends with it, however it ends. `doing` says what the other
    process is at, such as "fetching into data".
    """
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if tell is not None:
            tell(f"Waiting for another process that is {doing}.")
        try:
            lock.acquire(timeout=WAIT_SECONDS, poll_interval=POLL_SECONDS)
        except Timeout:
            raise NLDDError(
                f"Another process has been {doing} for {WAIT_SECONDS / 60:g} minutes.",
                hint="let it finish or end it, then run this again",
            ) from None
    try:
        yield
    finally:
        lock.release()
