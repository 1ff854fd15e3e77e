"""What vectors gain in the fit of logistic regressions, over the same passes in plain numba.

Dense rows go through neither: they are multiplied by BLAS. Plain passes are tried in the widths of
the vectors, and in wider ones, which suit them better; the faster one counts. CPU time, one thread,
the least of the repeats, which take turns.
"""

import argparse
import time
from collections.abc import Callable

import plain_kernels
from measure import NAMES, Answers, load
from scipy.sparse import issparse

from nldd.linear import MultiLabelLogisticRegression, _passes

PLAIN = plain_kernels.sparse_slopes, plain_kernels.sparse_curvatures
WAYS = {
    "vectors": (_passes.sparse_slopes, _passes.sparse_curvatures, _passes.SparsePasses.widths),
    "plain": (*PLAIN, _passes.SparsePasses.widths),
    "plain, wider": (*PLAIN, (32, 32)),
}


def cpu_seconds(run: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def fit_in(way: str, X: object, Y: object) -> None:
    """Fit by the kernels of one of the ways."""
    _passes.sparse_slopes, _passes.sparse_curvatures, _passes.SparsePasses.widths = WAYS[way]
    MultiLabelLogisticRegression().fit(X, Y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    answers = Answers("lanes")
    for name in NAMES:
        X, Y = load(name)
        if not issparse(X):
            continue
        for way in WAYS:
            fit_in(way, X, Y)  # compiled
        rounds = [
            {way: cpu_seconds(lambda: fit_in(way, X, Y)) for way in WAYS} for _ in range(repeats)
        ]
        least = {way: min(taken[way] for taken in rounds) for way in WAYS}
        gain = min(least["plain"], least["plain, wider"]) / least["vectors"]
        answers.add(f"plain numba / vectors, fit of {name}", f"{gain:.2f}", ">= 1.3")


if __name__ == "__main__":
    main()
