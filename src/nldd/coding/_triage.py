"""The triage table: how much is coded automatically at which theta, and how well."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.coding._model import CodingModel
from nldd.coding._selective import Selection, accuracy_interval


@dataclass(frozen=True)
class TriageRow:
    """Answers up to a theta coded by machine, and `combined` with those that people code."""

    threshold: float
    n_auto: int
    share: float
    accuracy: float
    low: float
    high: float
    combined: float
    chosen: bool = False


@dataclass(frozen=True)
class Triage:
    """The table, from the surest tenth to all answers, and the threshold that holds a target."""

    rows: tuple[TriageRow, ...]
    selection: Selection
    measure: str
    human_accuracy: float


def triage(
    model: CodingModel,
    target: float = 0.9,
    confidence: float = 0.9,
    measure: str = "subset",
    human_accuracy: float = 1.0,
) -> Triage:
    """The triage table of a model, from its out-of-fold predictions."""
    right = model.evidence.right(model.Y, measure)
    selection = model.select(target, confidence, measure)
    rows = triage_rows(model.evidence.theta, right, human_accuracy, selection.threshold)
    return Triage(rows, selection, measure, human_accuracy)


def triage_rows(
    theta: NDArray[np.float64],
    right: NDArray[np.float64],
    human_accuracy: float = 1.0,
    chosen: float | None = None,
) -> tuple[TriageRow, ...]:
    """A line for each tenth of the answers, and one for the chosen threshold."""
    order = np.argsort(theta, kind="stable")
    theta, right = theta[order], right[order]
    n = len(theta)
    thresholds = {float(theta[int(np.ceil(share * n)) - 1]) for share in np.arange(1, 11) / 10}
    if chosen is not None and chosen >= theta[0]:
        thresholds.add(chosen)
    rows = []
    for threshold in sorted(thresholds):
        k = int(np.searchsorted(theta, threshold, side="right"))
        total, interval = float(right[:k].sum()), accuracy_interval(right[:k])
        combined = (total + (n - k) * human_accuracy) / n
        values = (threshold, k, k / n, total / k, *interval, combined, threshold == chosen)
        rows.append(TriageRow(*values))
    return tuple(rows)
