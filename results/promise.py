"""Does the promise of a target accuracy hold on real data?

Splits: one half of the rows is what people have coded, and its out-of-fold predictions give the
threshold; the other half is new. The accuracy on the new half is not the true one but a sample of
it: even where the true accuracy is at the target, the sample is below it half of the time.

Draws: theta and rightness of all rows (out of fold) are taken as the population. Samples of half
the size, drawn with replacement, give thresholds whose true accuracy is known exactly. Halves drawn
without replacement show how often the other half is below the target by the drawing alone: what
the splits would give if they had nothing but that.

``python results/promise.py medical`` runs the splits that are missing, appends one line a split to
``results/promise/DATASET.jsonl``, and keeps the population in ``DATASET.npz``; without names it
prints the table of all that is there.
"""

import json
import re
import sys
from pathlib import Path
from warnings import simplefilter

import numpy as np

from nldd import NLDDClassifier, load_dataset
from nldd.coding import out_of_fold, selective_threshold
from nldd.coding._evidence import predict
from nldd.coding._selective import proven_size

FOLDER = Path(__file__).parent / "promise"
PAGE = Path(__file__).parents[1] / "docs" / "coding.md"
NAMES = ("medical", "enron", "slashdot", "yeast")
N_SPLITS = 100
N_DRAWS = 1000
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
    if not (FOLDER / f"{name}.npz").exists():
        all_rows = out_of_fold(NLDDClassifier(random_state=0), X, Y)
        right = {measure: all_rows.right(Y, measure) for measure in TARGETS}
        np.savez_compressed(FOLDER / f"{name}.npz", theta=all_rows.theta, **right)
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


def draws(name: str, measure: str, target: float) -> tuple[float, float]:
    """How often the true accuracy, and that of the other half, is below the target."""
    rng = np.random.default_rng(0)
    with np.load(FOLDER / f"{name}.npz") as pool:
        theta, right = pool["theta"], pool[measure]
    half = len(theta) // 2
    true = below = 0
    for _ in range(N_DRAWS):
        drawn = rng.integers(0, len(theta), half)
        true += _is_below(theta[drawn], right[drawn], theta, right, target)
        order = rng.permutation(len(theta))
        coded, new = order[:half], order[half:]
        below += _is_below(theta[coded], right[coded], theta[new], right[new], target)
    return true / N_DRAWS, below / N_DRAWS


def _is_below(theta, right, new_theta, new_right, target: float) -> bool:
    order = np.argsort(theta, kind="stable")
    size = proven_size(theta[order], right[order], target, CONFIDENCE)
    if not size:
        return False
    auto = new_theta <= theta[order][size - 1]
    return bool(auto.any() and new_right[auto].mean() < target)


def rows(name: str) -> list[dict]:
    """For each promise: how often one was made, how much was coded, how often it was broken."""
    records = read(name)
    found = []
    for place in range(sum(map(len, TARGETS.values())) if records else 0):
        promises = [record["promises"][place] for record in records]
        made = [promise for promise in promises if promise["n_auto"]]
        accuracy = [promise["right"] / promise["n_auto"] for promise in made]
        measure, target = promises[0]["measure"], promises[0]["target"]
        true, halves = draws(name, measure, target) if made else (0.0, 0.0)
        found.append(
            {
                "dataset": name,
                "measure": measure,
                "target": target,
                "splits": len(promises),
                "made": len(made),
                "share": float(np.mean([one["n_auto"] / one["n_new"] for one in promises])),
                "accuracy": float(np.mean(accuracy)) if made else None,
                "below": int(sum(a < target for a in accuracy)),
                "below_by_drawing": halves,
                "truly_below": true,
            }
        )
    return found


def table() -> str:
    """All of it in Markdown."""
    lines = [
        "| data set | right by | target | promise made | coded automatically | right, new half "
        "| new half below target | the same by drawing alone | true accuracy below target |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in NAMES:
        for row in rows(name):
            accuracy = "" if row["accuracy"] is None else f"{row['accuracy']:.3f}"
            lines.append(
                f"| {name} | {row['measure']} | {row['target']:g} | "
                f"{row['made']} of {row['splits']} | {100 * row['share']:.1f} % | {accuracy} | "
                f"{100 * row['below'] / row['splits']:.0f} % | "
                f"{100 * row['below_by_drawing']:.1f} % | {100 * row['truly_below']:.1f} % |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and print the table."""
    simplefilter("ignore")
    for name in sys.argv[1:]:
        run(name)
    text = table()
    print(text)
    page = PAGE.read_text()
    page = re.sub(r"(<!-- promise -->\n).*?(<!-- end -->)", rf"\1{text}\2", page, flags=re.DOTALL)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
