"""Files as text, with their size limited and their errors located."""

import os
from dataclasses import dataclass
from pathlib import Path

from nldd.exceptions import InputError

MAX_BYTES = 2**30
# What a file leaves out, such as the zeros of its labels, takes memory all the same. Up to five
# cells for each byte are usual; a file that implies hundreds is damaged, or meant to fill memory.
CELLS_PER_BYTE = 16
FREE_CELLS = 1_000_000


class Refusal(Exception):
    """Text that cannot be read, before it is known where it stands."""


@dataclass(frozen=True, slots=True)
class Source:
    """The file that text came from.

    Attributes
    ----------
    path : Path
    n_bytes : int
    """

    path: Path
    n_bytes: int

    def error(self, line: int, message: str) -> InputError:
        """The error to raise for something wrong in a line, counted from 1."""
        return InputError(f"{self.path}, line {line}: {message}")

    def check_cells(
        self, n_cells: int, line: int, what: str, per_byte: int = CELLS_PER_BYTE
    ) -> None:
        """Refuse to make a table out of all proportion to the file."""
        limit = FREE_CELLS + per_byte * self.n_bytes
        if n_cells > limit:
            raise self.error(
                line,
                f"{what} would take {n_cells} values, too many for a file of {self.n_bytes} bytes "
                f"(the limit is {limit}). Is the file damaged?",
            )


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> tuple[Source, bytes]:
    """The content of a file of at most `max_bytes`."""
    path = Path(path)
    # Opening a pipe would wait for somebody to write into it.
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file. Name a file.")
    try:
        n_bytes = path.stat().st_size
        content = path.read_bytes() if n_bytes <= max_bytes else b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}. Check the name of the file.") from error
    if n_bytes > max_bytes:
        raise InputError(
            f"{path} has {n_bytes} bytes; at most {max_bytes} are read. "
            "Set max_bytes to allow more."
        )
    return Source(path, n_bytes), content


def read_text(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> tuple[Source, str]:
    """The text of a file: UTF-8 with or without a byte order mark, or else Latin-1."""
    source, content = read_bytes(path, max_bytes)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise source.error(1, "the file is in UTF-16. Save it as UTF-8.")
    try:
        return source, content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return source, content.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Lines ended by LF, CRLF or CR.

    Not ``str.splitlines``: that also ends lines at form feeds and other characters of names.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")
