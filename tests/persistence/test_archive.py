"""Model files as such: what is written is read, and nothing else."""

import json
import os
import sys
import zipfile

import numpy as np
import pytest
from model_files import (
    FALSE_CLAIMS,
    members_of,
    npy_bytes,
    npy_claiming,
    put_together,
    refusal,
    write_zip,
)
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from nldd import __version__
from nldd.exceptions import InputError, NLDDWarning
from nldd.persistence._archive import (
    Contents,
    read_archive,
    read_documents,
    read_manifest,
    write_archive,
)
from nldd.persistence._refusal import Refusal
from nldd.persistence._values import read_json

DOCUMENTS = {
    "settings": {"text": "größe\n\ud800", "numbers": [1, 2.5, -0.1, 1e300], "none": None},
    "infinite": [float("-inf"), float("inf")],
    "history/first": [True, False, {"a": {"b": []}}],
}
ARRAYS = {
    "model/Y": np.array([[0, 1], [1, 1]], dtype=np.int8),
    "model/names": np.array(["a", "größe", ""]),
    "number": np.array(2.5),
    "empty": np.empty((0, 3)),
    "flags": np.array([True, False]),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}


@pytest.fixture
def fitted():
    X = np.arange(10.0).reshape(-1, 1)
    return LogisticRegression().fit(X, X.ravel() > 4)


def test_round_trip(path, fitted):
    write_archive(path, Contents("test", DOCUMENTS, ARRAYS, {"base": [fitted], "none": []}))
    contents = read_archive(path)
    assert contents.kind == "test"
    assert contents.documents == DOCUMENTS
    assert contents.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert_array_equal(contents.arrays[name], array)
        assert contents.arrays[name].dtype == array.dtype
        assert contents.arrays[name].shape == array.shape
        assert contents.arrays[name].flags.writeable
    assert contents.estimators["none"] == []
    (loaded,) = contents.estimators["base"]
    assert_array_equal(loaded.coef_, fitted.coef_)
    assert loaded.get_params() == fitted.get_params()


def test_manifest_tells_versions_and_checksums(path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    write_archive(path, Contents("test", {"a": 1}, {"b": np.zeros(3)}))
    manifest = read_manifest(path)
    assert manifest["format"] == 2
    assert manifest["kind"] == "test"
    assert manifest["created"] is None
    assert set(manifest["versions"]) == {
        *("nldd", "python", "numpy", "scipy", "scikit-learn", "skops", "numba"),
    }
    assert manifest["versions"]["nldd"] == __version__
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["members"]["documents/a.json"] == {
        "size": 1,
        # sha256 of the text "1"
        "sha256": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
    }
    assert list(members_of(path)) == ["manifest.json", "documents/a.json", "arrays/b.npy"]
    assert read_archive(path).manifest == {**manifest, "path": str(path)}


def test_documents_alone(path, fitted):
    write_archive(path, Contents("test", DOCUMENTS, ARRAYS, {"base": [fitted]}))
    assert read_documents(path) == DOCUMENTS
    assert read_documents(path, kind="test") == DOCUMENTS
    with pytest.raises(InputError, match="kind 'test'; 'other' is needed"):
        read_documents(path, kind="other")


def test_equal_contents_give_equal_files(tmp_path, fitted):
    files = [tmp_path / "a.nldd", tmp_path / "b.nldd"]
    for file, order in zip(files, (1, -1), strict=True):
        documents = dict(list(DOCUMENTS.items())[::order])
        arrays = dict(list(ARRAYS.items())[::order])
        write_archive(file, Contents("test", documents, arrays, {"base": [fitted]}))
    assert files[0].read_bytes() == files[1].read_bytes()


def test_time_of_making(path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    write_archive(path, Contents("test", manifest={"created": "2024-01-01"}))
    assert read_manifest(path)["created"] == "2024-01-01"
    write_archive(path, read_archive(path))
    assert read_manifest(path)["created"] == "2024-01-01"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    write_archive(path, read_archive(path))
    assert read_manifest(path)["created"] == "1970-01-02T00:00:00+00:00"


def test_large_arrays_go_through_in_pieces(path, monkeypatch):
    monkeypatch.setattr("nldd.persistence._stored_zip.CHUNK", 100)
    values = np.random.default_rng(0).normal(size=(123, 7))
    write_archive(path, Contents("test", arrays={"values": values}))
    assert_array_equal(read_archive(path).arrays["values"], values)


def test_zip_of_more_than_two_gigabytes_states_its_size_in_another_place(path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    write_archive(path, Contents("test", {"a": 1}, {"b": np.arange(50.0)}))
    assert b"PK\x06\x06" in path.read_bytes()
    assert_array_equal(read_archive(path).arrays["b"], np.arange(50.0))


def test_newer_format_asks_for_an_upgrade(path):
    write_archive(path, Contents("test", {"a": 1}))
    members = {**members_of(path), "weights/new.bin": b"1"}
    put_together(members, path, format=3)
    with pytest.raises(InputError, match=r"a newer nldd wrote it \(format 3") as caught:
        read_archive(path)
    assert caught.value.hint == "pip install --upgrade nldd"
    with pytest.raises(InputError, match="newer nldd"):
        read_manifest(path)


@pytest.mark.parametrize("saved", ["1.2.3", "9.0.0"])
def test_other_version_of_scikit_learn_is_told(path, fitted, saved):
    """Unless it is another patch of the same one, or there are no estimators."""
    write_archive(path, Contents("test", estimators={"base": [fitted]}))
    members, versions = members_of(path), read_manifest(path)["versions"]
    put_together(members, path, versions={**versions, "scikit-learn": saved})
    with pytest.warns(NLDDWarning, match=rf"saved with scikit-learn {saved} and are loaded with"):
        read_archive(path)
    patch = versions["scikit-learn"].rpartition(".")[0] + ".99"
    put_together(members, path, versions={**versions, "scikit-learn": patch})
    assert len(read_archive(path).estimators["base"]) == 1
    write_archive(path, Contents("test", {"a": 1}))
    put_together(members_of(path), path, versions={**versions, "scikit-learn": saved})
    assert read_archive(path).documents == {"a": 1}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"arrays": {"a": np.array([{}, None])}}, "array 'a' holds values of type 'object'"),
        ({"arrays": {"a": np.zeros((1,) * 9)}}, "array 'a' has the impossible shape"),
        ({"manifest": {"created": 2024}}, "kind and time of making must be text"),
        ({"documents": {"d": json.loads("[" * 70 + "]" * 70)}}, "nested more than 64 levels deep"),
        ({"documents": {"d": {1, 2}}}, "document 'd' is no JSON value"),
        *(
            ({"documents": {name: 1}}, "cannot name one of the documents")
            for name in ("", "../up", "/root", "a//b", "a\\b", "C:", ".hidden", "ä", "a\n")
        ),
    ],
)
def test_what_could_not_be_read_is_not_written(path, contents, message):
    with pytest.raises(InputError, match=message):
        write_archive(path, Contents("test", **contents))
    assert not path.exists()


def test_failed_writing_leaves_the_old_file(path, monkeypatch):
    write_archive(path, Contents("test", {"a": "old"}))

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_archive(path, Contents("test", {"a": "new"}))
    monkeypatch.undo()
    assert read_documents(path) == {"a": "old"}
    assert os.listdir(path.parent) == [path.name]


def test_what_is_no_file(path, tmp_path):
    assert refusal(path) == "cannot be read: No such file or directory"
    assert refusal(tmp_path) == "is not a file"
    with pytest.raises(InputError, match="cannot be written") as caught:
        write_archive(tmp_path, Contents("test"))
    assert "free space" in caught.value.hint
    if sys.platform != "win32":
        os.mkfifo(path)
        assert refusal(path) == "is not a file"  # and nobody waits for the other end


def test_text_for_trusted_types_is_a_slip(path):
    write_archive(path, Contents("test"))
    with pytest.raises(InputError, match="trusted must be a list of types"):
        read_archive(path, trusted="mymodule.MyType")


def test_size_limit(path):
    write_archive(path, Contents("test", arrays={"a": np.zeros(1000)}))
    size = path.stat().st_size
    assert refusal(path, max_bytes=1000) == f"has {size} bytes; at most 1000 are read"
    assert len(read_archive(path, max_bytes=size).arrays["a"]) == 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x80\x04\x95", "is a pickle, which can run any program when it is loaded; nldd never"),
        (b"cposix\nsystem\n(S'true'\ntR.", "is a pickle"),
        (b"\x93NUMPY\x01\x00", r"not a model of nldd: it begins with '\x93NUMPY\x01\x00'"),
        (b"PK\x03\x04" + b"\0" * 10, "damaged: its end is missing"),
        (b"id,text\n1,hello\n", "not a model of nldd"),
        (b"a", "not a model of nldd"),
    ],
)
def test_other_files_are_called_by_their_name(path, content, message):
    path.write_bytes(content)
    assert refusal(path).startswith(message)


@pytest.mark.parametrize(
    ("members", "what"),
    [
        (["[Content_Types].xml", "docProps/app.xml", "xl/workbook.xml"], "an Excel workbook"),
        (["xl/workbook.bin"], "an Excel workbook"),
        (["[Content_Types].xml", "word/document.xml"], "a Word document"),
        (["[Content_Types].xml", "ppt/presentation.xml"], "a PowerPoint presentation"),
        (["[Content_Types].xml", "visio/document.xml"], "a file of Microsoft Office"),
        (["mimetype", "content.xml"], "an OpenDocument file"),
        (["Index/Document.iwa"], "a file of Numbers or Pages"),
        (["schema.json", "0.npy"], "a skops file"),
        (["new.csv"], "some zip file that does not begin with a manifest"),
    ],
)
@pytest.mark.parametrize("read", [read_archive, read_documents, read_manifest])
def test_tables_and_documents_are_called_by_their_name(path, members, what, read):
    write_zip(dict.fromkeys(members, b"content"), path, compressed=members)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: not a model of nldd: it is {what}."
    assert "the model comes first, then the table" in caught.value.hint


def test_a_manifest_does_not_make_a_model_of_a_workbook(path):
    write_archive(path, Contents("test", {"a": 1}))
    members = {**members_of(path), "xl/workbook.xml": b"<workbook/>"}
    write_zip(members, path)
    assert refusal(path) == "members that the manifest does not know: 'xl/workbook.xml'"
    put_together(members, path)
    assert refusal(path) == "stray member 'xl/workbook.xml': nldd writes no such file"
    write_zip(dict(reversed(members.items())), path)
    assert refusal(path).endswith("it is some zip file that does not begin with a manifest")
    write_zip(members, path, compressed=["xl/workbook.xml"])
    assert refusal(path).startswith("member 'xl/workbook.xml' is compressed")


def test_changed_member_is_told_by_its_checksum(path, fitted):
    """The zip file's own checksum was made to fit: ours still finds it."""
    write_archive(path, Contents("test", {"a": 1}, {"b": np.zeros(3)}, {"c": [fitted]}))
    members = members_of(path)
    for name in ("documents/a.json", "arrays/b.npy", "estimators/c.json", "estimators/c.bin"):
        changed = members[name][:-1] + bytes([members[name][-1] ^ 1])
        write_zip({**members, name: changed}, path)
        assert refusal(path) == f"damaged: member {name!r} does not match its checksum"


def test_changed_byte_is_told_by_the_checksum_of_the_zip_file(path):
    write_archive(path, Contents("test", {"word": "elephant"}))
    path.write_bytes(path.read_bytes().replace(b"elephant", b"elephamt"))
    assert refusal(path) == "damaged: member 'documents/word.json' does not match its checksum"
    path.write_bytes(path.read_bytes().replace(b'"kind":"test"', b'"kind":"best"'))
    assert refusal(path) == "damaged: member 'manifest.json' does not match its checksum"


def test_members_must_be_those_of_the_manifest(path):
    write_archive(path, Contents("test", {"a": 1, "b": 2}))
    members = members_of(path)
    write_zip({**members, "documents/c.json": b"3"}, path)
    assert refusal(path) == "members that the manifest does not know: 'documents/c.json'"
    write_zip({name: members[name] for name in ("manifest.json", "documents/a.json")}, path)
    assert refusal(path) == "damaged: missing members 'documents/b.json'"
    write_zip({**members, "documents/b.json": b"22"}, path)
    assert refusal(path) == ("damaged: member 'documents/b.json' has 2 bytes, the manifest says 1")
    put_together({**members, "documents/run.py": b"1"}, path)
    assert refusal(path) == "stray member 'documents/run.py': nldd writes no such file"


@pytest.mark.parametrize(
    "manifest",
    [b"[]", b"{}", b'{"format":"1"}', b'{"format":true}', b'{"format":1}', b"{", b"\xff"],
)
def test_broken_manifest(path, manifest):
    write_zip({"manifest.json": manifest}, path)
    assert refusal(path).startswith("damaged: ")


@pytest.mark.parametrize(
    "array",
    [
        *FALSE_CLAIMS,
        npy_claiming((1,), [("a", "<f8")], b"\0" * 8),
        npy_claiming((2, 2), content=b"\0" * 32, fortran_order=True),
        npy_bytes(np.array([{}], dtype=object), allow_pickle=True),
    ],
)
def test_arrays_that_claim_what_they_do_not_hold(path, array):
    write_archive(path, Contents("test", arrays={"a": np.zeros(1)}))
    put_together({**members_of(path), "arrays/a.npy": array}, path)
    message = refusal(path)
    assert "array 'arrays/a.npy'" in message or "member 'arrays/a.npy'" in message


def test_deep_and_crowded_documents_are_refused(path):
    write_archive(path, Contents("test", {"a": 1}))
    members = members_of(path)
    put_together({**members, "documents/a.json": b"[" * 60 + b"]" * 60}, path)
    assert json.dumps(read_documents(path)["a"]) == "[" * 60 + "]" * 60
    for document, message in (
        (b"[" * 66 + b"]" * 66, "nested more than 64 levels deep"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b"[" + b"{}," * 400_000 + b"1]", "400001 lists and dicts, too many"),
    ):
        put_together({**members, "documents/a.json": document}, path)
        assert message in refusal(path)


def test_large_documents_are_neither_written_nor_read(path, monkeypatch):
    write_archive(path, Contents("test", {"a": "x" * 60, "b": "y" * 60}))
    monkeypatch.setattr("nldd.persistence._archive.MAX_JSON", 100)
    assert refusal(path) == "its documents have 124 bytes; at most 100 are read"
    with pytest.raises(InputError, match="its documents have 124 bytes"):
        write_archive(path, Contents("test", {"a": "x" * 60, "b": "y" * 60}))
    with pytest.raises(Refusal, match="'a' has 12 bytes of JSON; at most 10 are read"):
        read_json(b'"0123456789"', "a", 10)
    write_zip({"manifest.json": b" " * (2**22 + 1)}, path)
    assert refusal(path) == "its manifest has 4194305 bytes, too many"


def test_too_many_members(path, monkeypatch):
    monkeypatch.setattr("nldd.persistence._archive.MAX_MEMBERS", 20)
    with pytest.raises(InputError, match="20 members are too many; 19 are the most"):
        write_archive(path, Contents("test", {str(i): i for i in range(20)}))
    write_archive(path, Contents("test", {str(i): i for i in range(19)}))
    assert len(read_archive(path).documents) == 19
    put_together({**members_of(path), "documents/x.json": b"1"}, path)
    assert refusal(path) == "it has 21 members; at most 20 are read"
    write_zip({f"{i:0190}": b"" for i in range(500)}, path)
    assert refusal(path).startswith("its directory has")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            RuntimeError("odd\nthings"),
            "holds what this nldd cannot read: RuntimeError: odd things",
        ),
        (MemoryError(), "takes more memory than there is"),
        (OSError(5, "Input/output error"), "cannot be read: Input/output error"),
    ],
)
def test_surprises_are_told_in_a_line(path, monkeypatch, error, message):
    write_archive(path, Contents("test", {"a": 1}))

    def fail(*_):
        raise error

    monkeypatch.setattr("nldd.persistence._archive.read_json", fail)
    assert refusal(path) == message


def test_directory_that_claims_another_place(path):
    """The record for large files, in which the size of the directory stands once more."""
    write_archive(path, Contents("test", {"a": 1}))
    content = path.read_bytes()
    body, end = content[:-22], content[-22:]
    locator = b"PK\x06\x07" + b"\0" * 16
    path.write_bytes(body + locator + end)
    assert refusal(path) == "damaged: the directory of the file cannot be read"
    record = bytearray(b"PK\x06\x06" + b"\0" * 52)
    record[40:48] = (2**40).to_bytes(8, "little")
    path.write_bytes(body + record + locator + end)
    assert refusal(path) == "damaged: the directory of the file cannot be read"


def test_surprise_names_the_nldd_that_wrote_the_file(path, monkeypatch):
    write_archive(path, Contents("test", {"a": 1}))
    put_together(members_of(path), path, versions={"nldd": "7.8.9"})
    monkeypatch.setattr("nldd.persistence._archive._check_total", lambda n_bytes: 1 / 0)
    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        read_archive(path)
    assert caught.value.hint.startswith("Fetch the file again from whoever made it")
    assert "load it with nldd 7.8.9" in caught.value.hint


def test_contents_can_be_compared():
    contents = Contents("test", arrays={"a": np.zeros(3)})
    assert contents == contents
    assert contents != Contents("test", arrays={"a": np.zeros(3)})


def test_nan_in_documents_survives(path):
    write_archive(path, Contents("test", {"scores": [float("nan"), float("-inf")]}))
    nan, infinite = read_archive(path).documents["scores"]
    assert nan != nan
    assert infinite == float("-inf")
