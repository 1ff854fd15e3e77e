"""The accuracy guarantee: what is asked for, the tests behind it, and what a coded table states.

The threshold is the largest theta at which a target accuracy is sure to hold. Tests are a fixed
sequence with several starts (Angelopoulos et al., 2021, Learn then test; Wiens, 2003, the fallback
procedure), Clopper and Pearson's or Bentkus'.

Two things divide the level 1 - confidence:

- **Repeated words without ids.** Nobody knows whether answers of the same words are copies or
  several people who say the same. If they are copies, the model does better on them than on any
  new answer. So answers whose words stand in the training data and all others have thresholds of
  their own, each tested at half of the level: both hold with the confidence, and then they hold
  together, in whichever proportion new answers are of either kind.
- **Refits.** A study that is updated again and again is tested again and again, and what has
  passed once stays in use. The first fit has four fifths of the level, and the j-th refit
  1 / (j (j + 1)) of the rest: together no more than all of it, however many there are. A fit that
  passes does not hand its level on: its test is a walk from threshold to threshold, which ends
  where one fails and has spent it (results/repeats.py shows what handing it on does).

Single codes may be settled where the machine is not sure of the whole answer: a code is set where
its probability is high, ruled out where it is low, and asked about between. Most codes apply to few
answers, so that ruling them out is nearly always right: a share of right decisions over all codes
would say nothing. So there are two promises. (i) Of the codes that the machine sets in an answer, a
share of at least the target is right. (ii) Of the codes that people would give an answer, a share
of at most one minus the target is ruled out. Both are means over answers: the decisions of one
answer hang together, so answers are what is counted, not decisions. Each promise has half of the
level, and is tested as a fixed sequence: from the strictest threshold on, until the first test that
fails (Angelopoulos et al., 2021).
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import beta, binom, t

from nldd._wording import quote
from nldd.coding.answers import BoolArray, LabelArray, RowArray
from nldd.exceptions import InputError
from nldd.present.drawing import read_numbers

if TYPE_CHECKING:
    from nldd.coding.model import CodingModel

FloatArray = NDArray[Any]
# What the doubt about an answer is: that not all of its codes are right, or theta.
RANKINGS = ("chance", "theta")
MEASURES = ("subset", "hamming")
# Of the level, for the first fit: most studies have no other. A test at 0.9 takes at least 69
# answers with it, 52 with all of the level and 89 with half.
FIT_SHARE = 0.8
# Probabilities up to which codes are tried to be ruled out; above the last one, none is.
EVEN, LOWEST, N_LOW = 0.5, 1e-4, 100
# Whether a guarantee was met.
KEPT, BROKEN, OPEN = "kept", "broken", "cannot tell yet"
# The grammar of `Guarantee`; codes that are settled one by one have two thresholds.
SHARE, LIMIT = r"(0\.[0-9]+|[0-9.]+e-[0-9]+)", r"(?:none|[0-9.]+(?:e-[0-9]+)?)"
LIMITS, RANKED = rf"({LIMIT}(?: and {LIMIT})?)", "(chance|theta|probability)"
GRAMMAR = re.compile(
    rf"accuracy {SHARE} \((subset|hamming|per-code)\), confidence level {SHARE}, "
    rf"{RANKED} threshold {LIMITS}(?:, repeated words {LIMITS})?"
)
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
    return 1.0 if ((right == 0) | (right == 1)).all() else math.e


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


class GuaranteeTarget(NamedTuple):
    """The accuracy guarantee that is asked for.

    Attributes
    ----------
    target, confidence : float in (0, 1)
        Accuracy of the automatic codes, and confidence level.
    measure : {"subset", "hamming", "per-code"}
        Accuracy of whole answers, of labels, or of codes settled one by one.
    rank_by : {"chance", "theta"}
        What answers are ranked by; fewer than 250 are ranked by theta.

    Examples
    --------
    >>> from nldd.coding.guarantee import GuaranteeTarget
    >>> GuaranteeTarget(0.8)
    GuaranteeTarget(target=0.8, confidence=0.9, measure='subset', rank_by='chance')
    """

    target: float = 0.9
    confidence: float = 0.9
    measure: str = "subset"
    rank_by: str = "chance"


USUAL = GuaranteeTarget()


@dataclass(frozen=True)
class Guarantee:
    """The accuracy guarantee of a coded table, as each of its rows states it.

    Attributes
    ----------
    target, confidence : float
        Accuracy, and confidence level.
    measure : {"subset", "hamming", "per-code"}
        Accuracy of whole answers, of labels, or of codes settled one by one.
    rank_by : {"chance", "theta", "probability"}
        What the threshold is about; "probability" is that of a single code.
    threshold : str
        Least chance or largest theta of automatically coded answers, as the coded table shows it;
        by code, "0.95 and 0.01": set from the first, ruled out up to the second. "none": nothing is
        coded automatically.
    repeated : str
        The same for answers whose words are in the training data; empty if there is no difference.

    Examples
    --------
    >>> from nldd.coding.guarantee import Guarantee
    >>> print(found := Guarantee(0.7, 0.9, "subset", "chance", "0.8312"))
    accuracy 0.7 (subset), confidence level 0.9, chance threshold 0.8312
    >>> Guarantee.parse(str(found)) == found
    True
    """

    target: float
    confidence: float
    measure: str
    rank_by: str
    threshold: str
    repeated: str = ""

    @classmethod
    def of(cls, found: "Selection | CodeSelection") -> Self:
        """What a table states that is coded by these thresholds."""
        both = (found, found.repeated) if found.repeated else (found,)
        texts = dict.fromkeys(_limit_text(each) for each in both)
        return cls(found.target, found.confidence, found.measure, found.rank_by, *texts)

    @classmethod
    def parse(cls, text: str, where: str = "") -> Self:
        """The guarantee that a cell states; `where` it stands is for the message if it does not."""
        if (match := GRAMMAR.fullmatch(text)) is None:
            message = f"{where}: {quote(text, 100)} is no accuracy guarantee."
            raise InputError(message, hint="leave the column as nldd predict wrote it")
        target, measure, confidence, *thresholds = match.groups(default="")
        return cls(float(target), float(confidence), measure, *thresholds)

    def __str__(self) -> str:
        level = f"confidence level {self.confidence}, {self.rank_by} threshold {self.threshold}"
        again = f", repeated words {self.repeated}" if self.repeated else ""
        return f"accuracy {self.target} ({self.measure}), {level}{again}"


def _limit_text(found: "Selection | CodeSelection") -> str:
    """Limits as the columns of a coded table show chance and theta."""
    if isinstance(found, CodeSelection):
        shown = [found.limits.yes, found.limits.no]
    else:
        shown = [found.limit]
        if found.rank_by == "chance" and found.limit is not None:
            shown = [1 - found.limit]
    return " and ".join("none" if x is None else f"{x:.6g}" for x in shown)


def judge_interval(low: float, high: float, target: float) -> str:
    """Whether a target was met, by the interval of the accuracy that was found.

    >>> [judge_interval(low, high, 0.9) for low, high in ((0.91, 0.95), (0.7, 0.8), (0.8, 0.95))]
    ['kept', 'broken', 'cannot tell yet']
    """
    return KEPT if low >= target else BROKEN if high < target else OPEN


def level_share(n_before: int) -> float:
    """Share of the level for a test after so many others; all tests together have all of it."""
    return (1 - FIT_SHARE) / (n_before * (n_before + 1)) if n_before else FIT_SHARE


@dataclass(frozen=True, eq=False)
class GuaranteeTest:
    """Answers that one fit is tested on, each predicted without its respondent.

    Attributes
    ----------
    theta, chance : ndarray of shape (n_answers,)
        By which they are ranked; the chance is None where theta ranks.
    n_wrong : ndarray of int of shape (n_answers,)
        Labels that are wrong, of `n_labels`.
    repeated : ndarray of bool of shape (n_answers,)
        Answers whose words were learned from, where ids do not tell whether these are copies.
    gain_theta, gain_chance : float
        What the log-odds of the doubt lose where a model learns from a fold more.
    """

    theta: NDArray[np.float64]
    chance: NDArray[np.float64] | None
    n_wrong: RowArray
    n_labels: int
    repeated: BoolArray
    gain_theta: float = 0.0
    gain_chance: float = 0.0

    def select(self, goal: GuaranteeTarget = USUAL, level_share: float = 1.0) -> Selection:
        """The threshold for answers like these, and one for repeated words if there are enough.

        Theta ranks where labels count one by one, or of few answers.
        """
        target, confidence, measure, rank_by = goal
        if rank_by not in RANKINGS:
            raise InputError(f"rank_by must be one of {', '.join(RANKINGS)}; got {rank_by!r}.")
        if self.chance is None or measure != "subset" or rank_by == "theta":
            rank_by, doubt, gain = "theta", self.theta, self.gain_theta
        else:
            doubt, gain = 1 - self.chance, self.gain_chance
        right = right_shares(self.n_wrong, self.n_labels, measure)

        def threshold(rows: BoolArray, share: float) -> Selection:
            answers = doubt[rows], right[rows]
            found = selective_threshold(*answers, target, confidence, level_share=share)
            limit = tighten_threshold(found.threshold, gain)
            return replace(found, rank_by=rank_by, limit=limit, measure=measure)

        half, n_repeated = level_share / 2, int(self.repeated.sum())
        apart = can_be_tested(n_repeated, target, half * (1 - confidence))
        found = Selection(target, confidence, rank_by=rank_by, measure=measure)
        if n_repeated < len(right):
            found = threshold(~self.repeated, half if apart else level_share)
        return replace(found, repeated=threshold(self.repeated, half)) if apart else found


def select_in_turn(tests: Sequence[GuaranteeTest], goal: GuaranteeTarget) -> list[Selection]:
    """What each fit of a study may code, each tested with its own share of the level."""
    return [test.select(goal, level_share(n_before)) for n_before, test in enumerate(tests)]


def right_shares(n_wrong: RowArray, n_labels: int, measure: str) -> FloatArray:
    """How right each prediction is: 0 or 1 for the whole labelset, or its share of labels."""
    if measure not in MEASURES:
        message = f"measure must be one of {', '.join(MEASURES)} here; got {measure!r}."
        raise InputError(message, hint="--measure subset, or hamming")
    return (n_wrong == 0).astype(float) if measure == "subset" else 1 - n_wrong / n_labels


def tighten_threshold(threshold: float | None, gain: float) -> float | None:
    """The doubt of a model that is surer by `gain`, where that of the folds is at a threshold."""
    # Equal to the last bit where there is nothing to add, and 0 and 1 are as sure as can be.
    if threshold is None or gain == 0 or not 0 < threshold < 1:
        return threshold
    return float(expit(np.log(threshold) - np.log1p(-threshold) - gain))


@dataclass(frozen=True)
class CodeLimits:
    """Codes are set from the probability `yes` on and ruled out up to `no`; None: none are."""

    yes: float | None
    no: float | None

    def settle(self, P: FloatArray, Y: LabelArray, empty: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Which codes are set, and which are asked about, by their probabilities in each answer.

        `Y` are the codes of the model's own answers: if each has one, an answer of which all codes
        would be ruled out is left to people. So are those that are `empty`.
        """
        given = (np.inf if self.yes is None else self.yes) <= P
        asked = ~given & ~((-np.inf if self.no is None else self.no) >= P)
        nothing = ~(given | asked).any(axis=1) & bool(Y.any(axis=1).all())
        left = (empty | nothing)[:, np.newaxis]
        return given & ~left, asked | left


@dataclass(frozen=True)
class CodeSelection:
    """What may be settled code by code, with which promise; of thresholds, None: nothing may.

    `limits` are for new answers, `yes` and `no` were tested. Of the `n_answers` tested, `n_whole`
    have all codes settled and `n_part` some, by which `share_asked` of all codes are left to ask.
    `right` of the codes set in an answer are right, and `missed` of those that people gave are
    ruled out; both are means over answers.
    """

    target: float
    confidence: float
    yes: float | None
    no: float | None
    limits: CodeLimits
    n_answers: int
    n_whole: int
    n_part: int
    n_set: int
    share_asked: float
    right: float | None
    missed: float | None
    repeated: "CodeSelection | None" = None
    measure: ClassVar[str] = "per-code"
    rank_by: ClassVar[str] = "probability"

    def settle(
        self, P: FloatArray, Y: LabelArray, empty: BoolArray, known: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """Which codes are set and which asked about, in answers with `known` words and others."""
        found = self.limits.settle(P, Y, empty)
        if self.repeated is None:
            return found
        again, rows = self.repeated.limits.settle(P, Y, empty), known[:, np.newaxis]
        return np.where(rows, again[0], found[0]), np.where(rows, again[1], found[1])


def select_codes(model: "CodingModel", goal: GuaranteeTarget = USUAL) -> CodeSelection:
    """Find the thresholds of both promises on the answers that were drawn at random.

    Answers whose words were learned from, where ids do not tell whether these are copies, have
    thresholds of their own, and each kind half of the level.
    """
    level, again = 1 - goal.confidence, model.repeated
    if not can_be_tested(len(again), goal.target, level / 4 / math.e):
        return _select_codes(model, model.tested, goal, level / 2)
    found, repeated = (_select_codes(model, r, goal, level / 4) for r in (model.tested, again))
    return replace(found, repeated=repeated)


def _select_codes(
    model: "CodingModel", rows: RowArray, goal: GuaranteeTarget, level: float
) -> CodeSelection:
    P, Y = model.evidence.P[rows], model.Y[rows]
    yes = threshold_to_set(P, Y, goal.target, level)
    no = threshold_to_rule_out(P, Y, goal.target, level)
    # A surer model would set and rule out more than was tested.
    doubt = tighten_threshold(None if yes is None else 1 - yes, model.validation.gain_yes)
    surer = tighten_threshold(no, model.validation.gain_no)
    limits = CodeLimits(None if doubt is None else 1 - doubt, surer)
    given, asked = CodeLimits(yes, no).settle(P, model.Y, np.zeros(len(P), dtype=bool))
    n_asked = asked.sum(axis=1)
    n_part = int(((n_asked > 0) & (n_asked < P.shape[1])).sum())
    counts = (len(P), int((n_asked == 0).sum()), n_part, int(given.sum()), float(asked.mean()))
    right = None if yes is None else float(shares_right(P, Y, yes).mean())
    missed = None if no is None else float(1 - shares_not_excluded(P, Y, no).mean())
    return CodeSelection(goal.target, goal.confidence, yes, no, limits, *counts, right, missed)


def threshold_to_set(P: FloatArray, Y: LabelArray, target: float, level: float) -> float | None:
    """The lowest probability from which codes are proven to be right often enough.

    The answers with the likeliest codes are tested first. How many, does not hang on what is right.
    """
    largest = np.sort(P.max(axis=1))[::-1]
    first = first_size(len(P), target, level / math.e)
    if first > len(P):
        return None
    tried = largest[np.linspace(first, len(P), N_TESTS).round().astype(int) - 1]
    # What is less likely than not is not set, however right the other codes are.
    return _last_that_passes(partial(shares_right, P, Y), tried[tried >= EVEN], target, level)


def threshold_to_rule_out(
    P: FloatArray, Y: LabelArray, target: float, level: float
) -> float | None:
    """The highest probability up to which codes are proven to be missed seldom enough."""
    tried = np.geomspace(LOWEST, EVEN, N_LOW)
    return _last_that_passes(partial(shares_not_excluded, P, Y), tried, target, level)


def _last_that_passes(
    shares: Callable[[float], FloatArray], tried: FloatArray, target: float, level: float
) -> float | None:
    """The last of a fixed sequence of thresholds before the first that fails, if there is one."""
    passed = takewhile(lambda x: reaches_target(shares(x), target, level), tried.tolist())
    return [None, *passed][-1]


def shares_right(P: FloatArray, Y: LabelArray, yes: float) -> FloatArray:
    """Of each answer in which codes are set, the share of these that is right."""
    given = yes <= P
    some = given.any(axis=1)
    return np.asarray((given & (Y == 1))[some].sum(axis=1) / given[some].sum(axis=1))


def shares_not_excluded(P: FloatArray, Y: LabelArray, no: float) -> FloatArray:
    """Of each answer to which people gave codes, the share of these that is not ruled out."""
    coded = (Y == 1).any(axis=1)
    own = (Y == 1)[coded]
    return np.asarray((own & (P[coded] > no)).sum(axis=1) / own.sum(axis=1))


def reaches_target(shares: FloatArray, target: float, level: float) -> bool:
    """Whether the mean of independent shares is proven to reach a target (Bentkus).

    Shares cost a factor e in the level; whether all are 0 or 1 is seen too late to spare it.
    """
    n, total = len(shares), float(shares.sum())
    # Shares add up with rounding errors; a sum that is short by those alone is not short.
    return n > 0 and total >= critical_count(n, target, level / math.e) - 1e-9
