"""How far people who coded the same answers agree, beyond what chance alone would give."""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
Distance = Callable[[Any, Any], float]
# The distances of the values of one slice from those of another.
Between = Callable[[slice, slice], FloatArray]

N_DRAWS, DRAWS_AT_ONCE = 1000, 50
# Drawn again, fewer units tell too little of what others would be like.
FEWEST_UNITS = 10
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


def nominal_distance(one: Any, other: Any) -> float:
    """Distance of values that are equal or not: 0 or 1.

    Parameters
    ----------
    one, other : object

    Returns
    -------
    float

    Examples
    --------
    >>> from nldd.coding.agreement_measures import nominal_distance
    >>> nominal_distance("yes", "yes"), nominal_distance("yes", "no")
    (0.0, 1.0)
    """
    return float(one != other)


def krippendorff_alpha(
    units: Sequence[Sequence[Hashable | None]], distance: Distance = nominal_distance
) -> float:
    """Krippendorff's alpha: 1 if all agree, 0 if they agree as much as by chance.

    Parameters
    ----------
    units : sequence of sequences
        What each coder gave to each unit: a value, such as a frozenset of codes, or None. Units
        that fewer than two coded do not count.
    distance : callable
        From 0, for equal values, to 1.

    Returns
    -------
    float
        NaN where nothing can be told: no unit has two values, or all values are the same.

    Notes
    -----
    ``alpha = 1 - D_o / D_e``. D_o is the mean distance of values of the same unit, D_e that of all
    values (Krippendorff, 2011, Computing Krippendorff's alpha-reliability).

    Examples
    --------
    >>> from nldd.coding.agreement_measures import krippendorff_alpha
    >>> owen, meg = "1110010000", "0100000010"
    >>> round(krippendorff_alpha(list(zip(owen, meg))), 3)
    0.095
    """
    table = _unit_table(units)
    return float(_alphas(table, distance, *_weighted(table, distance, []))[0])


def alpha_with_interval(
    units: Sequence[Sequence[Hashable | None]],
    distance: Distance = nominal_distance,
    level: float = 0.95,
    random_state: int = 0,
) -> tuple[float, float, float]:
    """Krippendorff's alpha with an interval, from units drawn again a thousand times.

    Parameters
    ----------
    units, distance : sequence of sequences, callable
        As in :func:`krippendorff_alpha`.
    level : float, default=0.95
        Share of the draws that lie between the limits.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    alpha, low, high : float
        The limits are NaN for fewer than ten units, and where all draws have the same alpha, as
        they do if nobody disagrees: such draws do not tell how far it may be off.

    Examples
    --------
    >>> from nldd.coding.agreement_measures import alpha_with_interval
    >>> units = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")] * 20
    >>> alpha, low, high = alpha_with_interval(units)
    >>> print(f"{alpha:.2f}, from {low:.1f} to {high:.1f}")
    0.62, from 0.5 to 0.8
    """
    table = _unit_table(units)
    rng, n = np.random.default_rng(random_state), table.counts.shape[0]
    sizes = [DRAWS_AT_ONCE] * (N_DRAWS // DRAWS_AT_ONCE) if n >= FEWEST_UNITS else []
    weights = (rng.multinomial(n, np.full(n, 1 / n), size=size).astype(float) for size in sizes)
    alpha, *draws = _alphas(table, distance, *_weighted(table, distance, weights)).tolist()
    known = [value for value in draws if not np.isnan(value)]
    if len(set(known)) < 2:
        return alpha, np.nan, np.nan
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(known, [tail, 100 - tail]).tolist()
    return alpha, low, high


class _UnitTable(NamedTuple):
    """Units with two values or more: what they hold, and how often they have each value."""

    units: list[list[Hashable]]
    values: list[Hashable]
    counts: csr_array


def _unit_table(units: Sequence[Sequence[Hashable | None]]) -> _UnitTable:
    given = [[value for value in unit if value is not None] for unit in units]
    pairable = [unit for unit in given if len(unit) > 1]
    place = {
        value: i for i, value in enumerate(dict.fromkeys(v for unit in pairable for v in unit))
    }
    columns = [place[value] for unit in pairable for value in unit]
    ends = np.cumsum([0, *map(len, pairable)])
    shape = (len(pairable), len(place))
    counts = csr_array((np.ones(len(columns)), np.array(columns, dtype=int), ends), shape=shape)
    return _UnitTable(pairable, list(place), counts)


def _weighted(
    table: _UnitTable, distance: Distance, weights: Iterable[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """How often each value occurs, and the disagreement within units, for all and for each draw.

    Disagreement: the sum over ordered pairs of coders, divided by the number of the others.
    """
    within = np.array([2 * _sum_of_pairs(u, distance) / (len(u) - 1) for u in table.units])
    rows = [np.ones((1, len(within))), *weights]
    return (
        np.concatenate([(table.counts.T @ some.T).T for some in rows]),
        np.concatenate([some @ within for some in rows]),
    )


def _sum_of_pairs(unit: list[Hashable], distance: Distance) -> float:
    return sum(distance(one, other) for one, other in combinations(unit, 2))


def _alphas(
    table: _UnitTable, distance: Distance, totals: FloatArray, within: FloatArray
) -> FloatArray:
    """Alpha for each row of totals of the values, and of disagreement within units."""
    n = totals.sum(axis=1)
    if distance is nominal_distance:
        pairs = n**2 - np.square(totals).sum(axis=1)
    else:
        pairs = _all_pairs(table.values, distance, totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, 1 - (n - 1) * within / pairs, np.nan)


def _all_pairs(values: list[Hashable], distance: Distance, totals: FloatArray) -> FloatArray:
    """The sum of the distances of all pairs, by how often values occur; for each row of totals.

    Block by block, as the distances of many thousand values would not fit into memory.
    """
    between = _masi_distances(values) if distance is masi_distance else _each(values, distance)
    blocks = [slice(i, i + BLOCK) for i in range(0, len(values), BLOCK)]
    pairs = np.zeros(len(totals))
    for i, j in combinations_with_replacement(blocks, 2):
        pairs += (1 + (i != j)) * ((totals[:, i] @ between(i, j)) * totals[:, j]).sum(axis=1)
    return pairs


def _each(values: list[Hashable], distance: Distance) -> Between:
    """Distances of values, one by one."""
    return lambda i, j: np.array([[distance(a, b) for b in values[j]] for a in values[i]])


def _masi_distances(values: Sequence[Any]) -> Between:
    """:func:`masi_distance` of sets, by how many members two have in common."""
    sets = [set(value) for value in values]
    place = {member: k for k, member in enumerate(dict.fromkeys(m for s in sets for m in s))}
    sizes = np.array([len(members) for members in sets], dtype=float)
    columns, ends = [place[m] for s in sets for m in s], np.cumsum([0, *map(len, sets)])
    shape = (len(sets), len(place))
    members = csr_array((np.ones(len(columns)), np.array(columns, dtype=int), ends), shape=shape)

    def between(i: slice, j: slice) -> FloatArray:
        both = (members[i] @ members[j].T).toarray()
        one, other = sizes[i, np.newaxis], sizes[np.newaxis, j]
        monotonicity = np.where(both == np.minimum(one, other), 2 / 3, 1 / 3)
        D = 1 - monotonicity * both / np.maximum(one + other - both, 1)
        return np.where((both == one) & (both == other), 0.0, D)

    return between


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
