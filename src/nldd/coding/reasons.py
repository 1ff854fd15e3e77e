"""Why an answer is left to people: the reason that helps most, with the codes that it is about."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding.model import CodingModel
from nldd.coding.predictions import Predictions, times_seen
from nldd.present.text import percent

# What is counted; the words of an answer name its codes.
EMPTY = "the answer is empty"
DRAWN_BLIND = "drawn at random, to be coded without a suggestion"
PART = "some codes are sure, others are to be decided"
FAR = "unlike any coded answer"
CONFLICT = "codes that are likely one by one, but were never given together"
# No cell begins with a quotation mark: a spreadsheet may swallow it.
UNSEEN = "likely, but never given together"
RARE = "a code, or a combination, that was seen too rarely"
CLOSE = "two combinations of codes are about as likely"
NO_CODE = "no code is likely"
FURTHER = "a further code may apply"
NEARLY = "likely right, but not sure enough for the target"
UNSURE = "a code is not sure enough"

# Farther from its nearest than this share of the coded answers from theirs, an answer is strange.
FAR_SHARE = 0.95
# Of fewer answers than that nobody learns when a code applies.
FEW_ANSWERS = 10
# Odds up to which one of two is about as likely as the other.
ABOUT_AS_LIKELY = 2.0
# Below that, a code is no candidate, whatever the others are.
UNLIKELY = 0.1
# From that on, for each code that applies or does not, an answer is more than likely right.
LIKELY = 0.85
NEAREST = 1e-6
MOST_NAMED = 4


Mask = NDArray[Any]  # of the codes


class Reason(NamedTuple):
    """What kind of reason it is, and what a person reads."""

    kind: str
    words: str


class Reasons:
    """Finds the reasons by what a model has seen.

    The first that applies is told: what is wrong with the answer itself comes before what is
    lacking among the coded ones, and that before a choice which a person can make at a glance.
    """

    def __init__(self, model: CodingModel) -> None:
        self.model = model
        self.n_given = model.Y.sum(axis=0)
        self.seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
        self.far = float(np.quantile(model.evidence.Dx, FAR_SHARE))
        self.n_words = len(model.features.words.terms) if model.columns.text else 0

    def find(self, found: Predictions, X: Any, rows: NDArray[np.intp]) -> list[Reason]:
        """The reason for each of some rows, of which `X` are the features."""
        known_words = np.diff(X[rows][:, : self.n_words].indptr) if self.n_words else None
        some = found[rows]
        assert some.P is not None and some.others is not None
        times = times_seen(self.model.classifier, some.Y)
        reasons = []
        for i, n_times in enumerate(times):
            Y, other, P = some.Y[i].astype(bool), some.others[i, 0].astype(bool), some.P[i]
            if known_words is not None and not known_words[i]:
                reasons.append(Reason(FAR, f"{FAR}: none of its words is in one"))
            elif some.Dx[i] > self.far:
                reasons.append(Reason(FAR, f"{FAR}: the nearest is far away"))
            else:
                reasons.append(next(self._candidates(Y, other, P, n_times)))
        return reasons

    def _candidates(self, Y: Mask, other: Mask, P: Mask, n_times: float) -> Iterator[Reason]:
        """Reasons in the order of their use, down to one that always applies."""
        likely = P > 0.5
        if likely.sum() > 1 and likely.tobytes() not in self.seen:
            yield Reason(CONFLICT, f"{UNSEEN}: {self._names(likely)}")
        yield from self._rare(Y, n_times)
        none = Reason(NO_CODE, f"{NO_CODE}: {self._with_chance(int(P.argmax()), P)} comes first")
        if P.max() < UNLIKELY:
            yield none
        log_odds = np.log(np.clip(P, NEAREST, 1)) - np.log(np.clip(1 - P, NEAREST, 1))
        # How much likelier, code by code, the predicted labelset is than the next best.
        ahead = abs(float(log_odds[Y & ~other].sum() - log_odds[other & ~Y].sum()))
        if ahead <= np.log(ABOUT_AS_LIKELY):
            yield Reason(CLOSE, self._either(Y, other))
        if not likely.any():
            yield none
        off, on = np.where(Y, 0.0, P), np.where(Y, P, 1.0)
        weakest, strongest = int(on.argmin()), int(off.argmax())
        if min(on[weakest], 1 - off[strongest]) >= LIKELY:
            yield Reason(NEARLY, NEARLY)
        if Y.any() and 1 - on[weakest] >= off[strongest]:
            yield Reason(UNSURE, f"not sure enough of {self._with_chance(weakest, P)}")
        yield Reason(FURTHER, f"perhaps {self._with_chance(strongest, P)} too")

    def _rare(self, Y: Mask, n_times: float) -> Iterator[Reason]:
        rare = Y & (self.n_given < FEW_ANSWERS)
        if rare.any():
            code = int(np.where(rare, self.n_given, np.inf).argmin())
            n = int(self.n_given[code])
            often = f"given {'only once' if n == 1 else f'only {n} times'}" if n else "never given"
            yield Reason(RARE, f"too rare: {self._name(code)} was {often}")
        elif Y.sum() > 1 and n_times == 1:
            yield Reason(RARE, f"too rare: {self._names(Y)} were given together only once")

    def _either(self, Y: Mask, other: Mask) -> str:
        ours, theirs = Y & ~other, other & ~Y
        if ours.any() and theirs.any():
            return f"either {self._names(ours)} or {self._names(theirs)}: about as likely"
        return f"with {self._names(ours | theirs)} or without: about as likely"

    def _names(self, Y: Mask) -> str:
        names = [self._name(int(code)) for code in np.flatnonzero(Y)]
        if len(names) > MOST_NAMED:
            names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} more"]
        return join_names(names)

    def _name(self, code: int) -> str:
        return quote(self.model.shown[code])

    def _with_chance(self, code: int, P: Mask) -> str:
        return f"{self._name(code)} ({percent(float(P[code]))} likely)"


def join_names(names: Sequence[str]) -> str:
    """Names in a row: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
