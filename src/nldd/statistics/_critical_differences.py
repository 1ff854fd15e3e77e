"""Stricter tests: Friedman's first, then all pairs with Holm's correction, drawn as bars.

As recommended by Demsar (2006), Garcia and Herrera (2008) and Benavoli et al. (2016).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f

from nldd.exceptions import InputError
from nldd.statistics._ranks import complete_values, ranks
from nldd.statistics._wilcoxon import check_alpha, one_sided_wilcoxon


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of "all methods are equally good" over data sets.

    `statistic` and `p_value` are chi-square with tie correction and n_methods - 1 degrees of
    freedom, 0 and 1 if all is tied; those of F (Iman and Davenport, 1980) are less conservative,
    and NaN for less than 2 data sets. `n_datasets` counts those with a value of every method.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int
    n_methods: int


def friedman(values: Any, greater_is_better: bool) -> Friedman:
    """Test whether the methods differ at all in their ranks.

    >>> result = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    >>> print(f"{result.statistic:.2f}, p = {result.p_value:.3f}")
    6.50, p = 0.039
    >>> print(f"{result.f_statistic:.2f}, p = {result.f_p_value:.3f}")
    13.00, p = 0.007
    """
    values = complete_values(values)
    n, k = values.shape
    if k < 2:
        raise InputError("Friedman's test compares 2 or more methods; got 1 column of values.")
    R = ranks(values, greater_is_better)
    # Sums of squared halves: exact, so that perfect agreement gives F = infinity and not about it.
    between = float(((R.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    within = float(((R - (k + 1) / 2) ** 2).sum())
    statistic = (k - 1) * between / within if within > 0 else 0.0
    p_value, f_statistic = float(chi2.sf(statistic, k - 1)), _iman_davenport(between, within, n)
    f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1))) if n > 1 else np.nan
    return Friedman(statistic, p_value, f_statistic, f_p_value, n, k)


def _iman_davenport(between: float, within: float, n: int) -> float:
    """F = (n - 1) chi2 / (n (k - 1) - chi2), with chi2 = (k - 1) between / within put in."""
    if n < 2:
        return np.nan
    if within == 0:
        return 0.0
    rest = n * within - between
    return (n - 1) * between / rest if rest > 0 else np.inf


def holm(p_values: Any) -> NDArray[np.float64]:
    """Adjust p-values of several tests by Holm's step-down method.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none may fall below
    the one before it, or exceed 1.

    >>> print(holm([0.01, 0.04, 0.03]))
    [0.03 0.06 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise InputError(f"Holm's method needs a list of p-values from 0 to 1; got {p_values!r}.")
    order = np.argsort(p, kind="stable")
    steps = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1)
    return adjusted


def pairwise_holm(values: Any) -> NDArray[np.float64]:
    """Two-sided Wilcoxon tests of all pairs of methods, adjusted by Holm over all pairs.

    A two-sided p-value is twice the smaller one-sided one, at most 1. The matrix is symmetric, with
    NaN on the diagonal. With n data sets and m pairs no p-value is below m / 2**(n - 1): 7 methods
    need 10 data sets to differ at 0.05 at all, and the paper has 9.

    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> pairwise_holm(losses)
    array([[   nan, 0.1875, 1.    ],
           [0.1875,    nan, 0.1875],
           [1.    , 0.1875,    nan]])
    """
    P = one_sided_wilcoxon(values, greater_is_better=True)
    pairs = np.triu_indices(len(P), 1)
    adjusted = np.full_like(P, np.nan)
    adjusted[pairs] = holm(np.minimum(1, 2 * np.minimum(P, P.T)[pairs]))
    adjusted.T[pairs] = adjusted[pairs]
    return adjusted


def cliques(average_ranks: Any, P_adjusted: Any, alpha: float = 0.05) -> list[tuple[int, ...]]:
    """Group methods that cannot be told apart: the bars of a critical-difference diagram.

    A group is a run of methods, consecutive in average rank, in which no pair differs with
    p < `alpha` in `P_adjusted`, as of :func:`pairwise_holm`, and which cannot be made longer.
    Groups of one are left out. Each lists its methods by their indices, the best first.

    The first differs from the last; the one in the middle differs from none.

    >>> cliques([1.2, 2.8, 2.0], [[1, 0.01, 0.3], [0.01, 1, 0.4], [0.3, 0.4, 1]])
    [(0, 2), (2, 1)]
    """
    check_alpha(alpha)
    averages, P = np.asarray(average_ranks, dtype=float), np.asarray(P_adjusted, dtype=float)
    if averages.ndim != 1 or P.shape != (averages.size, averages.size):
        raise InputError(
            "P must have a row and a column for each average rank; "
            f"got shape {P.shape} for ranks of shape {averages.shape}."
        )
    order = np.argsort(averages, kind="stable")
    differ = np.triu(P[np.ix_(order, order)] < alpha, 1)
    groups: list[tuple[int, ...]] = []
    end = 0
    for start in range(len(order)):
        reached = end
        # A run never ends before the one that begins further left.
        while end < len(order) and not differ[start:end, end].any():
            end += 1
        if end > max(reached, start + 1):
            groups.append(tuple(order[start:end].tolist()))
    return groups
