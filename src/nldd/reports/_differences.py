"""Critical differences: average ranks, and which methods cannot be told apart."""

from collections.abc import Iterator

import numpy as np

from nldd.displays import CriticalDifferenceDisplay
from nldd.metrics import PAPER_MEASURES, Measure
from nldd.reports._picture import Picture
from nldd.reports._summary import FloatArray, Results
from nldd.statistics import average_ranks, cliques, complete_rows, friedman, pairwise_holm

ALPHA = 0.05


def about_differences(results: Results) -> Iterator[str]:
    """What the diagrams can show at all with so many data sets and methods."""
    n_pairs = len(results.methods) * (len(results.methods) - 1) // 2
    n = int(complete_rows(results.means(PAPER_MEASURES[0])).sum())
    if n < 2 or not n_pairs:
        yield "Methods are compared from two of them and two complete data sets on."
        return
    least = min(1.0, n_pairs * 2 / 2**n)
    told = (
        ", so no pair can differ at 0.05 and one bar joins all methods." if least >= ALPHA else "."
    )
    yield (
        f"With {n} data sets and {n_pairs} pair{'s' * (n_pairs > 1)} of methods the smallest "
        f"p-value that Holm's correction can leave is {least:.2g}{told}"
    )


def difference_diagrams(results: Results) -> Iterator[Picture]:
    """One diagram a measure, from two methods and two complete data sets on."""
    for measure in PAPER_MEASURES:
        values = results.means(measure)
        if len(results.methods) >= 2 and complete_rows(values).sum() >= 2:
            yield _diagram(results.methods, values, measure)


def _diagram(methods: tuple[str, ...], values: FloatArray, measure: Measure) -> Picture:
    averages = average_ranks(values, measure.greater_is_better)
    groups = cliques(averages, pairwise_holm(values), ALPHA)
    test = friedman(values, measure.greater_is_better)
    display = CriticalDifferenceDisplay(methods, averages.tolist(), groups, measure.name)
    return Picture(
        f"differences_{measure.key}",
        f"{measure.name}: average ranks, best on the left. Friedman's test over "
        f"{test.n_datasets} data sets: chi-square {test.statistic:.1f}, p = {test.p_value:.2g}. "
        "Bars join methods that do not differ (two-sided Wilcoxon tests, Holm's correction, 0.05).",
        f"Average ranks on {measure.name}: {methods[int(np.argmin(averages))]} is best with "
        f"{averages.min():.2f}.",
        display.plot().figure_,
    )
