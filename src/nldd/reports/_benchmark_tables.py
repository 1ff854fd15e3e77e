"""Tables of a benchmark: scores beside the paper's, times, weights, subsets, and what was run."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from nldd.estimators import METHODS
from nldd.experiments import Record
from nldd.metrics import Measure
from nldd.reports import _published as paper
from nldd.reports._results import FloatArray, Results, none_if_nan, number
from nldd.reports._table import DataRow, Entry, Row, Table
from nldd.statistics import average_ranks, complete_rows, complete_values, ranks, significance_line

SCORE_DATA = (
    *("dataset", "method", "value", "standard_error", "rank", "published", "difference"),
    "difference_in_standard_errors",
)
REFERENCE = "BR"
COEFFICIENTS = ("b0", "b1 (Dx)", "b2 (Dy)")
SUBSETS = {"A": "observed", "B": "unobserved"}
SUBSET_METHODS = ("BR", "NLDD")


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
        numbers = zip(*(A[i].tolist() for A in (values, errors, R, best)), strict=True)
        columns = zip(results.methods, numbers, strict=True)
        cells = [_score(measure.key, dataset, method, *found) for method, found in columns]
        rows.append((dataset, *(entry for entry, _ in cells)))
        data += [line for _, line in cells]
    return Table(
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *results.methods),
        rows=tuple(rows),
        foot=_average_ranks(results, measure, values),
        notes=(*_significance_notes(results, measure, values), *_doubts(results, measure.key)),
        data_head=SCORE_DATA,
        data=tuple(data),
    )


def _score(
    measure: str, dataset: str, method: str, value: float, error: float, rank: float, best: bool
) -> tuple[Entry, DataRow]:
    """The printed cell, and its line of the CSV file."""
    in_paper = measure in paper.PUBLISHED_MEASURES
    target = paper.published(measure).value(dataset, method) if in_paper else None
    difference = None if target is None else value - target
    apart = None if difference is None or not error > 0 else difference / error
    under = ""
    if target is not None and not np.isnan(value):
        star = "*" if paper.doubtful(measure, dataset, method) else ""
        under = f"{target:.4f}{star}" + ("" if apart is None else f" ({apart:+.1f})")
    numbers = (value, error, rank, target, difference, apart)
    entry = Entry(number(value, f"{value:.4f} ({rank:g})"), best, under)
    return entry, (dataset, method, *map(none_if_nan, numbers))


def _average_ranks(results: Results, measure: Measure, values: FloatArray) -> tuple[Row, ...]:
    def averages(name: str, ranks: FloatArray) -> Row:
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
        printed = paper.published_average_ranks(measure.key)
        rows.append(
            ("in the paper", *(f"{printed[m]:.1f}" if m in printed else "-" for m in methods))
        )
    return tuple(rows)


def _paper_methods(results: Results, measure: str) -> list[int]:
    """Columns of the methods that the paper's table has too."""
    if measure not in paper.PUBLISHED_MEASURES:
        return []
    return [j for j, m in enumerate(results.methods) if m in paper.published(measure).methods]


def _significance_notes(results: Results, measure: Measure, values: FloatArray) -> list[str]:
    complete = complete_rows(values)
    n = int(complete.sum())
    notes = ["Significance needs two methods, and two data sets on which each has a value."]
    if n >= 2 and len(results.methods) >= 2:
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
    found = paper.published_significance(measure)
    return "; ".join(f"{better} > {{{', '.join(worse)}}}" for better, worse in found.items())


def _doubts(results: Results, measure: str) -> list[str]:
    if measure not in paper.PUBLISHED_MEASURES:
        return []
    cells: dict[str, list[tuple[str, str]]] = {}
    for pair in product(results.datasets, results.methods):
        doubt = paper.doubtful(measure, *pair)
        if doubt and results.cells(*pair):
            cells.setdefault(doubt, []).append(pair)
    return [f"* {_shorten(where)}: {doubt}." for doubt, where in cells.items()]


def _shorten(cells: Sequence[tuple[str, str]]) -> str:
    """``BR, NLDD on scene``: methods that share a data set, or one method on all of them."""
    datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    if len(methods) == 1 and len(datasets) > 1:
        return methods[0]
    return f"{', '.join(methods)} on {', '.join(datasets)}"


def time_table(results: Results) -> Table:
    """Fitting and predicting of each method over that of BR, and the paper's ratios below."""
    seconds = results.table(lambda cells: sum(cell.seconds for cell in cells))
    rows: list[Row] = []
    data: list[DataRow] = []
    for dataset, times in zip(results.datasets, seconds.tolist(), strict=True):
        by_method = dict(zip(results.methods, times, strict=True))
        # A clock that is too coarse for BR gives 0, and no ratio.
        reference = by_method.get(REFERENCE) or float("nan")
        entries = [Entry(number(reference, f"{reference:.1f} s"))]
        for method, time in by_method.items():
            ratio, printed = time / reference, published_ratio(dataset, method)
            entries.append(Entry(_ratio(ratio), under=_paper(printed, _ratio)))
            data.append((dataset, method, none_if_nan(time), none_if_nan(ratio), printed))
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
    table = paper.published_seconds()
    time, reference = table.value(dataset, method), table.value(dataset, REFERENCE)
    return None if time is None or reference is None else time / reference


def _ratio(value: float) -> str:
    return number(value, f"{value:.2f}" if value < 10 else f"{value:.0f}")


def _paper(value: float | None, render: Callable[[float], str] = "{:.4f}".format) -> str:
    return "" if value is None else f"paper {render(value)}"


def coefficient_table(results: Results) -> Table | None:
    """Mean and spread of NLDD's coefficients over the folds; None without cells of NLDD."""
    rows: list[Row] = []
    data: list[DataRow] = []
    for dataset in results.datasets:
        cells = results.cells(dataset, "NLDD")
        if not cells:
            continue
        beta = np.array([cell.details["coefficients"] for cell in cells])
        errors = np.array([cell.details["coefficient_errors"] for cell in cells], dtype=float)
        # Folds share most of their rows; for one split the regression's own error is all there is.
        spread = beta.std(axis=0, ddof=1) if len(beta) > 1 else errors[0]
        printed = paper.PUBLISHED_COEFFICIENTS.get(dataset, (None, None, None))
        columns = (COEFFICIENTS, beta.mean(axis=0).tolist(), spread.tolist(), printed)
        cells_of = list(zip(*columns, strict=True))
        rows.append((dataset, *(_coefficient(*cell) for cell in cells_of)))
        data += [
            (dataset, name.split()[0], mean, none_if_nan(error), target)
            for name, mean, error, target in cells_of
        ]
    if not rows:
        return None
    return Table(
        key="coefficients",
        title="Coefficients of NLDD, mean over the folds",
        head=("data set", *COEFFICIENTS),
        rows=tuple(rows),
        notes=(
            "Log-odds of a wrong label = b0 + b1 Dx + b2 Dy. After ± is the standard deviation "
            "between folds, or the regression's standard error where there is one split; a weight "
            "that was held at 0 has none.",
        ),
        data_head=("dataset", "coefficient", "mean", "spread", "published"),
        data=tuple(data),
    )


def _coefficient(name: str, mean: float, spread: float, target: float | None) -> Entry:
    under = _paper(target)
    if target and name != COEFFICIENTS[0]:
        under += f", {mean / target - 1:+.0%}"
    return Entry(f"{mean:.4f}" if np.isnan(spread) else f"{mean:.4f} ± {spread:.4f}", under=under)


def subset_table(results: Results, measure: Measure) -> Table:
    """BR and NLDD on the test rows whose labelset training has seen (A) or not (B), and on all.

    The CSV file has every method; the paper's values, below ours, are those of bibtex.
    """
    shown = [method for method in SUBSET_METHODS if method in results.methods]
    columns = [(subset, method) for subset in (*SUBSETS, "total") for method in shown]
    rows: list[Row] = []
    data: list[DataRow] = []
    for dataset in results.datasets:
        values = {
            (subset, method): subset_mean(results.cells(dataset, method), measure.key, subset)
            for method in results.methods
            for subset in (*SUBSETS, "total")
        }
        printed = paper.published_subsets() if dataset == "bibtex" else {}
        entries = [
            Entry(
                number(values[column], f"{values[column]:.4f}"),
                under=_paper(printed.get((measure.key, *column))),
            )
            for column in columns
        ]
        rows.append((dataset, unobserved_share(results, dataset), *entries))
        data += [(dataset, method, sub, none_if_nan(v)) for (sub, method), v in values.items()]
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


def share_table(records: list[Record]) -> Table | None:
    """Time and errors on growing shares of the training rows; None without such cells."""
    if not records:
        return None
    data = [(r.train_share, r.details["n_train"], r.seconds, mismatches(r)) for r in records]
    return Table(
        key="shares",
        title=f"{records[0].method} on shares of the training rows of {records[0].dataset}",
        head=("share", "training rows", "seconds", "wrong labels a row"),
        rows=tuple((f"{a:.0%}", str(n), f"{s:.1f}", f"{wrong:.4f}") for a, n, s, wrong in data),
        data_head=("share", "n_train", "seconds", "mismatches"),
        data=tuple(data),
    )


def mismatches(record: Record) -> float:
    """Average number of wrong labels of a test row."""
    return record.scores["hamming_loss"] * float(record.details["n_labels"])


def run_facts(results: Results) -> tuple[tuple[str, str], ...]:
    """The run in a few names and values."""
    records = results.finished
    seconds = sum(record.seconds for record in records)
    return (
        ("protocol", results.protocol),
        ("finished cells", str(len(records))),
        ("failed cells", str(len(results.failed))),
        ("processor time", f"{seconds / 3600:.2f} h" if seconds >= 600 else f"{seconds:.0f} s"),
        ("versions", "; ".join(dict.fromkeys(map(_versions, records + results.failed)))),
        ("machine", "; ".join(dict.fromkeys(map(_machine, records + results.failed)))),
    )


def _versions(record: Record) -> str:
    names = {"nldd": "nldd", "scikit-learn": "scikit-learn", "python": "Python"}
    return ", ".join(f"{name} {record.versions.get(key, '?')}" for key, name in names.items())


def _machine(record: Record) -> str:
    machine = record.machine
    return f"{machine.get('system')} {machine.get('processor')}, {machine.get('cores')} cores"


def problems_table(results: Results) -> Table | None:
    """Every cell that failed and every method that is not finished; None if all is well."""
    rows = [
        (dataset, method, f"{n_finished} of {n_folds} folds are there")
        for dataset, method, n_finished, n_folds in results.incomplete
    ]
    for record in results.failed:
        share = record.train_share
        cell = f"fold {record.fold + 1}" if share is None else f"share {share:.0%}"
        rows.append((record.dataset, record.method, f"{cell} failed: {record.error}"))
    if not rows:
        return None
    return Table(
        key="problems",
        title="Cells that are missing or failed",
        head=("data set", "method", "what"),
        rows=tuple(rows),
        notes=("The same `nldd benchmark` command runs them.",),
    )


def settings_table(results: Results) -> Table:
    """Each method's estimator, and the data sets on which it was that one."""
    found: dict[tuple[str, str], list[str]] = {}
    for method, dataset in product(results.methods, results.datasets):
        if cells := results.cells(dataset, method):
            found.setdefault((method, cells[0].settings), []).append(dataset)
    rows = []
    for (method, settings), datasets in found.items():
        name = METHODS[method].name if method in METHODS else ""
        where = "all" if datasets == list(results.datasets) else ", ".join(datasets)
        rows.append((method, name, settings, where))
    return Table(
        key="settings",
        title="Methods and their settings",
        head=("method", "name", "settings", "data sets"),
        rows=tuple(rows),
        notes=("Seeds are those of the first fold; the one of fold k is larger by k.",),
    )


def warnings_table(results: Results) -> Table | None:
    """The warnings that came up, counted; None if there were none."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for record in results.finished:
        for text, count in record.details.get("warnings", {}).items():
            counts[record.method, record.dataset, text] += count
    if not counts:
        return None
    rows = tuple((*key, str(count)) for key, count in sorted(counts.items()))
    head = ("method", "data set", "warning", "times")
    return Table("warnings", "Warnings that came up", head, rows)
