"""Tables of text: how text is encoded, rows of cells between separators, and JSON lines.

CSV is read by Python's own reader: that of pandas takes ``"1"2`` for 12, says nothing of rows
that are too short, and refuses empty cells behind the last column.
"""

import codecs
import csv
import datetime
import decimal
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

from nldd._wording import quote
from nldd.coding.tables import spreadsheet as sheets
from nldd.exceptions import InputError
from nldd.present.text import count_noun

HEAD_BYTES, SAMPLE_BYTES = 2**16, 2**14
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_OPEN_AND_SAVE = "open it in a spreadsheet and save it as .xlsx"
# First bytes of files, in small letters; what they belong to; what to do.
_FOREIGN = (
    (ZIP, "a zip archive: a workbook, a document or a model of nldd", "rename a workbook to .xlsx"),
    (OLE, "an old Excel file (.xls) or one with a password", "rename it so that it ends in .xls"),
    (b"par1\x15", "a Parquet file", "rename it so that it ends in .parquet"),
    (b"$fl2@", "an SPSS file", "rename it so that it ends in .sav"),
    (b"<stata_dta>", "a Stata file", "rename it so that it ends in .dta"),
    *((b, "a web page", _OPEN_AND_SAVE) for b in (b"<!doctype", b"<html", b"<table")),
    (b"<?xml", "an XML file", _OPEN_AND_SAVE),
    (b"sqlite format 3", "a database, such as a review of nldd", "nldd review export, for a table"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"%pdf-", "a PDF file", "export the answers as CSV or .xlsx"),
    (b"{\\rtf", "an RTF document", "copy the table into a spreadsheet and save that as .xlsx"),
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What spreadsheets and survey programs write. Left to itself the detector also weighs encodings
# that nobody has used for a table, and prefers them to the right one for short answers.
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874"),
    *("iso8859_2", "koi8_r", "cp866", "mac_roman", "cp850"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "cp949"),
]
# Only these tell cp1250 and cp1254 from cp1252 where all of them make words.
_NOT_WESTERN = re.compile("Croat|Czech|Hungar|Polish|Roman|Slova|Slove|Turk")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))
_STRAY = "nldd-stray-cp1252"
_READ_AS = "The file is not in UTF-8; it was read as"


def refuse_foreign(path: Path, content: bytes) -> None:
    """Raise an error that names the kind of a file that is none of text."""
    head = content[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for magic, what, hint in _FOREIGN:
        if head.startswith(magic.lower()):
            raise InputError(f"{path} is no table of text; it seems to be {what}.", hint=hint)


@dataclass(frozen=True)
class EncodedText:
    """Text of a file without its mark, how it was encoded, and what to tell."""

    path: Path
    text: str
    encoding: str
    bom: bool = False
    notes: tuple[str, ...] = ()

    def lines(self) -> StringIO:
        """The lines with their ends as they are in the file."""
        return StringIO(self.text, newline="")


def decode_text(path: Path, content: bytes, encoding: str | None = None) -> EncodedText:
    """Find out how a text is encoded, by its mark and then by all of its bytes, and decode it."""
    mark, marked = next(((m, name) for m, name in _MARKS if content.startswith(m)), (b"", ""))
    if encoding is not None:
        name = _named_encoding(encoding, marked)
        # The mark of UTF-8 is no text in any encoding.
        mark = mark if marked in (name, "utf-8") else b""
        text = _decode(path, content.removeprefix(mark), name, encoding)
        return EncodedText(path, text, name, bool(mark))
    head = content[:HEAD_BYTES]
    wide = _utf16_without_mark(head) if not mark else marked if marked != "utf-8" else None
    content = content.removeprefix(mark)
    if wide:
        text = _decode(path, content, wide, wide)
        return EncodedText(path, text, wide, bool(mark), (f"{_READ_AS} {wide}.",))
    if head.count(0) > len(head) / 10:
        raise _no_text(path)
    try:
        return EncodedText(path, content.decode(), "utf-8", bool(mark))
    except UnicodeDecodeError as error:
        line = _line_of(error)
    sample = _lines_beyond_ascii(content)
    # One wrong byte must not turn all other letters of the file into wrong ones.
    n_wrong = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if mark or n_wrong <= 0.1 * sum(byte > 0x7F for byte in sample):
        codecs.register_error(_STRAY, _as_cp1252)
        note = f"The file is in UTF-8 but for some bytes, the first in line {line}; they were read"
        notes = (f"{note} as Windows-1252.",)
        return EncodedText(path, content.decode("utf-8", _STRAY), "utf-8", bool(mark), notes)
    if len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        raise _no_text(path)
    guess = _guess_encoding(sample)
    note = f"{_READ_AS} {guess}, which is a guess. Set --encoding if letters look wrong."
    try:
        return EncodedText(path, content.decode(guess), guess, notes=(note,))
    except UnicodeDecodeError as error:
        where = f"the first in line {_line_of(error)}; \ufffd stands for them."
        both = (note, f"Some bytes are not in {guess}, {where}")
        return EncodedText(path, content.decode(guess, "replace"), guess, notes=both)


def _line_of(error: UnicodeDecodeError) -> int:
    return 1 + error.object[: error.start].decode(error.encoding, "replace").count("\n")


def _decode(path: Path, content: bytes, encoding: str, shown: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"some bytes are not in the encoding {quote(shown)}."
        hint = "leave out --encoding to have it detected, or name the right one"
        raise InputError(f"{path}, line {_line_of(error)}: {message}", hint=hint) from None


def _no_text(path: Path) -> InputError:
    hint = "name a CSV, TSV, XLSX, JSONL or Parquet file"
    return InputError(f"{path} is no table of text; it holds bytes that no text has.", hint=hint)


def _named_encoding(encoding: str, marked: str) -> str:
    """The codec that a person named; that of the mark, if the mark says more of it."""
    try:
        codec = codecs.lookup(encoding)
        TextIOWrapper(BytesIO(), encoding)  # an error, if it does not turn bytes into text
    except (LookupError, ValueError):
        hint = "use a name such as utf-8, cp1252, cp1251, shift_jis or gb18030"
        raise InputError(f"There is no encoding {quote(encoding)}.", hint=hint) from None
    return marked if codec.name.removesuffix("-sig") in (marked, marked[:6]) else codec.name


def _utf16_without_mark(head: bytes) -> str | None:
    """UTF-16, if the zero bytes stand where its digits and separators have them."""
    if b"\x00" not in head:
        return None
    head = head[: len(head) // 2 * 2]
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding, zeros, others = ("utf-16-le", odd, even) if odd > even else ("utf-16-be", even, odd)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    if zeros < len(head) / 40 or others > zeros / 4 or re.search(r"[\x00-\x08\ufffd-\uffff]", text):
        return None
    return encoding if re.search("[\r\n]", text) else None


def _lines_beyond_ascii(content: bytes) -> bytes:
    """The first lines with letters beyond ASCII, in which the encoding shows."""
    sample = b""
    for line in BytesIO(content):
        sample += b"" if line.isascii() else line
        if len(sample) >= SAMPLE_BYTES:
            break
    return sample[: 4 * SAMPLE_BYTES]


def _as_cp1252(error: Any) -> tuple[str, int]:
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


def _guess_encoding(sample: bytes) -> str:
    """The best guess of the detector, but cp1252 where that is as good."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=_ENCODINGS))
    if not matches:
        return "cp1252"
    best = matches[0]
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), None)
    if western is None or _NOT_WESTERN.match(western.language):
        return best.encoding
    is_as_good = western.chaos <= best.chaos and western.coherence >= best.coherence
    return "cp1252" if is_as_good else best.encoding


SEPARATORS = (",", ";", "\t", "|")
# What no text holds: with it each line is one cell, whatever commas it has.
NO_SEPARATOR = "\x1f"
SAMPLE_CHARACTERS = 2**18

_SEP_LINE = re.compile(r"sep=([^\r\n\"])[\r\n]*", re.IGNORECASE)
_EXAMPLE = '{"id": 1, "answer": "good"}'
_HALF = re.compile("[\ud800-\udfff]")
_HALF_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]")


def read_csv(
    text: EncodedText, kind: str = "csv", separator: str | None = None, header_row: int = 1
) -> sheets.Spreadsheet:
    """A file of cells between separators; its rows are as long as the header."""
    # The limit is one for the whole process, and answers may be longer than it is by default.
    csv.field_size_limit(max(sheets.MAX_CELL, csv.field_size_limit()))
    given = None if separator is None else _check_separator(separator)
    stream = text.lines()
    lines, complete = stream.readlines(SAMPLE_CHARACTERS), not stream.read(1)
    # Excel names the separator in a first line such as sep=;
    named = _SEP_LINE.fullmatch(lines[0]) if lines else None
    n_before = max(header_row - 1, 1 if named else 0)
    mark = given or (named and named[1]) or find_separator(lines[n_before:], complete)
    numbered = list(_numbered_rows(text, n_before, mark))
    n_above = next((i for i, (_, row) in enumerate(numbered) if not _is_blank(row)), None)
    if n_above is None:
        hint, below = "begin the file with a line of column names", " but blank lines"
        if n_before > 1:
            hint, below = "--header-row with a smaller number", f" below line {n_before}"
        raise InputError(f"{text.path} holds nothing{below}.", hint=hint)
    header = tuple(numbered[n_above][1])
    rows, n_blank, short = _fit_rows(numbered[n_above + 1 :], len(header), text)
    notes = [*text.notes, *sheets.skipped_note(n_above + n_blank, "blank line")]
    if short:
        few = f"{count_noun(len(short), 'row')} had fewer cells than the header"
        notes.append(f"{few}, the first in line {short[0]}; empty ones were added.")
    written = "," if mark == NO_SEPARATOR else mark
    newline = "\r\n" if lines[0].endswith("\r\n") else "\n"
    format = sheets.TableFormat(kind, text.encoding, written, text.bom, newline)
    frame = sheets.frame_of_rows(rows, len(header))
    likely = max(SEPARATORS, key=header[0].count)
    # A separator that a person named, and that the header seems not to have.
    is_wrong = given is not None and len(header) == 1 and likely in header[0]
    shown = "tab" if likely == "\t" else quote(likely)
    advice = f"--delimiter {shown}" if is_wrong else ""
    return sheets.Spreadsheet(text.path, frame, header, format, notes, advice=advice)


def _fit_rows(
    numbered: Iterable[tuple[int, list[str]]], width: int, text: EncodedText
) -> tuple[list[Sequence[str]], int, list[int]]:
    """Rows as long as the header if nothing is lost by that, blank lines, lines of short rows."""
    rows: list[Sequence[str]] = []
    n_blank, short = 0, []
    for line, row in numbered:
        if len(row) == width or (width == 1 and not row):
            rows.append(row)
        elif _is_blank(row):
            n_blank += 1
        elif len(row) < width:
            short.append(line)
            rows.append([*row, *[""] * (width - len(row))])
        else:
            rows.append(sheets.drop_surplus_cells(row, width, f"{text.path}, line {line}"))
    while rows and not rows[-1]:  # of one column, where a blank line is an answer between others
        rows.pop()
        n_blank += 1
    return [row or ("",) for row in rows] if width == 1 else rows, n_blank, short


def _numbered_rows(
    text: EncodedText, n_before: int, separator: str
) -> Iterator[tuple[int, list[str]]]:
    """The rows below some lines, each with the line on which it begins, or an error on a quote."""
    lines = islice(text.lines(), n_before, None)
    reader, line = csv.reader(lines, delimiter=separator, strict=True), n_before + 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + n_before + 1
    except csv.Error as error:
        how = "never closed" if "unexpected end" in str(error) else "closed within a cell"
        what = f"a quote of the row that begins here is {how}"
        hint = "write a quote within a quoted cell twice"
        if "larger" in str(error):
            what = f"a cell is longer than {sheets.MAX_CELL:,} characters"
            hint = "check that its quote is closed"
        raise InputError(f"{text.path}, line {line}: {what}.", hint=hint) from None


def _is_blank(row: Sequence[str]) -> bool:
    # A pair of quotes is no blank line, but a row that begins with an empty cell.
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(sheets.BLANKS))


def _check_separator(separator: str) -> str:
    separator = {"tab": "\t", "\\t": "\t"}.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n ':
        hint = 'use "," or ";" or tab or "|"'
        raise InputError(f"The separator must be one character; got {quote(separator)}.", hint=hint)
    return separator


def find_separator(lines: Sequence[str], complete: bool) -> str:
    """The separator by which most rows have as many cells as the header, and the most of them.

    Where the lines are not `complete`, the last row may be cut, and does not count.
    """
    fits = {mark: _fit(lines, complete, mark) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: fits[mark])
    return best if fits[best][0] else NO_SEPARATOR


def _fit(lines: Sequence[str], complete: bool, separator: str) -> tuple[float, int]:
    """How well a separator cuts rows into as many cells as the header has, and how many."""
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(lines, delimiter=separator))
    except csv.Error:
        complete = False
    rows = [row for row in rows[: None if complete else -1] or rows if any(row)]
    if not rows or len(rows[0]) == 1:
        return 0.0, 1
    # The header fits itself, and counts only where it is alone.
    fits = [_fit_of_row(row, len(rows[0])) for row in rows[1:] or rows]
    return sum(fits) / len(fits), len(rows[0])


def _fit_of_row(row: Sequence[str], width: int) -> float:
    # One quote alone in a cell: a separator within quotes has cut them apart.
    if len(row) < width or any(row[width:]) or any(cell.count('"') % 2 for cell in row):
        return 0.1 if len(row) > 1 else 0.0
    return 1.0


def read_jsonl(text: EncodedText) -> sheets.Spreadsheet:
    """A file with one JSON object a line, the keys of which are the columns."""
    records, n_blank, n_half = [], 0, 0
    for line, content in enumerate(text.lines(), 1):
        if not content.strip():
            n_blank += 1
            continue
        record = _record(content, f"{text.path}, line {line}")
        if _HALF_WRITTEN.search(content):
            whole, n = _HALF.subn("\ufffd", json.dumps(record, ensure_ascii=False))
            record, n_half = json.loads(whole), n_half + n
        records.append(record)
    header = tuple(dict.fromkeys(chain.from_iterable(records)))
    if not header:
        hint = f"write a line such as {_EXAMPLE} for each row"
        raise InputError(f"{text.path} holds no JSON object with a key.", hint=hint)
    sheets.check_width(text.path, len(header))  # of which each takes a cell of each record
    columns = ([nested_value(record.get(key)) for record in records] for key in header)
    frame = sheets.frame_of(dict(enumerate(columns)))
    notes = [*text.notes, *sheets.skipped_note(n_blank, "blank line")]
    if n_half:
        notes.append(f"\ufffd stands for {count_noun(n_half, 'broken character')}.")
    format = sheets.TableFormat(kind="jsonl", encoding=text.encoding, bom=text.bom)
    return sheets.Spreadsheet(text.path, frame, header, format, notes)


def _record(content: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(content, object_pairs_hook=_distinct_keys)
        what = "" if isinstance(record, dict) else "JSON, but no object"
    except (ValueError, RecursionError) as error:
        what = f"no JSON object ({getattr(error, 'msg', None) or error})"
    if what:
        message = f"{place}: {what}: {quote(content.strip())}."
        raise InputError(message, hint=f"write one object such as {_EXAMPLE} on each line")
    return record


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key is there twice")
    return record


def nested_value(value: Any) -> Any:
    """A value of JSON or Parquet as a cell; what no cell can hold becomes text."""
    if isinstance(value, decimal.Decimal):
        # A number, if it is the same number, else its digits.
        if value == value.to_integral_value():
            return int(value) if value.adjusted() < sheets.MAX_DIGITS else str(value)
        return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_nested_text)
    return _nested_text(value) if isinstance(value, bytes | datetime.timedelta) else value


def _nested_text(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
