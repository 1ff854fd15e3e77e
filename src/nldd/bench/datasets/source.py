"""The text of data files: read within limits, its numbers strict, its errors located."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from math import inf
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.exceptions import InputError

MAX_BYTES, MAX_XML_BYTES = 2**30, 2**26
FREE_CELLS = 1_000_000
# Python's float also takes 1_000, nan, infinity, digits of all scripts and odd spaces.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_CHARACTERS = b"0123456789+-.eE, "
_TRUTH = {"false": 0.0, "true": 1.0}
# Put by expat between the address of a namespace and a tag; no XML file can hold it.
_SEPARATOR = "\x01"


class DataError(Exception):
    """Text that cannot be read, before it is known where it stands."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """The file that text came from."""

    path: Path
    n_bytes: int

    def error(self, line: int | None, message: object) -> InputError:
        """The error to raise for something wrong in a line, counted from 1, or in the whole."""
        place = "" if line is None else f", line {line}"
        return InputError(f"{self.path}{place}: {message}")

    @contextmanager
    def locate_errors(self, line: int) -> Iterator[None]:
        """Say of what is refused meanwhile that it stands in this line."""
        try:
            yield
        except DataError as refusal:
            raise self.error(line, refusal) from None

    def check_cells(self, n_cells: int, line: int, what: str, per_byte: int = 16) -> None:
        """Refuse to make a table out of all proportion to the file.

        What a file leaves out, such as the zeros of its labels, takes memory all the same. Up to
        five cells for each byte are common; a file that implies hundreds is damaged, or meant to
        fill memory.
        """
        limit = FREE_CELLS + per_byte * self.n_bytes
        if n_cells > limit:
            size = f"a file of {self.n_bytes} bytes (the limit is {limit})"
            message = f"{what} would take {n_cells} values, too many for {size}. Is it damaged?"
            raise self.error(line, message)


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> tuple[DataFile, bytes]:
    """The content of a file of at most `max_bytes`."""
    path = Path(path)
    try:
        n_bytes = path.stat().st_size
        # Opening a pipe would wait for somebody to write into it.
        is_file = path.is_file()
        content = path.read_bytes() if is_file and n_bytes <= max_bytes else b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}. Check the name of the file.") from error
    if not is_file:
        raise InputError(f"{path} is not a file. Name a file.")
    if n_bytes > max_bytes:
        raise InputError(f"{path} has {n_bytes} bytes; at most {max_bytes} are read.")
    return DataFile(path, n_bytes), content


def read_lines(path: str | os.PathLike[str]) -> tuple[DataFile, list[str]]:
    """The lines of a file: UTF-8 with or without a byte order mark, or else Latin-1."""
    source, content = read_bytes(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise source.error(1, "the file is in UTF-16. Save it as UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    # Not by splitlines, which also ends lines at form feeds and other characters of names.
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return source, text.split("\n")


def number(text: str, column: str) -> float:
    """A finite number in decimal notation; an error names its column."""
    found = _NUMBER.fullmatch(text)
    if found and abs(value := float(text)) < inf:
        return value
    expected = "a number below 1.8e308" if found else "a number such as 12, -0.5 or 1e-3"
    hint = " Write decimals with a point." if "," in text else ""
    raise DataError(f"column {quote(column)}: expected {expected}; got {quote(text)}.{hint}")


def numbers(cells: Sequence[str], missing: Collection[str]) -> NDArray[np.float64] | None:
    """All `cells` by :func:`number`, NaN for those in `missing`; None if any is in doubt."""
    here = np.array([cell not in missing for cell in cells], dtype=bool)
    present = list(compress(cells, here))
    if ",".join(present).encode("ascii", "replace").translate(None, _CHARACTERS):
        return None
    values = np.full(len(cells), np.nan)
    try:
        values[here] = np.fromiter(map(float, present), float, len(present))
    except ValueError:
        return None
    return None if np.isinf(values).any() else values


def truth(text: str) -> float | None:
    """0 or 1 where `text` says so: a number equal to it, or false or true in any case."""
    if _NUMBER.fullmatch(text):
        value = float(text)
        # Adding 0 turns -0 into 0.
        return value + 0.0 if value in (0, 1) else None
    return _TRUTH.get(text.lower())


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """Read the names of labels from an XML file of Mulan, exactly as they are written there.

    Labels may lie within labels (a hierarchy): all of them count, in the order of the file.
    Document types and entities, which can be made to fill the memory, are refused.
    """
    source, content = read_bytes(path, MAX_XML_BYTES)
    # No tree is built, however deep the file is.
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    lines: dict[str, int] = {}  # of the names
    tags: set[str] = set()

    def refuse_doctype(*_: object) -> None:
        raise DataError("document types are not allowed. Remove the <!DOCTYPE ...>.")

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(_SEPARATOR)[2]
        if not tags and tag != "labels":
            expected = f"expected <labels> as the outermost element; got <{tag[:40]}>"
            raise DataError(f"{expected}. Is it a label file of Mulan?")
        tags.add(tag)
        name = attributes.get("name", "") if tag == "label" else None
        if name == "":
            raise DataError('a <label> has no name. Expected <label name="...">.')
        if name in lines:
            raise DataError(f"label {quote(name)} was named before, in line {lines[name]}.")
        if name:
            lines[name] = parser.CurrentLineNumber

    parser.StartElementHandler = start_element
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
        if not lines:
            raise DataError('<labels> holds no label. Expected <label name="..."/> in it.')
    except DataError as refusal:
        raise source.error(parser.CurrentLineNumber, refusal) from None
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise source.error(error.lineno, f"not well-formed XML: {reason}.") from None
    except (ValueError, LookupError) as error:
        # An encoding that Python does not know, or not as one byte a character.
        reason = quote(str(error))
        raise source.error(1, f"the file cannot be decoded: {reason}. Save it as UTF-8.") from None
    return list(lines)
