"""Read a table into memory, whatever its format, with the header that survey programs give it."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nldd._files import file_sha256
from nldd._wording import quote_first
from nldd.coding.tables import spreadsheet as sheets
from nldd.coding.tables.text_tables import (
    OLE,
    ZIP,
    decode_text,
    read_csv,
    read_jsonl,
    refuse_foreign,
)
from nldd.exceptions import InputError
from nldd.present.text import count_noun

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PARQUET = (".parquet", ".pq")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")

# Of cells in the third row of Qualtrics, and in the second of SurveyMonkey.
_IMPORT_ID = re.compile(r"""\{\s*["']ImportId["']""")
_OPEN_ENDED = frozenset({"response", "open-ended response", "open-ended-antwort", "beantwortung"})
_BLANKS = " \t\r\n\u00a0\ufeff"


@dataclass(frozen=True)
class TableOptions:
    r"""How a table is read; what is None is found out.

    Attributes
    ----------
    encoding : str or None
        Of text; by default told by the bytes of the whole file.
    separator : str or None
        Between the cells of text; by default comma, semicolon, tab or bar, whichever splits the
        rows as it does the header.
    sheet : str or None
        Name of the sheet of a workbook; by default the first one that is not hidden.
    numbers : Path or None
        A ``.npy`` file with a row of numbers for each row of the table.
    header_row : int
        Row of the sheet, or line of a CSV file, with the names of the columns; titles may be above.
    skip_rows : int
        Rows below the header that are no data. By default those that Qualtrics and SurveyMonkey
        write there are recognised.

    Examples
    --------
    >>> from nldd.coding import TableOptions
    >>> TableOptions(separator=";", header_row=2).separator
    ';'
    """

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    numbers: Path | None = None
    header_row: int = 1
    skip_rows: int = 0


def read_table(
    path: str | os.PathLike[str], options: TableOptions = TableOptions()
) -> sheets.Spreadsheet:
    r"""Read a table by the ending of its name; what is no other format is read as CSV.

    Parameters
    ----------
    path : str or path
        CSV, TSV, a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods), JSON lines, Parquet, or a file of
        SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt).
    options : TableOptions
        How it is read.

    Returns
    -------
    Spreadsheet
        All rows. Rows below the header that belong to it are left out with a note.

    Notes
    -----
    A cell of a workbook with an error such as ``#N/A`` is an empty cell.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.reading import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.csv")
    ...     _ = path.write_text('id;answer;answer\n1;"good; cheap";044\n2;none;\n')
    ...     table = read_table(path)
    >>> table.header, table.names
    (('id', 'answer', 'answer'), ('id', 'answer', 'answer (2)'))
    >>> table.cells("answer"), table.cells("answer (2)")
    (['good; cheap', 'none'], ['044', ''])
    """
    path = Path(path)
    head = _first_bytes(path)
    digest = file_sha256(path)
    table = _read_format(path, head, options)
    if file_sha256(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    sheets.check_width(path, len(table.header))
    table = _join_header_rows(table, options.skip_rows)
    names = distinct_names(table.header)
    return replace(
        table,
        frame=table.frame.set_axis(list(names), axis=1),
        notes=[*table.notes, *_notes_on_names(table.header, names)],
        sha256=digest,
        numbers=None if options.numbers is None else sheets.NumberFile(options.numbers),
    )


def _first_bytes(path: Path) -> bytes:
    """The beginning of a file that can be read, or an error that says why it cannot."""
    if path.exists() and not path.is_file():  # a pipe would wait for somebody to write
        raise InputError(f"{path} is not a regular file.", hint="name a file, and no folder")
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except FileNotFoundError:
        hint = f"check the name and the folder {path.parent}"
        raise InputError(f"{path} does not exist.", hint=hint) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        raise InputError(message, hint="check who may read it") from error
    if not head:
        raise InputError(f"{path} is empty.", hint="begin the file with a line of column names")
    return head


def _read_format(path: Path, head: bytes, options: TableOptions) -> sheets.Spreadsheet:
    """The table as it is in the file: columns are numbered, all rows below the header are rows."""
    ending = path.suffix.lower()
    # Many programs write text and call it .xls.
    if ending in WORKBOOKS and (ending != ".xls" or head.startswith((ZIP, OLE))):
        from nldd.coding.tables.workbooks import read_workbook

        return read_workbook(path, head, options.sheet, options.header_row)
    if options.sheet is not None:
        hint = "leave out the sheet"
        raise InputError(f"{path} has no sheets; only workbooks such as .xlsx do.", hint=hint)
    if ending in PARQUET:
        from nldd.coding.tables.typed_files import read_parquet

        return read_parquet(path)
    if ending in STATISTICS:
        from nldd.coding.tables.typed_files import read_statistics

        return read_statistics(path, options.encoding)
    content = path.read_bytes()
    refuse_foreign(path, content)
    text = decode_text(path, content, options.encoding)
    if ending in (".jsonl", ".ndjson", ".json"):
        return read_jsonl(text)
    kind = "tsv" if ending in (".tsv", ".tab") else "csv"
    return read_csv(text, kind, options.separator, options.header_row)


def _join_header_rows(table: sheets.Spreadsheet, skip_rows: int) -> sheets.Spreadsheet:
    """Leave out the first rows if they belong to the header, and say so."""
    n_below, header, notes = 0, table.header, list[str]()
    if table.format.kind in ("csv", "tsv", "xlsx"):
        rows = [
            list(map(sheets.cell_text, row)) for row in table.frame.head(2).itertuples(index=False)
        ]
        n_below, header, notes = _rest_of_header(table.header, rows)
        # One cell may be a title rather than the name of a column.
        if sum(bool(cell.strip(_BLANKS)) for cell in table.header) == 1:
            advice = "; or ".join(filter(None, (table.advice, sheets.HEADER_BELOW)))
            table = replace(table, advice=advice)
    if skip_rows:
        skipped = count_noun(skip_rows, "row")
        notes = [f"{skipped} below the header skipped; rows are counted after that."]
    frame = table.frame.iloc[skip_rows or n_below :].reset_index(drop=True)
    return replace(table, frame=frame, header=header, notes=[*table.notes, *notes])


def _rest_of_header(
    header: tuple[str, ...], rows: list[list[str]]
) -> tuple[int, tuple[str, ...], list[str]]:
    """How many of the first rows belong to the header, the whole header, and a note on it.

    Qualtrics has the texts of the questions in the second row and their ids in the third.
    SurveyMonkey has the names of options in the second, below a question that stands there once.
    """
    counted = "no answers, and skipped; rows are counted after that."
    for n, row in enumerate(rows, 1):
        filled = [cell.strip() for cell in row if cell.strip()]
        n_ids = sum(_IMPORT_ID.match(cell) is not None for cell in filled)
        if n_ids and 2 * n_ids >= len(filled):
            what = count_noun(n, "row") + " below the header"
            return n, header, [f"{what}, as Qualtrics writes them (ImportId): {counted}"]
    is_open_ended = any(cell.strip().lower() in _OPEN_ENDED for row in rows[:1] for cell in row)
    if len(rows) < 2 or rows[0][0].strip() or not rows[1][0].strip() or not is_open_ended:
        return 0, header, []
    below = [cell.strip() for cell in rows[0]] + [""] * len(header)
    whole = tuple(name if name.strip(_BLANKS) else below[j] for j, name in enumerate(header))
    said = f"1 row below the header, as SurveyMonkey writes it ({quote_first(filter(None, below))})"
    return 1, whole, [f"{said}: {counted}"]


def distinct_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each column that no other one has, such as ``comment (2)`` or ``column 4``."""
    wanted = [cell.strip(_BLANKS) or f"column {j}" for j, cell in enumerate(header, 1)]
    return tuple(sheets.unique_column_names(wanted))


def _notes_on_names(header: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    pairs = [(cell.strip(_BLANKS), name) for cell, name in zip(header, names, strict=True)]
    if repeated := [name for cell, name in pairs if cell not in ("", name)]:
        yield f"Repeated column names got a number: {quote_first(repeated)}."
    if empty := [name for cell, name in pairs if not cell]:
        yield f"{count_noun(len(empty), 'column')} had no name: {quote_first(empty)}."
