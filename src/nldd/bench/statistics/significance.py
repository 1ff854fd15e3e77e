"""Which differences of methods are more than chance.

The paper's tests are one-sided Wilcoxon signed-rank tests of all pairs. Stricter ones: Friedman's
first, then all pairs with Holm's correction, drawn as bars, as recommended by Demsar (2006), Garcia
and Herrera (2008) and Benavoli et al. (2016).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f, norm, rankdata

from nldd.bench.statistics.ranks import DECIMALS, complete_values, ranks
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# Up to here the counts of sign patterns, at most 2**50, are exact in 64-bit integers and floats.
MOST_EXACT = 50

WILCOXON_RULE = (
    f"Wilcoxon signed-rank test on the values: differences are rounded to {DECIMALS} decimals, "
    "zeros are dropped, equal sizes share their mean rank, and p is exact given these ranks (every "
    f"pattern of signs equally likely) for up to {MOST_EXACT} differences, by the normal "
    "approximation with tie correction beyond."
)
"""The rule of the Wilcoxon tests of this package, in words, for the notes of a table.

>>> from nldd.bench.statistics.significance import WILCOXON_RULE
>>> print(WILCOXON_RULE[:68])
Wilcoxon signed-rank test on the values: differences are rounded to
"""


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

    >>> from nldd.bench.statistics.significance import one_sided_wilcoxon
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
    """One-sided p-value of "the differences lie above zero", by :data:`WILCOXON_RULE`.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Value of one method minus that of another on each data set.

    Returns
    -------
    float
        1 where no difference is left.

    Examples
    --------
    Ranks 1, 2.5, 2.5 with sum 5 above zero: 2 of the 8 patterns of signs reach 5 (5 and 6).
    One difference more has no sign and is dropped.

    >>> from nldd.bench.statistics.significance import signed_rank_p_value
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
    # Each rank is in the sum with probability 1/2, so its variance is rank**2 / 4, ties or not.
    mean, variance = doubled.sum() / 2, (doubled**2).sum() / 4
    return float(norm.sf((observed - mean) / np.sqrt(variance)))


def _exact_p_value(weights: NDArray[np.int64], observed: int) -> float:
    """Share of the 2**n sets of weights whose sum is at least `observed`."""
    counts = np.zeros(int(weights.sum()) + 1, dtype=np.int64)
    counts[0] = 1
    for weight in weights.tolist():
        # With this weight in the set or without it: a convolution with two ones.
        counts[weight:] = counts[weight:] + counts[:-weight]
    return float(counts[observed:].sum() / 2.0 ** len(weights))


def least_p(n_datasets: int, sided: int = 1, n_tests: int = 1) -> float:
    """The smallest p-value that a Wilcoxon test over so many data sets can give.

    Parameters
    ----------
    n_datasets : int
    sided : {1, 2}, default=1
    n_tests : int, default=1
        Pairs of methods that Holm's correction allows for.

    Returns
    -------
    float

    Notes
    -----
    One method is better on all of them, which is one pattern of signs out of 2**n: a one-sided p
    is never below 1/2**n, a two-sided one never below 2/2**n, and Holm's correction over `n_tests`
    pairs multiplies the smallest by their number.

    Examples
    --------
    >>> from nldd.bench.statistics.significance import least_p
    >>> least_p(4), least_p(4, sided=2), least_p(9, sided=2, n_tests=21)
    (0.0625, 0.125, 0.08203125)
    """
    if n_datasets < 0 or sided not in (1, 2) or n_tests < 1:
        raise InputError(
            "The least p-value needs a number of data sets from 0 on, 1 or 2 sides and one test "
            f"or more; got {n_datasets!r}, {sided!r} and {n_tests!r}."
        )
    return min(1.0, n_tests * sided / 2.0**n_datasets)


def about_least_p(n_datasets: int, alpha: float = 0.05, sided: int = 1, n_tests: int = 1) -> str:
    """A sentence for a report where no difference can be significant; empty where one can.

    Parameters
    ----------
    n_datasets : int
    alpha : float, default=0.05
        Level of significance.
    sided, n_tests : int, default=1
        As in :func:`least_p`.

    Returns
    -------
    str

    Examples
    --------
    >>> from nldd.bench.statistics.significance import about_least_p
    >>> print(about_least_p(4))
    With 4 data sets no p-value can fall below 0.0625, so no difference can be significant at 0.05.
    >>> about_least_p(5)
    ''
    """
    check_alpha(alpha)
    least = least_p(n_datasets, sided, n_tests)
    if least < alpha:
        return ""
    corrected = f", corrected for {n_tests} tests," if n_tests > 1 else ""
    return (
        f"With {count_noun(n_datasets, 'data set')} no p-value{corrected} can fall below "
        f"{least:.4g}, so no difference can be significant at {alpha:g}."
    )


def significance(
    values: Any, methods: Sequence[str], greater_is_better: bool, alpha: float = 0.05
) -> dict[str, list[str]]:
    """Who is significantly better than whom: one-sided Wilcoxon tests with p < `alpha`.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    methods : sequence of str
        Names of the columns.
    greater_is_better : bool
    alpha : float, default=0.05

    Returns
    -------
    dict of list of str
        The methods that beat another one, with those that they beat, all in the order of `methods`.

    See Also
    --------
    one_sided_wilcoxon : The p-values themselves.

    Examples
    --------
    >>> from nldd.bench.statistics.significance import significance
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
    beats = zip(methods, np.less(P, alpha).tolist(), strict=True)
    return {method: list(compress(methods, row)) for method, row in beats if any(row)}


def significance_line(
    values: Any,
    methods: Sequence[str],
    greater_is_better: bool,
    alpha: float = 0.05,
    *,
    first: str = "NLDD",
) -> str:
    """:func:`significance` in the notation of the paper, with the method `first` in front.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    methods : sequence of str
        Names of the columns.
    greater_is_better : bool
    alpha : float, default=0.05
    first : str, default="NLDD"

    Returns
    -------
    str

    Examples
    --------
    >>> from nldd.bench.statistics.significance import significance_line
    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False)
    'NLDD > {BR}; ECC > {BR}'

    Where none is, and none could be, it says so:

    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False, alpha=0.01)
    'no method is significantly better than another; with 5 data sets no p can fall below 0.03125'
    """
    beaten = significance(values, methods, greater_is_better, alpha)
    order = sorted(beaten, key=lambda method: method != first)
    lines = [f"{method} > {{{', '.join(beaten[method])}}}" for method in order]
    if lines:
        return "; ".join(lines)
    n_datasets = len(complete_values(values))
    least = least_p(n_datasets)
    reason = f"; with {count_noun(n_datasets, 'data set')} no p can fall below {least:.4g}"
    return f"no method is significantly better than another{reason if least >= alpha else ''}"


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of "all methods are equally good" over data sets.

    Attributes
    ----------
    statistic, p_value : float
        Chi-square with tie correction and n_methods - 1 degrees of freedom; 0 and 1 if all is tied.
    f_statistic, f_p_value : float
        Those of F (Iman and Davenport, 1980), which are less conservative; NaN for less than 2 data
        sets.
    n_datasets : int
        Data sets with a value of every method.
    n_methods : int

    Examples
    --------
    >>> from nldd.bench.statistics.significance import friedman
    >>> test = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3]], greater_is_better=False)
    >>> test.n_datasets, test.n_methods, round(test.statistic, 3)
    (3, 3, 4.667)
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int
    n_methods: int

    @property
    def kendall_w(self) -> float:
        """Kendall's coefficient of concordance, the effect size of this test.

        W = chi-square / (n_datasets (n_methods - 1)), with the same tie correction: 0 where the
        data sets do not agree on an order of the methods at all, 1 where they agree on every place.
        """
        largest = self.n_datasets * (self.n_methods - 1)
        return self.statistic / largest if largest else float("nan")


def friedman(values: Any, greater_is_better: bool) -> Friedman:
    """Test whether the methods differ at all in their ranks.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    greater_is_better : bool

    Returns
    -------
    Friedman
        Statistics and p-values, and Kendall's W as the size of the effect.

    Notes
    -----
    With n data sets, k methods and r_ij the rank of method j on data set i, mean ranks for ties::

        chi2 = (k - 1) sum_j (sum_i r_ij - n (k + 1) / 2)^2 / sum_ij (r_ij - (k + 1) / 2)^2
        F    = (n - 1) chi2 / (n (k - 1) - chi2)

    Examples
    --------
    >>> from nldd.bench.statistics.significance import friedman
    >>> result = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    >>> print(f"{result.statistic:.2f}, p = {result.p_value:.3f}")
    6.50, p = 0.039
    >>> print(f"{result.f_statistic:.2f}, p = {result.f_p_value:.3f}")
    13.00, p = 0.007
    >>> result.kendall_w
    0.8125
    """
    values = complete_values(values)
    n, k = values.shape
    if k < 2:
        raise InputError("Friedman's test compares 2 or more methods; got 1 column of values.")
    R = ranks(values, greater_is_better)
    # Sums of squared halves: exact, so that perfect agreement gives F = infinity and not about it.
    between = float(((R.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    within = float(((R - (k + 1) / 2) ** 2).sum())
    statistic = f_statistic = 0.0
    if within > 0:
        statistic = (k - 1) * between / within
        # F = (n - 1) chi2 / (n (k - 1) - chi2), with chi2 = (k - 1) between / within put in.
        rest = n * within - between
        f_statistic = (n - 1) * between / rest if rest > 0 else np.inf
    if n < 2:
        f_statistic = np.nan
    f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return Friedman(statistic, float(chi2.sf(statistic, k - 1)), f_statistic, f_p_value, n, k)


def holm(p_values: Any) -> NDArray[np.float64]:
    """Adjust p-values of several tests by Holm's step-down method.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none may fall below
    the one before it, or exceed 1.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        In the order of `p_values`.

    Examples
    --------
    >>> from nldd.bench.statistics.significance import holm
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

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric, with NaN on the diagonal.

    Notes
    -----
    A two-sided p-value is twice the smaller one-sided one, at most 1. With n data sets and m pairs
    no p-value is below m / 2**(n - 1): 7 methods need 10 data sets to differ at 0.05 at all, and
    the paper has 9.

    Examples
    --------
    >>> from nldd.bench.statistics.significance import pairwise_holm
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

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
    P_adjusted : array-like of shape (n_methods, n_methods)
        p-values of all pairs, as of :func:`pairwise_holm`.
    alpha : float, default=0.05

    Returns
    -------
    list of tuple of int
        The groups, each with its methods by their indices, the best first. A group is a run of
        methods, consecutive in average rank, in which no pair differs with p < `alpha`, and which
        cannot be made longer. Groups of one are left out.

    See Also
    --------
    nldd.bench.CriticalDifferenceDisplay : Draws them.

    Examples
    --------
    The first differs from the last; the one in the middle differs from none.

    >>> from nldd.bench.statistics.significance import cliques
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


def check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be a level between 0 and 1, such as 0.05; got {alpha!r}.")
