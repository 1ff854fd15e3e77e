"""Does the promise of a target accuracy hold on real data?

Splits: a half, or a fifth, of the rows is what people have coded, and its out-of-fold predictions
give the threshold; the rest is new. The accuracy on the rest is not the true one but a sample of
it: even where the true accuracy is at the target, the sample is below it half of the time. Four
fifths are a larger sample than a half, and so nearer to the truth.

Answers are ranked by their chance of being right as a whole, and by theta where labels count one by
one.

Draws: doubt and rightness of all rows (out of fold) are taken as the population. Samples of the
same size, drawn with replacement, give thresholds whose true accuracy is known exactly. Parts drawn
without replacement show how often the rest is below the target by the drawing alone: what the
splits would give if they had nothing but that.

``python results/promise.py half medical`` runs the splits that are missing, appends one line a
split to ``results/promise/half/medical.jsonl``, and keeps the population in ``medical.npz``;
without names it writes the tables of all that is there to ``docs/promise.md``.
"""

import json
import sys
from pathlib import Path
from warnings import simplefilter

import marks
import numpy as np

from nldd.bench.datasets.load import load_dataset
from nldd.coding.cross_validation import cross_validate
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.selective import level_correction, tested_size
from nldd.estimators._nldd import NLDDClassifier

FOLDER = Path(__file__).parent / "promise"
PAGE = marks.DOCS / "promise.md"
NAMES = ("medical", "enron", "slashdot", "yeast")
SHARES = {"half": 1 / 2, "fifth": 1 / 5}
N_SPLITS = 100
N_DRAWS = 1000
TARGETS = {"subset": (0.5, 0.7, 0.8, 0.9, 0.95), "hamming": (0.8, 0.9, 0.95, 0.98)}
CONFIDENCE = 0.9


def run_split(X, Y, n_coded: int, split: int) -> dict:
    """Thresholds from some of the rows, and what became of them on the others."""
    order = np.random.default_rng(split).permutation(len(Y))
    train, test = order[:n_coded], order[n_coded:]
    model = NLDDClassifier(None, random_state=split).fit(X[train], Y[train])
    known = cross_validate(model, X[train], Y[train], random_state=split)
    new = known.predict(model, X[test])
    promises = []
    for measure, targets in TARGETS.items():
        came = new.right(Y[test], measure)
        for target in targets:
            found = known.test(Y[train]).select(GuaranteeTarget(target, CONFIDENCE, measure))
            auto = new.doubt(found.rank_by) <= (-1 if found.limit is None else found.limit)
            promises.append(
                {
                    "measure": measure,
                    "target": target,
                    "rank_by": found.rank_by,
                    "n_coded": len(train),
                    "n_new": len(test),
                    "share_coded": found.share,
                    "n_auto": int(auto.sum()),
                    "right": float(came[auto].sum()),
                    "variance": float(came[auto].var()) if auto.any() else 0.0,
                }
            )
    return {"split": split, "promises": promises}


def place(share: str, name: str) -> Path:
    """The file with the splits of a data set."""
    return FOLDER / share / f"{name}.jsonl"


def run(share: str, name: str) -> None:
    """All splits of a data set that are not there yet."""
    path = place(share, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {record["split"] for record in read(share, name)}
    X, Y, _ = load_dataset(name)
    Y = np.asarray(Y, dtype=np.int8)
    if not (FOLDER / f"{name}.npz").exists():
        known = cross_validate(NLDDClassifier(None, random_state=0).fit(X, Y), X, Y)
        found = {measure: known.evidence.right(Y, measure) for measure in TARGETS}
        for measure in TARGETS:
            ranked = known.test(Y).select(GuaranteeTarget(0.9, CONFIDENCE, measure)).rank_by
            found[f"doubt_{measure}"] = known.evidence.doubt(ranked)
        np.savez_compressed(FOLDER / f"{name}.npz", **found)
    for split in range(N_SPLITS):
        if split in done:
            continue
        record = run_split(X, Y, int(len(Y) * SHARES[share]), split)
        with path.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
        print(name, split, flush=True)


def read(share: str, name: str) -> list[dict]:
    """The splits of a data set that are there."""
    path = place(share, name)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def draws(name: str, n_coded: int, measure: str, target: float) -> tuple[float, float]:
    """How often the true accuracy, and that of the rows not drawn, is below the target."""
    rng = np.random.default_rng(0)
    with np.load(FOLDER / f"{name}.npz") as pool:
        doubt, right = pool[f"doubt_{measure}"], pool[measure]
    true = below = 0
    for _ in range(N_DRAWS):
        drawn = rng.integers(0, len(doubt), n_coded)
        true += _is_below(doubt[drawn], right[drawn], doubt, right, target)
        order = rng.permutation(len(doubt))
        coded, new = order[:n_coded], order[n_coded:]
        below += _is_below(doubt[coded], right[coded], doubt[new], right[new], target)
    return true / N_DRAWS, below / N_DRAWS


def _is_below(doubt, right, new_doubt, new_right, target: float) -> bool:
    order = np.argsort(doubt, kind="stable")
    level = (1 - CONFIDENCE) / level_correction(right)
    size = tested_size(doubt[order], right[order], target, level)[0]
    if not size:
        return False
    auto = new_doubt <= doubt[order][size - 1]
    return bool(auto.any() and new_right[auto].mean() < target)


def rows(share: str, name: str) -> list[dict]:
    """For each promise: how often one was made, how much was coded, how often it was broken."""
    records = read(share, name)
    found = []
    for position in range(sum(map(len, TARGETS.values())) if records else 0):
        promises = [record["promises"][position] for record in records]
        made = [promise for promise in promises if promise["n_auto"]]
        accuracy = [promise["right"] / promise["n_auto"] for promise in made]
        measure, target = promises[0]["measure"], promises[0]["target"]
        true, rest = (0.0, 0.0)
        if made:
            true, rest = draws(name, promises[0]["n_coded"], measure, target)
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
                "below_by_drawing": rest,
                "truly_below": true,
            }
        )
    return found


def table(share: str) -> str:
    """All of it in Markdown."""
    lines = [
        "| data set | right by | target | promise made | coded automatically | right, new "
        "| new below target | the same by drawing alone | true accuracy below target |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    every = [row for name in NAMES for row in rows(share, name)]
    for row in every:
        accuracy = "" if row["accuracy"] is None else f"{row['accuracy']:.3f}"
        lines.append(
            f"| {row['dataset']} | {row['measure']} | {row['target']:g} | "
            f"{row['made']} of {row['splits']} | {100 * row['share']:.1f} % | {accuracy} | "
            f"{100 * row['below'] / row['splits']:.0f} % | "
            f"{100 * row['below_by_drawing']:.1f} % | {100 * row['truly_below']:.1f} % |"
        )
    made, below = (sum(row[key] for row in every) for key in ("made", "below"))
    lines += ["", f"In all {made:,} promises, {below} of them ({below / made:.1%}) below target."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and write the tables."""
    simplefilter("ignore")
    share, names = (sys.argv[1], sys.argv[2:]) if sys.argv[1:] else ("half", [])
    for name in names:
        run(share, name)
    marks.fill(PAGE, {share: table(share) for share in SHARES})


if __name__ == "__main__":
    main()
