"""Tables of a benchmark: scores beside the paper's, times, weights, subsets, and what was run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from nldd.estimators import METHODS
from nldd.experiments import Record
from nldd.metrics import Measure
from nldd.reports import _published as paper
from nldd.reports._results import FloatArray, Results
from nldd.reports._table import DataRow, Entry, Row, Table
from nldd.statistics import average_ranks, complete_rows, complete_values, ranks, significance_line

DIFFERENCES = ("difference", "difference_in_standard_errors")
COEFFICIENTS = ("b0", "b1 (Dx)", "b2 (Dy)")
REFERENCE = "BR"
PROGRAMS = ("nldd", "scikit-learn", "python")
SUBSETS = {"A": "observed", "B": "unobserved"}
SUBSET_METHODS = ("BR", "NLDD")

# What is printed, and its line of the CSV file without the data set; None stands for neither.
Cell = tuple[Entry | str | None, DataRow | None]


def _table(cells: Mapping[str, Sequence[Cell]], data_head: Sequence[str], **parts: Any) -> Table:
    """A table with one row a data set, printed and in its long form."""
    rows, data = [], []
    for dataset, found in cells.items():
        rows.append((dataset, *(printed for printed, _ in found if printed is not None)))
        for line in (line for _, line in found if line is not None):
            data.append((dataset, *(None if value != value else value for value in line)))
    return Table(rows=tuple(rows), data_head=("dataset", *data_head), data=tuple(data), **parts)


def _number(value: float, text: str) -> str:
    return "-" if np.isnan(value) else text


def _paper(value: float | None, render: Callable[[float], str] = "{:.4f}".format) -> str:
    return "" if value is None else f"paper {render(value)}"


def score_table(results: Results, measure: Measure) -> Table:
    """Means over the folds with ranks, and below each the paper's value and the difference to it.

    The difference is in standard errors of our mean, as the spread between test rows gives it.
    """
    methods, values = results.methods, results.means(measure)
    R = ranks(values, measure.greater_is_better)
    best = np.nanmin(R, axis=1, keepdims=True) == R
    numbers = np.stack([values, results.standard_errors(measure), R, best], axis=-1).tolist()
    cells = {
        dataset: [_score(measure.key, dataset, *cell) for cell in zip(methods, row, strict=True)]
        for dataset, row in zip(results.datasets, numbers, strict=True)
    }
    return _table(
        cells,
        ("method", "value", "standard_error", "rank", "published", *DIFFERENCES),
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *methods),
        foot=_average_ranks(results, measure, values),
        notes=(*_significance_notes(results, measure, values), *_doubts(results, measure.key)),
    )


def _score(measure: str, dataset: str, method: str, numbers: Sequence[float]) -> Cell:
    value, error, rank, best = numbers
    target = paper.published(measure).value(dataset, method)
    difference = None if target is None else value - target
    apart = None if difference is None or not error > 0 else difference / error
    under = ""
    if target is not None and not np.isnan(value):
        star = "*" if paper.doubtful(measure, dataset, method) else ""
        under = f"{target:.4f}{star}" + ("" if apart is None else f" ({apart:+.1f})")
    entry = Entry(_number(value, f"{value:.4f} ({rank:g})"), bool(best), under)
    return entry, (method, value, error, rank, target, difference, apart)


def _average_ranks(results: Results, measure: Measure, values: FloatArray) -> tuple[Row, ...]:
    def averages(name: str, ranks: FloatArray) -> Row:
        return name, *(_number(rank, f"{rank:.2f}") for rank in ranks.tolist())

    greater, methods = measure.greater_is_better, results.methods
    rows = [averages("average rank", average_ranks(values, greater))]
    printed = paper.published_average_ranks(measure.key)
    among = [j for j, method in enumerate(methods) if method in printed]
    if 1 < len(among) < len(methods):
        # Over the same data sets as the row above, or the two could not be compared.
        own = np.full(len(methods), np.nan)
        own[among] = average_ranks(complete_values(values)[:, among], greater)
        rows.append(averages(f"among the paper's {len(among)}", own))
    if among:
        theirs = (f"{printed[method]:.1f}" if method in printed else "-" for method in methods)
        rows.append(("in the paper", *theirs))
    return tuple(rows)


def _significance_notes(results: Results, measure: Measure, values: FloatArray) -> Iterator[str]:
    complete = complete_rows(values)
    n = int(complete.sum())
    if n >= 2 and len(results.methods) >= 2:
        line = significance_line(values, results.methods, measure.greater_is_better)
        yield f"Significance (one-sided at 0.05, {n} data sets): {line}."
    else:
        yield "Significance needs two methods, and two data sets on which each has a value."
    if not set(results.methods).isdisjoint(paper.published(measure.key).methods):
        found = paper.published_significance(measure.key).items()
        line = "; ".join(f"{better} > {{{', '.join(worse)}}}" for better, worse in found)
        yield f"The paper (its 7 methods, 9 data sets): {line}."
    if left_out := [d for d, whole in zip(results.datasets, complete, strict=True) if not whole]:
        yield f"Left out of averages and tests, incomplete: {', '.join(left_out)}."


def _doubts(results: Results, measure: str) -> list[str]:
    """Notes on the cells with a star, such as ``* BR, NLDD on scene: ...``."""
    cells = defaultdict(list)
    for pair in product(results.datasets, results.methods):
        if results.cells(*pair) and (doubt := paper.doubtful(measure, *pair)):
            cells[doubt].append(pair)
    notes = []
    for doubt, pairs in cells.items():
        datasets, methods = (list(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
        everywhere = len(methods) == 1 < len(datasets)
        where = "" if everywhere else f" on {', '.join(datasets)}"
        notes.append(f"* {', '.join(methods)}{where}: {doubt}.")
    return notes


def time_table(results: Results) -> Table:
    """Fitting and predicting of each method over that of BR, and the paper's ratios below."""
    seconds = results.table(lambda cells: sum(cell.seconds for cell in cells))
    cells: dict[str, list[Cell]] = {}
    for dataset, times in zip(results.datasets, seconds.tolist(), strict=True):
        by_method = dict(zip(results.methods, times, strict=True))
        # A clock that is too coarse for BR gives 0, and no ratio.
        reference = by_method.get(REFERENCE) or float("nan")
        cells[dataset] = [(_number(reference, f"{reference:.1f} s"), None)]
        for method, time in by_method.items():
            ratio, printed = time / reference, published_ratio(dataset, method)
            entry = Entry(_ratio(ratio), under=_paper(printed, _ratio))
            cells[dataset].append((entry, (method, time, ratio, printed)))
    return _table(
        cells,
        ("method", "seconds", "ratio_to_BR", "published_ratio"),
        key="running_time",
        title="Running time as a ratio to BR, all folds together",
        head=("data set", f"{REFERENCE}, seconds", *results.methods),
        notes=(
            "Processor time of fitting and predicting in one thread. Binary classifiers that "
            "BR, SMBR and NLDD have in common are fitted once and charged to each of them.",
        ),
    )


def published_ratio(dataset: str, method: str) -> float | None:
    """The paper's time over its time for BR, where it has both."""
    table = paper.published_seconds()
    time, reference = table.value(dataset, method), table.value(dataset, REFERENCE)
    return None if time is None or reference is None else time / reference


def _ratio(value: float) -> str:
    return _number(value, f"{value:.2f}" if value < 10 else f"{value:.0f}")


def coefficient_table(results: Results) -> Table | None:
    """Mean and spread of NLDD's coefficients over the folds; None without cells of NLDD."""
    cells: dict[str, list[Cell]] = {}
    for dataset in results.datasets:
        if not (fits := results.cells(dataset, "NLDD")):
            continue
        beta = np.array([fit.details["coefficients"] for fit in fits])
        errors = np.array(fits[0].details["coefficient_errors"], dtype=float)
        # Folds share most of their rows; for one split the regression's own error is all there is.
        spread = beta.std(axis=0, ddof=1) if len(beta) > 1 else errors
        printed = paper.PUBLISHED_COEFFICIENTS.get(dataset, (None, None, None))
        columns = (COEFFICIENTS, beta.mean(axis=0).tolist(), spread.tolist(), printed)
        cells[dataset] = [_coefficient(*column) for column in zip(*columns, strict=True)]
    if not cells:
        return None
    return _table(
        cells,
        ("coefficient", "mean", "spread", "published"),
        key="coefficients",
        title="Coefficients of NLDD, mean over the folds",
        head=("data set", *COEFFICIENTS),
        notes=(
            "Log-odds of a wrong label = b0 + b1 Dx + b2 Dy. After ± is the standard deviation "
            "between folds, or the regression's standard error where there is one split; a weight "
            "that was held at 0 has none.",
        ),
    )


def _coefficient(name: str, mean: float, spread: float, target: float | None) -> Cell:
    text = f"{mean:.4f}" if np.isnan(spread) else f"{mean:.4f} ± {spread:.4f}"
    percent_off = f", {mean / target - 1:+.0%}" if target and name != COEFFICIENTS[0] else ""
    entry = Entry(text, under=_paper(target) + percent_off)
    return entry, (name.split()[0], mean, spread, target)


def subset_table(results: Results, measure: Measure) -> Table:
    """BR and NLDD on the test rows whose labelset training has seen (A) or not (B), and on all.

    The CSV file has every method; the paper's values, below ours, are those of bibtex.
    """
    subsets = (*SUBSETS, "total")
    columns = list(product(subsets, (m for m in SUBSET_METHODS if m in results.methods)))
    cells: dict[str, list[Cell]] = {}
    for dataset in results.datasets:
        values = {
            (subset, method): subset_mean(results.cells(dataset, method), measure.key, subset)
            for method, subset in product(results.methods, subsets)
        }
        printed = paper.published_subsets() if dataset == "bibtex" else {}
        # The rows are the same for all methods.
        fits = next(filter(None, (results.cells(dataset, m) for m in results.methods)))
        unseen = sum(fit.details["unobserved"]["n"] for fit in fits)
        share = f"{unseen / sum(fit.details['n_test'] for fit in fits):.1%}"
        cells[dataset] = [(share, None)]
        for column in columns:
            text = _number(values[column], f"{values[column]:.4f}")
            under = _paper(printed.get((measure.key, *column)))
            cells[dataset].append((Entry(text, under=under), None))
        cells[dataset] += [(None, (method, sub, v)) for (sub, method), v in values.items()]
    return _table(
        cells,
        ("method", "subset", "value"),
        key=f"subsets_{measure.key}",
        title=f"{measure.name} ({measure.direction}) on labelsets seen in training (A) or not (B)",
        head=("data set", "share of B", *map(" ".join, columns)),
    )


def subset_mean(cells: list[Record], measure: str, subset: str) -> float:
    """Mean of a measure over the rows of a subset, all folds together; NaN if there are none."""
    if subset == "total":
        return float(np.mean([cell.scores[measure] for cell in cells])) if cells else float("nan")
    parts = [part for cell in cells if (part := cell.details[SUBSETS[subset]])["n"]]
    if not parts:
        return float("nan")
    return float(np.average([p[measure] for p in parts], weights=[p["n"] for p in parts]))


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
    """Wrong labels of a test row, on average."""
    return record.scores["hamming_loss"] * float(record.details["n_labels"])


def run_facts(results: Results) -> tuple[tuple[str, str], ...]:
    seconds = sum(record.seconds for record in results.finished)
    versions: dict[str, None] = {}
    machines: dict[str, None] = {}
    for record in results.finished + results.failed:
        nldd, sklearn, python = (record.versions.get(name, "?") for name in PROGRAMS)
        versions[f"nldd {nldd}, scikit-learn {sklearn}, Python {python}"] = None
        system, processor, cores = map(record.machine.get, ("system", "processor", "cores"))
        machines[f"{system} {processor}, {cores} cores"] = None
    return (
        ("protocol", results.protocol),
        ("finished cells", str(len(results.finished))),
        ("failed cells", str(len(results.failed))),
        ("processor time", f"{seconds / 3600:.2f} h" if seconds >= 600 else f"{seconds:.0f} s"),
        ("versions", "; ".join(versions)),
        ("machine", "; ".join(machines)),
    )


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
    head = ("data set", "method", "what")
    notes = ("The same `nldd benchmark` command runs them.",)
    title = "Cells that are missing or failed"
    return Table("problems", title, head, tuple(rows), notes=notes) if rows else None


def settings_table(results: Results) -> Table:
    """Each method's estimator, and the data sets on which it was that one."""
    found = defaultdict(list)
    for method, dataset in product(results.methods, results.datasets):
        if cells := results.cells(dataset, method):
            found[method, cells[0].settings].append(dataset)
    rows = []
    for (method, settings), datasets in found.items():
        name = METHODS[method].name if method in METHODS else ""
        where = "all" if datasets == list(results.datasets) else ", ".join(datasets)
        rows.append((method, name, settings, where))
    head = ("method", "name", "settings", "data sets")
    notes = ("Seeds are those of the first fold; the one of fold k is larger by k.",)
    return Table("settings", "Methods and their settings", head, tuple(rows), notes=notes)


def choice_table(results: Results) -> Table | None:
    """Which base classifier the methods have chosen, and how often; None where none was open."""
    rows = []
    for dataset in results.datasets:
        counts: Counter[str] = Counter()
        for method in results.methods:
            found = (cell.details.get("chosen") for cell in results.cells(dataset, method))
            counts.update(chosen["name"] for chosen in found if chosen is not None)
        if counts:
            total = counts.total()
            rows.append(
                (dataset, ", ".join(f"{n} {k / total:.0%}" for n, k in counts.most_common()))
            )
    notes = ("Of all cells: every method chooses in every fold, from its training rows alone.",)
    head = ("data set", "base classifier chosen")
    title = "Base classifiers chosen by the data"
    return Table("choices", title, head, tuple(rows), notes=notes) if rows else None


def warnings_table(results: Results) -> Table | None:
    """The warnings that came up, counted; None if there were none."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for record in results.finished:
        for text, count in record.details.get("warnings", {}).items():
            counts[record.method, record.dataset, text] += count
    rows = tuple((*key, str(count)) for key, count in sorted(counts.items()))
    head = ("method", "data set", "warning", "times")
    return Table("warnings", "Warnings that came up", head, rows) if rows else None
