"""Model files: a zip of one JSON document, the bytes of all arrays, and a skops file if need be.

::

    manifest.json        what the file is, versions, size and sha256 of every other member
    document.json        documents, and models of nldd as records, see _records
    content.bin          the bytes of all arrays, one behind the other
    estimators.skops     estimators of other libraries, read only if the user names their types

Nothing is compressed, so no member takes more memory than the file has bytes, and nothing is
unpacked to disk. A file is read in this order, and refused at the first thing that is not right:
its directory, its manifest, then each member: size and checksum first, content last.
"""

import json
import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from numpy.typing import NDArray

from nldd import __version__
from nldd._files import open_replacement
from nldd._package import library_versions
from nldd._wording import printable, quote
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.persistence._records import RecordReader, RecordWriter

FORMAT = 3
MANIFEST, DOCUMENT, CONTENT, SKOPS = MEMBERS = (
    *("manifest.json", "document.json", "content.bin", "estimators.skops"),
)
MAX_TYPES = 1000
MAX_JSON = 2**27
# Empty lists and dicts take twenty times the memory of their text; so many are always allowed, and
# one more for each so many bytes.
FREE_CONTAINERS = 250_000
BYTES_PER_CONTAINER = 16
TYPE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
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
    with naming_file(path, "written"):
        types, members = _pack(contents)
        manifest = {
            "format": FORMAT,
            "kind": contents.kind,
            "versions": {**library_versions(), "skops": version("skops")},
            "types": types,
            "members": {
                name: {"size": len(content), "sha256": sha256(content).hexdigest()}
                for name, content in members.items()
            },
        }
        write_zip(Path(path), {MANIFEST: _json_bytes(manifest), **members})
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
    with open_zip(path, max_bytes) as archive:
        manifest = _read_manifest(archive, kind)
        types, read = manifest["types"], partial(_read_checked, archive, manifest)
        if not {*types} <= {*trusted}:
            raise InputError(
                "it holds estimators of other libraries, which are read only if you name their "
                f"types: {_call(loader, path, types)}",
                hint="Do so, in Python, only if you know who made the file: it may run their code.",
            )
        foreign = load_skops(read(SKOPS), types) if types else []
        contents = _unpack(manifest["kind"], read(DOCUMENT), read(CONTENT), foreign)
    saved, here = manifest["versions"].get("scikit-learn", "?"), version("scikit-learn")
    if types and saved.split(".")[:2] != here.split(".")[:2]:
        warn_caller(
            f"{path}: its estimators were saved with scikit-learn {saved} and are loaded with "
            f"{here}, which may predict otherwise. Install scikit-learn {saved}, or fit again.",
            NLDDWarning,
        )
    return contents


def read_documents(path: str | os.PathLike[str], *, kind: str | None = None) -> dict[str, Any]:
    """The documents of a model file alone, for a quick look; checked as by `read_archive`."""
    with open_zip(path) as archive:
        content = _read_checked(archive, _read_manifest(archive, kind), DOCUMENT)
        return dict(_read_json(content, DOCUMENT)["documents"])


def read_manifest(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What a model file is: its format, kind, versions of libraries, types to name, members.

    Members are found to fit in names and sizes; their checksums are compared where they are read.
    """
    with open_zip(path) as archive:
        return _read_manifest(archive)


def _pack(contents: Contents) -> tuple[list[str], dict[str, Bytes]]:
    """The types to name and the members of a file, found to be such as can be read again."""
    writer = RecordWriter()
    models = {name: writer.write(model) for name, model in sorted(contents.models.items())}
    arrays = {name: writer.write(array) for name, array in sorted(contents.arrays.items())}
    documents = dict(sorted(contents.documents.items()))
    document = _json_bytes({"documents": documents, "models": models, "arrays": arrays})
    members: dict[str, Bytes] = {DOCUMENT: document, CONTENT: writer.content}
    types, skops = dump_skops(writer.foreign) if writer.foreign else ([], b"")
    _unpack(contents.kind, members[DOCUMENT], members[CONTENT], writer.foreign)
    return types, {**members, SKOPS: skops} if types else members


def _unpack(kind: str, document: Bytes, content: Bytes, foreign: Sequence[Any]) -> Contents:
    parts, reader = _read_json(document, DOCUMENT), RecordReader(content, foreign)
    try:
        models = {name: reader.build(record) for name, record in parts["models"].items()}
        arrays = {name: reader.array(claim) for name, claim in parts["arrays"].items()}
        reader.check_all_is_read()
        return Contents(kind, dict(parts["documents"]), arrays, models)
    except Exception as error:  # what a hostile parameter leads to can be many things
        raise refusal_of(error, reader.place) from error


def _read_checked(archive: ZipFile, manifest: Mapping[str, Any], name: str) -> bytes:
    """The bytes of a member, with their checksum found right."""
    content = read_member(archive, name)
    if sha256(content).hexdigest() != manifest["members"][name]["sha256"]:
        raise damaged(f"member {name!r} does not match its checksum")
    return content


def _read_manifest(archive: ZipFile, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a file, found to fit the members that are there, and the kind."""
    manifest = _read_json(read_member(archive, MANIFEST), MANIFEST)
    number, written = manifest["format"], quote(manifest["versions"].get("nldd", "?"))
    if number != FORMAT:
        age, hint = "an older", "Fit the model again, and save it."
        if number > FORMAT:
            age, hint = "a newer", "pip install --upgrade nldd"
        message = f"{age} nldd wrote it, {written}; {__version__} reads format {FORMAT}"
        raise InputError(message, hint=hint)
    types, sizes = manifest["types"], {e.filename: e.file_size for e in archive.infolist()}
    claimed = {name: record["size"] for name, record in manifest["members"].items()}
    is_text = {type(text) for text in (manifest["kind"], *manifest["versions"].values())} == {str}
    are_names = len(types) <= MAX_TYPES and all(map(TYPE_NAME.fullmatch, types))
    if not is_text or not are_names or sizes != {MANIFEST: sizes[MANIFEST], **claimed}:
        raise damaged("its manifest is not that of its members")
    if kind not in (None, manifest["kind"]):
        message = f"holds a model of kind {quote(manifest['kind'])}; {kind!r} is needed"
        raise InputError(message, hint=f"Name a file that holds a model of kind {kind!r}.")
    return dict(manifest)


def _call(loader: str, path: str | os.PathLike[str], types: Sequence[str]) -> str:
    """The call that reads a file with such types, ready to paste."""
    return f"{loader}({json.dumps(str(path))}, trusted={json.dumps(types)})"


def _json_bytes(value: Any) -> bytes:
    """`value` as JSON, always the same bytes for the same value; NaN and infinity are allowed."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Halves of surrogate pairs occur in texts of broken origin; json reads them back.
    return text.encode("utf-8", "surrogatepass")


def _read_json(content: Bytes, name: str) -> Any:
    """The value of a JSON member; its size and number of lists and dicts are limited."""
    n_containers, most = content.count(b"[") + content.count(b"{"), FREE_CONTAINERS
    if len(content) > MAX_JSON or n_containers > most + len(content) // BYTES_PER_CONTAINER:
        size = f"{len(content)} bytes and {n_containers} lists and dicts"
        raise damaged(f"member {name!r} has {size}, too many")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(f"member {name!r} is no JSON, or nested too deeply") from error


def _type_names(things: Sequence[Any]) -> set[str]:
    return {f"{type(each).__module__}.{type(each).__qualname__}" for each in things}


def dump_skops(estimators: Sequence[Any]) -> tuple[list[str], bytes]:
    """The types that must be named to read estimators, and their skops file."""
    from skops import io as skops_io

    try:
        content: bytes = skops_io.dumps(list(estimators), compression=ZIP_DEFLATED)
        types = _type_names(estimators).union(skops_io.get_untrusted_types(data=content))
    except InputError:  # rows on a cluster, which are sent nowhere
        raise
    except Exception as error:  # whatever an estimator of a third party does when looked into
        raise InputError(
            f"an estimator in it cannot be stored: {in_one_line(error)}",
            hint="Use estimators of scikit-learn or nldd, without functions of your own.",
        ) from error
    return sorted(types), content


def load_skops(content: bytes, types: Sequence[str]) -> list[Any]:
    """The estimators of a skops file, whose types the user has named."""
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    with warnings.catch_warnings():
        # The manifest knows the version too, and one warning is enough.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        found = skops_io.loads(content, trusted=list(types))
    if not isinstance(found, list) or not _type_names(found) <= {*types}:
        raise damaged("its estimators are of other types than it says")
    return found


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
def naming_file(path: str | os.PathLike[str], doing: str = "read") -> Iterator[None]:
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
def open_zip(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator[ZipFile]:
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
                    _check_directory(archive, n_bytes)
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


def _check_directory(archive: ZipFile, n_bytes: int) -> None:
    """Refuse other members than those of a model, and such as are not stored as they are."""
    entries = archive.infolist()
    names = [entry.orig_filename for entry in entries]
    if MANIFEST not in names:
        found = (what for start, what in FOREIGN.items() if any(n.startswith(start) for n in names))
        what = next(found, "a zip file of another kind")
        raise InputError(f"not a model of nldd: it is {what}", hint=MODEL_FIRST)
    for entry, name in zip(entries, names, strict=True):
        if name not in MEMBERS or names.count(name) > 1:
            raise damaged(f"stray member {quote(name)}")
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            raise damaged(f"member {name!r} is compressed")
    if sum(entry.file_size for entry in entries) > n_bytes:
        raise damaged("its members overlap or reach beyond its end")
