"""Single codes that a machine may settle, where it is not sure of the whole answer.

A code is set where its probability is high, ruled out where it is low, and asked about between.
Most codes apply to few answers, so that ruling them out is nearly always right: a share of right
decisions over all codes would say nothing. So there are two promises. (i) Of the codes that the
machine sets in an answer, a share of at least the target is right. (ii) Of the codes that people
would give an answer, a share of at most one minus the target is ruled out. Both are means over
answers: the decisions of one answer hang together, so answers are what is counted, not decisions.
Each promise has half of the level, and is tested as a fixed sequence, as in ``_selective``: from
the strictest threshold on, until the first test that fails (Angelopoulos et al., 2021).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.coding.guarantee import tighten_threshold
from nldd.coding.model import CodingModel
from nldd.coding.selective import N_TESTS, can_be_tested, critical_count, first_size

FloatArray = NDArray[Any]
# Probabilities up to which codes are tried to be ruled out; above the last one, none is.
EVEN, LOWEST, N_LOW = 0.5, 1e-4, 100


@dataclass(frozen=True)
class CodeLimits:
    """Codes are set from the probability `yes` on and ruled out up to `no`; None: none are."""

    yes: float | None
    no: float | None

    def settle(
        self, P: FloatArray, Y: NDArray[np.int8], empty: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which codes are set, and which are asked about, by their probabilities in each answer.

        `Y` are the codes of the model's own answers: if each has one, an answer of which all codes
        would be ruled out is left to people. So are those that are `empty`.
        """
        given, ruled_out = split_codes(P, self.yes, self.no)
        asked = ~(given | ruled_out)
        nothing = ~(given | asked).any(axis=1) & bool(Y.any(axis=1).all())
        left = empty | nothing
        return given & ~left[:, np.newaxis], asked | left[:, np.newaxis]


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


def split_codes(
    P: FloatArray, yes: float | None, no: float | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Codes that are set, and codes that are ruled out."""
    given = (np.inf if yes is None else yes) <= P
    return given, ((-np.inf if no is None else no) >= P) & ~given


def shares_right(P: FloatArray, Y: NDArray[np.int8], yes: float) -> FloatArray:
    """Of each answer in which codes are set, the share of these that is right."""
    given = yes <= P
    some = given.any(axis=1)
    n_right = (given & (Y == 1))[some].sum(axis=1)
    return np.asarray(n_right / given[some].sum(axis=1))


def shares_not_excluded(P: FloatArray, Y: NDArray[np.int8], no: float) -> FloatArray:
    """Of each answer to which people gave codes, the share of these that is not ruled out."""
    own = (Y == 1)[(Y == 1).any(axis=1)]
    kept = own & (P[(Y == 1).any(axis=1)] > no)
    return np.asarray(kept.sum(axis=1) / own.sum(axis=1))


def reaches_target(shares: FloatArray, target: float, level: float) -> bool:
    """Whether the mean of independent shares is proven to reach a target (Bentkus).

    Shares cost a factor e in the level; whether all are 0 or 1 is seen too late to spare it.
    """
    n, total = len(shares), float(shares.sum())
    # Shares add up with rounding errors; a sum that is short by those alone is not short.
    return n > 0 and total >= critical_count(n, target, level / math.e) - 1e-9


def threshold_to_set(
    P: FloatArray, Y: NDArray[np.int8], target: float, level: float
) -> float | None:
    """The lowest probability from which codes are proven to be right often enough.

    The answers with the likeliest codes are tested first. How many, does not hang on what is right.
    """
    largest = np.sort(P.max(axis=1))[::-1]
    first = first_size(len(P), target, level / math.e)
    chosen = None
    if first <= len(P):
        sizes = np.linspace(first, len(P), N_TESTS).round().astype(int)
        for yes in map(float, largest[sizes - 1]):
            # What is less likely than not is not set, however right the other codes are.
            if yes < EVEN or not reaches_target(shares_right(P, Y, yes), target, level):
                break
            chosen = yes
    return chosen


def threshold_to_rule_out(
    P: FloatArray, Y: NDArray[np.int8], target: float, level: float
) -> float | None:
    """The highest probability up to which codes are proven to be missed seldom enough."""
    chosen = None
    for no in np.geomspace(LOWEST, EVEN, N_LOW).tolist():
        if not reaches_target(shares_not_excluded(P, Y, no), target, level):
            break
        chosen = float(no)
    return chosen


def select_codes(model: CodingModel, target: float = 0.9, confidence: float = 0.9) -> CodeSelection:
    """Find the thresholds of both promises on the answers that were drawn at random.

    Answers whose words were learned from, where ids do not tell whether these are copies, have
    thresholds of their own, and each kind half of the level.
    """
    level = 1 - confidence
    again = model.repeated
    if not can_be_tested(len(again), target, level / 4 / math.e):
        return _select_codes(model, model.tested, target, confidence, level)
    found = _select_codes(model, model.tested, target, confidence, level / 2)
    return replace(found, repeated=_select_codes(model, again, target, confidence, level / 2))


def _select_codes(
    model: CodingModel, rows: NDArray[np.intp], target: float, confidence: float, level: float
) -> CodeSelection:
    assert model.evidence.P is not None
    P, Y, level = model.evidence.P[rows], model.Y[rows], level / 2
    yes = threshold_to_set(P, Y, target, level)
    no = threshold_to_rule_out(P, Y, target, level)
    # A surer model would set and rule out more than was tested.
    gains = model.validation.gain_yes, model.validation.gain_no
    surer = None if yes is None else tighten_threshold(1 - yes, gains[0])
    limits = CodeLimits(None if surer is None else 1 - surer, tighten_threshold(no, gains[1]))
    tested = CodeLimits(yes, no)
    given, asked = tested.settle(P, model.Y, np.zeros(len(P), dtype=bool))
    n_asked, n_codes = asked.sum(axis=1), P.shape[1]
    return CodeSelection(
        target,
        confidence,
        yes,
        no,
        limits,
        n_answers=len(P),
        n_whole=int((n_asked == 0).sum()),
        n_part=int(((n_asked > 0) & (n_asked < n_codes)).sum()),
        n_set=int(given.sum()),
        share_asked=float(asked.mean()),
        right=None if yes is None else float(shares_right(P, Y, yes).mean()),
        missed=None if no is None else float(1 - shares_not_excluded(P, Y, no).mean()),
    )
