"""Seconds by number of rows, features, labels and labelsets, for the page on scaling."""

import numpy as np
from growth import beyond_classifiers
from measure import Answers, seconds
from synthetic import make

from nldd.search._index import Score

# rows, features, labels
SIZES = [
    (50_000, 100, 20),
    (200_000, 100, 20),
    (50_000, 400, 20),
    (50_000, 100, 80),
    (200_000, 20, 20),
]
QUERIES = 2000


def main() -> None:
    answers = Answers("scaling")
    for n_rows, n_features, n_labels in SIZES:
        X, Y = make(n_rows, n_features, n_labels)
        X_new, near = make(QUERIES, n_features, n_labels, seed=1)
        rng = np.random.default_rng(0)
        P = np.clip(near + rng.normal(0, 0.2, near.shape), 0, 1)
        indexes = []
        taken = seconds(
            lambda: indexes.append(beyond_classifiers(X, Y, lambda part: P[: len(part)]))
        )
        (index,) = indexes
        query = seconds(lambda: index.query(X_new, P, Score(0.07, 1.2), n_jobs=2)) / QUERIES
        answers.add(
            f"N = {n_rows:,}, d = {n_features}, L = {n_labels}, U = {len(index.counts):,}",
            f"{taken:.1f} s",
            "",
            f"{1e6 * query:.0f} us a query",
        )


if __name__ == "__main__":
    main()
