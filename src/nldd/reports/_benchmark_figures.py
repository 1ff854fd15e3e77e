"""Figures of a benchmark: critical differences, shares of the training rows, how NLDD works."""

from collections.abc import Iterator

import numpy as np

from nldd._wording import count_noun
from nldd.datasets import load_yeast
from nldd.displays import (
    CriticalDifferenceDisplay,
    HypercubeDisplay,
    PairChoiceDisplay,
    PairsDisplay,
    ShareDisplay,
)
from nldd.estimators import NLDDClassifier
from nldd.experiments import Record
from nldd.metrics import PAPER_MEASURES, Measure
from nldd.reports._benchmark_tables import mismatches
from nldd.reports._page import Figure, draw
from nldd.reports._results import FloatArray, Results
from nldd.statistics import average_ranks, cliques, complete_rows, friedman, pairwise_holm

ALPHA = 0.05
# Three labels of which training has seen seven combinations: nearly all of the cube is in use.
LABELS = [0, 1, 2]
N_TRAIN, N_SHOWN = 1500, 40


def about_differences(results: Results) -> str:
    """What the diagrams can show at all with so many data sets and methods."""
    n_pairs = len(results.methods) * (len(results.methods) - 1) // 2
    n = int(complete_rows(results.means(PAPER_MEASURES[0])).sum())
    if n < 2 or not n_pairs:
        return "Methods are compared from two of them and two complete data sets on."
    least = min(1.0, n_pairs * 2 / 2**n)
    end = (
        ", so no pair can differ at 0.05 and one bar joins all methods." if least >= ALPHA else "."
    )
    return (
        f"With {n} data sets and {count_noun(n_pairs, 'pair')} of methods the smallest p-value "
        f"that Holm's correction can leave is {least:.2g}{end}"
    )


def difference_diagrams(results: Results) -> Iterator[Figure]:
    """One diagram a measure, from two methods and two complete data sets on."""
    for measure in PAPER_MEASURES:
        values = results.means(measure)
        if len(results.methods) >= 2 and complete_rows(values).sum() >= 2:
            yield _diagram(results.methods, values, measure)


def _diagram(methods: tuple[str, ...], values: FloatArray, measure: Measure) -> Figure:
    averages = average_ranks(values, measure.greater_is_better)
    groups = cliques(averages, pairwise_holm(values), ALPHA)
    test = friedman(values, measure.greater_is_better)
    return draw(
        CriticalDifferenceDisplay(methods, averages.tolist(), groups, measure.name),
        f"differences_{measure.key}",
        f"{measure.name}: average ranks, best on the left. Friedman's test over "
        f"{test.n_datasets} data sets: chi-square {test.statistic:.1f}, p = {test.p_value:.2g}. "
        "Bars join methods that do not differ (two-sided Wilcoxon tests, Holm's correction, 0.05).",
        f"Average ranks on {measure.name}: {methods[int(np.argmin(averages))]} is best with "
        f"{averages.min():.2f}.",
    )


def share_figures(records: list[Record]) -> Iterator[Figure]:
    """Time and errors as curves, once the whole of the training rows is there to compare with."""
    if not any(record.train_share == 1 for record in records):
        return
    method, dataset = records[0].method, records[0].dataset
    display = ShareDisplay(
        [record.train_share or 0.0 for record in records],
        [record.seconds for record in records],
        [mismatches(record) for record in records],
        f"{method} on {dataset}",
    )
    yield draw(
        display,
        "shares",
        f"{method} on {dataset}: running time relative to all training rows, and the average "
        "number of wrong labels, against the share of the training rows.",
        "Two curves over the share of the training rows: time, and wrong labels.",
    )


def illustrations() -> Iterator[Figure]:
    """On yeast: the cube of labelsets, the choice of a pair, and all pairs with their weights."""
    X, Y, names = load_yeast()
    X_train, Y_train = X[:N_TRAIN], Y[:N_TRAIN]
    labelsets = [{names[j] for j in LABELS if row[j]} for row in Y_train]
    model = NLDDClassifier(random_state=0).fit(X_train, labelsets)
    yield draw(
        HypercubeDisplay.from_estimator(model, X[N_TRAIN : N_TRAIN + N_SHOWN]),
        "hypercube",
        "The label space of three labels of yeast. Vertices are labelsets, points inside are the "
        f"probabilities of {N_SHOWN} genes, and for one of them the distances Dy to the labelsets "
        "seen in training.",
        "A cube whose corners are labelsets, with points inside it.",
    )
    yield draw(
        PairChoiceDisplay.from_training(X_train, Y_train, random_state=0),
        "pair_choice",
        "How the pairs are chosen: both distances of one gene of T2 to all genes of T1, with its "
        "nearest in features and its nearest in labels.",
        "A scatter plot of two distances with two rows marked.",
    )
    yield draw(
        PairsDisplay.from_estimator(model),
        "pairs",
        f"All pairs of a fit to {N_TRAIN} genes and the three labels of the cube, by the number of "
        "labels in which they differ, with lines of equal theta from the regression.",
        "A scatter plot of pairs with lines of equal error probability.",
    )
