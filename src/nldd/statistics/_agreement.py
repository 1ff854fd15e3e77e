"""How far people who coded the same answers agree, beyond what chance alone would give."""

from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Distance = Callable[[Any, Any], float]

N_DRAWS, DRAWS_AT_ONCE = 1000, 50


def masi_distance(one: Collection[Any], other: Collection[Any]) -> float:
    """One minus the agreement of two sets (Passonneau, 2006): 0 if they are equal, 1 if disjoint.

    The agreement is their Jaccard index times 2/3 where one holds all of the other, and times 1/3
    where each has something of its own. Two empty sets are equal.

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
    """0 if both are the same, and else 1."""
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
    >>> owen, meg = "1110010000", "0100000010"
    >>> round(krippendorff_alpha(list(zip(owen, meg))), 3)
    0.095
    """
    table = _unit_table(units, distance)
    return float(_alphas(*table, np.ones((1, len(table[0]))))[0])


def alpha_interval(
    units: Sequence[Sequence[Hashable | None]],
    distance: Distance = nominal_distance,
    level: float = 0.95,
    random_state: int = 0,
) -> tuple[float, float]:
    """Interval of :func:`krippendorff_alpha`, from units drawn again a thousand times.

    NaN where no draw has an alpha.
    """
    table = _unit_table(units, distance)
    rng, n = np.random.default_rng(random_state), len(table[0])
    if not n:
        return np.nan, np.nan
    sizes = [DRAWS_AT_ONCE] * (N_DRAWS // DRAWS_AT_ONCE)
    weights = (rng.multinomial(n, np.full(n, 1 / n), size=size).astype(float) for size in sizes)
    draws = np.concatenate([_alphas(*table, some) for some in weights])
    if np.isnan(draws).all():
        return np.nan, np.nan
    tail = 100 * (1 - level) / 2
    low, high = np.nanpercentile(draws, [tail, 100 - tail])
    return float(low), float(high)


def _unit_table(
    units: Sequence[Sequence[Hashable | None]], distance: Distance
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Units with two values or more: how often each has each value, and its own disagreement.

    And the distances of all values. Disagreement: the sum over ordered pairs of coders, divided by
    the number of the others.
    """
    values = [[value for value in unit if value is not None] for unit in units]
    pairable = [unit for unit in values if len(unit) > 1]
    place = {
        value: i for i, value in enumerate(dict.fromkeys(v for unit in pairable for v in unit))
    }
    counts = np.zeros((len(pairable), len(place)))
    for row, unit in zip(counts, pairable, strict=True):
        for value in unit:
            row[place[value]] += 1
    D = np.zeros((len(place), len(place)))
    for (one, i), (other, j) in combinations(place.items(), 2):
        D[i, j] = D[j, i] = distance(one, other)
    others = np.maximum(counts.sum(axis=1) - 1, 1)
    return counts, ((counts @ D) * counts).sum(axis=1) / others, D


def _alphas(
    counts: FloatArray, disagreement: FloatArray, D: FloatArray, weights: FloatArray
) -> FloatArray:
    """Alpha for each row of weights of the units."""
    totals = weights @ counts
    n = totals.sum(axis=1)
    observed = weights @ disagreement
    pairs = ((totals @ D) * totals).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, 1 - (n - 1) * observed / pairs, np.nan)


def cohen_kappa(Y_a: Any, Y_b: Any) -> FloatArray:
    """Cohen's kappa of two coders for each label; NaN where both never, or always, give it.

    Parameters
    ----------
    Y_a, Y_b : array-like of shape (n_answers, n_labels)
        The labels of both as 0 and 1.

    Examples
    --------
    >>> cohen_kappa([[1, 0], [1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0], [0, 0]])
    array([0.5, nan])
    """
    A, B = np.asarray(Y_a, dtype=bool), np.asarray(Y_b, dtype=bool)
    if not len(A):
        return np.full(A.shape[1], np.nan)
    a, b = A.mean(axis=0), B.mean(axis=0)
    same, by_chance = (A == B).mean(axis=0), a * b + (1 - a) * (1 - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1, (same - by_chance) / (1 - by_chance), np.nan)
