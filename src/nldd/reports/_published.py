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
    """A table of the paper; data sets head the rows and methods the columns, in its order."""

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
    """The paper's table of a measure, one of `PUBLISHED_MEASURES`.

    Examples
    --------
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


def doubtful(measure: str, dataset: str, method: str) -> str | None:
    """Why a printed cell cannot be right or is no target, in a sentence; None if it is one.

    Examples
    --------
    >>> doubtful("multilabel_accuracy", "scene", "BR")
    "the paper's accuracy is above its F-measure, which cannot be"
    """
    value = published(measure).value(dataset, method)
    if value is None:
        return None
    if method == "CBM":
        return "the paper scored CBM on other test rows than the other methods"
    if (measure, dataset, method) == ("zero_one_loss", "yeast", "BR"):
        # The paper's other three values for BR are met to 0.001 by runs whose 0/1 loss is 0.85.
        return "the paper's 0.8940 for BR is probably a misprint of 0.8540"
    f_measure = published("f_measure").value(dataset, method)
    if measure == "multilabel_accuracy" and f_measure is not None and value > f_measure:
        # F = 2 J / (1 + J) >= J for every row, so also on average. Runs meet the printed F.
        return "the paper's accuracy is above its F-measure, which cannot be"
    return None


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
    text = (files("nldd.reports") / "paper" / f"{name}.csv").read_text("ascii")
    return list(csv.reader(text.splitlines()))


# Maximum likelihood estimates (b0, b1, b2) of NLDD, by data set, mean over the folds.
PUBLISHED_COEFFICIENTS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    dict(zip(_table("coefficients").datasets, _table("coefficients").rows, strict=True))
)
