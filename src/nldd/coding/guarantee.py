"""The test behind the accuracy guarantee: on which answers, and how the level is spent.

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
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nldd.coding.selective import Selection, can_be_tested, selective_threshold
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]
# What the doubt about an answer is: that not all of its codes are right, or theta.
RANKINGS = ("chance", "theta")
# Of the level, for the first fit: most studies have no other. A test at 0.9 takes at least 69
# answers with it, 52 with all of the level and 89 with half.
FIT_SHARE = 0.8


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

    theta: FloatArray
    chance: FloatArray | None
    n_wrong: NDArray[np.intp]
    n_labels: int
    repeated: NDArray[np.bool_]
    gain_theta: float = 0.0
    gain_chance: float = 0.0

    def ranking(self, measure: str, rank_by: str) -> str:
        """What ranks: theta where labels count one by one, or of few answers."""
        if rank_by not in RANKINGS:
            raise InputError(f"rank_by must be one of {', '.join(RANKINGS)}; got {rank_by!r}.")
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


def select_in_turn(tests: Sequence[GuaranteeTest], *guarantee: Any) -> list[Selection]:
    """What each fit of a study may code, each tested with its own share of the level."""
    select: Callable[..., Selection] = GuaranteeTest.select
    shares = map(level_share, range(len(tests)))
    return [select(t, *guarantee, level_share=s) for t, s in zip(tests, shares, strict=True)]


def right_shares(n_wrong: NDArray[np.intp], n_labels: int, measure: str) -> FloatArray:
    """How right each prediction is: 0 or 1 for the whole labelset, or its share of labels."""
    return (n_wrong == 0).astype(float) if measure == "subset" else 1 - n_wrong / n_labels


def tighten_threshold(threshold: float | None, gain: float) -> float | None:
    """The doubt of a model that is surer by `gain`, where that of the folds is at a threshold."""
    # Equal to the last bit where there is nothing to add, and 0 and 1 are as sure as can be.
    if threshold is None or gain == 0 or not 0 < threshold < 1:
        return threshold
    return float(expit(np.log(threshold) - np.log1p(-threshold) - gain))
