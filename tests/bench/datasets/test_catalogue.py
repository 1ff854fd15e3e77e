"""The catalogue of the paper's data sets, where their files lie, and whether they are right."""

import hashlib
import os
import re

import pytest

from file_server import entry_of
from nldd.bench.datasets.catalogue import (
    CATALOGUE,
    data_folder,
    is_here,
    require_files,
    select_entries,
    verify,
)
from nldd.exceptions import InputError

CONTENT = {"toy.arff": b"@relation toy\n", "toy.xml": b"<labels/>\n"}
TOY = entry_of(CONTENT)


@pytest.fixture
def folder(tmp_path):
    for name, body in CONTENT.items():
        (tmp_path / name).write_bytes(body)
    return tmp_path


def test_files_of_the_catalogue():
    files = [file for entry in CATALOGUE.values() for file in entry.files]
    assert len(files) == len({f.file for f in files}) == len({f.sha256 for f in files}) == 17
    for file in files:
        assert file.url.startswith("https://")
        assert file.url.endswith(f"/{file.file}")
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", file.file)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.n_bytes > 0
    for name, entry in CATALOGUE.items():
        # The rows first and the label file last, if there is one.
        suffixes = ".arff" * (2 if name == "scene" else 1) + ".xml" * (entry.format == "mulan")
        assert "".join(file.file[file.file.rindex(".") :] for file in entry.files) == suffixes


def test_select_entries_takes_each_data_set_once():
    assert [e.name for e in select_entries(["scene", "yeast", "scene"])] == ["scene", "yeast"]
    assert select_entries("all") == list(CATALOGUE.values())
    assert [e.name for e in select_entries(["yeast", "all"])][:2] == ["yeast", "emotions"]


def test_data_folder_is_the_argument_the_environment_or_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NLDD_DATA", "~/data")
    assert data_folder("given") == data_folder("./given")
    assert data_folder() == data_folder("") == tmp_path / "data"
    monkeypatch.setenv("NLDD_DATA", "")
    assert data_folder() == tmp_path / "nldd"
    monkeypatch.delenv("NLDD_DATA")
    assert data_folder() == tmp_path / "nldd"
    with pytest.raises(InputError, match="Set NLDD_DATA"):
        data_folder("~nobody-of-that-name/data")


def test_files_that_are_missing_or_short(folder):
    assert require_files(TOY, folder) == [folder / "toy.arff", folder / "toy.xml"]
    assert is_here(TOY, folder)
    (folder / "toy.xml").write_bytes(b"<lab")
    with pytest.raises(InputError, match=r"toy\.xml is damaged: 4 bytes instead of 10"):
        require_files(TOY, folder)
    (folder / "toy.xml").unlink()
    assert not is_here(TOY, folder)
    for place in (folder, folder / "none", folder / "toy.arff"):
        with pytest.raises(InputError, match=r"toy lacks .*toy.xml.* nldd datasets fetch toy, or"):
            require_files(TOY, place)
    (folder / "toy.xml").mkdir()
    assert [state.state for state in verify(TOY, folder)] == ["ok", "missing"]


def test_verify_tells_ok_missing_and_damaged_apart(folder):
    contents = {"toy.arff": CONTENT["toy.arff"], "gone": b"x", "wrong": b"abc", "short": b"abc"}
    (folder / "wrong").write_bytes(b"abd")
    (folder / "short").write_bytes(b"ab")
    found = verify(entry_of(contents), folder)
    assert [(state.path.name, state.state, state.n_bytes, state.sha256) for state in found] == [
        ("toy.arff", "ok", 14, hashlib.sha256(CONTENT["toy.arff"]).hexdigest()),
        ("gone", "missing", None, None),
        ("wrong", "damaged", 3, hashlib.sha256(b"abd").hexdigest()),
        ("short", "damaged", 2, None),
    ]
    states = verify(data_dir=folder)
    assert list(dict.fromkeys(state.dataset for state in states)) == list(CATALOGUE)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("look", [verify, require_files])
def test_a_folder_that_cannot_be_read_is_a_plain_error(look, folder):
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(InputError, match=r"cannot be read: .* Set NLDD_DATA"):
        look(TOY, folder / "loop")
