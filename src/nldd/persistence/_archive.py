"""Model files: a zip of one JSON document, the bytes of all arrays, and a skops file if need be.

::

    manifest.json        what the file is, versions, size and sha256 of every other member
    document.json        documents, and models of nldd as records, see nldd.persistence._records
    content.bin          the bytes of all arrays, one behind the other
    estimators.skops     estimators of other libraries, read only if the user names their types

Nothing is compressed, so no member takes more memory than the file has bytes, and nothing is
unpacked to disk. A file is read in this order, and refused at the first thing that is not right:
its directory, its manifest, then each member: size and checksum first, content last.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from numpy.typing import NDArray

from nldd import __version__
from nldd._files import open_replacement
from nldd._versions import library_versions
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.persistence._records import TYPE_NAME, RecordReader, RecordWriter, dump_skops, load_skops
from nldd.persistence._refusal import (
    FETCH_AGAIN,
    MODEL_FIRST,
    Refusal,
    damaged,
    in_one_line,
    naming_file,
    quote,
)
from nldd.persistence._rules import Misfit, array_claim

FORMAT = 3
MANIFEST, DOCUMENT, CONTENT, SKOPS = MEMBERS = (
    *("manifest.json", "document.json", "content.bin", "estimators.skops"),
)
MAX_BYTES = 4 * 2**30
# Of the directory of a zip file, which holds four members here and a thousand in a workbook.
MAX_DIRECTORY = 2**20
MAX_TYPES = 1000
MAX_JSON = 2**27
CHUNK = 2**22  # bytes read at a time
# Empty lists and dicts take twenty times the memory of their text; so many are always allowed, and
# one more for each so many bytes.
FREE_CONTAINERS = 250_000
BYTES_PER_CONTAINER = 16
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
    "": "a zip file of another kind",
}


@dataclass(frozen=True, eq=False)
class Contents:
    """What a model file holds, before it is written and after it is read.

    Attributes
    ----------
    kind : str
        What the file is, such as ``"nldd-model"`` or ``"coding-model"``.
    documents : mapping of name to JSON value
    arrays : mapping of name to ndarray of numbers or booleans
    models : mapping of name to a fitted model of nldd
    """

    kind: str
    documents: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)


def write_archive(
    path: str | os.PathLike[str], contents: Contents, *, loader: str = "load_model"
) -> None:
    """Write a model file, as a whole or not at all; equal contents give equal files.

    Parameters
    ----------
    path : path of the file
    contents : Contents
    loader : str, default="load_model"
        The function that reads such files, for the warning.

    Warns
    -----
    NLDDWarning
        Where an estimator is of a type that has to be named to be read.
    """
    writer = RecordWriter()
    with naming_file(path, "written"):
        models = {name: writer.write(model) for name, model in sorted(contents.models.items())}
        arrays = {name: writer.write(array) for name, array in sorted(contents.arrays.items())}
        documents = dict(sorted(contents.documents.items()))
        document = _json_bytes({"documents": documents, "models": models, "arrays": arrays})
        members = {DOCUMENT: [document], CONTENT: writer.content}
        types, skops = dump_skops(writer.foreign) if writer.foreign else ([], b"")
        members |= {SKOPS: [skops]} if types else {}
        # What could not be read again is not written.
        _unpack(contents.kind, document, bytearray().join(writer.content), writer.foreign)
        manifest = {
            "format": FORMAT,
            "kind": contents.kind,
            "versions": {**library_versions(), "skops": version("skops")},
            "types": types,
            "members": {name: _record(pieces) for name, pieces in members.items()},
        }
        with open_replacement(Path(path)) as stream:
            _write_zip(stream, {MANIFEST: [_json_bytes(manifest)], **members})
    if types:
        warn_caller(
            f"{path} holds estimators of other libraries. Whoever loads it has to name their "
            f"types: {_call(loader, path, types)}",
            NLDDWarning,
        )


def read_archive(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    trusted: Collection[str] = (),
    max_bytes: int = MAX_BYTES,
    loader: str = "load_model",
) -> Contents:
    """Read a model file that may have come from anybody.

    Parameters
    ----------
    path : path of the file
    kind : str, default=None
        The kind that is needed; None takes any.
    trusted : list of str, default=()
        Names of types of other libraries, such as ``"mymodule.MyClassifier"``, that estimators may
        be of. skops reads these, and their code is imported and run.
    max_bytes : int, default=4 GiB
        Larger files are refused.
    loader : str, default="load_model"
        The function that reads such files, for the message about types that must be named.

    Raises
    ------
    InputError
        Where the file is damaged, is no model file, or holds a type that is not named. Where
        estimators were saved with another version of scikit-learn there is an NLDDWarning.
    """
    is_list = isinstance(trusted, list | tuple | set | frozenset)
    if not is_list or not all(isinstance(n, str) and TYPE_NAME.fullmatch(n) for n in trusted):
        raise InputError(
            f"trusted must be a list of names of types; got {trusted!r:.200}.",
            hint='trusted=["sklearn.ensemble._forest.RandomForestClassifier"], for instance.',
        )
    with _opened(path, kind, max_bytes) as file:
        types = file.manifest["types"]
        if not {*types} <= {*trusted}:
            raise Refusal(
                "it holds estimators of other libraries, which are read only if you name their "
                f"types: {_call(loader, path, types)}",
                "Do that, in Python, only if you know who made the file: it may run their code.",
            )
        foreign = load_skops(file.read(SKOPS), types) if types else []
        contents = _unpack(file.manifest["kind"], file.read(DOCUMENT), file.read(CONTENT), foreign)
    saved, here = file.manifest["versions"].get("scikit-learn", "?"), version("scikit-learn")
    if types and saved.split(".")[:2] != here.split(".")[:2]:
        warn_caller(
            f"{path}: its estimators were saved with scikit-learn {saved} and are loaded with "
            f"{here}, which may predict otherwise. Install scikit-learn {saved}, or fit again.",
            NLDDWarning,
        )
    return contents


def read_documents(path: str | os.PathLike[str], *, kind: str | None = None) -> dict[str, Any]:
    """The documents of a model file alone, for a quick look; checked as by `read_archive`."""
    with _opened(path, kind) as file:
        return _read_document(file.read(DOCUMENT))["documents"]


def read_manifest(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What a model file is: its format, kind, versions of libraries, types to name, members.

    Members are found to fit in names and sizes; their checksums are compared where they are read.
    """
    with _opened(path) as file:
        return file.manifest


def _unpack(
    kind: str, document: bytes | bytearray, content: bytearray, foreign: Sequence[Any]
) -> Contents:
    parts, reader = _read_document(document), RecordReader(content, foreign)
    try:
        models = {n: reader.build(record, (), {}) for n, record in parts["models"].items()}
        arrays = {n: reader.array(*array_claim(claim)) for n, claim in parts["arrays"].items()}
    except Misfit as misfit:
        raise damaged(f"a part of it {misfit}") from misfit
    reader.check_all_is_read()
    return Contents(kind, parts["documents"], arrays, models)


def _read_document(content: bytes | bytearray) -> dict[str, Any]:
    document = _read_json(content, DOCUMENT)
    match document:
        case {"documents": dict(), "models": dict(), "arrays": dict(), **rest} if not rest:
            return dict(document)
    raise damaged("its document is incomplete")


class _File:
    """A zip file whose manifest was found to fit the members that are there."""

    def __init__(self, stream: BinaryIO) -> None:
        self._zip = _open_zip(stream)
        sizes = {entry.filename: entry.file_size for entry in self._zip.infolist()}
        self.manifest = _check_manifest(_read_json(self._bytes(MANIFEST), MANIFEST), sizes)

    def read(self, name: str) -> bytearray:
        """The bytes of a member, with their checksum found right."""
        content = self._bytes(name)
        if sha256(content).hexdigest() != self.manifest["members"].get(name, {}).get("sha256"):
            raise damaged(f"member {name!r} does not match its checksum")
        return content

    def _bytes(self, name: str) -> bytearray:
        content = bytearray()
        try:
            with self._zip.open(name) as member:
                while part := member.read(CHUNK):
                    content += part
        except (KeyError, BadZipFile) as error:
            raise damaged(f"member {name!r} is missing, or is not as it was written") from error
        return content


@contextmanager
def _opened(
    path: str | os.PathLike[str], kind: str | None = None, max_bytes: int = MAX_BYTES
) -> Iterator[_File]:
    """A file found to be an archive of the kind; refusals within the block name the file."""
    with naming_file(path):
        # Opening a pipe would wait for somebody to write into it.
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refusal("is not a file", "Name a model file, such as model.nldd.")
        try:
            with open(path, "rb") as stream:
                _check_start(stream, max_bytes)
                file = _File(stream)
                if kind not in (None, file.manifest["kind"]):
                    raise Refusal(
                        f"holds a model of kind {quote(file.manifest['kind'])}; {kind!r} is needed",
                        f"Name a file that holds a model of kind {kind!r}.",
                    )
                yield file
        except (Refusal, InputError, OSError):
            raise
        except MemoryError as error:
            raise Refusal("takes more memory than there is", "Free some memory.") from error
        except Exception as error:
            raise damaged(f"it cannot be read ({in_one_line(error)})") from error


def _check_start(stream: BinaryIO, max_bytes: int) -> None:
    """Name what is often taken for a model file and is none."""
    n_bytes = os.fstat(stream.fileno()).st_size
    if n_bytes > max_bytes:
        raise Refusal(
            f"has {n_bytes} bytes; at most {max_bytes} are read", "Set max_bytes to allow more."
        )
    start = stream.read(8)
    stream.seek(max(n_bytes - 1, 0))
    if start.startswith(START):
        return
    if not start:
        raise Refusal("is empty", FETCH_AGAIN)
    # Protocols from 2 on begin with 0x80 and the protocol; older ones are text that ends in a dot.
    is_pickle = start[0] == 0x80 and len(start) > 1 and start[1] < 16
    if is_pickle or (start[:1] in b"(]}c" and stream.read(1) == b"."):
        raise Refusal(
            "is a pickle, which can run any program when it is loaded; nldd never loads one",
            "Have the model saved by nldd.save_model.",
        )
    begins = quote(start.decode("latin-1"))
    raise Refusal(f"not a model of nldd: it begins with {begins}", MODEL_FIRST)


class _Bounded:
    """A stream that refuses to read very much at once: :mod:`zipfile` reads any directory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, n_bytes: int = -1) -> bytes:
        if n_bytes > MAX_DIRECTORY:
            raise damaged(f"its directory has {n_bytes} bytes")
        return self._stream.read(n_bytes)


def _open_zip(stream: BinaryIO) -> ZipFile:
    """A zip file of the members of a model, stored as they are, so that nothing can inflate."""
    n_bytes = stream.seek(0, 2)
    stream.seek(max(n_bytes - END_SIZE, 0))
    end = stream.read(END_SIZE)
    if not end.startswith(END) or end[-2:] != b"\0\0":
        raise damaged("its end is missing")
    bounded: Any = _Bounded(stream)
    archive = ZipFile(bounded)
    archive.fp = stream  # the directory is read, and members may be of any size
    entries = archive.infolist()
    names = [entry.orig_filename for entry in entries]
    if MANIFEST not in names:
        found = (what for start, what in FOREIGN.items() if any(n.startswith(start) for n in names))
        what = next(found, FOREIGN[""])
        raise Refusal(f"not a model of nldd: it is {what}", MODEL_FIRST)
    for entry in entries:
        name = quote(entry.orig_filename)
        if entry.orig_filename not in MEMBERS or names.count(entry.orig_filename) > 1:
            raise Refusal(f"stray member {name}: nldd writes no such file")
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            raise Refusal(f"member {name} is compressed; nldd stores members as they are")
    if sum(entry.file_size for entry in entries) > n_bytes:
        raise damaged("its members overlap or reach beyond its end")
    return archive


def _check_manifest(manifest: Any, sizes: Mapping[str, int]) -> Mapping[str, Any]:
    """The manifest of a file, found to fit the members that are there."""
    match manifest:
        case {"format": int(number), "kind": str(), "versions": dict(versions), "members": dict()}:
            written = quote(str(versions.get("nldd", "unknown")))
        case _:
            raise damaged("its manifest is incomplete")
    if number > FORMAT:
        raise Refusal(
            f"a newer nldd wrote it, {written} (format {number}; this one, {__version__}, reads "
            f"format {FORMAT})",
            "pip install --upgrade nldd",
        )
    if number < FORMAT:
        raise Refusal(
            f"an older version of nldd wrote it, {written}, in a format that is no longer read",
            "Fit the model again, and save it.",
        )
    types, members = manifest.get("types"), manifest["members"]
    is_right = (
        all(isinstance(text, str) for text in versions.values())
        and isinstance(types, list)
        and len(types) <= MAX_TYPES
        and all(isinstance(name, str) and TYPE_NAME.fullmatch(name) for name in types)
        and all(isinstance(record, dict) for record in members.values())
        and {name: record.get("size") for name, record in members.items()}
        == {name: size for name, size in sizes.items() if name != MANIFEST}
    )
    if not is_right:
        raise damaged("its members are not those of its manifest")
    return dict(manifest)


def _write_zip(stream: BinaryIO, members: Mapping[str, Sequence[Any]]) -> None:
    """Write members, each of them given in pieces; equal members give equal files."""
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for name, pieces in members.items():
            entry = ZipInfo(name, EPOCH)
            entry.create_system = 3  # also on Windows, so that files are the same everywhere
            entry.external_attr = 0o100644 << 16
            entry.file_size = sum(memoryview(piece).nbytes for piece in pieces)
            with archive.open(entry, "w") as member:
                for piece in pieces:
                    member.write(piece)


def _record(pieces: Sequence[Any]) -> dict[str, Any]:
    digest, sizes = sha256(), [memoryview(piece).nbytes for piece in pieces]
    for piece in pieces:
        digest.update(piece)
    return {"size": sum(sizes), "sha256": digest.hexdigest()}


def _call(loader: str, path: str | os.PathLike[str], types: Sequence[str]) -> str:
    """The call that reads a file with such types, ready to paste."""
    return f"{loader}({json.dumps(str(path))}, trusted={json.dumps(types)})"


def _json_bytes(value: Any) -> bytes:
    """`value` as JSON, always the same bytes for the same value; NaN and infinity are allowed."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Halves of surrogate pairs occur in texts of broken origin; json reads them back.
    return text.encode("utf-8", "surrogatepass")


def _read_json(content: bytes | bytearray, name: str) -> Any:
    """The value of a JSON member; its size and number of lists and dicts are limited."""
    n_containers, most = content.count(b"[") + content.count(b"{"), FREE_CONTAINERS
    if len(content) > MAX_JSON or n_containers > most + len(content) // BYTES_PER_CONTAINER:
        size = f"{len(content)} bytes and {n_containers} lists and dicts"
        raise Refusal(f"member {name!r} has {size}, too many")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(f"member {name!r} is no JSON, or nested too deeply") from error
