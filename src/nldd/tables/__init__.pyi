from ._look import Choices as Choices, Look as Look
from ._numbers import NumberFile as NumberFile
from ._open import TableOptions as TableOptions, open_table as open_table
from ._reader import TableReader as TableReader
from ._records import (
    Block as Block,
    Cell as Cell,
    TableFormat as TableFormat,
    cell_number as cell_number,
    cell_text as cell_text,
    guarded as guarded,
    is_text as is_text,
    unguarded as unguarded,
)
from ._writer import TableWriter as TableWriter, create_table as create_table

__all__ = [
    "Block",
    "Choices",
    "Look",
    "TableFormat",
    "TableOptions",
    "TableReader",
    "TableWriter",
    "cell_number",
    "cell_text",
    "create_table",
    "guarded",
    "open_table",
    "unguarded",
]
