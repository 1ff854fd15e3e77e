"""Open a table: the formats that are read, each by the endings of its names.

``open_table -> ReadFormat -> RowSource -> TableReader``
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

from nldd.coding.tables.cells import RowSource
from nldd.coding.tables.csv_files import CsvRows
from nldd.coding.tables.jsonl_parquet import JsonlRows, ParquetRows
from nldd.coding.tables.reader import TableReader
from nldd.coding.tables.text_files import OLE, ZIP, TextFile, first_bytes, refuse_foreign, text_file
from nldd.exceptions import InputError


def open_table(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    header_row: int = 1,
    skip_rows: int = 0,
) -> TableReader:
    r"""Open a table by the ending of its name; what is no other format is read as CSV.

    Parameters
    ----------
    path : str or path
        CSV, TSV, a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods), JSON lines, Parquet, or a file of
        SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt).
    encoding : str, optional
        Of text; by default told by the bytes of the whole file.
    separator : str, optional
        Between the cells of text; by default comma, semicolon, tab or bar, whichever splits the
        rows as it does the header.
    sheet : str, optional
        Name of the sheet of a workbook; by default the first one that is not hidden.
    header_row : int
        Row of the sheet, or line of a CSV file, with the names of the columns; titles may be above.
    skip_rows : int
        Rows below the header that are no data. By default those that Qualtrics and SurveyMonkey
        write there are recognised.

    Returns
    -------
    TableReader
        To be used in a ``with`` block.

    Notes
    -----
    Errors such as ``#N/A`` are text in .xlsx files and empty cells in other workbooks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.opening import open_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text('id;answer;age\n1;"good; cheap";44\n2;none;\n')
    ...     with open_table(path) as reader:
    ...         names = reader.names
    ...         rows = [row for block in reader.blocks() for row in block.rows]
    >>> names
    ('id', 'answer', 'age')
    >>> rows
    [('1', 'good; cheap', '44'), ('2', 'none', '')]
    """
    path = Path(path)
    options = TableOptions(encoding, separator, sheet, None, header_row, skip_rows)
    head = first_bytes(path)
    found = _format_of(path, head)
    if sheet is not None and found is not WORKBOOK:
        hint = "leave out the sheet"
        raise InputError(f"{path} has no sheets; only workbooks such as .xlsx do.", hint=hint)
    if not found.is_text:
        return TableReader(path, found.rows(path, options), skip_rows)
    refuse_foreign(path, head)
    return TableReader(path, found.rows(text_file(path, head, encoding), options), skip_rows)


@dataclass(frozen=True)
class TableOptions:
    r"""How a table is opened, see :func:`open_table`; what is None is found out.

    Attributes
    ----------
    encoding, separator, sheet : str or None
        Of text, between the cells of text, and of a workbook.
    numbers : Path or None
        A ``.npy`` file with a row of numbers for each row of the table.
    header_row : int
        Row with the names of the columns.
    skip_rows : int
        Rows below the header that are no data.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import TableOptions
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text("A survey\nid;answer\n1;good\n")
    ...     with TableOptions(separator=";", header_row=2).open(path) as table:
    ...         names = table.names
    >>> names
    ('id', 'answer')
    """

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    numbers: Path | None = None
    header_row: int = 1
    skip_rows: int = 0

    def open(self, path: Path | str) -> TableReader:
        """The table in a file."""
        how = {field.name: getattr(self, field.name) for field in fields(TableOptions)}
        del how["numbers"]
        return self.with_numbers(open_table(path, **how))

    def with_numbers(self, table: TableReader) -> TableReader:
        """A table with the numbers that lie beside it."""
        if self.numbers is not None:
            from nldd.coding.tables.number_files import NumberFile

            table.numbers = NumberFile(self.numbers)
        return table

    def digest(self, path: Path) -> str:
        """What tells whether a file holds the same as before: the sha256 of its bytes."""
        with path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class ReadFormat:
    """A format that tables are read in: how the names of its files end, and what reads their rows.

    `rows` is given the path of a file, or where the format `is_text` a :class:`TextFile`, of which
    the encoding is known by then.
    """

    endings: tuple[str, ...]
    rows: Callable[[Any, TableOptions], RowSource]
    is_text: bool = False


def _workbook(path: Path, options: TableOptions) -> RowSource:
    from nldd.coding.tables.workbooks import WorkbookRows

    return WorkbookRows(path, first_bytes(path), options.sheet, options.header_row)


def _statistics_file(path: Path, options: TableOptions) -> RowSource:
    from nldd.coding.tables.statistics_files import StatisticsRows

    return StatisticsRows(path, options.encoding)


def _separated(text: TextFile, options: TableOptions, kind: str = "csv") -> RowSource:
    return CsvRows(text, options.separator, kind, options.header_row)


CSV = ReadFormat((".csv", ".txt"), _separated, is_text=True)
WORKBOOK = ReadFormat((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _workbook)
FORMATS = (
    CSV,
    ReadFormat((".tsv", ".tab"), partial(_separated, kind="tsv"), is_text=True),
    WORKBOOK,
    ReadFormat((".jsonl", ".ndjson", ".json"), lambda text, _: JsonlRows(text), is_text=True),
    ReadFormat((".parquet", ".pq"), lambda path, _: ParquetRows(path)),
    ReadFormat((".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"), _statistics_file),
)


def _format_of(path: Path, head: bytes) -> ReadFormat:
    """The format by the ending of a name; what has another one is read as CSV."""
    ending = path.suffix.lower()
    # Many programs write text and call it .xls.
    if ending == ".xls" and not head.startswith((ZIP, OLE)):
        return CSV
    return next((each for each in FORMATS if ending in each.endings), CSV)
