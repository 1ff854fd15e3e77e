"""What the paper printed (arXiv 1702.04684): its tables, and which of their cells are no targets.

The tables lie as CSV files in the folder ``paper``. All but the nine lines of coefficients are read
when they are first asked for.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError

PUBLISHED_MEASURES = ("hamming_loss", "zero_one_loss", "multilabel_accuracy", "f_measure")


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of the paper (arXiv 1702.04684); made by :func:`published`.

    Attributes
    ----------
    datasets, methods : tuple of str
        Heads of the rows and of the columns, in its order.
    rows : tuple of tuple of float
        The printed values.

    Examples
    --------
    >>> from nldd.bench import published
    >>> table = published("hamming_loss")
    >>> table.methods
    ('BR', 'SMBR', 'NLDD', 'ECC', 'RAKEL', 'MLKNN', 'CBM')
    >>> table.array().shape
    (9, 7)
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]

    def value(self, dataset: str, method: str) -> float | None:
        """The printed value, or None if the paper has no such row or column."""
        if dataset not in self.datasets or method not in self.methods:
            return None
        return self.rows[self.datasets.index(dataset)][self.methods.index(method)]

    def array(self) -> NDArray[np.float64]:
        """The values, of shape (n_datasets, n_methods)."""
        return np.array(self.rows)


def published(measure: str) -> PublishedTable:
    """The paper's table of a measure.

    Parameters
    ----------
    measure : {"hamming_loss", "zero_one_loss", "multilabel_accuracy", "f_measure"}
        Which one.

    Returns
    -------
    PublishedTable
        With a row for each data set and a column for each method.

    Examples
    --------
    >>> from nldd.bench import published
    >>> published("f_measure").value("yeast", "NLDD")
    0.6438
    """
    return _table(_check_measure(measure))


def published_ranks(measure: str) -> PublishedTable:
    """The ranks that the paper printed beside the values; some do not follow from the values."""
    return _table(f"{_check_measure(measure)}_ranks")


def published_average_ranks(measure: str) -> dict[str, float]:
    """The average rank of each method, to one decimal as printed."""
    table = _table("average_ranks")
    row = table.rows[table.datasets.index(_check_measure(measure))]
    return dict(zip(table.methods, row, strict=True))


def published_significance(measure: str) -> dict[str, list[str]]:
    """Who was significantly better than whom."""
    measure = _check_measure(measure)
    lines = _lines("significance")
    return {better: worse.split() for key, better, worse in lines if key == measure}


def published_seconds() -> PublishedTable:
    """The running times in seconds, on the authors' machine."""
    return _table("running_time_seconds")


@cache
def published_subsets() -> Mapping[tuple[str, str, str], float]:
    """Bibtex by whether the labelset was seen in training; keys (measure, subset, method).

    Subset "A" has the test rows whose labelset occurs in the training data (67 %), "B" the others;
    "total" has both.
    """
    table = _table("bibtex_subsets")
    found = {}
    for measure, row in zip(table.datasets, table.rows, strict=True):
        for column, value in zip(table.methods, row, strict=True):
            subset, method = column.split("_")
            found[measure, subset, method] = value
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class DifferenceExplanation:
    """A line of ``explanations.csv``: which printed values it is about, and what is said of them.

    Attributes
    ----------
    cell : tuple of str
        Measure, data set and method; ``*`` stands for all.
    target : bool
        Whether the printed value is one to be reached. If so, the difference lies with us.
    reason : str
        Part of a sentence, without its end.
    """

    cell: tuple[str, ...]
    target: bool
    reason: str

    def fits(self, *cell: str) -> bool:
        return all(own in ("*", other) for own, other in zip(self.cell, cell, strict=True))


@cache
def explanations() -> tuple[DifferenceExplanation, ...]:
    """All lines in the order of the file; the first one that fits a value counts."""
    _, *lines = _lines("explanations")
    return tuple(
        DifferenceExplanation(tuple(cell), target == "yes", reason)
        for *cell, target, reason in lines
    )


def explanation(measure: str, dataset: str, method: str) -> str | None:
    """Why our value may differ from a printed one; None if nothing is known.

    Examples
    --------
    >>> explanation("f_measure", "yeast", "CBM")
    'the paper scored CBM on other test rows than the other methods'
    """
    found = _explanation(measure, dataset, method)
    return None if found is None else found.reason


def doubtful(measure: str, dataset: str, method: str) -> str | None:
    """Why a printed cell cannot be right or is no target, in a sentence; None if it is one.

    Examples
    --------
    >>> doubtful("multilabel_accuracy", "scene", "BR")
    "the paper's accuracy is above its F-measure, which cannot be"
    """
    found = _explanation(measure, dataset, method)
    return None if found is None or found.target else found.reason


def _explanation(*cell: str) -> DifferenceExplanation | None:
    measure, dataset, method = cell
    if published(measure).value(dataset, method) is None:
        return None
    return next((line for line in explanations() if line.fits(*cell)), None)


def _check_measure(measure: str) -> str:
    if measure not in PUBLISHED_MEASURES:
        raise InputError(
            f"The paper has no table of {measure!r}; it has {', '.join(PUBLISHED_MEASURES)}."
        )
    return measure


@cache
def _table(name: str) -> PublishedTable:
    (_, *methods), *lines = _lines(name)
    rows = (tuple(map(float, values)) for _, *values in lines)
    return PublishedTable(tuple(line[0] for line in lines), tuple(methods), tuple(rows))


def _lines(name: str) -> list[list[str]]:
    text = (files("nldd.bench.report") / "paper" / f"{name}.csv").read_text("ascii")
    return list(csv.reader(text.splitlines()))


# Maximum likelihood estimates (b0, b1, b2) of NLDD, by data set, mean over the folds.
PUBLISHED_COEFFICIENTS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    dict(zip(_table("coefficients").datasets, _table("coefficients").rows, strict=True))
)
