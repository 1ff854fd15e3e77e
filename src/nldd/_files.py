"""Files that are complete or absent, never half written."""

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import file_digest
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from nldd.exceptions import InputError

WINDOWS = os.name == "nt"
# On Windows: how often and how long to wait for a program that reads the file, such as a scanner.
MOVE_TRIES, MOVE_SECONDS = 20, 0.1
# Age of a part from which it is a leftover, if its process cannot be asked.
LEFT_SECONDS = 3600.0


def refuse_existing(*places: Path | str | None, force: bool = False) -> None:
    """Refuse to overwrite a file without `force`; ``-`` is standard output."""
    for place in places if not force else ():
        if place is not None and str(place) != "-" and Path(place).exists():
            hint = "another name, or --force to overwrite"
            raise InputError(f"{place} already exists.", hint=hint)


@contextmanager
def open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a stream beside a file, which replaces the file in one step at the end.

    Nobody ever reads half of the file, and after an error only the old one is there. The new one
    keeps the permissions of the old one, and its owner if the system allows that. If the path is a
    link, the file that it points to is replaced.
    """
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = temporary_path(path)
    old = path.stat() if path.is_file() and not WINDOWS else None
    mode = stat.S_IMODE(old.st_mode) & 0o666 if old else 0o666
    try:
        with open(part, "xb", opener=partial(os.open, mode=mode)) as stream:
            if old:
                _keep_access(stream.fileno(), old)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        move_file(part, path)
        sync_folder(path.parent)
    except OSError as error:
        if error.strerror and error.filename in (None, part, str(part)):
            # People know the file by its own name.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """Checksum of a file: tells whether it holds the same as before."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a complete file, see :func:`open_replacement`."""
    with open_replacement(path) as stream:
        stream.write(content)


def temporary_path(path: Path) -> Path:
    """Return where to make a file until it is complete; remove what killed processes left there."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.([0-9]{{1,9}})-[0-9]+\.part(-[a-z]+)?")
    with suppress(OSError):  # one may write into a folder that one may not read
        for part in list(path.parent.iterdir()):
            found = ours.fullmatch(part.name)
            with suppress(OSError):
                if found and not _is_at_work(int(found[1]), part):
                    part.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")


def _is_at_work(process: int, part: Path) -> bool:
    """Check whether the process that makes a part may still be running."""
    # Windows has no harmless question to a process; and a part with our own number is that of
    # another thread, or of a killed process that had the same number, as in containers.
    if WINDOWS or process == os.getpid():
        return time.time() - part.stat().st_mtime < LEFT_SECONDS
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # else it belongs to another person
    return True


def move_file(part: Path, path: Path) -> None:
    """Give a file the name of another, which it replaces.

    Windows refuses that while a program has the old one open: wait, and then say why.
    """
    for turn in range(MOVE_TRIES + 1):
        try:
            os.replace(part, path)
            return
        except PermissionError as error:
            if not WINDOWS:
                raise
            if turn == MOVE_TRIES:
                why = "it is open in another program, such as a spreadsheet, or may not be written"
                raise PermissionError(error.errno, why, str(path)) from error
        time.sleep(MOVE_SECONDS)


def _keep_access(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, group and permissions of an old one, if the system allows that."""
    for owner in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(OSError):
            os.fchown(descriptor, *owner)
    # Permissions of one group are not for another one.
    kept = 0o777 if os.fstat(descriptor).st_gid == old.st_gid else 0o707
    with suppress(OSError):
        os.fchmod(descriptor, old.st_mode & kept)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system can wait for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network file systems cannot wait
                raise
        finally:
            os.close(descriptor)
