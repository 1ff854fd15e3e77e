"""The paper's tests: one-sided Wilcoxon signed-rank tests of all pairs of methods."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from nldd.exceptions import InputError
from nldd.statistics._ranks import DECIMALS, complete_values

# Up to here the counts of sign patterns, at most 2**50, are exact in 64-bit integers and floats.
MOST_EXACT = 50

WILCOXON_RULE = (
    f"Wilcoxon signed-rank test on the values: differences are rounded to {DECIMALS} decimals, "
    "zeros are dropped, equal sizes share their mean rank, and p is exact given these ranks (every "
    f"pattern of signs equally likely) for up to {MOST_EXACT} differences, by the normal "
    "approximation with tie correction beyond."
)


def one_sided_wilcoxon(values: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Test for each pair of methods whether the first is better.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out of every comparison.
    greater_is_better : bool

    Returns
    -------
    P : ndarray of shape (n_methods, n_methods)
        ``P[i, j]`` is the p-value of "method i is better than method j"; NaN on the diagonal.

    Notes
    -----
    The rule is :data:`WILCOXON_RULE`. No correction is made for testing many pairs.

    Examples
    --------
    Five data sets, and the first method has the smaller loss on all of them: p = 1/2**5.

    >>> one_sided_wilcoxon([[1, 2], [2, 4], [1, 4], [3, 7], [2, 7]], greater_is_better=False)
    array([[    nan, 0.03125],
           [1.     ,     nan]])
    """
    values = complete_values(values)
    oriented = values if greater_is_better else -values
    n_methods = values.shape[1]
    P = np.full((n_methods, n_methods), np.nan)
    for i, j in permutations(range(n_methods), 2):
        P[i, j] = signed_rank_p_value(oriented[:, i] - oriented[:, j])
    return P


def signed_rank_p_value(differences: Any) -> float:
    """p-value of "the differences lie above zero", by :data:`WILCOXON_RULE`.

    Ranks 1, 2.5, 2.5 with sum 5 above zero: 2 of the 8 patterns of signs reach 5 (5 and 6).
    One difference more has no sign and is dropped.

    >>> signed_rank_p_value([-1, 2, 2]), signed_rank_p_value([-1, 2, 2, 0])
    (0.25, 0.25)
    """
    differences = np.round(np.asarray(differences, dtype=float), DECIMALS)
    differences = differences[differences != 0]
    # Mean ranks are multiples of 1/2, so twice a rank is a whole number.
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)
    observed = int(doubled[differences > 0].sum())
    if len(doubled) <= MOST_EXACT:
        return _exact_p_value(doubled, observed)
    return _normal_p_value(doubled, observed)


def _exact_p_value(weights: NDArray[np.int64], observed: int) -> float:
    """Share of the 2**n sets of weights whose sum is at least `observed`."""
    counts = np.zeros(int(weights.sum()) + 1, dtype=np.int64)
    counts[0] = 1
    for weight in weights.tolist():
        # With this weight in the set or without it: a convolution with two ones.
        counts[weight:] = counts[weight:] + counts[:-weight]
    return float(counts[observed:].sum() / 2.0 ** len(weights))


def _normal_p_value(weights: NDArray[np.int64], observed: int) -> float:
    # Each weight is in the sum with probability 1/2, so its variance is weight**2 / 4, ties or not.
    mean, variance = weights.sum() / 2, (weights**2).sum() / 4
    return float(norm.sf((observed - mean) / np.sqrt(variance)))


def significance(
    values: Any, methods: Sequence[str], greater_is_better: bool, alpha: float = 0.05
) -> dict[str, list[str]]:
    """Who is significantly better than whom: one-sided Wilcoxon tests with p < `alpha`.

    The methods that beat another one, with those that they beat, all in the order of `methods`.

    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> significance(losses, ["NLDD", "BR", "ECC"], greater_is_better=False)
    {'NLDD': ['BR'], 'ECC': ['BR']}
    """
    check_alpha(alpha)
    P = one_sided_wilcoxon(values, greater_is_better)
    if len(methods) != len(P):
        raise InputError(
            f"Each of the {len(P)} columns of values needs a method; got {len(methods)} methods."
        )
    beaten = {
        method: [other for other, p in zip(methods, row, strict=True) if p < alpha]
        for method, row in zip(methods, P, strict=True)
    }
    return {method: others for method, others in beaten.items() if others}


def significance_line(
    values: Any,
    methods: Sequence[str],
    greater_is_better: bool,
    alpha: float = 0.05,
    *,
    first: str = "NLDD",
) -> str:
    """:func:`significance` in the notation of the paper, with the method `first` in front.

    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False)
    'NLDD > {BR}; ECC > {BR}'
    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False, alpha=0.01)
    'no method is significantly better than another'
    """
    beaten = significance(values, methods, greater_is_better, alpha)
    order = sorted(beaten, key=lambda method: method != first)
    lines = [f"{method} > {{{', '.join(beaten[method])}}}" for method in order]
    return "; ".join(lines) or "no method is significantly better than another"


def check_alpha(alpha: float) -> None:
    """Refuse a level that is none."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be a level between 0 and 1, such as 0.05; got {alpha!r}.")
