"""Bytes of text files: what is no text by its first bytes, and how text is encoded."""

import codecs
import re
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from nldd._wording import quote
from nldd.exceptions import InputError

HEAD_BYTES, SAMPLE_BYTES = 2**16, 2**14
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# First bytes of files, in small letters; what they belong to; what to do.
_FOREIGN = (
    (ZIP, "a zip archive: a workbook, a document or a model of nldd", "rename a workbook to .xlsx"),
    (OLE, "an old Excel file (.xls) or one with a password", "rename it so that it ends in .xls"),
    (b"par1\x15", "a Parquet file", "rename it so that it ends in .parquet"),
    (b"$fl2@", "an SPSS file", "rename it so that it ends in .sav"),
    (b"<stata_dta>", "a Stata file", "rename it so that it ends in .dta"),
    (b"<!doctype", "a web page", "open it in a spreadsheet and save it as .xlsx"),
    (b"<html", "a web page", "open it in a spreadsheet and save it as .xlsx"),
    (b"<table", "a web page", "open it in a spreadsheet and save it as .xlsx"),
    (b"<?xml", "an XML file", "open it in a spreadsheet and save it as .xlsx"),
    (b"sqlite format 3", "a database, such as a review of nldd", "nldd review export, for a table"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"%pdf-", "a PDF file", "export the answers as CSV or .xlsx"),
    (b"{\\rtf", "an RTF document", "copy the table into a spreadsheet and save that as .xlsx"),
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What spreadsheets and survey programs write. Left to itself the detector also weighs encodings
# that nobody has used for a table, and prefers them to the right one for short answers.
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874"),
    *("iso8859_2", "koi8_r", "cp866", "mac_roman", "cp850"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "cp949"),
]
# Only these tell cp1250 and cp1254 from cp1252 where all of them make words.
_NOT_WESTERN = re.compile("Croat|Czech|Hungar|Polish|Roman|Slova|Slove|Turk")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))
_STRAY = "nldd-stray-cp1252"
_READ_AS = "The file is not in UTF-8; it was read as"


def refuse_foreign(path: Path, content: bytes) -> None:
    """Raise an error that names the kind of a file that is none of text."""
    head = content[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for magic, what, hint in _FOREIGN:
        if head.startswith(magic.lower()):
            raise InputError(f"{path} is no table of text; it seems to be {what}.", hint=hint)


@dataclass(frozen=True)
class EncodedText:
    """Bytes of a file of text, the encoding of what comes after their mark, and what to tell."""

    path: Path
    content: bytes
    encoding: str
    mark: bytes = b""
    errors: str = "strict"
    notes: tuple[str, ...] = ()

    def lines(self) -> TextIOWrapper:
        """The lines with their ends as they are in the file."""
        stream = BytesIO(self.content)
        stream.seek(len(self.mark))
        return TextIOWrapper(stream, encoding=self.encoding, errors=self.errors, newline="")

    def line_of_misfit(self) -> int | None:
        """The first line with bytes that are not in the encoding."""
        try:
            self.content[len(self.mark) :].decode(self.encoding)
        except UnicodeDecodeError as error:
            return 1 + error.object[: error.start].decode(self.encoding, "replace").count("\n")
        return None

    def refuse_misfits(self, encoding: str) -> "EncodedText":
        """The same, if all of it is in the encoding, which has a name that a person knows."""
        if line := self.line_of_misfit():
            message = f"some bytes are not in the encoding {quote(encoding)}."
            hint = "leave out --encoding to have it detected, or name the right one"
            raise InputError(f"{self.path}, line {line}: {message}", hint=hint)
        return self


def find_encoding(path: Path, content: bytes, encoding: str | None = None) -> EncodedText:
    """Find out how a text is encoded, by its mark and then by all of its bytes."""
    mark, marked = next(((m, name) for m, name in _MARKS if content.startswith(m)), (b"", ""))
    if encoding is not None:
        return _in_named_encoding(path, content, encoding, mark, marked)
    head = content[:HEAD_BYTES]
    wide = _utf16_without_mark(head) if not mark else marked if marked != "utf-8" else None
    if wide:
        notes = (f"{_READ_AS} {wide}.",)
        return EncodedText(path, content, wide, mark, notes=notes).refuse_misfits(wide)
    if head.count(0) > len(head) / 10:
        raise _no_text(path)
    text = EncodedText(path, content, "utf-8", mark)
    line = text.line_of_misfit()
    if line is None:
        return text
    sample = _lines_beyond_ascii(content)
    # One wrong byte must not turn all other letters of the file into wrong ones.
    n_wrong = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if mark or n_wrong <= 0.1 * sum(byte > 0x7F for byte in sample):
        codecs.register_error(_STRAY, _as_cp1252)
        note = f"The file is in UTF-8 but for some bytes, the first in line {line}; they were read"
        notes = (f"{note} as Windows-1252.",)
        return EncodedText(path, content, "utf-8", mark, _STRAY, notes)
    if len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        raise _no_text(path)
    guess = _guess_encoding(sample)
    note = f"{_READ_AS} {guess}, which is a guess. Set --encoding if letters look wrong."
    line = EncodedText(path, content, guess).line_of_misfit()
    if line is None:
        return EncodedText(path, content, guess, notes=(note,))
    misfit = f"Some bytes are not in {guess}, the first in line {line}; \ufffd stands for them."
    return EncodedText(path, content, guess, errors="replace", notes=(note, misfit))


def _no_text(path: Path) -> InputError:
    hint = "name a CSV, TSV, XLSX, JSONL or Parquet file"
    return InputError(f"{path} is no table of text; it holds bytes that no text has.", hint=hint)


def _in_named_encoding(
    path: Path, content: bytes, encoding: str, mark: bytes, marked: str
) -> EncodedText:
    try:
        codec = codecs.lookup(encoding)
        TextIOWrapper(BytesIO(), encoding)  # an error, if it does not turn bytes into text
    except (LookupError, ValueError):
        hint = "use a name such as utf-8, cp1252, cp1251, shift_jis or gb18030"
        raise InputError(f"There is no encoding {quote(encoding)}.", hint=hint) from None
    name = marked if codec.name.removesuffix("-sig") in (marked, marked[:6]) else codec.name
    # The mark of UTF-8 is no text in any encoding.
    mark = mark if marked in (name, "utf-8") else b""
    return EncodedText(path, content, name, mark).refuse_misfits(encoding)


def _utf16_without_mark(head: bytes) -> str | None:
    """UTF-16, if the zero bytes stand where its digits and separators have them."""
    if b"\x00" not in head:
        return None
    head = head[: len(head) // 2 * 2]
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding, zeros, others = ("utf-16-le", odd, even) if odd > even else ("utf-16-be", even, odd)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    if zeros < len(head) / 40 or others > zeros / 4 or re.search(r"[\x00-\x08\ufffd-\uffff]", text):
        return None
    return encoding if re.search("[\r\n]", text) else None


def _lines_beyond_ascii(content: bytes) -> bytes:
    """The first lines with letters beyond ASCII, in which the encoding shows."""
    sample = b""
    for line in BytesIO(content):
        sample += b"" if line.isascii() else line
        if len(sample) >= SAMPLE_BYTES:
            break
    return sample[: 4 * SAMPLE_BYTES]


def _as_cp1252(error: Any) -> tuple[str, int]:
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


def _guess_encoding(sample: bytes) -> str:
    """The best guess of the detector, but cp1252 where that is as good."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=_ENCODINGS))
    if not matches:
        return "cp1252"
    best = matches[0]
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), None)
    if western is None or _NOT_WESTERN.match(western.language):
        return best.encoding
    is_as_good = western.chaos <= best.chaos and western.coherence >= best.coherence
    return "cp1252" if is_as_good else best.encoding
