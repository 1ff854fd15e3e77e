"""Which answers a machine may code: the largest theta at which a target accuracy is sure to hold.

A test of fixed sequence walks from the surest answers to all of them and stops where the accuracy
is no longer proven (Angelopoulos et al., 2021, Learn then test; the tests are Clopper and Pearson's
or, for shares of right labels, Bentkus').
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import beta, binom, norm

from nldd.exceptions import InputError
from nldd.regression import BinomialLoss, minimize_linear

N_TESTS = 50
# The first test takes at least this share of the answers, so that with more and more answers it
# becomes certain to pass wherever the surest of them are better than the target.
FIRST_SHARE = 0.05
# How sure the number of answers that a target takes is to suffice.
ENOUGH = 0.8
MOST_ANSWERS = 10_000_000


@dataclass(frozen=True)
class Selection:
    """A threshold for theta and what is known about the answers below it.

    Attributes
    ----------
    target, confidence : float
        The promise: with this confidence, answers of theta <= `threshold` are right at least as
        often as the target says.
    threshold : float or None
        None if no threshold keeps the promise as far as these answers can tell.
    n_answers, n_auto : int
        All answers, and those that the threshold lets through.
    accuracy : float or None
        Share of the latter that is right.
    lower : float or None
        It is higher than this with the stated confidence.
    needed : int or None
        Without a threshold: about how many coded answers it would take to find one, with a chance
        of four in five. None where none are needed, or where no number would do.
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

    Parameters
    ----------
    theta : array-like of shape (n_answers,)
        Of predictions that did not see their own answer, as from cross-validation.
    correct : array-like of shape (n_answers,)
        Whether each prediction was right; or, from 0 to 1, the share of it that was right. Shares
        are tested by Bentkus' inequality, which makes the binomial test hold for them at the price
        of a factor e.
    target, confidence : float in (0, 1)

    Returns
    -------
    Selection

    Notes
    -----
    The first test takes the smallest number of answers at which an accuracy half way from the
    target to 1 passes with an even chance, 52 for a target and a confidence of 0.9, or a twentieth
    of all answers if that is more: fewer answers would stop the walk by chance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.random(1000)
    >>> found = selective_threshold(theta, rng.random(1000) > theta / 2, target=0.9)
    >>> round(found.threshold, 2), found.n_auto, round(found.accuracy, 2)
    (0.25, 226, 0.93)
    """
    theta, right = checked(theta, correct)
    _check_promise(target, confidence)
    order = np.argsort(theta, kind="stable")
    theta, right = theta[order], right[order]
    chosen = proven_size(theta, right, target, confidence)
    if not chosen:
        needed = answers_needed(theta, right, target, confidence)
        if needed is not None:
            # What there is was not enough, whatever the smoothed accuracy says.
            needed = max(needed, len(theta) + len(theta) // 10 + 1)
        return Selection(target, confidence, None, len(theta), 0, None, None, needed)
    total = float(right[:chosen].sum())
    return Selection(
        target=target,
        confidence=confidence,
        threshold=float(theta[chosen - 1]),
        n_answers=len(theta),
        n_auto=chosen,
        accuracy=total / chosen,
        lower=lower_bound(total, chosen, confidence, price_of_shares(right)),
        needed=None,
    )


def proven_size(
    theta: NDArray[np.float64], right: NDArray[np.float64], target: float, confidence: float
) -> int:
    """How many of the answers, sorted by theta, are proven to reach the target; 0 if none are."""
    factor = price_of_shares(right)
    n_right = np.cumsum(right)
    proven = 0
    for k in walk(theta, target, confidence, factor):
        # Shares add up with rounding errors; a sum that is short by those alone is not short.
        if n_right[k - 1] < critical_count(k, target, confidence, factor) - 1e-9:
            break
        proven = k
    return proven


def checked(theta: Any, correct: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Theta and rightness as arrays, if they can be used."""
    theta, right = np.asarray(theta, dtype=float), np.asarray(correct, dtype=float)
    if theta.ndim != 1 or theta.shape != right.shape or len(theta) == 0:
        raise InputError(
            "theta and correct need one number for each answer, of which there must be some; "
            f"got shapes {theta.shape} and {right.shape}."
        )
    for name, values in (("theta", theta), ("correct", right)):
        if not ((values >= 0) & (values <= 1)).all():
            raise InputError(f"{name} must lie between 0 and 1 everywhere, and not be NaN.")
    return theta, right


def _check_promise(target: float, confidence: float) -> None:
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} must lie between 0 and 1, such as 0.9; got {value!r}.")


def price_of_shares(right: NDArray[np.float64]) -> float:
    """1 if answers are right or wrong, so that their number is binomial; e for shares."""
    return 1.0 if ((right == 0) | (right == 1)).all() else float(np.e)


def walk(theta: NDArray[np.float64], target: float, confidence: float, factor: float) -> list[int]:
    """How many of the sorted answers each test takes; those of equal theta come together."""
    n = len(theta)
    first = first_size(n, target, confidence, factor)
    if first > n:
        return []
    sizes = np.linspace(first, n, N_TESTS).round().astype(int)
    return np.unique(np.searchsorted(theta, theta[sizes - 1], side="right")).tolist()


def first_size(n: int, target: float, confidence: float, factor: float) -> int:
    """Answers in the first test, if there are `n` in all."""
    return max(_smallest_size(target, confidence, factor), int(np.ceil(FIRST_SHARE * n)))


@lru_cache(maxsize=256)
def _smallest_size(target: float, confidence: float, factor: float) -> int:
    half_way = (1 + target) / 2
    n = 1
    while True:
        count = critical_count(n, target, confidence, factor)
        if count <= n and binom.sf(count - 1, n, half_way) >= 0.5:
            return n
        # Right answers by far the most: a step in proportion skips no more than a percent.
        n += max(1, n // 100)


@lru_cache(maxsize=100_000)
def critical_count(n: int, target: float, confidence: float, factor: float = 1.0) -> int:
    """Fewest right answers of `n` that prove an accuracy above the target.

    Examples
    --------
    >>> critical_count(22, 0.9, 0.9), critical_count(21, 0.9, 0.9)
    (22, 22)
    """
    return int(binom.isf((1 - confidence) / factor, n, target)) + 1


def lower_bound(total: float, n: int, confidence: float, factor: float = 1.0) -> float:
    """Accuracy that is exceeded with the given confidence, if `total` of `n` answers are right."""
    right = int(total + 1e-9)
    return float(beta.ppf((1 - confidence) / factor, right, n - right + 1)) if right else 0.0


def answers_needed(
    theta: NDArray[np.float64], right: NDArray[np.float64], target: float, confidence: float
) -> int | None:
    """About how many answers it takes until the first test passes with a chance of four in five.

    How accuracy falls with theta is smoothed by a logistic regression of the errors on the log-odds
    of theta, with a slope that cannot be negative; then the number is searched for.
    """
    factor = price_of_shares(right)
    chance = np.sort(right_by_theta(theta, right))[::-1]
    accuracy = np.cumsum(chance) / np.arange(1, len(chance) + 1)
    spread = _spread(right, factor)

    def enough(n: int) -> bool:
        size = first_size(n, target, confidence, factor)
        surest = float(np.interp(size / n, np.arange(1, len(chance) + 1) / len(chance), accuracy))
        count = critical_count(size, target, confidence, factor)
        return size <= n and _chance_to_reach(count, size, surest, spread) >= ENOUGH

    n = _smallest_size(target, confidence, factor)
    while not enough(n):
        n += max(1, n // 50)
        if n > MOST_ANSWERS:
            return None
    return n


def right_by_theta(theta: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance of being right as a smooth function of theta that does not rise."""
    inside = np.clip(theta, 1e-9, 1 - 1e-9)
    Z = np.column_stack([np.ones(len(theta)), logit(inside)])
    loss = BinomialLoss(1 - right, np.ones(len(right)), np.ones(len(right))).smoothed(2)
    eta = Z @ minimize_linear(loss, Z).b
    return np.asarray(1 / (1 + np.exp(eta)))


def _spread(right: NDArray[np.float64], factor: float) -> float:
    """Variance of the shares as a part of p (1 - p), that of answers wholly right or wrong."""
    mean = float(right.mean())
    return 1.0 if factor == 1 or mean in (0, 1) else float(right.var() / (mean * (1 - mean)))


def _chance_to_reach(count: int, n: int, accuracy: float, spread: float) -> float:
    if count > n:
        return 0.0
    if spread == 1:
        return float(binom.sf(count - 1, n, accuracy))
    deviation = np.sqrt(spread * n * accuracy * (1 - accuracy))
    return float(norm.sf(count, n * accuracy, deviation)) if deviation else float(accuracy == 1)
