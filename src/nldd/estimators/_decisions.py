"""Decisions: for each measure the labelset of highest expected value under a posterior.

What is believed of a row is a mixture of two parts. With probability 1 - e its labelset is one that
training has seen, and S is the one with probability Q_S. With probability e it is another one, of
which only the probabilities p of the labels are known: they are taken as independent, and as not
all off if training has no row without labels.

All functions are pure, of Q (n_samples, n_seen), the labelsets that were seen (n_seen, n_labels),
P (n_samples, n_labels) and e. The expected value of a ratio under independent labels is an integral
of polynomials, because ``1 / (s + t)`` is the integral of ``u^(s + t - 1)`` from 0 to 1: sums over
all sets of labels become products over labels.
"""

from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int8]

# Probabilities of labels nearer to 0 and 1 than that tell no more.
NEAREST = 1e-6
# Gauss-Legendre nodes of the integrals, and from which size of a labelset on there are more. With
# s + t = 40, sixteen are off by 1e-12, with 60 by 1e-7; and 64 with 400 by 1e-13.
N_NODES, LARGE, N_NODES_LARGE = 16, 30, 64
# The most probable labelsets that expected accuracy looks at.
N_PROBABLE = 50
# Expected values that differ by less are equal, and the smaller labelset is taken.
ROUNDING = 1e-12


class Unseen(NamedTuple):
    """The second part of the mixture: independent labels.

    `empty` is the probability that all are off, and `factor` by how much the probability of every
    other labelset is larger than the product, because the empty one cannot be. `nodes` and their
    `weights` are those of integrals over u.
    """

    P: FloatArray
    empty: FloatArray
    factor: FloatArray
    nodes: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, P: FloatArray, labelsets: LabelArray) -> Self:
        """As training has rows without labels among its labelsets, or not."""
        P = P.clip(NEAREST, 1 - NEAREST)
        log_empty, sizes = np.log1p(-P).sum(axis=1), labelsets.sum(axis=1)
        rule = gauss_legendre(N_NODES if sizes.max() < LARGE else N_NODES_LARGE)
        if sizes.min() == 0:
            return cls(P, np.exp(log_empty), np.ones(len(P)), *rule)
        return cls(P, np.zeros(len(P)), -1 / np.expm1(log_empty), *rule)

    def probability(self, Y: LabelArray) -> FloatArray:
        """That of one labelset for each row."""
        product = np.where(Y == 1, self.P, 1 - self.P).prod(axis=1)
        return np.where(Y.any(axis=1), self.factor * product, self.empty)

    def log_terms(self) -> FloatArray:
        """``log(1 - p + p u)`` at each node, of shape (n_samples, n_labels, n_nodes)."""
        return np.log1p(self.P[:, :, np.newaxis] * (self.nodes - 1))


@cache
def gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """So many nodes on [0, 1], and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


def marginals(Q: FloatArray, labelsets: LabelArray, P: FloatArray, e: float) -> FloatArray:
    """Probability of each label: ``(1 - e) sum of Q_S over S with the label, + e times its own``.

    >>> marginals(np.array([[0.9, 0.1]]), np.array([[1, 0], [1, 1]]), np.array([[0.6, 0.5]]), 0.5)
    array([[0.875 , 0.3625]])
    """
    unseen = Unseen.of(P, labelsets)
    M = (1 - e) * (Q @ labelsets) + e * unseen.factor[:, np.newaxis] * unseen.P
    return np.asarray(M.clip(0, 1))


def best_hamming(Q: FloatArray, labelsets: LabelArray, P: FloatArray, e: float) -> LabelArray:
    """The labels that are more probable than not: fewest wrong labels."""
    return (marginals(Q, labelsets, P, e) > 0.5).astype(np.int8)


def best_f1(
    Q: FloatArray, labelsets: LabelArray, P: FloatArray | None = None, e: float = 0.0
) -> LabelArray:
    """The labelset of highest expected F-measure, among all that there can be.

    A prediction h of t labels has the expected F-measure ``sum over l in h of D_lt``, where D_lt is
    the mean of ``2 y_l / (|Y| + t)``; so the best of t labels is that of the t largest D_lt. The
    empty one has the probability of the empty labelset. (Dembczynski et al., 2011, NIPS 24.)

    >>> best_f1(np.array([[0.4, 0.3, 0.3]]), np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    array([[1, 1, 0]], dtype=int8)
    """
    sizes, n_labels = labelsets.sum(axis=1), labelsets.shape[1]
    weights, value = (1 - e) * Q, (1 - e) * Q[:, sizes == 0].sum(axis=1)
    present = np.unique(sizes[sizes > 0])
    seen = np.array([weights[:, sizes == s] @ labelsets[sizes == s].astype(float) for s in present])
    unseen = None if e == 0 or P is None else Unseen.of(P, labelsets)
    if unseen is not None:
        value += e * unseen.empty
        logs = unseen.log_terms()
        others = np.exp(logs.sum(axis=1, keepdims=True) - logs)  # product over the other labels
        terms = 2 * e * (unseen.factor[:, np.newaxis] * unseen.P)[:, :, np.newaxis] * others
    best, is_open = np.zeros((len(Q), n_labels), dtype=np.int8), np.arange(len(Q))
    for t in range(1, n_labels + 1):
        D = np.tensordot(2 / (present + t), seen[:, is_open], axes=1)
        if unseen is not None:
            D = D + terms[is_open] @ (unseen.weights * unseen.nodes**t)
        largest = np.partition(D, n_labels - t, axis=1)[:, n_labels - t :].sum(axis=1)
        is_better = largest > value[is_open] + ROUNDING
        rows = is_open[is_better]
        value[rows], best[rows] = largest[is_better], 0
        chosen = np.argsort(-D[is_better], axis=1, kind="stable")[:, :t]
        best[rows[:, np.newaxis], chosen] = 1
        # No larger labelset has more than all labels together have here: D falls with t.
        is_open = is_open[D.sum(axis=1) > value[is_open]]
        if not len(is_open):
            break
    return best


def best_jaccard(Q: FloatArray, labelsets: LabelArray, P: FloatArray, e: float) -> LabelArray:
    """The labelset of highest expected accuracy (Jaccard's index) among some.

    These are the 50 most probable ones that were seen, which stand for all of these in the
    expectation too, the labels of probability above 1/2, and the k likeliest labels for each k.
    """
    n, n_labels = len(Q), labelsets.shape[1]
    every = np.arange(n)[:, np.newaxis]
    top = np.argsort(-Q, axis=1, kind="stable")[:, :N_PROBABLE]
    G = np.take_along_axis(Q, top, axis=1)
    G = (1 - e) * G / G.sum(axis=1, keepdims=True)
    U = labelsets[top].astype(np.float64)
    unseen = Unseen.of(P, labelsets)
    order = np.argsort(-marginals(Q, labelsets, P, e), axis=1, kind="stable")

    listed = np.concatenate([U, (P > 0.5)[:, np.newaxis].astype(np.float64)], axis=1)
    values = _expected_jaccard(G, U, listed @ U.transpose(0, 2, 1), listed.sum(axis=2))
    # The k likeliest labels, for all k at once: what they share with S grows label by label.
    shared = np.cumsum(np.take_along_axis(U, order[:, np.newaxis], axis=2), axis=2)
    k = np.broadcast_to(np.arange(1.0, n_labels + 1), (n, n_labels))
    values_k = _expected_jaccard(G, U, shared.transpose(0, 2, 1), k)
    if e > 0:
        logs = unseen.log_terms()
        within = np.cumsum(logs[every, order], axis=1)
        share = np.cumsum(unseen.P[every, order], axis=1)
        values_k += e * _unseen_jaccard(unseen, logs, within, share, k)
        within, share = listed @ logs, (listed @ unseen.P[:, :, np.newaxis])[:, :, 0]
        values += e * _unseen_jaccard(unseen, logs, within, share, listed.sum(axis=2))
    best, best_k = values.argmax(axis=1), values_k.argmax(axis=1)
    Y_pred = listed[every[:, 0], best].astype(np.int8)
    is_better = values_k.max(axis=1) > values.max(axis=1) + ROUNDING
    ranks = np.argsort(order, axis=1)
    Y_pred[is_better] = ranks[is_better] <= best_k[is_better, np.newaxis]
    return Y_pred


def _expected_jaccard(
    G: FloatArray, U: FloatArray, shared: FloatArray, sizes: FloatArray
) -> FloatArray:
    """Of candidates of those sizes, which share so many labels with each of the labelsets `U`."""
    union = sizes[:, :, np.newaxis] + U.sum(axis=2)[:, np.newaxis] - shared
    J = np.divide(shared, union, out=np.ones_like(union), where=union > 0)
    return np.asarray((J @ G[:, :, np.newaxis])[:, :, 0])


def _unseen_jaccard(
    unseen: Unseen, logs: FloatArray, within: FloatArray, share: FloatArray, sizes: FloatArray
) -> FloatArray:
    """The same if the labels are independent.

    For C it is ``sum of p over C`` times the integral of ``u^(|C| - 1)`` and the product of
    ``1 - p + p u`` over the labels that are not in C, `within` the logarithm of that over C.
    """
    rest = np.exp(logs.sum(axis=1)[:, np.newaxis] - within)
    powers = unseen.nodes ** np.maximum(sizes - 1, 0)[:, :, np.newaxis]
    value = unseen.factor[:, np.newaxis] * share * ((powers * rest) @ unseen.weights)
    return np.asarray(np.where(sizes > 0, value, unseen.empty[:, np.newaxis]))


DECISIONS = {"hamming": best_hamming, "jaccard": best_jaccard, "f1": best_f1}
"""How a labelset is decided on by all of the posterior; "subset" takes the most probable one."""
