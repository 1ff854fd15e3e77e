"""A workbook as a zip of XML: its sheets, its texts and its number formats."""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.parsers import expat

from nldd.exceptions import InputError
from nldd.tables._magic import OLD_OFFICE, ZIP, refuse_foreign
from nldd.tables._records import listed, shown
from nldd.tables._xlsx_values import FINE_FORMATS, kind_of_format, unescaped

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


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook."""

    name: str
    member: str
    visible: bool


@dataclass(frozen=True)
class Style:
    """What the number format of a cell says about its number."""

    kind: str | None
    fine: bool


@dataclass(frozen=True)
class Workbook:
    """What is needed to read a sheet.

    Attributes
    ----------
    sheets : tuple of Sheet
    texts : list of str
        Texts that cells refer to by number.
    styles : tuple of Style
    from_1904 : bool
        Whether days are counted from 1904.
    """

    sheets: tuple[Sheet, ...]
    texts: list[str]
    styles: tuple[Style, ...]
    from_1904: bool


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
            hint="Open it in a spreadsheet and save it again as .xlsx.",
        ) from error


@contextmanager
def opened(path: Path, head: bytes) -> Iterator[zipfile.ZipFile]:
    """The archive of a workbook, after a look at what it would take to unpack it."""
    if not head.startswith(ZIP):
        if head.startswith(OLD_OFFICE):
            refuse_foreign(path, head)
        raise InputError(
            f"{path} is no Excel workbook; it does not begin as one.",
            hint="If it is text, rename it so that it ends in .csv.",
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
            hint="Save the sheet as CSV.",
        )
    if size > FREE_BYTES + MAX_RATIO * packed:
        raise InputError(
            f"{path} would unpack from {packed:,} to {size:,} bytes, as a damaged or hostile file "
            "does.",
            hint="Open it in a spreadsheet and save it again, or save the sheet as CSV.",
        )
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{path} has a password.", hint="Save it without one.")


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


def read_workbook(path: Path, archive: zipfile.ZipFile) -> Workbook:
    """The sheets of a workbook and what their cells refer to."""
    members = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
    main = _main_member(archive, members)
    if main not in members:
        raise InputError(
            f"{path} is a zip archive without the parts of an Excel workbook.",
            hint="Save the table as .xlsx or CSV.",
        )
    folder, name = posixpath.split(main)
    related = _related(archive, members, folder, f"{folder}/_rels/{name}.rels".lstrip("/"))
    sheets: list[Sheet] = []
    from_1904 = False
    for way, attributes in _elements(archive, members[main]):
        if way.endswith("/sheets/sheet"):
            kind, member = related.get(_relation(attributes), ("", ""))
            if kind == "worksheet" and member in members:
                visible = attributes.get("state", "visible") == "visible"
                title = unescaped(attributes.get("name", ""))
                sheets.append(Sheet(title, members[member], visible))
        elif way.endswith("/workbookPr"):
            from_1904 = attributes.get("date1904", "0") in ("1", "true", "on")
    by_kind = {kind: members[member] for kind, member in related.values() if member in members}
    texts = _read_texts(archive, by_kind["sharedStrings"]) if "sharedStrings" in by_kind else []
    styles = _read_styles(archive, by_kind["styles"]) if "styles" in by_kind else ()
    return Workbook(tuple(sheets), texts, styles, from_1904)


def choose_sheet(path: Path, sheets: tuple[Sheet, ...], name: str | None) -> Sheet:
    """The sheet of that name, or the first one that is not hidden."""
    if not sheets:
        raise InputError(f"{path} has no sheet with cells.", hint="Save the table as CSV.")
    if name is None:
        return next((sheet for sheet in sheets if sheet.visible), sheets[0])
    for sheet in sheets:
        if sheet.name == name:
            return sheet
    raise InputError(
        f"{path} has no sheet {shown(name)}.",
        hint=f"Name one of its sheets: {listed(sheet.name for sheet in sheets)}.",
    )


def _main_member(archive: zipfile.ZipFile, members: dict[str, str]) -> str:
    relations = _related(archive, members, "", "_rels/.rels")
    return next(
        (member for kind, member in relations.values() if kind == "officeDocument"),
        "xl/workbook.xml",
    )


def _related(
    archive: zipfile.ZipFile, members: dict[str, str], folder: str, member: str
) -> dict[str, tuple[str, str]]:
    """Kind and member of the parts that one part refers to, by the name that it uses."""
    if member not in members:
        return {}
    related = {}
    for way, attributes in _elements(archive, members[member]):
        if way.endswith("/Relationship") and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "").replace("\\", "/").lower()
            place = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = attributes.get("Type", "").rpartition("/")[2]
            related[attributes.get("Id", "")] = (kind, place)
    return related


def _relation(attributes: Attributes) -> str:
    return next((value for key, value in attributes.items() if key.endswith(":id")), "")


def _elements(archive: zipfile.ZipFile, member: str) -> Iterator[tuple[str, Attributes]]:
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


def _read_styles(archive: zipfile.ZipFile, member: str) -> tuple[Style, ...]:
    codes: dict[int, str] = {}
    numbers: list[int] = []
    for way, attributes in _elements(archive, member):
        if way.endswith("/numFmts/numFmt"):
            codes[_number(attributes)] = attributes.get("formatCode", "")
        elif way.endswith("/cellXfs/xf"):
            numbers.append(_number(attributes))
    known = {
        number: Style(kind_of_format(number, codes.get(number)), codes.get(number) in FINE_FORMATS)
        for number in set(numbers)
    }
    return tuple(known[number] for number in numbers)


def _number(attributes: Attributes) -> int:
    text = attributes.get("numFmtId", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _read_texts(archive: zipfile.ZipFile, member: str) -> list[str]:
    texts: list[str] = []
    collect = TextCollector(lambda text: texts.append(text), whole="si")
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = collect.start, collect.end
    parser.CharacterDataHandler = collect.characters
    with archive.open(member) as stream:
        for _ in parse(stream, parser):
            pass
    return texts


class TextCollector:
    """Text of an element that may be in parts of different fonts, but not its pronunciation."""

    def __init__(self, done: Callable[[str], None], whole: str) -> None:
        self._done = done
        self._whole = whole
        self._parts: list[str] = []
        self._within = 0  # 1 within text, negative within the pronunciation of Japanese

    def start(self, name: str, _: Attributes) -> None:
        """Handle the start of an element."""
        name = local(name)
        if name == "rPh":
            self._within -= 2
        elif name == "t":
            self._within += 1

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        name = local(name)
        if name == "rPh":
            self._within += 2
        elif name == "t":
            self._within -= 1
        elif name == self._whole:
            self._done(unescaped("".join(self._parts)))
            self._parts.clear()

    def characters(self, text: str) -> None:
        """Handle text between tags."""
        if self._within > 0:
            self._parts.append(text)
