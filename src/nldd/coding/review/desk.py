"""The desk of one coder: the order of the answers, where each stands, and what they do with it.

The state is in memory and follows the log, so that a page is answered at once; what a coder does is
an entry in the store before it is anything here.
"""

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding.review import records
from nldd.coding.review.records import ItemOutcome, KnownCodes, LogEntry, Position, Round
from nldd.coding.review.store import ChangedSinceError, Store
from nldd.exceptions import InputError

FILE, UNSURE, ALIKE = ORDERS = ("file", "unsure", "alike")
AUTO = "auto"
UNFLAG = "unflag"
ACTS = (records.CODE, records.SKIP, records.FLAG, UNFLAG, records.SETTLE)
# The pace is that of so many decisions; who leaves the desk is not slow.
N_PACE, FEWEST_PACE, LONGEST_PACE = 50, 3, 120.0
MOST_SECONDS, MOST_SETTINGS = 86_400.0, 20_000

Codes = tuple[str, ...]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Act:
    """What a coder does with an answer of which they have `seen` the entry with that id."""

    uid: str
    item: int
    seen: int
    action: str
    codes: Collection[str]
    note: str = ""
    round: int = 0
    seconds: float | None = None


class Conflict(InputError):
    """Answers have changed since they were seen, and nothing was written; `items` are these."""

    def __init__(self, message: str, items: Sequence[int], *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.items = list(items)


class UnknownItemError(InputError):
    """There is no answer of that number."""


def random_order(n: int, seed: int) -> Places:
    """The rank of each of n answers in a random order, in which drawn ones come to people.

    A prefix of it is a random sample: they may stop anywhere.
    """
    return np.random.default_rng(seed).permutation(n)


class QueueState:
    """What the machine says of each answer, by its place in the table, which counts from 0.

    `group` tells answers apart by their suggested codes: `groups` has these, and -1 is the group of
    answers without a suggestion. `first_auto` is what the first round said.
    """

    def __init__(self, store: Store, seed: int) -> None:
        columns = np.array(store.outlines(), dtype=np.int64).reshape(-1, 4)
        self.items: NDArray[np.int64] = columns[:, 0]
        self.drawn, self.given, self.blank = columns[:, 1:].T.astype(bool)
        self.place = {item: place for place, item in enumerate(self.items.tolist())}
        n = len(self.items)
        self._chance = random_order(n, seed)
        self._names: dict[str, int] = {}  # groups by their codes as the store has them
        self.groups: list[Codes] = []
        zeros = np.zeros(n, dtype=np.intp)
        self._first: tuple[Mask, Places, NDArray[np.float64]] = (zeros > 0, zeros - 1, np.ones(n))
        # A page may have shown what an earlier round said, whose suggestions are gone by now.
        self._group_in: dict[int, Places] = {}
        self.renew(store, 0)
        self._first = (self.auto, self.group, self.doubt)
        self.first_auto: Mask = self.auto

    def __len__(self) -> int:
        return len(self.items)

    def renew(self, store: Store, round: int, current: Callable[[Codes], Codes] = tuple) -> None:
        """Take the suggestions of a round; answers that it left out keep their first ones.

        Codes that were merged since are told as what they are called now (`current`).
        """
        self.round, self.rounds = round, np.zeros(len(self), dtype=np.int64)
        auto, group, doubt = self._first
        self.auto, self.group, self.doubt = auto.copy(), group.copy(), doubt.copy()
        if found := store.suggestion_rows(round):
            items, codes, statuses, doubts = zip(*found, strict=True)
            places = np.searchsorted(self.items, np.array(items))
            self.group[places] = [self._names.setdefault(c, len(self._names)) for c in codes]
            self.auto[places] = [status == AUTO for status in statuses]
            self.doubt[places], self.rounds[places] = doubts, round
        self._group_in[round] = self.group
        self.groups = [current(tuple(json.loads(text))) for text in self._names]

    def codes_in(self, round: int, place: int) -> Codes | None:
        """The codes that were suggested in a round; None if that is not known."""
        if round not in self._group_in:
            return None
        group = self._group_in[round][place]
        return self.groups[group] if group >= 0 else ()

    def codes(self, place: int) -> Codes:
        """The codes that the machine suggests now."""
        return self.codes_in(self.round, place) or ()

    def ranked(self, among: Mask, order: str) -> Places:
        """Places of some answers in one of the orders: drawn ones first, empty ones last."""
        places = np.flatnonzero(among)
        drawn, group = self.drawn[places], self.group[places]
        keys: list[NDArray[Any]] = []
        if order == UNSURE:
            keys = [-self.doubt[places]]
        elif order == ALIKE:
            sizes = np.bincount(group[~drawn] + 1, minlength=len(self.groups) + 1)
            keys = [self.doubt[places], group, -sizes[group + 1]]
        keys = [np.where(drawn, 0, key) for key in keys]
        keys += [self.blank[places] & ~drawn, np.where(drawn, self._chance[places], 0), ~drawn]
        return places[np.lexsort([places, *keys])]


class Desk:
    """What one coder sees of a store, and does there; `show` names columns to show beside."""

    def __init__(self, store: Store, coder: str, show: Sequence[str] = ()) -> None:
        self.store, self.coder, self.study = store, coder, store.study
        self.show = [(name, find_shown(self.study.header, name)) for name in show]
        self.outlook = QueueState(store, self.study.seed)
        n = len(self.outlook)
        self._outcomes: dict[int, ItemOutcome] = {}
        self.disagreed: set[int] = set()
        self.state, self.flagged = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
        self.decided = np.zeros(n, dtype=bool)  # by anybody
        self.known_codes, self.rounds = KnownCodes(self.study), dict[int, Round]()
        self.settings: dict[str, Any] = {}
        self.seq, self._data_version = 0, -1
        self._turn = np.zeros(n, dtype=np.int64)  # entries by which answers were skipped
        self._known: dict[str, list[LogEntry]] = {}  # by the names of entries and of acts
        self._undoable: dict[int, tuple[LogEntry, Position]] = {}  # with what was before
        self._pace: deque[float] = deque(maxlen=N_PACE)
        self._orders: dict[str, Places] = {}
        self.follow()

    # What has happened.

    def follow(self) -> None:
        """Take in what other processes have written since."""
        if (version := self.store.data_version()) == self._data_version:
            return
        for entry in self.store.entries(after=self.seq):
            self._apply(entry)
        self.known_codes.add(self.store.setting("codes") or ())
        self.settings = self.store.setting(f"coder:{self.coder}") or {}
        self.rounds = {r.round: r for r in self.store.rounds()}
        if (last := max(self.rounds, default=0)) != self.round:
            self.known_codes.follow(self.rounds[last].facts)
            self.outlook.renew(self.store, last, self.known_codes.current)
            self._orders.clear()
        self._data_version = version

    def _apply(self, entry: LogEntry) -> None:
        self.seq = entry.id
        act = self._known.setdefault(entry.batch or entry.uid, [])
        act.append(entry)
        self._known.setdefault(entry.uid, act)
        place = self.outlook.place.get(entry.item)
        if place is None:
            return
        before = self.own(entry.item).after
        found = self._outcomes[entry.item] = self.outcome(entry.item).then(entry)
        self.decided[place] = bool(found.by)
        (self.disagreed.add if found.disagree else self.disagreed.discard)(entry.item)
        self.known_codes.take(entry.after.codes or ())
        if entry.coder == self.coder:
            self._apply_own(entry, place, before)

    def _apply_own(self, entry: LogEntry, place: int, before: Position) -> None:
        self.state[place] = records.STATES.index(entry.after.state)
        self.flagged[place] = entry.after.flag
        if entry.action != records.FLAG:
            self._turn[place] = entry.id
        if self.outlook.auto[place]:  # it comes into the queue, or leaves it
            self._orders.clear()
        if entry.action == records.UNDO:
            self._undoable.pop(entry.undoes or 0, None)
            return
        self._undoable[entry.id] = entry, before
        if entry.seconds > 0 and entry.action in (records.CODE, records.SKIP):
            self._pace.append(min(entry.seconds, LONGEST_PACE))

    # Where things stand.

    @property
    def round(self) -> int:
        """The round of suggestions that counts."""
        return self.outlook.round

    @property
    def leaves(self) -> bool:
        """Whether answers that others have decided count as done, or are decided again."""
        return self.settings.get("others") == "leave"

    @property
    def n_agreed(self) -> int:
        """How many answers people have decided, but for those in dispute: to learn from."""
        return int(self.decided.sum()) - len(self.disagreed)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is known of the round that counts."""
        return self.rounds[self.round].facts if self.rounds else {}

    @property
    def pace(self) -> float | None:
        """Seconds that a decision takes, if there were enough of them."""
        return float(np.median(self._pace)) if len(self._pace) >= FEWEST_PACE else None

    @property
    def last_act(self) -> list[LogEntry]:
        """What an undo would take back: the last act that is not undone yet, the last entry first.

        An act on several answers has an entry for each.
        """
        entries = (entry for entry, _ in reversed(self._undoable.values()))
        last = next(entries, None)
        if last is None:
            return []
        return [last, *takewhile(lambda e: last.batch and e.batch == last.batch, entries)]

    def is_in(self, state: str) -> Mask:
        """Which answers are open, done or skipped for this coder."""
        return np.asarray(self.state == records.STATES.index(state))

    @property
    def queue(self) -> Mask:
        """Which answers are for people, or were decided by this one."""
        look = self.outlook
        return np.asarray((~look.auto | look.drawn | ~self.is_in(records.OPEN)) & ~look.given)

    @property
    def done(self) -> Mask:
        """Which answers this coder has decided, or need not."""
        return self.is_in(records.DONE) | (self.decided & self.leaves)

    @property
    def open(self) -> Mask:
        """Which answers of the queue wait for this coder, but for those that they skipped."""
        return self.queue & ~self.done & self.is_in(records.OPEN)

    @property
    def skipped(self) -> list[int]:
        """Places of the answers that this coder skipped, in the order in which they did."""
        places = np.flatnonzero(self.is_in(records.SKIPPED) & ~self.done)
        return places[np.argsort(self._turn[places])].tolist()

    def place(self, item: int) -> int:
        """The place of an item in the table, from 0."""
        found = self.outlook.place.get(item)
        if found is None:
            hint = f"the answers have the numbers 1 to {len(self.outlook)}"
            raise UnknownItemError(f"There is no answer {item}.", hint=hint)
        return found

    def own(self, item: int) -> LogEntry:
        """This coder's last entry for an item; one with the id 0 if there is none."""
        return self.outcome(item).last(self.coder)

    def seen_by_all(self, item: int) -> int:
        """The id of the last entry of any coder for an item."""
        return max((entry.id for entry in self.outcome(item).entries), default=0)

    def outcome(self, item: int) -> ItemOutcome:
        """What has become of an item over all coders."""
        return self._outcomes.get(item, records.UNTOUCHED)

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
        """The next open items behind one, going round at the end; then those that were skipped.

        These come in the order in which they were skipped, from behind the one if that is such.
        """
        ranked, skipped, place = self.ranked(order), self.skipped, self.outlook.place.get(after, -1)
        found = np.flatnonzero(ranked == place)
        turned = np.roll(ranked, -1 - found[0]) if len(found) else ranked
        behind = skipped.index(place) + 1 if place in skipped else 0
        places = [*turned[self.open[turned]][:n], *skipped[behind:], *skipped[:behind]]
        return self.outlook.items[places[:n]].tolist()

    def items_before(self, order: str, item: int, n: int) -> list[int]:
        """The items of the queue before one, open or not, the nearest first."""
        ranked, place = self.ranked(order), self.place(item)
        found = np.flatnonzero(ranked == place)
        end = int(found[0]) if len(found) else len(ranked)
        return self.outlook.items[ranked[max(0, end - n) : end][::-1]].tolist()

    def alike(self, item: int) -> list[int]:
        """Open items of the queue with the same suggestion, in the order of the table."""
        place, look = self.place(item), self.outlook
        if look.group[place] < 0 or self.is_blind(item):
            return []
        same = (look.group == look.group[place]) & self.open & ~look.drawn
        return look.items[same].tolist()

    def disagreements(self) -> list[int]:
        """Items to settle: those that this coder has decided too, or leaves to others."""
        done = (i for i in self.disagreed if self.leaves or self.own(i).after.state == records.DONE)
        return sorted(done)

    # What the coder does.

    def decide(self, act: Act) -> list[int]:
        """Write what the coder does with an answer, unless it has changed since they saw it."""
        while not self._is_known(act.uid, lambda entry: entry.item == act.item):
            self._check(act)
            self._add([self._entry(act)])
        return [act.item]

    def _check(self, act: Act) -> None:
        place = self.place(act.item)
        seen = self.seen_by_all(act.item) if act.action == records.SETTLE else self.own(act.item).id
        if act.seen != seen:
            message = f"Answer {act.item} was changed elsewhere."
            raise Conflict(message, [act.item], hint="look at it again, then decide")
        if self.outlook.given[place] and act.action not in (records.FLAG, UNFLAG):
            hint = "change its codes in the table, or flag it with a note"
            raise InputError(f"Answer {act.item} came with codes.", hint=hint)
        if act.action == records.SETTLE and act.item not in self.disagreed:
            hint = "decide it as any other answer"
            raise InputError(f"Coders do not disagree on answer {act.item}.", hint=hint)

    def decide_many(self, act: Act, seen: Mapping[int, int]) -> tuple[int, list[int]]:
        """Give several answers the codes of an act; how many got them, and which had changed."""
        while not self._is_known(act.uid, lambda entry: entry.item in seen):
            fresh = [item for item, last in seen.items() if self._is_fresh(item, last)]
            if not fresh:
                return 0, list(seen)
            acts = [replace(act, uid=f"{act.uid}:{item}", item=item) for item in fresh]
            self._add([self._entry(one, batch=act.uid) for one in acts])
        done = {entry.item for entry in self._known[act.uid]}
        return len(done), [item for item in seen if item not in done]

    def _is_fresh(self, item: int, seen: int) -> bool:
        given = self.outlook.given[self.place(item)]
        return seen == self.own(item).id and not given and not self.is_blind(item)

    def undo(self, uid: str, undoes: str = "") -> list[int]:
        """Take back the last act that is not undone yet: entries with the state from before.

        With the name of the act that it `undoes`, no other one is taken back.
        """
        while not self._is_known(uid, lambda entry: entry.action == records.UNDO):
            act = self.last_act
            if undoes and undoes not in {entry.batch or entry.uid for entry in act}:
                message = "Something else was decided or undone since, so this is not undone."
                items = [entry.item for entry in self._known.get(undoes, ())]
                raise Conflict(message, items, hint="decide it again")
            if not act:
                return []
            same: dict[str, Any] = {"action": records.UNDO, "seconds": 0.0, "batch": uid}
            same["time"], entries = records.current_time(), []
            for number, entry in enumerate(act):
                before, name = self._undoable[entry.id][1], f"{uid}:{number}"
                entries.append(replace(entry, uid=name, after=before, undoes=entry.id, **same))
            self._add(entries)
        return [entry.item for entry in self._known[uid]]

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

    def change_settings(self, changes: Mapping[str, Any]) -> None:
        """Keep what the coder has chosen."""
        settings = {**self.settings, **changes}
        if len(json.dumps(settings)) > MOST_SETTINGS:
            hint = "reload the page; if it stays so, report it"
            raise InputError(f"Settings have at most {MOST_SETTINGS:,} characters.", hint=hint)
        self.store.keep(f"coder:{self.coder}", settings)
        self.settings = settings

    def _is_known(self, uid: str, is_of: Callable[[LogEntry], bool]) -> bool:
        """Whether an act is in the log already: by this coder, and on what it is of."""
        self.follow()
        act = self._known.get(uid, ())
        if not all(entry.coder == self.coder and is_of(entry) for entry in act):
            message = f"The name {quote(uid)} is used already, for another decision."
            raise InputError(message, hint="send each decision under a name of its own")
        return bool(act)

    def _after(self, act: Act) -> Position:
        """Where an act leaves an answer."""
        before = self.own(act.item).after
        if act.action in (records.FLAG, UNFLAG):
            flag = act.action == records.FLAG
            return replace(before, flag=flag, note=act.note if flag else "")
        if act.action == records.SKIP:
            return replace(before, state=records.SKIPPED, codes=None)
        codes = self.known_codes.chosen(frozenset(act.codes))
        return replace(before, state=records.DONE, codes=codes)

    def _entry(self, act: Act, batch: str = "") -> LogEntry:
        said = self.outlook.codes_in(act.round, self.place(act.item))
        shown = "" if said is None or self.is_blind(act.item) else json.dumps(said)
        model = self.rounds[act.round].model if act.round in self.rounds else ""
        action = records.FLAG if act.action == UNFLAG else act.action
        # By the page's own clock: what cannot be is taken as not known.
        took = float(act.seconds) if act.seconds and 0 < act.seconds <= MOST_SECONDS else 0.0
        what = (action, self._after(act), records.current_time(), act.round, model, shown, took)
        return LogEntry(0, act.uid, act.item, self.coder, *what, batch)

    def _add(self, entries: Sequence[LogEntry]) -> None:
        """Write entries and take them in; nothing if another process was first, to look again."""
        try:
            added = self.store.add(entries, behind=self.seq)
        except ChangedSinceError:
            self._data_version = -1
            return
        for entry in added:
            self._apply(entry)


def find_shown(header: Sequence[str], name: str) -> int:
    """The place of a column that is to be shown beside the answers."""
    if name not in header:
        hint = f"its columns: {', '.join(header)}"
        raise InputError(f"The table has no column {quote(name)} to show.", hint=hint)
    return header.index(name)
