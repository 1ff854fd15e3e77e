"""Scores apart for test rows whose labelset occurs in training (A) and for the others (B)."""

import numpy as np

from nldd.experiments import Record
from nldd.metrics import PAPER_MEASURES, Measure
from nldd.reports import DataRow, Entry, Row, Table
from nldd.reports._published import published_subsets
from nldd.reports._score_table import MISSING
from nldd.reports._summary import Results

SUBSETS = {"A": "observed", "B": "unobserved"}
SHOWN = ("BR", "NLDD")


def subset_tables(results: Results) -> list[Table]:
    """One table a measure, with every data set; the CSV files have every method."""
    return [subset_table(results, measure) for measure in PAPER_MEASURES]


def subset_table(results: Results, measure: Measure) -> Table:
    """BR and NLDD on both subsets of every data set, and the paper's bibtex below."""
    shown = [method for method in SHOWN if method in results.methods]
    columns = [(subset, method) for subset in (*SUBSETS, "total") for method in shown]
    rows: list[Row] = []
    data: list[DataRow] = []
    for dataset in results.datasets:
        values = {
            (subset, method): subset_mean(results.cells(dataset, method), measure.key, subset)
            for subset in (*SUBSETS, "total")
            for method in results.methods
        }
        entries = [
            Entry(_number(values[column]), under=_told(dataset, measure.key, *column))
            for column in columns
        ]
        rows.append((dataset, unobserved_share(results, dataset), *entries))
        data += _data(dataset, results, values)
    return Table(
        key=f"subsets_{measure.key}",
        title=f"{measure.name} ({measure.direction}) on labelsets seen in training (A) or not (B)",
        head=("data set", "share of B", *(f"{subset} {method}" for subset, method in columns)),
        rows=tuple(rows),
        data_head=("dataset", "method", "subset", "value"),
        data=tuple(data),
    )


def subset_mean(cells: list[Record], measure: str, subset: str) -> float:
    """Mean of a measure over the rows of a subset, all folds together; NaN if there are none."""
    if subset == "total":
        return float(np.mean([cell.scores[measure] for cell in cells])) if cells else float("nan")
    parts = [cell.details[SUBSETS[subset]] for cell in cells]
    parts = [part for part in parts if part["n"]]
    if not parts:
        return float("nan")
    return float(np.average([p[measure] for p in parts], weights=[p["n"] for p in parts]))


def unobserved_share(results: Results, dataset: str) -> str:
    """Share of the test rows that are in B, in percent; the same for all methods."""
    cells = next(filter(None, (results.cells(dataset, method) for method in results.methods)))
    unseen = sum(cell.details["unobserved"]["n"] for cell in cells)
    return f"{unseen / sum(cell.details['n_test'] for cell in cells):.1%}"


def _told(dataset: str, measure: str, subset: str, method: str) -> str:
    if dataset != "bibtex":
        return ""
    told = published_subsets().get((measure, subset, method))
    return "" if told is None else f"paper {told:.4f}"


def _data(dataset: str, results: Results, values: dict[tuple[str, str], float]) -> list[DataRow]:
    return [
        (dataset, method, subset, None if np.isnan(value) else value)
        for method in results.methods
        for (subset, of), value in values.items()
        if of == method
    ]


def _number(value: float) -> str:
    return MISSING if np.isnan(value) else f"{value:.4f}"
