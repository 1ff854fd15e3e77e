"""Cross-validation of several methods on the same folds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from nldd.metrics import PAPER_MEASURES, Measure, evaluate


@dataclass(frozen=True)
class FittedFold:
    """One method on one fold: the scores, the times, and the fitted model for a closer look."""

    method: str
    fold: int
    scores: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    model: Any = field(repr=False)
    test_rows: Any = field(repr=False)


def cross_validate(
    methods: Mapping[str, Any],
    X: Any,
    Y: Any,
    *,
    n_folds: int = 10,
    random_state: int = 0,
    measures: Iterable[Measure] = PAPER_MEASURES,
) -> Iterator[FittedFold]:
    """Fit and score every method on every fold, handing over each cell as it is done.

    The folds are a random partition, the same for all methods.
    """
    measures = tuple(measures)
    folds = KFold(n_folds, shuffle=True, random_state=random_state).split(X)
    for fold, (train, test) in enumerate(folds):
        for name, method in methods.items():
            start = perf_counter()
            model = clone(method).fit(X[train], Y[train])
            fitted = perf_counter()
            Y_pred = model.predict(X[test])
            predicted = perf_counter()
            scores = evaluate(Y[test], Y_pred, measures)
            yield FittedFold(name, fold, scores, fitted - start, predicted - fitted, model, test)


def mean_scores(cells: Iterable[FittedFold], method: str) -> dict[str, float]:
    """Mean of each measure over the folds of `method`."""
    rows = [cell.scores for cell in cells if cell.method == method]
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
