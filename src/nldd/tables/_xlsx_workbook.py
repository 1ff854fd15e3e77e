"""A workbook but for its cells: its sheets, the texts that cells share, its number formats."""

import posixpath
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from nldd._wording import quote, quote_first
from nldd.exceptions import InputError
from nldd.tables._xlsx_package import Attributes, elements, local, parse
from nldd.tables._xlsx_values import FINE_FORMATS, kind_of_format, unescaped


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


def read_workbook(path: Path, archive: zipfile.ZipFile) -> Workbook:
    """The sheets of a workbook and what their cells refer to."""
    members = {name.replace("\\", "/").lower(): name for name in archive.namelist()}
    main = _main_member(archive, members)
    if main not in members:
        raise InputError(
            f"{path} is a zip archive without the parts of an Excel workbook.",
            hint="save the table as .xlsx or CSV",
        )
    folder, name = posixpath.split(main)
    related = _related(archive, members, folder, f"{folder}/_rels/{name}.rels".lstrip("/"))
    sheets: list[Sheet] = []
    from_1904 = False
    for way, attributes in elements(archive, members[main]):
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
        raise InputError(f"{path} has no sheet with cells.", hint="save the table as CSV")
    if name is None:
        return next((sheet for sheet in sheets if sheet.visible), sheets[0])
    for sheet in sheets:
        if sheet.name == name:
            return sheet
    raise InputError(
        f"{path} has no sheet {quote(name)}.",
        hint=f"name one of its sheets: {quote_first(sheet.name for sheet in sheets)}",
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
    for way, attributes in elements(archive, members[member]):
        if way.endswith("/Relationship") and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "").replace("\\", "/").lower()
            place = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = attributes.get("Type", "").rpartition("/")[2]
            related[attributes.get("Id", "")] = (kind, place)
    return related


def _relation(attributes: Attributes) -> str:
    return next((value for key, value in attributes.items() if key.endswith(":id")), "")


def _read_styles(archive: zipfile.ZipFile, member: str) -> tuple[Style, ...]:
    codes: dict[int, str] = {}
    numbers: list[int] = []
    for way, attributes in elements(archive, member):
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
    collect = _TextCollector(texts.append, whole="si")
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = collect.start, collect.end
    parser.CharacterDataHandler = collect.characters
    with archive.open(member) as stream:
        for _ in parse(stream, parser):
            pass
    return texts


class _TextCollector:
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
