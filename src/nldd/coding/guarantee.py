"""The accuracy guarantee: what is asked for, the tests behind it, and what a coded table states.

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
level, and is tested as a fixed sequence, as in :mod:`nldd.coding.selective`: from the strictest
threshold on, until the first test that fails (Angelopoulos et al., 2021).
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nldd._wording import quote
from nldd.coding import selective
from nldd.coding.answers import BoolArray, LabelArray, RowArray
from nldd.coding.selective import Selection, critical_count, selective_threshold
from nldd.exceptions import InputError

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
        apart = selective.can_be_tested(n_repeated, target, half * (1 - confidence))
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
    if not selective.can_be_tested(len(again), goal.target, level / 4 / math.e):
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
    return CodeSelection(
        goal.target,
        goal.confidence,
        yes,
        no,
        limits,
        n_answers=len(P),
        n_whole=int((n_asked == 0).sum()),
        n_part=int(((n_asked > 0) & (n_asked < P.shape[1])).sum()),
        n_set=int(given.sum()),
        share_asked=float(asked.mean()),
        right=None if yes is None else float(shares_right(P, Y, yes).mean()),
        missed=None if no is None else float(1 - shares_not_excluded(P, Y, no).mean()),
    )


def threshold_to_set(P: FloatArray, Y: LabelArray, target: float, level: float) -> float | None:
    """The lowest probability from which codes are proven to be right often enough.

    The answers with the likeliest codes are tested first. How many, does not hang on what is right.
    """
    largest = np.sort(P.max(axis=1))[::-1]
    first = selective.first_size(len(P), target, level / math.e)
    if first > len(P):
        return None
    tried = largest[np.linspace(first, len(P), selective.N_TESTS).round().astype(int) - 1]
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
    chosen = None
    for threshold in tried.tolist():
        if not reaches_target(shares(threshold), target, level):
            break
        chosen = threshold
    return chosen


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
