"""A zip file of the members of a model, stored as they are, and why one is not read.

Nothing can inflate: no member takes more memory than the file has bytes, and nothing is unpacked to
disk.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader, FileIO
from os import PathLike
from pathlib import Path
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from nldd._files import open_replacement
from nldd._wording import printable, quote
from nldd.exceptions import InputError

FETCH_AGAIN = "Fetch the file again from whoever made it, or fit and save the model anew."
Bytes = bytes | bytearray
MAX_BYTES = 4 * 2**30
# Bytes read at a time. So large may the directory be, too: it has four members here, and a thousand
# in a workbook.
CHUNK = 2**20
# How a zip file begins, and how it ends if it has no comment.
START, END, END_SIZE = b"PK\x03\x04", b"PK\x05\x06", 22
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can state
# How a member of a file begins that is often taken for a model -> what such a file is.
FOREIGN = {
    "xl/": "an Excel workbook",
    "word/": "a Word document",
    "ppt/": "a PowerPoint presentation",
    "[Content_Types].xml": "a file of Microsoft Office",
    "content.xml": "an OpenDocument file",
    "Index/Document.iwa": "a file of Numbers or Pages",
    "schema.json": "a skops file",
}
MODEL_FIRST = (
    "Name a file that nldd saved, such as model.nldd; the model comes first, then the table."
)


def damaged(what: str) -> InputError:
    """The refusal of a file that is not as it was written."""
    return InputError(f"damaged: {what}", hint=FETCH_AGAIN)


def refusal_of(error: Exception, place: str = "it") -> InputError:
    """The refusal that an error leads to; what nobody foresaw is damage."""
    if isinstance(error, InputError):
        return error
    if isinstance(error, MemoryError):
        return InputError("takes more memory than there is", hint="Free some memory.")
    return damaged(f"{place} cannot be read ({in_one_line(error)})")


@contextmanager
def naming_file(path: str | PathLike[str], doing: str = "read") -> Iterator[None]:
    """Let refusals and failures of the system within the block name the file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}.", hint=error.hint) from error.__cause__
    except OSError as error:
        reason, hint = error.strerror or error, "Check the name, the folder and the free space."
        raise InputError(f"{path}: cannot be {doing}: {reason}.", hint=hint) from error


def in_one_line(error: Exception) -> str:
    """An error of another library for a message."""
    return f"{type(error).__name__}: {printable(' '.join(str(error).split()))[:200]}"


def write_zip(path: Path, members: Mapping[str, Bytes]) -> None:
    """Write members, as a whole or not at all; equal members give equal files."""
    with open_replacement(path) as stream, ZipFile(stream, "w", ZIP_STORED) as archive:
        for name, content in members.items():
            entry = ZipInfo(name, EPOCH)
            entry.create_system = 3  # also on Windows, so that files are the same everywhere
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)


@contextmanager
def open_zip(
    path: str | os.PathLike[str], members: Sequence[str], max_bytes: int = MAX_BYTES
) -> Iterator[ZipFile]:
    """A zip file with the first and perhaps others of some members, and nothing else.

    Whatever happens in the block names the file.
    """
    with naming_file(path):
        # Opening a pipe would wait for somebody to write into it.
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("is not a file", hint="Name a model file, such as model.nldd.")
        try:
            with _BoundedReader(FileIO(path)) as stream:
                n_bytes = _check_ends(stream, max_bytes)
                with ZipFile(stream) as archive:
                    _check_directory(archive, members, n_bytes)
                    yield archive
        except OSError:
            raise
        except Exception as error:
            raise refusal_of(error) from error


def read_member(archive: ZipFile, name: str) -> bytes:
    """The bytes of a member."""
    try:
        with archive.open(name) as member:
            return b"".join(iter(lambda: member.read(CHUNK), b""))
    except (KeyError, BadZipFile) as error:
        raise damaged(f"member {name!r} is missing, or is not as it was written") from error


class _BoundedReader(BufferedReader):
    """A stream that refuses to read very much at once: :mod:`zipfile` reads any directory."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > CHUNK:
            raise damaged("its directory is too large")
        return super().read(size)


def _check_ends(stream: _BoundedReader, max_bytes: int) -> int:
    """The size of a zip file; anything else that is often taken for a model is named."""
    n_bytes = stream.seek(0, os.SEEK_END)
    if n_bytes > max_bytes:
        message = f"has {n_bytes} bytes; at most {max_bytes} are read"
        raise InputError(message, hint="Set max_bytes to allow more.")
    stream.seek(max(n_bytes - END_SIZE, 0))
    end = stream.read(END_SIZE)
    stream.seek(0)
    start = stream.read(8)
    # Protocols from 2 on begin with 0x80 and the protocol; older ones are text that ends in a dot.
    is_pickle = start[:1] == b"\x80" and start[1:2] < b"\x10"
    if is_pickle or (start.startswith((b"(", b"]", b"}", b"c")) and end.endswith(b".")):
        raise InputError(
            "is a pickle, which can run any program when it is loaded; nldd never loads one",
            hint="Have the model saved by nldd.save_model.",
        )
    if not start.startswith(START):
        begins = f"it begins with {quote(start.decode('latin-1'))}" if start else "it is empty"
        raise InputError(f"not a model of nldd: {begins}", hint=MODEL_FIRST)
    if not end.startswith(END) or not end.endswith(b"\0\0"):
        raise damaged("its end is missing")
    return n_bytes


def _check_directory(archive: ZipFile, members: Sequence[str], n_bytes: int) -> None:
    """Refuse other members than those of a model, and such as are not stored as they are."""
    entries = archive.infolist()
    names = [entry.orig_filename for entry in entries]
    if members[0] not in names:
        found = (what for start, what in FOREIGN.items() if any(n.startswith(start) for n in names))
        what = next(found, "a zip file of another kind")
        raise InputError(f"not a model of nldd: it is {what}", hint=MODEL_FIRST)
    for entry, name in zip(entries, names, strict=True):
        if name not in members or names.count(name) > 1:
            raise damaged(f"stray member {quote(name)}")
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            raise damaged(f"member {name!r} is compressed")
    if sum(entry.file_size for entry in entries) > n_bytes:
        raise damaged("its members overlap or reach beyond its end")
