"""The verified accuracy: what the answers drawn at random prove of the machine's first codes.

Later codes come from models that have learned from these very answers, so they prove nothing of
those. The interval holds for a number of checks that was fixed before: who stops when it looks good
finds a target kept too often. So the verdict waits until all drawn answers are decided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nldd import coding
from nldd._wording import count_noun, percent
from nldd.exceptions import InputError
from nldd.review._known_codes import KnownCodes
from nldd.review._log import outcomes
from nldd.review._store import Store
from nldd.review._tables import with_suggestions


@dataclass(frozen=True)
class Verified:
    """Of the drawn answers how many are left, and how many automatic codes among them are right.

    Left are those on which people have not agreed yet; `n_open` of them got automatic codes. The
    interval is there as soon as there are checks that were judged, the verdict once none is left.
    """

    n_drawn: int
    n_left: int
    n_checked: int
    n_right: int
    n_open: int
    target: float
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    needed: int | None = None

    @property
    def text(self) -> str:
        """What it comes to, in sentences."""
        if self.accuracy is None:
            return "No automatic code has been checked yet."
        so_far = " so far" if self.n_left else ""
        found = f"{self.n_right:,} of {self.n_checked:,} automatic codes are right{so_far}"
        if self.low is None or self.high is None:
            return f"{found}."
        interval = f"95 % interval {percent(self.low)} to {percent(self.high)}"
        first = "These are the codes as first given, before the machine learned."
        return (
            f"{found}: {percent(self.accuracy)} ({interval}){self._verdict_words()}. {first}"
            f"{self._what_is_left()}"
        )

    def _verdict_words(self) -> str:
        words = f"; the target of {percent(self.target)}: {self.verdict}"
        return "" if self.verdict is None else words

    def _what_is_left(self) -> str:
        target = f"the target of {percent(self.target)}"
        if self.n_left:
            left = f"Left to decide or to settle: {count_noun(self.n_left, 'drawn answer')}"
            return f" {left}. Whether {target} is kept is told after them."
        if self.needed is None:
            return ""
        return f" About {self.needed:,} checks would tell, if as many of them are right."


def verify(
    n_drawn: int,
    n_left: int,
    n_auto: int,
    checks: Sequence[bool],
    target: float,
    judged: bool = True,
) -> Verified:
    """What checks say of `n_auto` automatic codes among the drawn answers.

    As long as they cannot be `judged`, they are only counted.
    """
    n, n_right = len(checks), sum(checks)
    counts = (n_drawn, n_left, n, n_right, n_auto - n, target)
    if not checks:
        return Verified(*counts)
    if not judged:
        return Verified(*counts, n_right / n)
    found = _judge(n_right, n, n_auto - n, target)
    final = (found.verdict, found.needed) if not n_left else (None, None)
    return Verified(*counts, found.accuracy, found.low, found.high, *final)


@lru_cache(maxsize=100)
def _judge(n_right: int, n: int, n_open: int, target: float) -> "coding.Audit":
    return coding.judge_checks([True] * n_right + [False] * (n - n_right), n_open, target)


def load_judge() -> None:
    """Load what judges checks: statistics, which take seconds on a slow disk."""
    _judge(1, 1, 0, 0.9)


def audit_of(store: Store, target: float | None = None) -> Verified:
    """What the answers of a store that were drawn prove; without a `target`, of that of the review.

    Without any check it is refused.
    """
    goal = store.study.target if target is None else target
    with store.snapshot():
        found, codes = outcomes(store.entries()), KnownCodes(store.study)
        for last in store.rounds()[-1:]:
            codes.follow(last.facts)
        drawn = [(item, said) for item, said in with_suggestions(store) if item.drawn]
    agreed = {item: outcome.codes for item, outcome in found.items() if outcome.codes is not None}
    auto = [said for _, said in drawn if said is not None and said.status == coding.AUTO]
    checks = [
        set(codes.current(agreed[said.item])) == set(codes.current(said.codes))
        for said in auto
        if said.item in agreed
    ]
    if not checks:
        what = "has been decided" if auto else "is there"
        message = f"{store.path.name}: no automatic code that was drawn at random {what} yet."
        hint = "decide the drawn answers on the page, which come first; nldd review --audit 50"
        raise InputError(message, hint=f"{hint} draws some where a review begins")
    n_left = sum(item.item not in agreed for item, _ in drawn)
    return verify(len(drawn), n_left, len(auto), checks, goal)
