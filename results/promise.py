"""Does the promise of a target accuracy hold on real data? A hundred random splits a data set.

One half of the rows is what people have coded: its out-of-fold predictions give the threshold. The
other half is new. ``python results/promise.py medical`` runs the splits that are missing and
appends one line a split to ``results/promise/DATASET.jsonl``; without names it prints the table.
"""

import json
import sys
from pathlib import Path
from warnings import simplefilter

import numpy as np

from nldd import NLDDClassifier, load_dataset
from nldd.coding import out_of_fold, selective_threshold
from nldd.coding._evidence import predict

FOLDER = Path(__file__).parent / "promise"
NAMES = ("medical", "enron", "slashdot", "yeast")
N_SPLITS = 100
TARGETS = {"subset": (0.5, 0.7, 0.8, 0.9, 0.95), "hamming": (0.8, 0.9, 0.95, 0.98)}
CONFIDENCE = 0.9


def run_split(X, Y, split: int) -> dict:
    """Thresholds from one half of the rows, and what became of them on the other half."""
    order = np.random.default_rng(split).permutation(len(Y))
    train, test = order[: len(Y) // 2], order[len(Y) // 2 :]
    estimator = NLDDClassifier(random_state=split)
    known = out_of_fold(estimator, X[train], Y[train], random_state=split)
    new = predict(estimator.fit(X[train], Y[train]), X[test])
    promises = []
    for measure, targets in TARGETS.items():
        right, came = known.right(Y[train], measure), new.right(Y[test], measure)
        for target in targets:
            found = selective_threshold(known.theta, right, target, CONFIDENCE)
            auto = new.theta <= (-1 if found.threshold is None else found.threshold)
            promises.append(
                {
                    "measure": measure,
                    "target": target,
                    "n_coded": len(train),
                    "n_new": len(test),
                    "share_coded": found.share,
                    "n_auto": int(auto.sum()),
                    "right": float(came[auto].sum()),
                    "variance": float(came[auto].var()) if auto.any() else 0.0,
                }
            )
    return {"split": split, "promises": promises}


def run(name: str) -> None:
    """All splits of a data set that are not there yet."""
    path = FOLDER / f"{name}.jsonl"
    FOLDER.mkdir(exist_ok=True)
    done = {record["split"] for record in read(name)}
    X, Y, _ = load_dataset(name)
    Y = np.asarray(Y, dtype=np.int8)
    for split in range(N_SPLITS):
        if split in done:
            continue
        record = run_split(X, Y, split)
        with path.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
        print(name, split, flush=True)


def read(name: str) -> list[dict]:
    """The splits of a data set that are there."""
    path = FOLDER / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows(name: str) -> list[tuple]:
    """For each promise: how often one was made, how much was coded, how often it was broken."""
    records = read(name)
    found = []
    for place in range(sum(map(len, TARGETS.values())) if records else 0):
        promises = [record["promises"][place] for record in records]
        made = [promise for promise in promises if promise["n_auto"]]
        accuracy = [promise["right"] / promise["n_auto"] for promise in made]
        first = promises[0]
        below = [a < first["target"] for a in accuracy]
        found.append(
            (
                name,
                first["measure"],
                first["target"],
                len(made),
                len(promises),
                np.mean([promise["n_auto"] / promise["n_new"] for promise in promises]),
                np.mean(accuracy) if made else np.nan,
                sum(below),
            )
        )
    return found


def main() -> None:
    """Run what is missing, and print the table."""
    simplefilter("ignore")
    for name in sys.argv[1:]:
        run(name)
    for name in NAMES:
        for dataset, measure, target, made, splits, share, accuracy, below in rows(name):
            print(
                f"{dataset:<9} {measure:<8} {target:.2f}  made {made:3} of {splits:3}  "
                f"share {share:.3f}  accuracy {accuracy:.3f}  below {below}"
            )


if __name__ == "__main__":
    main()
