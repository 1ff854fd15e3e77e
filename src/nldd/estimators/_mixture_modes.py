"""The most probable labelset of a mixture of independent labels, found exactly."""

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

FloatArray = NDArray[np.float64]

# Probabilities all near 1/2 could ask for every labelset there is; then the best so far is taken.
MAX_POPS = 100_000
# Scores are sums of a few terms, so rounding moves them by less than this.
ROUNDING = 1e-12


def softplus(Z: FloatArray) -> FloatArray:
    """``log(1 + exp(z))``, for log-odds that are clipped."""
    return np.asarray(np.log1p(np.exp(Z)))


def joint_modes(log_pi: FloatArray, Z: FloatArray, allow_empty: bool = True) -> NDArray[np.int8]:
    """The most probable labelset of each mixture; shapes (n, K) and (n, K, L).

    The first look, for all mixtures at once, is at the components' own modes. A labelset that is
    none of them has at most the probability of the second best one in each component, which has the
    label flipped whose log-odds are nearest to 0: most searches are over here.
    """
    modes, costs = (Z >= 0).astype(np.float64), np.abs(Z)
    scores = Z @ modes.transpose(0, 2, 1) - softplus(Z).sum(axis=2, keepdims=True)
    scores = np.asarray(logsumexp(scores + log_pi[:, :, np.newaxis], axis=1))
    if not allow_empty:
        scores[~modes.any(axis=2)] = -np.inf
    every, best = np.arange(len(Z)), scores.argmax(axis=1)
    Y_pred = modes[every, best].astype(np.int8)
    second = log_pi - softplus(-costs).sum(axis=2) - costs.min(axis=2)
    is_open = scores[every, best] < logsumexp(second, axis=1) - ROUNDING
    for i in np.flatnonzero(is_open):
        Y_pred[i] = joint_mode(log_pi[i], Z[i], allow_empty)
    return Y_pred


def joint_mode(log_pi: FloatArray, Z: FloatArray, allow_empty: bool = True) -> NDArray[np.int8]:
    """The most probable labelset of one mixture, by a threshold rule.

    Components list their labelsets from the most probable on, to be scored under the mixture. One
    that no list has given away yet has at most the probability q_k of the head of each, so once the
    best score reaches ``log of the sum of pi_k q_k`` nothing better is to come; that list goes on
    first which adds most to the bound.
    """
    lists = [iter_labelsets_by_probability(z) for z in Z]
    heads = [next(each) for each in lists]
    bound = log_pi + [log_probability for log_probability, _ in heads]
    offset = log_pi - softplus(Z).sum(axis=1)
    best, best_score = np.zeros(Z.shape[1], dtype=np.int8), -np.inf
    seen: set[bytes] = set()
    for _ in range(MAX_POPS):
        if best_score >= _logsumexp(bound) - ROUNDING:
            break
        k = int(bound.argmax())
        y = heads[k][1]
        heads[k] = next(lists[k], (-np.inf, y))
        bound[k] = log_pi[k] + heads[k][0]
        if y.tobytes() not in seen:
            seen.add(y.tobytes())
            score = _logsumexp(Z @ y + offset)
            if score > best_score and (allow_empty or y.any()):
                best, best_score = y, score
    return best


def iter_labelsets_by_probability(z: FloatArray) -> Iterator[tuple[float, NDArray[np.int8]]]:
    """All labelsets of independent labels with log-odds `z`, in order of decreasing probability.

    The best one has the labels with z >= 0; flipping label l costs the size of z_l. Sets of flips
    come from a heap in order of cost. From one whose costliest flip is the i-th cheapest, two more
    are reached, each once: with the next flip added, or in place of the i-th.

    >>> [y.tolist() for _, y in iter_labelsets_by_probability(np.array([2.0, -1.0]))]
    [[1, 0], [1, 1], [0, 0], [0, 1]]
    """
    best = (z >= 0).astype(np.int8)
    order = np.argsort(np.abs(z), kind="stable")
    cost = np.abs(z)[order].tolist()
    top = -float(softplus(-np.abs(z)).sum())
    yield top, best
    heap: list[tuple[float, int, tuple[int, ...]]] = [(cost[0], 0, (0,))] if cost else []
    while heap:
        total, last, flips = heappop(heap)
        y = best.copy()
        y[order[list(flips)]] ^= 1
        yield top - total, y
        if last + 1 < len(cost):
            heappush(heap, (total + cost[last + 1], last + 1, (*flips, last + 1)))
            swapped = total - cost[last] + cost[last + 1]
            heappush(heap, (swapped, last + 1, (*flips[:-1], last + 1)))


def _logsumexp(values: FloatArray) -> float:
    """As scipy's, without its generality: this is called for every labelset listed."""
    top = float(values.max())
    return top + float(np.log(np.exp(values - top).sum())) if np.isfinite(top) else top
