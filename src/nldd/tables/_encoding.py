"""The encoding of a text file: by its mark, by being valid, by its letters."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from nldd._wording import quote
from nldd.exceptions import InputError
from nldd.tables._languages import guess_encodings
from nldd.tables._magic import refuse_binary
from nldd.tables._records import MAX_CELL
from nldd.tables._text import TextFile

CHUNK_BYTES = 2**20
SAMPLE_BYTES = 2**14
# Below this the letters are no usual ones of any language in the list.
LEAST_SCORE = 0.55
# An encoding that fits all bytes is preferred to a better one, if it is hardly worse.
NEAR = 0.95

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))
_STRAY = "nldd-stray-cp1252"


@dataclass(frozen=True)
class Misfit:
    """The first byte that is not in the encoding: the byte from 0, its line from 1."""

    byte: int
    line: int


@dataclass(frozen=True)
class Scan:
    """What one pass over a file found: the first misfit, and lines beyond ASCII."""

    misfit: Misfit | None
    sample: bytes


def text_file(path: Path, head: bytes, encoding: str | None = None) -> TextFile:
    """Find out how a text file is encoded, over its whole length.

    Parameters
    ----------
    path : Path
    head : bytes
        The first bytes of the file.
    encoding : str, optional
        The name of the encoding, where it is known.
    """
    mark, marked = next(((m, name) for m, name in _MARKS if head.startswith(m)), (b"", ""))
    if encoding is not None:
        return _as_told(path, encoding, mark, marked)
    if marked:
        return _marked(path, mark, marked)
    if b"\x00" in head:
        wide = _without_mark(head)
        if wide and scan(path, wide).misfit is None:
            return TextFile(path, wide, notes=(_read_as(wide),))
        if head.count(b"\x00") > len(head) / 10:
            refuse_binary(path)
    found = scan(path, "utf-8")
    if found.misfit is None:
        return TextFile(path, "utf-8")
    if _mostly_utf8(found.sample):
        return _with_strays(TextFile(path, "utf-8"), found.misfit)
    if len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        refuse_binary(path)
    return _by_letters(path, found.sample)


def _read_as(encoding: str) -> str:
    return f"The file is not in UTF-8; it was read as {encoding}."


def _as_told(path: Path, encoding: str, mark: bytes, marked: str) -> TextFile:
    try:
        codec = codecs.lookup(encoding)
        # Else it would turn text into text, or bytes into bytes.
        known = bool(getattr(codec, "_is_text_encoding", True) and codec.incrementaldecoder)
    except (LookupError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"There is no encoding {quote(encoding)}.",
            hint="use a name such as utf-8, cp1252, cp1251, shift_jis or gb18030",
        )
    name = marked if codec.name.removesuffix("-sig") in (marked, marked[:6]) else codec.name
    # The mark of UTF-8 is no text in any encoding.
    text = TextFile(path, name, mark if marked in (name, "utf-8") else b"")
    misfit = scan(path, name, len(text.mark)).misfit
    if misfit is not None:
        raise _misfit_error(path, misfit, encoding)
    return text


def _marked(path: Path, mark: bytes, encoding: str) -> TextFile:
    text = TextFile(path, encoding, mark)
    misfit = scan(path, encoding, len(mark)).misfit
    if misfit is None:
        notes = () if encoding == "utf-8" else (_read_as(encoding),)
        return replace(text, notes=notes)
    if encoding == "utf-8":
        return _with_strays(text, misfit)
    raise _misfit_error(path, misfit, encoding)


def _misfit_error(path: Path, misfit: Misfit, encoding: str) -> InputError:
    return InputError(
        f"{path}, line {misfit.line}: byte {misfit.byte} of the file is not in the encoding "
        f"{quote(encoding)}.",
        hint="leave out --encoding to have it detected, or name the right one",
    )


def scan(path: Path, encoding: str, skip: int = 0) -> Scan:
    """Decode a file to its end or to its first misfit, and refuse endless lines."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    position, line, unbroken = skip, 1, 0
    misfit: Misfit | None = None
    sample = _Sample()
    for chunk in _chunks(path, skip):
        if misfit is None:
            try:
                decoder.decode(chunk, not chunk)
            except UnicodeError as error:
                pending = len(getattr(error, "object", chunk)) - len(chunk)
                start = getattr(error, "start", 0) - pending
                before = chunk[: max(0, start)]
                misfit = Misfit(max(0, position + start), line + before.count(b"\n"))
        sample.add(chunk or b"\n")
        unbroken = 0 if b"\n" in chunk or b"\r" in chunk else unbroken + len(chunk)
        if unbroken > 4 * MAX_CELL:
            raise InputError(
                f"{path}, line {line}: the line is longer than {MAX_CELL:,} characters.",
                hint="check that the file is a table of text",
            )
        position, line = position + len(chunk), line + chunk.count(b"\n")
        if misfit is not None and sample.is_full:
            break
    return Scan(misfit, bytes(sample.lines))


class _Sample:
    """The first lines with letters beyond ASCII, in which the encoding shows."""

    def __init__(self) -> None:
        self.lines = bytearray()
        self._rest = b""  # of the part before, up to the end of its line

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= SAMPLE_BYTES

    def add(self, chunk: bytes) -> None:
        if self.is_full or (not self._rest and chunk.isascii()):
            return
        *lines, rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if not (line.isascii() or self.is_full):
                # Nothing may follow a line that is cut within a character.
                self.lines += line + b"\n" if len(line) < SAMPLE_BYTES else line[:SAMPLE_BYTES]
        self._rest = b"" if rest.isascii() else rest
        if len(self._rest) > SAMPLE_BYTES:
            self.lines += self._rest[:SAMPLE_BYTES]


def _chunks(path: Path, skip: int) -> Iterator[bytes]:
    """The file in parts, and an empty part at its end."""
    with path.open("rb") as stream:
        stream.seek(skip)
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk
    yield b""


def _without_mark(head: bytes) -> str | None:
    """UTF-16, if the zero bytes stand where its digits and separators have them."""
    head = head[: len(head) // 2 * 2]
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding, zeros, others = ("utf-16-le", odd, even) if odd > even else ("utf-16-be", even, odd)
    if not head or zeros < len(head) / 40 or others > zeros / 4:
        return None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None
    has_lines = re.search("[\r\n]", text) or not re.search(b"[\r\n]", head)
    is_clean = not re.search(r"[\x00-\x08\x0e-\x1f\ufffe\uffff]", text)
    return encoding if has_lines and is_clean else None


def _mostly_utf8(sample: bytes) -> bool:
    """Whether nine of ten bytes beyond ASCII stand in valid sequences of UTF-8."""
    beyond = sum(byte > 0x7F for byte in sample)
    return sum(map(len, _UTF8.findall(sample))) >= 0.9 * beyond


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    stray = error.object[error.start : error.end]
    return stray.decode("cp1252", "replace"), error.end


def _with_strays(text: TextFile, misfit: Misfit) -> TextFile:
    # One wrong byte must not turn all other letters of the file into wrong ones.
    codecs.register_error(_STRAY, _as_cp1252)
    note = (
        f"The file is in UTF-8 but for some bytes, the first in line {misfit.line}; they were read "
        "as Windows-1252."
    )
    return replace(text, errors=_STRAY, notes=(*text.notes, note))


def _by_letters(path: Path, sample: bytes) -> TextFile:
    guesses = guess_encodings(sample)
    if guesses and guesses[0].score >= LEAST_SCORE:
        near = [g.encoding for g in guesses if g.score >= NEAR * guesses[0].score]
        encoding = next((name for name in near if scan(path, name).misfit is None), near[0])
        how = "by its letters"
    else:
        encoding, how = _detected(sample)
    notes = [f"{_read_as(encoding)[:-1]}, {how}. Set --encoding if letters look wrong."]
    misfit = scan(path, encoding).misfit
    if misfit is not None:
        notes.append(
            f"Some bytes are not in {encoding}, the first in line {misfit.line}; \ufffd stands for "
            "them."
        )
    return TextFile(path, encoding, errors="replace" if misfit else "strict", notes=tuple(notes))


def _detected(sample: bytes) -> tuple[str, str]:
    """An encoding for letters of no language in the list, and how it was found."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return "cp1252", 'which is a guess; pip install "nldd[survey]" for a better one'
    best = from_bytes(sample).best()
    return (best.encoding if best else "cp1252"), "which is a guess"
