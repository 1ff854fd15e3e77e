"""Records of cells as arrays, with one value for each data set and method; how a run ended."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.records import CELLS, CellRecord, read_predictions
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError
from nldd.metrics import MEASURES, PROBABILITY_MEASURES, Measure
from nldd.metrics._measures import Counts, label_counts, label_values
from nldd.present.text import command_line, printable

FloatArray = NDArray[np.float64]
ALL_MEASURES: dict[str, Measure] = MEASURES | PROBABILITY_MEASURES
POOLED = tuple(
    f"{mean}_{name}" for mean in ("micro", "macro") for name in ("f", "precision", "recall")
)


@dataclass(frozen=True, eq=False)
class Results:
    """The finished cells of one protocol, in the order of the paper; made by :func:`results`.

    Attributes
    ----------
    protocol : str
        Its name.
    datasets, methods : tuple of str
        Those with a value: a method on a data set counts when every fold is there.
    finished, failed : list of CellRecord
        All cells, those of the study of shares and of unfinished methods included.
    incomplete : list of (str, str, int, int)
        Data set, method, folds that are there and folds that there should be.

    Examples
    --------
    >>> from nldd.metrics import MEASURES
    >>> from nldd.bench.runner.records import CellRecord
    >>> from nldd.bench.report.results import results
    >>> about = {"n_folds": 1, "n_labels": 14, "n_train": 75, "n_test": 25, "standard_errors": {}}
    >>> losses = {"BR": 0.21, "NLDD": 0.19}
    >>> rest = 1, 0.1, about
    >>> found = results(
    ...     CellRecord("mine", "yeast", method, 0, 0, None, "", {"hamming_loss": loss}, *rest)
    ...     for method, loss in losses.items()
    ... )
    >>> found.datasets, found.methods, found.means(MEASURES["hamming_loss"]).tolist()
    (('yeast',), ('BR', 'NLDD'), [[0.21, 0.19]])
    """

    protocol: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    finished: list[CellRecord]
    failed: list[CellRecord]
    incomplete: list[tuple[str, str, int, int]]
    _cells: dict[tuple[str, str], list[CellRecord]]

    def cells(self, dataset: str, method: str) -> list[CellRecord]:
        """Cells of a method on a data set by fold; none unless every fold is there."""
        return self._cells.get((dataset, method), [])

    def having(self, measure: Measure) -> Self:
        """The same with those methods only that have a value of a measure on some data set."""
        columns = zip(self.methods, self.means(measure).T, strict=True)
        some = (method for method, values in columns if not np.isnan(values).all())
        return replace(self, methods=tuple(some))

    def decisions(self, measure: Measure) -> dict[str, list[str]]:
        """Methods by the decision that they have for a measure, if they have one for each."""
        found = defaultdict(list)
        for method in self.methods:
            cells = next(filter(None, (self.cells(d, method) for d in self.datasets)))
            if decision := cells[0].details.get("decisions", {}).get(measure.key):
                found[decision].append(method)
        return dict(found)

    @property
    def shares(self) -> list[CellRecord]:
        """Finished cells of the study of shares, by share."""
        found = [record for record in self.finished if record.train_share is not None]
        return sorted(found, key=lambda record: record.train_share or 0)

    def table(self, value: Callable[[list[CellRecord]], float]) -> FloatArray:
        """`value` of the cells of each data set (row) and method (column); NaN for no cells."""
        pairs = product(self.datasets, self.methods)
        values = [value(cells) if (cells := self.cells(*pair)) else np.nan for pair in pairs]
        return np.array(values, dtype=float).reshape(len(self.datasets), len(self.methods))

    def means(self, measure: Measure) -> FloatArray:
        """A measure over all folds: the mean of theirs, or for micro and macro of pooled counts.

        A label that is rare may be in no row of a fold; over all of them it is counted once, as
        recommended by Forman and Scholz (2010). NaN where a fold has no value.
        """
        if measure.key in POOLED:
            return self.table(lambda cells: _pooled(cells, measure.key))
        return self.table(
            lambda cells: float(np.mean([c.scores.get(measure.key, np.nan) for c in cells]))
        )

    def standard_errors(self, measure: Measure) -> FloatArray:
        """Standard error of that mean, from the spread between test rows; NaN without one.

        Folds that test on different rows have independent errors. Random splits have test and
        training rows in common; their mean then has the variance of one split times
        ``1 / n_splits + n_test / n_train`` (Nadeau and Bengio, 2003).
        """

        def of_mean(cells: list[CellRecord]) -> float:
            errors = [cell.details["standard_errors"].get(measure.key) for cell in cells]
            variance = np.mean(np.square(np.array(errors, dtype=float)))  # None becomes NaN
            share, details = 1 / len(cells), cells[0].details
            if not details.get("disjoint", True):
                share += details["n_test"] / details["n_train"]
            return float(np.sqrt(variance * share))

        return self.table(of_mean)


def _pooled(cells: list[CellRecord], key: str) -> float:
    """A micro or macro measure of the counts of all folds together; NaN without them."""
    if any("label_counts" not in cell.details for cell in cells):
        return float("nan")
    found = [cell.details["label_counts"] for cell in cells]
    tp, fp, fn = (np.sum([counts[part] for counts in found], axis=0) for part in ("tp", "fp", "fn"))
    return float(label_values(Counts(tp, tp + fn, tp + fp))[key])


def results(
    records: Iterable[CellRecord], protocol: str | None = None, folder: Path | None = None
) -> Results:
    """Sort the records of one protocol into a table of data sets and methods.

    Parameters
    ----------
    records : iterable of CellRecord
        Of :func:`nldd.bench.run_benchmark`, or read from its folder.
    protocol : str, optional
        Which one, where they are of several.
    folder : Path, optional
        Of the benchmark: measures that a record lacks are computed from its predictions there.

    Returns
    -------
    Results
        Those methods and data sets of which every fold is there; and what failed or is missing.

    Examples
    --------
    >>> from nldd.bench.runner.records import CellRecord
    >>> from nldd.bench.report.results import results
    >>> about = {"n_folds": 2, "n_labels": 14, "n_train": 75, "n_test": 25, "standard_errors": {}}
    >>> cells = [("BR", 0), ("BR", 1), ("NLDD", 0)]
    >>> found = results(
    ...     CellRecord("mine", "yeast", method, fold, 0, None, "", {}, 1.0, 0.1, about)
    ...     for method, fold in cells
    ... )
    >>> found.methods, found.incomplete
    (('BR',), [('yeast', 'NLDD', 1, 2)])
    """
    records = list(records)
    name = _only(records, "protocol", protocol)
    records = [record for record in records if record.protocol == name]
    if folder is not None:
        records = [_complete(record, folder) for record in records]
    _only(records, "seed")
    _check_labels(records)
    found: dict[tuple[str, str], list[CellRecord]] = defaultdict(list)
    for record in records:
        if record.train_share is None:
            found[record.dataset, record.method].append(record)
    whole: dict[tuple[str, str], list[CellRecord]] = {}
    incomplete = []
    for pair, cells in found.items():
        good = sorted((cell for cell in cells if cell.error is None), key=lambda cell: cell.fold)
        # A cell that failed may be of an older protocol, which had other folds.
        n_folds = (good or cells)[0].details["n_folds"]
        if len(good) == n_folds:
            whole[pair] = good
        else:
            incomplete.append((*pair, len(good), n_folds))
    if not whole:
        raise InputError(
            f"No method has all its folds on any data set yet; {len(records)} cells are there. "
            "Let the benchmark go on: run the same command again."
        )
    return Results(
        protocol=name,
        datasets=_in_order({dataset for dataset, _ in whole}, list(CATALOGUE)),
        methods=_in_order({method for _, method in whole}, list(METHODS)),
        finished=[record for record in records if record.error is None],
        failed=[record for record in records if record.error is not None],
        incomplete=incomplete,
        _cells=whole,
    )


def _check_labels(records: Iterable[CellRecord]) -> None:
    """Refuse cells of one data set that have different numbers of labels."""
    n_labels: dict[str, int] = {}
    for record in (record for record in records if record.error is None):
        n = record.details["n_labels"]
        if (first := n_labels.setdefault(record.dataset, n)) != n:
            raise InputError(
                f"Cells of {printable(record.dataset)} have {first} and {n} labels, so they are of "
                "different data. Run the benchmark of each of them into a folder of its own."
            )


def _complete(record: CellRecord, folder: Path) -> CellRecord:
    """The record with all measures, as far as its predictions are kept."""
    is_whole = record.scores.keys() >= ALL_MEASURES.keys() and "label_counts" in record.details
    if record.error is not None or record.train_share is not None or is_whole:
        return record
    if (kept := read_predictions(folder, record.key)) is None:
        return record
    scores, decisions = dict(record.scores), record.details.get("decisions", {})
    for key, measure in ALL_MEASURES.items():
        Y = kept.P if key in PROBABILITY_MEASURES else kept.labels(decisions.get(key))
        if key not in scores and Y is not None:
            # Values that are no probabilities have no such measure, as the cell has warned.
            with suppress(InputError):
                scores[key] = measure(kept.Y_true, Y)
    counts = label_counts(kept.Y_true, kept.labels(decisions.get("micro_f"))).as_lists()
    return replace(record, scores=scores, details={"label_counts": counts} | record.details)


def _in_order(names: set[str], known: list[str]) -> tuple[str, ...]:
    """The known names first and in their order, then the others by alphabet."""
    return (*filter(names.__contains__, known), *sorted(names.difference(known)))


def _only(records: list[CellRecord], field: str, wanted: Any = None) -> Any:
    """The one value that all records have in a field, or the wanted one among several."""
    found = sorted({getattr(record, field) for record in records})
    if not found:
        raise InputError(
            "There are no finished cells. Run `nldd benchmark` with this folder first."
        )
    names = ", ".join(printable(str(value)) for value in found[:12])
    if wanted is not None and wanted not in found:
        raise InputError(f"There are no cells of {field} {wanted!r}; there are {names}.")
    if wanted is None and len(found) > 1:
        how = "Choose one with --protocol." if field == "protocol" else "Keep each in its folder."
        raise InputError(f"The cells are of several {field}s: {names}. {how}")
    return found[0] if wanted is None else wanted


def render_outcome(records: Iterable[CellRecord], folder: Path, *, as_json: bool) -> str:
    """How a run ended as text, or as one JSON object."""
    records, file = list(records), folder / CELLS
    broken = [record for record in records if record.error]
    if as_json:
        failed = [{**record.key._asdict(), "error": record.error} for record in broken]
        return json.dumps({"file": str(file), "cells": len(records), "failed": failed})
    # One line where all folds of a method fail for one reason; the file has all of a long text.
    folds: dict[tuple[str, str, str], list[int]] = {}
    for cell in broken:
        why = str(cell.error).partition("\n")[0]
        folds.setdefault((cell.method, cell.dataset, why), []).append(cell.fold + 1)
    lines = [f"{len(records) - len(broken)} of {len(records)} cells are in {file}."]
    for (method, dataset, why), found in folds.items():
        which = f"fold {found[0]}" if len(found) == 1 else f"{len(found)} folds"
        lines.append(f"Failed: {method} on {dataset}, {which}: {why}")
    last = f"Next: {command_line('nldd', 'report', folder)}"
    if broken:
        last = "Try: the same command again, which runs the failed cells once more."
    return "\n".join([*lines, last])
