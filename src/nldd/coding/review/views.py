"""What the page is shown of a desk: an answer, the list, how far the work is; all plain JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np

from nldd.coding.review.desk import Desk
from nldd.coding.review.log import DONE, FLAG, OPEN, SKIP, STATES, LogEntry
from nldd.coding.review.queue import AUTO, FILE, Mask, Places
from nldd.coding.review.records import Item, Suggestion, pack
from nldd.coding.review.verified import is_withdrawn, verify
from nldd.coding.tables.cells import cell_text
from nldd.exceptions import InputError
from nldd.present.text import command_line, percent

View = dict[str, Any]
LISTED = ("queue", "open", "done", "skipped", "flagged", "disagree", "auto", "all")
# Shares that are easily said, with the words for them.
SAID = (
    *[(1 / n, f"about 1 in {n} like this is wrong") for n in (2, 3, 4, 5, 6, 7, 8, 9, 10)],
    *[(1 / n, f"about 1 in {n} like this is wrong") for n in (12, 15, 20, 30, 50, 100)],
    (0.4, "about 2 in 5 like this are wrong"),
)
# Characters of an answer in a list, and where it must be read to be judged; answers at a time.
SHORT, LONG, MOST_ALIKE = 200, 2000, 500


def doubt_words(chance: float | None, theta: float) -> str:
    """How likely a suggestion is wrong, in words that need no statistics.

    >>> doubt_words(0.81, 0.05)
    'about 1 in 5 like this is wrong, all codes together'
    >>> doubt_words(0.3, 0.2)
    'more likely wrong than right, all codes together'
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


def study_view(desk: Desk, every: int) -> View:
    """What the review is about."""
    study = desk.study
    names = ("table", "model", "target", "confidence", "measure", "blind", "version")
    return {
        "coder": desk.coder,
        **{name: getattr(study, name) for name in names},
        "store": desk.store.path.name,
        "update": command_line("nldd", "update", study.model, desk.store.path.name),
        "store_id": _store_id(desk),
        "n_items": len(desk.outlook),
        "codes": codes_view(desk),
        "text": list(study.text),
        "show": [name for name, _ in desk.show],
        "every": every,
        "settings": desk.settings,
    }


def _store_id(desk: Desk) -> str:
    """By what a browser knows the store; a copy of it, which has its own path, is another."""
    where = str(desk.store.path.resolve())
    return sha256(pack([desk.store_id, where, desk.coder]).encode()).hexdigest()[:16]


def codes_view(desk: Desk) -> list[View]:
    """All codes as the page shows them."""
    names = ("code", "name", "description", "new")
    return [dict(zip(names, code, strict=True)) for code in desk.codes]


def item_views(desk: Desk, items: Sequence[int]) -> list[View]:
    """Answers as the page shows them, one at a time."""
    for item in items:
        desk.place(item)  # all are known
    open_, look = desk.open & ~desk.outlook.drawn, desk.outlook
    alike = np.bincount(look.group[open_] + 1, minlength=len(look.groups) + 1)
    return [_item_view(desk, item, alike, open_) for item in desk.store.items(items)]


def _item_view(desk: Desk, item: Item, alike: Places, open_: Mask) -> View:
    number, place = item.item, desk.place(item.item)
    position, blind = desk.position(number), desk.is_blind(number)
    found, group = desk.outcome(number), desk.outlook.group[place]
    suggestion = None if blind else _suggestion(desk, number, place)
    n_alike = 0 if blind or group < 0 else int(alike[group + 1] - open_[place])
    others = [
        {"coder": coder, "codes": sorted(entry.after.codes or ()), "time": entry.time}
        for coder, entry in found.by.items()
        if coder != desk.coder and position.state == DONE
    ]
    return {
        "item": number,
        "text": item.text,
        "show": [[name, cell_text(item.cells[column])] for name, column in desk.show],
        "state": position.state,
        "codes": _listed(desk, position.codes),
        "flag": position.flag,
        "note": position.note,
        "seen": desk.seen(number),
        "drawn": item.drawn,
        "blind": blind,
        "suggestion": suggestion,
        "given": None if item.given is None else sorted(item.given),
        "n_alike": n_alike,
        "others": others,
        "settled": found.settled,
    }


def _listed(desk: Desk, codes: frozenset[str] | None) -> list[str] | None:
    return None if codes is None else sorted(desk.known_codes.current(codes))


def _suggestion(desk: Desk, item: int, place: int) -> View | None:
    round_ = int(desk.outlook.rounds[place])
    said = desk.store.suggestion(round_, item)
    if said is None:
        return None
    details, current = said.details, desk.known_codes.current
    codes, likely = current(said.codes), _most_likely(said, desk.rounds[round_].facts)
    others = dict.fromkeys(map(current, details.get("next", [])))
    chance, theta = details.get("chance"), details.get("theta", 0.0)
    return {
        "round": round_,
        "status": said.status,
        "codes": list(codes),
        "chance": chance,
        "theta": theta,
        "doubt_words": "" if details.get("empty") else doubt_words(chance, theta),
        "why": details.get("why", ""),
        "next": [list(other) for other in others if set(other) != set(codes)],
        "nearest": [
            {**near, "codes": list(current(near["codes"]))} for near in details.get("nearest", [])
        ],
        "likely": list(current(likely)),
    }


def _most_likely(said: Suggestion, facts: Mapping[str, Any]) -> list[str]:
    pairs = zip(said.likely, facts.get("codes", ()), strict=False)
    return [code for _, code in sorted(pairs, key=lambda pair: -pair[0])]


def alike_view(desk: Desk, item: int) -> View:
    """Open answers with the same suggestion, to see before codes are given to all of them."""
    found = desk.alike(item)
    place = desk.place(item)
    rows = [
        {"item": other.item, "text": other.text[:LONG], "seen": desk.seen(other.item)}
        for other in desk.store.items(found[:MOST_ALIKE])
    ]
    codes = [] if desk.is_blind(item) else list(desk.outlook.codes(place))
    return {"codes": codes, "items": rows, "n": len(found), "round": desk.round}


def list_view(
    desk: Desk, state: str, code: str, search: str, order: str, offset: int, limit: int
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
    look, n = desk.outlook, len(desk.outlook)
    skipped = np.zeros(n, dtype=bool)
    skipped[desk.skipped] = True
    masks: dict[str, Callable[[], Mask]] = {
        "all": lambda: np.ones(n, dtype=bool),
        "queue": lambda: desk.queue,
        "open": lambda: desk.open,
        "done": lambda: desk.done,
        "skipped": lambda: skipped,
        "flagged": lambda: desk.flagged.copy(),
        "disagree": lambda: np.isin(look.items, desk.disagreements()),
        "auto": lambda: automatic_items(desk) & ~_blind(desk),
    }
    if state not in masks:
        hint = f"choose one of {', '.join(LISTED)}"
        raise InputError(f"There is no state {state!r} to list.", hint=hint)
    return masks[state]()


def automatic_items(desk: Desk) -> Mask:
    """Which answers have the machine's codes, and nobody's else."""
    look = desk.outlook
    return np.asarray(look.auto & ~look.given & ~desk.decided)


def _blind(desk: Desk) -> Mask:
    return np.asarray(desk.outlook.drawn & desk.study.blind)


def _with_code(desk: Desk, code: str) -> Mask:
    """Answers to which this coder gave a code, or the machine where they have not decided."""
    look = desk.outlook
    groups = np.array([False, *(code in codes for codes in look.groups)])
    found = groups[look.group + 1] & ~_blind(desk) & (desk.state != STATES.index(DONE))
    for item in look.items[desk.state == STATES.index(DONE)].tolist():
        found[desk.place(item)] = code in (desk.position(item).codes or ())
    return np.asarray(found)


def _with_words(desk: Desk, search: str) -> Mask:
    """Answers that hold some words, in capitals or not; a number finds its answer as well."""
    words, found = search.casefold().split(), np.zeros(len(desk.outlook), dtype=bool)
    for place, (item, text) in enumerate(desk.store.texts()):
        folded = text.casefold()
        found[place] = all(word in folded for word in words) or str(item) == search.strip()
    return found


def _row(desk: Desk, item: Item) -> View:
    number, place = item.item, desk.place(item.item)
    position, look = desk.position(number), desk.outlook
    state, codes, by = position.state, _listed(desk, position.codes) or [], ""
    if state == DONE:
        by = "people"
    elif item.given is not None:
        state, codes, by = "coded", sorted(item.given), "people"
    elif not desk.is_blind(number) and look.group[place] >= 0:
        codes, by = list(look.codes(place)), "machine"
        state = AUTO if state == OPEN and look.auto[place] else state
    text = item.text[:SHORT]
    return {
        **{"item": number, "text": text, "state": state, "codes": codes, "by": by},
        **{"flag": position.flag, "note": position.note, "drawn": item.drawn},
    }


def disagreement_rows(desk: Desk, most: int = 1000) -> list[View]:
    """Answers to which coders gave different codes, with those of each."""
    return [
        {
            "item": item.item,
            "text": item.text[:LONG],
            "seen": desk.seen_by_all(item.item),
            "by": [
                {"coder": coder, "codes": sorted(entry.after.codes or ())}
                for coder, entry in desk.outcome(item.item).by.items()
            ],
        }
        for item in desk.store.items(list(islice(desk.disagreements(), most)))
    ]


def status_view(desk: Desk, learning: View, judged: bool = True) -> View:
    """How far the work is, what the machine could do alone, and what the checks say."""
    look = desk.outlook
    queue, open_, auto = desk.queue, desk.open, automatic_items(desk)
    n_open, n_skipped = int(open_.sum()), len(desk.skipped)
    n_people, n_all = int((desk.decided & ~look.given).sum()), int((~look.given).sum())
    n_auto, pace, n_apart = int(auto.sum()), desk.pace, len(desk.disagreed)
    facts = desk.rounds[desk.round].facts if desk.rounds else {}
    return {
        "seq": desk.seq,
        "round": desk.round,
        "learning": {**learning, "since": max(0, desk.n_agreed - int(facts.get("n_decided", 0)))},
        "progress": {
            "n_queue": int(queue.sum()),
            "n_done": int((queue & desk.done).sum()),
            "n_open": n_open,
            "n_skipped": n_skipped,
            "n_flagged": int(desk.flagged.sum()),
            "n_disagree": len(desk.disagreements()),
            "seconds_left": None if pace is None else pace * (n_open + n_skipped),
            "can_undo": desk.can_undo,
            "last": act_words(desk.last_act),
        },
        "n_codes": len(desk.codes),
        "machine": {
            "n_auto": n_auto,
            "n_auto_shown": int((auto & ~_blind(desk)).sum()),
            "n_people": n_people - n_apart,
            "n_apart": n_apart,
            "n_open": n_all - n_auto - n_people,
            "n_newly_auto": int((auto & ~look.first_auto).sum()),
            # Drawn answers that it was sure of are its own, too, although people decide them.
            "share": int((look.auto & ~look.given).sum()) / n_all if n_all else 0.0,
            "target": desk.study.target,
        },
        "audit": audit_view(desk, judged),
    }


def act_words(act: Sequence[LogEntry]) -> str:
    """What was done in one act, as the page names it beside its button that undoes."""
    if not act:
        return ""
    last = act[-1]
    where = f"answer {last.item:,}" if len(act) == 1 else f"{len(act):,} answers"
    said = ", ".join(sorted(last.after.codes or ())) or "no code"
    if last.action == FLAG:
        said = "flag" if last.after.flag else "flag removed"
    return f"{where}: {'skipped' if last.action == SKIP else said}"


def audit_view(desk: Desk, judged: bool = True) -> View | None:
    """What the drawn answers say of the automatic codes, as ``nldd audit`` does; None without.

    As long as they cannot be `judged`, they are only counted.
    """
    look = desk.outlook
    drawn = np.flatnonzero(look.drawn & ~look.given)
    if not len(drawn):
        return None
    auto = drawn[look.first_auto[drawn]].tolist()
    given = [(place, desk.outcome(int(look.items[place])).codes) for place in auto]
    current = desk.known_codes.current
    checks = [
        set(current(codes)) == set(look.first_codes(place))
        for place, codes in given
        if codes is not None
    ]
    apart = np.isin(look.items[drawn], list(desk.disagreed))
    n_left = int((~desk.decided[drawn] | apart).sum())
    study = desk.study
    found = verify(len(drawn), n_left, len(auto), checks, study.target, judged, study.measure)
    found = replace(found, withdrawn=is_withdrawn([*desk.rounds.values()]))
    return {**asdict(found), "headline": found.headline, "text": found.text}
