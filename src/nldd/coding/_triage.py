"""The triage table: how much is coded automatically at which theta, and how well."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, t

from nldd.coding._model import CodingModel
from nldd.coding._selective import Selection

SHARES = tuple(k / 10 for k in range(1, 11))
LEVEL = 0.95


@dataclass(frozen=True)
class TriageRow:
    """One line of the table: all answers up to a theta are coded by the machine.

    Attributes
    ----------
    threshold : float
        The largest theta that is let through.
    n_auto : int
    share : float
        Of all answers: the production rate.
    accuracy : float
        Of the automatic codes, by cross-validation.
    low, high : float
        95 % interval of that accuracy.
    combined : float
        Accuracy of all codes if people code the rest.
    chosen : bool
        Whether it is the line that holds the target.
    """

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
    """The table and the threshold that holds a target accuracy.

    Attributes
    ----------
    rows : tuple of TriageRow
        From the surest tenth of the answers to all of them, and the chosen line among them.
    selection : Selection
    measure : "subset" or "hamming"
        Whether an answer counts as right as a whole, or each of its labels by itself.
    human_accuracy : float
        Accuracy of the codes that people give to the rest.
    """

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
    """A line for each tenth of the answers, and one for the chosen threshold.

    Examples
    --------
    >>> rows = triage_rows(np.array([0.1, 0.2, 0.2, 0.4]), np.array([1.0, 1.0, 0.0, 0.0]))
    >>> [(row.threshold, row.n_auto, round(row.accuracy, 2)) for row in rows]
    [(0.1, 1, 1.0), (0.2, 3, 0.67), (0.4, 4, 0.5)]
    """
    order = np.argsort(theta, kind="stable")
    theta, right = theta[order], right[order]
    n = len(theta)
    thresholds = {float(theta[int(np.ceil(share * n)) - 1]) for share in SHARES}
    if chosen is not None and chosen >= theta[0]:
        thresholds.add(chosen)
    rows = []
    for threshold in sorted(thresholds):
        k = int(np.searchsorted(theta, threshold, side="right"))
        low, high = accuracy_interval(right[:k])
        total = float(right[:k].sum())
        combined = (total + (n - k) * human_accuracy) / n
        rows.append(
            TriageRow(threshold, k, k / n, total / k, low, high, combined, threshold == chosen)
        )
    return tuple(rows)


def accuracy_interval(right: Any, level: float = LEVEL) -> tuple[float, float]:
    """Interval for the mean of answers that are right or wrong, or right by a share.

    Clopper and Pearson's exact interval for the former; Student's for shares, whose labels are not
    independent within an answer, so that the answer is the unit.

    Examples
    --------
    >>> low, high = accuracy_interval([1] * 95 + [0] * 5)
    >>> round(low, 3), round(high, 3)
    (0.887, 0.984)
    """
    right = np.asarray(right, dtype=float)
    n, total, tail = len(right), float(right.sum()), (1 - level) / 2
    if n == 0:
        return 0.0, 1.0
    if ((right == 0) | (right == 1)).all():
        k = round(total)
        low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
        high = float(beta.isf(tail, k + 1, n - k)) if k < n else 1.0
        return low, high
    if n == 1:
        return 0.0, 1.0
    half = float(t.isf(tail, n - 1) * right.std(ddof=1) / np.sqrt(n))
    return max(0.0, total / n - half), min(1.0, total / n + half)
