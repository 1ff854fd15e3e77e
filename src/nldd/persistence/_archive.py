"""Model files: one zip of JSON documents, arrays and models, checked before it is used.

::

    manifest.json            what the file is, versions, size and sha256 of every member
    documents/<name>.json
    arrays/<name>.npy        read without pickle
    models/<name>.json       a model of nldd as a record, see nldd.persistence._records,
    models/<name>.bin        and the bytes of its arrays
    models/<name>.skops      its estimators of other libraries, read if the user names their types

Nothing is compressed, so no member takes more memory than the file has bytes, and nothing is
unpacked to disk. A file is read in this order, and refused at the first thing that is not right:
its directory, its manifest, then each member: checksum first, claims about sizes next, content
last.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from nldd import __version__
from nldd._files import replacing
from nldd._versions import library_versions
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.persistence._records import TYPE_NAME, PackedModel, pack_model, unpack_model
from nldd.persistence._refusal import (
    FETCH_AGAIN,
    MODEL_FIRST,
    Refusal,
    damaged,
    in_one_line,
    naming_file,
    quote,
    quote_first,
)
from nldd.persistence._stored_zip import Buffers, StoredZip, is_safe_name, write_stored
from nldd.persistence._values import MAX_JSON, json_bytes, npy_pieces, read_json, read_npy

FORMAT = 3
MANIFEST = "manifest.json"
MAX_MANIFEST = 2**22
MAX_BYTES = 4 * 2**30
MAX_MEMBERS = 10_000
ZIP_START = b"PK\x03\x04"
# Folder in the file -> how its members end.
ENDINGS = {
    "documents": (".json",),
    "arrays": (".npy",),
    "models": (".json", ".bin", ".skops"),
}
# Names in JSON dicts -> the types that their values may have.
MANIFEST_FORMS = {"kind": str, "created": str | None, "versions": dict, "members": dict}
RECORD_FORMS = {"size": int, "sha256": str}
# How a member of a file begins that is often taken for a model -> what such a file is.
FOREIGN = {
    "xl/": "an Excel workbook",
    "word/": "a Word document",
    "ppt/": "a PowerPoint presentation",
    "[Content_Types].xml": "a file of Microsoft Office",
    "content.xml": "an OpenDocument file",
    "Index/Document.iwa": "a file of Numbers or Pages",
    "schema.json": "a skops file",
    "": "some zip file that does not begin with a manifest",
}


@dataclass(frozen=True, eq=False)
class Contents:
    """What a model file holds, before it is written and after it is read.

    Attributes
    ----------
    kind : str
        What the file is, such as ``"nldd-classifier"`` or ``"coding-model"``.
    documents : mapping of name to JSON value
        Names are of letters, digits, ``_``, ``-`` and ``.``, in parts that ``/`` separates.
    arrays : mapping of name to ndarray of numbers, booleans or text
    models : mapping of name to a fitted model of nldd
    manifest : mapping
        What :func:`read_manifest` gives, and ``path``; on writing, ``created`` alone.
    """

    kind: str
    documents: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)


def write_archive(
    path: str | os.PathLike[str], contents: Contents, *, loader: str = "load_model"
) -> None:
    """Write a model file, as a whole or not at all.

    `loader` is the function that reads such files, for the warning. Equal contents give equal
    files. So there is no clock in them: ``created`` in the manifest is
    the time that the environment variable ``SOURCE_DATE_EPOCH`` states, or else what
    ``contents.manifest`` has under ``"created"``, or else null.

    Warns
    -----
    NLDDWarning
        Where an estimator is of a type that can be read with ``trusted=`` only.
    """
    with naming_file(path, "written"):
        models = {name: pack_model(model) for name, model in sorted(contents.models.items())}
        members = {name: list(pieces) for name, pieces in _members(contents, models)}
        if len(members) >= MAX_MEMBERS:
            raise Refusal(f"{len(members)} members are too many; {MAX_MEMBERS - 1} are the most")
        manifest = _new_manifest(contents, members)
        with replacing(Path(path)) as stream:
            write_stored(stream, {MANIFEST: [manifest], **members})
    if types := _types_to_name(models):
        warn_caller(
            f"{path} holds estimators of other libraries. Whoever loads it has to name their "
            f"types: {_call(loader, path, types)}",
            NLDDWarning,
        )


def read_archive(
    path: str | os.PathLike[str],
    *,
    kind: str | tuple[str, ...] | None = None,
    trusted: Collection[str] = (),
    max_bytes: int = MAX_BYTES,
    loader: str = "load_model",
) -> Contents:
    """Read a model file that may have come from anybody.

    Parameters
    ----------
    path : path of the file
    kind : str or tuple of str, default=None
        The kind that is needed, or several that will do; None takes any.
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
    _check_trusted(trusted)
    with _opened(path, kind, max_bytes) as file:
        packed = _read_models(file)
        if not {*(types := _types_to_name(packed))} <= {*trusted}:
            raise Refusal(
                "it holds estimators of other libraries, which are read only if you name their "
                f"types: {_call(loader, path, types)}",
                "Only do that, in Python, if you know who made the file: it may run their code.",
            )
        contents = Contents(
            file.manifest["kind"],
            file.read("documents", ".json", read_json),
            file.read("arrays", ".npy", read_npy),
            {name: unpack_model(model) for name, model in packed.items()},
            {**file.manifest, "path": str(path)},
        )
    if types:
        _warn_of_other_version(path, file.manifest["versions"])
    return contents


def read_documents(path: str | os.PathLike[str], *, kind: str | None = None) -> dict[str, Any]:
    """The documents of a model file alone, for a quick look; checked as by `read_archive`."""
    with _opened(path, kind) as file:
        return file.read("documents", ".json", read_json)


def read_manifest(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What a model file is: its format, kind, created, versions of libraries, and members.

    They are found to fit in names and sizes; their checksums are compared where they are read.
    """
    with _opened(path) as file:
        return file.manifest


class _File:
    """An archive whose manifest was found to fit the members that are there."""

    def __init__(self, archive: StoredZip) -> None:
        self._archive = archive
        self.manifest = _read_manifest(archive)

    def read(self, folder: str, ending: str, reader: Callable[..., Any]) -> dict[str, Any]:
        """What `reader` makes of the members in a folder, each with its checksum found right."""
        members = [
            name
            for name in self.manifest["members"]
            if name.startswith(f"{folder}/") and name.endswith(ending)
        ]
        if ending == ".json":
            _check_total(sum(self._archive.sizes[name] for name in members))
        values = {}
        for member in members:
            content = self._archive.read(member)
            if sha256(content).hexdigest() != self.manifest["members"][member]["sha256"]:
                raise damaged(f"member {quote(member)} does not match its checksum")
            values[member[len(folder) + 1 : -len(ending)]] = reader(content, member)
        return values


@contextmanager
def _opened(
    path: str | os.PathLike[str],
    kind: str | tuple[str, ...] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[_File]:
    """A file found to be an archive of the kind; refusals within the block name the file."""
    writer = "the nldd that wrote it"
    with naming_file(path):
        # Opening a pipe would wait for somebody to write into it.
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refusal("is not a file", "Name a model file, such as model.nldd.")
        try:
            with open(path, "rb") as stream:
                _check_start(stream, max_bytes)
                file = _File(StoredZip(stream, MAX_MEMBERS, _refuse_foreign))
                writer = f"nldd {file.manifest['versions'].get('nldd', 'of its time')}, {writer}"
                _check_kind(file.manifest["kind"], kind)
                yield file
        except (Refusal, InputError, OSError):
            raise
        except MemoryError as error:
            raise Refusal(
                "takes more memory than there is", "Free some, or set max_bytes."
            ) from error
        except Exception as error:
            raise Refusal(
                f"holds what this nldd cannot read: {in_one_line(error)}",
                f"{FETCH_AGAIN} If it is whole, load it with {writer}.",
            ) from error


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
        raise Refusal("is empty", FETCH_AGAIN)
    # Protocols from 2 on begin with 0x80 and the protocol; older ones are text that ends in a dot.
    is_pickle = start[0] == 0x80 and len(start) > 1 and start[1] < 16
    if is_pickle or (start[:1] in b"(]}c" and stream.read(1) == b"."):
        raise Refusal(
            "is a pickle, which can run any program when it is loaded; nldd never loads one",
            "Have the model saved by nldd.save_model.",
        )
    raise Refusal(
        f"not a model of nldd: it begins with {quote(start[:8].decode('latin-1'))}", MODEL_FIRST
    )


def _refuse_foreign(names: Sequence[str]) -> None:
    """Refuse a zip file without a manifest, and say what it is."""
    if MANIFEST not in names:
        what = next(
            what
            for beginning, what in FOREIGN.items()
            if not beginning or any(name.startswith(beginning) for name in names)
        )
        raise Refusal(f"not a model of nldd: it is {what}", MODEL_FIRST)


def _check_kind(kind: str, wanted: str | tuple[str, ...] | None) -> None:
    kinds = (wanted,) if isinstance(wanted, str) else wanted
    if kinds is not None and kind not in kinds:
        either = " or ".join(map(repr, kinds))
        raise Refusal(
            f"holds a model of kind {quote(kind)}; {either} is needed",
            f"Name a file that holds a model of kind {either}.",
        )


def _new_manifest(contents: Contents, members: Mapping[str, Buffers]) -> bytes:
    created = contents.manifest.get("created")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        created = datetime.fromtimestamp(int(epoch), UTC).isoformat()
    manifest = {
        "format": FORMAT,
        "kind": contents.kind,
        "created": created,
        "versions": {**library_versions(), "skops": version("skops")},
        "members": {name: _record(pieces) for name, pieces in members.items()},
    }
    if not _has_forms(manifest, MANIFEST_FORMS):
        raise Refusal("kind and time of making must be text", 'Contents("coding-model", ...)')
    return json_bytes(manifest, MANIFEST)


def _record(pieces: Buffers) -> dict[str, Any]:
    digest, size = sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += memoryview(piece).nbytes
    return {"size": size, "sha256": digest.hexdigest()}


def _members(
    contents: Contents, models: Mapping[str, PackedModel]
) -> Iterator[tuple[str, Buffers]]:
    documents = {name: json_bytes(value, name) for name, value in contents.documents.items()}
    _check_total(sum(map(len, documents.values())))
    for name, content in sorted(documents.items()):
        read_json(content, name)  # what could not be read again is not written
        yield _member_name("documents", name), [content]
    for name, array in sorted(contents.arrays.items()):
        yield _member_name("arrays", name), npy_pieces(array, name)
    for name, model in models.items():
        parts = [json_bytes(model.document, name)], model.content, [model.skops]
        for ending, part in enumerate(parts[: 3 if model.skops else 2]):
            yield _member_name("models", name, ending), part


def _member_name(folder: str, name: str, ending: int = 0) -> str:
    member = f"{folder}/{name}{ENDINGS[folder][ending]}"
    if not is_safe_name(member):
        raise Refusal(
            f"{quote(name)} cannot name one of the {folder}",
            "Use letters, digits, '_', '-' and '.', in parts that '/' separates.",
        )
    return member


def _check_total(n_bytes: int) -> None:
    if n_bytes > MAX_JSON:
        raise Refusal(
            f"its documents have {n_bytes} bytes; at most {MAX_JSON} are read",
            "Keep many numbers in arrays.",
        )


def _read_models(file: _File) -> dict[str, PackedModel]:
    documents = file.read("models", ".json", read_json)
    content, skops = (
        file.read("models", ending, lambda content, _: content) for ending in (".bin", ".skops")
    )
    if content.keys() != documents.keys() or not skops.keys() <= documents.keys():
        raise damaged("its models are not complete")
    return {
        name: PackedModel(document, [content[name]], skops.get(name, b""))
        for name, document in documents.items()
    }


def _types_to_name(models: Mapping[str, PackedModel]) -> list[str]:
    return sorted({name for model in models.values() for name in model.types})


def _call(loader: str, path: str | os.PathLike[str], types: Sequence[str]) -> str:
    """The call that reads a file with such types, ready to paste."""
    return f"{loader}({json.dumps(str(path))}, trusted={json.dumps(types)})"


def _check_trusted(trusted: Any) -> None:
    is_list = isinstance(trusted, list | tuple | set | frozenset)
    if not is_list or not all(isinstance(n, str) and TYPE_NAME.fullmatch(n) for n in trusted):
        raise InputError(
            f"trusted must be a list of names of types; got {trusted!r:.200}.",
            hint='trusted=["sklearn.ensemble._forest.RandomForestClassifier"], for instance.',
        )


def _read_manifest(archive: StoredZip) -> dict[str, Any]:
    """The manifest of a file, found to fit the members that are there."""
    if next(iter(archive.sizes)) != MANIFEST:
        raise Refusal(f"not a model of nldd: it is {FOREIGN['']}", MODEL_FIRST)
    if archive.sizes[MANIFEST] > MAX_MANIFEST:
        raise Refusal(f"its manifest has {archive.sizes[MANIFEST]} bytes, too many")
    manifest = read_json(archive.read(MANIFEST), MANIFEST)
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise damaged("its manifest states no format")
    if manifest["format"] > FORMAT:
        raise Refusal(
            f"a newer nldd wrote it (format {manifest['format']}; this one, {__version__}, reads "
            f"format {FORMAT})",
            "pip install --upgrade nldd",
        )
    is_whole = (
        _has_forms(manifest, MANIFEST_FORMS)
        and all(isinstance(number, str) for number in manifest["versions"].values())
        and all(_has_forms(record, RECORD_FORMS) for record in manifest["members"].values())
    )
    if not is_whole:
        raise damaged("its manifest is incomplete")
    if manifest["format"] < FORMAT:
        writer = quote(manifest["versions"].get("nldd", "unknown"))
        raise Refusal(
            f"an older version of nldd wrote it, {writer}, in a format that is no longer read",
            "Fit the model again, and save it.",
        )
    _check_members(manifest["members"], archive.sizes)
    return manifest


def _has_forms(record: Any, forms: Mapping[str, Any]) -> bool:
    return isinstance(record, dict) and all(
        isinstance(record.get(name), form) for name, form in forms.items()
    )


def _check_members(records: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    there = {name: size for name, size in sizes.items() if name != MANIFEST}
    missing, extra = records.keys() - there.keys(), there.keys() - records.keys()
    if missing:
        raise damaged(f"missing members {quote_first(sorted(missing))}")
    if extra:
        raise Refusal(f"members that the manifest does not know: {quote_first(sorted(extra))}")
    for name, size in there.items():
        folder, slash, _ = name.partition("/")
        if not slash or not name.endswith(ENDINGS.get(folder, ())):
            raise Refusal(f"stray member {quote(name)}: nldd writes no such file")
        if records[name]["size"] != size:
            raise damaged(
                f"member {quote(name)} has {size} bytes, the manifest says {records[name]['size']}"
            )


def _warn_of_other_version(path: Any, versions: Mapping[str, str]) -> None:
    saved, here = versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if saved.split(".")[:2] != here.split(".")[:2]:
        warn_caller(
            f"{path}: its estimators were saved with scikit-learn {saved} and are loaded with "
            f"{here}, which may predict otherwise. Install scikit-learn {saved}, or fit again.",
            NLDDWarning,
        )
