"""The text of data files: read within limits, its numbers strict, its errors located."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.exceptions import InputError

MAX_BYTES = 2**30
FREE_CELLS = 1_000_000
# Python's float also takes 1_000, nan, infinity, digits of all scripts and odd spaces.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_CHARACTERS = b"0123456789+-.eE, "
_TRUTH = {"false": 0.0, "true": 1.0}


class DataError(Exception):
    """Text that cannot be read, before it is known where it stands."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """The file that text came from."""

    path: Path
    n_bytes: int

    def error(self, line: int, message: object) -> InputError:
        """The error to raise for something wrong in a line, counted from 1."""
        return InputError(f"{self.path}, line {line}: {message}")

    def refusal(self, message: object) -> InputError:
        """The error to raise for something wrong with the file as a whole."""
        return InputError(f"{self.path}: {message}")

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


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}. Check the name of the file.") from error


def find_file(path: str | os.PathLike[str], max_bytes: int) -> DataFile:
    """A file that is there and has at most `max_bytes`."""
    path = Path(path)
    with _readable(path):
        n_bytes = path.stat().st_size
    # Opening a pipe would wait for somebody to write into it.
    if not path.is_file():
        raise InputError(f"{path} is not a file. Name a file.")
    if n_bytes > max_bytes:
        limit = f"at most {max_bytes} are read. Set max_bytes to allow more."
        raise InputError(f"{path} has {n_bytes} bytes; {limit}")
    return DataFile(path, n_bytes)


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> tuple[DataFile, bytes]:
    """The content of a file of at most `max_bytes`."""
    source = find_file(path, max_bytes)
    with _readable(source.path):
        return source, source.path.read_bytes()


def read_lines(path: str | os.PathLike[str], max_bytes: int) -> tuple[DataFile, list[str]]:
    """The lines of a file: UTF-8 with or without a byte order mark, or else Latin-1."""
    source, content = read_bytes(path, max_bytes)
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


def number(text: str, attribute: str = "") -> float:
    """A finite number in decimal notation; an error names the attribute, if there is one."""
    found = _NUMBER.fullmatch(text)
    if found and abs(value := float(text)) < inf:
        return value
    place = f"attribute {quote(attribute)}: " if attribute else ""
    expected = "a number below 1.8e308" if found else "a number such as 12, -0.5 or 1e-3"
    hint = " Write decimals with a point." if "," in text else ""
    raise DataError(f"{place}expected {expected}; got {quote(text)}.{hint}")


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
