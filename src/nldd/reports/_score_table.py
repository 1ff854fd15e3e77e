"""The table of one measure: values, ranks, significance, and the paper's values beside them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nldd.metrics import Measure
from nldd.reports._published import (
    PUBLISHED_MEASURES,
    doubtful,
    published,
    published_average_ranks,
    published_significance,
)
from nldd.reports._results import FloatArray, Results, none_if_nan, number
from nldd.reports._table import DataRow, Entry, Row, Table
from nldd.statistics import average_ranks, complete_rows, complete_values, ranks, significance_line

DATA_HEAD = (
    *("dataset", "method", "value", "standard_error", "rank", "published", "difference"),
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
    data: list[DataRow] = []
    for i, dataset in enumerate(results.datasets):
        cells = [
            _cell(measure.key, dataset, method, *(float(A[i, j]) for A in (values, errors, R)))
            for j, method in enumerate(results.methods)
        ]
        bold = (replace(entry, bold=bool(best[i, j])) for j, (entry, _) in enumerate(cells))
        rows.append((dataset, *bold))
        data += [line for _, line in cells]
    return Table(
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *results.methods),
        rows=tuple(rows),
        foot=_foot(results, measure, values),
        notes=(*_significance_notes(results, measure, values), *_doubts(results, measure.key)),
        data_head=DATA_HEAD,
        data=tuple(data),
    )


def _cell(
    measure: str, dataset: str, method: str, value: float, error: float, rank: float
) -> tuple[Entry, DataRow]:
    """The printed cell, and its line of the CSV file."""
    in_paper = measure in PUBLISHED_MEASURES
    target = published(measure).value(dataset, method) if in_paper else None
    difference = None if target is None else value - target
    apart = None if difference is None or not error > 0 else difference / error
    data = (
        *(dataset, method, none_if_nan(value), none_if_nan(error), none_if_nan(rank)),
        *(target, none_if_nan(difference), none_if_nan(apart)),
    )
    under = ""
    if target is not None and not np.isnan(value):
        star = "*" if doubtful(measure, dataset, method) else ""
        under = f"{target:.4f}{star}" + ("" if apart is None else f" ({apart:+.1f})")
    return Entry(number(value, f"{value:.4f} ({rank:g})"), under=under), data


def _foot(results: Results, measure: Measure, values: FloatArray) -> tuple[tuple[str, ...], ...]:
    def averages(name: str, ranks: FloatArray) -> tuple[str, ...]:
        return name, *(number(rank, f"{rank:.2f}") for rank in ranks.tolist())

    greater, methods = measure.greater_is_better, results.methods
    rows = [averages("average rank", average_ranks(values, greater))]
    among = _paper_methods(results, measure.key)
    if 1 < len(among) < len(methods):
        # Over the same data sets as the row above, or the two could not be compared.
        own = np.full(len(methods), np.nan)
        own[among] = average_ranks(complete_values(values)[:, among], greater)
        rows.append(averages(f"among the paper's {len(among)}", own))
    if among:
        printed = published_average_ranks(measure.key)
        rows.append(
            ("in the paper", *(f"{printed[m]:.1f}" if m in printed else "-" for m in methods))
        )
    return tuple(rows)


def _paper_methods(results: Results, measure: str) -> list[int]:
    """Columns of the methods that the paper's table has too."""
    if measure not in PUBLISHED_MEASURES:
        return []
    return [j for j, m in enumerate(results.methods) if m in published(measure).methods]


def _significance_notes(results: Results, measure: Measure, values: FloatArray) -> list[str]:
    complete = complete_rows(values)
    n = int(complete.sum())
    if n < 2 or len(results.methods) < 2:
        notes = ["Significance needs two methods, and two data sets on which each has a value."]
    else:
        line = significance_line(values, results.methods, measure.greater_is_better)
        notes = [f"Significance (one-sided at 0.05, {n} data sets): {line}."]
    if _paper_methods(results, measure.key):
        notes.append(f"The paper (its 7 methods, 9 data sets): {published_line(measure.key)}.")
    left_out = [d for d, whole in zip(results.datasets, complete, strict=True) if not whole]
    if left_out:
        notes.append(f"Left out of averages and tests, incomplete: {', '.join(left_out)}.")
    return notes


def published_line(measure: str) -> str:
    """The paper's own statement of significance."""
    found = published_significance(measure)
    return "; ".join(f"{better} > {{{', '.join(worse)}}}" for better, worse in found.items())


def _doubts(results: Results, measure: str) -> list[str]:
    if measure not in PUBLISHED_MEASURES:
        return []
    cells: dict[str, list[tuple[str, str]]] = {}
    for dataset in results.datasets:
        for method in results.methods:
            doubt = doubtful(measure, dataset, method)
            if doubt and results.cells(dataset, method):
                cells.setdefault(doubt, []).append((dataset, method))
    return [f"* {_shorten(where)}: {doubt}." for doubt, where in cells.items()]


def _shorten(cells: Sequence[tuple[str, str]]) -> str:
    """``BR, NLDD on scene``: methods that share a data set, or one method on all of them."""
    datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    if len(methods) == 1 and len(datasets) > 1:
        return methods[0]
    return f"{', '.join(methods)} on {', '.join(datasets)}"
