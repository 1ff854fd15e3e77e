"""Fetch files of data sets into the data folder, so that only whole and right ones appear there.

::

    there with the right sha256? -- yes --> left alone
     | no
    NAME.part --blocks appended--> as long as the catalogue says --sha256--> fsync --> NAME
     ^   |
     |   +-- broken off: kept, and asked for from there on at the next attempt or command
     +------ does not fit: deleted, from the first byte again
"""

import errno
import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nldd._files import file_lock, sync_folder
from nldd._progress import progress
from nldd.datasets._catalogue import CatalogueFile, Entry
from nldd.datasets._folder import (
    FOLDER_VARIABLE,
    FileState,
    Folder,
    Names,
    data_folder,
    inspect_file,
    select_entries,
)
from nldd.datasets._http import (
    BrokenTransferError,
    StartOverError,
    WrongFileError,
    check_address,
    open_at,
)
from nldd.exceptions import InputError, NLDDError

MIRROR_VARIABLE = "NLDD_MIRROR"
LOCK_FILE = ".nldd.lock"
# Between the attempts, whose number is one more.
WAIT_SECONDS = (0.5, 2.0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


class UnreachableError(NLDDError):
    """No attempt went through; the message says how to go on from what came."""


def fetch(
    names: Names, data_dir: Folder = None, *, mirror: str | None = None, verbose: bool = False
) -> list[FileState]:
    """Fetch the files of data sets that are missing or damaged.

    Run again after a failure, it goes on from the bytes that came. What the server refuses to
    give does not keep the other data sets from being fetched; a broken connection does.

    Parameters
    ----------
    names : str, Entry or iterable of them
        Data sets by their names in the catalogue; ``"all"`` for all of it.
    data_dir : path, optional
        See :func:`data_folder`; made if need be.
    mirror : str, optional
        Address under which the files lie by their names, instead of the catalogue's addresses;
        the environment variable ``NLDD_MIRROR`` by default. The sha256 of the catalogue decides
        whatever the server.
    verbose : bool, default=False
        Draw a progress bar for each data set on standard error, and say what is waited for.

    Returns
    -------
    states : list of FileState
        One a file: ``ok`` if it was there already, else ``fetched``.
    """
    folder, entries = data_folder(data_dir), select_entries(names)
    mirror = mirror or os.environ.get(MIRROR_VARIABLE) or None
    addresses = {file: _address(file, mirror) for entry in entries for file in entry.files}
    states = [inspect_file(entry, file, folder) for entry in entries for file in entry.files]
    if all(state.state == "ok" for state in states):
        return states  # a folder that cannot be written to will do
    with _plain_disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tell = _tell if verbose else None
        with file_lock(folder / LOCK_FILE, f"fetching into {folder}", tell):
            return _fetch_entries(entries, folder, addresses, verbose)


def _fetch_entries(
    entries: Iterable[Entry], folder: Path, addresses: dict[CatalogueFile, str], verbose: bool
) -> list[FileState]:
    states, failures = [], []
    for entry in entries:
        # Another process may have fetched it while this one waited for the lock.
        found = [inspect_file(entry, file, folder) for file in entry.files]
        needed = [state.file for state in found if state.state != "ok"]
        n_kib = sum(_kib(file.n_bytes) for file in needed)
        steps = _steps(needed, folder, addresses)
        try:
            for _ in progress(steps, n_kib, f"{entry.name} (KiB)", show=verbose and bool(needed)):
                pass
        except UnreachableError as error:
            failures.append(str(error))
            break  # the next one would only wait for the same server
        except NLDDError as error:
            failures.append(str(error))
            continue
        states += [_fetched(state) if state.file in needed else state for state in found]
    if failures:
        raise NLDDError("\n".join(failures))
    return states


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _fetched(state: FileState) -> FileState:
    file = state.file
    return FileState(state.dataset, file, state.path, "fetched", file.n_bytes, file.sha256)


def _steps(
    files: Iterable[CatalogueFile], folder: Path, addresses: dict[CatalogueFile, str]
) -> Iterator[None]:
    """Fetch `files`, with a step for every KiB that came for the first time."""
    for file in files:
        done = 0
        for position in _download(file, addresses[file], folder):
            for _ in range(done, _kib(position)):
                yield
            done = max(done, _kib(position))
        for _ in range(done, _kib(file.n_bytes)):
            yield


def _kib(n_bytes: int) -> int:
    return -(-n_bytes // 1024)


def _address(file: CatalogueFile, mirror: str | None) -> str:
    if mirror and ("?" in mirror or "#" in mirror):
        raise InputError(
            f"A mirror is an address that ends in a folder, without '?' and '#'; got {mirror!r}."
        )
    url = f"{mirror.rstrip('/')}/{file.file}" if mirror else file.url
    check_address(url)
    return url


def _download(file: CatalogueFile, url: str, folder: Path) -> Iterator[int]:
    """Fetch one file in a few attempts, with how far it is after every block."""
    part = folder / f"{file.file}.part"
    for wait in (*WAIT_SECONDS, None):
        try:
            yield from _attempt(file, url, part)
            break
        except BrokenTransferError as error:
            if wait is None:
                raise UnreachableError(
                    f"{file.file} could not be fetched from {url}: {error}. "
                    "Check the connection and run the same again: it goes on where it stopped. "
                    f"Or fetch from another address by --mirror or {MIRROR_VARIABLE}."
                ) from error
            time.sleep(wait)
        except NLDDError as error:
            raise NLDDError(
                f"{file.file} was not fetched from {url}: {error}. "
                f"Fetch it from another address by --mirror or {MIRROR_VARIABLE}, or put the file "
                f"into {folder} yourself."
            ) from error
    os.replace(part, folder / file.file)
    sync_folder(folder)


def _attempt(file: CatalogueFile, url: str, part: Path) -> Iterator[int]:
    try:
        start = _usable_bytes(part, file)
        if start < file.n_bytes:
            with open_at(url, start, file.n_bytes) as answer:
                start = answer.start
                yield from _append(part, answer.start, answer.blocks)
        _check_sha256(file, part, resumed=start > 0)
    except (StartOverError, WrongFileError):
        part.unlink(missing_ok=True)
        raise


def _usable_bytes(part: Path, file: CatalogueFile) -> int:
    try:
        n_bytes = part.stat().st_size
    except FileNotFoundError:
        return 0
    return n_bytes if n_bytes <= file.n_bytes else 0


def _append(part: Path, start: int, blocks: Iterator[bytes]) -> Iterator[int]:
    # A link that someone else put there must not lead the bytes out of the folder.
    with open(
        part, "ab", opener=lambda path, flags: os.open(path, flags | _NO_FOLLOW, 0o666)
    ) as handle:
        handle.truncate(start)
        for block in blocks:
            handle.write(block)
            start += len(block)
            yield start


def _check_sha256(file: CatalogueFile, part: Path, *, resumed: bool) -> None:
    """Check the bytes on the disk, the resumed ones too, and have the disk keep them."""
    with open(part, "rb+") as handle:
        sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
        os.fsync(handle.fileno())
    if sha256 == file.sha256:
        return
    message = f"its sha256 is {sha256} instead of {file.sha256}; it was deleted"
    # The fault may lie in what an earlier attempt left.
    raise StartOverError(message) if resumed else WrongFileError(message)


@contextmanager
def _plain_disk_errors(folder: Path) -> Iterator[None]:
    """Say what a refusal of the disk means for the folder."""
    try:
        yield
    except OSError as error:
        advice = f"Set {FOLDER_VARIABLE} or --data-dir to a folder that you can write to."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            advice = (
                "Free some space and run the same again: it goes on where it stopped. "
                f"Or set {FOLDER_VARIABLE} or --data-dir to a folder elsewhere."
            )
        raise NLDDError(
            f"Cannot write to the folder {folder}: {error.strerror or error}. {advice}"
        ) from error
