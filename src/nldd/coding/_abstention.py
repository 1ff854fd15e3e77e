"""Why an answer is left to people: it is unlike all others, or no known labelset fits it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.coding._evidence import Predictions

FAR = "far from all coded answers"
NO_FIT = "no known combination of codes fits well enough"
UNSURE = "not sure enough for the target"
BOTH = "far from all coded answers, and no known combination of codes fits well enough"
# From this part of the excess on, one distance alone is named.
MOST = 0.75


@dataclass(frozen=True)
class Usual:
    """What both distances usually add to the log-odds of an error, for answers that are sure.

    Attributes
    ----------
    x_part, y_part : float
        Medians.
    """

    x_part: float
    y_part: float


def usual(evidence: Predictions, threshold: float | None) -> Usual:
    """Medians over the answers that the threshold lets through, or over the surer half."""
    limit = float(np.median(evidence.theta)) if threshold is None else threshold
    sure = evidence.theta <= limit
    sure = sure if sure.any() else np.ones(len(evidence), dtype=bool)
    return Usual(float(np.median(evidence.x_part[sure])), float(np.median(evidence.y_part[sure])))


def reasons(found: Predictions, usual: Usual) -> list[str]:
    """The reason to abstain from each prediction: which distance exceeds the usual one.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> found = Predictions(ones, ones, ones, ones, ones, np.array([5, 1, 4]), np.array([1, 5, 4]))
    >>> for reason in reasons(found, Usual(1, 1)):
    ...     print(reason)
    far from all coded answers
    no known combination of codes fits well enough
    far from all coded answers, and no known combination of codes fits well enough
    """
    x = np.maximum(found.x_part - usual.x_part, 0.0)
    y = np.maximum(found.y_part - usual.y_part, 0.0)
    return [_reason(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _reason(x: float, y: float) -> str:
    if x + y == 0:
        return UNSURE
    if x >= MOST * (x + y):
        return FAR
    return NO_FIT if y >= MOST * (x + y) else BOTH


def abstained(theta: NDArray[np.float64], threshold: float | None) -> NDArray[np.bool_]:
    """Which answers go to people: those above the threshold, or all without one."""
    if threshold is None:
        return np.ones(len(theta), dtype=bool)
    # So that a threshold that is not a number lets nothing through.
    return np.asarray(~(theta <= threshold))
