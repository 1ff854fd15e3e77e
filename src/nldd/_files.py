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

    Nobody ever reads half of the file, and after an error the old one is still there, nothing else.
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
    """Hold the lock file `path`, which ends with the process, however that ends.

    Who comes second waits, and is told by `tell` what the first is `doing`: "fetching into data".
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
