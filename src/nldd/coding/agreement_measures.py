"""How far people who coded the same answers agree, beyond what chance alone would give."""

from collections.abc import Collection, Sequence
from itertools import chain, combinations, combinations_with_replacement, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
Codes = frozenset[Any]

N_DRAWS, DRAWS_AT_ONCE = 1000, 50
# Drawn again, fewer units tell too little of what others would be like.
FEWEST_UNITS = 10
TAILS = [100 * (1 - 0.95) / 2, 100 - 100 * (1 - 0.95) / 2]
# Values whose distances are looked at together.
BLOCK = 1024


def masi_distance(one: Collection[Any], other: Collection[Any]) -> float:
    """One minus the agreement of two sets (Passonneau, 2006): 0 if they are equal, 1 if disjoint.

    Parameters
    ----------
    one, other : collection
        Such as the codes that two people gave to an answer.

    Returns
    -------
    float

    Notes
    -----
    The agreement is their Jaccard index times 2/3 where one holds all of the other, and times 1/3
    where each has something of its own. Two empty sets are equal.

    Examples
    --------
    >>> from nldd.coding.agreement_measures import masi_distance
    >>> masi_distance({"a"}, {"a"}), masi_distance({"a"}, {"b"}), masi_distance(set(), {"a"})
    (0.0, 1.0, 1.0)
    >>> round(masi_distance({1, 2}, {1, 2, 3, 4}), 3), round(masi_distance({1, 2}, {2, 3}), 3)
    (0.667, 0.889)
    """
    one, other = set(one), set(other)
    if one == other:
        return 0.0
    monotonicity = 2 / 3 if one < other or other < one else 1 / 3
    return 1 - monotonicity * len(one & other) / len(one | other)


def krippendorff_alpha(units: Sequence[Sequence[Codes | None]]) -> tuple[float, float, float]:
    """Krippendorff's alpha with MASI distance, and an interval from units drawn a thousand times.

    Parameters
    ----------
    units : sequence of sequences of (frozenset or None)
        What each coder gave to each unit. Units that fewer than two coded do not count. Sets of one
        value each are the same or not, and alpha is that of nominal data.

    Returns
    -------
    alpha, low, high : float
        Alpha is 1 if all agree, 0 if they agree as much as by chance, and NaN where nothing can be
        told: no unit has two values, or all values are the same. Between the limits lie 95 % of the
        draws. They are NaN for fewer than ten units, and where all draws have the same alpha, as
        they do if nobody disagrees: such draws do not tell how far it may be off.

    Notes
    -----
    ``alpha = 1 - D_o / D_e``. D_o is the mean distance of values of the same unit, D_e that of all
    values (Krippendorff, 2011, Computing Krippendorff's alpha-reliability).

    Examples
    --------
    >>> from nldd.coding.agreement_measures import krippendorff_alpha
    >>> units = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")] * 20
    >>> found = krippendorff_alpha([tuple(map(frozenset, unit)) for unit in units])
    >>> print("{:.2f}, from {:.1f} to {:.1f}".format(*found))
    0.62, from 0.5 to 0.8
    """
    given = [[codes for codes in unit if codes is not None] for unit in units]
    pairable = [unit for unit in given if len(unit) > 1]
    rng, n = np.random.default_rng(0), len(pairable)
    counts = _count_members(pairable)
    # The sum over ordered pairs of coders, divided by the number of the others.
    within = np.array([2 * _sum_of_pairs(unit) / (len(unit) - 1) for unit in pairable])
    totals, apart = [np.ones((1, n)) @ counts], [np.ones((1, n)) @ within]
    for _ in range(N_DRAWS // DRAWS_AT_ONCE if n >= FEWEST_UNITS else 0):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS_AT_ONCE).astype(float)
        totals.append(weights @ counts)
        apart.append(weights @ within)
    values = list(dict.fromkeys(chain.from_iterable(pairable)))
    alpha, *draws = _alphas(values, np.concatenate(totals), np.concatenate(apart)).tolist()
    known = [value for value in draws if not np.isnan(value)]
    low, high = np.percentile(known, TAILS) if len(set(known)) > 1 else (np.nan, np.nan)
    return alpha, float(low), float(high)


def _sum_of_pairs(unit: Sequence[Codes]) -> float:
    return sum(starmap(masi_distance, combinations(unit, 2)))


def _count_members(groups: Sequence[Collection[Any]]) -> csr_array:
    """How often each group has each member, in the order in which members come first."""
    place = {m: k for k, m in enumerate(dict.fromkeys(chain.from_iterable(groups)))}
    columns = np.array([place[member] for group in groups for member in group], dtype=int)
    ends = np.cumsum([0, *map(len, groups)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(groups), len(place)))


def _alphas(values: Sequence[Codes], totals: FloatArray, apart: FloatArray) -> FloatArray:
    """Alpha for each row of totals of the values, and of disagreement within units.

    Block by block, as the distances of many thousand values would not fit into memory.
    """
    n, pairs, members = totals.sum(axis=1), np.zeros(len(totals)), _count_members(values)
    blocks = [slice(i, i + BLOCK) for i in range(0, len(values), BLOCK)]
    for i, j in combinations_with_replacement(blocks, 2):
        distances = _masi_distances(members[i], members[j])
        pairs += (1 + (i != j)) * ((totals[:, i] @ distances) * totals[:, j]).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, 1 - (n - 1) * apart / pairs, np.nan)


def _masi_distances(A: csr_array, B: csr_array) -> FloatArray:
    """:func:`masi_distance` of all pairs of sets, by how many members two have in common."""
    both = (A @ B.T).toarray()
    one, other = A.sum(axis=1)[:, np.newaxis], B.sum(axis=1)[np.newaxis]
    monotonicity = np.where(both == np.minimum(one, other), 2 / 3, 1 / 3)
    D = 1 - monotonicity * both / np.maximum(one + other - both, 1)
    return np.where((both == one) & (both == other), 0.0, D)


def cohen_kappa(Y_a: Any, Y_b: Any) -> FloatArray:
    """Cohen's kappa of two coders for each label.

    Parameters
    ----------
    Y_a, Y_b : array-like of shape (n_answers, n_labels)
        The labels of both as 0 and 1.

    Returns
    -------
    ndarray of shape (n_labels,)
        1 if both agree, 0 if they agree as much as by chance; NaN where both never, or always, give
        the label.

    Examples
    --------
    >>> from nldd.coding.agreement_measures import cohen_kappa
    >>> cohen_kappa([[1, 0], [1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0], [0, 0]])
    array([0.5, nan])
    """
    A, B = np.asarray(Y_a, dtype=bool), np.asarray(Y_b, dtype=bool)
    a, b = A.mean(axis=0), B.mean(axis=0)
    same, by_chance = (A == B).mean(axis=0), a * b + (1 - a) * (1 - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1, (same - by_chance) / (1 - by_chance), np.nan)
