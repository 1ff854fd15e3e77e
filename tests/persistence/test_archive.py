"""Model files as such: what is written is read, and nothing else."""

import json
import os
import sys
import zipfile

import numpy as np
import pytest
from model_files import members_of, put_together, refusal, write_zip
from numpy.testing import assert_array_equal

from nldd import InputError, __version__
from nldd.persistence._archive import (
    Contents,
    read_archive,
    read_documents,
    read_manifest,
    write_archive,
)

DOCUMENTS = {
    "settings": {"text": "größe\n\ud800", "numbers": [1, 2.5, -0.1, 1e300], "none": None},
    "infinite": [float("-inf"), float("inf")],
    "history/first": [True, False, {"a": {"b": []}}],
}
ARRAYS = {
    "model/Y": np.array([[0, 1], [1, 1]], dtype=np.int8),
    "number": np.array(2.5),
    "empty": np.empty((0, 3)),
    "flags": np.array([True, False]),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "missing": np.array([np.nan, np.inf], dtype=np.float32),
}


def test_round_trip(path):
    write_archive(path, Contents("test", DOCUMENTS, ARRAYS))
    contents = read_archive(path)
    assert contents.kind == "test"
    assert contents.documents == DOCUMENTS
    assert contents.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert_array_equal(contents.arrays[name], array)
        assert contents.arrays[name].dtype == array.dtype
        assert contents.arrays[name].shape == array.shape
        assert contents.arrays[name].flags.writeable


def test_manifest_tells_versions_and_checksums(path):
    write_archive(path, Contents("test", {"a": 1}, {"b": np.zeros(3)}))
    manifest = read_manifest(path)
    assert (manifest["format"], manifest["kind"], manifest["types"]) == (3, "test", [])
    assert manifest["versions"]["nldd"] == __version__
    assert manifest["versions"]["numpy"] == np.__version__
    assert {"python", "scipy", "scikit-learn", "skops", "numba"} <= manifest["versions"].keys()
    assert manifest["members"]["content.bin"] == {
        "size": 24,
        # sha256 of 24 zero bytes
        "sha256": "9d908ecfb6b256def8b49a7c504e6c889c4b0e41fe6ce3e01863dd7b61a20aa0",
    }
    assert list(members_of(path)) == ["manifest.json", "document.json", "content.bin"]


def test_documents_alone_and_files_of_another_kind(path):
    write_archive(path, Contents("test", DOCUMENTS, ARRAYS))
    assert read_documents(path, kind="test") == DOCUMENTS
    assert "kind 'test'; 'other' is needed" in refusal(path, read_documents, kind="other")


def test_members_are_those_of_the_manifest_and_no_others(path):
    write_archive(path, Contents("test", {"a": 1, "b": 2}))
    members = members_of(path)
    for changed in (
        {**members, "estimators.skops": b"3"},
        {name: members[name] for name in ("manifest.json", "document.json")},
        {**members, "content.bin": b"22"},
        {**members, "xl/workbook.xml": b"<workbook/>"},
    ):
        write_zip(changed, path)
        assert refusal(path).startswith("damaged: ")
    write_zip(members, path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("content.bin", members["content.bin"])
    assert refusal(path).startswith("damaged: stray member")


def test_equal_contents_give_equal_files(tmp_path):
    files = [tmp_path / "a.nldd", tmp_path / "b.nldd"]
    for file, order in zip(files, (1, -1), strict=True):
        documents = dict(list(DOCUMENTS.items())[::order])
        arrays = dict(list(ARRAYS.items())[::order])
        write_archive(file, Contents("test", documents, arrays))
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(("number", "age"), [(4, "newer"), (2, "older")])
@pytest.mark.parametrize("read", [read_archive, read_documents, read_manifest])
def test_other_formats_are_told(path, number, age, read):
    write_archive(path, Contents("test", {"a": 1}))
    put_together(members_of(path), path, {"format": number, "versions": {"nldd": "9.9"}})
    message = refusal(path, read)
    assert age in message
    assert "'9.9'" in message


def test_what_is_no_file(path, tmp_path):
    assert "No such file" in refusal(path)
    assert refusal(tmp_path) == "is not a file"
    with pytest.raises(InputError, match="cannot be written"):
        write_archive(tmp_path, Contents("test"))
    if sys.platform != "win32":
        os.mkfifo(path)
        assert refusal(path) == "is not a file"  # and nobody waits for the other end


def test_size_limit(path):
    write_archive(path, Contents("test", arrays={"a": np.zeros(1000)}))
    size = path.stat().st_size
    assert {"1000", str(size)} <= {*refusal(path, max_bytes=1000).split()}
    assert len(read_archive(path, max_bytes=size).arrays["a"]) == 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\x80\x04\x95", "pickle"),
        (b"cposix\nsystem\n(S'true'\ntR.", "pickle"),
        (b"\x93NUMPY\x01\x00", r"'\x93NUMPY\x01\x00'"),
        (b"PK\x03\x04" + b"\0" * 10, "damaged: "),
        (b"id,text\n1,hello\n", "'id,text\\n'"),
    ],
)
def test_other_files_are_called_by_their_name(path, content, message):
    path.write_bytes(content)
    assert message in refusal(path)


@pytest.mark.parametrize(
    ("members", "what"),
    [
        (["[Content_Types].xml", "docProps/app.xml", "xl/workbook.xml"], "an Excel workbook"),
        (["[Content_Types].xml", "word/document.xml"], "a Word document"),
        (["mimetype", "content.xml"], "an OpenDocument file"),
        (["schema.json", "0.npy"], "a skops file"),
        (["new.csv"], "a zip file of another kind"),
        ([], "its end is missing"),
    ],
)
@pytest.mark.parametrize("read", [read_archive, read_documents, read_manifest])
def test_tables_and_documents_are_called_by_their_name(path, members, what, read):
    write_zip(dict.fromkeys(members, b"content"), path, compressed=members)
    if not members:
        path.write_bytes(b"PK\x03\x04")
    assert refusal(path, read).endswith(what)


def test_changed_member_is_told_by_its_checksum(path):
    """The zip file's own checksum was made to fit: ours still finds it."""
    write_archive(path, Contents("test", {"a": 1}, {"b": np.zeros(3)}))
    members = members_of(path)
    for name in ("document.json", "content.bin"):
        changed = members[name][:-1] + bytes([members[name][-1] ^ 1])
        write_zip({**members, name: changed}, path)
        assert f"{name!r} does not match its checksum" in refusal(path)


@pytest.mark.parametrize(
    "manifest", [b"[]", b"{}", b'{"format":"1"}', b'{"format":1}', b"{", b"\xff"]
)
def test_broken_manifest(path, manifest):
    write_zip({"manifest.json": manifest}, path)
    assert refusal(path).startswith("damaged: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"types": None},
        {"types": ["\x1b[2J"]},
        {"types": ["a.B"] * 1001},
        {"versions": {"nldd": 3}},
        {"members": {"document.json": None, "content.bin": None}},
    ],
)
def test_manifest_that_makes_no_sense(path, changes):
    write_archive(path, Contents("test", {"a": 1}))
    put_together(members_of(path), path, changes)
    assert refusal(path).startswith("damaged: ")


def test_large_documents_are_neither_written_nor_read(path, monkeypatch):
    contents = Contents("test", {"a": "x" * 1000})
    write_archive(path, contents)
    monkeypatch.setattr("nldd.persistence._archive.MAX_JSON", 1000)
    assert "too many" in refusal(path)
    with pytest.raises(InputError, match="too many"):
        write_archive(path, contents)


def test_directory_that_claims_another_place(path):
    """The record for large files, in which the size of the directory stands once more."""
    write_archive(path, Contents("test", {"a": 1}))
    content = path.read_bytes()
    body, end = content[:-22], content[-22:]
    locator = b"PK\x06\x07" + b"\0" * 16
    record = bytearray(b"PK\x06\x06" + b"\0" * 52)
    record[40:48] = (2**40).to_bytes(8, "little")
    for between in (locator, record + locator):
        path.write_bytes(body + between + end)
        assert refusal(path).startswith("damaged: ")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("odd\nthings"), "RuntimeError: odd things"),
        (MemoryError(), "takes more memory than there is"),
        (OSError(5, "Input/output error"), "cannot be read: Input/output error"),
    ],
)
def test_surprises_are_told_in_a_line(path, monkeypatch, error, message):
    write_archive(path, Contents("test", {"a": 1}))

    def fail(*_):
        raise error

    monkeypatch.setattr(json, "loads", fail)
    assert message in refusal(path)
