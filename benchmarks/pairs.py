"""How many validation instances the regression needs: what `max_pairs` may be.

All pairs are found once; then 250, 500, ... instances are drawn eight times each, the weights are
estimated from their pairs alone, and the test part is predicted with them.
"""

import argparse
from dataclasses import replace

import numpy as np
from measure import Answers, load

from nldd.estimators._nldd import NLDDClassifier
from nldd.metrics._measures import evaluate
from nldd.regression._regression import fit_regression
from nldd.search._index import Score

NAMES = ("slashdot", "ohsumed", "bibtex", "tmc2007")
SIZES = (250, 500, 1000, 2000, 4000)
DRAWS = 8
COLUMNS = ("Dx", "Dy", "errors", "instance", "row", "weight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    only = parser.parse_args().only
    answers = Answers("pairs-trial" if only else "pairs")
    for name in only.split(",") if only else NAMES:
        X, Y = load(name)
        order = np.random.RandomState(0).permutation(len(Y))
        train, test = np.split(order, [int(0.75 * len(Y))])
        model = NLDDClassifier(None, max_pairs=None, n_jobs=2, random_state=0).fit(
            X[train], Y[train]
        )
        pairs, b = model.pairs_, model.beta_
        # The probabilities do not depend on the weights, so they are found once.
        P = model.label_probabilities(X[test])
        everything = scores(model.index_, X[test], Y[test], P, b)
        instances = np.unique(pairs.instance)
        for size in SIZES:
            if size >= len(instances):
                continue
            moves, slopes = [], []
            for draw in range(DRAWS):
                drawn = np.random.RandomState(draw).permutation(instances)[:size]
                is_drawn = np.isin(pairs.instance, drawn)
                part = replace(pairs, **{c: getattr(pairs, c)[is_drawn] for c in COLUMNS})
                beta = fit_regression(part, "linear", "independent").beta
                moves.append(np.abs(scores(model.index_, X[test], Y[test], P, beta) - everything))
                slopes.append(beta[1:])
            spread = np.std(slopes, axis=0)
            answers.add(
                f"{name}, {size} of {len(instances)} instances",
                f"{np.mean(moves, axis=0).max():.4f}",
                "",
                f"b1 {b[1]:.4f} +- {spread[0]:.4f}, b2 {b[2]:.3f} +- {spread[1]:.3f}",
            )


def scores(index, X, Y, P, beta):
    """The four measures of the paper, of what the weights predict."""
    near = index.query(X, P, Score(beta[1], beta[2]), n_jobs=2)
    return np.array(list(evaluate(Y, index.labelsets[near.labelset[:, 0]]).values()))


if __name__ == "__main__":
    main()
