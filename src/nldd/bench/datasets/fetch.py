"""Fetch files of data sets by pooch, so that only whole and right ones appear in the folder."""

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pooch
import requests

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
from nldd.present.console import progress

MIRROR_VARIABLE = "NLDD_MIRROR"
TIMEOUT_SECONDS = 30.0
BLOCK_BYTES = 1024
# Plain http is for servers on this very machine.
_ADDRESS = re.compile(r"https://[^\s@/]+(/\S*)?|http://(localhost|127\.0\.0\.1)(:\d+)?(/\S*)?")


def fetch(
    names: Names, data_dir: Folder = None, *, mirror: str | None = None, verbose: bool = False
) -> list[FileState]:
    """Fetch the files of data sets that are missing or damaged.

    A refusal of the server does not keep the other files from being fetched.

    Parameters
    ----------
    names : str, CatalogueEntry or iterable of them
        Data sets by their names in the catalogue; ``"all"`` for all of it.
    data_dir : path, optional
        See :func:`data_folder`; made if need be.
    mirror : str, optional
        Address under which the files lie by their names, or several with spaces between, instead
        of the catalogue's; the environment variable ``NLDD_MIRROR`` by default.
    verbose : bool, default=False
        Draw a progress bar for each file on standard error.

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
    nldd.exceptions.InputError: Files are fetched over https only; got 'ftp://somewhere'. Give an
    address of the form https://host/folder.
    """
    folder, entries = data_folder(data_dir), select_entries(names)
    mirrors = (mirror or os.environ.get(MIRROR_VARIABLE) or "").split()
    for address in mirrors:
        if not _ADDRESS.fullmatch(address):
            form = "Give an address of the form https://host/folder."
            raise InputError(f"Files are fetched over https only; got {address!r}. {form}")
    states, failures = verify(entries, folder), list[str]()
    for i, state in enumerate(states):
        if state.state == "ok":
            continue
        file = state.file
        urls = [f"{mirror.rstrip('/')}/{file.file}" for mirror in mirrors] or [file.url]
        errors = _fetch_file(file, folder, urls, verbose)
        if not errors:
            states[i] = replace(state, state="fetched", n_bytes=file.n_bytes, sha256=file.sha256)
            continue
        failures.append(f"{file.file} could not be fetched.")
        failures += [f"  {url}: {_reason(error)}" for url, error in errors.items()]
        if all(isinstance(error, _UNREACHABLE) for error in errors.values()):
            break  # the next one would only wait for the same servers
    if failures:
        other = f"fetch from another address by --mirror or {MIRROR_VARIABLE}"
        failures.append(f"Run the same again, {other}, or put the files into {folder} yourself.")
        raise NLDDError("\n".join(failures), hint="the same again, or --mirror URL")
    return states


_UNREACHABLE = (requests.ConnectionError, requests.Timeout)


def _fetch_file(
    file: CatalogueFile, folder: Path, urls: list[str], verbose: bool
) -> dict[str, Exception]:
    """Fetch a file from the first address that gives it; else what was wrong with each.

    Pooch writes to a temporary file, and renames it when its sha256 is right.
    """
    errors: dict[str, Exception] = {}
    registry = {file.file: f"sha256:{file.sha256}"}
    download = partial(_download, file=file, verbose=verbose)
    # Pooch tells each step on standard error, where here the progress is drawn.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        for url in urls:
            source = {file.file: url}
            server = pooch.create(folder, "", registry=registry, urls=source, retry_if_failed=2)
            try:
                server.fetch(file.file, downloader=download)
                return {}
            # A ValueError is pooch's word for another sha256.
            except (NLDDError, ValueError, requests.RequestException) as error:
                errors[url] = error
    except OSError as error:
        what = f"Cannot write to the folder {folder}: {error.strerror or error}."
        how = f"Make room, or set {FOLDER_VARIABLE} or --data-dir to a folder that you can write to"
        raise NLDDError(f"{what} {how}.") from error
    finally:
        logger.setLevel(level)
    return errors


def _download(url: str, target: str, _: object, *, file: CatalogueFile, verbose: bool) -> None:
    """What pooch calls: write what is at `url`, and not much more than expected."""
    n_blocks = -(-file.n_bytes // BLOCK_BYTES)
    with requests.get(url, timeout=TIMEOUT_SECONDS, stream=True) as answer:
        answer.raise_for_status()
        blocks = answer.iter_content(BLOCK_BYTES)
        with open(target, "wb") as stream:
            for block in progress(blocks, n_blocks, f"{file.file} (KiB)", show=verbose):
                stream.write(block)
                if stream.tell() > file.n_bytes:
                    raise NLDDError("the server sends more bytes than the catalogue has")


def _reason(error: BaseException) -> str:
    """What is at the bottom of an error."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error) or type(error).__name__
