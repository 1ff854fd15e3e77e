"""The folder with the files of data sets: where it is, and what lies in it."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from nldd.datasets._catalogue import CATALOGUE, CatalogueFile, Entry, find_entry
from nldd.exceptions import InputError

FOLDER_VARIABLE = "NLDD_DATA"

Folder = str | os.PathLike[str] | None
Names = str | Entry | Iterable[str | Entry]


@dataclass(frozen=True, slots=True)
class FileState:
    """What was found in the place of a catalogue file.

    Attributes
    ----------
    dataset : str
    file : CatalogueFile
        What is expected.
    path : Path
    state : {"ok", "missing", "damaged", "fetched"}
        ``fetched``: was missing or damaged, and has been fetched.
    n_bytes, sha256 : int, str or None
        What was found; None if nothing was there. The sha256 is computed only for a file of the
        right size.
    """

    dataset: str
    file: CatalogueFile
    path: Path
    state: str
    n_bytes: int | None = None
    sha256: str | None = None


def data_folder(data_dir: Folder = None) -> Path:
    """The folder with the files of data sets; it need not exist.

    The first of these: `data_dir`, the environment variable ``NLDD_DATA``, and ``nldd`` in the
    user's cache folder. Files lie in it under their names in the catalogue, without subfolders.

    Examples
    --------
    >>> data_folder("data").name
    'data'
    """
    chosen = data_dir if data_dir is not None else os.environ.get(FOLDER_VARIABLE)
    if chosen == "" and data_dir is not None:
        raise InputError("data_dir is empty: name a folder, or leave it out for the usual one.")
    usual = user_cache_path("nldd", appauthor=False, opinion=False)
    folder = Path(os.path.expanduser(chosen) if chosen else usual)
    if str(folder).startswith("~"):
        raise InputError(
            f"No home folder was found to keep data sets in ({folder}). "
            f"Set {FOLDER_VARIABLE} to a folder, or give one by data_dir or --data-dir."
        )
    return folder


def select_entries(names: Names) -> list[Entry]:
    """The data sets meant, each once; ``"all"`` is the whole catalogue."""
    chosen: dict[str, Entry] = {}
    for name in [names] if isinstance(names, str | Entry) else names:
        if isinstance(name, Entry):
            chosen[name.name] = name
        elif name == "all":
            chosen |= CATALOGUE
        else:
            chosen[name] = find_entry(name)
    return list(chosen.values())


def is_here(entry: Entry, data_dir: Folder = None) -> bool:
    """Whether all files of a data set are in the folder, judged by their sizes."""
    folder = data_folder(data_dir)
    return all(_size(folder / file.file) == file.n_bytes for file in entry.files)


def require_files(entry: Entry, data_dir: Folder = None) -> list[Path]:
    """Paths of the files of a data set, in the order of the catalogue.

    Only their sizes are checked; :func:`verify` reads them whole.
    """
    folder = data_folder(data_dir)
    sizes = {file: _size(folder / file.file) for file in entry.files}
    how = f"Run: nldd datasets fetch {entry.name}"
    missing = [file.file for file, size in sizes.items() if size is None]
    if missing:
        raise InputError(
            f"{entry.name} lacks {', '.join(missing)} in the folder {folder}. {how}, "
            f"or set {FOLDER_VARIABLE} to a folder that has all files of it."
        )
    for file, size in sizes.items():
        if size != file.n_bytes:
            raise InputError(
                f"{folder / file.file} is damaged: {size} bytes instead of {file.n_bytes}. {how}"
            )
    return [folder / file.file for file in entry.files]


def verify(names: Names | None = None, data_dir: Folder = None) -> list[FileState]:
    """Compare files of the data folder with the catalogue, byte for byte by their sha256.

    Parameters
    ----------
    names : str, Entry or iterable of them, optional
        Data sets; all of the catalogue by default.
    data_dir : path, optional
        See :func:`data_folder`.

    Returns
    -------
    states : list of FileState
        One a file, ``ok``, ``missing`` or ``damaged``.
    """
    folder = data_folder(data_dir)
    entries = select_entries("all" if names is None else names)
    return [_inspect(entry, file, folder) for entry in entries for file in entry.files]


def _inspect(entry: Entry, file: CatalogueFile, folder: Path) -> FileState:
    path = folder / file.file
    size = _size(path)
    if size is None:
        return FileState(entry.name, file, path, "missing")
    if size != file.n_bytes:
        return FileState(entry.name, file, path, "damaged", size)
    with _plain_read_errors(path), open(path, "rb") as handle:
        sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    state = "ok" if sha256 == file.sha256 else "damaged"
    return FileState(entry.name, file, path, state, size, sha256)


def _size(path: Path) -> int | None:
    with _plain_read_errors(path):
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


@contextmanager
def _plain_read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}. "
            f"Set {FOLDER_VARIABLE} or --data-dir to a folder that you can read."
        ) from error
