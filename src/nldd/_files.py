"""Files that are whole or not there, written by one process at a time."""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from nldd.exceptions import InputError, NLDDError

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove an open file
    fcntl = None  # type: ignore[assignment]

WAIT_SECONDS = 600.0
POLL_SECONDS = 0.1
# On Windows: how often and how long to wait for who reads a file, such as a virus scanner; and when
# a part that nobody holds open is a leftover, rather than about to be moved.
MOVE_TRIES, MOVE_SECONDS = 20, 0.1
LEFT_SECONDS = 3600.0


def refuse_existing(*places: Path | str | None, force: bool = False) -> None:
    """Refuse to write where a file is already, unless told to; ``-`` is standard output."""
    for place in places if not force else ():
        if place is not None and str(place) != "-" and Path(place).exists():
            message = f"{place} is there already, and is not replaced unasked."
            raise InputError(message, hint="another name; or --force, to replace it")


@contextmanager
def open_replacement(path: Path) -> Iterator[BinaryIO]:
    """A stream beside the place of a file; at the end it is moved there in one step.

    Nobody ever reads half of the file, and after an error the old one is still there, nothing else.
    The new one may be read by those who could read the old one, and belongs to the same owner where
    the system allows that. The file that a link points to is replaced, not the link.
    """
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):  # one may write into a folder that one may not read
        _remove_leftovers(path)
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    old = path.stat() if path.is_file() and fcntl is not None else None
    try:
        with _open_held(part, stat.S_IMODE(old.st_mode) if old else 0o666) as stream:
            if old:
                _keep_access(stream.fileno(), old)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is None:
                stream.close()  # Windows does not move an open file
            move_file(part, path)
        sync_folder(path.parent)
    except OSError as error:
        if error.strerror and error.filename in (None, part, str(part)):
            # People know the file by its own name.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def move_file(part: Path, path: Path) -> None:
    """Give a file the name of another, which it replaces.

    Windows refuses that while a program has the old one open: we wait, and then say why.
    """
    for _ in range(0 if fcntl is not None else MOVE_TRIES):
        with suppress(PermissionError):
            os.replace(part, path)
            return
        time.sleep(MOVE_SECONDS)
    try:
        os.replace(part, path)
    except PermissionError as error:
        if fcntl is not None:
            raise
        why = "it is open in another program, such as a spreadsheet, or may not be written"
        raise PermissionError(error.errno, why, str(path)) from error


def _keep_access(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, group and rights of an old one, as far as the system allows."""
    for owner in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(OSError):
            os.fchown(descriptor, *owner)
    # What one group may do is not for another one.
    rights = 0o777 if os.fstat(descriptor).st_gid == old.st_gid else 0o707
    with suppress(OSError):
        os.fchmod(descriptor, old.st_mode & rights)


def _open_held(part: Path, mode: int) -> BinaryIO:
    """A new file that no other process takes for a leftover, as long as it is open."""
    while True:
        stream = open(part, "xb", opener=partial(os.open, mode=mode & 0o666))  # noqa: SIM115 (its caller closes)
        if fcntl is None:
            return stream
        with suppress(OSError):  # not every file system knows locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()  # it was taken for a leftover before it was held


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes left beside a file; those at work hold theirs."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9]+-[0-9]+\.part")
    for name in filter(ours.fullmatch, os.listdir(path.parent)):
        with suppress(OSError):
            if fcntl is None:
                # Which fails while it is open; a closed one may be about to get its name.
                if time.time() - os.stat(path.parent / name).st_mtime > LEFT_SECONDS:
                    os.unlink(path.parent / name)
                continue
            with open(path.parent / name, "r+b") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its writer may have moved it meanwhile, and be at work on a new one of that name.
                if os.path.samestat(os.fstat(stream.fileno()), os.stat(path.parent / name)):
                    os.unlink(path.parent / name)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file as a whole, see :func:`open_replacement`."""
    with open_replacement(path) as stream:
        stream.write(content)


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder, where the system can wait for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network file systems cannot wait
            raise
    finally:
        os.close(descriptor)


@contextmanager
def file_lock(path: Path, doing: str, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock file `path`, which ends with the process, however that ends.

    Who comes second waits, and is told by `tell` what the first is `doing`: "fetching into data".
    """
    from filelock import FileLock, Timeout  # of both applications; the library locks nothing

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except PermissionError as error:
        message = f"{path.parent or Path.cwd()}: this folder cannot be written to."
        hint = "copy the file to a folder of your own, or ask who may write there"
        raise NLDDError(message, hint=hint) from error
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
