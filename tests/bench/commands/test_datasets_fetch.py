"""``nldd datasets fetch`` and ``verify`` as people call them."""

import json
from types import SimpleNamespace

import pooch.core
import pytest

from file_server import CONTENTS, TOY, entry_of, found, serve, status
from nldd import cli
from nldd.bench.datasets import catalogue as fetch_module
from nldd.bench.datasets.catalogue import CATALOGUE
from paper_data import FOLDER

needs_paper = pytest.mark.skipif(
    not (FOLDER / "emotions.arff").exists(), reason="needs the paper's files: set NLDD_DATA"
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """An empty data folder, and a toy data set in the catalogue."""
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NLDD_MIRROR", raising=False)
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    return tmp_path / "data"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", TOY)
    return TOY


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    code = cli.run(["datasets", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_fetch_says_what_it_fetched(capsys, toy, own_folder):
    with serve(CONTENTS) as server:
        code, out, err = run(capsys, "fetch", "toy", "--mirror", server.url)
        assert (code, out) == (0, "toy  fetched 2 files, 195 KiB\n")
        assert err.startswith("toy.arff (KiB): 196 of 196 in 00:0")
        assert err.endswith("In Python: nldd.bench.load_dataset('toy')\n")
        code, out, err = run(capsys, "fetch", "toy", "--mirror", server.url)
        assert (code, out) == (0, "toy  was there already\n")
        assert len(server.requests) == 2
    assert found(own_folder) == CONTENTS


def test_fetch_as_json_into_another_folder(capsys, toy, tmp_path):
    with serve(CONTENTS) as server:
        options = ["--mirror", server.url, "--data-dir", tmp_path / "other", "--json"]
        code, out, _ = run(capsys, "fetch", "toy", *options)
    assert code == 0
    assert [(state["file"], state["state"]) for state in json.loads(out)] == [
        ("toy.arff", "fetched"),
        ("toy.xml", "fetched"),
    ]
    assert found(tmp_path / "other") == CONTENTS


@pytest.mark.parametrize("expected", [404, 503])
def test_fetch_that_fails_exits_with_1_and_says_what_to_do(expected, capsys, toy):
    with serve(CONTENTS, [status(expected)] * 3) as server:
        code, out, err = run(capsys, "fetch", "toy", "--mirror", server.url)
    assert (code, out) == (1, "")
    error = err[err.index("Error: ") :].splitlines()
    assert error[0] == "Error: toy.arff could not be fetched."
    assert error[1].startswith(f"  {server.url}/toy.arff: {expected} ")
    assert "--mirror or NLDD_MIRROR" in error[-2]
    assert error[-1] == "Try: the same again, or --mirror URL"


def test_fetch_that_is_interrupted_exits_with_130_and_leaves_no_half_file(
    capsys, toy, own_folder, monkeypatch
):
    def interrupt(steps, *_, **__):
        yield next(steps)
        raise KeyboardInterrupt

    with serve(CONTENTS) as server:
        with monkeypatch.context() as patch:
            patch.setattr(fetch_module, "progress", interrupt)
            code, _, err = run(capsys, "fetch", "toy", "--mirror", server.url)
        assert code == 130
        assert err.endswith("Interrupted.\n")
        assert found(own_folder) == {}
        assert run(capsys, "fetch", "toy", "--mirror", server.url)[0] == 0
    assert found(own_folder) == CONTENTS


def test_fetch_into_a_file_is_two_lines(capsys, toy, own_folder):
    own_folder.write_text("in the way")
    code, out, err = run(capsys, "fetch", "toy", "--mirror", "http://127.0.0.1:9")
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: Cannot write to the folder {own_folder}: ")
    assert err.count("\n") == 2


def test_verify_tells_files_apart_and_what_to_run(capsys, monkeypatch, own_folder):
    monkeypatch.setitem(CATALOGUE, "toy", entry_of({"a.arff": b"abc", "b.xml": b"xy", "c": b"z"}))
    own_folder.mkdir()
    (own_folder / "a.arff").write_bytes(b"abd")
    (own_folder / "b.xml").write_bytes(b"x")
    code, out, err = run(capsys, "verify")
    expected = CATALOGUE["toy"].files[0].sha256
    found_sha256 = entry_of({"a": b"abd"}).files[0].sha256
    assert code == 1
    assert out.splitlines() == [
        f"toy  a.arff  damaged: sha256 {found_sha256} instead of {expected}",
        "toy  b.xml   damaged: 1 bytes instead of 2",
        "toy  c       missing",
    ]
    assert err == (
        f"Error: Missing or damaged in {own_folder}: 3 of 3 files.\nTry: nldd datasets fetch toy\n"
    )


def test_verify_of_an_empty_folder_is_an_error(capsys, own_folder):
    code, out, err = run(capsys, "verify")
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: No file of the catalogue is in {own_folder}.\nTry: nldd")


@needs_paper
def test_verify_as_json(capsys):
    code, out, err = run(capsys, "verify", "--data-dir", FOLDER, "--json")
    states = json.loads(out)
    assert (code, err) == (0, "")
    assert len(states) == 17
    assert {state["state"] for state in states} == {"ok"}
    assert all(state["expected"] == state["found"] for state in states)


def test_verify_of_a_named_data_set_that_is_not_here_is_an_error(capsys):
    code, out, err = run(capsys, "verify", "medical")
    assert code == 1
    assert out == "medical  medical.arff  missing\nmedical  medical.xml   missing\n"
    assert "Try: nldd datasets fetch medical" in err
