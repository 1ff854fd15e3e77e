"""The catalogue: facts, addresses and checksums of the paper's nine data sets."""

import csv
import re
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files

from nldd.exceptions import InputError

# A plain name is the same file on every system and cannot leave the data folder.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")

# Comes with the package, so that it can be loaded without its files.
EMBEDDED = "yeast"


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A file of a data set.

    Attributes
    ----------
    file : str
        Plain name: letters, digits, ``.``, ``_`` and ``-``.
    n_bytes : int
    sha256 : str
        64 hexadecimal digits, in lower case.
    url : str
        Where the very same bytes can be fetched.
    """

    file: str
    n_bytes: int
    sha256: str
    url: str

    def __post_init__(self) -> None:
        if not _PLAIN_NAME.fullmatch(self.file):
            raise InputError(
                "The name of a catalogue file must be plain (letters, digits, '.', '_', '-'); "
                f"got {self.file!r}. Rename the file."
            )
        if self.n_bytes < 0 or not _SHA256.fullmatch(self.sha256):
            raise InputError(
                f"{self.file} needs its size in bytes and a sha256 of 64 lower-case hexadecimal "
                f"digits; got {self.n_bytes!r} and {self.sha256!r}."
            )


@dataclass(frozen=True, slots=True)
class Entry:
    """A data set of the catalogue.

    Attributes
    ----------
    name : str
    domain : str
    format : {"mulan", "meka"}
        Mulan: ARFF files and an XML file that names the labels. MEKA: one ARFF file whose
        relation name says how many of the attributes are labels.
    n_samples, n_features, n_labels : int
    cardinality : float
        Mean number of labels that a row carries, to two decimals.
    n_labelsets : int
        Distinct labelsets.
    files : tuple of CatalogueFile
        In the order in which their rows follow each other.
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


def find_entry(name: str) -> Entry:
    """The data set of that name; a misspelt one is answered with the nearest.

    Examples
    --------
    >>> find_entry("enron").n_labels
    53
    >>> find_entry("enrun")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    nldd.exceptions.InputError: No data set is called 'enrun'. Did you mean 'enron'? ...
    """
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = get_close_matches(name.lower(), CATALOGUE, n=1)
    question = f"Did you mean {near[0]!r}? " if near else ""
    raise InputError(
        f"No data set is called {name!r}. {question}The catalogue has {', '.join(CATALOGUE)}."
    )


def _read_table(file: str) -> list[list[str]]:
    text = files("nldd.datasets").joinpath(file).read_text("utf-8")
    return list(csv.reader(text.splitlines()[1:]))


def _read_catalogue() -> dict[str, Entry]:
    files_of: dict[str, list[CatalogueFile]] = {}
    for dataset, file, n_bytes, sha256, url in _read_table("files.csv"):
        files_of.setdefault(dataset, []).append(CatalogueFile(file, int(n_bytes), sha256, url))
    entries = {}
    for name, domain, kind, n_rows, n_features, n_labels, mean, n_sets in _read_table(
        "catalogue.csv"
    ):
        counts = (int(n_rows), int(n_features), int(n_labels), float(mean), int(n_sets))
        entries[name] = Entry(name, domain, kind, *counts, tuple(files_of[name]))
    return entries


CATALOGUE: dict[str, Entry] = _read_catalogue()
