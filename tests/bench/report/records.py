"""Records of cells that nobody ran: by hand, of the paper's values, and with all that happens."""

import json
from dataclasses import asdict
from functools import cache
from itertools import product

import numpy as np

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.report.published import (
    PUBLISHED_COEFFICIENTS,
    PUBLISHED_MEASURES,
    printed_table,
    published,
)
from nldd.bench.report.report import make_report
from nldd.bench.report.results import results
from nldd.bench.runner.records import CellRecord
from nldd.metrics import PAPER_MEASURES

VERSIONS = {"nldd": "0.1.0", "scikit-learn": "1.6.1", "python": "3.11.7"}
MACHINE = {"system": "Linux", "processor": "x86_64", "cores": 2}
BETA = [-4.0, 0.1, 0.8]
KEYS = [measure.key for measure in PAPER_MEASURES]
# The longest ones of a real run: most of it is without a space.
LP_SETTINGS = (
    "LabelPowerset(estimator=OneVsRestClassifier(estimator=LogisticRegression(random_state=0, "
    "solver='liblinear')), random_state=0)"
)

# What the report of `everything` consists of.
SECTIONS = [
    *("scores", "overview", "differences", "pairs", "times", "weights", "subsets", "shares"),
    *("datasets", "run"),
]
TABLES = [
    *(*KEYS, "overview", "pairs"),
    *("running_time", "coefficients", "theta"),
    *(f"subsets_{key}" for key in KEYS),
    *("shares", "splits", "problems", "settings", "warnings"),
]
FIGURES = [f"differences_{key}" for key in KEYS]


def record(dataset="yeast", method="BR", fold=0, score=0.5, *, error=None, share=None, **changes):
    """A finished cell of one 75/25 split with standard errors of 0.01, or a failed one.

    `score` is one value of all four measures, or a dictionary; `changes` are fields of the record,
    or else details, such as `n_folds` where there are more than this one.
    """
    scores = dict(score) if isinstance(score, dict) else dict.fromkeys(KEYS, score)
    fields = {"protocol": "default", "seed": 0, "fit_seconds": 1.0, "predict_seconds": 0.5}
    fields |= {"settings": LP_SETTINGS if method == "LP" else f"{method}()"}
    fields |= {"versions": VERSIONS, "machine": MACHINE}
    n_labels = CATALOGUE[dataset].n_labels if dataset in CATALOGUE else 10
    details = {"n_folds": 1, "n_train": 75, "n_test": 25, "n_labels": n_labels}
    details |= {"standard_errors": dict.fromkeys(KEYS, 0.01)}
    details |= {"observed": {"n": 25, **scores}, "unobserved": {"n": 0}}
    if method == "NLDD":
        details |= {"coefficients": BETA, "coefficient_errors": [0.3, 0.2, 0.1]}
        details |= {"theta_bins": [[5, 0.1 * k, 0.1 * k + 0.01] for k in range(1, 6)]}
    if error is not None:
        scores, details = {}, {"n_folds": 1}
        fields |= {"fit_seconds": 0.0, "predict_seconds": 0.0}
    given = {key: changes.pop(key) for key in list(changes) if key in fields}
    fields |= {"dataset": dataset, "method": method, "fold": fold, "train_share": share}
    return CellRecord(scores=scores, details=details | changes, error=error, **(fields | given))


def folds(dataset, method, scores, **changes):
    """One cell for each score, of a cross-validation with so many folds of ten rows."""
    sizes = {"n_folds": len(scores), "n_train": 10 * (len(scores) - 1), "n_test": 10}
    return [
        record(dataset, method, fold, score, **(sizes | changes))
        for fold, score in enumerate(scores)
    ]


def grid(values, datasets, methods, **changes):
    """One cell for each value, in a table with data sets as rows; None leaves a cell out."""
    return [
        record(dataset, method, score=value, **changes)
        for dataset, row in zip(datasets, values, strict=True)
        for method, value in zip(methods, row, strict=True)
        if value is not None
    ]


def published_records():
    """The paper's tables as if they were a run: one cell a data set and method."""
    table, seconds = published("f_measure"), printed_table("running_time_seconds")
    records = []
    for pair in product(table.datasets, table.methods):
        score = {key: published(key).value(*pair) for key in PUBLISHED_MEASURES}
        times = {"fit_seconds": seconds.value(*pair), "predict_seconds": 0.0}
        records.append(record(*pair, score=score, **times, **_published_details(*pair)))
    return records


def _published_details(dataset, method):
    details = {}
    if method == "NLDD":
        details |= {"coefficients": list(PUBLISHED_COEFFICIENTS[dataset])}
    if dataset == "bibtex" and method in ("BR", "NLDD"):
        told = printed_table("bibtex_subsets")
        for name, subset, n in (("observed", "A", 1250), ("unobserved", "B", 599)):
            details[name] = {"n": n, **{key: told.value(key, f"{subset}_{method}") for key in KEYS}}
        details["n_test"] = 1849
    return details


def everything():
    """A benchmark in which all happens: ten methods, own data, shares, a failure, warnings."""
    records = published_records()
    datasets = published("f_measure").datasets
    scores = np.random.default_rng(0).uniform(0.1, 0.6, (len(datasets) + 1, 10)).round(4)
    for i, dataset in enumerate(datasets):
        for j, method in enumerate(("CC", "LP", "RFPCT")):
            records.append(record(dataset, method, score=scores[i, j]))
    methods = ("BR", "SMBR", "NLDD", "CC", "ECC", "LP", "RAKEL", "MLKNN", "CBM")
    for method, score in zip(methods, scores[-1], strict=False):
        records += folds("survey_2024", method, [score, score + 0.02])
    records.append(record("survey_2024", "RFPCT", error="MemoryError: 12 GB", n_folds=2))
    records.append(folds("survey_2024", "RFPCT", [0.3, 0.4])[1])
    for k, share in enumerate((0.1, 0.4, 0.7, 1.0)):
        sizes = {"share": share, "n_train": int(share * 100)}
        records.append(record("bibtex", "NLDD", score=0.02 - 0.002 * k, **sizes))
    records[0].details["warnings"] = {"ConvergenceWarning: 1000 iterations were not enough": 3}
    return records


@cache
def full_report():
    """The report of :func:`everything`; it draws for some seconds, so tests share it."""
    return make_report(results(everything()))


def write_records(folder, records):
    """A folder as `nldd benchmark` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(asdict(record), allow_nan=False) + "\n" for record in records)
    (folder / "cells.jsonl").write_text(lines, encoding="utf-8")
    return folder


def texts(row):
    """The first lines of the cells of a row."""
    return [cell if isinstance(cell, str) else cell.text for cell in row]


def unders(row):
    """The second lines of the cells of a row."""
    return ["" if isinstance(cell, str) else cell.under for cell in row]


def bold(table):
    """Head of the row and of the column of each bold cell."""
    return [
        (row[0], table.head[j])
        for row in table.rows
        for j, cell in enumerate(row)
        if not isinstance(cell, str) and cell.bold
    ]
