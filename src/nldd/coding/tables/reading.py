"""Read a table into memory, whatever its format."""

from pathlib import Path

import pandas as pd

from nldd.coding.tables.opening import TableOptions as TableOptions
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.exceptions import InputError


def read_table(path: Path | str, options: TableOptions = TableOptions()) -> Spreadsheet:
    """Read a table into memory."""
    path = Path(path)
    digest = options.digest(path) if path.is_file() else ""
    with options.open(path) as table:
        rows = [row for block in table.blocks() for row in block.rows]
        frame = pd.DataFrame(rows, columns=list(table.names), dtype=object)
        frame = frame.astype(object).where(frame.notna(), None) if len(frame) else frame
        found = Spreadsheet(
            path, frame, table.header, table.format, table.notes, digest, table.numbers
        )
    if options.digest(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    return found
