"""Whether people have worked on a file, so that it must not be replaced."""

from collections.abc import Collection
from pathlib import Path

from nldd.coding._answers import unguarded
from nldd.exceptions import InputError
from nldd.tables import TableOptions, cell_text


def filled_in(path: Path, names: Collection[str], options: TableOptions = TableOptions()) -> bool:
    """Whether a table has text in one of these columns; a file that cannot be read may have."""
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with options.open(path) as table:
            places = [j for j, name in enumerate(table.names) if unguarded(name) in names]
            rows = (row for block in table.blocks() for row in block.rows)
            return any(cell_text(row[j]).strip() for row in rows for j in places)
    except InputError as error:
        raise InputError(
            f"{path} is there already, and what people may have filled in cannot be read: {error}",
            hint="repair or rename it; or another name for the new file",
        ) from None
