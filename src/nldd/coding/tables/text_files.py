"""Bytes of text files: what is no text by its first bytes, and how text is encoded."""

import codecs
import re
import zipfile
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from nldd._wording import quote
from nldd.exceptions import InputError

HEAD_BYTES, SAMPLE_BYTES = 2**16, 2**14
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_EXPORT = "export the answers as CSV or .xlsx from the program that wrote the file"
_COPY = "copy the table into a spreadsheet and save that as .xlsx or .csv"
# First bytes, what they belong to, what to do.
_OUT = "new.review.db -o coded.csv, for a table"
_KINDS = (
    (OLE, "an old Excel file (.xls) or one with a password", "rename it so that it ends in .xls"),
    (b"PAR1\x15", "a Parquet file", "rename it so that it ends in .parquet"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"%PDF-", "a PDF file", _EXPORT),
    (b"$FL", "an SPSS file", "rename it so that it ends in .sav"),
    (b"<stata_dta>", "a Stata file", "rename it so that it ends in .dta"),
    (b"{\\rtf", "an RTF document", _COPY),
    (b"\x89PNG\r\n", "a picture", _EXPORT),
    (b"SQLite format 3", "a database, such as a review of nldd", f"nldd review export {_OUT}"),
    (b"\xff\xd8\xff", "a picture", _EXPORT),
)
# Members of zip archives, what they belong to, what to do.
_ARCHIVES = (
    ("xl/workbook.xml", "an Excel workbook", "rename it so that it ends in .xlsx"),
    ("xl/workbook.bin", "a binary Excel workbook", "rename it so that it ends in .xlsb"),
    ("word/document.xml", "a Word document", _COPY),
    ("ppt/presentation.xml", "a PowerPoint presentation", _COPY),
    ("Index/Document.iwa", "a file of Numbers or Pages", "export it as .xlsx or .csv"),
    ("content.xml", "an OpenDocument file", "if it is a spreadsheet, let its name end in .ods"),
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml)[\s>]", re.I)

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
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
# The detector takes words that come again and again for text of these.
_BEFORE_WINDOWS = ("cp850", "mac_roman")
_WESTERN = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))
_STRAY = "nldd-stray-cp1252"
_READ_AS = "The file is not in UTF-8; it was read as"


def refuse_foreign(path: Path, head: bytes) -> None:
    """Raise an error that names the kind of a file that is none of text."""
    kinds = [kind for magic, *kind in _KINDS if head.startswith(magic)]
    if _MARKUP.match(head):
        kinds = [["a web page or an XML file", "open it in a spreadsheet and save it as .xlsx"]]
    elif head.startswith(ZIP):
        kinds = [_kind_of_archive(path)]
    for what, hint in kinds:
        raise InputError(f"{path} is no table of text; it seems to be {what}.", hint=hint)


def _kind_of_archive(path: Path) -> list[str]:
    """What a zip archive is by the names of its members, and what to do."""
    try:
        with zipfile.ZipFile(path) as archive:
            first, *others = archive.namelist() or [""]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ["a damaged zip archive or workbook", "copy it again from where it came"]
    if first == "manifest.json" and "document.json" in others:
        return ["a model of nldd", "name a table in its place, such as a CSV or XLSX file"]
    kinds = (kind for member, *kind in _ARCHIVES if member in (first, *others))
    return next(kinds, ["a zip archive", "unpack it first"])


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
    if mark or sum(map(len, _UTF8.findall(sample))) >= 0.9 * sum(byte > 0x7F for byte in sample):
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
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=_ENCODINGS))
    if not matches:
        return "cp1252"
    best = matches[0]
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), best)
    is_as_good = western.chaos <= best.chaos and western.coherence >= best.coherence
    if is_as_good and not _NOT_WESTERN.match(western.language):
        return "cp1252" if "cp1252" in western.could_be_from_charset else western.encoding
    return "cp1252" if best.encoding in _BEFORE_WINDOWS and _is_western(sample) else best.encoding


def _is_western(sample: bytes) -> bool:
    """Whether words read as cp1252 have letters that Western words have, and not too many of them.

    Those of the code pages before Windows would have quotation marks and capitals within them.
    """
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    inside = re.findall(r"(?<=\w)[^\x00-\x7f]|[^\x00-\x7f](?=\w)", text)
    n_usual = len(_WESTERN.findall("".join(inside)))
    letters = re.findall(r"[^\W\d_]", text)
    n_beyond = sum(letter > "\x7f" for letter in letters)
    return 0 < 0.95 * len(inside) <= n_usual and n_beyond <= 0.4 * len(letters)
