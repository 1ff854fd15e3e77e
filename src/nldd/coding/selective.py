"""Which answers a machine may code: the largest theta at which a target accuracy is sure to hold.

Tests of a fixed sequence with several starts (Angelopoulos et al., 2021, Learn then test; Wiens,
2003, the fallback procedure), Clopper and Pearson's or Bentkus'.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import beta, binom, t

from nldd.coding.answers import FloatArray
from nldd.exceptions import InputError
from nldd.present.drawing import read_numbers

N_TESTS = 50
# The first test takes at least this share of the answers, so that with more and more answers it
# becomes certain to pass wherever the surest of them are better than the target.
FIRST_SHARE = 0.05
# Shares of the level that the test of the first size brings, and tests of these shares of all
# answers; docs/promise.md compares them with others.
FIRST_LEVEL = 0.55
LATER_LEVELS = {0.12: 0.1, 0.25: 0.1, 0.5: 0.15, 1.0: 0.1}
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
    closest : tuple of (int, int, int) or None
        Without a threshold, of the test that came closest to passing: answers tested, right among
        them, and right needed. None if there are too few answers for any test.
    limit : float or None
        New answers pass up to it. It is the threshold itself unless the model that predicts them is
        surer than those that were tested.
    rank_by : {"theta", "chance"}
        What the doubt is: theta, or one minus the chance that all codes are right.
    repeated : Selection or None
        The same for answers whose words stand in the training data, where these are tested apart;
        the others are what all the rest is about.
    measure : {"subset", "hamming"}
        Accuracy of whole answers, or of labels.

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
    closest: tuple[int, int, int] | None = None
    limit: float | None = None
    rank_by: str = "theta"
    repeated: "Selection | None" = None
    measure: str = "subset"

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"share": self.share}


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
    level_share : float in (0, 1]
        Share of the level 1 - confidence that this test may spend.

    Returns
    -------
    Selection
        The threshold; or, if no test passes, the one that came closest.

    Notes
    -----
    The k most confident answers are tested for growing k: is their accuracy above the target, by an
    exact binomial test? A test that passes hands its level on to the next one; one that fails loses
    it. The largest k that passes is chosen. As order and levels are fixed beforehand, the chance to
    choose a threshold with an accuracy below the target is at most 1 - confidence, under any
    dependence of the tests, whether theta is calibrated or not. What it takes is that the answers
    are a random sample of those to come, and that accuracy does not rise with theta.

    The first test has 55 % of the level 1 - confidence, so that few good answers are found. Tests
    of 12, 25, 50 and 100 % of the answers bring 10, 10, 15 and 10 %, so that a bad start does not
    end the search. The first test takes the number of answers at which an accuracy half way from
    the target to 1 passes with an even chance (52 for 0.9 and 0.9 at the whole level), but at least
    a twentieth of all. Levels of smaller tests fall to it. If there are less than three times as
    many answers, it has the whole level.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.coding import selective_threshold
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.random(1000)
    >>> found = selective_threshold(theta, rng.random(1000) > theta / 2, target=0.9)
    >>> round(found.threshold, 2), found.n_auto, round(found.accuracy, 2)
    (0.22, 200, 0.94)
    """
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} must lie between 0 and 1, such as 0.9; got {value!r}.")
    if not 0 < level_share <= 1:
        raise InputError(f"level_share must be above 0 and at most 1; got {level_share!r}.")
    theta = read_numbers("theta", theta)
    right = read_numbers("correct", correct, len(theta))
    order = np.argsort(theta, kind="stable")
    theta, right = theta[order], right[order]
    n, level = len(theta), level_share * (1 - confidence) / level_correction(right)
    chosen, closest = tested_size(theta, right, target, level)
    if not chosen:
        return Selection(target, confidence, None, n, closest=closest)
    total, threshold = float(right[:chosen].sum()), float(theta[chosen - 1])
    return Selection(target, confidence, threshold, n, chosen, total / chosen, limit=threshold)


def tested_size(
    theta: FloatArray, right: FloatArray, target: float, level: float
) -> tuple[int, tuple[int, int, int] | None]:
    """Number of answers, sorted by theta, that are proven to reach the target; 0 if none are.

    And, of the failed test with the fewest right answers missing: answers tested, right among them,
    and right needed.
    """
    chosen, at_hand, failed = 0, 0.0, []
    for k, own_level in levels_of_tests(theta, target, level).items():
        at_hand += own_level
        if not at_hand:
            continue
        total, needed = float(right[:k].sum()), critical_count(k, target, at_hand)
        # Shares add up with rounding errors; a sum that is short by those alone is not short.
        if total >= needed - 1e-9:
            chosen = k
        else:
            at_hand = 0.0
            failed.append((k, int(total + 1e-9), needed))
    # A later start may have too small a level to pass without that of the tests before it.
    closest = min(failed, key=lambda test: (test[2] > test[0], test[2] - test[1]), default=None)
    return chosen, closest


def level_correction(right: FloatArray) -> float:
    """1 if answers are right or wrong, so that their number is binomial; e for shares."""
    return 1.0 if ((right == 0) | (right == 1)).all() else float(np.e)


def levels_of_tests(theta: FloatArray, target: float, level: float) -> dict[int, float]:
    """How many of the sorted answers each test takes, and the level that it brings.

    Answers of equal theta come together.
    """
    n, starts = len(theta), starting_levels(len(theta), target, level)
    if not starts:
        return {}
    sizes = np.union1d(np.linspace(min(starts), n, N_TESTS).round().astype(int), [*starts])
    ends = np.searchsorted(theta, theta[sizes - 1], side="right").tolist()
    levels = dict.fromkeys(ends, 0.0)
    for size, end in zip(sizes.tolist(), ends, strict=True):
        levels[end] += starts.get(size, 0.0)
    return levels


def starting_levels(n: int, target: float, level: float) -> dict[int, float]:
    """Sizes of the tests that bring a level, and theirs; none if `n` answers are too few."""
    first = first_size(n, target, level)
    if n < 3 * first:
        return {first: level} if first <= n else {}
    part, later = FIRST_LEVEL, {}
    for share, own in LATER_LEVELS.items():
        if round(share * n) <= first_size(n, target, part * level):
            part += own
        else:
            later[round(share * n)] = own * level
    return {first_size(n, target, part * level): part * level, **later}


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
    factor = level_correction(right)
    if factor == 1 or n < FEW or np.ptp(right) == 0:
        level = tail / factor
        return lower_bound(total, n, level), 1 - lower_bound(n - total, n, level)
    half = float(t.isf(tail, n - 1) * right.std(ddof=1) / np.sqrt(n))
    return max(0.0, total / n - half), min(1.0, total / n + half)
