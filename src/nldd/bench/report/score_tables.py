"""Tables of measures: values with ranks and tests, average ranks of all, and pairs of methods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nldd._wording import quote
from nldd.bench.report import published as paper
from nldd.bench.report.paper_comparison import (
    paper_notes,
    paper_ranks,
    printed_values,
    rank_entries,
)
from nldd.bench.report.results import ALL_MEASURES, POOLED, FloatArray, Results
from nldd.bench.runner.protocol_file import hint
from nldd.bench.statistics.comparison import Pair, compare
from nldd.bench.statistics.ranks import average_ranks, complete_rows, ranks
from nldd.bench.statistics.significance import WILCOXON_RULE, about_least_p, significance_line
from nldd.exceptions import InputError
from nldd.metrics._measures import PAPER_MEASURES, Measure
from nldd.metrics._probability_measures import PROBABILITY_MEASURES
from nldd.present.table import DataRow, Row, Table, TableEntry
from nldd.present.text import count_noun

ALPHA = 0.05
PUBLISHED = ("published", "difference", "difference_in_standard_errors")
# Differences up to these sizes are of no practical importance; coverage is counted in labels.
ROPE = 0.01
ROPES = {"hamming_loss": 0.001, "brier_score": 0.001, "coverage": 0.1}
# What is not the mean of a value of each row, and where one has to know how it is counted.
CONVENTIONS = {
    **dict.fromkeys(
        ("macro_f", "macro_precision", "macro_recall"),
        "Counts of each label are pooled over the folds; labels in neither truth nor prediction "
        "are left out of the mean.",
    ),
    **dict.fromkeys(
        ("micro_f", "micro_precision", "micro_recall"),
        "Counts of all labels are pooled over the folds.",
    ),
    "macro_auroc": "In each fold, labels that all or none of the test rows carry are left out.",
    "macro_average_precision": "In each fold, labels that no test row carries are left out.",
    "coverage": "Labels of the ranking down to the last true one; the first one counts as 1.",
    "one_error": "Rows without a label are left out; labels that share the first place share it.",
    "log_loss": "A probability of 0 for what is true counts as 2e-16; shares of votes have many.",
    "calibration_error": "All labels together, in 15 bins of equal width.",
}

ABOUT_PAIRS = (
    "Effect: rank-biserial correlation, 1 if the first is better wherever the two differ. p: "
    "two-sided Wilcoxon tests, alone and with Holm's correction for all pairs. Better, equal, "
    "worse: probabilities that the first is so by more than what counts as equal, or that the two "
    "are as good as equal (Bayesian signed-rank test)."
)
ABOUT_NEMENYI = (
    "p (Nemenyi): a test of the average ranks of all methods, which can find differences with "
    "fewer data sets than Wilcoxon tests need."
)
PAIR_HEAD = ("first, second", "first better by", "won/tied/lost", "effect")

# What is printed, and its line of the CSV file without the data set; None stands for neither.
Cell = tuple[TableEntry | str | None, DataRow | None]


def choose_measures(names: Iterable[str] | None = None) -> tuple[Measure, ...]:
    """Measures by key, in the order given; ``all`` for all, the paper's four if none is named.

    >>> [measure.name for measure in choose_measures(["macro_f", "log_loss"])]
    ['Macro F', 'Log loss']
    """
    chosen: dict[str, Measure] = {}
    for name in names or ():
        key = name.strip().lower().replace("-", "_")
        if key == "all":
            chosen |= ALL_MEASURES
        elif key in ALL_MEASURES:
            chosen[key] = ALL_MEASURES[key]
        else:
            known = hint(key[:60], (*ALL_MEASURES, "all"), "there are")
            raise InputError(f"There is no measure {quote(name)}{known}.")
    return tuple(chosen.values()) or PAPER_MEASURES


def rows_by_dataset(
    cells: Mapping[str, Sequence[Cell]], data_head: Sequence[str], **parts: Any
) -> Table:
    """A table with one row a data set, printed and in its long form."""
    rows, data = [], []
    for dataset, found in cells.items():
        rows.append((dataset, *(printed for printed, _ in found if printed is not None)))
        for line in (line for _, line in found if line is not None):
            data.append((dataset, *(None if value != value else value for value in line)))
    return Table(rows=tuple(rows), data_head=("dataset", *data_head), data=tuple(data), **parts)


def number(value: float, text: str) -> str:
    return "-" if np.isnan(value) else text


def score_table(results: Results, measure: Measure) -> Table | None:
    """Means over the folds with ranks; None if no method has a value.

    Below each is the paper's value, where it has one, and the difference to it in standard errors
    of our mean, as the spread between test rows gives it.
    """
    some = results.having(measure)
    if not some.methods:
        return None
    values, printed = some.means(measure), printed_values(some, measure)
    R = ranks(values, measure.greater_is_better)
    best = np.where(np.isnan(R), np.inf, R).min(axis=1, keepdims=True) == R
    targets = np.full(values.shape, np.nan) if printed is None else printed
    numbers = np.stack([values, some.standard_errors(measure), R, best, targets], axis=-1)
    cells = {
        dataset: [
            _score(measure.key, dataset, *cell) for cell in zip(some.methods, row, strict=True)
        ]
        for dataset, row in zip(some.datasets, numbers.tolist(), strict=True)
    }
    if printed is None:
        cells = {d: [(e, line[:4]) for e, line in row if line] for d, row in cells.items()}
    averages = average_ranks(values, measure.greater_is_better)
    return rows_by_dataset(
        cells,
        ("method", "value", "standard_error", "rank", *(() if printed is None else PUBLISHED)),
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *some.methods),
        foot=(("average rank", *rank_entries(averages)), *paper_ranks(some, measure, values)),
        notes=(
            *_significance_notes(some, measure, values),
            *paper_notes(some, measure, values),
            *_conventions(results, some, measure),
        ),
    )


def _score(measure: str, dataset: str, method: str, numbers: Sequence[float]) -> Cell:
    value, error, rank, best, target = numbers
    difference = value - target
    apart = difference / error if error > 0 else float("nan")
    under = ""
    if not np.isnan(difference):
        star = "*" if paper.doubtful(measure, dataset, method) else ""
        under = f"{target:.4f}{star}" + number(apart, f" ({apart:+.1f})").strip("-")
    entry = TableEntry(number(value, f"{value:.4f} ({rank:g})"), bool(best), under)
    return entry, (method, value, error, rank, target, difference, apart)


def _significance_notes(results: Results, measure: Measure, values: FloatArray) -> Iterator[str]:
    complete = complete_rows(values)
    n = int(complete.sum())
    if n >= 2 and len(results.methods) >= 2:
        line = significance_line(values, results.methods, measure.greater_is_better)
        yield f"Significance (one-sided at 0.05, {n} data sets): {line}."
    else:
        yield "Significance needs two methods, and two data sets on which each has a value."
    if left_out := [d for d, whole in zip(results.datasets, complete, strict=True) if not whole]:
        yield (
            "Left out of averages and tests, since not every method has a value in every fold: "
            f"{', '.join(left_out)}."
        )


def _conventions(results: Results, some: Results, measure: Measure) -> Iterator[str]:
    if measure.key in CONVENTIONS:
        yield CONVENTIONS[measure.key]
    left_out = [method for method in results.methods if method not in some.methods]
    for reason, methods in _reasons(results, measure, left_out).items():
        yield f"Left out, {reason}: {', '.join(methods)}."


def _reasons(results: Results, measure: Measure, methods: Iterable[str]) -> dict[str, list[str]]:
    """Why methods have no value of a measure, with the methods of each reason."""
    reasons: dict[str, list[str]] = {}
    for method in methods:
        found = [cell for d in results.datasets for cell in results.cells(d, method)]
        if not all("label_counts" in cell.details for cell in found):
            reason = "older records without predictions"
        elif measure.key in PROBABILITY_MEASURES and not any(
            cell.scores.keys() & PROBABILITY_MEASURES for cell in found
        ):
            reason = "no probabilities"
        else:
            reason = "not defined in some fold of each data set"
        reasons.setdefault(reason, []).append(method)
    return reasons


def overview_table(results: Results) -> Table | None:
    """Average rank of each method by every measure; None of a single method or data set."""
    rows, data, lacking = [], [], set()
    for measure in ALL_MEASURES.values():
        some = results.having(measure)
        values = some.means(measure)
        n = int(complete_rows(values).sum()) if some.methods else 0
        if len(some.methods) < 2 or not n:
            continue
        averages = average_ranks(values, measure.greater_is_better)
        best = dict(zip(some.methods, (averages == averages.min()).tolist(), strict=True))
        found = dict(zip(some.methods, averages.tolist(), strict=True))
        lacking |= set(results.methods) - set(found)
        cells = [
            TableEntry(f"{found[m]:.2f}", best[m]) if m in found else "-" for m in results.methods
        ]
        rows.append((measure.name, str(n), *cells))
        data += [(measure.key, method, rank, n) for method, rank in found.items()]
    if len(results.datasets) < 2 or not rows:
        return None
    notes = ["Over data sets on which all methods of the row have a value; the best is bold."]
    if lacking:
        names = ", ".join(method for method in results.methods if method in lacking)
        notes.append(f"Without a value of some measures, which rank the others alone: {names}.")
    return Table(
        "overview",
        "Average rank by every measure",
        ("measure", "data sets", *results.methods),
        tuple(rows),
        notes=tuple(notes),
        data_head=("measure", "method", "average_rank", "n_datasets"),
        data=tuple(data),
    )


def pair_table(results: Results, measure: Measure, nemenyi: bool = False) -> Table | None:
    """Every pair of methods: the difference, its size, and what the tests say of it.

    None unless two methods have values on two data sets.
    """
    some = results.having(measure)
    if not some.methods:
        return None
    rope = ROPES.get(measure.key, ROPE)
    found = compare(some.means(measure), some.methods, measure.greater_is_better, rope=rope)
    if not found.pairs:
        return None
    rows = tuple(_pair(pair, nemenyi) for pair in found.pairs)
    tests = ("p", "p (Holm)", *(["p (Nemenyi)"] if nemenyi else []))
    fields = Pair.__slots__
    n_pairs = len(found.pairs)
    least = about_least_p(found.n_datasets, ALPHA, sided=2, n_tests=n_pairs)
    return Table(
        f"pairs_{measure.key}",
        f"{measure.name}: pairs of methods on {count_noun(found.n_datasets, 'data set')}",
        (*PAIR_HEAD, *tests, "better", "equal", "worse"),
        rows,
        notes=(
            *([f"Wilcoxon tests: w{least[1:]}"] if least else []),
            f"Differences up to {rope:g} count as equal.",
        ),
        data_head=fields,
        data=tuple(tuple(getattr(pair, name) for name in fields) for pair in found.pairs),
        folded=True,
    )


def _pair(pair: "Pair", nemenyi: bool) -> Row:
    p_values = [pair.p_value, pair.holm_p_value, *([pair.nemenyi_p_value] if nemenyi else [])]
    return (
        f"{pair.first}, {pair.second}",
        f"{pair.gain:+.4f}",
        f"{pair.wins}/{pair.ties}/{pair.losses}",
        f"{pair.rank_biserial:+.2f}",
        *("< 0.001" if p < 0.0005 else f"{p:.3f}" for p in p_values),
        *(f"{share:.2f}" for share in (pair.better, pair.equal, pair.worse)),
    )


def about_scores(results: Results, measures: Sequence[Measure]) -> Iterator[str]:
    """How the tables of scores are to be read."""
    pooled = " or, for micro and macro measures, values of their counts together"
    yield (
        f"Means over the folds{pooled * any(m.key in POOLED for m in measures)}; the best of a "
        "row is bold."
    )
    if any(printed_values(results, measure) is not None for measure in measures):
        yield (
            "In the second line of a cell is the paper's value and, in parentheses, how far ours "
            "is from it in standard errors of ours. These come from the spread between test rows; "
            "the paper's value has an error of about the same size."
        )
    yield WILCOXON_RULE
    lacking: dict[str, list[str]] = {}
    for measure in (m for m in measures if not results.having(m).methods):
        reasons = _reasons(results, measure, results.methods)
        text = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in reasons.items())
        lacking.setdefault(text, []).append(measure.name)
    for text, names in lacking.items():
        yield f"No method has a value of {', '.join(names)}: {text}."
