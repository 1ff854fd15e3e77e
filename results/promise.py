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

``python results/promise.py`` runs the splits that are missing, and then the draws.
"""

from functools import cache
from itertools import product

import marks
import numpy as np
from record_files import load, read, run_missing

from nldd.coding.cross_validation import cross_validate
from nldd.coding.guarantee import GuaranteeTarget, level_correction, tested_size
from nldd.estimators._nldd import NLDDClassifier

PAGES = ("promise",)
NAMES = ("medical", "enron", "slashdot", "yeast")
SHARES = {"half": 1 / 2, "fifth": 1 / 5}
N_SPLITS = 100
N_DRAWS = 1000
TARGETS = {"subset": (0.5, 0.7, 0.8, 0.9, 0.95), "hamming": (0.8, 0.9, 0.95, 0.98)}
CONFIDENCE = 0.9
DRAWN = ("share", "dataset", "measure", "target")


def run_split(share: str, name: str, split: int) -> dict:
    """Thresholds from some of the rows, and what became of them on the others."""
    X, Y, _ = load(name)
    order, n_coded = np.random.default_rng(split).permutation(len(Y)), int(len(Y) * SHARES[share])
    train, test = order[:n_coded], order[n_coded:]
    model = NLDDClassifier(None, decision="subset", random_state=split).fit(X[train], Y[train])
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
    return {"promises": promises}


@cache
def population(name: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """Doubt and rightness of all rows of a data set, predicted out of fold."""
    X, Y, _ = load(name)
    model = NLDDClassifier(None, decision="subset", random_state=0).fit(X, Y)
    known = cross_validate(model, X, Y)
    ranked = known.test(Y).select(GuaranteeTarget(0.9, CONFIDENCE, measure)).rank_by
    return known.evidence.doubt(ranked), known.evidence.right(Y, measure)


def run_draws(share: str, name: str, measure: str, target: float) -> dict:
    """How often the true accuracy, and that of the rows not drawn, is below the target."""
    rng, (doubt, right) = np.random.default_rng(0), population(name, measure)
    n_coded, true, below = int(len(doubt) * SHARES[share]), 0, 0
    for _ in range(N_DRAWS):
        drawn = rng.integers(0, len(doubt), n_coded)
        true += _is_below(doubt[drawn], right[drawn], doubt, right, target)
        order = rng.permutation(len(doubt))
        coded, new = order[:n_coded], order[n_coded:]
        below += _is_below(doubt[coded], right[coded], doubt[new], right[new], target)
    return {"below": below / N_DRAWS, "true": true / N_DRAWS}


def _is_below(doubt, right, new_doubt, new_right, target: float) -> bool:
    order = np.argsort(doubt, kind="stable")
    level = (1 - CONFIDENCE) / level_correction(right)
    size = tested_size(doubt[order], right[order], target, level)[0]
    if not size:
        return False
    auto = new_doubt <= doubt[order][size - 1]
    return bool(auto.any() and new_right[auto].mean() < target)


def tables() -> dict[str, str]:
    """For each promise: how often one was made, how much was coded, how often it was broken."""
    splits: dict[tuple, list[dict]] = {}
    for record in read("promise"):
        for one in record["promises"]:
            key = record["share"], record["dataset"], one["measure"], one["target"]
            splits.setdefault(key, []).append(one)
    head = "data set | right by | target | promise made | coded automatically | right, new "
    head += "| new below target | the same by drawing alone | true accuracy below target"
    rows: dict[str, list] = {share: [] for share in SHARES}
    counts = {share: np.zeros(2, dtype=int) for share in SHARES}
    for draws in read("promise-draws"):
        share, name, measure, target = (draws[key] for key in DRAWN)
        every = splits[share, name, measure, target]
        accuracy = [one["right"] / one["n_auto"] for one in every if one["n_auto"]]
        below = sum(value < target for value in accuracy)
        counts[share] += len(accuracy), below
        coded = np.mean([one["n_auto"] / one["n_new"] for one in every])
        cells = [name, measure, f"{target:g}", f"{len(accuracy)} of {len(every)}"]
        cells += [f"{100 * coded:.1f} %", f"{np.mean(accuracy):.3f}" if accuracy else ""]
        cells += [f"{100 * below / len(every):.0f} %"]
        cells += [f"{100 * draws[key]:.1f} %" for key in ("below", "true")]
        rows[share].append(cells)
    found = {}
    for share, (made, below) in counts.items():
        told = f"In all {made:,} promises, {below} of them ({below / made:.1%}) below target."
        found[share] = f"{marks.table(head, rows[share])}\n\n{told}"
    made, below = sum(counts.values())
    found |= {"promises made": f"{made:,}", "promises below": f"{below}"}
    return found | {"promises below in 100": f"{100 * below / made:.1f} %"}


if __name__ == "__main__":
    every = product(SHARES, NAMES, range(N_SPLITS))
    run_missing("promise", ("share", "dataset", "split"), every, run_split)
    asked = [(measure, target) for measure, targets in TARGETS.items() for target in targets]
    every = ((share, name, *one) for share, name, one in product(SHARES, NAMES, asked))
    run_missing("promise-draws", DRAWN, every, run_draws)
