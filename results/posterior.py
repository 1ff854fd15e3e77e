"""NLDD-P, which decides for each measure by its posterior: ranks, means, and calibration.

Its records are those of the protocol `best` and of `decided` and `fresh` in ``results/protocols``.
"""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import marks
import numpy as np
from record_files import HERE, cells

from nldd.bench.ranks import average_ranks
from nldd.bench.report.benchmark_tables import POSTERIOR, pooled_bins
from nldd.bench.report.results import Results, results
from nldd.metrics import PAPER_MEASURES
from nldd.present import drawing as style

PAGES = ("results",)
# Of the paper, whose place NLDD-P takes among ten; and others that decide for each measure.
PAPER, DECIDED = "NLDD", ("BR-P", "LP-P", "ECC-P")
SPLITS = {"best": ("best", "decided"), "fresh": ("fresh",)}
BINS = "exact_match_bins"


@cache
def found(splits: str) -> Results:
    """The results of all protocols on the same splits, as if they were of one."""
    records = (replace(cell, protocol=splits) for name in SPLITS[splits] for cell in cells(name))
    return results(records)


def ranks_of(splits: str, measure, without: tuple[str, ...]) -> dict[str, float]:
    """Average ranks of the methods but some."""
    here = found(splits)
    here = replace(here, methods=tuple(m for m in here.methods if m not in without))
    averages = average_ranks(here.means(measure), measure.greater_is_better)
    return dict(zip(here.methods, averages.tolist(), strict=True))


def ranks(splits: str) -> str:
    """Average ranks of NLDD-P, and of the best other method."""
    rows = []
    for measure in PAPER_MEASURES:
        cells = []
        for without in ((PAPER, *DECIDED), DECIDED, (PAPER,)):
            averages = ranks_of(splits, measure, without)
            own = averages.pop(POSTERIOR)
            best = min(averages, key=averages.__getitem__)
            shown = f"**{own:.2f}**" if own < averages[best] else f"{own:.2f}"
            cells += [shown, f"{best} {averages[best]:.2f}"]
        rows.append([measure.name, *cells])
    head = "average rank | NLDD-P among ten | best other | with NLDD as the eleventh | best other "
    return marks.table(f"{head}| with {', '.join(DECIDED)} | best other", rows)


def means(splits: str) -> str:
    """Means of all methods over the data sets; the best of a measure is bold."""
    here, columns = found(splits), []
    for measure in PAPER_MEASURES:
        values = here.means(measure).mean(axis=0)
        best = values.max() if measure.greater_is_better else values.min()
        columns.append([f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in values])
    head = f"mean over the data sets | {' | '.join(m.name for m in PAPER_MEASURES)}"
    return marks.table(head, zip(here.methods, *columns, strict=True))


def decisions() -> str:
    """NLDD and NLDD-P by data set."""
    here, rows = found("best"), []
    of_both = [
        here.means(measure)[:, [here.methods.index(m) for m in (PAPER, POSTERIOR)]]
        for measure in PAPER_MEASURES
    ]
    for i, dataset in enumerate(here.datasets):
        rows.append([dataset, *(f"{both[i, 0]:.4f}, {both[i, 1]:.4f}" for both in of_both)])
    first, *others = (measure.name for measure in PAPER_MEASURES)
    head = f"data set | {first}: NLDD, NLDD-P | {' | '.join(f'{o}: the same' for o in others)}"
    return marks.table(head, rows)


def calibration_error(splits: str, dataset: str) -> float:
    """Mean distance of expected and observed share in tenths of the test rows."""
    n, bins = pooled_bins(found(splits), dataset, POSTERIOR, BINS)
    return float(np.average(np.abs(bins[:, 0] - bins[:, 1]), weights=n))


def calibration() -> str:
    """By data set: what was expected, what was found, and how far apart both are."""
    rows = []
    for dataset in found("best").datasets:
        n, bins = pooled_bins(found("best"), dataset, POSTERIOR, BINS)
        unseen = [c.details["unseen_share"] for c in found("best").cells(dataset, POSTERIOR)]
        errors = (calibration_error(splits, dataset) for splits in SPLITS)
        numbers = np.mean(unseen), *np.average(bins, axis=0, weights=n), *errors
        rows.append([dataset, *(f"{number:.3f}" for number in numbers)])
    head = "data set | e | probability, mean | exactly right | calibration error | on fresh splits"
    return marks.table(head, rows)


def dearest() -> dict[str, str]:
    """The most that decisions cost on any data set, in units of "nearest"."""
    found = json.loads((HERE.parent / "benchmarks" / "results" / "decisions.json").read_text())
    figures: dict[bool, list[float]] = {True: [], False: []}
    for answer in found["answers"]:
        is_subset = answer["question"].startswith("subset")
        figures[is_subset].append(float(answer["figure"].removesuffix("x")))
    return {"cost of subset": f"{max(figures[True])}", "cost of others": f"{max(figures[False])}"}


def tables() -> dict[str, str]:
    """What stands between the marks."""
    worst = max(calibration_error(splits, d) for splits in SPLITS for d in found(splits).datasets)
    texts = {f"posterior ranks {splits}": ranks(splits) for splits in SPLITS}
    return texts | {
        **dearest(),
        "posterior means fresh": means("fresh"),
        "posterior decisions": decisions(),
        "posterior calibration": calibration(),
        "minutes of fresh": f"{sum(r.seconds for r in found('fresh').finished) / 60:.0f}",
        "posterior off": f"{worst:.3f}".lstrip("0"),
    }


def pictures() -> dict[str, Any]:
    """Reliability of the probability that a labelset is exactly right, one panel a data set."""
    figure = style.make_figure((10.5, 10.5))
    for ax, dataset in zip(figure.subplots(3, 3).flat, found("best").datasets, strict=True):
        n, bins = pooled_bins(found("best"), dataset, POSTERIOR, BINS)
        expected, right = 100 * bins.T
        half = 196 * np.sqrt(right / 100 * (1 - right / 100) / n)
        style.set_title(ax, dataset, 40)
        style.style_axes(ax, "exactly right, expected (%)", "exactly right, found (%)", grid="both")
        ax.axline((0, 0), slope=1, color=style.GREY, linestyle=style.DASHED, linewidth=1.1)
        ax.errorbar(expected, right, yerr=half, fmt="o", color=style.BLUE, capsize=3)
        ax.set(xlim=(0, 101), ylim=(0, 101), aspect="equal")
    return {"exact-match": figure}
