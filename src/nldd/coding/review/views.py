"""What the page is shown of a desk: an answer, the list, how far the work is; all plain JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from textwrap import fill
from typing import Any

import numpy as np

from nldd.coding.audit import Audit, judge_checks
from nldd.coding.review.desk import AUTO, FILE, Desk, Mask
from nldd.coding.review.records import DONE, FLAG, OPEN, SKIP, SKIPPED, Item, LogEntry, pack
from nldd.coding.review.store import Store
from nldd.coding.tables.spreadsheet import cell_text
from nldd.coding.wording import FEWEST_CHECKED, checked_accuracy, percent_range
from nldd.exceptions import InputError
from nldd.present.text import command_line, count_noun, percent

View = dict[str, Any]
# Shares that are easily said, with the words for them.
EASY = (*range(2, 11), 12, 15, 20, 30, 50, 100)
SAID = {1 / n: f"about 1 in {n} like this is wrong" for n in EASY}
SAID |= {0.4: "about 2 in 5 like this are wrong"}
# Characters of an answer in a list, and where it must be read to be judged; answers at a time.
SHORT, LONG, MOST_ALIKE, MOST_SETTLED = 200, 2000, 500, 1000


def doubt_words(chance: float | None, theta: float) -> str:
    """How likely a suggestion is wrong, in words that need no statistics.

    >>> doubt_words(0.81, 0.05)
    'about 1 in 5 like this is wrong, all codes together'
    >>> doubt_words(0.3, 0.2)
    'more likely wrong than right, all codes together'
    >>> doubt_words(0.995, 0.0)
    'fewer than 1 in 100 like this are wrong, all codes together'
    >>> doubt_words(None, 0.031)
    'about 3 % of codes like these are wrong'
    """
    if chance is None:
        return f"about {percent(theta)} of codes like these are wrong"
    wrong = 1 - chance
    if wrong > 0.5:
        said = "more likely wrong than right"
    elif wrong < 0.01:
        said = "fewer than 1 in 100 like this are wrong"
    else:
        said = SAID[min(SAID, key=lambda share: abs(np.log(share / wrong)))]
    # The reason beside it may name how likely one of the codes is.
    return f"{said}, all codes together"


def study_view(desk: Desk) -> View:
    """What the review is about."""
    study, path = desk.study, desk.store.path
    # By that a browser knows the store; a copy of it, which has its own path, is another.
    known_by = pack([desk.store.setting("id"), str(path.resolve()), desk.coder])
    return {
        "coder": desk.coder,
        "table": study.table,
        "update": command_line("nldd", "update", study.model, path.name),
        "store_id": sha256(known_by.encode()).hexdigest()[:16],
        "n_items": len(desk.outlook),
        "codes": codes_view(desk),
        "settings": desk.settings,
    }


def codes_view(desk: Desk) -> list[View]:
    """All codes as the page shows them."""
    names = ("code", "name", "description", "new")
    return [dict(zip(names, code, strict=True)) for code in desk.known_codes.listed]


def item_views(desk: Desk, items: Sequence[int]) -> list[View]:
    """Answers as the page shows them, one at a time."""
    for number in items:
        desk.place(number)  # all are known
    look, waiting = desk.outlook, desk.open & ~desk.outlook.drawn
    sizes = np.bincount(look.group[waiting] + 1, minlength=len(look.groups) + 1)

    def view(item: Item) -> View:
        number, place, blind = item.item, desk.place(item.item), desk.is_blind(item.item)
        has_alike = not blind and look.group[place] >= 0
        others = [side for side in _sides(desk, number) if side["coder"] != desk.coder]
        return {
            **_position(desk, item),
            "text": item.text,
            "show": [[name, cell_text(item.cells[column])] for name, column in desk.show],
            "seen": desk.own(number).id,
            "blind": blind,
            "suggestion": None if blind else _suggestion(desk, number, place),
            "given": None if item.given is None else sorted(item.given),
            "n_alike": int(sizes[look.group[place] + 1] - waiting[place]) if has_alike else 0,
            # Of others, one sees what they gave once one has decided.
            "others": others if desk.own(number).after.state == DONE else [],
            "settled": desk.outcome(number).settling is not None,
        }

    return list(map(view, desk.store.items(items)))


def _position(desk: Desk, item: Item) -> View:
    """What an answer of the list and one on screen have in common."""
    after = desk.own(item.item).after
    codes = None if after.codes is None else sorted(desk.known_codes.current(after.codes))
    return {"item": item.item, "drawn": item.drawn, **vars(after), "codes": codes}


def _sides(desk: Desk, item: int) -> list[View]:
    return [
        {"coder": coder, "codes": sorted(entry.after.codes or ())}
        for coder, entry in desk.outcome(item).by.items()
    ]


def _suggestion(desk: Desk, item: int, place: int) -> View | None:
    round_ = int(desk.outlook.rounds[place])
    said = next(desk.store.suggestions(round_, item), None)
    if said is None:
        return None
    details, current = said.details, desk.known_codes.current
    codes = current(said.codes)
    likely = zip(said.likely, desk.rounds[round_].facts.get("codes", ()), strict=False)
    nexts = dict.fromkeys(map(current, details.get("next", [])))
    doubt = doubt_words(details.get("chance"), details.get("theta", 0.0))
    return {
        "round": round_,
        "codes": codes,
        "doubt_words": "" if details.get("empty") else doubt,
        "why": details.get("why", ""),
        "next": [other for other in nexts if set(other) != set(codes)],
        "nearest": [{**n, "codes": current(n["codes"])} for n in details.get("nearest", [])],
        "likely": current(code for _, code in sorted(likely, key=lambda pair: -pair[0])),
    }


def items_view(desk: Desk, ids: Sequence[int]) -> View:
    """Some answers by their numbers."""
    return {"items": item_views(desk, ids)}


def before_view(desk: Desk, item: int = 0, order: str = FILE, n: int = 10) -> View:
    """The answers of the queue before one, open or not."""
    return {"items": item_views(desk, desk.items_before(order, item, n))}


def alike_view(desk: Desk, item: int) -> View:
    """Open answers with the same suggestion, to see before codes are given to all of them."""
    found = desk.alike(item)
    rows = [
        {"item": other.item, "text": other.text[:LONG], "seen": desk.own(other.item).id}
        for other in desk.store.items(found[:MOST_ALIKE])
    ]
    codes = () if desk.is_blind(item) else desk.outlook.codes(desk.place(item))
    return {"codes": codes, "items": rows, "n": len(found), "round": desk.round}


def list_view(
    desk: Desk,
    state: str = "queue",
    code: str = "",
    search: str = "",
    order: str = FILE,
    offset: int = 0,
    limit: int = 100,
) -> View:
    """A part of the answers in a state, with a code, and with some words in them."""
    among = LISTS[state](desk)
    among = among & _with_code(desk, code) if code else among
    among = among & _with_words(desk, search) if search.strip() else among
    # In the order of the file people look for a row by its number, drawn or not.
    places = np.flatnonzero(among) if order == FILE else desk.outlook.ranked(among, order)
    items = desk.outlook.items[places[offset : offset + limit]].tolist()
    return {"n": len(places), "rows": [_row(desk, item) for item in desk.store.items(items)]}


# Which answers a list may show.
LISTS: dict[str, Callable[[Desk], Mask]] = {
    "queue": lambda desk: desk.queue,
    "open": lambda desk: desk.open,
    "done": lambda desk: desk.done,
    "skipped": lambda desk: desk.is_in(SKIPPED) & ~desk.done,
    "flagged": lambda desk: desk.flagged,
    "disagree": lambda desk: np.isin(desk.outlook.items, desk.disagreements()),
    "auto": lambda desk: automatic_items(desk) & ~_blind(desk),
    "all": lambda desk: np.ones(len(desk.outlook), dtype=bool),
}


def automatic_items(desk: Desk) -> Mask:
    """Which answers have the machine's codes, and nobody's else."""
    return desk.outlook.auto & ~desk.outlook.given & ~desk.decided


def _blind(desk: Desk) -> Mask:
    return desk.outlook.drawn & desk.study.blind


def _with_code(desk: Desk, code: str) -> Mask:
    """Answers to which this coder gave a code, or the machine where they have not decided."""
    look, done = desk.outlook, desk.is_in(DONE)
    groups = np.array([False, *(code in codes for codes in look.groups)])
    found = groups[look.group + 1] & ~_blind(desk)
    found[done] = [code in (desk.own(i).after.codes or ()) for i in look.items[done].tolist()]
    return found


def _with_words(desk: Desk, search: str) -> Mask:
    """Answers that hold some words, in capitals or not; a number finds its answer as well."""
    words, found = search.casefold().split(), np.zeros(len(desk.outlook), dtype=bool)
    for place, (item, text) in enumerate(desk.store.texts()):
        folded = text.casefold()
        found[place] = all(word in folded for word in words) or str(item) == search.strip()
    return found


def _row(desk: Desk, item: Item) -> View:
    row, place, look = _position(desk, item), desk.place(item.item), desk.outlook
    if row["state"] == DONE:
        row["by"] = "people"
    elif item.given is not None:
        row |= {"state": "coded", "codes": sorted(item.given), "by": "people"}
    elif not desk.is_blind(item.item) and look.group[place] >= 0:
        is_auto = row["state"] == OPEN and look.auto[place]
        row |= {"codes": look.codes(place), "by": "machine"} | ({"state": AUTO} if is_auto else {})
    return {"by": "", **row, "text": item.text[:SHORT], "codes": row["codes"] or ()}


def disagreements_view(desk: Desk) -> list[View]:
    """Answers to which coders gave different codes, with those of each."""
    return [
        {
            "item": item.item,
            "text": item.text[:LONG],
            "seen": desk.seen_by_all(item.item),
            "by": _sides(desk, item.item),
        }
        for item in desk.store.items(desk.disagreements()[:MOST_SETTLED])
    ]


def status_view(desk: Desk, learning: View) -> View:
    """How far the work is, what the machine could do alone, and what the checks say."""
    look = desk.outlook
    queue, auto, without = desk.queue, automatic_items(desk), ~look.given
    n_open, n_skipped, pace = int(desk.open.sum()), len(desk.skipped), desk.pace
    n_people, n_all, n_auto = int((desk.decided & without).sum()), int(without.sum()), auto.sum()
    n_apart = len(desk.disagreed)
    return {
        "seq": desk.seq,
        "round": desk.round,
        "learning": {**learning, "since": max(0, desk.n_agreed - n_learned(desk))},
        "progress": {
            "n_queue": int(queue.sum()),
            "n_done": int((queue & desk.done).sum()),
            "n_open": n_open,
            "n_skipped": n_skipped,
            "n_flagged": int(desk.flagged.sum()),
            "n_disagree": len(desk.disagreements()),
            "seconds_left": None if pace is None else pace * (n_open + n_skipped),
            "last": act_words(desk.last_act),
        },
        "n_codes": len(desk.known_codes.listed),
        "machine": {
            "n_auto": int(n_auto),
            "n_auto_shown": int((auto & ~_blind(desk)).sum()),
            "n_people": n_people - n_apart,
            "n_apart": n_apart,
            "n_open": int(n_all - n_auto - n_people),
            "n_newly_auto": int((auto & ~look.first_auto).sum()),
            # Drawn answers that it was sure of are its own, too, although people decide them.
            "share": int((look.auto & without).sum()) / n_all if n_all else 0.0,
            "target": desk.study.target,
        },
        "audit": audit_view(desk) if (look.drawn & without).any() else None,
    }


def n_learned(desk: Desk) -> int:
    """From how many decisions the machine has learned."""
    return int(desk.facts.get("n_decided", 0))


def act_words(act: Sequence[LogEntry]) -> str:
    """What was done in one act, as the page names it beside its button that undoes."""
    if not act:
        return ""
    last = act[0]
    where = f"answer {last.item:,}" if len(act) == 1 else f"{len(act):,} answers"
    said = ", ".join(sorted(last.after.codes or ())) or "no code"
    if last.action == FLAG:
        said = "flag" if last.after.flag else "flag removed"
    return f"{where}: {'skipped' if last.action == SKIP else said}"


def audit_view(desk: Desk) -> View:
    """What the drawn answers say of the automatic codes, as ``nldd audit`` does."""
    found = check_accuracy(desk)
    return {**found.to_dict(), "headline": found.headline, "text": found.text}


@dataclass(frozen=True)
class CheckedAccuracy:
    """What the answers drawn at random prove of the machine's first codes; see :func:`audit_of`.

    Later codes come from models that have learned from these very answers, so they prove nothing of
    those. The interval holds for a number of checks that was fixed before: who stops when it looks
    good finds a target kept too often. So the verdict waits until all drawn answers are decided.

    Attributes
    ----------
    n_drawn, n_left : int
        Drawn answers, and those of them on which people have not agreed yet.
    withdrawn : bool
        True if the model no longer codes any answer automatically.
    audit : Audit or None
        What the checks prove, as soon as there are any.

    Examples
    --------
    >>> from nldd.coding.audit import judge_checks
    >>> from nldd.coding.review.views import CheckedAccuracy
    >>> audit = judge_checks([True] * 39 + [False], target=0.8)
    >>> print(CheckedAccuracy(50, 0, False, audit).headline)
    87 to 99.9 % right
    """

    n_drawn: int
    n_left: int
    withdrawn: bool
    audit: Audit | None

    def __str__(self) -> str:
        return fill(self.text, 100)

    def to_dict(self) -> View:
        """Plain values for JSON; those of the checks are there as soon as there are any."""
        own = {"n_drawn": self.n_drawn, "n_left": self.n_left, "withdrawn": self.withdrawn}
        return own if self.audit is None else own | self.audit.to_dict()

    @property
    def headline(self) -> str:
        """The result in a few words: an interval, or counts of few checks; empty without one."""
        if (audit := self.audit) is None or self.withdrawn:
            return ""
        if audit.n_checked < FEWEST_CHECKED:
            return f"{audit.n_right:,} of {audit.n_checked:,} right"
        return f"{percent_range(audit.low, audit.high, 0)} right"

    @property
    def text(self) -> str:
        """What it comes to, in sentences."""
        if (audit := self.audit) is None:
            return "No automatic code has been checked yet."
        n, n_right = audit.n_checked, audit.n_right
        target = f"the target of {percent(audit.target)}"
        if self.withdrawn:
            counts = f"{n_right:,} of {n:,} checked answers right"
            why = "the model no longer codes any answer automatically"
            return f"The first automatic codes were withdrawn ({counts}): {why}."
        so_far = " so far" if self.n_left else ""
        text = checked_accuracy(n_right, n, audit.low, audit.high, so_far)
        text += "" if audit.verdict is None else f"; {target}: {audit.verdict}"
        text += ". These are the codes as first given, before the machine learned."
        if self.n_left:
            text += f" Left to decide or to settle: {count_noun(self.n_left, 'drawn answer')}."
            if audit.measure == "subset":
                text += f" Whether {target} is kept is told after them."
        elif audit.needed is not None:
            text += f" About {audit.needed:,} checks would tell, if as many of them are right."
        return text


def check_accuracy(desk: Desk, target: float | None = None) -> CheckedAccuracy:
    """What the drawn answers at a desk say of the automatic codes, as they were first given.

    They are checks of whole answers, and give no verdict on a guarantee by another measure.
    """
    look, study, current = desk.outlook, desk.study, desk.known_codes.current
    places = np.flatnonzero(look.drawn & ~look.given).tolist()
    agreed = {place: desk.outcome(int(look.items[place])).codes for place in places}
    n_left = sum(codes is None for codes in agreed.values())
    checks = [
        set(current(codes)) == set(current(look.codes_in(0, place) or ()))
        for place, codes in agreed.items()
        if codes is not None and look.first_auto[place]
    ]
    goal, measure = (study.target, study.measure) if target is None else (target, "subset")
    audit, n_open = None, int(look.first_auto[places].sum()) - len(checks)
    if checks:
        audit = replace(_judge(sum(checks), len(checks), n_open, goal), measure=measure)
        if n_left or measure != "subset":
            audit = replace(audit, verdict=None, needed=None)
    # The first round coded answers automatically, and the last has none but for review.
    facts = [desk.rounds[number].facts for number in sorted(desk.rounds)] or [{}]
    withdrawn = facts[0].get("n_auto") and facts[-1].get("n_review") and not facts[-1]["n_auto"]
    return CheckedAccuracy(len(agreed), n_left, bool(withdrawn), audit)


@lru_cache(maxsize=100)
def _judge(n_right: int, n: int, n_open: int, target: float) -> Audit:
    return judge_checks([True] * n_right + [False] * (n - n_right), n_open, target)


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
    >>> from nldd.coding.review.records import LogEntry, Position
    >>> from nldd.coding.review.store import Store
    >>> from nldd.coding.review.views import audit_of
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
    >>> found.audit.n_checked, found.audit.n_right, found.audit.verdict
    (3, 3, 'cannot tell yet')
    >>> folder.cleanup()
    """
    with store.snapshot():
        found = check_accuracy(Desk(store, ""), target)
    if found.audit is None:
        which = "no automatic code that was drawn at random"
        message = f"{store.path.name}: {which} has been decided yet."
        hint = "decide the drawn answers on the page, which come first; nldd review --audit 50"
        raise InputError(message, hint=f"{hint} draws some where a review begins")
    return found
