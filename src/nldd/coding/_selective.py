"""Which answers a machine may code: the largest theta at which a target accuracy is sure to hold.

Tests of a fixed sequence (Angelopoulos et al., 2021, Learn then test), Clopper and Pearson's or
Bentkus'.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import beta, binom, norm, t

from nldd.exceptions import InputError
from nldd.regression import BinomialLoss, minimize_linear

FloatArray = NDArray[np.float64]

N_TESTS = 50
# The first test takes at least this share of the answers, so that with more and more answers it
# becomes certain to pass wherever the surest of them are better than the target.
FIRST_SHARE = 0.05
# How sure the number of answers that a target takes is to suffice.
ENOUGH = 0.8
MOST_ANSWERS = 10_000_000
FEW = 30


@dataclass(frozen=True)
class Selection:
    """A promise: with this confidence, answers up to the threshold reach the target accuracy.

    No threshold means that none keeps it as far as these answers can tell; then about so many as
    `needed` would do, with a chance of four in five, or no number would. Of all answers, `n_auto`
    pass the threshold; their accuracy is above `lower` with the stated confidence.
    """

    target: float
    confidence: float
    threshold: float | None
    n_answers: int
    n_auto: int
    accuracy: float | None
    lower: float | None
    needed: int | None

    @property
    def share(self) -> float:
        """Share of the answers that the threshold lets through."""
        return self.n_auto / self.n_answers


def selective_threshold(
    theta: Any, correct: Any, target: float = 0.9, confidence: float = 0.9
) -> Selection:
    """The largest theta at which the accuracy of all surer answers is proven to reach a target.

    The k surest answers are tested for growing k: is their accuracy above the target, by an exact
    binomial test at level 1 - confidence? The first k that fails ends the walk, and the last one
    that passed is chosen. As the order of the tests is fixed beforehand, no correction for their
    number is needed: the chance to choose a threshold with an accuracy below the target is at most
    1 - confidence, whether theta is calibrated or not. What it takes is that the answers are a
    random sample of those to come, and that accuracy does not rise with theta.

    The first test takes the number of answers at which an accuracy half way from the target to 1
    passes with an even chance (52 for 0.9 and 0.9), but at least a twentieth of all.

    Parameters
    ----------
    theta : array-like of shape (n_answers,)
        Of predictions that did not see their own answer, as from cross-validation.
    correct : array-like of shape (n_answers,)
        Whether each prediction was right; or, from 0 to 1, the share of it that was right. Shares
        are tested by Bentkus' inequality, at the price of a factor e in the level.
    target, confidence : float in (0, 1)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.random(1000)
    >>> found = selective_threshold(theta, rng.random(1000) > theta / 2, target=0.9)
    >>> round(found.threshold, 2), found.n_auto, round(found.accuracy, 2)
    (0.25, 226, 0.93)
    """
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} must lie between 0 and 1, such as 0.9; got {value!r}.")
    theta, right = np.asarray(theta, dtype=float), np.asarray(correct, dtype=float)
    if theta.ndim != 1 or theta.shape != right.shape or len(theta) == 0:
        needed = "theta and correct need one number for each answer, of which there must be some"
        raise InputError(f"{needed}; got shapes {theta.shape} and {right.shape}.")
    for name, values in (("theta", theta), ("correct", right)):
        if not ((values >= 0) & (values <= 1)).all():
            raise InputError(f"{name} must lie between 0 and 1 everywhere, and not be NaN.")
    order = np.argsort(theta, kind="stable")
    theta, right = theta[order], right[order]
    n, chosen = len(theta), proven_size(theta, right, target, confidence)
    if not chosen:
        enough = answers_needed(theta, right, target, confidence)
        # What there is was not enough, whatever the smoothed accuracy says.
        enough = enough and max(enough, n + n // 10 + 1)
        return Selection(target, confidence, None, n, 0, None, None, enough)
    total, threshold = float(right[:chosen].sum()), float(theta[chosen - 1])
    lower = lower_bound(total, chosen, confidence, price_of_shares(right))
    return Selection(target, confidence, threshold, n, chosen, total / chosen, lower, None)


def proven_size(theta: FloatArray, right: FloatArray, target: float, confidence: float) -> int:
    """How many of the answers, sorted by theta, are proven to reach the target; 0 if none are."""
    chosen, factor = 0, price_of_shares(right)
    for k in sizes_of_tests(theta, target, confidence, factor):
        # Shares add up with rounding errors; a sum that is short by those alone is not short.
        if right[:k].sum() < critical_count(k, target, confidence, factor) - 1e-9:
            break
        chosen = k
    return chosen


def price_of_shares(right: FloatArray) -> float:
    """1 if answers are right or wrong, so that their number is binomial; e for shares."""
    return 1.0 if ((right == 0) | (right == 1)).all() else float(np.e)


def sizes_of_tests(theta: FloatArray, target: float, confidence: float, factor: float) -> list[int]:
    """How many of the sorted answers each test takes; those of equal theta come together."""
    n, first = len(theta), first_size(len(theta), target, confidence, factor)
    sizes = np.linspace(first, n, N_TESTS if first <= n else 0).round().astype(int)
    return np.unique(np.searchsorted(theta, theta[sizes - 1], side="right")).tolist()


def first_size(n: int, target: float, confidence: float, factor: float) -> int:
    return max(_smallest_size(target, confidence, factor), int(np.ceil(FIRST_SHARE * n)))


@lru_cache(maxsize=256)
def _smallest_size(target: float, confidence: float, factor: float) -> int:
    n = 1
    # With more right answers than there are, sf is 0.
    while binom.sf(critical_count(n, target, confidence, factor) - 1, n, (1 + target) / 2) < 0.5:
        n += max(1, n // 100)  # a step in proportion skips no more than a percent
    return n


@lru_cache(maxsize=100_000)
def critical_count(n: int, target: float, confidence: float, factor: float = 1.0) -> int:
    """Fewest right answers of `n` that prove an accuracy above the target."""
    return int(binom.isf((1 - confidence) / factor, n, target)) + 1


def lower_bound(total: float, n: int, confidence: float, factor: float = 1.0) -> float:
    """Accuracy that is exceeded with the given confidence, if `total` of `n` answers are right."""
    right = int(total + 1e-9)
    return float(beta.ppf((1 - confidence) / factor, right, n - right + 1)) if right else 0.0


def accuracy_interval(right: Any, level: float = 0.95) -> tuple[float, float]:
    """Interval for the mean of answers that are right or wrong, or right by a share.

    Clopper and Pearson's for the former, Student's over answers for shares. Of few or equal shares
    Student's claims too much: they get the exact one, at the price of a factor e (Bentkus).
    """
    right = np.asarray(right, dtype=float)
    n, total, tail = len(right), float(right.sum()), (1 - level) / 2
    if n == 0:
        return 0.0, 1.0
    factor = price_of_shares(right)
    if factor == 1 or n < FEW or np.ptp(right) == 0:
        low = lower_bound(total, n, 1 - tail, factor)
        return low, 1 - lower_bound(n - total, n, 1 - tail, factor)
    half = float(t.isf(tail, n - 1) * right.std(ddof=1) / np.sqrt(n))
    return max(0.0, total / n - half), min(1.0, total / n + half)


def answers_needed(
    theta: FloatArray, right: FloatArray, target: float, confidence: float
) -> int | None:
    """About how many answers it takes until the first test passes with a chance of four in five."""
    factor = price_of_shares(right)
    # The chance of being right by a logistic regression on the log-odds of theta.
    ones = np.ones(len(theta))
    Z = np.column_stack([ones, logit(np.clip(theta, 1e-9, 1 - 1e-9))])
    loss = BinomialLoss(1 - right, ones, ones).smoothed(2)
    chance = np.sort(expit(-Z @ minimize_linear(loss, Z).b))[::-1]
    ranks = np.arange(1, len(chance) + 1)
    accuracy = np.cumsum(chance) / ranks
    mean = float(right.mean())
    # Variance of the shares as a part of p (1 - p), that of answers wholly right or wrong.
    spread = 1.0 if factor == 1 or mean in (0, 1) else float(right.var() / (mean * (1 - mean)))

    def enough(n: int) -> bool:
        size = first_size(n, target, confidence, factor)
        surest = float(np.interp(size / n, ranks / len(chance), accuracy))
        count = critical_count(size, target, confidence, factor)
        return size <= n and _chance_to_reach(count, size, surest, spread) >= ENOUGH

    n = _smallest_size(target, confidence, factor)
    while not enough(n):
        n += max(1, n // 50)
        if n > MOST_ANSWERS:
            return None
    return n


def _chance_to_reach(count: int, n: int, accuracy: float, spread: float) -> float:
    if count > n:
        return 0.0
    if spread == 1:
        return float(binom.sf(count - 1, n, accuracy))
    deviation = np.sqrt(spread * n * accuracy * (1 - accuracy))
    return float(norm.sf(count, n * accuracy, deviation)) if deviation else float(accuracy == 1)
