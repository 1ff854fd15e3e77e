"""The first member of a model file: what the file is, who wrote it, and what belongs to it."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from nldd import __version__
from nldd.io._json import json_bytes, read_json
from nldd.io._refusal import MODEL_FIRST, Refusal, damaged, listed, quoted
from nldd.io._stored_zip import StoredZip, folder_of, is_safe_name

FORMAT = 1
MANIFEST = "manifest.json"
MAX_MANIFEST = 2**22
NO_MANIFEST = "it is some zip file that does not begin with a manifest"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")
# Folder in the file -> ending of its members.
ENDINGS = {"documents": ".json", "arrays": ".npy", "estimators": ".skops"}
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


def member_name(folder: str, name: str) -> str:
    """Where a document, an array or a list of estimators stands in the file."""
    member = f"{folder}/{name}{ENDINGS[folder]}"
    if not is_safe_name(member):
        raise Refusal(
            f"{quoted(name)} cannot name one of the {folder}",
            "Use letters, digits, '_', '-' and '.', in parts that '/' separates.",
        )
    return member


def plain_name(member: str) -> str:
    """The name that :func:`member_name` was given.

    Examples
    --------
    >>> plain_name("arrays/classifier/Y.npy")
    'classifier/Y'
    """
    folder, _, name = member.partition("/")
    return name.removesuffix(ENDINGS[folder])


def compose(kind: str, created: Any, members: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The manifest of a new file."""
    if not isinstance(kind, str) or not isinstance(created, str | None):
        raise Refusal(
            f"kind and time of making must be text; got {kind!r}, {created!r}",
            'Write the time as text, such as "2024-12-31T23:59:59".',
        )
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        created = datetime.fromtimestamp(int(epoch), UTC).isoformat()
    manifest = {
        "format": FORMAT,
        "kind": kind,
        "created": created,
        "versions": {
            "nldd": __version__,
            "python": platform.python_version(),
            **{library: version(library) for library in LIBRARIES},
        },
        "members": members,
    }
    return json_bytes(manifest, MANIFEST)


def refuse_foreign(names: Sequence[str]) -> None:
    """Refuse a zip file without a manifest, and say what it is."""
    if MANIFEST in names:
        return
    for beginning, what in FOREIGN.items():
        if any(name.startswith(beginning) for name in names):
            raise Refusal(f"not a model of nldd: it is {what}", MODEL_FIRST)
    raise Refusal(f"not a model of nldd: {NO_MANIFEST}", MODEL_FIRST)


def read_checked(archive: StoredZip) -> dict[str, Any]:
    """The manifest of a file, found to fit the members that are there."""
    if next(iter(archive.sizes), "") != MANIFEST:
        raise Refusal(f"not a model of nldd: {NO_MANIFEST}")
    if archive.sizes[MANIFEST] > MAX_MANIFEST:
        raise Refusal(f"its manifest has {archive.sizes[MANIFEST]} bytes, too many")
    manifest = read_json(archive.read(MANIFEST), MANIFEST)
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise damaged("its manifest states no format")
    if manifest["format"] > FORMAT:
        raise Refusal(
            f"a newer nldd wrote it (format {manifest['format']}; this one, {__version__}, reads "
            f"up to {FORMAT})",
            "pip install --upgrade nldd",
        )
    _check_shape(manifest)
    _check_members(manifest["members"], archive.sizes)
    return manifest


def check_kind(manifest: Mapping[str, Any], kinds: tuple[str, ...]) -> None:
    """Refuse a model of another kind than those that are wanted."""
    if manifest["kind"] not in kinds:
        wanted = " or ".join(map(repr, kinds))
        raise Refusal(
            f"holds a model of kind {quoted(manifest['kind'])}; {wanted} is needed",
            f"Name a file that holds a model of kind {wanted}.",
        )


def _check_shape(manifest: Mapping[str, Any]) -> None:
    versions, members = manifest.get("versions"), manifest.get("members")
    is_whole = (
        manifest["format"] >= 1
        and isinstance(manifest.get("kind"), str)
        and isinstance(manifest.get("created"), str | None)
        and isinstance(versions, dict)
        and all(isinstance(number, str) for number in versions.values())
        and isinstance(members, dict)
        and all(_is_record(record) for record in members.values())
    )
    if not is_whole:
        raise damaged("its manifest is incomplete")


def _is_record(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and type(record.get("size")) is int
        and isinstance(record.get("sha256"), str)
    )


def _check_members(records: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    there = {name: size for name, size in sizes.items() if name != MANIFEST}
    missing, extra = records.keys() - there.keys(), there.keys() - records.keys()
    if missing:
        raise damaged(f"missing members {listed(sorted(missing))}")
    if extra:
        raise Refusal(f"members that the manifest does not know: {listed(sorted(extra))}")
    for name, size in there.items():
        if not name.endswith(ENDINGS.get(folder_of(name), "\0")):
            raise Refusal(f"stray member {quoted(name)}: nldd writes no such file")
        if records[name]["size"] != size:
            raise damaged(
                f"member {quoted(name)} has {size} bytes, the manifest says {records[name]['size']}"
            )
