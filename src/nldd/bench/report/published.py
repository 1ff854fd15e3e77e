"""What the paper printed (arXiv 1702.04684), and a benchmark beside it.

Its tables lie as CSV files in the folder ``paper``, with a line for each of their cells that cannot
be right or is no target. All but the nine lines of coefficients are read when they are first asked
for.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.ranks import average_ranks, complete_rows
from nldd.bench.report.results import FloatArray, Results
from nldd.bench.statistics import significance_line
from nldd.exceptions import InputError
from nldd.metrics import PAPER_MEASURES, Measure
from nldd.present.table import Row, Table, TableEntry
from nldd.present.text import count_noun

PUBLISHED_MEASURES = tuple(measure.key for measure in PAPER_MEASURES)

# The settings of this protocol are the paper's; those of others have no reason to give its values.
PROTOCOL = "paper"
LARGE = 3.0
UNEXPLAINED = "unexplained"
HEAD = ("measure", "data set", "method", "ours", "error", "paper", "difference", "in errors", "why")
DATA_HEAD = (
    *("measure", "dataset", "method", "value", "standard_error", "published"),
    *("difference", "difference_in_standard_errors", "why", "verdict"),
)
ABOUT_ERRORS = (
    "Standard errors are those of our value, from the spread between test rows. The paper prints "
    "none; its values have some of about the same size, so a difference of three of ours is about "
    "two of its own."
)


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
    if measure not in PUBLISHED_MEASURES:
        raise InputError(
            f"The paper has no table of {measure!r}; it has {', '.join(PUBLISHED_MEASURES)}."
        )
    return printed_table(measure)


def explanation(measure: str, dataset: str, method: str) -> str | None:
    """Why our value may differ from a printed one; None if nothing is known.

    Examples
    --------
    >>> explanation("f_measure", "yeast", "CBM")
    'the paper scored CBM on other test rows than the other methods'
    """
    return _explain(measure, dataset, method)[1]


def doubtful(measure: str, dataset: str, method: str) -> str | None:
    """Why a printed cell cannot be right or is no target, in a sentence; None if it is one.

    Examples
    --------
    >>> doubtful("multilabel_accuracy", "scene", "BR")
    "the paper's accuracy is above its F-measure, which cannot be"
    """
    is_target, reason = _explain(measure, dataset, method)
    return None if is_target else reason


def _explain(*cell: str) -> tuple[bool, str | None]:
    """Whether a printed value is one to be reached, and what is said of it.

    In ``explanations.csv`` a ``*`` stands for all measures, data sets or methods. The first line
    that fits a value counts.
    """
    measure, dataset, method = cell
    if published(measure).value(dataset, method) is not None:
        for *names, target, reason in read_lines("explanations")[1:]:
            if all(own in ("*", other) for own, other in zip(names, cell, strict=True)):
                return target == "yes", reason
    return True, None


@cache
def printed_table(name: str) -> PublishedTable:
    """A table of the paper by the name of its CSV file."""
    (_, *methods), *lines = read_lines(name)
    rows = (tuple(map(float, values)) for _, *values in lines)
    return PublishedTable(tuple(line[0] for line in lines), tuple(methods), tuple(rows))


@cache
def read_lines(name: str) -> list[list[str]]:
    text = (files("nldd.bench.report") / "paper" / f"{name}.csv").read_text("ascii")
    return list(csv.reader(text.splitlines()))


# Maximum likelihood estimates (b0, b1, b2) of NLDD, by data set, mean over the folds.
_table = printed_table("coefficients")
PUBLISHED_COEFFICIENTS = MappingProxyType(dict(zip(_table.datasets, _table.rows, strict=True)))


def paper_part(results: Results) -> Results:
    """The data sets and methods that the paper has too; none of both if it has none of one.

    A data set is the paper's if it has its name and as many labels: other people have data that
    they call medical, too.
    """
    methods = [m for m in results.methods if m in published(PAPER_MEASURES[0].key).methods]
    datasets = [d for d in results.datasets if methods and _is_papers(results, d)]
    return replace(results, datasets=tuple(datasets), methods=tuple(methods) if datasets else ())


def _is_papers(results: Results, dataset: str) -> bool:
    found = (results.cells(dataset, method) for method in results.methods)
    n_labels = {cell.details["n_labels"] for cells in found for cell in cells}
    return dataset in CATALOGUE and n_labels == {CATALOGUE[dataset].n_labels}


def printed_values(results: Results, measure: Measure) -> FloatArray | None:
    """The paper's value for each data set and method, NaN where it has none; None if it has none.

    Rows and columns are those of `results`.
    """
    part = paper_part(results)
    if not part.datasets or measure.key not in PUBLISHED_MEASURES:
        return None
    table = published(measure.key)
    values = [
        [table.value(d, method) if d in part.datasets else None for method in results.methods]
        for d in results.datasets
    ]
    return np.array(values, dtype=float)


def paper_ranks(results: Results, measure: Measure, values: FloatArray) -> Iterator[Row]:
    """Average ranks among the paper's methods, of our values and of its own.

    Both are over the data sets that the paper has and for which `values` are complete.
    """
    both = _common(results, measure, values)
    if both is None:
        return
    among, ours, theirs = both
    tables = {"among the paper's": ours, "in the paper": theirs}
    if among.all() and complete_rows(values).sum() == len(ours):
        # All that we have is the paper's: the first row would say what the one above it says.
        del tables["among the paper's"]
    for name, table in tables.items():
        ranks = np.full(len(among), np.nan)
        ranks[among] = average_ranks(table, measure.greater_is_better)
        yield name, *rank_entries(ranks)


def rank_entries(averages: FloatArray) -> list[TableEntry]:
    """Average ranks as cells of a table, the best of them bold; a dash where there is none."""
    best = np.where(np.isnan(averages), np.inf, averages).min()
    return [
        TableEntry("-" if np.isnan(rank) else f"{rank:.2f}", bool(rank == best))
        for rank in averages
    ]


def paper_notes(results: Results, measure: Measure, values: FloatArray) -> Iterator[str]:
    """What the tests say of the paper's own values, and which of these are no targets."""
    both = _common(results, measure, values)
    if both is not None:
        among, _, theirs = both
        n_methods, n_datasets = int(among.sum()), len(theirs)
        where = f"{count_noun(n_methods, 'method')} on {count_noun(n_datasets, 'data set')}"
        yield f"In the paper: average ranks of its printed values, {where}."
        if n_datasets >= 2:
            names = [m for m, has in zip(results.methods, among, strict=True) if has]
            line = significance_line(theirs, names, measure.greater_is_better)
            yield f"The paper's tests of its printed values (one-sided, uncorrected): {line}."
    yield from _doubts(results, measure.key)


def _common(
    results: Results, measure: Measure, values: FloatArray
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray] | None:
    """Which methods are the paper's, and our and its values of them on common data sets.

    None unless two methods and a data set are common.
    """
    printed = printed_values(results, measure)
    if printed is None:
        return None
    known = ~np.isnan(printed)
    among = np.any(known, axis=0)
    rows = complete_rows(values) & np.any(known, axis=1)
    if among.sum() < 2 or not rows.any():
        return None
    return among, values[rows][:, among], printed[rows][:, among]


def _doubts(results: Results, measure: str) -> Iterator[str]:
    """Notes on the cells with a star, such as ``* BR, NLDD on scene: ...``."""
    part = paper_part(results)
    cells = defaultdict(list)
    for pair in product(part.datasets, part.methods) if measure in PUBLISHED_MEASURES else ():
        if results.cells(*pair) and (doubt := doubtful(measure, *pair)):
            cells[doubt].append(pair)
    for doubt, pairs in cells.items():
        datasets, methods = (list(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
        everywhere = len(methods) == 1 < len(datasets)
        where = "" if everywhere else f" on {', '.join(datasets)}"
        yield f"* {', '.join(methods)}{where}: {doubt}."


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of the paper beside ours, which is NaN if it was not run.

    `in_errors` is the difference in standard errors of ours; infinite where there is a difference
    and no such error. `reason` is given for those above `LARGE`.
    """

    measure: Measure
    dataset: str
    method: str
    ours: float
    error: float
    printed: float

    @property
    def difference(self) -> float:
        return self.ours - self.printed

    @property
    def in_errors(self) -> float:
        if self.error > 0 or self.difference == 0 or np.isnan(self.ours):
            return self.difference / self.error if self.error > 0 else self.difference
        return float(np.copysign(np.inf, self.difference))

    @property
    def is_large(self) -> bool:
        return abs(self.in_errors) > LARGE

    @property
    def reason(self) -> str:
        if not self.is_large:
            return ""
        return explanation(self.measure.key, self.dataset, self.method) or UNEXPLAINED

    @property
    def verdict(self) -> str:
        """One word or two for the CSV file and the summary."""
        if np.isnan(self.ours):
            return "not run"
        if not self.is_large:
            return "within"
        return UNEXPLAINED if self.reason == UNEXPLAINED else "explained"

    def row(self) -> Row:
        numbers = (self.ours, self.error, self.printed)
        texts = ["-" if np.isnan(number) else f"{number:.4f}" for number in numbers]
        apart = "-" if np.isnan(self.ours) else f"{self.in_errors:+.1f}"
        change = "-" if np.isnan(self.ours) else f"{self.difference:+.4f}"
        names = (self.measure.name, self.dataset, self.method)
        return *names, *texts, change, apart, self.reason


def paper_differences(results: Results) -> list[Difference]:
    """All values of the paper's four tables beside ours, in its order."""
    part = paper_part(results)
    found = []
    for measure in PAPER_MEASURES:
        tables = part.means(measure), part.standard_errors(measure)
        values = zip(*(table.ravel().tolist() for table in tables), strict=True)
        ours = dict(zip(product(part.datasets, part.methods), values, strict=True))
        table = published(measure.key)
        pairs = product(table.datasets, table.methods)
        for pair, printed in zip(pairs, table.array().ravel().tolist(), strict=True):
            value, error = ours.get(pair, (np.nan, np.nan))
            found.append(Difference(measure, *pair, value, error, printed))
    return found


def about_paper_differences(differences: list[Difference]) -> str:
    """How many values agree, in a sentence."""
    counts = Counter(difference.verdict for difference in differences)
    not_run = f" {counts['not run']} were not run." if counts["not run"] else ""
    return (
        f"Of the paper's {len(differences)} values {counts['within']} are within {LARGE:g} "
        f"standard errors of ours, {counts['explained']} are further away for a known reason, and "
        f"{counts[UNEXPLAINED]} are further away and unexplained.{not_run}"
    )


def difference_tables(results: Results) -> list[Table]:
    """The large differences with their reasons, and all values; none under other settings."""
    if results.protocol != PROTOCOL or not paper_part(results).datasets:
        return []
    found = paper_differences(results)
    large = sorted((d for d in found if d.is_large), key=lambda d: d.reason != UNEXPLAINED)
    data = tuple(
        (d.measure.key, d.dataset, d.method, *map(_finite, numbers), d.reason, d.verdict)
        for d in found
        for numbers in [(d.ours, d.error, d.printed, d.difference, d.in_errors)]
    )
    far, near = (tuple(difference.row() for difference in some) for some in (large, found))
    title = f"Values that are more than {LARGE:g} standard errors from the paper's"
    of_all = f"All {len(found)} values of the paper beside ours"
    notes = (about_paper_differences(found), ABOUT_ERRORS)
    return [
        Table("paper_differences", title, HEAD, far, (), notes, DATA_HEAD, data),
        Table("paper_values", of_all, HEAD, near, notes=notes[1:], folded=True),
    ]


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
