"""One process at a time: the others wait."""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nldd.exceptions import NLDDError

WAIT_SECONDS = 600.0
POLL_SECONDS = 0.1
_BUSY = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def file_lock(path: Path, doing: str, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock file `path`; whoever comes second waits, and is told so by `tell`.

    The lock belongs to the process and ends with it, however it ends. A file that merely exists
    would outlive a killed process and lock everybody out. The empty file stays behind, since
    removing it would let a third process lock a new one beside the second. `doing` says what the
    other process is at, such as "fetching into data".
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait(descriptor, doing, tell)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, doing: str, tell: Callable[[str], None] | None) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not _taken(descriptor):
        if tell is not None:
            tell(f"Waiting for another process that is {doing}.")
            tell = None
        if time.monotonic() > end:
            raise NLDDError(
                f"Another process has been {doing} for {WAIT_SECONDS / 60:g} "
                "minutes. Let it finish or end it, then run this again."
            )
        time.sleep(POLL_SECONDS)


def _taken(descriptor: int) -> bool:
    try:
        _take(descriptor)
    except OSError as error:
        if error.errno not in _BUSY:
            raise
        return False
    return True
