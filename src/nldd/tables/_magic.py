"""What a file is by its first bytes, where that is not the text that it should be."""

import re
import stat
import zipfile
from pathlib import Path

from nldd.exceptions import InputError

HEAD_BYTES = 2**16
ZIP, OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_EXPORT = "export the answers as CSV or .xlsx from the program that wrote the file"
_UNPACK = "unpack it first"
_COPY = "copy the table into a spreadsheet and save that as .xlsx or .csv"
# First bytes, what they belong to, what to do.
_KINDS = (
    (ZIP, "a zip archive", _UNPACK),
    (b"PK\x05\x06", "an empty zip archive", _UNPACK),
    (
        OLD_OFFICE,
        "an old Excel file (.xls) or one with a password",
        "open it in a spreadsheet, take off the password and save it as .xlsx",
    ),
    (b"PAR1\x15", "a Parquet file", "rename it so that it ends in .parquet"),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh91AY&SY", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"%PDF-", "a PDF file", _EXPORT),
    (b"$FL2@(#)", "an SPSS file", _EXPORT),
    (b"$FL3@(#)", "an SPSS file", _EXPORT),
    (b"<stata_dta>", "a Stata file", _EXPORT),
    (b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (b"{\\rtf", "an RTF document", _EXPORT),
    (b"\x89PNG\r\n", "a picture", _EXPORT),
    (b"\xff\xd8\xff", "a picture", _EXPORT),
    (b"GIF89a", "a picture", _EXPORT),
    (b"\x7fELF", "a program", _EXPORT),
)
# Members of zip archives, what they belong to, what to do.
_ARCHIVES = (
    ("xl/workbook.xml", "an Excel workbook", "rename it so that it ends in .xlsx"),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)", "save it as .xlsx"),
    ("word/document.xml", "a Word document", _COPY),
    ("ppt/presentation.xml", "a PowerPoint presentation", _COPY),
    ("Index/Document.iwa", "a file of Numbers or Pages", "export it as .xlsx or .csv"),
    ("content.xml", "an OpenDocument file", "save it as .xlsx or .csv"),
)
_MODEL_FOLDERS = ("documents/", "arrays/", "estimators/")
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml)[\s>]", re.I)


def first_bytes(path: Path) -> bytes:
    """The beginning of a file that can be read, or an error that says why it cannot."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path} is a folder.", hint="name a file in it")
        if not stat.S_ISREG(mode):
            # A stream is gone after its first reading, and the answers are read twice.
            raise InputError(f"{path} is not a regular file.", hint="save its content to a file")
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"{path} does not exist.", hint=f"check the name and the folder {path.parent}"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}.", hint="check who may read it") from (
            error
        )
    if not head:
        raise InputError(f"{path} is empty.", hint="begin the file with a line of column names")
    return head


def refuse_foreign(path: Path, head: bytes) -> None:
    """Raise an error that names the kind of a file that is none of text."""
    if _MARKUP.match(head):
        raise InputError(
            f"{path} is no table of text; it seems to be a web page or an XML file.",
            hint="open it in a spreadsheet and save it as .xlsx",
        )
    for magic, what, hint in _KINDS:
        if head.startswith(magic):
            if magic == ZIP:
                what, hint = _in_zip(path)
            raise InputError(f"{path} is no table of text; it seems to be {what}.", hint=hint)


def _in_zip(path: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return _kind_of_archive(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged zip archive or workbook", "copy it again from where it came"


def _kind_of_archive(names: list[str]) -> tuple[str, str]:
    """What a zip archive is by the names of its members, and what to do."""
    first, *others = names or [""]
    if first == "manifest.json" and all(name.startswith(_MODEL_FOLDERS) for name in others):
        return "a model of nldd", "name a table in its place, such as a CSV or XLSX file"
    for member, what, hint in _ARCHIVES:
        if member in names:
            return what, hint
    return "a zip archive", _UNPACK


def refuse_binary(path: Path) -> None:
    """Raise the error for bytes that are no text in any encoding."""
    raise InputError(
        f"{path} is no table of text; it holds bytes that no text has.",
        hint="name a CSV, TSV, XLSX, JSONL or Parquet file",
    )
