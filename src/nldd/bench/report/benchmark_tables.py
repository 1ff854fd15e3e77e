"""Tables beside the scores: times, NLDD's weights and theta, subsets of test rows, and shares."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from nldd.bench.report.published import PUBLISHED_COEFFICIENTS, paper_part, printed_table
from nldd.bench.report.results import FloatArray, Results
from nldd.bench.report.score_tables import CONVENTIONS, Cell, number, rows_by_dataset
from nldd.bench.runner.records import CellRecord
from nldd.metrics import Measure
from nldd.present.table import Table, TableEntry

COEFFICIENTS = ("b0", "b1 (Dx)", "b2 (Dy)")
_MIDDLE = [f"{place} fifth" for place in ("second", "third", "fourth")]
FIFTHS = ("lowest theta", *_MIDDLE, "highest theta", "all rows")
REFERENCE, POSTERIOR = "BR", "NLDD-P"
OF_POSTERIOR = (
    *("distance", "probabilities", "frequency", "size", "e"),
    *("probability", "right", "calibration error"),
)
# Methods that can only predict labelsets of the training rows.
KNOWN_LABELSETS = ("NLDD", "SMBR", "LP")
SUBSETS = {"A": "observed", "B": "unobserved"}
SUBSET_METHODS = ("BR", "NLDD")


def _paper(value: float | None, render: Callable[[float], str] = "{:.4f}".format) -> str:
    return "" if value is None else f"paper {render(value)}"


def time_table(results: Results) -> Table:
    """Fitting and predicting of each method over that of BR, and the paper's ratios below.

    Seconds, if BR is not among the methods.
    """
    seconds = results.table(lambda cells: sum(cell.seconds for cell in cells))
    of_paper, has_reference = paper_part(results).datasets, REFERENCE in results.methods
    ratios = ("ratio_to_BR", *["published_ratio"] * bool(of_paper)) if has_reference else ()
    cells: dict[str, list[Cell]] = {}
    for dataset, times in zip(results.datasets, seconds.tolist(), strict=True):
        by_method = dict(zip(results.methods, times, strict=True))
        # A clock that is too coarse for BR gives 0, and no ratio.
        reference = by_method.get(REFERENCE) or float("nan")
        cells[dataset] = [(_seconds(reference), None)] * has_reference
        for method, time in by_method.items():
            ratio = time / reference
            printed = published_ratio(dataset, method) if dataset in of_paper else None
            text = _ratio(ratio) if has_reference else _seconds(time)
            entry = TableEntry(text, under=_paper(printed, _ratio))
            cells[dataset].append((entry, (method, time, ratio, printed)))
    how = "as a ratio to BR" if has_reference else "in seconds"
    return rows_by_dataset(
        cells,
        ("method", "seconds", *ratios),
        key="running_time",
        title=f"Running time {how}, all folds together",
        head=("data set", *[f"{REFERENCE}, seconds"] * has_reference, *results.methods),
        notes=(" ".join(_about_times(results)),),
    )


def _about_times(results: Results) -> Iterator[str]:
    yield "Processor time of fitting and predicting in one thread."
    pairs = product(results.datasets, results.methods)
    cells = [cell for pair in pairs for cell in results.cells(*pair)]
    remarks = {
        "searched": "With the search for parameters in each fold",
        "decisions": "With one decision only, that of the settings",
    }
    for key, remark in remarks.items():
        having = {cell.method for cell in cells if key in cell.details}
        if names := [method for method in results.methods if method in having]:
            yield f"{remark}: {', '.join(names)}."


def _list(names: list[str]) -> str:
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def published_ratio(dataset: str, method: str) -> float | None:
    """The paper's time over its time for BR, where it has both."""
    table = printed_table("running_time_seconds")
    time, reference = table.value(dataset, method), table.value(dataset, REFERENCE)
    return None if time is None or reference is None else time / reference


def _seconds(value: float) -> str:
    return number(value, f"{value:.1f} s" if value >= 1 else f"{value:.3f} s")


def _ratio(value: float) -> str:
    return number(value, f"{value:.2f}" if value < 10 else f"{value:.0f}")


def coefficient_table(results: Results) -> Table | None:
    """NLDD's coefficients over the folds, and how often a weight was held at 0; None without NLDD.

    Folds share most of their rows; for one split the regression's own error is all there is.
    """
    cells: dict[str, list[Cell]] = {}
    of_paper = paper_part(results).datasets
    for dataset in results.datasets:
        fits = results.cells(dataset, "NLDD")
        if not fits or "coefficients" not in fits[0].details:
            continue
        beta = np.array([fit.details["coefficients"] for fit in fits])
        errors = np.array(fits[0].details["coefficient_errors"], dtype=float)
        spread = beta.std(axis=0, ddof=1) if len(beta) > 1 else errors
        printed = PUBLISHED_COEFFICIENTS[dataset] if dataset in of_paper else [None] * 3
        columns = zip(COEFFICIENTS, beta.T, spread.tolist(), printed, strict=True)
        held = (beta[:, 1:] == 0).sum(axis=0).tolist()
        cells[dataset] = [_coefficient(*column) for column in columns]
        cells[dataset] += [(f"{n}/{len(beta)}", None) for n in held]
    if not cells:
        return None
    return rows_by_dataset(
        cells,
        ("coefficient", "mean", "spread", "folds_at_0", *["published"] * bool(of_paper)),
        key="coefficients",
        title="Coefficients of NLDD, mean over the folds, and how often a weight was held at 0",
        head=("data set", *COEFFICIENTS, "b1 = 0", "b2 = 0"),
        notes=(
            "Log-odds of a wrong label = b0 + b1 Dx + b2 Dy. After ± is the standard deviation "
            "between folds, or the regression's standard error where there is one split. A weight "
            "that would be negative is held at 0, and then has no such error; the last two columns "
            "count the folds.",
        ),
    )


def _coefficient(name: str, beta: FloatArray, spread: float, target: float | None) -> Cell:
    mean, n_held = float(beta.mean()), int((beta == 0).sum())
    if n_held == len(beta):
        text, spread = "0", float("nan")
    else:
        text = f"{mean:.4f}" if np.isnan(spread) else f"{mean:.4f} ± {spread:.4f}"
    is_weight = target and name != COEFFICIENTS[0] and mean != 0
    percent_off = f", {mean / target - 1:+.0%}" if target and is_weight else ""
    entry = TableEntry(text, under=_paper(target) + percent_off)
    return entry, (name.split()[0], mean, spread, n_held, target)


def pooled_bins(
    results: Results, dataset: str, method: str, key: str
) -> tuple[FloatArray, FloatArray] | None:
    """Rows of each bin over all folds, and the means of what was expected and of what was found.

    None without records, or where folds have too few rows for bins.
    """
    found = [fit.details.get(key) for fit in results.cells(dataset, method)]
    if not found or not all(found):
        return None
    bins = np.array(found, dtype=float)
    n = bins[:, :, 0].sum(axis=0)
    return n, (bins[:, :, :1] * bins[:, :, 1:]).sum(axis=0) / n[:, np.newaxis]


def theta_table(results: Results) -> Table | None:
    """Theta beside the share of wrong labels, in fifths of the test rows; None without records."""
    cells: dict[str, list[Cell]] = {}
    for dataset in results.datasets:
        bins = pooled_bins(results, dataset, "NLDD", "theta_bins")
        if bins is None:
            continue
        n, means = bins
        # The whole is the sixth bin.
        means = np.vstack([means, np.average(means, axis=0, weights=n)])
        cells[dataset] = []
        for name, rows, (theta, wrong) in zip(FIFTHS, [*n, n.sum()], means.tolist(), strict=True):
            entry = TableEntry(f"{wrong:.4f}", under=f"theta {theta:.4f}")
            cells[dataset].append((entry, (name, int(rows), theta, wrong)))
    if not cells:
        return None
    return rows_by_dataset(
        cells,
        ("test_rows", "n", "mean_theta", "error_rate"),
        key="theta",
        title="Calibration of theta: share of wrong labels, and theta below",
        head=("data set", *FIFTHS),
        notes=(
            "The test rows of each fold in fifths by theta, the expected share of wrong labels; "
            "over all folds. Theta is calibrated where both numbers of a cell are equal.",
        ),
    )


def posterior_table(results: Results) -> Table | None:
    """What the posterior of NLDD-P weighs, and how far its probabilities can be believed."""
    cells: dict[str, list[Cell]] = {}
    for dataset in results.datasets:
        bins = pooled_bins(results, dataset, POSTERIOR, "exact_match_bins")
        if bins is None:
            continue
        fits, (n, means) = [fit.details for fit in results.cells(dataset, POSTERIOR)], bins
        learned = [[*fit["weights"].values(), fit["unseen_share"]] for fit in fits]
        share = n / n.sum()
        error = share @ np.abs(means[:, 0] - means[:, 1])
        values = [*np.mean(learned, axis=0).tolist(), *(share @ means).tolist(), float(error)]
        named = zip(OF_POSTERIOR, values, strict=True)
        cells[dataset] = [(f"{value:.3f}", (name, value)) for name, value in named]
    if not cells:
        return None
    return rows_by_dataset(
        cells,
        ("of_posterior", "mean"),
        key="posterior",
        title=f"The posterior of {POSTERIOR}: weights, and calibration",
        head=("data set", *OF_POSTERIOR),
        notes=(
            "Weights, and the share e of labelsets never seen: means over the folds. Probability: "
            "that the predicted labelset is exactly right, mean over test rows; right: the share "
            "that is. The calibration error is the mean distance of both in tenths of the test "
            "rows of each fold by that probability.",
        ),
    )


def about_theta(results: Results) -> Iterator[str]:
    """Data sets of which the calibration of theta is not known."""
    fits = {dataset: results.cells(dataset, "NLDD") for dataset in results.datasets}
    bins = {d: [fit.details.get("theta_bins") for fit in cells] for d, cells in fits.items()}
    lacking = [dataset for dataset, found in bins.items() if not all(found)]
    if lacking:
        yield (
            "No calibration of theta, since records of an older version or folds of less than five "
            f"test rows lack it: {', '.join(lacking)}."
        )


def about_subsets(results: Results) -> str:
    """What the subsets are, and which of the methods cannot be right on the second."""
    bound = [method for method in KNOWN_LABELSETS if method in results.methods]
    first = f"{_list(bound)} can only predict labelsets of the training rows. " if bound else ""
    return (
        f"{first}Subset A has the test rows whose labelset occurs among the training rows, B the "
        "others. Values are means over the test rows of all folds together; where folds differ in "
        "size, a total can differ from the mean over the folds."
    )


def subset_table(results: Results, measure: Measure) -> Table | None:
    """Two methods on the test rows whose labelset training has seen (A) or not (B), and on all.

    They are BR and NLDD where these took part. The CSV file has every method; the paper's values,
    below ours, are those of bibtex. None for a measure of which records have no value on a subset.
    """
    parts = (cell.details[name] for cell in results.finished for name in SUBSETS.values())
    if not any(measure.key in part for part in parts):
        return None
    subsets = (*SUBSETS, "total")
    shown = [m for m in SUBSET_METHODS if m in results.methods] or results.methods[:2]
    columns = list(product(subsets, shown))
    of_paper, of_bibtex = paper_part(results).datasets, printed_table("bibtex_subsets")
    cells: dict[str, list[Cell]] = {}
    for dataset in results.datasets:
        values = {
            (subset, method): subset_mean(results.cells(dataset, method), measure.key, subset)
            for method, subset in product(results.methods, subsets)
        }
        has_printed = dataset == "bibtex" and dataset in of_paper
        # The rows are the same for all methods.
        fits = next(filter(None, (results.cells(dataset, m) for m in results.methods)))
        unseen = sum(fit.details["unobserved"]["n"] for fit in fits)
        share = f"{unseen / sum(fit.details['n_test'] for fit in fits):.1%}"
        cells[dataset] = [(share, None)]
        for column in columns:
            text = number(values[column], f"{values[column]:.4f}")
            printed = of_bibtex.value(measure.key, "_".join(column)) if has_printed else None
            cells[dataset].append((TableEntry(text, under=_paper(printed)), None))
        cells[dataset] += [(None, (method, sub, v)) for (sub, method), v in values.items()]
    return rows_by_dataset(
        cells,
        ("method", "subset", "value"),
        key=f"subsets_{measure.key}",
        title=f"{measure.name} ({measure.direction}) on labelsets seen in training (A) or not (B)",
        head=("data set", "share of B", *map(" ".join, columns)),
        notes=(CONVENTIONS[measure.key],) if measure.key in CONVENTIONS else (),
    )


def subset_mean(cells: list[CellRecord], measure: str, subset: str) -> float:
    """Mean of a measure over the rows of a subset, all folds together; NaN if there are none."""
    if subset == "total":
        parts = [{"n": cell.details["n_test"]} | cell.scores for cell in cells]
    else:
        parts = [part for cell in cells if (part := cell.details[SUBSETS[subset]])["n"]]
    if not parts:
        return float("nan")
    values, sizes = [p.get(measure, np.nan) for p in parts], [p["n"] for p in parts]
    return float(np.average(values, weights=sizes))


def share_table(records: list[CellRecord]) -> Table | None:
    """Time and errors on growing shares of the training rows; None without such cells."""
    if not records:
        return None
    data = []
    for r in records:
        wrong = r.scores["hamming_loss"] * r.details["n_labels"]
        data.append((r.train_share, r.details["n_train"], r.seconds, wrong))
    title = f"{records[0].method} on shares of the training rows of {records[0].dataset}"
    head = ("share", "training rows", "seconds", "wrong labels a row")
    rows = tuple((f"{a:.0%}", str(n), f"{s:.1f}", f"{wrong:.4f}") for a, n, s, wrong in data)
    data_head = ("share", "n_train", "seconds", "mismatches")
    return Table("shares", title, head, rows, (), (), data_head, tuple(data))
