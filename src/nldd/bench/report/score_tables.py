"""Tables of measures: values with errors, ranks and tests, average ranks of all, and pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import lru_cache
from typing import Any

import numpy as np

from nldd._wording import quote
from nldd.bench.ranks import average_ranks, complete_rows, ranks
from nldd.bench.report.published import (
    doubtful,
    paper_notes,
    paper_part,
    paper_ranks,
    printed_values,
    rank_entries,
)
from nldd.bench.report.results import ALL_MEASURES, POOLED, FloatArray, Results
from nldd.bench.runner.protocol_file import hint
from nldd.bench.statistics import WILCOXON_RULE, Comparison, Pair, compare, significance_line
from nldd.exceptions import InputError
from nldd.metrics import PAPER_MEASURES, PROBABILITY_MEASURES, Measure
from nldd.present.table import DataRow, Row, Table, TableEntry

ALPHA = 0.05
PUBLISHED = ("published", "difference", "difference_in_standard_errors")
# What is not the mean of a value of each row, and where one has to know how it is counted.
CONVENTIONS = {
    **dict.fromkeys(
        ("multilabel_accuracy", "f_measure", "precision", "recall"),
        "A row without true and without predicted labels counts as 1 (Mulan's convention).",
    ),
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
ABOUT_ERRORS = "After ± is the standard error of the mean, from the spread between test rows."

ABOUT_PAIRS = (
    "Effect: rank-biserial correlation, 1 if the first is better wherever the two differ. p: "
    "two-sided Wilcoxon tests, alone and with Holm's correction for all pairs of a measure."
)
ABOUT_NEMENYI = (
    "p (Nemenyi): a test of the average ranks of all methods, which can find differences with "
    "fewer data sets than Wilcoxon tests need."
)
PAIR_HEAD = ("measure", "first, second", "first better by", "won/tied/lost", "effect")

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
    """A table with one row a data set, printed and in its long form.

    Values for which `data_head` has no head are left out of the long form.
    """
    rows, data = [], []
    for dataset, found in cells.items():
        rows.append((dataset, *(printed for printed, _ in found if printed is not None)))
        for line in (line for _, line in found if line is not None):
            numbers = line[: len(data_head)]
            data.append((dataset, *(None if value != value else value for value in numbers)))
    return Table(rows=tuple(rows), data_head=("dataset", *data_head), data=tuple(data), **parts)


def number(value: float, text: str) -> str:
    return "-" if np.isnan(value) else text


def score_table(results: Results, measure: Measure) -> Table | None:
    """Means over the folds with standard errors and ranks; None if no method has a value.

    Below is also the paper's value, where it has one, and the difference to it in standard errors
    of our mean.
    """
    some = results.having(measure)
    if not some.methods:
        return None
    values, printed = some.means(measure), printed_values(some, measure)
    errors = some.standard_errors(measure)
    R = ranks(values, measure.greater_is_better)
    best = np.where(np.isnan(R), np.inf, R).min(axis=1, keepdims=True) == R
    targets = np.full(values.shape, np.nan) if printed is None else printed
    numbers = np.stack([values, errors, R, best, targets], axis=-1)
    cells = {}
    for dataset, row in zip(some.datasets, numbers.tolist(), strict=True):
        by_method = zip(some.methods, row, strict=True)
        cells[dataset] = [_score(measure.key, dataset, *cell) for cell in by_method]
    averages = average_ranks(values, measure.greater_is_better)
    return rows_by_dataset(
        cells,
        ("method", "value", "standard_error", "rank", *(() if printed is None else PUBLISHED)),
        key=measure.key,
        title=f"{measure.name} ({measure.direction}), ranks in parentheses",
        head=("data set", *some.methods),
        foot=(("average rank", *rank_entries(averages)), *paper_ranks(some, measure, values)),
        notes=(
            *_significance_notes(results, some.methods, measure, values),
            *paper_notes(some, measure, values),
            *([] if np.isnan(errors).all() else [ABOUT_ERRORS]),
            *_conventions(results, some, measure),
        ),
    )


def _score(measure: str, dataset: str, method: str, numbers: Sequence[float]) -> Cell:
    value, error, rank, best, target = numbers
    difference = value - target
    apart = difference / error if error > 0 else float("nan")
    under = [] if np.isnan(value) or np.isnan(error) else [f"± {error:.4f}"]
    if not np.isnan(difference):
        star = "*" if doubtful(measure, dataset, method) else ""
        under.append(f"{target:.4f}{star}" + number(apart, f" ({apart:+.1f})").strip("-"))
    text = number(value, f"{value:.4f} ({rank:g})")
    line = method, value, error, rank, target, difference, apart
    return TableEntry(text, bool(best), "\n".join(under)), line


@lru_cache(maxsize=100)
def comparison(results: Results, measure: Measure) -> Comparison:
    """All tests of the methods that have a value of a measure."""
    some = results.having(measure)
    if not some.methods:
        return Comparison((), (), 0, None, np.nan, (), (), ALPHA)
    return compare(some.means(measure), some.methods, measure.greater_is_better, alpha=ALPHA)


def _significance_notes(
    results: Results, methods: Sequence[str], measure: Measure, values: FloatArray
) -> Iterator[str]:
    found = comparison(results, measure)
    if found.pairs:
        yield f"Significance ({found.how}, {found.n_datasets} data sets): {found.statement()}."
        line = significance_line(values, methods, measure.greater_is_better, ALPHA)
        of_paper = ", as in the paper" * bool(paper_part(results).datasets)
        yield f"Uncorrected and one-sided at {ALPHA}{of_paper}: {line}."
    else:
        yield "Significance needs two methods, and two data sets on which each has a value."
    complete = complete_rows(values)
    if left_out := [d for d, whole in zip(results.datasets, complete, strict=True) if not whole]:
        yield (
            "Left out of averages and tests, since not every method has a value in every fold: "
            f"{', '.join(left_out)}."
        )


def _conventions(results: Results, some: Results, measure: Measure) -> Iterator[str]:
    if measure.key in CONVENTIONS:
        yield CONVENTIONS[measure.key]
    for decision, methods in some.decisions(measure).items():
        yield f"Fitted once, with the decision for this measure, {decision}: {', '.join(methods)}."
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
    rows: list[Row] = []
    data: list[DataRow] = []
    lacking: set[str] = set()
    for measure in ALL_MEASURES.values():
        some = results.having(measure)
        values = some.means(measure)
        n = int(complete_rows(values).sum()) if some.methods else 0
        if len(some.methods) < 2 or not n:
            continue
        averages = average_ranks(values, measure.greater_is_better).tolist()
        by_method = dict(zip(some.methods, averages, strict=True))
        shown = np.array([by_method.get(method, np.nan) for method in results.methods])
        lacking |= set(results.methods).difference(some.methods)
        rows.append((measure.name, str(n), *rank_entries(shown)))
        data += [(measure.key, method, rank, n) for method, rank in by_method.items()]
    if len(results.datasets) < 2 or not rows:
        return None
    notes = ["Over data sets on which all methods of the row have a value; the best is bold."]
    if lacking:
        names = ", ".join(method for method in results.methods if method in lacking)
        notes.append(f"Without a value of some measures, which rank the others alone: {names}.")
    title, head = "Average rank by every measure", ("measure", "data sets", *results.methods)
    data_head = ("measure", "method", "average_rank", "n_datasets")
    return Table("overview", title, head, tuple(rows), (), tuple(notes), data_head, tuple(data))


def pair_table(
    results: Results, measures: Iterable[Measure], nemenyi: bool = False
) -> Table | None:
    """Every pair of methods by every measure: the difference, its size, and the tests.

    None unless two methods have values of a measure on two data sets.
    """
    found = [(m, compared) for m in measures if (compared := comparison(results, m)).pairs]
    if not found:
        return None
    pairs = [(measure, pair) for measure, compared in found for pair in compared.pairs]
    tests = ("p", "p (Holm)", *(["p (Nemenyi)"] if nemenyi else []))
    too_few: dict[str, list[str]] = {}
    for measure, compared in found:
        too_few.setdefault(compared.least_p(), []).append(measure.name)
    title = "Pairs of methods by every measure" if len(found) > 1 else "Pairs of methods"
    head, data_head = (*PAIR_HEAD, *tests), ("measure", *Pair.__slots__)
    rows = tuple(_pair(measure.name, pair, nemenyi) for measure, pair in pairs)
    data = tuple((measure.key, *astuple(pair)) for measure, pair in pairs)
    reasons = (f"{', '.join(names)}: {why}." for why, names in too_few.items() if why)
    notes = (*reasons, ABOUT_PAIRS, *[ABOUT_NEMENYI] * nemenyi)
    return Table("pairs", title, head, rows, (), notes, data_head, data, folded=True)


def _pair(measure: str, pair: Pair, nemenyi: bool) -> Row:
    p_values = [pair.p_value, pair.holm_p_value, *([pair.nemenyi_p_value] if nemenyi else [])]
    return (
        measure,
        f"{pair.first}, {pair.second}",
        f"{pair.gain:+.4f}",
        f"{pair.wins}/{pair.ties}/{pair.losses}",
        f"{pair.rank_biserial:+.2f}",
        *("< 0.001" if p < 0.0005 else f"{p:.3f}" for p in p_values),
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
            "In the last line of a cell is the paper's value and, in parentheses, how far ours is "
            "from it in standard errors of ours. The paper's value has an error of about the same "
            "size."
        )
    yield WILCOXON_RULE
    lacking: dict[str, list[str]] = {}
    for measure in (m for m in measures if not results.having(m).methods):
        reasons = _reasons(results, measure, results.methods)
        text = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in reasons.items())
        lacking.setdefault(text, []).append(measure.name)
    for text, names in lacking.items():
        yield f"No method has a value of {', '.join(names)}: {text}."
