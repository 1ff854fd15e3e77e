"""The desk of one coder: where each answer of a store stands for them, and what they do with it.

The state is in memory and follows the log, so that a page is answered at once; what a coder does is
an entry in the store before it is anything here.
"""

import gc
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nldd._wording import quote
from nldd.coding.review.known_codes import KnownCodes
from nldd.coding.review.log import (
    CODE,
    DONE,
    FLAG,
    OPEN,
    SETTLE,
    SKIP,
    SKIPPED,
    STATES,
    UNDO,
    ItemOutcome,
    LogEntry,
    Position,
    Standing,
    outcome,
    stand,
)
from nldd.coding.review.queue import Mask, Places, QueueState, order_open_items
from nldd.coding.review.records import current_time
from nldd.coding.review.store import ChangedSinceError, Store
from nldd.exceptions import InputError

UNFLAG = "unflag"
ACTS = (CODE, SKIP, FLAG, UNFLAG, SETTLE)
# What coders do with answers that others have decided: they decide them too, or leave them.
AGAIN, LEAVE = "again", "leave"
# The pace is that of so many decisions; who leaves the desk is not slow.
N_PACE, FEWEST_PACE, LONGEST_PACE = 50, 3, 120.0


@dataclass(frozen=True)
class Act:
    """What a coder does with an answer of which they have `seen` the entry with that id."""

    uid: str
    item: int
    seen: int
    action: str
    codes: frozenset[str] = frozenset()
    note: str = ""
    round: int = 0
    seconds: float = 0.0


class Conflict(Exception):
    """An answer has changed since it was seen; nothing was written."""

    def __init__(self, item: int) -> None:
        super().__init__(item)
        self.item = item


class NotLastError(Exception):
    """An act cannot be undone, as it is not the last one; `items` are those that it was about."""

    def __init__(self, items: Sequence[int]) -> None:
        super().__init__(items)
        self.items = list(items)


class UnknownItemError(InputError):
    """There is no answer of that number."""


class Desk:
    """What one coder sees of a store, and does there; `show` names columns to show beside."""

    def __init__(self, store: Store, coder: str, show: Sequence[str] = ()) -> None:
        self.store, self.coder, self.study = store, coder, store.study
        self.show = [(name, find_shown(self.study.header, name)) for name in show]
        self.outlook = QueueState(store, self.study.seed)
        n = len(self.outlook)
        self.by: dict[int, dict[str, Standing]] = {}
        self.state: Places = np.zeros(n, dtype=np.intp)
        self.flagged: Mask = np.zeros(n, dtype=bool)
        self.decided: Mask = np.zeros(n, dtype=bool)  # by anybody
        self.disagreed: set[int] = set()
        self.seq, self._data_version = 0, -1
        self._own: dict[int, LogEntry] = {}
        self._skipped: dict[int, None] = {}  # places in the order in which they were skipped
        self._acts: list[list[tuple[LogEntry, Position]]] = []
        self._known: dict[str, tuple[str, list[int]]] = {}
        self._pace: deque[float] = deque(maxlen=N_PACE)
        self._orders: dict[str, Places] = {}
        self.known_codes = KnownCodes(self.study)
        self.store_id = str(store.setting("id"))
        self.rounds = {r.round: r for r in store.rounds()}
        self.settings: dict[str, Any] = {}
        with _no_collection():
            self.follow()

    # What has happened.

    def follow(self) -> None:
        """Take in what other processes have written since."""
        version = self.store.data_version()
        if version == self._data_version:
            return
        for entry in self.store.entries(after=self.seq):
            self._apply(entry)
        self.known_codes.add(self.store.setting("codes") or ())
        self.settings = self.store.setting(f"coder:{self.coder}") or {}
        self.rounds = {r.round: r for r in self.store.rounds()}
        if (last := max(self.rounds, default=0)) != self.outlook.round:
            self.known_codes.follow(self.rounds[last].facts)
            self.outlook.renew(self.store, last, self.known_codes.current)
            self._orders.clear()
        self._data_version = version

    def _apply(self, entry: LogEntry) -> None:
        self.seq = entry.id
        known = self._known.setdefault(entry.batch or entry.uid, (entry.coder, []))
        known[1].append(entry.item)
        self._known.setdefault(entry.uid, known)
        place = self.outlook.place.get(entry.item)
        if place is None:
            return
        by = self.by.setdefault(entry.item, {})
        stand(by, entry)
        found = outcome(by)
        self.decided[place] = bool(found.by)
        (self.disagreed.add if found.disagree else self.disagreed.discard)(entry.item)
        self.known_codes.take(entry.after.codes or ())
        if entry.coder == self.coder:
            self._apply_own(entry, place)

    def _apply_own(self, entry: LogEntry, place: int) -> None:
        before = self.position(entry.item)
        if not self._in_queue(place):  # it comes in now
            self._orders.clear()
        self._own[entry.item] = entry
        self.state[place] = STATES.index(entry.after.state)
        self.flagged[place] = entry.after.flag
        if entry.after.state != SKIPPED or entry.action != FLAG:
            self._skipped.pop(place, None)
        if entry.after.state == SKIPPED:
            self._skipped.setdefault(place)
        if entry.action == UNDO:
            self._forget(entry.undoes)
            return
        if entry.batch and self._acts and self._acts[-1][0][0].batch == entry.batch:
            self._acts[-1].append((entry, before))
        else:
            self._acts.append([(entry, before)])
        if entry.seconds > 0 and entry.action in (CODE, SKIP):
            self._pace.append(min(entry.seconds, LONGEST_PACE))

    def _forget(self, undone: int | None) -> None:
        """Take an entry that was undone from the acts that can be; nearly always the last."""
        for i in range(len(self._acts) - 1, -1, -1):
            act = self._acts[i]
            for j in range(len(act) - 1, -1, -1):
                if act[j][0].id == undone:
                    del act[j]
                    if not act:
                        del self._acts[i]
                    return

    # Where things stand.

    @property
    def round(self) -> int:
        """The round of suggestions that counts."""
        return self.outlook.round

    @property
    def leaves(self) -> bool:
        """Whether answers that others have decided count as done."""
        return self.settings.get("others") == LEAVE

    @property
    def n_agreed(self) -> int:
        """How many answers people have decided, but for those in dispute: to learn from."""
        return int(self.decided.sum()) - len(self.disagreed)

    @property
    def codes(self) -> list[tuple[str, str, str, bool]]:
        """Each code with its name and description, and whether people have added it."""
        return self.known_codes.listed

    @property
    def pace(self) -> float | None:
        """Seconds that a decision takes, if there were enough of them."""
        return float(np.median(self._pace)) if len(self._pace) >= FEWEST_PACE else None

    @property
    def can_undo(self) -> bool:
        """Whether there is an act that is not undone yet."""
        return bool(self._acts)

    @property
    def last_act(self) -> list[LogEntry]:
        """What an undo would take back: the last act that is not undone yet, if there is one."""
        return [entry for entry, _ in self._acts[-1]] if self._acts else []

    @property
    def queue(self) -> Mask:
        """Which answers are for people, or were decided by this one."""
        look = self.outlook
        touched = self.state != STATES.index(OPEN)
        return np.asarray((~look.auto | look.drawn | touched) & ~look.given)

    @property
    def done(self) -> Mask:
        """Which answers this coder has decided, or need not."""
        own = self.state == STATES.index(DONE)
        return np.asarray(own | self.decided if self.leaves else own)

    @property
    def open(self) -> Mask:
        """Which answers of the queue wait for this coder, but for those that they skipped."""
        return np.asarray(self.queue & ~self.done & (self.state == STATES.index(OPEN)))

    @property
    def skipped(self) -> list[int]:
        """Places of the answers that this coder skipped, in the order in which they did."""
        done = self.done
        return [place for place in self._skipped if not done[place]]

    def _in_queue(self, place: int) -> bool:
        look = self.outlook
        own = bool(self.state[place] != STATES.index(OPEN))
        return bool((not look.auto[place] or look.drawn[place] or own) and not look.given[place])

    def place(self, item: int) -> int:
        """The place of an item in the table, from 0."""
        found = self.outlook.place.get(item)
        if found is None:
            message = f"There is no answer {item}"
            hint = f"the answers have the numbers 1 to {len(self.outlook)}"
            raise UnknownItemError(f"{message}.", hint=hint)
        return found

    def position(self, item: int) -> Position:
        """Where an item stands for this coder."""
        own = self._own.get(item)
        return Position() if own is None else own.after

    def seen(self, item: int) -> int:
        """The id of this coder's last entry for an item; 0 if there is none."""
        own = self._own.get(item)
        return 0 if own is None else own.id

    def seen_by_all(self, item: int) -> int:
        """The id of the last entry of any coder for an item."""
        return max((found.last.id for found in self.by.get(item, {}).values()), default=0)

    def outcome(self, item: int) -> ItemOutcome:
        """What has become of an item over all coders."""
        return outcome(self.by.get(item, {}))

    def is_blind(self, item: int) -> bool:
        """Whether the suggestion is hidden: of a drawn answer, for the whole review.

        Who saw it once they have decided could decide again, and agree with the machine.
        """
        return self.study.blind and bool(self.outlook.drawn[self.place(item)])

    def ranked(self, order: str) -> Places:
        """Places of the queue in an order."""
        if order not in self._orders:
            self._orders[order] = self.outlook.ranked(self.queue, order)
        return self._orders[order]

    def next_items(self, order: str, after: int, n: int) -> list[int]:
        """The next open items behind one; from the beginning if that is not in the queue."""
        place = self.outlook.place.get(after)
        found = order_open_items(self.ranked(order), place, self.open, self.skipped)
        return [int(item) for item in self.outlook.items[found[:n]]]

    def items_before(self, order: str, item: int, n: int) -> list[int]:
        """The items of the queue before one, open or not, the nearest first."""
        ranked, place = self.ranked(order), self.place(item)
        found = np.flatnonzero(ranked == place)
        end = int(found[0]) if len(found) else len(ranked)
        return [int(other) for other in self.outlook.items[ranked[max(0, end - n) : end][::-1]]]

    def alike(self, item: int) -> list[int]:
        """Open items of the queue with the same suggestion, in the order of the table."""
        place, look = self.place(item), self.outlook
        if look.group[place] < 0 or self.is_blind(item):
            return []
        same = (look.group == look.group[place]) & self.open & ~look.drawn
        return [int(other) for other in look.items[same]]

    def disagreements(self) -> list[int]:
        """Items to settle: those that this coder has decided too, or leaves to others."""
        seen = (i for i in self.disagreed if self.leaves or self.position(i).state == DONE)
        return sorted(seen)

    # What the coder does.

    def decide(self, act: Act) -> None:
        """Write what the coder does with an answer, unless it has changed since they saw it."""
        while not self._is_known(act.uid):
            place = self.place(act.item)
            seen = self.seen_by_all if act.action == SETTLE else self.seen
            if act.seen != seen(act.item):
                raise Conflict(act.item)
            if self.outlook.given[place] and act.action not in (FLAG, UNFLAG):
                hint = "change its codes in the table, or flag it with a note"
                raise InputError(f"Answer {act.item} came with codes.", hint=hint)
            if act.action == SETTLE and act.item not in self.disagreed:
                hint = "decide it as any other answer"
                raise InputError(f"Coders do not disagree on answer {act.item}.", hint=hint)
            self._add([self._entry(act, self._after(act))])

    def decide_many(self, uid: str, seen: Mapping[int, int], act: Act) -> tuple[int, list[int]]:
        """Give several answers the codes of an act; how many got them, and which had changed."""
        while not self._is_known(uid):
            fresh = [i for i, last in seen.items() if self._is_fresh(i, last)]
            acts = [replace(act, uid=f"{uid}:{item}", item=item) for item in fresh]
            if not acts:
                return 0, list(seen)
            self._add([replace(self._entry(one, self._after(one)), batch=uid) for one in acts])
        done = set(self._known[uid][1])
        return len(done), [item for item in seen if item not in done]

    def _is_fresh(self, item: int, seen: int) -> bool:
        given = self.outlook.given[self.place(item)]
        return seen == self.seen(item) and not given and not self.is_blind(item)

    def undo(self, uid: str, undoes: str = "") -> list[int]:
        """Take back the last act that is not undone yet: entries with the state from before.

        With the name of the act that it `undoes`, no other one is taken back.
        """
        while not self._is_known(uid):
            last = self._acts[-1][0][0] if self._acts else None
            if undoes and (last is None or undoes != (last.batch or last.uid)):
                raise NotLastError(self._known.get(undoes, ("", []))[1])
            if last is None:
                return []
            time, entries = current_time(), []
            for number, (entry, before) in enumerate(reversed(self._acts[-1])):
                undone = replace(entry, uid=f"{uid}:{number}", action=UNDO, after=before)
                undone = replace(undone, time=time, seconds=0.0, batch=uid, undoes=entry.id)
                entries.append(undone)
            self._add(entries)
        return list(self._known[uid][1])

    def add_code(self, name: str, sure: bool) -> str:
        """Add a code; one that looks like a known one only if the coder is sure.

        Returned is its name as it is kept.
        """
        self.follow()
        code = " ".join(name.split())
        if code not in self.known_codes:
            self.known_codes.check_new(code, sure)
            self.store.keep_more("codes", [code])
            self.known_codes.add([code])
        return code

    def keep_settings(self, settings: dict[str, Any]) -> None:
        """Keep what the coder has chosen."""
        self.store.keep(f"coder:{self.coder}", settings)
        self.settings = settings

    def _is_known(self, uid: str) -> bool:
        """Whether an act is in the log already, by this coder."""
        self.follow()
        coder, _ = self._known.get(uid, (self.coder, ()))
        if coder != self.coder:
            message = f"Another coder has sent an act with the name {quote(uid)}."
            raise InputError(message, hint="send it under a name of its own")
        return uid in self._known

    def _after(self, act: Act) -> Position:
        """Where an act leaves an answer."""
        before = self.position(act.item)
        if act.action == FLAG:
            return replace(before, flag=True, note=act.note)
        if act.action == UNFLAG:
            return replace(before, flag=False, note="")
        if act.action == SKIP:
            return replace(before, state=SKIPPED, codes=None)
        return replace(before, state=DONE, codes=self.known_codes.chosen(act.codes))

    def _entry(self, act: Act, after: Position) -> LogEntry:
        said = self.outlook.codes_in(act.round, self.place(act.item))
        shown = "" if said is None or self.is_blind(act.item) else json.dumps(said)
        model = self.rounds[act.round].model if act.round in self.rounds else ""
        action = FLAG if act.action == UNFLAG else act.action
        what = (action, after, current_time(), act.round, model, shown, act.seconds)
        return LogEntry(0, act.uid, act.item, self.coder, *what)

    def _add(self, entries: Sequence[LogEntry]) -> None:
        """Write entries and take them in; nothing if another process was first, to look again."""
        try:
            added = self.store.add(entries, behind=self.seq)
        except ChangedSinceError:
            self._data_version = -1
            return
        for entry in added:
            self._apply(entry)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage: a long log is read in half the time, and nothing of it is any."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def find_shown(header: Sequence[str], name: str) -> int:
    """The place of a column that is to be shown beside the answers."""
    if name not in header:
        hint = f"its columns: {', '.join(header)}"
        raise InputError(f"The table has no column {quote(name)} to show.", hint=hint)
    return header.index(name)
