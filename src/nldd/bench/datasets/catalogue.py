"""The catalogue of the paper's nine data sets: their files, fetched once into a folder.

Fetched by pooch, so that only whole and right files appear in the folder.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from nldd._files import file_sha256
from nldd.exceptions import InputError, NLDDError
from nldd.present.console import progress

FOLDER_VARIABLE, MIRROR_VARIABLE = "NLDD_DATA", "NLDD_MIRROR"
TIMEOUT_SECONDS, BLOCK_BYTES = 30.0, 1024
# Plain http is for servers on this very machine.
_ADDRESS = re.compile(r"https://[^\s@/]+(/\S*)?|http://(localhost|127\.0\.0\.1)(:\d+)?(/\S*)?")
# Comes with the package, so that it can be loaded without its files.
EMBEDDED = "yeast"


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A file of a data set.

    Attributes
    ----------
    file : str
        Its plain name.
    n_bytes, sha256 : int, str
        Its size and checksum.
    url : str
        Where its bytes can be fetched.

    Examples
    --------
    >>> from nldd.bench import CATALOGUE
    >>> [file.file for file in CATALOGUE["emotions"].files]
    ['emotions.arff', 'emotions.xml']
    """

    file: str
    n_bytes: int
    sha256: str
    url: str


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A data set of the catalogue.

    Attributes
    ----------
    name : str
    domain : str
    format : {"mulan", "meka"}
        Whether an XML file names the labels, or the relation says how many there are.
    n_samples, n_features, n_labels : int
    cardinality : float
        Mean number of labels that a row carries, to two decimals.
    n_labelsets : int
    files : tuple of CatalogueFile
        In the order in which their rows follow each other.

    Examples
    --------
    >>> from nldd.bench import CATALOGUE
    >>> entry = CATALOGUE["yeast"]
    >>> entry.domain, entry.n_samples, entry.n_features, entry.n_labels, entry.cardinality
    ('biology', 2417, 103, 14, 4.24)
    """

    name: str
    domain: str
    format: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    n_labelsets: int
    files: tuple[CatalogueFile, ...]

    def __str__(self) -> str:
        """All that the catalogue knows of its files."""
        lines = [
            f"  {file.file}  {file.n_bytes} bytes\n    {file.url}\n    sha256 {file.sha256}"
            for file in self.files
        ]
        return "\n".join(["Files", *lines])


def counts(of: Any, kind: str = "") -> dict[str, str]:
    """The size of a data set, as stated by the catalogue or measured."""
    return {
        "rows": str(of.n_samples),
        "features": f"{of.n_features}{kind}",
        "labels": str(of.n_labels),
        "labels a row": f"{of.cardinality:.2f} (cardinality)",
        "labelsets": f"{of.n_labelsets} distinct",
    }


def align_facts(facts: Mapping[str, str]) -> str:
    """One line a fact."""
    return "\n".join(f"  {name:<17}{value}" for name, value in facts.items())


@dataclass(frozen=True, slots=True)
class FileState:
    """What was found in the place of a catalogue file.

    Attributes
    ----------
    dataset : str
    file : CatalogueFile
        What is expected at `path`.
    path : Path
    state : {"ok", "missing", "damaged", "fetched"}
    n_bytes, sha256 : int, str or None
        What was found; the sha256 only of a file of the right size.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench.datasets.catalogue import verify
    >>> with TemporaryDirectory() as folder:
    ...     states = verify("yeast", folder)
    >>> {state.state for state in states}
    {'missing'}
    """

    dataset: str
    file: CatalogueFile
    path: Path
    state: str
    n_bytes: int | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        """The state, and of a damaged file what was expected and found."""
        if self.state != "damaged":
            return self.state
        if self.sha256 is None:
            return f"damaged: {self.n_bytes} bytes instead of {self.file.n_bytes}"
        return f"damaged: sha256 {self.sha256} instead of {self.file.sha256}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        place = {"dataset": self.dataset, "file": self.file.file, "path": self.path}
        expected = {"n_bytes": self.file.n_bytes, "sha256": self.file.sha256}
        found = {"n_bytes": self.n_bytes, "sha256": self.sha256}
        return place | {"state": self.state, "expected": expected, "found": found}


def find_entry(name: str) -> CatalogueEntry:
    """The data set of that name; a misspelt one is answered with the nearest."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = get_close_matches(name.lower(), CATALOGUE, n=1)
    question = f"Did you mean {near[0]!r}? " if near else ""
    known = f"The catalogue has {', '.join(CATALOGUE)}."
    raise InputError(f"No data set is called {name!r}. {question}{known}")


def _read_catalogue() -> dict[str, CatalogueEntry]:
    text = files("nldd.bench.datasets").joinpath("catalogue.json").read_text("utf-8")
    entries = {}
    for facts in json.loads(text):
        parts = tuple(CatalogueFile(**file) for file in facts.pop("files"))
        entries[facts["name"]] = CatalogueEntry(**facts, files=parts)
    return entries


CATALOGUE: dict[str, CatalogueEntry] = _read_catalogue()
"""The nine data sets of the paper by name, in the order of its tables.

>>> from nldd.bench import CATALOGUE
>>> list(CATALOGUE)
['emotions', 'scene', 'yeast', 'medical', 'slashdot', 'enron', 'ohsumed', 'tmc2007', 'bibtex']
>>> CATALOGUE["enron"].n_samples, CATALOGUE["enron"].n_labels
(1702, 53)
"""

Folder = str | os.PathLike[str] | None
Names = str | CatalogueEntry | Iterable[str | CatalogueEntry]


def data_folder(data_dir: Folder = None) -> Path:
    """The folder with the files of data sets; it need not exist.

    Parameters
    ----------
    data_dir : path, default=None

    Returns
    -------
    Path
        The first of these: `data_dir`, the environment variable ``NLDD_DATA``, and ``nldd`` in the
        user's cache folder. Files lie in it under their names in the catalogue, without subfolders.

    Examples
    --------
    >>> from nldd.bench.datasets.catalogue import data_folder
    >>> data_folder("shared/data").as_posix()
    'shared/data'
    """
    chosen = data_dir or os.environ.get(FOLDER_VARIABLE)
    if not chosen:
        from pooch import os_cache  # not at the top: most calls name a folder

        chosen = os_cache("nldd")
    folder = Path(os.path.expanduser(chosen))
    if str(folder).startswith("~"):
        how = f"Set {FOLDER_VARIABLE} to a folder, or give one by data_dir or --data-dir."
        raise InputError(f"No home folder was found to keep data sets in ({folder}). {how}")
    return folder


def select_entries(names: Names) -> list[CatalogueEntry]:
    """The data sets meant, each once; ``"all"`` is the whole catalogue."""
    chosen: dict[str, CatalogueEntry] = {}
    for name in [names] if isinstance(names, str | CatalogueEntry) else names:
        if name == "all":
            chosen |= CATALOGUE
        else:
            entry = name if isinstance(name, CatalogueEntry) else find_entry(name)
            chosen[entry.name] = entry
    return list(chosen.values())


def is_here(entry: CatalogueEntry, data_dir: Folder = None) -> bool:
    """Whether all files of a data set are in the folder, judged by their sizes."""
    return all(state.state == "ok" for state in verify(entry, data_dir, by_size=True))


def require_files(entry: CatalogueEntry, data_dir: Folder = None) -> list[Path]:
    """Paths of the files of a data set, in the order of the catalogue, judged by their sizes."""
    states = verify(entry, data_dir, by_size=True)
    how = f"Run: nldd datasets fetch {entry.name}"
    if missing := [state.file.file for state in states if state.state == "missing"]:
        lacks = f"{entry.name} lacks {', '.join(missing)} in the folder {data_folder(data_dir)}"
        other = f"set {FOLDER_VARIABLE} to a folder that has all files of it"
        raise InputError(f"{lacks}. {how}, or {other}.")
    for state in states:
        if state.state != "ok":
            raise InputError(f"{state.path} is {state}. {how}")
    return [state.path for state in states]


def verify(
    names: Names = "all", data_dir: Folder = None, *, by_size: bool = False
) -> list[FileState]:
    """Compare files of the data folder with the catalogue, byte for byte by their sha256.

    Parameters
    ----------
    names : str, CatalogueEntry or iterable of them, default="all"
        Data sets; ``"all"`` is the whole catalogue.
    data_dir : path, optional
        See :func:`data_folder`.
    by_size : bool, default=False
        Whether to be content with files of the right size.

    Returns
    -------
    states : list of FileState
        One a file, ``ok``, ``missing`` or ``damaged``.

    Examples
    --------
    An empty folder:

    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench.datasets.catalogue import verify
    >>> with TemporaryDirectory() as folder:
    ...     states = verify(["emotions", "yeast"], folder)
    >>> sorted({(state.dataset, state.state) for state in states})
    [('emotions', 'missing'), ('yeast', 'missing')]
    """
    folder = data_folder(data_dir)
    return [
        _compare(entry.name, file, folder / file.file, by_size)
        for entry in select_entries(names)
        for file in entry.files
    ]


def _compare(dataset: str, file: CatalogueFile, path: Path, by_size: bool) -> FileState:
    """What lies in the place of a file."""
    n_bytes = sha256 = None
    try:
        found = path.stat()
        n_bytes = found.st_size if stat.S_ISREG(found.st_mode) else None
        if n_bytes == file.n_bytes and not by_size:
            sha256 = file_sha256(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        how = f"Set {FOLDER_VARIABLE} or --data-dir to a folder that you can read."
        raise InputError(f"{path} cannot be read: {error.strerror or error}. {how}") from error
    is_right = n_bytes == file.n_bytes and (by_size or sha256 == file.sha256)
    state = "missing" if n_bytes is None else "ok" if is_right else "damaged"
    return FileState(dataset, file, path, state, n_bytes, sha256)


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
    import requests

    folder = data_folder(data_dir)
    mirrors = (mirror or os.environ.get(MIRROR_VARIABLE) or "").split()
    for address in mirrors:
        if not _ADDRESS.fullmatch(address):
            form = "Give an address of the form https://host/folder."
            raise InputError(f"Files are fetched over https only; got {address!r}. {form}")
    states, failures = verify(names, folder), list[str]()
    unreachable = (requests.ConnectionError, requests.Timeout)
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
        if all(isinstance(error, unreachable) for error in errors.values()):
            break  # the next one would only wait for the same servers
    if failures:
        other = f"fetch from another address by --mirror or {MIRROR_VARIABLE}"
        failures.append(f"Run the same again, {other}, or put the files into {folder} yourself.")
        raise NLDDError("\n".join(failures), hint="the same again, or --mirror URL")
    return states


def _fetch_file(
    file: CatalogueFile, folder: Path, urls: list[str], verbose: bool
) -> dict[str, Exception]:
    """Fetch a file from the first address that gives it; else what was wrong with each.

    Pooch writes to a temporary file, and renames it when its sha256 is right.
    """
    import pooch
    import requests

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
    import requests

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
