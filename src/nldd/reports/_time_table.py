"""Running times as ratios to binary relevance."""

import numpy as np
from numpy.typing import NDArray

from nldd.reports import DataRow, Entry, Row, Table
from nldd.reports._published import published_seconds
from nldd.reports._score_table import MISSING
from nldd.reports._summary import Results

REFERENCE = "BR"


def time_table(results: Results) -> Table:
    """Fitting and predicting of each method over that of BR, and the paper's ratios below."""
    seconds = results.table(lambda cells: sum(cell.seconds for cell in cells))
    rows: list[Row] = []
    data: list[DataRow] = []
    for i, dataset in enumerate(results.datasets):
        reference = _reference(results, seconds[i])
        entries = [Entry(MISSING if np.isnan(reference) else f"{reference:.1f} s")]
        for j, method in enumerate(results.methods):
            ratio = seconds[i, j] / reference
            told = published_ratio(dataset, method)
            under = "" if told is None else f"paper {_ratio(told)}"
            entries.append(Entry(_ratio(ratio), under=under))
            data.append((dataset, method, *(_plain(v) for v in (seconds[i, j], ratio)), told))
        rows.append((dataset, *entries))
    return Table(
        key="running_time",
        title="Running time as a ratio to BR, all folds together",
        head=("data set", f"{REFERENCE}, seconds", *results.methods),
        rows=tuple(rows),
        notes=(
            "Processor time of fitting and predicting in one thread. Binary classifiers that "
            "BR, SMBR and NLDD have in common are fitted once and charged to each of them.",
        ),
        data_head=("dataset", "method", "seconds", "ratio_to_BR", "published_ratio"),
        data=tuple(data),
    )


def published_ratio(dataset: str, method: str) -> float | None:
    """The paper's time over its time for BR, where it has both."""
    table = published_seconds()
    time, reference = table.value(dataset, method), table.value(dataset, REFERENCE)
    return None if time is None or reference is None else time / reference


def _reference(results: Results, seconds: NDArray[np.float64]) -> float:
    if REFERENCE not in results.methods:
        return float("nan")
    # A clock that is too coarse for it gives 0, and no ratio.
    return float(seconds[results.methods.index(REFERENCE)]) or float("nan")


def _ratio(value: float) -> str:
    return MISSING if np.isnan(value) else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
