"""Open a table, whatever its format, and read its rows in blocks."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from nldd._wording import quote
from nldd.exceptions import InputError
from nldd.tables._csv_read import CsvRows
from nldd.tables._encoding import text_file
from nldd.tables._jsonl import JsonlRows
from nldd.tables._magic import first_bytes, refuse_foreign
from nldd.tables._names import distinct_names, naming_hint, renaming_hint, renaming_notes
from nldd.tables._parquet import ParquetRows
from nldd.tables._records import Block, Row, Source, TableFormat, located
from nldd.tables._xlsx_read import XlsxRows

EXCEL, JSON_LINES, PARQUET = (".xlsx", ".xlsm"), (".jsonl", ".ndjson", ".json"), (".parquet", ".pq")
TAB_SEPARATED = (".tsv", ".tab")


class TableReader:
    """Rows of a table, read in blocks; made by :func:`open_table`.

    Attributes
    ----------
    path : Path
    header : tuple of str
        The cells of the header as they are in the file.
    names : tuple of str
        Names of the columns, no two alike: a repeated one gets a number, an empty one its place.
    format : TableFormat
        How the file is written.
    """

    def __init__(self, path: Path, source: Source) -> None:
        self.path = path
        self.header = source.header
        self.names = distinct_names(source.header)
        self.format: TableFormat = source.format
        self._source = source
        self._open: list[Iterator[list[Row]]] = []

    @property
    def notes(self) -> list[str]:
        """What a person should know; what concerns the rows is complete once they are read."""
        return [*self._source.notes(), *renaming_notes(self.header, self.names)]

    def blocks(self, n_rows: int = 2000) -> Iterator[Block]:
        """All rows from the first one on, however often this is called.

        Parameters
        ----------
        n_rows : int
            Number of rows of a block; fewer where their text is very long.

        Yields
        ------
        block : Block
        """
        if n_rows < 1:
            raise InputError(f"n_rows must be at least 1; got {n_rows}.")
        first = 1
        batches = self._source.batches(n_rows)
        self._open.append(batches)
        try:
            for rows in batches:
                yield Block(first, rows)
                first += len(rows)
        except (UnicodeError, OSError) as error:
            raise InputError(
                f"{located(self.path, first)}: the file could not be read to its end: {error}.",
                hint="check whether another program changed it, and start again",
            ) from error
        finally:
            self._open.remove(batches)
            _close(batches)

    def fraction_read(self) -> float:
        """How much of the file has been read, from 0 to 1."""
        return self._source.fraction()

    def column(self, name: str, free: Sequence[str] | None = None) -> int:
        """Position of a column; an error names those that are like it.

        Parameters
        ----------
        name : str
        free : sequence of str, optional
            Columns that could be renamed, where the name is not the person's choice.
        """
        if name in self.names:
            return self.names.index(name)
        hint = naming_hint(name, self.names) if free is None else renaming_hint(name, free)
        raise InputError(
            f"{self.path.name} has no column {quote(name)}.", hint=self._source.advice(hint)
        )

    def where(self, row: int, column: int | None = None) -> str:
        """The place of a cell for a message: row from 1, and position of the column from 0."""
        return located(self.path, row, None if column is None else self.names[column])

    def __enter__(self) -> "TableReader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for batches in list(self._open):
            _close(batches)


def _close(batches: Iterator[list[Row]]) -> None:
    close = getattr(batches, "close", None)
    if close is not None:
        close()


def open_table(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> TableReader:
    """Open a table by the ending of its name; what is no other format is read as CSV.

    Parameters
    ----------
    path : path
        CSV, TSV, XLSX, JSON lines or Parquet.
    encoding : str, optional
        Of text; by default told by the bytes of the whole file.
    separator : str, optional
        Between the cells of text; by default comma, semicolon, tab or bar, whichever splits the
        rows as it does the header.
    sheet : str, optional
        Name of the sheet of a workbook; by default the first one that is not hidden.

    Returns
    -------
    reader : TableReader

    Raises
    ------
    InputError
        With the name of the file and the line or row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text('id;answer;age\\n1;"good; cheap";44\\n2;none;\\n')
    ...     with open_table(path) as reader:
    ...         names = reader.names
    ...         rows = [row for block in reader.blocks() for row in block.rows]
    >>> names
    ('id', 'answer', 'age')
    >>> rows
    [('1', 'good; cheap', '44'), ('2', 'none', '')]
    """
    path = Path(path)
    head = first_bytes(path)
    ending = path.suffix.lower()
    if sheet is not None and ending not in EXCEL:
        raise InputError(f"{path} has no sheets; only .xlsx files do.", hint="leave out the sheet")
    return TableReader(path, _source(path, head, ending, encoding, separator, sheet))


def _source(
    path: Path,
    head: bytes,
    ending: str,
    encoding: str | None,
    separator: str | None,
    sheet: str | None,
) -> Source:
    if ending in EXCEL:
        return XlsxRows(path, head, sheet)
    if ending in PARQUET:
        return ParquetRows(path)
    refuse_foreign(path, head)
    text = text_file(path, head, encoding)
    if ending in JSON_LINES:
        return JsonlRows(text)
    return CsvRows(text, separator, kind="tsv" if ending in TAB_SEPARATED else "csv")


@dataclass(frozen=True)
class TableOptions:
    """How a table is opened; what is None is found out.

    Attributes
    ----------
    encoding, separator, sheet : str or None
    """

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None

    def open(self, path: Path | str) -> TableReader:
        """The table in a file."""
        return open_table(path, encoding=self.encoding, separator=self.separator, sheet=self.sheet)
