"""Read a table into memory, whatever its format, with the header that survey programs give it.

Workbooks are read by calamine, which holds a sheet as a rectangle from the first to the last cell,
so one that somebody left far below a table asks for a terabyte: what a workbook says of its sizes
is checked before it is read. Cells with an error such as ``#REF!``, and formulas that nobody has
calculated, are empty for it.
"""

import datetime
import os
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from nldd._files import file_sha256
from nldd._wording import quote, quote_first
from nldd.coding.tables import spreadsheet as sheets, text_tables
from nldd.exceptions import InputError
from nldd.present.text import count_noun

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PARQUET = (".parquet", ".pq")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")

# Of cells in the third row of Qualtrics, and in the second of SurveyMonkey.
_IMPORT_ID = re.compile(r"""\{\s*["']ImportId["']""")
_OPEN_ENDED = frozenset({"response", "open-ended response", "open-ended-antwort", "beantwortung"})
_BLANKS = " \t\r\n\u00a0\ufeff"

# A sheet that our workbooks have for the choices of their cells; hidden, and of no use to read.
SHEET_OF_CHOICES = "nldd choices"
MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO, FREE_BYTES = 400, 2**24
# What calamine takes for a cell, without its text; where a sheet says how far it goes.
SHEET_CELL_BYTES, HEAD_BYTES = 32, 4096
# Whole numbers below this are what they are in the file; above it they may be other ones.
MAX_WHOLE = 2**53

_HINT = "delete the rows below and the columns right of the table, or save it as CSV"
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*?\w+:id\s*=\s*[\"']([^\"']+)")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*[\"']([^\"']*)")
_DIMENSION = re.compile(rb"dimension\s[^>]*?ref\s*=\s*[\"'][^\"']*?([A-Za-z]+)(\d+)[\"']")
# A formula as programs write it that calculate nothing.
_UNKNOWN = re.compile(rb'<c r="([A-Z]+\d+)"(?: s="\d+")?><f>[^<]*</f>(?:<v ?/>|<v></v>)?</c>')


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
    is_workbook = head.startswith((text_tables.ZIP, text_tables.OLE))
    if ending in WORKBOOKS and (ending != ".xls" or is_workbook):
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
    text_tables.refuse_foreign(path, content)
    text = text_tables.decode_text(path, content, options.encoding)
    if ending in (".jsonl", ".ndjson", ".json"):
        return text_tables.read_jsonl(text)
    kind = "tsv" if ending in (".tsv", ".tab") else "csv"
    return text_tables.read_csv(text, kind, options.separator, options.header_row)


def _join_header_rows(table: sheets.Spreadsheet, skip_rows: int) -> sheets.Spreadsheet:
    """Leave out the first rows if they belong to the header, and say so."""
    n_below, header, notes = 0, table.header, list[str]()
    if table.format.kind in ("csv", "tsv", "xlsx"):
        first = table.frame.head(2).itertuples(index=False)
        rows = [list(map(sheets.cell_text, row)) for row in first]
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


def read_workbook(
    path: Path, head: bytes, sheet: str | None = None, header_row: int = 1
) -> sheets.Spreadsheet:
    """A sheet of a workbook, by default the first that is not hidden."""
    if not head.startswith((text_tables.ZIP, text_tables.OLE)):
        hint = "if it is text, rename it so that it ends in .csv"
        raise InputError(f"{path} is no workbook; it does not begin as one.", hint=hint)
    if (n_bytes := path.stat().st_size) > sheets.MAX_BYTES:
        message = f"{path} has {n_bytes:,} bytes; workbooks are read up to {sheets.MAX_BYTES:,}."
        raise InputError(message, hint=_HINT)
    unknown = None
    with _explaining_damage(path):
        from python_calamine import CalamineWorkbook

        if head.startswith(text_tables.ZIP):
            check_archive(path)
        with path.open("rb") as stream:
            book = CalamineWorkbook.from_filelike(stream)
        name, others = _choose_sheet(path, book.sheets_metadata, sheet)
        if head.startswith(text_tables.ZIP):
            unknown = _check_sheet(path, [one.name for one in book.sheets_metadata].index(name))
        found = book.get_sheet_by_name(name)
        rows = _filled_rows(found.to_python(skip_empty_area=False), header_row)
        merged = found.merged_cell_ranges or []
    advice = ""
    if others:
        advice = f"--sheet NAME, as the workbook has other sheets: {quote_first(others)}"
    if not rows:
        empty, hint = "is empty", "begin the sheet with a row of column names"
        if header_row > 1:
            empty, hint = f"is empty from row {header_row} on", "--header-row with a smaller number"
        message = f"{path}: the sheet {quote(name)} {empty}."
        raise InputError(message, hint=f"{hint}; or {advice}" if advice else hint)
    notes = [f"The sheet {quote(name)} was read, and not {quote_first(others)}."] if others else []
    (first, *_), (last, *_) = rows[0], rows[-1]
    notes += sheets.skipped_note(last - first + 1 - len(rows), "empty row")
    if unknown:
        how = "open the file in a spreadsheet, save it and run the command again"
        notes.append(f"Formulas without a value, such as {unknown}, were read as empty: {how}.")
    if n_merged := sum(b >= first and a < last for (a, _), (b, _) in merged):
        what = f"{count_noun(n_merged, 'group')} of merged cells in the rows"
        only = "only the first cell of each has a value. Unmerge them and fill in the others."
        notes.append(f"{what}: {only}")
    texts = list(map(sheets.cell_text, rows[0][1]))
    width = max(place for place, text in enumerate(texts, 1) if text)
    fitted = [
        sheets.drop_surplus_cells(cells, width, f"{path}, row {number} of the sheet")
        for number, cells in rows[1:]
    ]
    format, frame = sheets.TableFormat("xlsx", sheet=name), sheets.frame_of_rows(fitted, width)
    return sheets.Spreadsheet(path, frame, tuple(texts[:width]), format, notes, advice=advice)


def _choose_sheet(path: Path, listed: list[Any], name: str | None) -> tuple[str, list[str]]:
    """The sheet to read, and the others that a person may have meant."""
    names = {s.name: str(s.visible) for s in listed if str(s.typ).endswith("WorkSheet")}
    if not names:
        raise InputError(f"{path} has no sheet with cells.", hint="save it as CSV")
    if name is None:
        name = next((n for n in names if names[n].endswith(".Visible")), next(iter(names)))
    elif name not in names:
        hint = f"name one of its sheets: {quote_first(names)}"
        raise InputError(f"{path} has no sheet {quote(name)}.", hint=hint)
    return name, [other for other in names if other not in (name, SHEET_OF_CHOICES)]


def _filled_rows(rows: list[list[Any]], header_row: int) -> list[tuple[int, list[sheets.Cell]]]:
    """Rows that are not empty, with their numbers in the sheet, from 1."""
    numbered = ((number, list(map(_cell, row))) for number, row in enumerate(rows, 1))
    filled = (pair for pair in numbered if pair[1].count(None) < len(pair[1]))
    return [(number, cells) for number, cells in filled if number >= header_row]


def _cell(value: Any) -> sheets.Cell:
    """A cell, of a value of calamine."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE:
        return int(value)
    return _clock_time(value) if isinstance(value, datetime.timedelta) else value


def _clock_time(value: datetime.timedelta) -> datetime.time | str:
    """A duration as a time of a day, or as text."""
    if datetime.timedelta() <= value < datetime.timedelta(days=1):
        return (datetime.datetime.min + value).time()
    minutes, seconds = divmod(value.total_seconds(), 60)
    return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:02.0f}"


@contextmanager
def _explaining_damage(path: Path) -> Iterator[None]:
    """Turn whatever a damaged workbook may raise into an error that says what to do."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except BaseException as error:
        # The panics of calamine are no Exception, as KeyboardInterrupt is none.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        # Some of it the file says, at any length.
        reason = repr((str(error) or type(error).__name__)[:200])[1:-1]
        what, how = f"is a damaged workbook: {reason}", "again as .xlsx"
        if "detect file format" in str(error) or "encrypted" in str(error):
            what, how = "has a password, or is no workbook", "as .xlsx without a password"
        hint = f"open it in a spreadsheet and save it {how}"
        raise InputError(f"{path} {what}.", hint=hint) from error


def check_archive(path: Path) -> None:
    """Refuse what unpacks to too much, by the directory of the archive."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    size = sum(member.file_size for member in members)
    allowed = min(sheets.MAX_BYTES, FREE_BYTES + MAX_RATIO * sum(m.compress_size for m in members))
    if size > allowed or len(members) > MAX_MEMBERS:
        found = f"{size:,} bytes in {len(members):,} parts"
        most = f"{allowed:,} bytes in {MAX_MEMBERS:,} parts are read from a file of its size"
        hint = "open it in a spreadsheet and save it again, or save the sheet as CSV"
        raise InputError(f"{path} would unpack to {found}; at most {most}.", hint=hint)


def _check_sheet(path: Path, place: int) -> str | None:
    """Refuse a sheet of an .xlsx file that says that it goes too far.

    Return the first cell with a formula that nobody has calculated, if there is one.
    """
    with zipfile.ZipFile(path) as archive:
        parts = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
        if "xl/workbook.xml" not in parts:
            return None
        key = _SHEET.findall(archive.read(parts["xl/workbook.xml"]))[place]
        listed = archive.read(parts["xl/_rels/workbook.xml.rels"])
        relations = (dict(_ATTRIBUTE.findall(one)) for one in _RELATION.findall(listed))
        target = next(one[b"Target"] for one in relations if one[b"Id"] == key)
        name = posixpath.normpath(posixpath.join("/xl", target.decode().replace("\\", "/")))
        markup = archive.read(parts[name.lower().lstrip("/")])
    if last := _DIMENSION.search(markup[:HEAD_BYTES]):
        n_columns = reduce(lambda n, letter: 26 * n + letter - 64, last[1].upper(), 0)
        if SHEET_CELL_BYTES * n_columns * int(last[2]) > sheets.MAX_BYTES:
            message = f"{path} takes more memory than {sheets.MAX_BYTES:,} bytes."
            raise InputError(message, hint=_HINT)
    unknown = _UNKNOWN.search(markup) if b"<f>" in markup else None
    return unknown[1].decode() if unknown else None
