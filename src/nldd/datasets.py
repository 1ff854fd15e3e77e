"""Data sets that come with the package, and the record that every reader of data sets returns."""

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError

SHA256 = {
    "survey.csv.gz": "628b35a33fd5aaa0ddab99acbe102610f728587e2429dbdd70a23a8d82346fa0",
    "yeast.csv.gz": "2969cb4bab877a27adcbe17871fa0b378a1e54b98816cd6106b542ee450a1c09",
}
N_YEAST_FEATURES = 103
SURVEY_QUESTION = "What would make life in your town better?"
SURVEY_NOTE = (
    "The answers are synthetic: a program put them together from phrases written for nldd. "
    "Nobody was asked."
)
SURVEY_CODES = (
    "public transport;cycling;traffic and parking;housing costs;green spaces;cleanliness;safety;"
    "schools and childcare;health care;shops and centre;things to do;nothing / don't know"
)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set; unpacks and can be indexed as ``X, Y, label_names``.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features), or ndarray of texts (n_samples,)
        Numbers, NaN if a value is missing. A CSR array if the file was sparse. Texts, as objects,
        if a column of text was asked for; see `is_text`.
    Y : ndarray of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    label_names, feature_names : list of str
        One per column of `Y` and of `X`, in the order of the file.
    name : str
    n_train : int or None
        The first `n_train` rows were given for training and the others for testing; None if the
        rows came without such a split.
    notes : tuple of str
        Sentences on what was done to rows and columns, such as what was left out.
    groups : ndarray of shape (n_samples,) or None
        Which rows belong together, such as those of one speaker; None if that was not asked for.

    Examples
    --------
    >>> from nldd import load_yeast
    >>> yeast = load_yeast()
    >>> yeast
    Dataset('yeast', 2417 samples, 103 features, 14 labels)
    >>> X, Y, label_names = yeast
    >>> X is yeast.X is yeast[0]
    True
    >>> print(f"{yeast.cardinality:.2f} labels per row, {yeast.n_labelsets} labelsets")
    4.24 labels per row, 198 labelsets
    """

    X: Any
    Y: NDArray[np.int64]
    label_names: list[str]
    feature_names: list[str] = field(default_factory=list)
    name: str = ""
    n_train: int | None = None
    notes: tuple[str, ...] = ()
    groups: NDArray[Any] | None = None

    def __getitem__(self, part: int | slice) -> Any:
        return (self.X, self.Y, self.label_names)[part]

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.n_samples} samples, {self.n_features} features, "
            f"{self.n_labels} labels)"
        )

    @property
    def given_split(self) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Training and test rows of the split that came with the data; None if there is none."""
        if self.n_train is None:
            return None
        train, test = np.split(np.arange(self.n_samples), [self.n_train])
        return train, test

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def is_text(self) -> bool:
        """Whether `X` holds one text per row, which must be turned into numbers."""
        return bool(self.X.ndim == 1)

    @property
    def n_features(self) -> int:
        """Number of columns of `X`; 1 for texts."""
        return 1 if self.is_text else int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of columns of `Y`."""
        return int(self.Y.shape[1])

    @property
    def cardinality(self) -> float:
        """Mean number of labels per row."""
        return float(self.Y.sum(axis=1).mean())

    @property
    def n_labelsets(self) -> int:
        """Number of distinct labelsets."""
        return len(labelset_counts(self.Y))


def labelset_counts(Y: NDArray[np.int64]) -> NDArray[np.intp]:
    """How many rows have each of the distinct labelsets."""
    # Eight labels a byte: sorting rows of bits is many times faster than rows of int64.
    return np.unique(np.packbits(Y != 0, axis=1), axis=0, return_counts=True)[1]


def load_yeast() -> Dataset:
    """Load the yeast data set of Elisseeff and Weston (2001), which the paper uses.

    2417 genes, 103 numbers about each, up to 14 functional classes at once. The file is the one
    that river ships (BSD-3).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nldd import load_yeast
    >>> X, Y, label_names = load_yeast()
    >>> X.shape, Y.shape, label_names[0]
    ((2417, 103), (2417, 14), 'Class1')
    """
    header, *lines = _unpacked_lines("yeast.csv.gz")
    X, Y = np.hsplit(np.loadtxt(lines, delimiter=","), [N_YEAST_FEATURES])
    names, n = header.split(","), N_YEAST_FEATURES
    return Dataset(X, Y.astype(np.int64), names[n:], names[:n], "yeast")


@dataclass(frozen=True, repr=False)
class Survey:
    """An open question, its answers and the codes that people gave them: all of it synthetic.

    Attributes
    ----------
    question, note : str
        The question, and what to show with the answers: that nobody ever gave them.
    codes, header : tuple of str
        The twelve codes; the names of the columns.
    rows : list of tuple of str
        One answer each: empty if a value is missing, the codes separated by ``;``.

    Examples
    --------
    >>> from nldd import load_survey
    >>> survey = load_survey()
    >>> survey.question, len(survey.codes), survey.header
    ('What would make life in your town better?', 12, ('id', 'answer', 'age', 'region', 'codes'))
    """

    question: str
    codes: tuple[str, ...]
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = SURVEY_NOTE

    def __repr__(self) -> str:
        return f"Survey({self.question!r}, {len(self.rows)} synthetic answers)"

    def write(self, path: Path | str, rows: Sequence[Sequence[str]] | None = None) -> None:
        """Write answers as a CSV file: all, or the given rows."""
        with open(path, "w", encoding="utf-8", newline="") as stream:
            lines = (self.header, *(self.rows if rows is None else rows))
            csv.writer(stream, lineterminator="\n").writerows(lines)


def load_survey() -> Survey:
    """Load a synthetic survey: 1,500 answers to an open question, coded with a few mistakes.

    A program put the answers together from phrases that were written for this package. Nobody
    ever gave them, and nothing about people can be learnt from them.

    Returns
    -------
    Survey

    Examples
    --------
    >>> from nldd import load_survey
    >>> load_survey()
    Survey('What would make life in your town better?', 1500 synthetic answers)
    """
    header, *rows = map(tuple, csv.reader(_unpacked_lines("survey.csv.gz")))
    return Survey(SURVEY_QUESTION, tuple(SURVEY_CODES.split(";")), header, rows)


def _unpacked_lines(file: str) -> list[str]:
    packed = files("nldd").joinpath("embedded", file).read_bytes()
    if sha256(packed).hexdigest() != SHA256[file]:
        raise InputError(f"The file {file} that came with nldd is damaged. Reinstall nldd.")
    return gzip.decompress(packed).decode().splitlines()
