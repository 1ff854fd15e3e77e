"""``nldd benchmark`` as people call it."""

import json

import pytest

from bench.runner.trials import n_lines, songs, work_at_home, write_arff, write_csv, written
from nldd import cli
from nldd.bench.runner.benchmark import FACTS
from nldd.bench.runner.records import CELLS, read_records

PROTOCOL = 'folds = 3\nmethods = ["BR", "SMBR", "MLKNN"]\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with data and a protocol; the work is done in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "nowhere"))
    work_at_home(monkeypatch)
    write_csv(songs(), tmp_path / "songs.csv")
    write_arff(songs(), tmp_path / "tunes.arff")
    (tmp_path / "trial.toml").write_text(PROTOCOL)
    return tmp_path


TRIAL = ["benchmark", "--protocol", "trial.toml"]
CSV = ["--datasets", "songs.csv", "--labels", "label_*"]
ARFF = ["--datasets", "tunes.arff"]


def test_own_table_is_benchmarked(here, capsys):
    assert cli.run([*TRIAL, *CSV, "--out", "mine"]) == 0
    out, err = capsys.readouterr()
    assert out == "9 of 9 cells are in mine/cells.jsonl.\nNext: nldd report mine\n"
    assert err == "trial: [##############################] 9/9 cells\n"
    records = read_records(here / "mine" / CELLS)
    assert {(record.dataset, record.method, record.fold) for record in records} == {
        ("songs", method, fold) for method in ("BR", "SMBR", "MLKNN") for fold in range(3)
    }


def test_labels_hold_where_a_file_does_not_say_them(here):
    """As the help has it: the table needs them, the ARFF file has its own."""
    assert cli.run([*TRIAL, *CSV, *ARFF, "--out", "mine"]) == 0
    assert n_lines("mine") == 18


def test_lists_have_commas_or_come_from_repeated_options(here):
    write_csv(songs(), here / "more.csv")
    both = ["--datasets", "songs.csv, more.csv", "--methods", "br, mlknn ,", "--out", "a"]
    assert cli.run([*TRIAL, "--labels", "label_*", *both]) == 0
    assert n_lines("a") == 12
    twice = ["--datasets", "more.csv", "--methods", "BR", "--methods", "MLKNN", "--out", "b"]
    assert cli.run([*TRIAL, *CSV, *twice]) == 0
    assert written("b") == written("a")


def test_groups_are_left_out_one_by_one_and_are_no_feature(here):
    X, Y, _ = songs(18)
    lines = ["speaker,tempo,label_sad,label_calm"]
    lines += [f"{['Ann', 'Bob', 'Eve'][i % 3]},{X[i, 0]},{Y[i, 0]},{Y[i, 1]}" for i in range(18)]
    (here / "talks.csv").write_text("\n".join(lines) + "\n")
    (here / "trial.toml").write_text(
        'methods = ["MLKNN"]\n[split]\nkind = "leave-one-group-out"\ngroups = "speaker"\n'
    )
    assert cli.run([*TRIAL, "--datasets", "talks.csv", "--labels", "label_*", "--out", "a"]) == 0
    records = read_records(here / "a" / CELLS)
    assert [record.details["n_test"] for record in records] == [6, 6, 6]
    assert records[0].details["split"] == "leave one group out, 3 groups"
    assert json.loads((here / "a" / FACTS).read_text())["talks"]["facts"]["n_features"] == 1


def test_texts_are_learned_from_and_what_was_left_out_is_said(here, capsys):
    lines = ["words,id,label_sad", *(f"song {'of rain' * (i % 2)},{i},{i % 2}" for i in range(12))]
    (here / "talks.csv").write_text("\n".join(lines) + "\n")
    words = ["--datasets", "talks.csv", "--labels", "label_*", "--text", "words", "--out", "a"]
    assert cli.run([*TRIAL, *words, "--methods", "BR"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("Note: talks: Left out beside the text: 'id'.\n")
    assert err.count("Note: ") == 1
    records = read_records(here / "a" / CELLS)
    assert [record.scores["zero_one_loss"] for record in records] == [0, 0, 0]
    found = json.loads((here / "a" / FACTS).read_text())["talks"]
    assert found["notes"] == ["Left out beside the text: 'id'."]
    assert (found["facts"]["text"], found["facts"]["tcs"]) == (True, None)


def test_facts_of_more_data_are_added_and_damaged_ones_replaced(here):
    assert cli.run([*TRIAL, *CSV, "--out", "a"]) == 0
    assert cli.run([*TRIAL, *ARFF, "--out", "a"]) == 0
    assert list(json.loads((here / "a" / FACTS).read_text())) == ["songs", "tunes"]
    (here / "a" / FACTS).write_text("{")
    assert cli.run([*TRIAL, *ARFF, "--out", "a"]) == 0
    assert list(json.loads((here / "a" / FACTS).read_text())) == ["tunes"]


def test_other_kind_of_split_is_not_mixed_in(here, capsys):
    assert cli.run([*TRIAL, *ARFF, "--methods", "MLKNN", "--out", "a"]) == 0
    (here / "trial.toml").write_text('split = "stratified"\nfolds = 3\n')
    assert cli.run([*TRIAL, *ARFF, "--methods", "MLKNN", "--out", "a"]) == 1
    assert "do not go with this run" in capsys.readouterr().err


def test_file_may_have_a_comma_in_its_name(here):
    (here / "songs.csv").rename(here / "songs,new.csv")
    assert cli.run([*TRIAL, "--datasets", "songs,new.csv", "--labels", "label_*"]) == 0
    assert {record.dataset for record in read_records(here / "nldd-results/trial" / CELLS)} == {
        "songs,new"
    }


@pytest.mark.slow
def test_list_may_be_longer_than_the_name_of_a_file(here):
    names = []
    for i in range(30):
        write_arff(songs(12), here / f"tunes-{i:03}.arff")
        names.append(f"tunes-{i:03}.arff")
    assert cli.run([*TRIAL, "--datasets", ",".join(names), "--methods", "MLKNN"]) == 0
    assert n_lines("nldd-results/trial") == 90


def test_json_is_all_there_is_on_standard_output(here, capsys):
    assert cli.run([*TRIAL, *ARFF, "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out) == {"file": "nldd-results/trial/cells.jsonl", "cells": 9, "failed": []}
    assert out.count("\n") == 1


def test_failed_cells_are_shown_and_the_exit_code_is_1(here, capsys):
    """One percent of 40 training rows is too little for NLDD, and nothing to BR."""
    (here / "trial.toml").write_text(
        'folds = 3\nmethods = ["BR", "NLDD"]\n[parameters.NLDD]\ntrain_fraction = 0.01\n'
    )
    assert cli.run([*TRIAL, *ARFF]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "3 of 6 cells are in nldd-results/trial/cells.jsonl."
    assert lines[1].startswith("Failed: NLDD on tunes, 3 folds: ")
    assert "NLDD needs at least 4 training rows" in lines[1]
    assert lines[2] == "Try: the same command again, which runs the failed cells once more."
    assert err.splitlines()[-1].endswith("6/6 cells, 3 failed")
    assert n_lines("nldd-results/trial") == 6
    assert cli.run([*TRIAL, *ARFF, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["cells"] == 6
    assert [(cell["method"], cell["fold"]) for cell in found["failed"]] == [
        ("NLDD", 0),
        ("NLDD", 1),
        ("NLDD", 2),
    ]
    assert n_lines("nldd-results/trial") == 9  # they were tried again, and the others were not


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "yaest"], "No data set is called 'yaest'. Did you mean 'yeast'?"),
        (["--datasets", "nowhere.arff"], "nowhere.arff"),
        (["--datasets", "songs.csv"], "Say which columns of songs.csv are labels"),
        (["--datasets", "emotions"], "nldd datasets fetch emotions"),
        (["--datasets", "tunes.arff", "--methods", "NLD"], "did you mean 'NLDD'?"),
        (["--datasets", "tunes.arff", "--protocol", "papr"], "did you mean 'paper'?"),
        (["--datasets", "tunes.arff", "--protocol", "no.toml"], "no.toml"),
        (["--datasets", "tunes.arff", "--protocol", "bad.toml"], "bad.toml: unknown key 'fold'"),
        (["--datasets", "tunes.arff", "--out", "songs.csv/x"], "songs.csv"),
        (["--datasets", "tunes.arff,tunes.arff"], "Two data sets are called 'tunes'"),
    ],
    ids=[
        *("data set", "file", "labels", "not fetched", "method", "protocol", "no protocol"),
        *("key", "folder", "twice"),
    ],
)
def test_request_that_cannot_be_met_is_two_lines_and_exits_with_1(here, capsys, arguments, message):
    (here / "bad.toml").write_text("fold = 3")
    assert cli.run([*TRIAL, *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert message in err
    assert err.count("\n") == 2
    assert err.splitlines()[1].startswith(("Try: nldd benchmark --help", "Try: check the name"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jobs", "0"], "0 workers cannot work"),
        (["--jobs", "two"], "not a valid integer"),
        (["--backend", "threads"], "'threads' is not one of 'processes', 'dask'"),
        (["--dataset", "yeast"], "No such option"),
        (["yeast"], "unexpected extra argument"),
        (["--out", "songs.csv"], "is a file"),
    ],
    ids=["no jobs", "jobs", "backend", "option", "argument", "folder"],
)
def test_misspelt_command_exits_with_2(here, capsys, arguments, message):
    assert cli.run([*TRIAL, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_worker_options_are_handed_on(here, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "nldd.bench.runner.benchmark.run_benchmark",
        lambda *_, **options: seen.append(options) or [],
    )
    dask = ["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    assert cli.run([*TRIAL, *ARFF, "--jobs", "3", *dask]) == 0
    (options,) = seen
    assert (options["n_jobs"], options["backend"]) == (3, "dask")
    assert options["address"] == "tcp://127.0.0.1:1"


def test_address_of_a_cluster_without_the_backend_is_refused(here, capsys):
    assert cli.run([*TRIAL, *ARFF, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert "--backend dask" in capsys.readouterr().err


# Help
