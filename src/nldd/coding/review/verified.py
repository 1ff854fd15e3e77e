"""The verified accuracy: what the answers drawn at random prove of the machine's first codes.

Later codes come from models that have learned from these very answers, so they prove nothing of
those. The interval holds for a number of checks that was fixed before: who stops when it looks good
finds a target kept too often. So the verdict waits until all drawn answers are decided.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from nldd.coding.audit import Audit, judge_checks
from nldd.coding.coded_answers import AUTO
from nldd.coding.review.known_codes import KnownCodes
from nldd.coding.review.log import outcomes
from nldd.coding.review.records import Round
from nldd.coding.review.store import Store
from nldd.coding.wording import FEWEST_CHECKED, checked_accuracy, percent_range
from nldd.exceptions import InputError
from nldd.present.text import count_noun, percent


@dataclass(frozen=True)
class CheckedAccuracy:
    """What the answers drawn at random prove of the machine's codes; made by :func:`audit_of`.

    Attributes
    ----------
    n_drawn, n_left : int
        Drawn answers, and those of them on which people have not agreed yet.
    n_checked, n_right, n_open : int
        Automatic codes among them that people have decided, that are right, and that are left.
    target : float
        The accuracy that was promised.
    accuracy, low, high : float or None
        Share that is right, with its exact 95 % interval, as soon as there are checks.
    verdict : {"kept", "broken", "cannot tell yet"} or None
        Once nothing is left to decide.
    needed : int or None
        About so many checks would tell, if it cannot be told yet.
    withdrawn : bool
        True if the model no longer codes any answer automatically.
    measure : {"subset", "hamming", "per-code"}
        Of the target; there is no verdict on other measures than "subset".

    Examples
    --------
    >>> from nldd.coding.review.verified import CheckedAccuracy
    >>> found = CheckedAccuracy(50, 0, 40, 39, 0, 0.8, 0.975, 0.868, 0.999, "kept")
    >>> print(found.text.split(";")[0])
    86.8 to 99.9 % right (exact 95 % interval): 39 of 40 checked answers, 97.5 %
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
    withdrawn: bool = False
    measure: str = "subset"

    @property
    def headline(self) -> str:
        """The result in a few words: an interval, or counts of few checks; empty without one."""
        if self.low is None or self.high is None or self.withdrawn:
            return ""
        if self.n_checked < FEWEST_CHECKED:
            return f"{self.n_right:,} of {self.n_checked:,} right"
        return f"{percent_range(self.low, self.high, 0)} right"

    @property
    def text(self) -> str:
        """What it comes to, in sentences."""
        if self.accuracy is None:
            return "No automatic code has been checked yet."
        so_far = " so far" if self.n_left else ""
        counts = f"{self.n_right:,} of {self.n_checked:,} checked answers right"
        if self.withdrawn:
            why = "the model no longer codes any answer automatically"
            return f"The first automatic codes were withdrawn ({counts}): {why}."
        if self.low is None or self.high is None:
            return f"{counts}{so_far}."
        found = checked_accuracy(self.n_right, self.n_checked, self.low, self.high, so_far)
        first = "These are the codes as first given, before the machine learned."
        return f"{found}{self._verdict_words()}. {first}{self._what_is_left()}"

    def _verdict_words(self) -> str:
        words = f"; the target of {percent(self.target)}: {self.verdict}"
        return "" if self.verdict is None else words

    def _what_is_left(self) -> str:
        target = f"the target of {percent(self.target)}"
        if self.n_left:
            left = f"Left to decide or to settle: {count_noun(self.n_left, 'drawn answer')}."
            told = f" Whether {target} is kept is told after them." * (self.measure == "subset")
            return f" {left}{told}"
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
    measure: str = "subset",
) -> CheckedAccuracy:
    """What checks say of `n_auto` automatic codes among the drawn answers.

    As long as they cannot be `judged`, they are only counted. They are checks of whole answers, and
    give no verdict on a guarantee by another `measure`.
    """
    n, n_right = len(checks), sum(checks)
    counts = (n_drawn, n_left, n, n_right, n_auto - n, target)
    if not checks:
        return CheckedAccuracy(*counts)
    if not judged:
        return CheckedAccuracy(*counts, n_right / n)
    found = _judge(n_right, n, n_auto - n, target)
    final = (found.verdict, found.needed) if not n_left and measure == "subset" else (None, None)
    interval = (found.accuracy, found.low, found.high)
    return CheckedAccuracy(*counts, *interval, *final, measure=measure)


def is_withdrawn(rounds: Sequence[Round]) -> bool:
    """True if the first round coded answers automatically, and the last has none but for review."""
    facts = [each.facts for each in rounds] or [{}]
    n_auto, n_review = (facts[-1].get(name, 0) for name in ("n_auto", "n_review"))
    return bool(facts[0].get("n_auto") and not n_auto and n_review)


@lru_cache(maxsize=100)
def _judge(n_right: int, n: int, n_open: int, target: float) -> "Audit":
    return judge_checks([True] * n_right + [False] * (n - n_right), n_open, target)


def load_judge() -> None:
    """Load what judges checks: statistics, which take seconds on a slow disk."""
    _judge(1, 1, 0, 0.9)


def audit_of(store: Store, target: float | None = None) -> CheckedAccuracy:
    r"""Tell what the answers of a review that were drawn at random prove of the machine.

    It is about the codes as first given: later ones come from models that have learned from these
    very answers.

    Parameters
    ----------
    store : Store
        An open review; one without any check is refused.
    target : float, optional
        By default that of the review.

    Returns
    -------
    CheckedAccuracy
        The share that is right; and whether the target is kept, once all drawn answers are decided.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.log import LogEntry, Position
    >>> from nldd.coding.review.store import Store
    >>> from nldd.coding.review.verified import audit_of
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> with Store.open(store) as opened:
    ...     for found in list(opened.suggestions(round=0)):
    ...         after = Position("done", frozenset(found.codes))
    ...         uid, time = f"u{found.item}", f"2026-01-02T03:04:0{found.item}Z"
    ...         _ = opened.add([LogEntry(0, uid, found.item, "Ann", "code", after, time)])
    ...     found = audit_of(opened)
    >>> found.n_checked, found.n_right, found.verdict
    (3, 3, 'cannot tell yet')
    >>> folder.cleanup()
    """
    goal = store.study.target if target is None else target
    with store.snapshot():
        found, codes = outcomes(store.entries()), KnownCodes(store.study)
        rounds = store.rounds()
        for last in rounds[-1:]:
            codes.follow(last.facts)
        drawn = [(item, said) for item, said in store.suggested_items() if item.drawn]
    agreed = {item: outcome.codes for item, outcome in found.items() if outcome.codes is not None}
    auto = [said for _, said in drawn if said is not None and said.status == AUTO]
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
    measure = store.study.measure if target is None else "subset"
    judged = verify(len(drawn), n_left, len(auto), checks, goal, measure=measure)
    return replace(judged, withdrawn=is_withdrawn(rounds))
