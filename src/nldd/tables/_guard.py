"""Workbooks that would take all memory, found before the library that reads them opens them.

It holds a sheet as a rectangle from the first to the last cell, and a copy of its text in each
cell. A few bytes can ask for a terabyte of that, and a cell that somebody left far below a table
does so by accident; then the whole process ends. The parts of .xlsx files are XML that a look over
tells enough about. Other workbooks are opened by a process of their own first.
"""

import posixpath
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from nldd.exceptions import InputError

MAX_BYTES = 2**30
MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO = 400
FREE_BYTES = 2**24
CHUNK_BYTES = 2**20
# A spreadsheet has a dozen levels; depth is measured at the ends of chunks only.
MAX_DEPTH = 1000
MAX_CELLS = 2**25
MAX_TRIAL_BYTES = 2**32
TRIAL_SECONDS = 300

_CELL = re.compile(rb"<(?:\w+:)?c\s(?:[^>]*?\s)?r\s*=\s*[\"']([A-Za-z]+)(\d+)[\"'][^>]*(?<!/)>")
# Without such a reference a sheet has 26 columns, and a rectangle of them is never too large.
_FAR = re.compile(rb"r(?<!:r)\s*=\s*[\"'](?:[A-Za-z]{2}|[A-Za-z]\d{8})")
_ERROR = re.compile(rb'\sr="([A-Z]+)(\d+)"[^>]*?\st="e"[^>]*>(?:<f.*?)?<(?:\w+:)?v>([^<]*)<')
_TEXT = re.compile(rb"<(?:\w+:)?si(?:\s[^>]*)?(?:/>|>.*?</(?:\w+:)?si>)", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>\s*(\d{1,9})\s*<")
_TRIAL = """
import sys
sys.path[:] = {!r}
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, 2 * ({},))
except (ImportError, OSError, ValueError):
    pass
from python_calamine import CalamineWorkbook
with open(sys.argv[1], "rb") as stream:
    book = CalamineWorkbook.from_filelike(stream)
for name in [sys.argv[2]] if sys.argv[2] in book.sheet_names else book.sheet_names:
    book.get_sheet_by_name(name)
"""


@dataclass
class Part:
    """What a part of a workbook holds, as far as it matters: cells far away, elements, errors.

    Errors such as ``#N/A`` are kept by row and column, from 0.
    """

    is_far: bool = False
    n_closed: int = 0
    errors: dict[int, dict[int, str]] = field(default_factory=dict)


def check_archive(path: Path) -> dict[str, Part]:
    """Refuse what unpacks to too much and XML that only an attacker writes; return the parts."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        packed = sum(member.compress_size for member in members)
        if size > MAX_BYTES or len(members) > MAX_MEMBERS:
            raise InputError(
                f"{path} would unpack to {size:,} bytes in {len(members):,} parts; at most "
                f"{MAX_BYTES:,} bytes in {MAX_MEMBERS:,} parts are read.",
                hint="save the sheet as CSV",
            )
        if size > FREE_BYTES + MAX_RATIO * packed:
            raise InputError(
                f"{path} would unpack from {packed:,} to {size:,} bytes, as a damaged or hostile "
                "file does.",
                hint="open it in a spreadsheet and save it again, or save the sheet as CSV",
            )
        return {member.filename: _scan(archive, member) for member in members}


def _scan(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Part:
    """Read a part to its end, which also proves the size that the archive tells of it."""
    found, depth = Part(), 0
    for markup in _pieces(archive, member):
        n_special = markup.count(b"<!")
        if n_special and (b"<!DOCTYPE" in markup or b"<!ENTITY" in markup):
            raise ValueError("it declares a document type")
        n_closed = markup.count(b"</")
        depth += markup.count(b"<") - 2 * n_closed - markup.count(b"/>") - n_special
        if depth > MAX_DEPTH:
            raise ValueError("its elements are nested too deeply")
        found.is_far = found.is_far or _FAR.search(markup) is not None
        found.n_closed += n_closed
        for column, row, text in _ERROR.findall(markup) if b't="e"' in markup else ():
            found.errors.setdefault(int(row) - 1, {})[_column_number(column)] = text.decode()
    return found


def _pieces(archive: zipfile.ZipFile, member: str | zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a part, cut before a row where it has rows, else before a tag."""
    rest = b""
    with archive.open(member) as part:
        while chunk := part.read(CHUNK_BYTES):
            markup = rest + chunk
            cut = max(markup.rfind(b"<row"), 0) or max(markup.rfind(b"<"), 0) or len(markup)
            rest = markup[cut:] if len(markup) - cut < CHUNK_BYTES else b""
            yield markup[: len(markup) - len(rest)]
    yield rest


def check_sheet(path: Path, name: str, parts: dict[str, Part]) -> dict[int, dict[int, str]]:
    """Refuse a sheet that takes too much memory; return its errors by row and column from 0."""
    members = {member.replace("\\", "/").lower(): member for member in parts}
    with zipfile.ZipFile(path) as archive:
        sheet = members[_part_of_sheet(archive, members, name)]
        if parts[sheet].is_far:
            cells = {cell for markup in _pieces(archive, sheet) for cell in _CELL.findall(markup)}
            _check_rectangle(path, cells)
        if "xl/sharedstrings.xml" in members:
            shared = archive.read(members["xl/sharedstrings.xml"])
            if parts[sheet].n_closed * max(map(len, shared.split(b"si>"))) > MAX_BYTES:
                _check_texts(path, shared, _pieces(archive, sheet))
    return parts[sheet].errors


def _part_of_sheet(archive: zipfile.ZipFile, members: dict[str, str], name: str) -> str:
    book = ElementTree.fromstring(archive.read(members["xl/workbook.xml"]))
    relations = ElementTree.fromstring(archive.read(members["xl/_rels/workbook.xml.rels"]))
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    for sheet in book.iter():
        if sheet.tag.endswith("}sheet") and sheet.get("name") == name:
            key = next(value for key, value in sheet.items() if key.endswith("}id"))
            target = targets[key].replace("\\", "/")
            return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/").lower()
    raise LookupError(f"no part holds the sheet {name}")


def _check_texts(path: Path, shared: bytes, sheet: Iterator[bytes]) -> None:
    """Weigh the texts that cells share as often as cells may refer to them."""
    lengths = [match.end() - match.start() for match in _TEXT.finditer(shared)]
    places = (int(place) for markup in sheet for place in _VALUE.findall(markup))
    if sum(lengths[place] for place in places if place < len(lengths)) > MAX_BYTES:
        raise InputError(
            f"{path}: the text of all cells takes more than {MAX_BYTES:,} bytes.",
            hint="save the sheet as CSV",
        )


def _check_rectangle(path: Path, cells: set[tuple[bytes, bytes]]) -> None:
    rows = [int(row) for _, row in cells]
    columns = [_column_number(column) for column in {column for column, _ in cells}]
    n_rows = max(rows, default=0) - min(rows, default=0) + 1
    n_columns = max(columns, default=0) - min(columns, default=0) + 1
    if n_rows * n_columns > MAX_CELLS:
        raise InputError(
            f"{path}: the cells of the sheet lie in {n_rows:,} rows and {n_columns:,} columns, "
            "which is too much; some may be far away from the table.",
            hint="delete the rows below and the columns right of the table, or save it as CSV",
        )


def _column_number(letters: bytes) -> int:
    """Number of a column, from 0, by its letters."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number - 1


def check_by_trial(path: Path, sheet: str | None) -> None:
    """Let another process open a workbook whose parts cannot be looked at; it may well die."""
    words = [sys.executable, "-c", _TRIAL.format(sys.path, MAX_TRIAL_BYTES), str(path), sheet or ""]
    try:
        subprocess.run(words, capture_output=True, text=True, check=True, timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        raise ValueError("it cannot be read in a reasonable time") from None
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().rpartition("\n")[2]
        said = last.partition(": ")[2] if error.returncode == 1 else ""
        raise ValueError(said or "it takes too much memory") from None
