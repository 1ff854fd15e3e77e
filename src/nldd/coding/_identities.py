"""Which answers a model has already, so that none counts twice."""

from collections.abc import Sequence
from hashlib import sha256

from nldd.coding._answers import plain_text, unguarded
from nldd.coding._columns import Columns
from nldd.tables import Cell, TableReader

PREFIX = "nldd_"


def identities(table: TableReader, rows: Sequence[Sequence[Cell]], columns: Columns) -> list[str]:
    """A digest of each row without its codes and without what nldd has added.

    An answer that comes back from a review has the same one, whatever codes it got. Answers of two
    people differ if the table has an id, or any other column in which they do.
    """
    names = [str(unguarded(name)) for name in table.names]
    kept = sorted(
        (name, j)
        for j, name in enumerate(names)
        if name not in columns.codes.names and not name.startswith(PREFIX)
    )
    return [
        sha256("\x1f".join(f"{name}={plain_text(row[j])}" for name, j in kept).encode()).hexdigest()
        for row in rows
    ]


def all_differ(names: Sequence[str]) -> bool:
    """Whether no two answers have the same identity."""
    return len(set(names)) == len(names)
