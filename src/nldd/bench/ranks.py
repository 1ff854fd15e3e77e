"""Ranks of methods on data sets: who is best where and on average, and tests of these ranks."""

from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f, rankdata, studentized_range

from nldd.exceptions import InputError

# Values come from sums over rows and folds: what differs beyond this is rounding, not a result.
DECIMALS = 10
# Below so many data sets the chi-square distribution is too far from that of Friedman's statistic.
FEW = 6
# As far as arrangements of ranks are counted: those of six methods on five data sets, in a second.
MOST_ARRANGEMENTS = 3_000_000


def ranks(values: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Rank the methods on each data set; rank 1 is the best.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure. NaN where a method has no value on a data set: it gets the rank NaN, and the
        others of the row are ranked as if that method did not exist.
    greater_is_better : bool

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        Values that are equal after rounding to 10 decimals share the mean of their ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.ranks import ranks
    >>> ranks([[0.2, 0.1, 0.2], [0.3, np.nan, 0.4]], greater_is_better=False)
    array([[2.5, 1. , 2.5],
           [1. , nan, 2. ]])
    """
    values = read_values(values)
    oriented = -values if greater_is_better else values
    rounded = np.round(oriented, DECIMALS)
    return np.asarray(rankdata(rounded, axis=1, nan_policy="omit"), dtype=float)


def average_ranks(values: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Mean rank of each method over the data sets on which every method has a value.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    greater_is_better : bool

    Returns
    -------
    ndarray of shape (n_methods,)
        1 is the best; NaN for every method where no data set is left.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.ranks import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.5, 0.6, 0.4], [0.1, np.nan, 0.2]], True)
    array([1.5, 1.5, 3. ])
    """
    values = complete_values(values)
    if not len(values):
        return np.full(values.shape[1], np.nan)
    return np.asarray(ranks(values, greater_is_better).mean(axis=0))


def complete_rows(values: Any) -> NDArray[np.bool_]:
    """Which rows (data sets) have a value of every method.

    All comparisons leave the other rows out; who reports a comparison says which these are.

    >>> complete_rows([[0.2, 0.1], [0.3, np.nan]])
    array([ True, False])
    """
    return np.asarray(~np.isnan(read_values(values)).any(axis=1))


def complete_values(values: Any) -> NDArray[np.float64]:
    """The complete rows themselves."""
    values = read_values(values)
    return values[complete_rows(values)]


def read_values(values: Any) -> NDArray[np.float64]:
    """The values as a 2-D array of floats, one row a data set and one column a method."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Values must be numbers, one row a data set and one column a method ({error})."
        ) from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            "Values must have one row per data set and one column per method; "
            f"got shape {array.shape}."
        )
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0].tolist()
        raise InputError(
            f"Values must be finite; row {row}, column {column} holds {array[row, column]}. "
            "Write NaN where a method has no value on a data set."
        )
    return array


def cliques(average_ranks: Any, P_adjusted: Any, alpha: float = 0.05) -> list[tuple[int, ...]]:
    """Group methods that cannot be told apart: the bars of a critical-difference diagram.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
    P_adjusted : array-like of shape (n_methods, n_methods)
        p-values of all pairs, as of :func:`nldd.bench.statistics.pairwise_holm`.
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

    >>> from nldd.bench.ranks import cliques
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


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of "all methods are equally good" over data sets.

    Attributes
    ----------
    statistic : float
        Chi-square with tie correction; 0 if all is tied.
    p_value : float
        From six data sets on by the chi-square distribution with n_methods - 1 degrees of freedom.
        Below, where that does not hold, exact over all arrangements of the ranks within the data
        sets, or NaN if the methods are too many to count these.
    f_statistic, f_p_value : float
        Those of F (Iman and Davenport, 1980), which are less conservative. F is NaN for less than
        two data sets, its p below six.
    n_datasets : int
        Data sets with a value of every method.
    n_methods : int

    Examples
    --------
    >>> from nldd.bench.ranks import friedman
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

    def __str__(self) -> str:
        words = f"chi-square {self.statistic:.1f} over {self.n_datasets} data sets"
        if np.isnan(self.p_value):
            return (
                f"{words}; no p-value, since below {FEW} data sets only the exact one holds, and "
                f"{self.n_methods} methods are too many for it"
            )
        return f"{words}, {'exact ' * (self.n_datasets < FEW)}p = {self.p_value:.2g}"


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
    >>> from nldd.bench.ranks import friedman
    >>> result = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    >>> print(result)
    chi-square 6.5 over 4 data sets, exact p = 0.042
    >>> result.f_statistic, result.kendall_w
    (13.0, 0.8125)
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
    if n < FEW:
        return Friedman(statistic, _exact_friedman(R), f_statistic, float("nan"), n, k)
    f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return Friedman(statistic, float(chi2.sf(statistic, k - 1)), f_statistic, f_p_value, n, k)


def _exact_friedman(R: NDArray[np.float64]) -> float:
    """Share of all arrangements of the ranks within the rows that agree as much; or NaN.

    Sums of columns are built up row by row. All arrangements are equally likely, so sums that
    differ in their order alone are one.
    """
    n, k = R.shape
    if n < 2:
        return 1.0
    doubled = np.rint(2 * R)  # mean ranks are halves
    powers = (2.0 * n * k + 1) ** np.arange(k)
    sums: NDArray[Any] = doubled[:1]
    shares: NDArray[Any] = np.ones(1)
    for i, row in enumerate(doubled[1:], start=2):
        if len(sums) * factorial(k) > MOST_ARRANGEMENTS:
            return float("nan")
        orders = row[np.array(list(permutations(range(k))))]
        if i < n:
            sums = np.sort((sums[:, np.newaxis] + orders).reshape(-1, k), axis=1)
            _, first, place = np.unique(sums @ powers, return_index=True, return_inverse=True)
            sums = sums[first]
            shares = np.bincount(place, np.repeat(shares, len(orders)) / len(orders))
    # |a + b|^2 of the last row: the same for all arrangements but for the product.
    apart = (
        np.square(doubled.sum(axis=0)).sum() - np.square(row).sum() - np.square(sums).sum(axis=1)
    )
    is_as_large = 2 * sums @ orders.T >= apart[:, np.newaxis]
    return float(shares @ is_as_large.mean(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Nemenyi:
    """Nemenyi's test of all pairs of methods by their average ranks.

    Attributes
    ----------
    critical_difference : float
        Average ranks that are further apart than this differ at the level of the test.
    p_values : ndarray of shape (n_methods, n_methods)
        Symmetric, with NaN on the diagonal; all are NaN without a complete data set.

    Examples
    --------
    >>> from nldd.bench.ranks import nemenyi
    >>> test = nemenyi([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    >>> print(f"{test.critical_difference:.3f}")
    1.657
    """

    critical_difference: float
    p_values: NDArray[np.float64]


def nemenyi(values: Any, greater_is_better: bool, alpha: float = 0.05) -> Nemenyi:
    """Test all pairs of methods by the distance of their average ranks.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    greater_is_better : bool
    alpha : float, default=0.05

    Returns
    -------
    Nemenyi

    Notes
    -----
    CD = q sqrt(k (k + 1) / (6 n)) for k methods on n data sets, where q is the upper `alpha`
    quantile of the studentized range of k groups with infinite degrees of freedom over sqrt(2)
    (Demsar, 2006). The test allows for all pairs at once. It sees ranks only, and the verdict on
    two methods depends on which others take part; Wilcoxon tests with Holm's correction have
    neither fault (Benavoli et al., 2016).

    Examples
    --------
    >>> from nldd.bench.ranks import nemenyi
    >>> losses = [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]]
    >>> result = nemenyi(losses, greater_is_better=False)
    >>> print(f"{result.critical_difference:.3f}, p = {result.p_values[0, 2]:.3f}")
    1.353, p = 0.011
    """
    check_alpha(alpha)
    values = complete_values(values)
    n, k = values.shape
    if k < 2:
        raise InputError("Nemenyi's test compares 2 or more methods; got 1 column of values.")
    if n == 0:
        return Nemenyi(float("nan"), np.full((k, k), np.nan))
    # Twelve and not six: the studentized range is that of single ranks, not of their differences.
    deviation = np.sqrt(k * (k + 1) / (12 * n))
    averages = average_ranks(values, greater_is_better)
    apart = np.abs(averages[:, None] - averages) / deviation
    P = np.asarray(studentized_range.sf(apart, k, np.inf)).clip(0, 1)
    np.fill_diagonal(P, np.nan)
    return Nemenyi(float(studentized_range.isf(alpha, k, np.inf)) * deviation, P)


def check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be a level between 0 and 1, such as 0.05; got {alpha!r}.")
