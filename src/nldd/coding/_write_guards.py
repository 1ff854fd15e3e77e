"""What must not be written over: files that a step reads, and those that people have filled in."""

import os
from collections.abc import Collection
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from nldd.coding._answers import unguard
from nldd.exceptions import InputError
from nldd.tables import TableOptions, cell_text


def check_places(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    given = [Path(place) for place in places if place is not None and str(place) != "-"]
    for a, b in combinations(given, 2):
        if a.resolve() == b.resolve():
            message = f"{b} is named twice; what is read and what is written must differ."
            raise InputError(message, hint=hint)


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written to, before hours of work rather than after."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        hint = "check the name of its folder, and whether you may write there"
        raise InputError(f"{path}: cannot be written.", hint=hint)


def is_filled_in(
    path: Path, names: Collection[str], options: TableOptions = TableOptions()
) -> bool:
    """Whether a table has text in one of these columns; a file that cannot be read may have."""
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with options.open(path) as table:
            places = [j for j, name in enumerate(table.names) if unguard(name) in names]
            rows = (row for block in table.blocks() for row in block.rows)
            return any(cell_text(row[j]).strip() for row in rows for j in places)
    except InputError as error:
        raise InputError(
            f"{path} is there already, and what people may have filled in cannot be read: {error}",
            hint="repair or rename it; or another name for the new file",
        ) from None
