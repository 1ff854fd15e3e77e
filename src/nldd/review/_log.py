"""The log of decisions: entries that are only ever added, and the state that the last ones leave.

Each entry holds the whole state of its item as it is afterwards, so that the state of an item is
its last entry; to undo is one more entry, with the state from before.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Codes = frozenset[str]
# What people do with an answer.
CODE, SKIP, FLAG, UNDO, SETTLE = ACTIONS = ("code", "skip", "flag", "undo", "settle")
# Where that leaves it.
OPEN, DONE, SKIPPED = STATES = ("open", "done", "skipped")


@dataclass(frozen=True)
class Position:
    """Where an item stands for one coder: its state, codes once it is done, and a flag."""

    state: str = OPEN
    codes: Codes | None = None
    flag: bool = False
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """What a coder did with an item, and where that left it.

    `id` gives the order, whatever the clocks say. `uid` is the sender's own name for it: an entry
    that is sent twice is written once. Entries of one `batch` were made by one act. `shown` is what
    the page showed of the `round` of suggestions, which the model with the checksum `model` made.
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


@dataclass(frozen=True)
class Outcome:
    """What has become of an item: the codes on which those agree who coded it, or no codes.

    `by` has the last entry of each coder who has decided it; `settled` says that one of them has
    settled it after all others.
    """

    codes: Codes | None
    by: Mapping[str, Entry]
    settled: bool = False

    @property
    def disagree(self) -> bool:
        """Whether coders gave it different codes, and nobody has settled it since."""
        return self.codes is None and bool(self.by)


def latest(entries: Iterable[Entry]) -> dict[int, dict[str, Entry]]:
    """The last entry of each coder for each item; entries come in their order."""
    found: defaultdict[int, dict[str, Entry]] = defaultdict(dict)
    for entry in entries:
        found[entry.item][entry.coder] = entry
    return dict(found)


def outcome(by_coder: Mapping[str, Entry]) -> Outcome:
    """What the last entries of all coders for one item come to.

    >>> entry = Entry(1, "a", 7, "Ann", CODE, Position(DONE, frozenset({"safety"})), "")
    >>> sorted(outcome({"Ann": entry}).codes)
    ['safety']
    """
    last = max(by_coder.values(), key=lambda entry: entry.id, default=None)
    done = {coder: entry for coder, entry in by_coder.items() if entry.after.state == DONE}
    if last is not None and last.action == SETTLE:
        return Outcome(last.after.codes, done, settled=True)
    given = {entry.after.codes for entry in done.values()}
    return Outcome(given.pop() if len(given) == 1 else None, done)


def outcomes(entries: Iterable[Entry]) -> dict[int, Outcome]:
    """What has become of each item that is in a log; entries come in their order."""
    return {item: outcome(by_coder) for item, by_coder in latest(entries).items()}


def to_undo(entries: Iterable[Entry], coder: str) -> list[Entry]:
    """The entries of a coder's last act that is not undone yet; the last comes first."""
    own = [entry for entry in entries if entry.coder == coder]
    undone = {entry.undoes for entry in own}
    left = [entry for entry in own if entry.action != UNDO and entry.id not in undone]
    if not left:
        return []
    batch = left[-1].batch
    return [e for e in reversed(left) if e is left[-1] or (batch and e.batch == batch)]
