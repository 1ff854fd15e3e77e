"""The labelset to predict: the most probable one of a mixture, or that of largest expected F."""

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Probabilities all near 1/2 could ask for every labelset there is; then the best so far is taken.
MAX_POPS = 100_000


def falling_labelsets(z: FloatArray) -> Iterator[tuple[float, NDArray[np.int8]]]:
    """All labelsets of independent labels with log-odds `z`, by falling log-probability.

    The best labelset has the labels with z >= 0; flipping label l costs the size of z_l. Sets of
    flips come from a heap in order of cost. From a set whose costliest flip is the i-th cheapest,
    two more are reached, each once: with the next flip added, or in place of the i-th.

    Examples
    --------
    >>> [y.tolist() for _, y in falling_labelsets(np.array([2.0, -1.0]))]
    [[1, 0], [1, 1], [0, 0], [0, 1]]
    """
    best = (z >= 0).astype(np.int8)
    order = np.argsort(np.abs(z), kind="stable")
    cost = np.abs(z)[order].tolist()
    top = -float(np.logaddexp(0, -np.abs(z)).sum())
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


def joint_mode(log_pi: FloatArray, Z: FloatArray, allow_empty: bool = True) -> NDArray[np.int8]:
    """The most probable labelset of one mixture, by a threshold rule.

    Components list their labelsets from the most probable on, and each is scored under the whole
    mixture. One not listed yet has in each component at most the probability q_k of the last one
    listed there, so once the best score reaches ``log of the sum of pi_k q_k`` nothing better is to
    come. The list that adds most to that bound goes on first; among equals the first is kept.
    """
    lists = [falling_labelsets(z) for z in Z]
    bound = np.full(len(Z), np.inf)
    softplus = np.logaddexp(0, Z).sum(axis=1)
    best, best_score = np.zeros(Z.shape[1], dtype=np.int8), -np.inf
    seen: set[bytes] = set()
    for _ in range(MAX_POPS):
        k = int(np.argmax(bound + log_pi))
        log_probability, y = next(lists[k], (-np.inf, None))
        bound[k] = log_probability
        if y is not None and y.tobytes() not in seen:
            seen.add(y.tobytes())
            score = float(_logsumexp(Z @ y - softplus + log_pi))
            if score > best_score and (allow_empty or y.any()):
                best, best_score = y, score
        if best_score >= _logsumexp(bound + log_pi) - 1e-12:
            break
    return best


def _logsumexp(values: FloatArray) -> float:
    """As scipy's, without its generality: this is called for every labelset listed."""
    top = values.max()
    if not np.isfinite(top):
        return float(top)
    return float(top + np.log(np.exp(values - top).sum()))


def best_expected_f(G: NDArray[np.float64], labelsets: NDArray[np.int8]) -> NDArray[np.int8]:
    """Labelset of largest expected F-measure for each row of `G`, the labelsets' probabilities.

    With ``P[l, s]`` the probability that label l is on in a labelset of s labels, a prediction h of
    t labels has the expected F-measure ``sum over l in h of sum over s of 2 P[l, s] / (s + t)``.
    For each t the t largest terms are best; the empty prediction scores the probability of the
    empty labelset. (Dembczynski et al., 2011, NIPS 24.)

    Examples
    --------
    >>> best_expected_f(np.array([[0.4, 0.3, 0.3]]), np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    array([[1, 1, 0]], dtype=int8)
    """
    sizes = labelsets.sum(axis=1)
    n_samples, n_labels = len(G), labelsets.shape[1]
    present = [s for s in np.unique(sizes) if s > 0]
    P = {s: G[:, sizes == s] @ labelsets[sizes == s].astype(float) for s in present}
    best = np.zeros((n_samples, n_labels), dtype=np.int8)
    best_value = G[:, sizes == 0].sum(axis=1)
    for t in range(1, n_labels + 1):
        terms = sum((2 * P[s] / (s + t) for s in present), np.zeros((n_samples, n_labels)))
        order = np.argsort(-terms, axis=1, kind="stable")[:, :t]
        value = np.take_along_axis(terms, order, axis=1).sum(axis=1)
        better = value > best_value
        best_value[better] = value[better]
        best[better] = 0
        best[np.flatnonzero(better)[:, np.newaxis], order[better]] = 1
    return best
