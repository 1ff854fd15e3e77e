"""Acts at a desk, and what it shows."""

from coding.review.made_review import NUMBERS, end_round
from nldd.coding.review.desk import Act
from nldd.coding.review.records import CODE
from nldd.coding.review.views import list_view, status_view


def act(item, codes=("pay",), action=CODE, seen=0, **more):
    return Act(f"u{next(NUMBERS)}", item, seen, action, frozenset(codes), **more)


def of(desk):
    """The first suggestions of all items of a store, by their numbers."""
    return {s.item: s for s in desk.store.suggestions(0)}


def renew(desk, number, suggestions, **facts):
    """Let another process finish a round, and the desk take it in."""
    end_round(desk.store.path, number, suggestions, **facts)
    desk.follow()


def listed(desk, state="queue", code="", search="", order="file"):
    return [row["item"] for row in list_view(desk, state, code, search, order, 0, 100)["rows"]]


def progress(desk):
    return status_view(desk, {})["progress"]


def to_undo(entries, coder):
    """The entries of a coder's last act that is not undone yet, by the log alone; last first."""
    own = [entry for entry in entries if entry.coder == coder]
    undone = {entry.undoes for entry in own}
    left = [entry for entry in own if entry.action != "undo" and entry.id not in undone]
    if not left:
        return []
    batch = left[-1].batch
    return [e for e in reversed(left) if e is left[-1] or (batch and e.batch == batch)]
