"""The chance that all codes of an answer are right, from what its prediction knows.

Theta expects wrong labels; whoever lets a machine code wants answers that are right as a whole. A
logistic regression tells these from the others by clues: theta, how far ahead of its runner-up and
how probable the labelset is, how often it was seen. It starts from theta, whose weight is next to
free, and the fewer answers there are to learn from, the nearer it stays to theta's order.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from nldd.linear._logistic import MultiLabelLogisticRegression

FloatArray = NDArray[np.float64]

N_CLUES = 14
# Standardised clues have weights of about the root of it; chosen on splits of four data sets.
C = 0.02
# So many times the others' deviation is granted to theta's weight before it is shrunk.
FREEDOM_OF_THETA = 3.0
# Right answers, and wrong ones, that a regression takes.
FEWEST = 5
# Probabilities nearer to 0 and 1 than that tell no more.
NEAREST = 1e-6


def log_odds(probability: Any) -> FloatArray:
    """Log-odds that stay finite at 0 and 1."""
    return np.asarray(logit(np.clip(probability, NEAREST, 1 - NEAREST)), dtype=np.float64)


def confidence_clues(near: Any, times: FloatArray) -> FloatArray:
    """What speaks for the first of two labelsets; theta's log-odds come first.

    `near` has the two nearest labelsets of each answer and its probabilities label by label, and
    `times` says how often the first one was seen.
    """
    P = np.clip(near.P, NEAREST, 1 - NEAREST)
    first, second = (near.labelsets[:, rank].astype(bool) for rank in (0, 1))
    theta, runner_up = (log_odds(near.theta[:, rank]) for rank in (0, 1))
    likely, next_likely, most_likely = (_log_likelihood(P, Y) for Y in (first, second, P > 0.5))
    largest = np.sort(np.pad(P, ((0, 0), (1, 0))), axis=1)
    clues = (
        theta,
        runner_up - theta,
        likely,
        likely - next_likely,
        most_likely - likely,
        first.sum(axis=1),
        np.log(times),
        largest[:, -1],
        largest[:, -2],
        P.sum(axis=1),
        np.where(first, P, 1.0).min(axis=1),  # the weakest code that is on
        np.where(first, 0.0, P).max(axis=1),  # and the strongest that is off
        near.Dx[:, 0],
        near.Dy[:, 0],
    )
    return np.column_stack(clues).astype(np.float64)


def _log_likelihood(P: FloatArray, Y: NDArray[np.bool_]) -> FloatArray:
    return np.asarray(np.log(np.where(Y, P, 1 - P)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ConfidenceRegression:
    """Log-odds of "all codes right": an intercept and a weight for each clue and each code.

    Codes count by how doubtful theta is: some are harder than others, but where all speaks for an
    answer, even hard codes are right. `centre` and `scale` are those of theta's log-odds.
    """

    intercept: float
    weights: FloatArray
    centre: float
    scale: float

    @classmethod
    def fit(cls, clues: FloatArray, Y: NDArray[np.int8], right: FloatArray) -> Self | None:
        """Learn from predicted labelsets `Y` that were right or not; from too few, nothing."""
        n_right = np.count_nonzero(right)
        if min(n_right, len(right) - n_right) < FEWEST:
            return None
        centre, scale = float(clues[:, 0].mean()), float(clues[:, 0].std()) or 1.0
        X = _columns(clues, Y, centre, scale)
        means, deviations = X.mean(axis=0), X.std(axis=0)
        deviations[deviations < NEAREST] = np.inf  # a constant says nothing
        deviations[0] /= FREEDOM_OF_THETA
        model = MultiLabelLogisticRegression(C=C).fit((X - means) / deviations, right.astype(int))
        weights = model.coef_[0] / deviations
        return cls(float(model.intercept_[0] - weights @ means), weights, centre, scale)

    def chance(self, clues: FloatArray, Y: NDArray[np.int8]) -> FloatArray:
        """How probable it is that all codes of each answer are right."""
        X = _columns(clues, Y, self.centre, self.scale)
        return np.asarray(expit(self.intercept + X @ self.weights))


def _columns(clues: FloatArray, Y: NDArray[np.int8], centre: float, scale: float) -> FloatArray:
    doubtful = expit((clues[:, :1] - centre) / scale)
    return np.hstack([clues, Y * doubtful])


def cross_fit(
    clues: FloatArray, Y: NDArray[np.int8], right: FloatArray, fold: NDArray[np.intp]
) -> FloatArray | None:
    """The chance of each answer by a regression fitted to the answers of the other folds."""
    chance = np.empty(len(fold))
    for number in np.unique(fold):
        own = fold == number
        fitted = ConfidenceRegression.fit(clues[~own], Y[~own], right[~own])
        if fitted is None:
            return None
        chance[own] = fitted.chance(clues[own], Y[own])
    return chance
