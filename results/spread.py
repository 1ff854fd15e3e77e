"""What does it give to spread the level over five starts, and does the guarantee hold?

Populations with known accuracy: made-up curves, and the out-of-fold predictions of whole data sets
as in ``results/promise.py``. Samples are drawn and tested by the spread of the package and by
the earlier one. And samples are tested at seven targets, as the first table of ``nldd triage`` does
it, to count the guarantees that are not met: line by line, and any of them.

``python results/spread.py`` runs what is missing.
"""

from itertools import product

import marks
import numpy as np
import promise
from record_files import read, run_missing

from nldd.coding import guarantee
from nldd.coding.guarantee import selective_threshold
from nldd.coding.model import TARGETS

PAGES = ("promise",)
# Shares of the answers, from the most confident on, and the probability that such a one is right.
CURVES = {
    "flat top": ((0, 0.9), (0.5, 0.82), (1, 0.55)),
    "dip at the top": ((0, 0.7), (0.03, 0.8), (0.05, 0.93), (0.4, 0.86), (1, 0.4)),
    "steep": ((0, 1), (0.2, 0.92), (0.5, 0.65), (1, 0.2)),
    "hard": ((0, 0.95), (0.05, 0.8), (0.2, 0.6), (1, 0.15)),
    "nearly all right": ((0, 0.95), (1, 0.93)),
}
DATASETS = ("medical", "enron", "slashdot", "yeast")
SIZES, ASKED, LINE_SIZES = (300, 600, 1500), (0.8, 0.9), (300, 1000)
N_STUDIES, CONFIDENCE = 2000, 0.9


def earlier_spread(n: int, target: float, level: float) -> dict[int, float]:
    """Four fifths of the level for the first test, one fifth for the test of all answers."""
    first = guarantee.first_size(n, target, level)
    if n < 3 * first:
        return {first: level} if first <= n else {}
    return {guarantee.first_size(n, target, 0.8 * level): 0.8 * level, n: 0.2 * level}


SPREADS = {"earlier": earlier_spread, "now": guarantee.starting_levels}


def population(name: str):
    """Doubts in order, and which of the answers are right."""
    rng = np.random.default_rng(1)
    if name == "made up":
        error = np.sort(rng.beta(0.6, 1.4, 20_000))
        return error / 1.5, (rng.random(len(error)) >= error).astype(float)
    if name in CURVES:
        doubt = np.linspace(0, 1, 100_000)
        chance = np.interp(doubt, *zip(*CURVES[name], strict=True))
        return doubt, (rng.random(len(doubt)) < chance).astype(float)
    doubt, right = promise.population(name, "subset")
    order = np.argsort(doubt, kind="stable")
    return doubt[order], right[order]


def studies(name: str, n: int, targets, n_studies: int):
    """For each study and target: how many answers are automated, and whether it is not met."""
    doubt, right = population(name)
    accuracy, rng = np.cumsum(right) / np.arange(1, len(right) + 1), np.random.default_rng(n)
    sizes = np.empty((n_studies, len(targets)), dtype=int)
    below = np.empty(sizes.shape, dtype=bool)
    for study in range(n_studies):
        drawn = np.sort(rng.integers(0, len(doubt), n))
        data = doubt[drawn], right[drawn]
        found = [selective_threshold(*data, target, CONFIDENCE) for target in targets]
        sizes[study] = [selection.n_auto for selection in found]
        last = np.searchsorted(doubt, doubt[drawn][sizes[study] - 1], side="right")
        below[study] = (sizes[study] > 0) & (accuracy[last - 1] < targets)
    return sizes, below


def compare(name: str, n: int, n_studies: int = N_STUDIES) -> dict:
    """Automation rate and share of guarantees that are not met, for both spreads and targets."""
    found = {}
    for spread, starts in SPREADS.items():
        guarantee.starting_levels = starts
        sizes, below = studies(name, n, ASKED, n_studies)
        found[spread] = [(sizes.mean(axis=0) / n).tolist(), below.mean(axis=0).tolist()]
    return found


def count_lines(name: str, n: int) -> dict:
    """Of tables of seven targets, the lines that are not met, and tables with any such line."""
    _, below = studies(name, n, TARGETS["subset"], N_STUDIES)
    return {"lines": below.mean(axis=0).tolist(), "any": float(below.any(axis=1).mean())}


def tables() -> dict[str, str]:
    """Both spreads, and how often the guarantees of a table of targets are not met."""
    head = " | ".join(f"{t:g}: earlier | now | not met, earlier | now" for t in ASKED)
    rows = []
    for record in read("spread"):
        shares = [
            f"{100 * record[spread][what][k]:.1f} %"
            for k in range(len(ASKED))
            for what in range(2)
            for spread in SPREADS
        ]
        rows.append([record["name"], str(record["n"]), *shares])
    found = {"spread": marks.table(f"answers | coded | {head}", rows)}
    lines = read("lines")
    rows = [
        [one["name"], str(one["n"]), *(f"{100 * p:.1f} %" for p in (*one["lines"], one["any"]))]
        for one in lines
    ]
    head = " | ".join(f"{target:g}" for target in TARGETS["subset"])
    found["lines"] = marks.table(f"data set | coded answers | {head} | any of them", rows)
    any_line = [100 * one["any"] for one in lines]
    return found | {"any line": f"{min(any_line):.0f} and {max(any_line):.0f} %"}


if __name__ == "__main__":
    KEYS = ("name", "n")
    run_missing("spread", KEYS, product((*CURVES, *DATASETS), SIZES), compare)
    run_missing("lines", KEYS, product((*DATASETS, "made up"), LINE_SIZES), count_lines)
