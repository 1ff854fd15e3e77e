"""Workbooks that would take all memory, found before the library that reads them opens them.

It holds a sheet as a rectangle from the first to the last cell, and a copy of its text in each
cell. A few bytes can ask for a terabyte of that, and a cell that somebody left far below a table
does so by accident; then the whole process ends. The parts of .xlsx files are XML that a look over
tells enough about. Other workbooks, and large or strange ones, are opened by a process of their
own first, which may die of them.
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
MAX_TRIAL_BYTES = 2**32
TRIAL_SECONDS = 300

# Without such a reference a sheet has 26 columns, and a rectangle of them is never too large.
_FAR = re.compile(rb"r(?<!:r)\s*=\s*[\"'](?:[A-Za-z]{2}|[A-Za-z]\d{8})")
_ERROR = re.compile(rb'\sr="([A-Z]+)(\d+)"[^>]*?\st="e"[^>]*>(?:<f.*?)?<(?:\w+:)?v>([^<]*)<')
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
    shared = members.get("xl/sharedstrings.xml")
    with zipfile.ZipFile(path) as archive:
        sheet = parts[members[_part_of_sheet(archive, members, name)]]
        longest = max(map(len, archive.read(shared).split(b"si>"))) if shared else 0
    # As if each cell referred to the longest of the texts that cells share.
    if sheet.is_far or sheet.n_closed * longest > MAX_BYTES:
        check_by_trial(path, name)
    return sheet.errors


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


def _column_number(letters: bytes) -> int:
    """Number of a column, from 0, by its letters."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number - 1


def check_by_trial(path: Path, sheet: str | None) -> None:
    """Let another process open a workbook, within limits of memory and time."""
    words = [sys.executable, "-c", _TRIAL.format(sys.path, MAX_TRIAL_BYTES), str(path), sheet or ""]
    try:
        subprocess.run(words, capture_output=True, text=True, check=True, timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        raise ValueError("it cannot be read in a reasonable time") from None
    except subprocess.CalledProcessError as error:
        if error.returncode == 1:  # an error of Python, in its last line
            raise ValueError(error.stderr.strip().rpartition(": ")[2]) from None
        raise InputError(
            f"{path} takes more memory than {MAX_TRIAL_BYTES:,} bytes; some cells may be far away "
            "from the table.",
            hint="delete the rows below and the columns right of the table, or save it as CSV",
        ) from None
