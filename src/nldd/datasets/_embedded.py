"""The data that come with the package: the yeast genes, and a survey that nobody answered."""

import csv
import gzip
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

import numpy as np

from nldd.datasets._dataset import Dataset
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
# As in the file, with ";" between them.
SURVEY_CODES = (
    "public transport;cycling;traffic and parking;housing costs;green spaces;cleanliness;safety;"
    "schools and childcare;health care;shops and centre;things to do;nothing / don't know"
)


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
        One answer each: empty where a value is missing, the codes with ``;`` between them.

    Examples
    --------
    >>> from nldd.datasets import load_survey
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


def load_survey() -> Survey:
    """Load a synthetic survey: 1,500 answers to an open question, coded with a few mistakes.

    A program put the answers together from phrases that were written for this package. Nobody
    ever gave them, and nothing about people can be learnt from them.

    Returns
    -------
    Survey

    Examples
    --------
    >>> from nldd.datasets import load_survey
    >>> load_survey()
    Survey('What would make life in your town better?', 1500 synthetic answers)
    """
    header, *rows = map(tuple, csv.reader(_unpacked_lines("survey.csv.gz")))
    return Survey(SURVEY_QUESTION, tuple(SURVEY_CODES.split(";")), header, rows)


def _unpacked_lines(file: str) -> list[str]:
    packed = files("nldd.datasets").joinpath(file).read_bytes()
    if sha256(packed).hexdigest() != SHA256[file]:
        raise InputError(f"The file {file} that came with nldd is damaged. Reinstall nldd.")
    return gzip.decompress(packed).decode().splitlines()
