"""Zip files whose members are stored as they are, so that nothing in them can inflate.

A zip file has its directory at the end, which :mod:`zipfile` reads whatever its size; so here it
gets no more than a limit, and every entry is checked before a member is opened.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from stat import S_IFMT, S_IFREG
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from nldd.persistence._refusal import Refusal, damaged, quote

MAX_NAME = 200
CHUNK = 2**22  # bytes read at a time
# An entry of the directory: 46 bytes, the name, and what large members add.
MAX_ENTRY = 46 + MAX_NAME + 32
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can state
ORDINARY_FILE = (S_IFREG | 0o644) << 16
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")

END, END_SIZE = b"PK\x05\x06", 22

Buffers = Iterable[Any]


class _Bounded:
    """A stream that refuses to read very much at once."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream, self._most = stream, most

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, n_bytes: int = -1) -> bytes:
        if n_bytes > self._most:
            raise Refusal(f"its directory has {n_bytes} bytes; at most {self._most} are read")
        return self._stream.read(n_bytes)


class StoredZip:
    """A zip file to read from, of which nothing but the directory has been read.

    `look` gets the names of all members before anything else is made of them, and may refuse;
    `sizes` are the bytes of each member, in the order of the file.
    """

    def __init__(
        self,
        stream: BinaryIO,
        max_members: int,
        look: Callable[[list[str]], None] = lambda names: None,
    ) -> None:
        n_bytes = stream.seek(0, 2)
        stream.seek(max(n_bytes - END_SIZE, 0))
        end = stream.read(END_SIZE)
        if len(end) < END_SIZE or not end.startswith(END) or end[-2:] != b"\0\0":
            raise damaged("its end is missing")
        bounded: Any = _Bounded(stream, max_members * MAX_ENTRY)
        try:
            self._zip = ZipFile(bounded)
        except Refusal:
            raise
        except Exception as error:  # zipfile meets hostile bytes with errors of many kinds
            raise damaged("the directory of the file cannot be read") from error
        self._zip.fp = stream  # the directory is read, and members may be of any size
        entries = self._zip.infolist()
        look([entry.filename for entry in entries])
        for entry in entries:
            _check_entry(entry)
        self.sizes = {entry.filename: entry.file_size for entry in entries}
        if len(self.sizes) < len(entries):
            raise Refusal("a member is there more than once")
        if len(entries) > max_members:
            raise Refusal(f"it has {len(entries)} members; at most {max_members} are read")
        if sum(self.sizes.values()) > n_bytes:
            raise damaged("its members overlap or reach beyond its end")

    def read(self, name: str) -> bytearray:
        """The bytes of a member, in memory once."""
        content = bytearray()
        try:
            with self._zip.open(name) as member:
                while part := member.read(CHUNK):
                    content += part
        except BadZipFile as error:  # the zip file's own checksum, of 32 bits
            raise damaged(f"member {quote(name)} does not match its checksum") from error
        except Exception as error:
            raise damaged(f"member {quote(name)} cannot be read") from error
        return content


def write_stored(stream: BinaryIO, members: Mapping[str, Buffers]) -> None:
    """Write members, each of them given in pieces; equal members give equal files."""
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for name, pieces in members.items():
            entry = ZipInfo(name, EPOCH)
            entry.create_system = 3  # also on Windows, so that files are the same everywhere
            entry.external_attr = ORDINARY_FILE
            buffers = [memoryview(piece) for piece in pieces]
            entry.file_size = sum(buffer.nbytes for buffer in buffers)
            with archive.open(entry, "w") as member:
                for buffer in buffers:
                    member.write(buffer)


def is_safe_name(name: str) -> bool:
    """Whether a member may have the name: no way out of a folder on any system."""
    return len(name) <= MAX_NAME and NAME.fullmatch(name) is not None


def _check_entry(entry: ZipInfo) -> None:
    name = entry.orig_filename  # zipfile cuts `filename` at the first NUL
    if not is_safe_name(name) or name != entry.filename:
        raise Refusal(f"stray member {quote(name)}: names must not lead out of the file")
    if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
        raise Refusal(f"member {quote(name)} is compressed; nldd stores members as they are")
    if entry.flag_bits:
        raise Refusal(f"member {quote(name)} is encrypted or has other flags that nldd never sets")
    if S_IFMT(entry.external_attr >> 16) not in (0, S_IFREG):
        raise Refusal(f"member {quote(name)} is a link or another special file")
