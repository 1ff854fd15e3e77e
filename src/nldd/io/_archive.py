"""Model files: one zip of JSON documents, arrays and estimators, checked before it is used.

::

    manifest.json                what the file is, versions, size and sha256 of every member
    documents/<name>.json
    arrays/<name>.npy            read without pickle
    estimators/<name>.skops      types on a list only, see nldd.io._allowed_types

Nothing is compressed, so no member takes more memory than the file has bytes, and nothing is
unpacked to disk. A file is read in this order, and refused at the first thing that is not right:
its directory, its manifest, then each member: checksum first, claims about sizes next, content
last.
"""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, BinaryIO

from numpy.typing import NDArray

from nldd._files import replacing
from nldd.exceptions import InputError, NLDDWarning
from nldd.io._contents import Contents
from nldd.io._json import MAX_JSON, json_bytes, read_json
from nldd.io._manifest import (
    MANIFEST,
    check_kind,
    compose,
    member_name,
    plain_name,
    read_checked,
    refuse_foreign,
)
from nldd.io._npy import npy_pieces, stream_npy
from nldd.io._refusal import (
    AGAIN,
    MODEL_FIRST,
    Refusal,
    damaged,
    quoted,
    refusals_of,
    told,
    unlike_checksum,
)
from nldd.io._skops import dump_estimators, load_estimators
from nldd.io._stored_zip import CHUNK, Buffers, StoredZip, folder_of, take, write_stored

MAX_BYTES = 4 * 2**30
MAX_MEMBERS = 10_000
ZIP_START = b"PK\x03\x04"


def write_archive(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a model file, as a whole or not at all.

    Equal contents give equal files. So there is no clock in them: ``created`` in the manifest is
    the time that the environment variable ``SOURCE_DATE_EPOCH`` states, or else what
    ``contents.manifest`` has under ``"created"``, or else null.

    Parameters
    ----------
    path : path of the file, which is replaced if it is there
    contents : Contents

    Warns
    -----
    NLDDWarning
        Where an estimator is of a type that can be read with ``trusted=`` only.
    """
    path = Path(path)
    with refusals_of(path):
        members = {name: list(pieces) for name, pieces in _members(contents)}
        records = {name: _record(pieces) for name, pieces in members.items()}
        manifest = compose(contents.kind, contents.manifest.get("created"), records)
        if len(members) >= MAX_MEMBERS:
            raise Refusal(f"{len(members)} members are too many; {MAX_MEMBERS - 1} are the most")
        try:
            with replacing(path) as stream:
                write_stored(stream, {MANIFEST: [manifest], **members})
        except OSError as error:
            reason = error.strerror or error
            raise Refusal(
                f"cannot be written: {reason}", "Check the name, the folder and the free space."
            ) from error


def read_archive(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    trusted: Sequence[str] = (),
    max_bytes: int = MAX_BYTES,
) -> Contents:
    """Read a model file that may have come from anybody.

    Parameters
    ----------
    path : path of the file
    kind : str, default=None
        The kind that is needed; None takes any.
    trusted : sequence of str, default=()
        Types such as ``"mymodule.MyClassifier"`` that estimators may be of, beside those that
        nldd allows. Their code is imported and run.
    max_bytes : int, default=4 GiB
        Larger files are refused, and so are estimators that would take more than that.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        Where the file is damaged, is no model file, or holds a type that is not allowed.

    Warns
    -----
    NLDDWarning
        Where the estimators were saved with another version of scikit-learn.
    """
    if isinstance(trusted, str):
        raise InputError(f"trusted must be a list of types; got the text {trusted!r}.")
    with _opened(path, max_bytes) as (archive, manifest):
        if kind is not None:
            check_kind(manifest, (kind,))
        contents = Contents(
            manifest["kind"],
            _documents(archive, manifest),
            _arrays(archive, manifest),
            _estimators(archive, manifest, trusted, max_bytes),
            {**manifest, "path": str(path)},
        )
    if contents.estimators:
        _warn_of_other_version(path, manifest["versions"])
    return contents


def read_documents(path: str | os.PathLike[str], *, kind: str | None = None) -> dict[str, Any]:
    """The documents of a model file alone, for a quick look; checked as by `read_archive`."""
    with _opened(path, MAX_BYTES) as (archive, manifest):
        if kind is not None:
            check_kind(manifest, (kind,))
        return _documents(archive, manifest)


def read_manifest(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What a model file is, without reading its members.

    The manifest is found to fit the names and sizes of the members; their checksums are compared
    where they are read, by :func:`read_archive`.

    Returns
    -------
    mapping with keys format, kind, created, versions, members
    """
    with _opened(path, MAX_BYTES) as (_, manifest):
        return manifest


@contextmanager
def _opened(
    path: str | os.PathLike[str], max_bytes: int
) -> Iterator[tuple[StoredZip, dict[str, Any]]]:
    """A file found to be an archive with a manifest that fits; refusals within name the file."""
    with refusals_of(path):
        # Opening a pipe would wait for somebody to write into it.
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refusal("is not a file", "Name a model file, such as model.nldd.")
        try:
            with open(path, "rb") as stream:
                _check_start(stream, max_bytes)
                archive = StoredZip(stream, MAX_MEMBERS, refuse_foreign)
                yield archive, read_checked(archive)
        except (Refusal, InputError):
            raise
        except OSError as error:
            reason = error.strerror or error
            raise Refusal(f"cannot be read: {reason}", "Check the name of the file.") from error
        except MemoryError as error:
            raise Refusal(
                "takes more memory than there is", "Free some, or set max_bytes."
            ) from error
        except Exception as error:
            raise damaged(f"in a way that nobody foresaw: {told(error)}") from error


def _check_start(stream: BinaryIO, max_bytes: int) -> None:
    """Name what is often taken for a model file and is none."""
    n_bytes = os.fstat(stream.fileno()).st_size
    if n_bytes > max_bytes:
        raise Refusal(
            f"has {n_bytes} bytes; at most {max_bytes} are read", "Set max_bytes to allow more."
        )
    start = stream.read(64)
    stream.seek(max(n_bytes - 1, 0))
    if start.startswith(ZIP_START):
        return
    if not start:
        raise Refusal("is empty", AGAIN)
    # Protocols from 2 on begin with 0x80 and the protocol; older ones are text that ends in a dot.
    is_pickle = start[0] == 0x80 and len(start) > 1 and start[1] < 16
    if is_pickle or (start[:1] in b"(]}c" and stream.read(1) == b"."):
        raise Refusal(
            "is a pickle, which can run any program when it is loaded; nldd never loads one",
            "Have the model saved by nldd.io.save_model.",
        )
    raise Refusal(
        f"not a model of nldd: it begins with {quoted(start[:8].decode('latin-1'))}",
        MODEL_FIRST,
    )


def _members(contents: Contents) -> Iterator[tuple[str, Buffers]]:
    documents = {
        name: json_bytes(value, name) for name, value in sorted(contents.documents.items())
    }
    _check_total(sum(map(len, documents.values())))
    for name, content in documents.items():
        read_json(content, name)  # what could not be read again is not written
        yield member_name("documents", name), [content]
    for name, array in sorted(contents.arrays.items()):
        yield member_name("arrays", name), npy_pieces(array, name)
    for name, estimators in sorted(contents.estimators.items()):
        yield member_name("estimators", name), [dump_estimators(estimators, name)]


def _record(pieces: Buffers) -> dict[str, Any]:
    digest, size = sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += memoryview(piece).nbytes
    return {"size": size, "sha256": digest.hexdigest()}


def _in_folder(manifest: Mapping[str, Any], folder: str) -> list[str]:
    return [name for name in manifest["members"] if folder_of(name) == folder]


def _checked(archive: StoredZip, manifest: Mapping[str, Any], name: str) -> bytes:
    content = archive.read(name)
    _compare([content], manifest, name)
    return content


def _compare(pieces: Buffers, manifest: Mapping[str, Any], name: str) -> None:
    if _record(pieces)["sha256"] != manifest["members"][name]["sha256"]:
        raise unlike_checksum(name)


def _pieces(stream: IO[bytes], n_bytes: int, name: str) -> Iterator[bytes]:
    for start in range(0, n_bytes, CHUNK):
        yield take(stream, min(CHUNK, n_bytes - start), name)


def _documents(archive: StoredZip, manifest: Mapping[str, Any]) -> dict[str, Any]:
    names = _in_folder(manifest, "documents")
    _check_total(sum(archive.sizes[name] for name in names))
    return {plain_name(name): read_json(_checked(archive, manifest, name), name) for name in names}


def _check_total(n_bytes: int) -> None:
    if n_bytes > MAX_JSON:
        raise Refusal(
            f"its documents have {n_bytes} bytes; at most {MAX_JSON} are read",
            "Keep many numbers in arrays.",
        )


def _arrays(archive: StoredZip, manifest: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    arrays = {}
    for name in _in_folder(manifest, "arrays"):
        # Twice through the file, so that a damaged array is called just that, and is not in memory
        # twice.
        with archive.open(name) as stream:
            _compare(_pieces(stream, archive.sizes[name], name), manifest, name)
        with archive.open(name) as stream:
            arrays[plain_name(name)] = stream_npy(stream, archive.sizes[name], name)
    return arrays


def _estimators(
    archive: StoredZip, manifest: Mapping[str, Any], trusted: Sequence[str], max_bytes: int
) -> dict[str, list[Any]]:
    return {
        plain_name(name): load_estimators(
            _checked(archive, manifest, name), name, trusted, max_bytes
        )
        for name in _in_folder(manifest, "estimators")
    }


def _warn_of_other_version(path: Any, versions: Mapping[str, str]) -> None:
    saved, here = versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if saved.split(".")[:2] != here.split(".")[:2]:
        warnings.warn(
            f"{path}: its estimators were saved with scikit-learn {saved} and are loaded with "
            f"{here}, which may predict otherwise. Install scikit-learn {saved}, or fit again.",
            NLDDWarning,
            stacklevel=4,
        )
