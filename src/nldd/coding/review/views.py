"""What the page is shown of a desk: an answer, the list, how far the work is; all plain JSON."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from nldd.coding.review.desk import Desk
from nldd.coding.review.log import DONE, FLAG, OPEN, SKIP, LogEntry
from nldd.coding.review.queue import AUTO, FILE, Mask
from nldd.coding.review.records import Item, pack
from nldd.coding.review.verified import check_accuracy
from nldd.coding.tables.cells import cell_text
from nldd.exceptions import InputError
from nldd.present.text import command_line, percent

View = dict[str, Any]
# Shares that are easily said, with the words for them.
SAID = (
    *[(1 / n, f"about 1 in {n} like this is wrong") for n in (2, 3, 4, 5, 6, 7, 8, 9, 10)],
    *[(1 / n, f"about 1 in {n} like this is wrong") for n in (12, 15, 20, 30, 50, 100)],
    (0.4, "about 2 in 5 like this are wrong"),
)
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
        said = min(SAID, key=lambda share: abs(np.log(share[0] / wrong)))[1]
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
    found = []
    for item in desk.store.items(items):
        place, blind = desk.place(item.item), desk.is_blind(item.item)
        has_alike = not blind and look.group[place] >= 0
        n_alike = int(sizes[look.group[place] + 1] - waiting[place]) if has_alike else 0
        suggestion = None if blind else _suggestion(desk, item.item, place)
        found.append(
            {
                **_position(desk, item),
                "text": item.text,
                "show": [[name, cell_text(item.cells[column])] for name, column in desk.show],
                "seen": desk.own(item.item).id,
                "blind": blind,
                "suggestion": suggestion,
                "given": None if item.given is None else sorted(item.given),
                "n_alike": n_alike,
                "others": _others(desk, item.item),
                "settled": desk.outcome(item.item).settled,
            }
        )
    return found


def _position(desk: Desk, item: Item) -> View:
    """What an answer of the list and one on screen have in common."""
    after = desk.own(item.item).after
    codes = None if after.codes is None else sorted(desk.known_codes.current(after.codes))
    return {"item": item.item, "drawn": item.drawn, **vars(after), "codes": codes}


def _others(desk: Desk, item: int) -> list[View]:
    """What other coders gave an answer, for one who has decided it."""
    if desk.own(item).after.state != DONE:
        return []
    return [side for side in _sides(desk, item) if side["coder"] != desk.coder]


def _sides(desk: Desk, item: int) -> list[View]:
    return [
        {"coder": coder, "codes": sorted(entry.after.codes or ())}
        for coder, entry in desk.outcome(item).by.items()
    ]


def _suggestion(desk: Desk, item: int, place: int) -> View | None:
    round_ = int(desk.outlook.rounds[place])
    said = desk.store.suggestion(round_, item)
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


def some_items_view(desk: Desk, ids: Sequence[int]) -> View:
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
    among = _in_state(desk, state)
    if code:
        among &= _with_code(desk, code)
    if search.strip():
        among &= _with_words(desk, search)
    # In the order of the file people look for a row by its number, drawn or not.
    places = np.flatnonzero(among) if order == FILE else desk.outlook.ranked(among, order)
    items = desk.outlook.items[places[offset : offset + limit]].tolist()
    return {"n": len(places), "rows": [_row(desk, item) for item in desk.store.items(items)]}


def _in_state(desk: Desk, state: str) -> Mask:
    look = desk.outlook
    masks: dict[str, Callable[[], Mask]] = {
        "queue": lambda: desk.queue,
        "open": lambda: desk.open,
        "done": lambda: desk.done,
        "skipped": lambda: np.isin(np.arange(len(look)), desk.skipped),
        "flagged": lambda: desk.flagged.copy(),
        "disagree": lambda: np.isin(look.items, desk.disagreements()),
        "auto": lambda: automatic_items(desk) & ~_blind(desk),
        "all": lambda: np.ones(len(look), dtype=bool),
    }
    if state not in masks:
        raise InputError(
            f"There is no state {state!r} to list.", hint=f"choose one of {', '.join(masks)}"
        )
    return masks[state]()


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


def disagreement_rows(desk: Desk) -> list[View]:
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
        "audit": audit_view(desk),
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


def audit_view(desk: Desk) -> View | None:
    """What the drawn answers say of the automatic codes, as ``nldd audit`` does; None without."""
    found = check_accuracy(desk)
    if not found.n_drawn:
        return None
    return {**vars(found), "headline": found.headline, "text": found.text}
