"""``nldd datasets fetch`` and ``verify`` as people call them."""

import json
from types import SimpleNamespace

import pooch.core
import pytest

from file_server import CONTENTS, TOY, entry_of, found, serve, status
from nldd import cli
from nldd.bench.datasets import catalogue
from nldd.bench.datasets.catalogue import CATALOGUE
from paper_data import FOLDER


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder that is not there yet, and a toy data set in the catalogue."""
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NLDD_MIRROR", raising=False)
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setitem(CATALOGUE, "toy", TOY)
    return tmp_path / "data"


@pytest.fixture
def run(folder, capsys):
    """Exit code, standard output and standard error."""

    def run(*arguments):
        code = cli.run(["datasets", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_fetch_says_what_it_fetched(run, folder):
    with serve(CONTENTS) as server:
        code, out, err = run("fetch", "toy", "--mirror", server.url)
        assert (code, out) == (0, "toy  fetched 2 files, 195 KiB\n")
        assert err.startswith("toy.arff (KiB): 196 of 196 in 00:0")
        assert err.endswith("In Python: nldd.bench.load_dataset('toy')\n")
        code, out, err = run("fetch", "toy", "--mirror", server.url)
        assert (code, out) == (0, "toy  was there already\n")
        assert len(server.requests) == 2
    assert found(folder) == CONTENTS


def test_fetch_as_json_into_another_folder(run, tmp_path):
    other = tmp_path / "other"
    with serve(CONTENTS) as server:
        code, out, err = run("fetch", "toy", "--mirror", server.url, "--data-dir", other, "--json")
    assert (code, f"data_dir={str(other)!r}" in err) == (0, False)
    assert [state["state"] for state in json.loads(out)] == ["fetched", "fetched"]
    assert found(other) == CONTENTS


def test_fetch_that_fails_exits_with_1_and_says_what_to_do(run):
    with serve(CONTENTS, [status(503)] * 3) as server:
        code, out, err = run("fetch", "toy", "--mirror", server.url)
    error = err[err.index("Error: ") :].splitlines()
    assert (code, out) == (1, "")
    assert error[1].startswith(f"  {server.url}/toy.arff: 503 ")
    assert error[-1] == "Try: the same again, or --mirror URL"


def test_fetch_that_is_interrupted_leaves_no_half_file(run, folder, monkeypatch):
    def interrupt(steps, *_, **__):
        yield next(steps)
        raise KeyboardInterrupt

    with serve(CONTENTS) as server:
        with monkeypatch.context() as patch:
            patch.setattr(catalogue, "progress", interrupt)
            code, _, err = run("fetch", "toy", "--mirror", server.url)
        assert (code, err.endswith("Interrupted.\n")) == (130, True)
        assert found(folder) == {}
        assert run("fetch", "toy", "--mirror", server.url)[0] == 0
    assert found(folder) == CONTENTS


def test_fetch_into_a_file_is_two_lines(run, folder):
    folder.write_text("in the way")
    code, out, err = run("fetch", "toy", "--mirror", "http://127.0.0.1:9")
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: Cannot write to the folder {folder}: ")
    assert err.count("\n") == 2


def test_verify(run, folder, monkeypatch, snapshot):
    code, out, err = run("verify")
    assert (code, out, f"No file of the catalogue is in {folder}" in err) == (1, "", True)
    monkeypatch.setitem(CATALOGUE, "toy", entry_of({"a.arff": b"abc", "b.xml": b"xy", "c": b"z"}))
    folder.mkdir()
    (folder / "a.arff").write_bytes(b"abd")
    (folder / "b.xml").write_bytes(b"x")
    told = [run("verify"), run("verify", "medical")]
    assert [code for code, _, _ in told] == [1, 1]
    text = "".join(out + err for _, out, err in told)
    snapshot(text.replace(str(folder), "FOLDER"), "datasets_verify")


@pytest.mark.skipif(not (FOLDER / "emotions.arff").exists(), reason="needs the paper's files")
def test_verify_as_json(run):
    code, out, err = run("verify", "--data-dir", FOLDER, "--json")
    states = json.loads(out)
    assert (code, err, len(states)) == (0, "", 17)
    assert {state["state"] for state in states} == {"ok"}
    assert all(state["expected"] == state["found"] for state in states)
