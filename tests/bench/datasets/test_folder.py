"""Where the files of data sets lie, and whether they are the right ones."""

import hashlib
import os

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


def test_data_folder_prefers_the_argument_then_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "environment"))
    assert data_folder(tmp_path / "argument") == tmp_path / "argument"
    assert data_folder() == tmp_path / "environment"


@pytest.mark.parametrize("variable", [None, ""], ids=["unset", "empty"])
def test_data_folder_is_in_the_cache_of_the_user_otherwise(variable, tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / name)
    monkeypatch.delenv("NLDD_DATA", raising=False)
    if variable is not None:
        monkeypatch.setenv("NLDD_DATA", variable)
    assert data_folder() == tmp_path / "nldd"


def test_data_folder_without_a_home_says_what_to_set():
    with pytest.raises(InputError, match=r"No home folder .* Set NLDD_DATA"):
        data_folder("~nobody-of-that-name/data")


def test_data_folder_refuses_an_empty_argument(monkeypatch, tmp_path):
    monkeypatch.setenv("NLDD_DATA", str(tmp_path))
    with pytest.raises(InputError, match="data_dir is empty"):
        data_folder("")


def test_data_folder_expands_the_tilde(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NLDD_DATA", "~/data")
    assert data_folder() == tmp_path / "data"


def test_require_files_returns_paths_in_the_order_of_the_catalogue(folder):
    assert require_files(TOY, folder) == [folder / "toy.arff", folder / "toy.xml"]
    assert is_here(TOY, folder)


def test_require_files_names_what_is_missing_and_what_to_do(folder):
    (folder / "toy.xml").unlink()
    with pytest.raises(InputError) as error:
        require_files(TOY, folder)
    assert str(error.value) == (
        f"toy lacks toy.xml in the folder {folder}. Run: nldd datasets fetch toy, "
        "or set NLDD_DATA to a folder that has all files of it."
    )
    assert not is_here(TOY, folder)


@pytest.mark.parametrize("kind", ["no folder", "file in the way"])
def test_require_files_without_a_folder_is_the_same_error(kind, tmp_path):
    if kind == "file in the way":
        (tmp_path / "data").write_text("not a folder")
    with pytest.raises(InputError, match=r"toy lacks toy\.arff, toy\.xml in the folder"):
        require_files(TOY, tmp_path / "data")


def test_require_files_reports_a_wrong_size_as_damage(folder):
    (folder / "toy.xml").write_bytes(b"<lab")
    with pytest.raises(InputError, match=r"toy\.xml is damaged: 4 bytes instead of 10\. Run: nldd"):
        require_files(TOY, folder)


def test_verify_tells_ok_missing_and_damaged_apart(folder):
    contents = CONTENT | {"gone.arff": b"x", "same-size.arff": b"abc", "short.arff": b"abc"}
    (folder / "same-size.arff").write_bytes(b"abd")
    (folder / "short.arff").write_bytes(b"ab")
    found = {
        state.path.name: (state.state, state.n_bytes, state.sha256)
        for state in verify(entry_of(contents), folder)
    }
    assert found == {
        "toy.arff": ("ok", 14, hashlib.sha256(CONTENT["toy.arff"]).hexdigest()),
        "toy.xml": ("ok", 10, hashlib.sha256(CONTENT["toy.xml"]).hexdigest()),
        "gone.arff": ("missing", None, None),
        "same-size.arff": ("damaged", 3, hashlib.sha256(b"abd").hexdigest()),
        "short.arff": ("damaged", 2, None),
    }


def test_verify_takes_a_folder_in_place_of_a_file_as_missing(folder):
    (folder / "toy.xml").unlink()
    (folder / "toy.xml").mkdir()
    assert [state.state for state in verify(TOY, folder)] == ["ok", "missing"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("look", [verify, require_files])
def test_a_folder_that_cannot_be_read_is_a_plain_error(look, folder):
    loop = folder / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"cannot be read: .*\. Set NLDD_DATA or --data-dir to"):
        look(TOY, loop)


def test_verify_looks_at_the_whole_catalogue_by_default(tmp_path):
    states = verify(data_dir=tmp_path)
    assert list(dict.fromkeys(state.dataset for state in states)) == list(CATALOGUE)
    assert {state.state for state in states} == {"missing"}


def test_select_entries_takes_each_data_set_once():
    names = [entry.name for entry in select_entries(["scene", "emotions", "scene"])]
    assert names == ["scene", "emotions"]
    assert select_entries("all") == list(CATALOGUE.values())
    assert select_entries(["yeast", "all"])[0].name == "yeast"
    assert len(select_entries(["yeast", "all"])) == 9
