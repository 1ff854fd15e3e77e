"""All pairs of methods on one measure: effect sizes, and what three kinds of tests say."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

from nldd.bench.statistics.bayes import bayesian_signed_rank
from nldd.bench.statistics.ranks import DECIMALS, average_ranks, complete_values
from nldd.bench.statistics.significance import (
    Friedman,
    check_alpha,
    friedman,
    holm,
    one_sided_wilcoxon,
)
from nldd.exceptions import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Nemenyi:
    """Nemenyi's test of all pairs of methods by their average ranks.

    Attributes
    ----------
    critical_difference : float
        Average ranks that are further apart than this differ at `alpha`.
    p_values : ndarray of shape (n_methods, n_methods)
        Symmetric, with NaN on the diagonal; all are NaN without a complete data set.
    alpha : float
    n_datasets : int
        Data sets with a value of every method.

    Examples
    --------
    >>> from nldd.bench.statistics.comparison import nemenyi
    >>> test = nemenyi([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    >>> print(f"{test.critical_difference:.3f} over {test.n_datasets} data sets")
    1.657 over 4 data sets
    """

    critical_difference: float
    p_values: NDArray[np.float64]
    alpha: float
    n_datasets: int


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
    >>> from nldd.bench.statistics.comparison import nemenyi
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
        return Nemenyi(float("nan"), np.full((k, k), np.nan), alpha, 0)
    # Twelve and not six: the studentized range is that of single ranks, not of their differences.
    deviation = np.sqrt(k * (k + 1) / (12 * n))
    averages = average_ranks(values, greater_is_better)
    apart = np.abs(averages[:, None] - averages) / deviation
    P = np.asarray(studentized_range.sf(apart, k, np.inf)).clip(0, 1)
    np.fill_diagonal(P, np.nan)
    distance = float(studentized_range.isf(alpha, k, np.inf)) * deviation
    return Nemenyi(float(distance), P, alpha, n)


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

    >>> from nldd.bench.statistics.comparison import rank_biserial
    >>> print(f"{rank_biserial([-0.1, 0.2, 0.3, 0.0]):.3f}")
    0.667
    """
    rounded = np.round(np.asarray(differences, dtype=float), DECIMALS)
    rounded = rounded[rounded != 0]
    sizes = rankdata(np.abs(rounded))
    return float((np.sign(rounded) * sizes).sum() / sizes.sum()) if len(sizes) else 0.0


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
    better, equal, worse : float
        Probabilities that the first is practically better, the same or worse; see
        :func:`bayesian_signed_rank`.

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
    better: float
    equal: float
    worse: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What can be said about methods on one measure over data sets.

    With less than two methods, or data sets with a value of each, there is nothing to compare:
    `friedman` is None, `pairs` is empty and the critical difference is NaN.

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
    alpha, rope : float

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
    alpha: float
    rope: float

    def against(self, reference: str) -> dict[str, tuple[float, float, float]]:
        """Probabilities that `reference` is better, the same or worse, for each other method.

        Parameters
        ----------
        reference : str
            One of `methods`.

        Returns
        -------
        dict of (float, float, float)
            By the name of the other method.
        """
        if reference not in self.methods:
            raise InputError(f"No method is called {reference!r}; there are {self.methods}.")
        found = {}
        for pair in self.pairs:
            if pair.first == reference:
                found[pair.second] = (pair.better, pair.equal, pair.worse)
            elif pair.second == reference:
                found[pair.first] = (pair.worse, pair.equal, pair.better)
        return found


def compare(
    values: Any,
    methods: Sequence[str],
    greater_is_better: bool,
    *,
    alpha: float = 0.05,
    rope: float = 0.01,
    random_state: int = 0,
) -> Comparison:
    """Compare methods on one measure by all the tests of this package.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out of everything.
    methods : sequence of str
    greater_is_better : bool
    alpha : float, default=0.05
        Level of the critical difference.
    rope : float, default=0.01
        Differences up to this size are of no practical importance.
    random_state : int, default=0
        Seed of the Bayesian test.

    Returns
    -------
    Comparison
        Average ranks, Friedman's test, the critical difference, and a :class:`Pair` for each two.

    Examples
    --------
    >>> from nldd.bench import compare
    >>> losses = [[0.19, 0.23], [0.05, 0.08], [0.11, 0.12], [0.27, 0.33], [0.02, 0.04]]
    >>> comparison = compare(losses, ["NLDD", "BR"], greater_is_better=False)
    >>> pair, = comparison.pairs
    >>> pair.wins, pair.ties, pair.losses, pair.rank_biserial, pair.p_value
    (5, 0, 0, 1.0, 0.0625)
    >>> print(f"{pair.gain:.3f} {pair.better:.1f} {pair.equal:.1f} {pair.worse:.1f}")
    0.032 1.0 0.0 0.0
    """
    check_alpha(alpha)
    averages = average_ranks(values, greater_is_better)
    complete, names = complete_values(values), tuple(map(str, methods))
    if len(names) != len(averages):
        raise InputError(
            f"Each of the {len(averages)} columns of values needs a method; got {len(names)} "
            "methods."
        )
    n = len(complete)
    facts = names, tuple(averages.tolist()), n
    if n < 2 or len(names) < 2:
        return Comparison(*facts, None, float("nan"), (), alpha, rope)
    ranked = nemenyi(complete, greater_is_better, alpha)
    oriented = complete if greater_is_better else -complete
    pairs = _pairs(oriented, names, ranked.p_values, rope, random_state)
    test = friedman(complete, greater_is_better)
    return Comparison(*facts, test, ranked.critical_difference, pairs, alpha, rope)


def _pairs(
    oriented: NDArray[np.float64],
    names: tuple[str, ...],
    nemenyi_p_values: NDArray[np.float64],
    rope: float,
    random_state: int,
) -> tuple[Pair, ...]:
    """One record for each pair of columns, of which more is better."""
    left, right = np.transpose(list(combinations(range(len(names)), 2)))
    D = np.round(oriented[:, left] - oriented[:, right], DECIMALS)
    P = one_sided_wilcoxon(oriented, greater_is_better=True)
    p_values = np.minimum(1, 2 * np.minimum(P, P.T)[left, right])
    # Below zero is worse.
    posterior = bayesian_signed_rank(D, rope, random_state=random_state)[:, ::-1]
    columns = (
        *([names[i] for i in left], [names[i] for i in right], D.mean(axis=0).tolist()),
        *((count(D, 0).sum(axis=0).tolist()) for count in (np.greater, np.equal, np.less)),
        *([rank_biserial(column) for column in D.T], p_values.tolist(), holm(p_values).tolist()),
        *(nemenyi_p_values[left, right].tolist(), *posterior.T.tolist()),
    )
    return tuple(Pair(*row) for row in zip(*columns, strict=True))
