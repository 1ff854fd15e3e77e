"""Comparisons of methods over data sets: Wilcoxon signed-rank tests of all pairs.

A statement about all pairs at once needs two-sided tests with Holm's correction, as recommended by
Demsar (2006), Garcia and Herrera (2008) and Benavoli et al. (2016). The paper's tests are one-sided
and not corrected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from nldd.bench.ranks import (
    DECIMALS,
    Friedman,
    average_ranks,
    check_alpha,
    cliques,
    complete_values,
    friedman,
    nemenyi,
)
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

>>> from nldd.bench.statistics import WILCOXON_RULE
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

    >>> from nldd.bench.statistics import one_sided_wilcoxon
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

    >>> from nldd.bench.statistics import signed_rank_p_value
    >>> signed_rank_p_value([-1, 2, 2]), signed_rank_p_value([-1, 2, 2, 0])
    (0.25, 0.25)
    """
    differences = np.round(np.asarray(differences, dtype=float), DECIMALS)
    differences = differences[differences != 0]
    # Mean ranks are multiples of 1/2, so twice a rank is a whole number.
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)
    observed = int(doubled[differences > 0].sum())
    if len(doubled) <= MOST_EXACT:
        return _exact_wilcoxon(doubled, observed)
    # Each rank is in the sum with probability 1/2, so its variance is rank**2 / 4, ties or not.
    mean, variance = doubled.sum() / 2, (doubled**2).sum() / 4
    return float(norm.sf((observed - mean) / np.sqrt(variance)))


def _exact_wilcoxon(weights: NDArray[np.int64], observed: int) -> float:
    """Share of the 2**n sets of weights whose sum is at least `observed`."""
    counts = np.zeros(int(weights.sum()) + 1, dtype=np.int64)
    counts[0] = 1
    for weight in weights.tolist():
        # With this weight in the set or without it: a convolution with two ones.
        counts[weight:] = counts[weight:] + counts[:-weight]
    return float(counts[observed:].sum() / 2.0 ** len(weights))


def two_sided(P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided p-values of all pairs from one-sided ones: twice the smaller one, at most 1."""
    return np.minimum(1, 2 * np.minimum(P, P.T))


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
    >>> from nldd.bench.statistics import holm
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
    >>> from nldd.bench.statistics import pairwise_holm
    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> pairwise_holm(losses)
    array([[   nan, 0.1875, 1.    ],
           [0.1875,    nan, 0.1875],
           [1.    , 0.1875,    nan]])
    """
    P = one_sided_wilcoxon(values, greater_is_better=True)
    pairs = np.triu_indices(len(P), 1)
    adjusted = np.full_like(P, np.nan)
    adjusted[pairs] = holm(two_sided(P)[pairs])
    adjusted.T[pairs] = adjusted[pairs]
    return adjusted


def rank_biserial(differences: Any) -> float:
    """Matched-pairs rank-biserial correlation: the effect size of a Wilcoxon signed-rank test.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Value of one method minus that of another on each data set.

    Returns
    -------
    float
        1 if all differences lie above zero, -1 if all lie below, and 0 if there is none.

    Notes
    -----
    Ranks of the sizes of the differences, zeros left out: (sum of those above zero - sum of those
    below zero) / sum of all (Kerby, 2014).

    Examples
    --------
    Ranks 1, 2 and 3; the first belongs to a difference below zero: (5 - 1) / 6.

    >>> from nldd.bench.statistics import rank_biserial
    >>> print(f"{rank_biserial([-0.1, 0.2, 0.3, 0.0]):.3f}")
    0.667
    """
    rounded = np.round(np.asarray(differences, dtype=float), DECIMALS)
    rounded = rounded[rounded != 0]
    sizes = rankdata(np.abs(rounded))
    return float((np.sign(rounded) * sizes).sum() / sizes.sum()) if len(sizes) else 0.0


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
    >>> from nldd.bench.statistics import least_p
    >>> least_p(4), least_p(4, sided=2), least_p(9, sided=2, n_tests=21)
    (0.0625, 0.125, 0.08203125)
    """
    if n_datasets < 0 or sided not in (1, 2) or n_tests < 1:
        raise InputError(
            "The least p-value needs a number of data sets from 0 on, 1 or 2 sides and one test "
            f"or more; got {n_datasets!r}, {sided!r} and {n_tests!r}."
        )
    return min(1.0, n_tests * sided / 2.0**n_datasets)


def significance(
    values: Any, methods: Sequence[str], greater_is_better: bool, alpha: float = 0.05
) -> dict[str, list[str]]:
    """Who is better than whom by one-sided Wilcoxon tests with p < `alpha`, as in the paper.

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
    compare : With Holm's correction for the number of pairs.

    Examples
    --------
    >>> from nldd.bench.statistics import significance
    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> significance(losses, ["NLDD", "BR", "ECC"], greater_is_better=False)
    {'NLDD': ['BR'], 'ECC': ['BR']}
    """
    check_alpha(alpha)
    P = one_sided_wilcoxon(values, greater_is_better)
    _check_names(methods, P)
    return _winners((methods[i], methods[j]) for i, j in np.argwhere(alpha > P).tolist())


def _check_names(methods: Sequence[str], columns: Any) -> None:
    if len(methods) != len(columns):
        raise InputError(
            f"Each of the {len(columns)} columns of values needs a method; got {len(methods)} "
            "methods."
        )


def _winners(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The first of each pair, with all second ones."""
    beaten: dict[str, list[str]] = {}
    for winner, loser in pairs:
        beaten.setdefault(winner, []).append(loser)
    return beaten


def significance_line(
    values: Any, methods: Sequence[str], greater_is_better: bool, alpha: float = 0.05
) -> str:
    """:func:`significance` in the notation of the paper, with NLDD in front.

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
    str

    Examples
    --------
    >>> from nldd.bench.statistics import significance_line
    >>> losses = [[1, 2, 1], [2, 4, 3], [1, 4, 1], [3, 7, 2], [2, 7, 3]]
    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False)
    'NLDD > {BR}; ECC > {BR}'

    Where none is, and none could be, it says so:

    >>> significance_line(losses, ["ECC", "BR", "NLDD"], greater_is_better=False, alpha=0.01)
    'no method is significantly better than another; with 5 data sets no p can fall below 0.03125'
    """
    beaten = significance(values, methods, greater_is_better, alpha)
    return _line(beaten, "NLDD", explain_least_p(len(complete_values(values)), alpha))


def _line(beaten: dict[str, list[str]], first: str, reason: str) -> str:
    order = sorted(beaten, key=lambda method: method != first)
    lines = [f"{method} > {{{', '.join(beaten[method])}}}" for method in order]
    nobody = ["no method is significantly better than another", *filter(None, [reason])]
    return "; ".join(lines or nobody)


def explain_least_p(n_datasets: int, alpha: float = 0.05, sided: int = 1, n_tests: int = 1) -> str:
    """Why no difference can be significant with so few data sets; empty if one can.

    >>> explain_least_p(9, sided=2, n_tests=21)
    'with 9 data sets and 21 pairs no p can fall below 0.08203'
    """
    least = least_p(n_datasets, sided, n_tests)
    if least < alpha:
        return ""
    pairs = f" and {n_tests} pairs" if n_tests > 1 else ""
    return f"with {count_noun(n_datasets, 'data set')}{pairs} no p can fall below {least:.4g}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two methods on one measure; above zero always speaks for the first.

    Attributes
    ----------
    first, second : str
    gain : float
        Mean over the data sets of first minus second, or of second minus first if lower is better.
    wins, ties, losses : int
        Data sets on which the first is better, equal or worse.
    rank_biserial : float
        The effect size, from -1 to 1; see :func:`rank_biserial`.
    p_value, holm_p_value : float
        Two-sided Wilcoxon signed-rank test, alone and corrected over all pairs.
    nemenyi_p_value : float

    Examples
    --------
    >>> from nldd.bench import compare
    >>> losses = [[0.19, 0.23], [0.05, 0.08], [0.11, 0.12], [0.27, 0.33], [0.02, 0.04]]
    >>> (pair,) = compare(losses, ["NLDD", "BR"], greater_is_better=False).pairs
    >>> pair.first, pair.second, pair.wins, pair.rank_biserial, round(pair.gain, 3)
    ('NLDD', 'BR', 5, 1.0, 0.032)
    """

    first: str
    second: str
    gain: float
    wins: int
    ties: int
    losses: int
    rank_biserial: float
    p_value: float
    holm_p_value: float
    nemenyi_p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What can be said about methods on one measure over data sets.

    With less than two methods, or data sets with a value of each, there is nothing to compare:
    `friedman` is None, `pairs` and `groups` are empty and the critical difference is NaN.

    Attributes
    ----------
    methods : tuple of str
    average_ranks : tuple of float
        NaN without a complete data set.
    n_datasets : int
        Data sets with a value of every method; the others are left out.
    friedman : Friedman or None
        Its `kendall_w` is the effect size.
    critical_difference : float
        Nemenyi's, at `alpha`.
    pairs : tuple of Pair
        In the order of `methods`: the first with all others, the second with those after it, ...
    groups : tuple of tuple of int
        Methods that do not differ by Holm's tests, as positions: the bars of a diagram.
    alpha : float

    Examples
    --------
    >>> from nldd.bench import compare
    >>> losses = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2]]
    >>> comparison = compare(losses, ["NLDD", "ECC", "BR"], greater_is_better=False)
    >>> comparison.average_ranks[0], len(comparison.pairs), comparison.n_datasets
    (1.0, 3, 3)
    """

    methods: tuple[str, ...]
    average_ranks: tuple[float, ...]
    n_datasets: int
    friedman: Friedman | None
    critical_difference: float
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[int, ...], ...]
    alpha: float

    @property
    def how(self) -> str:
        """How :meth:`statement` and `groups` are tested, in words."""
        n = len(self.pairs)
        correction = f", Holm's correction for all {n} pairs" if n > 1 else ""
        return f"two-sided Wilcoxon tests at {self.alpha:g}{correction}"

    def least_p(self) -> str:
        """Why no pair can differ at all, in words; empty if one can."""
        return explain_least_p(self.n_datasets, self.alpha, sided=2, n_tests=len(self.pairs))

    def statement(self, first: str = "NLDD") -> str:
        """Who is better than whom by two-sided tests with Holm's correction over all pairs.

        Parameters
        ----------
        first : str, default="NLDD"
            The method that comes first if it beats another.

        Returns
        -------
        str
            In the notation of :func:`significance_line`.
        """
        found = [
            (pair.first, pair.second) if pair.rank_biserial > 0 else (pair.second, pair.first)
            for pair in self.pairs
            if pair.holm_p_value < self.alpha
        ]
        order = self.methods.index
        found.sort(key=lambda names: (order(names[0]), order(names[1])))
        return _line(_winners(found), first, self.least_p())


def compare(
    values: Any, methods: Sequence[str], greater_is_better: bool, *, alpha: float = 0.05
) -> Comparison:
    """Compare methods on one measure by all the tests of this package.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out of everything.
    methods : sequence of str
    greater_is_better : bool
    alpha : float, default=0.05
        Level of the critical difference, and of what counts as significant.

    Returns
    -------
    Comparison
        Average ranks, Friedman's test, the critical difference, and a :class:`Pair` for each two.

    Examples
    --------
    >>> from nldd.bench import compare
    >>> losses = [[.19, .23], [.05, .08], [.11, .12], [.27, .33], [.02, .04], [.3, .31]]
    >>> comparison = compare(losses, ["NLDD", "BR"], greater_is_better=False)
    >>> pair, = comparison.pairs
    >>> pair.wins, pair.ties, pair.losses, pair.rank_biserial, pair.p_value
    (6, 0, 0, 1.0, 0.03125)
    >>> comparison.statement()
    'NLDD > {BR}'
    """
    check_alpha(alpha)
    averages = average_ranks(values, greater_is_better)
    _check_names(methods, averages)
    complete, names = complete_values(values), tuple(map(str, methods))
    n, k = complete.shape
    facts = names, tuple(averages.tolist()), n
    if n < 2 or k < 2:
        return Comparison(*facts, None, float("nan"), (), (), alpha)
    ranked, P_holm = nemenyi(complete, greater_is_better, alpha), pairwise_holm(complete)
    oriented = complete if greater_is_better else -complete
    P = two_sided(one_sided_wilcoxon(oriented, greater_is_better=True))
    pairs = []
    for i, j in combinations(range(k), 2):
        d = np.round(oriented[:, i] - oriented[:, j], DECIMALS)
        wins, ties, losses = (int(count.sum()) for count in (d > 0, d == 0, d < 0))
        counts = float(d.mean()), wins, ties, losses, rank_biserial(d)
        p, p_holm, p_nemenyi = (float(each[i, j]) for each in (P, P_holm, ranked.p_values))
        pairs.append(Pair(names[i], names[j], *counts, p, p_holm, p_nemenyi))
    test, groups = friedman(complete, greater_is_better), cliques(averages, P_holm, alpha)
    return Comparison(*facts, test, ranked.critical_difference, tuple(pairs), tuple(groups), alpha)
