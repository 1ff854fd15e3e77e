"""Workbooks that would take all memory, found before the library that reads them opens them.

It holds a sheet as a rectangle from the first to the last cell, and a copy of its text in each
cell. A few bytes can ask for a terabyte of that, and a cell that somebody left far below a table
does so by accident.
"""

import posixpath
import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
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

_CELL = re.compile(rb"<(?:\w+:)?c\s(?:[^>]*?\s)?r\s*=\s*[\"']([A-Za-z]+)(\d+)[\"'][^>]*(?<!/)>")
# Without such a reference a sheet has 26 columns, and a rectangle of them is never too large.
_FAR = re.compile(rb"r(?<!:r)\s*=\s*[\"'](?:[A-Za-z]{2}|[A-Za-z]\d{8})")
_ERROR = re.compile(rb'\sr="([A-Z]+)(\d+)"[^>]*?\st="e"[^>]*>(?:<f.*?)?<(?:\w+:)?v>([^<]*)<')
_TEXT = re.compile(rb"<(?:\w+:)?si(?:\s[^>]*)?(?:/>|>.*?</(?:\w+:)?si>)", re.DOTALL)
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>\s*(\d{1,9})\s*<")


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
        parts = {member.filename: _scan(archive, member) for member in members}
        if "content.xml" in parts:
            with archive.open("content.xml") as part:
                _check_opendocument(path, part)
        return parts


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
        if "content.xml" in members:
            return {}
        if "xl/workbook.bin" in members:
            for member in members.values():
                if "worksheets" in member and member.endswith(".bin"):
                    _check_rectangle(path, *_binary_places(archive.read(member)))
            return {}
        sheet = members[_part_of_sheet(archive, members, name)]
        if parts[sheet].is_far:
            cells = {cell for markup in _pieces(archive, sheet) for cell in _CELL.findall(markup)}
            columns = [_column_number(column) for column in {column for column, _ in cells}]
            _check_rectangle(path, [int(row) for _, row in cells], columns)
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
    _check_weight(path, sum(lengths[place] for place in places if place < len(lengths)))


def _check_weight(path: Path, n_bytes: int) -> None:
    if n_bytes > MAX_BYTES:
        raise InputError(
            f"{path}: the text of all cells takes more than {MAX_BYTES:,} bytes.",
            hint="save the sheet as CSV",
        )


def _check_rectangle(path: Path, rows: list[int], columns: list[int]) -> None:
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


def _check_opendocument(path: Path, part: IO[bytes]) -> None:
    """Multiply cells as their elements say that they are repeated, up to the last filled one."""
    row, columns, n_bytes = 0, [0], 0
    rows = [0]
    for _, element in ElementTree.iterparse(part):
        if not element.tag.endswith("}table-row"):
            continue
        n_rows, width, text = _repeated(element, "rows"), 0, 0
        for cell in element:
            width += _repeated(cell, "columns")
            if len(cell) or any("value" in key for key in cell.keys()):  # noqa: SIM118
                rows.append(row + n_rows)
                columns.append(width)
                text += len("".join(cell.itertext())) * _repeated(cell, "columns")
        row += n_rows
        n_bytes += n_rows * text
        element.clear()
    _check_rectangle(path, rows, columns)
    _check_weight(path, n_bytes)


def _repeated(element: ElementTree.Element, what: str) -> int:
    end = f"}}number-{what}-repeated"
    return next((int(value) for key, value in element.items() if key.endswith(end)), 1)


def _binary_places(content: bytes) -> tuple[list[int], list[int]]:
    """Rows and columns in the records of an .xlsb sheet: rows have the kind 0, cells 1 to 11."""
    places: tuple[list[int], list[int]] = ([], [])
    position = 0
    while position < len(content):
        kind, position = _variable_number(content, position)
        size, position = _variable_number(content, position)
        if kind < 12:
            places[kind > 0].append(struct.unpack_from("<I", content, position)[0])
        position += size
    return places


def _variable_number(content: bytes, position: int) -> tuple[int, int]:
    number = 0
    for k in range(4):
        byte = content[position + k]
        number |= (byte & 127) << 7 * k
        if byte < 128:
            return number, position + k + 1
    return number, position + 4
