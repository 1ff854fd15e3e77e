"""The data that come with the package: the yeast genes, and a survey that nobody answered."""

import csv
import gzip
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from nldd.datasets._dataset import Dataset
from nldd.exceptions import InputError

YEAST_COUNTS = {
    "genes": 2417,
    "features": 103,
    "labels": 14,
    "label columns": 14,
    "labels carried": 10241,
    "distinct labelsets": 198,
}
SURVEY_QUESTION = "What would make life in your town better?"
SURVEY_NOTE = (
    "The answers are synthetic: a program put them together from phrases written for nldd. "
    "Nobody was asked."
)
SURVEY_CODES = (
    "public transport",
    "cycling",
    "traffic and parking",
    "housing costs",
    "green spaces",
    "cleanliness",
    "safety",
    "schools and childcare",
    "health care",
    "shops and centre",
    "things to do",
    "nothing / don't know",
)


def load_yeast() -> Dataset:
    """Load the yeast data set of Elisseeff and Weston (2001), which the paper uses.

    2417 genes, 103 numbers about each, up to 14 functional classes at once. The file is the one
    that river ships (BSD-3); its counts are checked on every load.

    Returns
    -------
    dataset : Dataset
        `X` of shape (2417, 103), `Y` of shape (2417, 14); unpacks as ``X, Y, label_names``.

    Examples
    --------
    >>> X, Y, label_names = load_yeast()
    >>> X.shape, Y.shape, label_names[0]
    ((2417, 103), (2417, 14), 'Class1')
    >>> print(f"{Y.sum(axis=1).mean():.2f} labels a gene")
    4.24 labels a gene
    """
    header, *lines = _unpacked_lines("yeast.csv.gz")
    values = np.loadtxt(lines, delimiter=",")
    names = header.split(",")
    n_features = YEAST_COUNTS["features"]
    dataset = Dataset(
        X=values[:, :n_features],
        Y=values[:, n_features:].astype(np.int64),
        label_names=names[n_features:],
        feature_names=names[:n_features],
        name="yeast",
    )
    _check_yeast(dataset)
    return dataset


def _check_yeast(dataset: Dataset) -> None:
    found = (
        len(dataset.X),
        dataset.n_features,
        len(dataset.label_names),
        dataset.n_labels,
        int(dataset.Y.sum()),
        dataset.n_labelsets,
    )
    for n_found, (what, expected) in zip(found, YEAST_COUNTS.items(), strict=True):
        if n_found != expected:
            raise InputError(
                f"The yeast file that came with nldd is damaged: {n_found} {what} instead of "
                f"{expected}. Reinstall nldd."
            )


@dataclass(frozen=True, repr=False)
class Survey:
    """An open question, its answers and the codes that people gave them: all of it synthetic.

    Attributes
    ----------
    question : str
        The question that was "asked".
    codes : tuple of str
        The twelve codes.
    header : tuple of str
        Names of the columns.
    rows : list of tuple of str
        One answer each, all cells as text: empty where a value is missing, the codes of an answer
        with ``;`` between them.
    note : str
        To be shown with the answers: that nobody ever gave them.
    """

    question: str
    codes: tuple[str, ...]
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = SURVEY_NOTE

    def __repr__(self) -> str:
        return f"Survey({self.question!r}, {len(self.rows)} synthetic answers)"


def load_survey() -> Survey:
    """Load a synthetic survey: 1,500 answers to an open question, coded with a few mistakes.

    A program put the answers together from phrases that were written for this package. Nobody
    ever gave them, and nothing about people can be learnt from them.

    Returns
    -------
    survey : Survey

    Examples
    --------
    >>> survey = load_survey()
    >>> survey
    Survey('What would make life in your town better?', 1500 synthetic answers)
    >>> survey.rows[2]
    ('r0003', 'a cycle path along the river + more buses would help', '85', 'East',
     'public transport;cycling')
    """
    header, *rows = map(tuple, csv.reader(_unpacked_lines("survey.csv.gz")))
    return Survey(SURVEY_QUESTION, SURVEY_CODES, header, rows)


def _unpacked_lines(file: str) -> list[str]:
    compressed = files("nldd.datasets").joinpath(file).read_bytes()
    return gzip.decompress(compressed).decode().splitlines()
