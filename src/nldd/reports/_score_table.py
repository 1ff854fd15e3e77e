"""The table of one measure: values, ranks, significance, and the paper's values beside them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nldd.metrics import Measure
from nldd.reports import DataRow, Entry, Row, Table
from nldd.reports._published import (
    PUBLISHED_MEASURES,
    doubtful,
    published,
    published_average_ranks,
    published_significance,
)
from nldd.reports._summary import Results
from nldd.statistics import average_ranks, complete_rows, complete_values, ranks, significance_line

FloatArray = NDArray[np.float64]
MISSING = "-"
DATA_HEAD = (
    "dataset",
    "method",
    "value",
    "standard_error",
    "rank",
    "published",
    "difference",
    "difference_in_standard_errors",
)


def score_table(results: Results, measure: Measure) -> Table:
    """Means over the folds with ranks, and below each the paper's value and the difference to it.

    The difference is in standard errors of our mean, as the spread between test rows gives it.
    """
    values, errors = results.means(measure), results.standard_errors(measure)
    R = ranks(values, measure.greater_is_better)
    best = np.nanmin(R, axis=1, keepdims=True) == R
    rows: list[Row] = []
    for i, dataset in enumerate(results.datasets):
        entries = [
            _entry(measure, dataset, method, values[i, j], errors[i, j], R[i, j], bool(best[i, j]))
            for j, method in enumerate(results.methods)
        ]
        rows.append((dataset, *entries))
    return Table(
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *results.methods),
        rows=tuple(rows),
        foot=_foot(results, measure, values),
        notes=tuple(_notes(results, measure, values)),
        data_head=DATA_HEAD,
        data=tuple(_data(results, measure, values, errors, R)),
    )


def printed(measure: str, dataset: str, method: str) -> float | None:
    """The paper's value, where it has one."""
    return published(measure).value(dataset, method) if measure in PUBLISHED_MEASURES else None


def _entry(
    measure: Measure,
    dataset: str,
    method: str,
    value: float,
    error: float,
    rank: float,
    best: bool,
) -> Entry:
    if np.isnan(value):
        return Entry(MISSING)
    target = printed(measure.key, dataset, method)
    under = ""
    if target is not None:
        mark = "*" if doubtful(measure.key, dataset, method) else ""
        apart = f" ({(value - target) / error:+.1f})" if error > 0 else ""
        under = f"{target:.4f}{mark}{apart}"
    return Entry(f"{value:.4f} ({rank:g})", bold=best, under=under)


def _foot(results: Results, measure: Measure, values: FloatArray) -> tuple[tuple[str, ...], ...]:
    greater = measure.greater_is_better
    rows = [("average rank", *map(_rank, average_ranks(values, greater)))]
    among = paper_methods(results, measure)
    if 1 < len(among) < len(results.methods):
        # Over the same data sets as the row above, or the two could not be compared.
        own = np.full(len(results.methods), np.nan)
        own[among] = average_ranks(complete_values(values)[:, among], greater)
        rows.append((f"among the paper's {len(among)}", *map(_rank, own)))
    if among:
        told = published_average_ranks(measure.key)
        rows.append(
            ("in the paper", *(f"{told[m]:.1f}" if m in told else MISSING for m in results.methods))
        )
    return tuple(rows)


def _rank(average: float) -> str:
    return MISSING if np.isnan(average) else f"{average:.2f}"


def paper_methods(results: Results, measure: Measure) -> list[int]:
    """Columns of the methods that the paper's table has too."""
    if measure.key not in PUBLISHED_MEASURES:
        return []
    return [j for j, m in enumerate(results.methods) if m in published(measure.key).methods]


def _notes(results: Results, measure: Measure, values: FloatArray) -> list[str]:
    complete = complete_rows(values)
    n = int(complete.sum())
    if n < 2 or len(results.methods) < 2:
        notes = ["Significance needs two methods, and two data sets on which each has a value."]
    else:
        line = significance_line(values, results.methods, measure.greater_is_better)
        notes = [f"Significance (one-sided at 0.05, {n} data sets): {line}."]
    if paper_methods(results, measure):
        notes.append(f"The paper (its 7 methods, 9 data sets): {published_line(measure.key)}.")
    left_out = [d for d, whole in zip(results.datasets, complete, strict=True) if not whole]
    if left_out:
        notes.append(f"Left out of averages and tests, incomplete: {', '.join(left_out)}.")
    return notes + _doubts(results, measure)


def published_line(measure: str) -> str:
    """The paper's own statement of significance."""
    told = published_significance(measure)
    return "; ".join(f"{better} > {{{', '.join(worse)}}}" for better, worse in told.items())


def _doubts(results: Results, measure: Measure) -> list[str]:
    if measure.key not in PUBLISHED_MEASURES:
        return []
    cells: dict[str, list[tuple[str, str]]] = {}
    for dataset in results.datasets:
        for method in results.methods:
            doubt = doubtful(measure.key, dataset, method)
            if doubt and results.cells(dataset, method):
                cells.setdefault(doubt, []).append((dataset, method))
    return [f"* {_shortened(where)}: {doubt}." for doubt, where in cells.items()]


def _shortened(cells: Sequence[tuple[str, str]]) -> str:
    """``BR, NLDD on scene``: methods that share a data set, or one method on all of them."""
    datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    if len(methods) == 1 and len(datasets) > 1:
        return methods[0]
    return f"{', '.join(methods)} on {', '.join(datasets)}"


def _data(
    results: Results, measure: Measure, values: FloatArray, errors: FloatArray, R: FloatArray
) -> list[DataRow]:
    rows: list[DataRow] = []
    for i, dataset in enumerate(results.datasets):
        for j, method in enumerate(results.methods):
            target = printed(measure.key, dataset, method)
            apart = None if target is None else values[i, j] - target
            rows.append(
                (
                    dataset,
                    method,
                    _plain(values[i, j]),
                    _plain(errors[i, j]),
                    _plain(R[i, j]),
                    target,
                    _plain(apart),
                    _plain(None if apart is None or not errors[i, j] > 0 else apart / errors[i, j]),
                )
            )
    return rows


def _plain(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
