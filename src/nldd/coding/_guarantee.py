"""The test behind the accuracy guarantee: on which answers, and how the level is spent.

Two things divide the level 1 - confidence:

- **Repeated words without ids.** Nobody knows whether answers of the same words are copies or
  several people who say the same. If they are copies, the model does better on them than on any
  new answer. So answers whose words stand in the training data and all others have thresholds of
  their own, each tested at half of the level: both hold with the confidence, and then they hold
  together, in whichever proportion new answers are of either kind.
- **Refits.** A study that is updated again and again is tested again and again. The j-th test
  brings 1 / (j (j + 1)) of the level, which is all of it in the end. A fit that passes hands its
  level on to the next one; one that fails has lost it (a fallback procedure, Wiens, 2003). What is
  in use stays in use until a refit passes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nldd._wording import quote
from nldd.coding._selective import Selection, can_be_tested, selective_threshold
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]
# The grammar of `Guarantee`; codes that are settled one by one have two thresholds.
SHARE, LIMIT = r"(0\.[0-9]+|[0-9.]+e-[0-9]+)", r"(?:none|[0-9.]+(?:e-[0-9]+)?)"
LIMITS, RANKINGS = rf"({LIMIT}(?: and {LIMIT})?)", "(chance|theta|probability)"
GRAMMAR = re.compile(
    rf"accuracy {SHARE} \((subset|hamming|per-code)\), confidence level {SHARE}, "
    rf"{RANKINGS} threshold {LIMITS}(?:, repeated words {LIMITS})?"
)


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
    >>> from nldd.coding import Guarantee
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


def threshold_text(rank_by: str, *limits: float | None) -> str:
    """Limits of the doubt as the columns of a coded table show chance and theta."""
    shown = (x if x is None or rank_by != "chance" else 1 - x for x in limits)
    return " and ".join("none" if x is None else f"{x:.6g}" for x in shown)


class Spending(NamedTuple):
    """How many tests a study has had, and which share of the level the last one hands on."""

    n_tests: int = 0
    carried: float = 0.0

    @property
    def share(self) -> float:
        """Share of the level for the next test."""
        return self.carried + 1 / ((self.n_tests + 1) * (self.n_tests + 2))

    def after(self, found: Selection) -> "Spending":
        """What is left once the next test has found this."""
        passed = found.threshold is not None and (
            found.repeated is None or found.repeated.threshold is not None
        )
        return Spending(self.n_tests + 1, self.share if passed else 0.0)


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

    theta: FloatArray
    chance: FloatArray | None
    n_wrong: NDArray[np.intp]
    n_labels: int
    repeated: NDArray[np.bool_]
    gain_theta: float = 0.0
    gain_chance: float = 0.0

    def ranking(self, measure: str, rank_by: str) -> str:
        """What ranks: theta where labels count one by one, or of few answers."""
        return "theta" if self.chance is None or measure != "subset" else rank_by

    def select(
        self,
        target: float = 0.9,
        confidence: float = 0.9,
        measure: str = "subset",
        rank_by: str = "chance",
        level_share: float = 1.0,
    ) -> Selection:
        """The threshold for answers like these, and one for repeated words if there are enough."""
        right = right_shares(self.n_wrong, self.n_labels, measure)
        rank_by = self.ranking(measure, rank_by)
        doubt = self.theta if rank_by == "theta" or self.chance is None else 1 - self.chance
        gain = self.gain_theta if rank_by == "theta" else self.gain_chance

        def threshold(rows: NDArray[np.bool_], share: float) -> Selection:
            found = selective_threshold(
                doubt[rows], right[rows], target, confidence, level_share=share
            )
            limit = tighten_threshold(found.threshold, gain)
            return replace(found, rank_by=rank_by, limit=limit, measure=measure)

        half, n_repeated = level_share / 2, int(self.repeated.sum())
        apart = can_be_tested(n_repeated, target, half * (1 - confidence))
        found = Selection(target, confidence, rank_by=rank_by, measure=measure)
        if n_repeated < len(right):
            found = threshold(~self.repeated, half if apart else level_share)
        return replace(found, repeated=threshold(self.repeated, half)) if apart else found


def select_in_turn(
    tests: Sequence[GuaranteeTest], *guarantee: Any
) -> tuple[list[Selection], Spending]:
    """What each fit of a study may code, tested one after the other; and the level left."""
    found, spending = list[Selection](), Spending()
    for test in tests:
        select: Callable[..., Selection] = test.select
        found.append(select(*guarantee, level_share=spending.share))
        spending = spending.after(found[-1])
    return found, spending


def right_shares(n_wrong: NDArray[np.intp], n_labels: int, measure: str) -> FloatArray:
    """How right each prediction is: 0 or 1 for the whole labelset, or its share of labels."""
    return (n_wrong == 0).astype(float) if measure == "subset" else 1 - n_wrong / n_labels


def tighten_threshold(threshold: float | None, gain: float) -> float | None:
    """The doubt of a model that is surer by `gain`, where that of the folds is at a threshold."""
    # Equal to the last bit where there is nothing to add, and 0 and 1 are as sure as can be.
    if threshold is None or gain == 0 or not 0 < threshold < 1:
        return threshold
    return float(expit(np.log(threshold) - np.log1p(-threshold) - gain))
