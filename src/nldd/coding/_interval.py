"""An interval for the accuracy of some answers."""

from typing import Any

import numpy as np
from scipy.stats import t

from nldd.coding._selective import lower_bound, price_of_shares

LEVEL = 0.95
FEW = 30


def accuracy_interval(right: Any, level: float = LEVEL) -> tuple[float, float]:
    """Interval for the mean of answers that are right or wrong, or right by a share.

    Clopper and Pearson's exact interval for the former; Student's for shares, whose labels are not
    independent within an answer, so that the answer is the unit. Of few or equal shares Student's
    would claim too much: there the exact interval is taken, which holds for shares at the price of
    a factor e (Bentkus' inequality).

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
    factor = price_of_shares(right)
    if factor == 1 or n < FEW or np.ptp(right) == 0:
        low = lower_bound(total, n, 1 - tail, factor)
        return low, 1 - lower_bound(n - total, n, 1 - tail, factor)
    half = float(t.isf(tail, n - 1) * right.std(ddof=1) / np.sqrt(n))
    return max(0.0, total / n - half), min(1.0, total / n + half)
