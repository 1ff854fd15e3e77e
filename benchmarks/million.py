"""One million rows of 100 features and 50 labels, 10,000 queries: time and memory of it all."""

import argparse
import resource
import time

from measure import Answers
from synthetic import make

from nldd.estimators._nldd import NLDDClassifier


def gigabytes() -> float:
    """Most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    answers = Answers("million" if n_rows == 1_000_000 else "million-trial")
    X, Y = make(n_rows, n_labels=50)
    X_new, _ = make(10_000, n_labels=50, seed=1)
    data = gigabytes()
    start = time.perf_counter()
    model = NLDDClassifier(n_jobs=2, random_state=0).fit(X, Y)
    fitted = time.perf_counter()
    model.predict(X_new)
    end = time.perf_counter()
    rows = f"{n_rows:,} rows"
    answers.add(f"{rows}, fit and 10,000 queries", f"{(end - start) / 60:.1f} min", "<= 5 min")
    answers.add(f"{rows}, the queries of these", f"{end - fitted:.1f} s")
    answers.add(f"{rows}, peak memory, data included", f"{gigabytes():.1f} GB", "<= 6 GB",
                f"{data:.1f} GB before the fit; {len(model.labelsets_):,} labelsets")  # fmt: skip


if __name__ == "__main__":
    main()
