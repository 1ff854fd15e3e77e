"""What decisions by the posterior cost: fit and predict, over those of the decision "nearest".

Processor time of one thread on 75/25 splits. The four decisions share one fit. All is run once
before, so that nothing is compiled; then medians of ratios, the runs taking turns.
"""

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from measure import read_options, split
from threadpoolctl import threadpool_limits

from nldd.estimators._nldd import NLDDClassifier

DECISIONS = ("subset", "hamming", "jaccard", "f1")
DEAREST = "tmc2007"


def cpu_seconds(run: Callable[[], Any]) -> float:
    """Processor time of one call."""
    start = process_time()
    run()
    return process_time() - start


def measure(data: tuple[Any, Any, Any]) -> dict[str, float]:
    """Seconds of fit and prediction by each decision."""
    X, Y, X_new = data
    nearest, posterior = (
        NLDDClassifier(decision=each, random_state=0) for each in ("nearest", "subset")
    )
    found = {"nearest": cpu_seconds(lambda: nearest.fit(X, Y).predict(X_new))}
    fit = cpu_seconds(lambda: posterior.fit(X, Y))
    for decision in DECISIONS:
        posterior.set_params(decision=decision)
        found[decision] = fit + cpu_seconds(lambda: posterior.predict(X_new))
    return found


def bar(name: str, decision: str) -> str:
    """What was wanted."""
    most = 1.5 if decision == "subset" else 4 if name == DEAREST else 3
    return f"<= {most:g}x"


def main() -> None:
    answers, names, repeats = read_options("decisions", __doc__, 3)
    with threadpool_limits(1):
        for name in names:
            data = split(name)
            _, *taken = (measure(data) for _ in range(1 + repeats))
            for decision in DECISIONS:
                ratio = median(one[decision] / one["nearest"] for one in taken)
                of_nearest = f"nearest {median(one['nearest'] for one in taken):.2f} s"
                answers.add(f"{decision}, {name}", f"{ratio:.2f}x", bar(name, decision), of_nearest)


if __name__ == "__main__":
    main()
