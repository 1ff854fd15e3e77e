"""How many validation instances the regression needs: what `max_pairs` may be.

All pairs are found once; then 250, 500, ... instances are drawn eight times each, the weights are
estimated from their pairs alone, and the test part is predicted with them.
"""

from dataclasses import replace

import numpy as np
from measure import Answers, load

from nldd import NLDDClassifier
from nldd.metrics import evaluate
from nldd.regression import fit_regression

SIZES = (250, 500, 1000, 2000, 4000)
DRAWS = 8
COLUMNS = ("Dx", "Dy", "errors", "instance", "row", "weight")


def main() -> None:
    answers = Answers("pairs")
    for name in ("slashdot", "ohsumed", "bibtex", "tmc2007"):
        X, Y = load(name)
        order = np.random.RandomState(0).permutation(len(Y))
        train, test = np.split(order, [int(0.75 * len(Y))])
        model = NLDDClassifier(max_pairs=None, n_jobs=2, random_state=0).fit(X[train], Y[train])
        pairs, b = model.pairs_, model.beta_
        everything = scores(model, X[test], Y[test])
        instances = np.unique(pairs.instance)
        for size in SIZES:
            if size >= len(instances):
                continue
            moves, slopes = [], []
            for draw in range(DRAWS):
                drawn = np.random.RandomState(draw).permutation(instances)[:size]
                kept = np.isin(pairs.instance, drawn)
                part = replace(pairs, **{c: getattr(pairs, c)[kept] for c in COLUMNS})
                model.regression_ = fit_regression(part, "linear", "independent")
                model.beta_ = model.regression_.beta
                moves.append(np.abs(scores(model, X[test], Y[test]) - everything))
                slopes.append(model.beta_[1:])
            spread = np.std(slopes, axis=0)
            answers.add(
                f"{name}, {size} of {len(instances)} instances",
                f"{np.mean(moves, axis=0).max():.4f}",
                "",
                f"b1 {b[1]:.4f} +- {spread[0]:.4f}, b2 {b[2]:.3f} +- {spread[1]:.3f}",
            )


def scores(model, X, Y):
    """The four measures of the paper."""
    return np.array(list(evaluate(Y, model.predict(X)).values()))


if __name__ == "__main__":
    main()
