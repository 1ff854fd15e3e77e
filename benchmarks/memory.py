"""Memory beyond the data: an index of 200,000 dense rows of 100 features, 20,000 queries.

The most that the process has had (from the kernel, so BLAS and compiled code count), minus what it
had with the data and all modules loaded. The classifiers' probabilities are part of the data.
"""

import resource

import numpy as np
from measure import Answers
from synthetic import make

from nldd.search._distances import feature_scale
from nldd.search._index import IN_FEATURES, LabelsetIndex, Score


def megabytes() -> float:
    """Most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def main() -> None:
    answers = Answers("memory")
    small = LabelsetIndex(*make(1000), np.ones(100))
    small.query(make(10)[0], np.full((10, 20), 0.5), Score(1.0, 1.0))  # loads all modules
    X, Y = make(200_000)
    X_new, near = make(20_000, seed=1)
    P = np.clip(near + np.random.default_rng(0).normal(0, 0.2, near.shape), 0, 1)
    X *= 1.0  # both are in memory now, and nothing else of their size is
    before = megabytes()
    index = LabelsetIndex(X, Y, feature_scale(X))
    index.query(X_new, P, Score(0.07, 1.2), n_jobs=2)
    answers.add("index and 20,000 queries, beyond the data", f"{megabytes() - before:.0f} MB",
                "<= 500 MB", f"the data are {(X.nbytes + Y.nbytes) / 2**20:.0f} MB")  # fmt: skip
    index.query(X_new[:2000], P[:2000], IN_FEATURES, n_jobs=2)
    answers.add("with the search for pairs of `fit`", f"{megabytes() - before:.0f} MB")


if __name__ == "__main__":
    main()
