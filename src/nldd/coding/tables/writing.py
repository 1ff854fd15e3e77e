"""Write a table that is whole or not there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.sheet_layout import SheetLayout
from nldd.coding.tables.writer import create_table


def write_table(
    path: Path | str,
    frame: pd.DataFrame,
    *,
    header: Sequence[str] | None = None,
    like: TableFormat | None = None,
    raw: bool = False,
    layout: SheetLayout | None = None,
    descriptions: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write a table in the format that the ending of its name says.

    The `header` may differ from the names of the frame's columns, which are distinct.
    """
    names = tuple(frame.columns) if header is None else tuple(header)
    how = {"like": like, "raw": raw, "look": layout, "descriptions": descriptions}
    with create_table(path, names, **how) as writer:
        writer.write(frame.itertuples(index=False, name=None))
