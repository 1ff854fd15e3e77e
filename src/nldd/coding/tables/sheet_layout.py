"""How a workbook looks that people work in: widths, a header that stays, choices in cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nldd.coding.tables.cells import SHEET_OF_CHOICES, Cell

LAST_ROW = 1_048_575
# Excel takes a list of choices in a cell's own rule up to so many characters.
MOST_INLINE = 255
MOST_MESSAGE = 255


@dataclass(frozen=True)
class Choices:
    """What a cell of a workbook offers to choose from.

    Attributes
    ----------
    values : sequence of cells
        The choices; a cell may hold something else.
    advice : str
        For whoever types something else.

    Examples
    --------
    >>> from nldd.coding.tables.sheet_layout import Choices
    >>> Choices(("yes", "no"), advice="yes, no, or a word of your own").values
    ('yes', 'no')
    """

    values: Sequence[Cell]
    advice: str


@dataclass(frozen=True)
class SheetLayout:
    """How a workbook looks that people work in; other formats have no look.

    Texts are wrapped, and the header stays in sight.

    Attributes
    ----------
    widths : mapping from int to float
        Widths of columns in characters, by their place from 0.
    choices : mapping from int to Choices
        What the cells of columns offer, by their place from 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.opening import open_table
    >>> from nldd.coding.tables.sheet_layout import Choices, SheetLayout
    >>> from nldd.coding.tables.writer import create_table
    >>> look = SheetLayout(widths={0: 60}, choices={1: Choices(("yes", "no"), "yes or no")})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "review.xlsx")
    ...     with create_table(path, ["answer", "right"], look=look) as writer:
    ...         writer.write([("cheaper rents", "")])
    ...     with open_table(path) as table:
    ...         names = table.names
    >>> names
    ('answer', 'right')
    """

    widths: Mapping[int, float] = field(default_factory=dict)
    choices: Mapping[int, Choices] = field(default_factory=dict)


def format_sheet(book: Any, sheet: Any, look: SheetLayout) -> list[Any]:
    """Give a sheet of XlsxWriter its look, before its first row; return the sheets that it took."""
    from xlsxwriter.utility import xl_range_abs

    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    sheet.freeze_panes(1, 0)
    for column, width in look.widths.items():
        sheet.set_column(column, column, width, wrapped)
    lists: dict[tuple[Cell, ...], str] = {}
    added: list[Any] = []
    for column, choices in look.choices.items():
        source: Any = list(map(str, choices.values))
        # A comma would end a choice, and a quotation mark the whole list.
        if len(",".join(source)) > MOST_INLINE or any({*',"'} & {*name} for name in source):
            if not added:
                added.append(book.add_worksheet(SHEET_OF_CHOICES))
                added[0].hide()
            key = tuple(choices.values)
            if key not in lists:
                row = len(lists)
                for place, choice in enumerate(source):
                    added[0].write_string(row, place, choice)
                cells = xl_range_abs(row, 0, row, len(source) - 1)
                lists[key] = f"='{SHEET_OF_CHOICES}'!{cells}"
            source = lists[key]
        rule = {
            "validate": "list",
            "source": source,
            # Several choices may stand in a cell: whoever types them is told, not stopped.
            "error_type": "information",
            "error_title": "Not in the list",
            "error_message": choices.advice[:MOST_MESSAGE],
        }
        sheet.data_validation(1, column, LAST_ROW, column, rule)
    return added
