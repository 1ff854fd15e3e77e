"""How probable each labelset is: a posterior by distance, probabilities, frequency and size.

The score of a labelset S that training has seen, for a row with label probabilities p, is::

    z_S = -w1 Dx_S + w2 ll_S + w3 log n_S + w4 |S|

with Dx_S the distance from the nearest training row with S, ll_S the log-likelihood of S if labels
were independent, n_S the training rows with S by their weights, and |S| its size. The posterior is
``Q = softmax(z)``. The weights are those that make the labelsets of T2 most probable (conditional
maximum likelihood) among all that T1 has, by the rows of T1 and the probabilities of its
classifiers.

What training has not seen has a share as well: e, that of the training rows whose labelset occurs
once, is the estimate of Good and Turing for the share of new rows with a new labelset.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.utils import gen_batches

from nldd._parallel import delayed, do_all
from nldd.estimators._decisions import DECISIONS, FloatArray, LabelArray, Unseen, marginals
from nldd.search._index import distinct_labelsets, find_labelsets
from nldd.search._products import LabelsetRows

# Probabilities of labels are clipped to this and 1 less this: no label alone rules a labelset out.
NEAREST = 0.001
# Rows of T2 to learn from: four weights need no more. And fewer if T1 has many labelsets.
MOST_ROWS, MOST_SCORES = 1000, 2**24
# With no more rows, nothing is learned.
FEWEST_ROWS = 5
# Penalties of the squared weights, for features in units of their deviation within a row.
PENALTIES = np.array([0.01, 0.01, 0.01, 1.0])
# Near enough to the optimum that equal data in another form give equal decisions.
PRECISE = {"ftol": 1e-13, "gtol": 1e-7, "maxiter": 1000}
# Scores in memory at a time, of all labelsets or rows.
BLOCK_SCORES, MAX_BLOCK = 2**22, 1024


class PosteriorWeights(NamedTuple):
    """What each source of evidence counts; without data to learn from, what is given here.

    Attributes
    ----------
    distance, probabilities, frequency : float
        Not below 0.
    size : float
        Above 0 if labelsets are larger than the probabilities say, below if they are smaller.
    """

    distance: float = 0.1
    probabilities: float = 0.6
    frequency: float = 0.4
    size: float = 0.0


def log_odds(P: FloatArray) -> FloatArray:
    """Log-odds of clipped probabilities."""
    P = P.clip(NEAREST, 1 - NEAREST)
    return np.asarray(np.log(P) - np.log1p(-P))


def log_likelihoods(P: FloatArray, labelsets: LabelArray) -> FloatArray:
    """Of each labelset for each row, if labels were independent: (n_samples, n_labelsets)."""
    none = np.log1p(-P.clip(NEAREST, 1 - NEAREST)).sum(axis=1)
    return np.asarray(log_odds(P) @ labelsets.T.astype(np.float64) + none[:, np.newaxis])


def fit_posterior_weights(
    Dx: FloatArray,
    ll: FloatArray,
    counts: NDArray[Any],
    sizes: NDArray[Any],
    truth: NDArray[np.intp],
    sample_weight: FloatArray | None = None,
) -> PosteriorWeights:
    """The weights by which the true labelsets are most probable, with a small penalty.

    Parameters
    ----------
    Dx, ll : ndarray of shape (n_rows, n_labelsets)
    counts, sizes : ndarray of shape (n_labelsets,)
        Rows with each labelset, and how many labels it has.
    truth : ndarray of shape (n_rows,)
        Positions of the true labelsets.
    sample_weight : ndarray of shape (n_rows,), default=None

    Returns
    -------
    PosteriorWeights
        The minimum of ``-sum of log Q_truth + penalty``, which is convex.
    """
    features = [-Dx, ll, np.log(counts)[np.newaxis], sizes[np.newaxis].astype(np.float64)]
    units = np.array([each.std(axis=1).mean() for each in features])
    units[units <= 0] = 1.0
    features = [each / unit for each, unit in zip(features, units, strict=True)]
    of_truth = [np.broadcast_to(each, Dx.shape)[np.arange(len(Dx)), truth] for each in features]
    weight = np.ones(len(Dx)) if sample_weight is None else sample_weight / sample_weight.mean()
    reached = np.array([weight @ each for each in of_truth])

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        z = (w[2] * features[2] + w[3] * features[3]) + w[0] * features[0] + w[1] * features[1]
        top = logsumexp(z, axis=1)
        Q = np.exp(z - top[:, np.newaxis]) * weight[:, np.newaxis]
        total = Q.sum(axis=0)
        expected = np.array(
            [np.vdot(each, Q if len(each) == len(Q) else total) for each in features]
        )
        value = weight @ top - w @ reached + 0.5 * PENALTIES @ w**2
        return float(value), expected - reached + PENALTIES * w

    bounds = [(0, None)] * 3 + [(None, None)]
    start = np.array(PosteriorWeights()) * units
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=PRECISE)
    return PosteriorWeights(*(found.x / units).tolist())


def usable_rows(T1: Any, T2: Any, rng: RandomState) -> NDArray[np.intp]:
    """Rows of T2 whose labelset T1 has, so many at random as the weights are learned from."""
    known = T1.labelsets().labelsets
    rows = np.flatnonzero(find_labelsets(known, T2.Y) >= 0)
    most = max(FEWEST_ROWS, min(MOST_ROWS, MOST_SCORES // len(known)))
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def learn_weights(index: LabelsetRows, T1: Any, T2: Any, P: FloatArray) -> PosteriorWeights:
    """The weights, by rows of T2 with label probabilities `P` and the rows of T1 to compare."""
    if len(T2) <= FEWEST_ROWS or len(index.counts) < 2:
        return PosteriorWeights()
    return fit_posterior_weights(
        index.distances(T2.X)[0],
        log_likelihoods(P, index.labelsets),
        count_rows(T1),
        index.labelsets.sum(axis=1),
        find_labelsets(index.labelsets, T2.Y),
        T2.sample_weight,
    )


def count_rows(T: Any) -> FloatArray:
    """How many rows have each labelset, by their weights, which are 1 on average."""
    _, number = distinct_labelsets(T.Y)
    weight = np.ones(len(T)) if T.sample_weight is None else T.sample_weight
    return np.asarray(np.bincount(number, weights=weight / weight.mean()), dtype=np.float64)


def count_groups(T: Any) -> NDArray[np.int64]:
    """How many groups have rows with each labelset; without groups, how many rows have it."""
    _, number = distinct_labelsets(T.Y)
    if T.groups is not None:
        number = np.unique(np.stack([number, T.groups]), axis=1)[0]
    return np.bincount(number)


class Listed(NamedTuple):
    """Some labelsets of each row: which, how probable, and by what; all (n_samples, k).

    Probabilities are Q, `theta` is the expected error rate per label, `row` the nearest row.
    """

    labelset: NDArray[np.intp]
    Q: FloatArray
    theta: FloatArray
    row: NDArray[np.intp]
    Dx: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """The training rows, the weights, and how often each labelset was seen.

    Attributes
    ----------
    index : LabelsetRows
    weights : PosteriorWeights
    counts : ndarray of shape (n_labelsets,)
        n_S, which sample weights may make odd numbers.
    seen : ndarray of shape (n_labelsets,)
        How many groups of training rows have each labelset; copies are one group.
    is_closed : bool
        There are no other labelsets: those of a 1-D target are its classes.
    """

    index: LabelsetRows
    weights: PosteriorWeights
    counts: FloatArray
    seen: NDArray[np.int64]
    is_closed: bool = False

    @classmethod
    def of(
        cls, T: Any, index: LabelsetRows, weights: PosteriorWeights, is_closed: bool
    ) -> "Posterior":
        """With the counts of T, whose rows the index has."""
        return cls(index, weights, count_rows(T), count_groups(T), is_closed)

    @property
    def unseen_share(self) -> float:
        """e, the share of new rows that is expected to have a labelset not seen in training."""
        return 0.0 if self.is_closed else float((self.seen == 1).sum() / self.seen.sum())

    def with_rows(self, X: Any, Y: NDArray[Any]) -> "Posterior":
        """The same with more rows, each a group of its own."""
        _, number = distinct_labelsets(np.concatenate([self.index.labelsets, Y]))

        def add(before: Any) -> Any:
            return np.bincount(number, weights=np.append(before, np.ones(len(Y))))

        counts, seen = add(self.counts), add(self.seen).astype(np.int64)
        return replace(self, index=self.index.with_rows(X, Y), counts=counts, seen=seen)

    def decide(
        self, X: Any, P: FloatArray, decision: str, n_jobs: int | None, verbose: int
    ) -> LabelArray:
        """The labelset of each row that is best by the measure that the decision aims at."""
        labelsets, e = self.index.labelsets, self.unseen_share

        def decide(X: Any, P: FloatArray) -> LabelArray:
            # Of exclusive classes the most probable one is best by any measure.
            if decision == "subset" or self.is_closed:
                gain = self._gain(P)
                return labelsets[self.index.most_probable(X, gain, self.weights.distance)]
            return DECISIONS[decision](self._posterior(X, P)[0], labelsets, P, e)

        return np.concatenate(self._in_blocks(decide, n_jobs, verbose, X, P))

    def marginals(self, X: Any, P: FloatArray, n_jobs: int | None, verbose: int) -> FloatArray:
        """The probability of each label."""

        def find(X: Any, P: FloatArray) -> FloatArray:
            return self._marginals(self._posterior(X, P)[0], P)

        return np.concatenate(self._in_blocks(find, n_jobs, verbose, X, P))

    def list_labelsets(
        self,
        X: Any,
        P: FloatArray,
        k: int,
        n_jobs: int | None,
        verbose: int,
        first: NDArray[np.intp] | None = None,
    ) -> Listed:
        """The k most probable labelsets of each row, best first.

        With `first`, these positions come before them, where they are not -1.
        """
        first = np.full(len(P), -1) if first is None else first

        def find(X: Any, P: FloatArray, first: NDArray[np.intp]) -> Listed:
            Q: Any
            Q, Dx, row = self._posterior(X, P)
            M, order = self._marginals(Q, P), Q.copy()
            order[first >= 0, first[first >= 0]] = np.inf
            best = np.argsort(-order, axis=1, kind="stable")[:, :k]
            theta = np.abs(self.index.labelsets[best] - M[:, np.newaxis]).mean(axis=2)
            Q, row, Dx = (np.take_along_axis(each, best, axis=1) for each in (Q, row, Dx))
            return Listed(best, Q, theta, row, Dx)

        blocks = self._in_blocks(find, n_jobs, verbose, X, P, first)
        return Listed(*map(np.concatenate, zip(*blocks, strict=True)))

    def probability(
        self, Y: LabelArray, labelset: NDArray[np.intp], Q: FloatArray, P: FloatArray
    ) -> FloatArray:
        """That labelsets are exactly right; Q is not looked at for those that were never seen."""
        e = self.unseen_share
        unseen = Unseen.of(P, self.index.labelsets).probability(Y)
        return np.where(labelset >= 0, (1 - e) * Q, e * unseen)

    def parts(self, P: FloatArray, listed: Listed) -> Any:
        """What each source adds to the scores of labelsets, in the form of the weights."""
        w, index, labelset = self.weights, self.index, listed.labelset
        chosen = index.labelsets[labelset]
        on = np.where(chosen == 1, P[:, np.newaxis], 1 - P[:, np.newaxis])
        ll = np.log(on.clip(NEAREST, 1 - NEAREST)).sum(axis=2)
        parts: list[Any] = [-w.distance * listed.Dx, w.probabilities * ll]
        parts += [w.frequency * np.log(self.counts[labelset]), w.size * chosen.sum(axis=2)]
        return PosteriorWeights(*parts)

    def _gain(self, P: FloatArray) -> FloatArray:
        """The part of the scores that needs no distances, up to a constant of each row."""
        _, by_p, by_count, by_size = self.weights
        labelsets, counts = self.index.labelsets.astype(np.float64), self.counts
        gain = (by_p * log_odds(P)) @ labelsets.T
        gain += by_count * np.log(counts) + by_size * labelsets.sum(axis=1)
        return np.asarray(gain)

    def _posterior(self, X: Any, P: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
        """Q of each labelset that was seen, its distance, and its nearest row."""
        Dx, row = self.index.distances(X)
        return softmax(self._gain(P) - self.weights.distance * Dx, axis=1), Dx, row

    def _marginals(self, Q: FloatArray, P: FloatArray) -> FloatArray:
        return marginals(Q, self.index.labelsets, P, self.unseen_share)

    def _in_blocks(
        self, function: Callable[..., Any], n_jobs: int | None, verbose: int, *rows: Any
    ) -> list[Any]:
        """What a function says of blocks of rows of some arrays, one after the other."""
        width = max(len(self.seen), len(self.index), self.index.labelsets.shape[1])
        size = int(np.clip(BLOCK_SCORES // width, 1, MAX_BLOCK))
        blocks = list(gen_batches(rows[0].shape[0], size))
        tasks = (delayed(function)(*(each[block] for each in rows)) for block in blocks)
        return do_all(tasks, len(blocks), n_jobs, "posterior" if verbose else None)
