"""The log of decisions: entries that are only ever added, and the state that the last ones leave.

Each entry holds the whole state of its item as it is afterwards, so that the state of an item is
its last entry; to undo is one more entry, with the state from before.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

Codes = frozenset[str]
# What people do with an answer.
CODE, SKIP, FLAG, UNDO, SETTLE = ACTIONS = ("code", "skip", "flag", "undo", "settle")
# Where that leaves it.
OPEN, DONE, SKIPPED = STATES = ("open", "done", "skipped")


@dataclass(frozen=True)
class Position:
    """Where an answer stands for one coder.

    Attributes
    ----------
    state : {"open", "done", "skipped"}
        Whether the coder has decided it.
    codes : frozenset of str or None
        Once it is done; an empty set says that no code applies.
    flag : bool
        Whether the coder has flagged it.
    note : str
        What the coder wrote beside it.

    Examples
    --------
    >>> from nldd.coding.review.log import Position
    >>> Position("done", frozenset({"safety"})).state, Position().codes is None
    ('done', True)
    """

    state: str = OPEN
    codes: Codes | None = None
    flag: bool = False
    note: str = ""


@dataclass(frozen=True)
class LogEntry:
    """What a coder did with an answer, and where that left it: one line of the log of a review.

    Attributes
    ----------
    id : int
        Gives the order, whatever the clocks say; the store gives it.
    uid : str
        The sender's own name for it: an entry that is sent twice is written once.
    item : int
        Number of the answer in the table, from 1.
    coder : str
        Who did it.
    action : {"code", "skip", "flag", "undo", "settle"}
        What was done.
    after : Position
        Where that left the answer for this coder.
    time : str
        In UTC.
    round, model, shown : int, str, str
        The round of suggestions, the checksum of the model that made them, and what the page
        showed.
    seconds : float
        How long it took.
    batch : str
        Entries of one batch were made by one act.
    undoes : int or None
        The entry that was taken back.

    Examples
    --------
    >>> from nldd.coding.review.log import LogEntry, Position
    >>> after = Position("done", frozenset({"safety"}))
    >>> entry = LogEntry(1, "a1", 7, "Ann", "code", after, "2026-01-02T03:04:05.678Z")
    >>> entry.coder, entry.item, sorted(entry.after.codes)
    ('Ann', 7, ['safety'])
    """

    id: int
    uid: str
    item: int
    coder: str
    action: str
    after: Position
    time: str
    round: int = 0
    model: str = ""
    shown: str = ""
    seconds: float = 0.0
    batch: str = ""
    undoes: int | None = None

    def is_act_of(self, other: "LogEntry") -> bool:
        """True if another entry is this one, sent once more."""
        same = (self.item, self.coder, self.action) == (other.item, other.coder, other.action)
        decides = self.action in (CODE, SETTLE)
        return same and (not decides or self.after.codes == other.after.codes)


class Standing(NamedTuple):
    """Where an item stands for one coder: the last entry, and decisions that are not undone.

    Flags are no decisions. The last decision is the one that counts.
    """

    last: LogEntry
    decisions: tuple[LogEntry, ...] = ()

    @property
    def own(self) -> Codes | None:
        """The codes that the coder gave it by themselves, not to settle it for all."""
        own = [entry for entry in self.decisions if entry.action != SETTLE]
        return own[-1].after.codes if own else None

    def then(self, entry: LogEntry) -> "Standing":
        """Where it stands after one more entry of the coder."""
        if entry.action == UNDO:
            return Standing(entry, tuple(e for e in self.decisions if e.id != entry.undoes))
        new = () if entry.action == FLAG else (entry,)
        return Standing(entry, self.decisions + new)


NOTHING = Standing(LogEntry(0, "", 0, "", "", Position(), ""))


@dataclass(frozen=True)
class ItemOutcome:
    """What has become of an answer; made by :func:`outcomes`.

    Attributes
    ----------
    codes : frozenset of str or None
        The codes on which those agree who coded it; None if nobody has, or they disagree.
    by : mapping from str to LogEntry
        The last entry of each coder who has decided it.
    settling : LogEntry or None
        That by which one of them has settled it for all.

    Examples
    --------
    >>> from nldd.coding.review.log import LogEntry, Position, outcomes
    >>> given = {"Ann": frozenset({"safety"}), "Ben": frozenset({"cycling"})}
    >>> entries = [
    ...     LogEntry(i, f"e{i}", 7, coder, "code", Position("done", codes), "2026-01-02T03:04:05Z")
    ...     for i, (coder, codes) in enumerate(given.items(), 1)
    ... ]
    >>> found = outcomes(entries)[7]
    >>> found.codes is None, found.disagree, sorted(found.by)
    (True, True, ['Ann', 'Ben'])
    """

    codes: Codes | None
    by: Mapping[str, LogEntry]
    settling: LogEntry | None = None

    @property
    def deciding(self) -> list[LogEntry]:
        """The entries that count, in their order."""
        if self.settling is not None:
            return [self.settling]
        return sorted(self.by.values(), key=lambda entry: entry.id)

    @property
    def disagree(self) -> bool:
        """Whether coders gave it different codes, and nobody has settled it since."""
        return self.codes is None and bool(self.by)


def latest(entries: Iterable[LogEntry]) -> dict[tuple[int, str], LogEntry]:
    """The last entry for each item by each coder; entries come in their order."""
    return {(entry.item, entry.coder): entry for entry in entries}


def standings(entries: Iterable[LogEntry]) -> dict[int, dict[str, Standing]]:
    """Where each item stands for each coder; entries come in their order."""
    found: dict[int, dict[str, Standing]] = {}
    for entry in entries:
        stand(found.setdefault(entry.item, {}), entry)
    return found


def stand(by_coder: dict[str, Standing], entry: LogEntry) -> None:
    """Let one more entry count among what coders have done with its item."""
    by_coder[entry.coder] = by_coder.get(entry.coder, NOTHING).then(entry)


def outcome(by_coder: Mapping[str, Standing]) -> ItemOutcome:
    """What the decisions of all coders on one item come to.

    >>> entry = LogEntry(1, "a", 7, "Ann", CODE, Position(DONE, frozenset({"safety"})), "")
    >>> sorted(outcome(standings([entry])[7]).codes)
    ['safety']
    """
    done = {c: found.last for c, found in by_coder.items() if found.last.after.state == DONE}
    settling = _settling(by_coder.values())
    if settling is not None:
        return ItemOutcome(settling.after.codes, {settling.coder: settling, **done}, settling)
    given = {entry.after.codes for entry in done.values()}
    return ItemOutcome(given.pop() if len(given) == 1 else None, done)


def _settling(standings: Collection[Standing]) -> LogEntry | None:
    """The entry that has settled an item, unless somebody decided otherwise since.

    Whoever flags it, skips it or takes an act back says nothing against it.
    """
    settled = [e for found in standings for e in found.decisions if e.action == SETTLE]
    if not settled:
        return None
    settling = max(settled, key=lambda entry: entry.id)
    last = (entry for found in standings for entry in found.decisions[-1:])
    since = (entry.after for entry in last if entry.id > settling.id)
    opened = any(after.state == DONE and after.codes != settling.after.codes for after in since)
    return None if opened else settling


def outcomes(entries: Iterable[LogEntry]) -> dict[int, ItemOutcome]:
    """Tell what has become of each answer that is in a log.

    Parameters
    ----------
    entries : iterable of LogEntry
        In their order, as :meth:`Store.entries` gives them.

    Returns
    -------
    dict from int to ItemOutcome
        By the number of the answer.

    Examples
    --------
    >>> from nldd.coding.review.log import LogEntry, Position, outcomes
    >>> after = Position("done", frozenset({"safety"}))
    >>> entry = LogEntry(1, "a1", 7, "Ann", "code", after, "2026-01-02T03:04:05.678Z")
    >>> {item: sorted(found.codes) for item, found in outcomes([entry]).items()}
    {7: ['safety']}
    """
    return {item: outcome(by_coder) for item, by_coder in standings(entries).items()}
