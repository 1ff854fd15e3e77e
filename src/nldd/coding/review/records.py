"""What a store holds: answers, suggestions and decisions as values, and as rows of its tables."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any, NamedTuple

from nldd.coding.review.log import Codes, LogEntry, Position

MOMENTS: dict[str, type[date | time]] = {kind.__name__: kind for kind in (datetime, date, time)}
# Of the format of a table, what a review keeps.
WRITTEN = ("kind", "encoding", "separator", "bom", "newline", "sheet")
COLUMNS = (
    "id, uid, item, coder, action, state, codes, flag, note, time, round, model, shown, seconds,"
    " batch, undoes"
)


@dataclass(frozen=True)
class Study:
    """What a review is about: the table and the model by name and checksum, and what was asked for.

    `codes` are those of the model in the order of its codebook, with names and descriptions;
    `header` and `table_format` say how the table was written.
    """

    table: str
    table_sha256: str
    model: str
    model_sha256: str
    header: tuple[str, ...]
    text: tuple[str, ...]
    codes: tuple[tuple[str, str, str], ...]
    target: float = 0.9
    confidence: float = 0.9
    measure: str = "subset"
    rank_by: str = "chance"
    n_audit: int = 0
    blind: bool = True
    seed: int = 0
    separator: str = ";"
    none: str = ""
    table_format: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @property
    def marks(self) -> Mapping[str, str]:
        """The column of 0 and 1 of each code; none if columns list the codes."""
        return self.table_format.get("codes", {}).get("columns", {})


class Item(NamedTuple):
    """An answer of a review.

    Attributes
    ----------
    item : int
        Its number in the table, from 1.
    cells : tuple
        Its row, as it stands in the table.
    text : str
        What it says.
    drawn : bool
        Whether it was drawn at random, to check the machine.
    given : frozenset of str or None
        Codes that it came with.

    Examples
    --------
    >>> from nldd.coding.review.records import Item
    >>> Item(1, ("r1", "cheaper rents"), "cheaper rents", drawn=False, given=None).text
    'cheaper rents'
    """

    item: int
    cells: tuple[Any, ...]
    text: str
    drawn: bool
    given: Codes | None


class Suggestion(NamedTuple):
    """What a model said of an item; `details` has theta, chance, why, next, nearest, empty."""

    item: int
    codes: tuple[str, ...]
    status: str
    doubt: float
    likely: bytes
    details: Mapping[str, Any]


class Round(NamedTuple):
    """One coding of all items that nobody has decided; `facts` has threshold, counts and codes."""

    round: int
    time: str
    model: str
    facts: Mapping[str, Any]


def current_time() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def pack(value: Any) -> str:
    """A value as JSON; dates and times, as cells hold them, become objects with their kind."""
    return json.dumps(value, ensure_ascii=False, default=lambda c: {type(c).__name__: str(c)})


def _unpack_cells(text: str) -> tuple[Any, ...]:
    def moment(found: dict[str, str]) -> date | time:
        ((kind, value),) = found.items()
        return MOMENTS[kind].fromisoformat(value)

    return tuple(json.loads(text, object_hook=moment))


def codes_text(codes: Iterable[str] | None) -> str | None:
    return None if codes is None else json.dumps(sorted(codes), ensure_ascii=False)


@lru_cache(maxsize=10_000)
def _read_codes(text: str | None) -> Codes | None:
    return None if text is None else frozenset(json.loads(text))


def read_item(row: tuple[Any, ...], n_cells: int) -> Item:
    """An answer, whose row has as many cells as the header."""
    item, packed, text, drawn, given = row
    cells = _unpack_cells(packed)
    if len(cells) != n_cells:
        raise ValueError(f"expected {n_cells} cells, got {len(cells)}")
    return Item(item, cells, text, bool(drawn), _read_codes(given))


def read_suggestion(row: tuple[Any, ...]) -> Suggestion:
    item, codes, status, doubt, likely, details = row
    return Suggestion(item, tuple(json.loads(codes)), status, doubt, likely, json.loads(details))


def entry_row(entry: LogEntry) -> tuple[Any, ...]:
    """The cells of an entry in the order of `COLUMNS`; its id is for the store to give."""
    after = entry.after
    left = (after.state, codes_text(after.codes), int(after.flag), after.note)
    more = (entry.time, entry.round, entry.model, entry.shown, entry.seconds, entry.batch)
    return (None, entry.uid, entry.item, entry.coder, entry.action, *left, *more, entry.undoes)


def read_entry(row: tuple[Any, ...]) -> LogEntry:
    id_, uid, item, coder, action, state, codes, flag, note, *more = row
    time, round_, model, shown, seconds, batch, undoes = more
    after = Position(state, _read_codes(codes), bool(flag), note)
    what = (time, round_, model, shown, seconds, batch, undoes)
    return LogEntry(id_, uid, item, coder, action, after, *what)
