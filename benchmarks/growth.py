"""How time grows with the number of training rows; ``page.py`` makes a picture of it.

Synthetic data, 100 features, 20 labels, 10,000 to 320,000 rows. `fit` is what NLDD adds to its
classifiers: pairs, regression, index. A query is one row searched for, its probabilities given.
"""

import argparse
from statistics import median

import numpy as np
from measure import Answers, exponent, seconds
from synthetic import make

from nldd._base import Training, random_halves, random_part
from nldd.estimators._nearest import find_pairs
from nldd.estimators._nldd import NLDDClassifier
from nldd.regression._regression import fit_regression
from nldd.search._distances import feature_scale
from nldd.search._index import LabelsetIndex, Score

SIZES = [10_000, 20_000, 40_000, 80_000, 160_000, 320_000]
QUERIES = 1000
REPEATS = 3


def beyond_classifiers(X, Y, probabilities):
    """All of NLDD's `fit` but the classifiers, whose probabilities are given."""
    rng = np.random.RandomState(0)
    T = Training(X, Y, None, np.arange(len(Y)))
    first, second = random_halves(len(T), rng)
    second = second[random_part(len(second), 2000, rng)]
    scale = T.scale("numeric")
    P = probabilities(T[second].X)
    fit_regression(find_pairs(T[first], T[second], P, scale, n_jobs=2))
    return T.index(scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many of the sizes")
    sizes = SIZES[: parser.parse_args().sizes]
    answers = Answers("growth" if sizes == SIZES else "growth-trial")
    model = NLDDClassifier(None, n_jobs=2, random_state=0).fit(*make(10_000))
    X_new, _ = make(QUERIES, seed=1)
    P, score = model.label_probabilities(X_new), Score(*model.beta_[1:])
    fits, queries = [], []
    for size in sizes:
        X, Y = make(size, seed=2)
        fits.append(
            median(
                seconds(lambda: beyond_classifiers(X, Y, model.label_probabilities))
                for _ in range(REPEATS)
            )
        )
        index = LabelsetIndex(X, Y, feature_scale(X))
        index.query(X_new, P, score)
        queries.append(
            median(seconds(lambda: index.query(X_new, P, score)) for _ in range(REPEATS)) / QUERIES
        )
        share = index.query(X_new, P, score).evaluated.mean() / size
        answers.add(
            f"{size:,} rows, {len(index.counts):,} labelsets",
            f"{fits[-1]:.2f} s",
            "",
            f"fit beyond classifiers; {1e6 * queries[-1]:.0f} us a query, "
            f"{100 * share:.2f} % of rows evaluated",
        )
    answers.add("growth of fit beyond the classifiers", f"N^{exponent(sizes, fits):.2f}", "<= 1.1")
    answers.add("growth of time per query", f"N^{exponent(sizes, queries):.2f}", "<= 0.6")


if __name__ == "__main__":
    main()
