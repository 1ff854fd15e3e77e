"""Records that readers and writers of tables share, and the text of their messages."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nldd._wording import quote

Cell = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | None
Row = tuple[Cell, ...]

# No text that a person wrote is longer; what is longer comes from a quote that is never closed.
MAX_CELL = 2**24


@dataclass(frozen=True)
class TableFormat:
    """How a file was written, so that the output can be like it.

    Attributes
    ----------
    kind : {"csv", "tsv", "xlsx", "jsonl", "parquet"}
    encoding : str
        Of text files.
    separator : str
        Between the cells of CSV files.
    bom : bool
        Whether the text begins with a byte order mark.
    newline : str
        End of a line, ``"\\n"`` or ``"\\r\\n"``.
    sheet : str
        Name of the sheet of a workbook.
    """

    kind: str
    encoding: str = "utf-8"
    separator: str = ","
    bom: bool = False
    newline: str = "\n"
    sheet: str = ""

    @property
    def decimal(self) -> str | None:
        """The comma, where a file separates its cells by semicolons; else not known."""
        return "," if self.separator == ";" else None


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    first : int
        Number of the first of them, from 1; the header is not counted.
    rows : list of tuples
        Each as long as the header.
    """

    first: int
    rows: list[Row]


class Source(Protocol):
    """What a file format has to offer to :class:`nldd.tables.TableReader`."""

    header: tuple[str, ...]
    format: TableFormat

    def batches(self, n_rows: int) -> Iterator[list[Row]]:
        """All rows from the first one on, at most `n_rows` at a time."""

    def fraction(self) -> float:
        """How much of the file the latest call of :meth:`batches` has read."""

    def notes(self) -> list[str]:
        """What a person should know about what has been read."""

    def advice(self, hint: str) -> str:
        """The hint about a column that is not there, with what the file itself makes likely."""


class Sink(Protocol):
    """What a file format has to offer to :class:`nldd.tables.TableWriter`."""

    def write(self, rows: list[Row], first: int) -> None:
        """Write rows of which the first has this number, from 1."""

    def finish(self) -> None:
        """Write what comes after the last row."""

    def abandon(self) -> None:
        """Let go of the stream after an error; what was written is thrown away."""


def located(path: Path, row: int, name: str | None = None) -> str:
    """The place of a cell for a message."""
    return f"{path.name}, row {row}" + (f", column {quote(name)}" if name is not None else "")
