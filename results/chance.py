"""What is the chance of being right as a whole worth, against theta, for ranking answers?

Whole data sets, each row predicted without its fold. ``python results/chance.py`` runs the seeds
that are missing in ``results/promise/chance.jsonl``, one line each, and writes the table of
``docs/promise.md``.
"""

import json
from pathlib import Path
from warnings import simplefilter

import marks
import numpy as np
from sklearn.metrics import roc_auc_score

from nldd.bench.datasets.load import load_dataset
from nldd.coding.cross_validation import cross_validate
from nldd.coding.selective import selective_threshold
from nldd.estimators._nldd import NLDDClassifier

RECORDS = Path(__file__).parent / "promise" / "chance.jsonl"
PAGE = marks.DOCS / "promise.md"
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
    X, Y, _ = load_dataset(name)
    Y, target = np.asarray(Y, dtype=np.int8), TARGETS[name]
    found = cross_validate(
        NLDDClassifier(None, random_state=seed).fit(X, Y), X, Y, random_state=seed
    ).evidence
    right, record = found.right(Y), {"dataset": name, "seed": seed}
    for ranking in RANKINGS:
        doubt = found.doubt(ranking)
        values = roc_auc_score(right, -doubt), empirical_share(doubt, right, target)
        proven = selective_threshold(doubt, right, target).share
        record[ranking] = dict(zip(KEYS, map(float, (*values, proven)), strict=True))
    return record


def read() -> list[dict]:
    """The seeds that are there."""
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    return [json.loads(line) for line in lines]


def table(records: list[dict]) -> str:
    """Means over the seeds, in Markdown."""
    lines = [
        "| data set | AUC by theta | by chance | target | share by theta | by chance "
        "| proven by theta | by chance |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, target in TARGETS.items():
        here = [record for record in records if record["dataset"] == name]
        auc, share, proven = (
            [float(np.mean([record[ranking][key] for record in here])) for ranking in RANKINGS]
            for key in KEYS
        )
        cells = [f"{value:.3f}" for value in auc] + [f"{target:g}"]
        cells += [f"{100 * value:.1f} %" for value in (*share, *proven)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and write the table."""
    simplefilter("ignore")
    done = {(record["dataset"], record["seed"]) for record in read()}
    for name, seeds in SEEDS.items():
        for seed in seeds:
            if (name, seed) not in done:
                with RECORDS.open("a") as stream:
                    stream.write(json.dumps(run_seed(name, seed)) + "\n")
        print(name, flush=True)
    marks.fill(PAGE, {"chance": table(read())})


if __name__ == "__main__":
    main()
