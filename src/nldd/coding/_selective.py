"""Which answers a machine may code: the largest theta at which a target accuracy is sure to hold.

Tests of a fixed sequence with two starts (Angelopoulos et al., 2021, Learn then test; Wiens, 2003,
the fallback procedure), Clopper and Pearson's or Bentkus'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom, norm, t
from sklearn.isotonic import isotonic_regression

from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]

N_TESTS = 50
# The first test takes at least this share of the answers, so that with more and more answers it
# becomes certain to pass wherever the surest of them are better than the target.
FIRST_SHARE = 0.05
# Of the level, what is kept for a test of all answers, which passes where theta tells little and
# nearly all codes are right.
LAST_LEVEL = 0.2
# How sure the number of answers that a target takes is to suffice.
ENOUGH = 0.8
MOST_ANSWERS = 100_000
# By how many standard errors the surest answers may be better than they look, at the two ends of
# the advice. Who needs it has had bad luck as a rule, so it does not lie in the middle; both were
# chosen by results/advice.py.
LUCK = (2.33, -0.5)
FEW = 30


@dataclass(frozen=True)
class Selection:
    """A promise: with this confidence, answers up to the threshold reach the target accuracy.

    Made by :func:`selective_threshold`, and by :func:`triage`.

    Attributes
    ----------
    target, confidence : float
        What was asked for.
    threshold : float or None
        The doubt up to which answers pass; None if none keeps the promise as far as these answers
        can tell.
    n_answers, n_auto : int
        All answers, and those that pass.
    accuracy : float or None
        Of those that pass.
    lower : float or None
        Their accuracy is above it with the stated confidence. That is the target unless all answers
        pass: a bound made after the choice would hold less often.
    needed : tuple of (int, int or None) or None
        Without a threshold: from and up to about how many answers it would take. Either end may be
        open.
    limit : float or None
        New answers pass up to it. It is the threshold itself unless the model that predicts them is
        surer than those that were tested.
    rank_by : {"theta", "chance"}
        What the doubt is: theta, or one minus the chance that all codes are right.
    repeated : Selection or None
        The same for answers whose words stand in the training data, where these are tested apart;
        the others are what all the rest is about.

    Examples
    --------
    >>> from nldd.coding import selective_threshold
    >>> found = selective_threshold([0.1] * 80 + [0.6] * 20, [1] * 80 + [0] * 20, target=0.9)
    >>> found.threshold, found.n_auto, found.share
    (0.1, 80, 0.8)
    >>> selective_threshold([0.1] * 10, [1] * 10).threshold is None
    True
    """

    target: float
    confidence: float
    threshold: float | None = None
    n_answers: int = 0
    n_auto: int = 0
    accuracy: float | None = None
    lower: float | None = None
    needed: tuple[int, int | None] | None = None
    limit: float | None = None
    rank_by: str = "theta"
    repeated: "Selection | None" = None

    @property
    def automates(self) -> bool:
        """Whether any answers pass."""
        return any(limit is not None for limit in self.limits)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """New answers pass up to these: of new words, and of words in the training data."""
        return self.limit, self.limit if self.repeated is None else self.repeated.limit

    @property
    def share(self) -> float:
        """Share of the answers that the threshold lets through."""
        return self.n_auto / self.n_answers if self.n_answers else 0.0


def selective_threshold(
    theta: Any,
    correct: Any,
    target: float = 0.9,
    confidence: float = 0.9,
    *,
    level_share: float = 1.0,
) -> Selection:
    """Find the largest theta at which all surer answers are proven to reach a target accuracy.

    Parameters
    ----------
    theta : array-like of shape (n_answers,)
        Of predictions that did not see their own answer, as from cross-validation; or another doubt
        from 0 to 1.
    correct : array-like of shape (n_answers,)
        Whether each prediction was right; or, from 0 to 1, the share of it that was right. Shares
        are tested by Bentkus' inequality, at the price of a factor e in the level.
    target, confidence : float in (0, 1)
        The accuracy, and how sure it is to hold.

    Returns
    -------
    Selection
        The threshold; or, where none is proven, about how many answers it would take.

    Notes
    -----
    The k surest answers are tested for growing k: is their accuracy above the target,
    by an exact binomial test? The first k that fails ends the walk, and the last one that passed is
    chosen. As the order of the tests is fixed beforehand, no correction for their number is needed.
    The walk has four fifths of the level 1 - confidence; with the rest, and with what a walk that
    came so far brings, all answers are tested. So the chance to choose a threshold with an accuracy
    below the target is at most 1 - confidence, whether theta is calibrated or not. What it takes is
    that the answers are a random sample of those to come, and that accuracy does not rise with
    theta.

    The first test takes the number of answers at which an accuracy half way from the target to 1
    passes with an even chance (52 for 0.9 and 0.9), but at least a twentieth of all. Where there
    are less than three times as many answers, the walk has the whole level.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.coding import selective_threshold
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.random(1000)
    >>> found = selective_threshold(theta, rng.random(1000) > theta / 2, target=0.9)
    >>> round(found.threshold, 2), found.n_auto, round(found.accuracy, 2)
    (0.22, 202, 0.94)
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
    n, level = len(theta), level_share * (1 - confidence) / price_of_shares(right)
    chosen, level_left = proven_size(theta, right, target, level)
    if not chosen:
        enough = answers_needed(theta, right, target, confidence)
        if enough is not None:
            # What there is was not enough, whatever the smoothed accuracy says.
            low, high = max(enough[0], n + 1), enough[1]
            enough = low, high and max(high, low, n + n // 10 + 1)
        return Selection(target, confidence, None, n, 0, None, None, enough)
    total, threshold = float(right[:chosen].sum()), float(theta[chosen - 1])
    # Higher targets may be tested on all answers with what the walk has left.
    lower = lower_bound(total, n, level_left) if chosen == n else target
    proven = (n, chosen, total / chosen, lower, None)
    return Selection(target, confidence, threshold, *proven, limit=threshold)


def proven_size(
    theta: FloatArray, right: FloatArray, target: float, level: float
) -> tuple[int, float]:
    """How many of the answers, sorted by theta, are proven to reach the target; 0 if none are.

    And the level that is left after the test of all of them.
    """
    chosen, at_hand = 0, 0.0
    for k, own_level in levels_of_tests(theta, target, level).items():
        at_hand += own_level
        # Shares add up with rounding errors; a sum that is short by those alone is not short.
        if at_hand and right[:k].sum() >= critical_count(k, target, at_hand) - 1e-9:
            chosen = k
        else:
            at_hand = 0.0
    return chosen, at_hand


def proven_sizes(
    theta: Any, correct: Any, targets: Sequence[float], confidence: float
) -> list[int]:
    """For each of several targets, how many answers a threshold would let through; 0 for none.

    Each by itself holds with the confidence, as that of :func:`selective_threshold` does.
    """
    order = np.argsort(theta, kind="stable")
    theta, right = np.asarray(theta, float)[order], np.asarray(correct, float)[order]
    level = (1 - confidence) / price_of_shares(right)
    return [proven_size(theta, right, target, level)[0] for target in targets]


def price_of_shares(right: FloatArray) -> float:
    """1 if answers are right or wrong, so that their number is binomial; e for shares."""
    return 1.0 if ((right == 0) | (right == 1)).all() else float(np.e)


def levels_of_tests(theta: FloatArray, target: float, level: float) -> dict[int, float]:
    """How many of the sorted answers each test takes, and the level that it brings.

    Answers of equal theta come together.
    """
    n, starts = len(theta), first_and_last(len(theta), target, level)
    if not starts:
        return {}
    sizes = np.linspace(min(starts), n, N_TESTS).round().astype(int)
    ends = np.searchsorted(theta, theta[sizes - 1], side="right").tolist()
    levels = dict.fromkeys(ends, 0.0)
    levels[ends[0]] += starts[min(starts)]
    levels[n] += level - starts[min(starts)]
    return levels


def first_and_last(n: int, target: float, level: float) -> dict[int, float]:
    """Sizes of the tests that bring a level, and theirs; none if `n` answers are too few."""
    first = first_size(n, target, level)
    if n < 3 * first:
        return {first: level} if first <= n else {}
    kept = LAST_LEVEL * level
    return {first_size(n, target, level - kept): level - kept, n: kept}


def first_size(n: int, target: float, level: float) -> int:
    return max(_smallest_size(target, level), int(np.ceil(FIRST_SHARE * n)))


def can_be_tested(n: int, target: float, level: float) -> bool:
    """Whether `n` answers are enough for a test that passes with an even chance."""
    return n >= _smallest_size(target, level)


@lru_cache(maxsize=256)
def _smallest_size(target: float, level: float) -> int:
    n = 1
    # With more right answers than there are, sf is 0.
    while binom.sf(critical_count(n, target, level) - 1, n, (1 + target) / 2) < 0.5:
        n += max(1, n // 100)  # a step in proportion skips no more than a percent
    return n


@lru_cache(maxsize=100_000)
def critical_count(n: int, target: float, level: float) -> int:
    """Fewest right answers of `n` that prove an accuracy above the target."""
    return int(binom.isf(level, n, target)) + 1


def lower_bound(total: float, n: int, level: float) -> float:
    """Accuracy that is missed with a chance of `level`, if `total` of `n` answers are right."""
    right = int(total + 1e-9)
    return float(beta.ppf(level, right, n - right + 1)) if right else 0.0


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
        level = tail / factor
        return lower_bound(total, n, level), 1 - lower_bound(n - total, n, level)
    half = float(t.isf(tail, n - 1) * right.std(ddof=1) / np.sqrt(n))
    return max(0.0, total / n - half), min(1.0, total / n + half)


def answers_needed(
    theta: FloatArray, right: FloatArray, target: float, confidence: float
) -> tuple[int, int | None] | None:
    """From and up to about how many answers it takes until a test passes four times in five.

    How right the surest answers are is known from a few of them only, so the second number may be
    open; where even luck would not do, there is none at all.
    """
    factor, mean = price_of_shares(right), float(right.mean())
    # The chance of being right, which never rises with theta; two answers of mean accuracy in front
    # keep the first few from promising too much.
    in_order = right[np.argsort(theta, kind="stable")]
    shares, weights = np.append(mean, in_order), np.append(2.0, np.ones(len(right)))
    chance = isotonic_regression(shares, sample_weight=weights, increasing=False)[1:]
    ranks = np.arange(1, len(theta) + 1)
    accuracy = np.cumsum(chance) / ranks
    # Variance of the shares as a part of p (1 - p), that of answers wholly right or wrong.
    spread = 1.0 if factor == 1 or mean in (0, 1) else float(right.var() / (mean * (1 - mean)))
    level = (1 - confidence) / factor
    few, many = (
        _enough(ranks / len(ranks), _wilson(accuracy, ranks / spread, luck), target, level, spread)
        for luck in LUCK
    )
    return None if few is None else (few, many)


def _wilson(share: FloatArray, n: FloatArray, luck: float) -> FloatArray:
    """Wilson's bound of a share of `n`, so many standard errors above it."""
    half = luck * np.sqrt(share * (1 - share) / n + (luck / n) ** 2 / 4)
    return np.asarray((share + luck**2 / n / 2 + half) / (1 + luck**2 / n))


def _enough(
    shares: FloatArray, accuracy: FloatArray, target: float, level: float, spread: float
) -> int | None:
    """Fewest answers with a chance of four in five, if the surest `shares` have these accuracies.

    One of two tests passes at least as often as the better of them.
    """

    def chance_to_pass(n: int) -> float:
        starts = first_and_last(n, target, level)
        surest = np.interp(np.divide([*starts], n), shares, accuracy).tolist()
        tests = zip(starts.items(), surest, strict=True)
        return max(
            (
                _chance_to_reach(critical_count(k, target, own), k, p, spread)
                for (k, own), p in tests
            ),
            default=0.0,
        )

    fewer = n = _smallest_size(target, level)
    while chance_to_pass(n) < ENOUGH:
        fewer, n = n, n + n // 4 + 1
        if n > MOST_ANSWERS:
            return None
    while chance_to_pass(fewer) < ENOUGH:
        fewer += fewer // 50 + 1
    return fewer


def _chance_to_reach(count: int, n: int, accuracy: float, spread: float) -> float:
    if count > n:
        return 0.0
    if spread == 1:
        return float(binom.sf(count - 1, n, accuracy))
    deviation = np.sqrt(spread * n * accuracy * (1 - accuracy))
    return float(norm.sf(count, n * accuracy, deviation)) if deviation else float(accuracy == 1)
