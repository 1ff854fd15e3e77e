"""The catalogue of the paper's nine data sets, and the folder in which their files lie."""

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from nldd.exceptions import InputError

FOLDER_VARIABLE = "NLDD_DATA"
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
    chosen = data_dir if data_dir is not None else os.environ.get(FOLDER_VARIABLE)
    if chosen == "" and data_dir is not None:
        raise InputError("data_dir is empty: name a folder, or leave it out for the usual one.")
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
    return all(state.state == "ok" for state in _inspect([entry], data_dir, by_size=True))


def require_files(entry: CatalogueEntry, data_dir: Folder = None) -> list[Path]:
    """Paths of the files of a data set, in the order of the catalogue, judged by their sizes."""
    states = _inspect([entry], data_dir, by_size=True)
    how = f"Run: nldd datasets fetch {entry.name}"
    if missing := [state.file.file for state in states if state.state == "missing"]:
        lacks = f"{entry.name} lacks {', '.join(missing)} in the folder {data_folder(data_dir)}"
        other = f"set {FOLDER_VARIABLE} to a folder that has all files of it"
        raise InputError(f"{lacks}. {how}, or {other}.")
    for state in states:
        if state.state != "ok":
            sizes = f"{state.n_bytes} bytes instead of {state.file.n_bytes}"
            raise InputError(f"{state.path} is damaged: {sizes}. {how}")
    return [state.path for state in states]


def verify(names: Names | None = None, data_dir: Folder = None) -> list[FileState]:
    """Compare files of the data folder with the catalogue, byte for byte by their sha256.

    Parameters
    ----------
    names : str, CatalogueEntry or iterable of them, optional
        Data sets; all of the catalogue by default.
    data_dir : path, optional
        See :func:`data_folder`.

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
    return _inspect(select_entries("all" if names is None else names), data_dir)


def _inspect(
    entries: list[CatalogueEntry], data_dir: Folder, by_size: bool = False
) -> list[FileState]:
    folder = data_folder(data_dir)
    return [
        FileState(entry.name, file, folder / file.file, *_compare(file, folder, by_size))
        for entry in entries
        for file in entry.files
    ]


def _compare(file: CatalogueFile, folder: Path, by_size: bool) -> tuple[str, Any, Any]:
    """State, size and sha256 of what lies in the place of a file."""
    path = folder / file.file
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "missing", None, None
        if found.st_size != file.n_bytes or by_size:
            return "ok" if found.st_size == file.n_bytes else "damaged", found.st_size, None
        with open(path, "rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return "missing", None, None
    except OSError as error:
        how = f"Set {FOLDER_VARIABLE} or --data-dir to a folder that you can read."
        raise InputError(f"{path} cannot be read: {error.strerror or error}. {how}") from error
    return "ok" if sha256 == file.sha256 else "damaged", found.st_size, sha256
