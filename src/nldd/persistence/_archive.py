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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from numpy.typing import NDArray

from nldd import __version__
from nldd._package import library_versions
from nldd._wording import quote
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.persistence._records import RecordReader, RecordWriter
from nldd.persistence._zip_file import (
    MAX_BYTES,
    Bytes,
    damaged,
    in_one_line,
    naming_file,
    open_zip,
    read_member,
    refusal_of,
    write_zip,
)

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
    with open_zip(path, MEMBERS, max_bytes) as archive:
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
    with open_zip(path, MEMBERS) as archive:
        content = _read_checked(archive, _read_manifest(archive, kind), DOCUMENT)
        return dict(_read_json(content, DOCUMENT)["documents"])


def read_manifest(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """What a model file is: its format, kind, versions of libraries, types to name, members.

    Members are found to fit in names and sizes; their checksums are compared where they are read.
    """
    with open_zip(path, MEMBERS) as archive:
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
