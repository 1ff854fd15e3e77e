"""Fetch files of data sets by pooch, so that only whole and right ones appear in the folder."""

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from http.client import responses
from math import ceil
from pathlib import Path
from threading import Thread
from typing import Any

import pooch
import requests

from nldd import __version__
from nldd._files import file_lock, move_file, sync_folder
from nldd.bench.datasets.catalogue import (
    FOLDER_VARIABLE,
    CatalogueFile,
    FileState,
    Folder,
    Names,
    data_folder,
    select_entries,
    verify,
)
from nldd.exceptions import InputError, NLDDError
from nldd.present.progress import progress

MIRROR_VARIABLE = "NLDD_MIRROR"
LOCK_FILE, INCOMING = ".nldd.lock", ".incoming"
TIMEOUT_SECONDS = 30.0
BLOCK_BYTES = 1024
# A file must be there after so many seconds, and one more for so many of its bytes.
DEADLINE_SECONDS, LEAST_RATE = 60.0, 10_000
TURN_SECONDS = 0.2
# The server is busy or broken for now, rather than of another opinion.
_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504}
_HEADERS = {"User-Agent": f"nldd/{__version__}", "Accept-Encoding": "identity"}
_ADDRESS_FORM = "Give one of the form https://host/folder."
_ADDRESS = re.compile(
    r"([a-z]+)://([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]*)?(?:/[!-~]*)?"
)
_LOCAL = re.compile(r"http://(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?:[:/]|$)")
_PASSWORD = re.compile(r"[^/]*//[^/]*@")


def fetch(
    names: Names, data_dir: Folder = None, *, mirror: str | None = None, verbose: bool = False
) -> list[FileState]:
    """Fetch the files of data sets that are missing or damaged.

    A refusal of the server does not keep the other files from being fetched.

    Parameters
    ----------
    names : str, Entry or iterable of them
        Data sets by their names in the catalogue; ``"all"`` for all of it.
    data_dir : path, optional
        See :func:`data_folder`; made if need be.
    mirror : str, optional
        Address under which the files lie by their names, or several with spaces between, instead
        of the catalogue's; the environment variable ``NLDD_MIRROR`` by default.
    verbose : bool, default=False
        Draw a progress bar for each file on standard error, and say what is waited for.

    Returns
    -------
    states : list of FileState
        One a file: ``ok`` if it was there already, else ``fetched``.

    Examples
    --------
    ``fetch("all")`` fetches the whole catalogue. An address must be a safe one:

    >>> from nldd.bench import fetch
    >>> fetch("yeast", "data", mirror="ftp://somewhere")
    Traceback (most recent call last):
        ...
    nldd.exceptions.InputError: Files are fetched over https only; got 'ftp://somewhere'. Give one
    of the form https://host/folder. If the files are on this machine, set NLDD_DATA to their
    folder.
    """
    folder, entries = data_folder(data_dir), select_entries(names)
    mirrors = (mirror or os.environ.get(MIRROR_VARIABLE) or "").split()
    for address in mirrors or [file.url for entry in entries for file in entry.files]:
        _check_address(address, is_folder=bool(mirrors))
    states = verify(entries, folder)
    if all(state.state == "ok" for state in states):
        return states  # a folder that cannot be written to will do
    with ExitStack() as stack:
        stack.enter_context(_plain_write_errors(folder))
        folder.mkdir(parents=True, exist_ok=True)
        doing = f"fetching into {folder}"
        stack.enter_context(file_lock(folder / LOCK_FILE, doing, _tell if verbose else None))
        stack.callback(shutil.rmtree, folder / INCOMING, ignore_errors=True)
        # Pooch tells each step on standard error, where here the progress is drawn.
        logger = pooch.get_logger()
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel("ERROR")
        # Another process may have fetched some of them while this one waited for the lock.
        return _fetch_files(verify(entries, folder), folder, mirrors, verbose)


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _fetch_files(
    states: list[FileState], folder: Path, mirrors: list[str], verbose: bool
) -> list[FileState]:
    failures = []
    for i, state in enumerate(states):
        if state.state == "ok":
            continue
        file = state.file
        urls = [f"{mirror.rstrip('/')}/{file.file}" for mirror in mirrors] or [file.url]
        errors = _fetch_file(file, folder, urls, verbose)
        if errors:
            failures.append(f"{file.file} could not be fetched.")
            failures += [f"  {url}: {_reason(error)}" for url, error in errors.items()]
            if all(isinstance(error, OSError) for error in errors.values()):
                break  # the next one would only wait for the same servers
        states[i] = replace(state, state="fetched", n_bytes=file.n_bytes, sha256=file.sha256)
    if failures:
        other = f"fetch from another address by --mirror or {MIRROR_VARIABLE}"
        failures.append(f"Run the same again, {other}, or put the files into {folder} yourself.")
        raise NLDDError("\n".join(failures), hint="the same again, or --mirror URL")
    return states


def _fetch_file(
    file: CatalogueFile, folder: Path, urls: list[str], verbose: bool
) -> dict[str, Exception]:
    """Fetch a file from the first address that gives it; else what was wrong with each."""
    errors: dict[str, Exception] = {}
    registry = {file.file: f"sha256:{file.sha256}"}
    download = partial(_download, file=file, verbose=verbose)
    for url in urls:
        server = pooch.create(
            folder / INCOMING, "", registry=registry, urls={file.file: url}, retry_if_failed=2
        )
        try:
            part = server.fetch(file.file, downloader=download)
        # A ValueError is pooch's word for another sha256.
        except (NLDDError, ValueError, requests.RequestException) as error:
            errors[url] = error
            continue
        with open(part, "rb+") as stream:
            os.fsync(stream.fileno())
        move_file(Path(part), folder / file.file)
        sync_folder(folder)
        return {}
    return errors


def _download(url: str, target: str, _: object, *, file: CatalogueFile, verbose: bool) -> None:
    """What pooch calls: :func:`_copy` within a deadline.

    After a RequestException pooch tries again, after an NLDDError it does not. A server that sends
    a byte now and then never exceeds the time for one byte, be it of the headers or of the file;
    so another thread reads, and is left behind when time is up.
    """
    done: Future[None] = Future()

    def work() -> None:
        try:
            _copy(url, target, file, verbose, done.cancelled)
            done.set_result(None)
        except InvalidStateError:
            pass
        except BaseException as error:
            if not done.cancelled():
                done.set_exception(error)

    seconds = DEADLINE_SECONDS + file.n_bytes / LEAST_RATE
    Thread(target=work, daemon=True).start()
    try:
        # In short turns: Windows does not hear Ctrl-C while it waits.
        for _ in range(ceil(seconds / TURN_SECONDS)):
            if done in wait([done], TURN_SECONDS).done:
                break
        done.result(0)
    except TimeoutError:
        slow = f"the server sends too slowly: {file.n_bytes} bytes were not there"
        raise NLDDError(f"{slow} after {seconds:.3g} seconds") from None
    finally:
        done.cancel()


def _copy(
    url: str, target: str, file: CatalogueFile, verbose: bool, stopped: Callable[[], bool]
) -> None:
    """Write the bytes at `url` as they are, and not one more than expected."""
    n_left, n_blocks = file.n_bytes, -(-file.n_bytes // BLOCK_BYTES)
    with _ask(url) as answer, open(target, "wb") as stream:
        _check_answer(answer, file)
        blocks = answer.iter_content(BLOCK_BYTES)
        for block in progress(blocks, n_blocks, f"{file.file} (KiB)", show=verbose):
            n_left -= len(block)
            if stopped():
                return
            if n_left < 0:
                raise NLDDError("the server sends more bytes than the catalogue has")
            stream.write(block)
    if n_left:
        raise requests.ConnectionError(f"the connection ended {n_left} bytes early")


@contextmanager
def _ask(url: str) -> Iterator[Any]:
    """The answer of a server, by https or from the very address on this machine that was named."""
    with requests.Session() as session:
        del session.adapters["http://"]
        if url.startswith("http:"):
            session.mount(url, requests.adapters.HTTPAdapter())
            session.trust_env = False  # a proxy cannot reach this machine as it sees itself
        try:
            answer = session.get(url, headers=_HEADERS, timeout=TIMEOUT_SECONDS, stream=True)
        except requests.exceptions.InvalidSchema as error:
            raise NLDDError("the server redirects to an address that is not https") from error
        with answer:
            yield answer


def _check_answer(answer: Any, file: CatalogueFile) -> None:
    status, headers = answer.status_code, answer.headers
    words = f"the server answers {status} {responses.get(status, '')}".rstrip()
    if status in _TRANSIENT_STATUS:
        raise requests.HTTPError(words)
    if status != 200:
        raise NLDDError(words)
    # Unpacking what a server packed is how few bytes become many.
    encoding = headers.get("Content-Encoding", "").strip().lower() or "identity"
    if encoding != "identity":
        raise NLDDError(f"the server sends the file packed by {encoding!r}, unasked")
    offered = headers.get("Content-Length", "")
    if offered.isdecimal() and offered != str(file.n_bytes):
        raise NLDDError(f"the server offers {offered} bytes where the catalogue has {file.n_bytes}")


def _reason(error: BaseException) -> str:
    """What is at the bottom of an error, in one line."""
    while error.__context__ is not None and not isinstance(error, NLDDError):
        error = error.__context__
    text = str(error) or type(error).__name__
    # Some of it the server wrote; a terminal must not obey it.
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _check_address(url: str, is_folder: bool = False) -> None:
    """Refuse anything but https; plain http is for servers on this very machine."""
    if _PASSWORD.match(url):
        raise InputError(f"An address must not hold a user name or password. {_ADDRESS_FORM}")
    found = _ADDRESS.fullmatch(url)
    if found and found[1] != "https" and not _LOCAL.match(url):
        own = f"If the files are on this machine, set {FOLDER_VARIABLE} to their folder."
        raise InputError(f"Files are fetched over https only; got {url!r}. {_ADDRESS_FORM} {own}")
    if not found or not found[2] or (is_folder and ("?" in url or "#" in url)):
        raise InputError(f"{url!r} is no web address of a folder. {_ADDRESS_FORM}")


@contextmanager
def _plain_write_errors(folder: Path) -> Iterator[None]:
    """Say what a refusal of the disk means for the folder."""
    try:
        yield
    except OSError as error:
        what = f"Cannot write to the folder {folder}: {error.strerror or error}."
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        how = "Free some space and run the same again, or set" if full else "Set"
        where = f"{FOLDER_VARIABLE} or --data-dir to a folder that you can write to"
        raise NLDDError(f"{what} {how} {where}.") from error
