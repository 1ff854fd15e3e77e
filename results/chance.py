"""What is the chance of being right as a whole worth, against theta, for ranking answers?

Whole data sets, each row predicted without its fold. ``python results/chance.py`` runs the seeds
that are missing.
"""

import marks
import numpy as np
from record_files import load, read, run_missing
from sklearn.metrics import roc_auc_score

from nldd.coding.cross_validation import cross_validate
from nldd.coding.guarantee import selective_threshold
from nldd.estimators._nldd import NLDDClassifier

PAGES = ("promise",)
SEEDS = {name: range(20, 30) for name in ("medical", "slashdot", "yeast")}
SEEDS["enron"] = range(20, 25)
TARGETS = {"medical": 0.9, "slashdot": 0.9, "yeast": 0.9, "enron": 0.8}
RANKINGS = ("theta", "chance")
KEYS = ("auc", "share", "proven")


def empirical_share(doubt, right, target: float) -> float:
    """The largest share of the surest rows of which so many are right: no promise."""
    order = np.argsort(doubt, kind="stable")
    accuracy = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(accuracy >= target)
    return float((enough[-1] + 1) / len(order)) if len(enough) else 0.0


def run_seed(name: str, seed: int) -> dict:
    """Both rankings of a data set."""
    (X, Y, _), target = load(name), TARGETS[name]
    model = NLDDClassifier(None, decision="subset", random_state=seed).fit(X, Y)
    found = cross_validate(model, X, Y, random_state=seed).evidence
    right, record = found.right(Y), {}
    for ranking in RANKINGS:
        doubt = found.doubt(ranking)
        values = roc_auc_score(right, -doubt), empirical_share(doubt, right, target)
        proven = selective_threshold(doubt, right, target).share
        record[ranking] = dict(zip(KEYS, map(float, (*values, proven)), strict=True))
    return record


def tables() -> dict[str, str]:
    """Means over the seeds, in Markdown."""
    rows, records = [], read("chance")
    for name, target in TARGETS.items():
        here = [record for record in records if record["dataset"] == name]
        auc, share, proven = (
            [float(np.mean([record[ranking][key] for record in here])) for ranking in RANKINGS]
            for key in KEYS
        )
        cells = [f"{value:.3f}" for value in auc] + [f"{target:g}"]
        rows.append([name, *cells, *(f"{100 * value:.1f} %" for value in (*share, *proven))])
    head = "data set | AUC by theta | by chance | target | share by theta | by chance "
    return {"chance": marks.table(head + "| proven by theta | by chance", rows)}


if __name__ == "__main__":
    every = [(name, seed) for name, seeds in SEEDS.items() for seed in seeds]
    run_missing("chance", ("dataset", "seed"), every, run_seed)
