"""The archive of a workbook: what it would take to unpack it, and its XML as elements."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from xml.parsers import expat

from nldd.exceptions import InputError
from nldd.tables._magic import OLD_OFFICE, ZIP, refuse_foreign

MAX_BYTES = 2**30
MAX_MEMBERS = 10_000
# Sheets shrink to a twentieth or so; what shrinks to less than this is made to fill memory.
MAX_RATIO = 400
FREE_BYTES = 2**24
CHUNK_BYTES = 2**16

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    expat.ExpatError,
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    ValueError,
)

Attributes = dict[str, str]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a damaged archive may raise into an error that says so."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"{path} is a damaged workbook: {str(error) or type(error).__name__}.",
            hint="open it in a spreadsheet and save it again as .xlsx",
        ) from error


@contextmanager
def opened(path: Path, head: bytes) -> Iterator[zipfile.ZipFile]:
    """The archive of a workbook, after a look at what it would take to unpack it."""
    if not head.startswith(ZIP):
        if head.startswith(OLD_OFFICE):
            refuse_foreign(path, head)
        raise InputError(
            f"{path} is no Excel workbook; it does not begin as one.",
            hint="if it is text, rename it so that it ends in .csv",
        )
    with reading(path), zipfile.ZipFile(path) as archive:
        _check_sizes(path, archive.infolist())
        yield archive


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
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
            f"{path} would unpack from {packed:,} to {size:,} bytes, as a damaged or hostile file "
            "does.",
            hint="open it in a spreadsheet and save it again, or save the sheet as CSV",
        )
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{path} has a password.", hint="save it without one")


def parse(stream: IO[bytes], parser: expat.XMLParserType) -> Iterator[None]:
    """Feed XML to a parser, a part at a time; document types, and so entities, are refused."""

    def refuse(*_: object) -> None:
        raise expat.ExpatError("it declares a document type")

    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    while chunk := stream.read(CHUNK_BYTES):
        parser.Parse(chunk, False)
        yield
    parser.Parse(b"", True)
    yield


def local(name: str) -> str:
    """A name of XML without the prefix of its namespace."""
    return name.rpartition(":")[2]


def elements(archive: zipfile.ZipFile, member: str) -> Iterator[tuple[str, Attributes]]:
    """Each element of a part: the names of it and of those around it, and its attributes."""
    found: list[tuple[str, Attributes]] = []
    way: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        way.append(local(name))
        found.append(("/" + "/".join(way), attributes))

    def end(_: str) -> None:
        way.pop()

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with archive.open(member) as stream:
        for _ in parse(stream, parser):
            yield from found
            found.clear()
