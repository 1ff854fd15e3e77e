"""``nldd benchmark`` as people call it and see it, on a terminal and in a log."""

import io
import json
import os
import re
import shutil
import time
from itertools import product

import pytest

from bench.runner.trials import n_lines, songs, trial, work_at_home, write_arff, write_csv, written
from nldd import cli
from nldd.bench.commands.benchmark import Watch, progress_lines
from nldd.bench.runner.benchmark import FACTS, Forecast, State, Task
from nldd.bench.runner.cell import cells
from nldd.bench.runner.protocol import Shares
from nldd.bench.runner.records import CELLS, CellRecord, Key, read_records

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


def test_own_files_are_benchmarked(here, capsys, snapshot):
    """The table needs `--labels`, the ARFF file has its own."""
    assert cli.run([*TRIAL, *CSV, *ARFF, "--out", "mine"]) == 0
    out, err = capsys.readouterr()
    snapshot(f"{out}\n{err}", "benchmark")
    records = read_records(here / "mine" / CELLS)
    expected = set(product(("songs", "tunes"), ("BR", "SMBR", "MLKNN"), range(3)))
    assert {(record.dataset, record.method, record.fold) for record in records} == expected


def test_lists_have_commas_or_come_from_repeated_options(here):
    write_csv(songs(), here / "more, all.csv")
    both = ["--datasets", "songs.csv, tunes.arff", "--methods", "br, mlknn ,", "--out", "a"]
    assert cli.run([*TRIAL, "--labels", "label_*", *both]) == 0
    twice = [*ARFF, "--methods", "BR", "--methods", "MLKNN", "--out", "b"]
    assert cli.run([*TRIAL, *CSV, *twice]) == 0
    assert written("b") == written("a")
    comma = ["--datasets", "more, all.csv", "--labels", "label_*", "--methods", "MLKNN"]
    assert cli.run([*TRIAL, *comma]) == 0
    records = read_records(here / "nldd-results/trial" / CELLS)
    assert {record.dataset for record in records} == {"more, all"}


def test_texts_are_learned_from_and_what_was_left_out_is_said(here, capsys):
    lines = ["words,id,label_sad", *(f"song {'of rain' * (i % 2)},{i},{i % 2}" for i in range(12))]
    (here / "talks.csv").write_text("\n".join(lines) + "\n")
    words = ["--datasets", "talks.csv", "--labels", "label_*", "--text", "words", "--out", "a"]
    assert cli.run([*TRIAL, *words, "--methods", "BR"]) == 0
    assert re.findall(r"Note: (talks: .*'id')", capsys.readouterr().err)
    records = read_records(here / "a" / CELLS)
    assert [record.scores["zero_one_loss"] for record in records] == [0, 0, 0]
    found = json.loads((here / "a" / FACTS).read_text())["talks"]
    assert len(found["notes"]) == 1
    assert (found["facts"]["text"], found["facts"]["tcs"]) == (True, None)


def test_facts_of_more_data_are_added_and_damaged_ones_replaced(here):
    both = ["songs", "tunes"]
    for data, names in ((CSV, both[:1]), (ARFF, both), (ARFF, both[1:])):
        if names == ["tunes"]:
            (here / "a" / FACTS).write_text("{")
        assert cli.run([*TRIAL, *data, "--methods", "MLKNN", "--out", "a"]) == 0
        assert list(json.loads((here / "a" / FACTS).read_text())) == names


@pytest.mark.slow
def test_list_may_be_longer_than_the_name_of_a_file(here):
    names = [f"tunes-{i:03}.arff" for i in range(30)]
    for name in names:
        write_arff(songs(12), here / name)
    assert cli.run([*TRIAL, "--datasets", ",".join(names), "--methods", "MLKNN"]) == 0
    assert n_lines("nldd-results/trial") == 90


def test_json_is_all_there_is_on_standard_output(here, capsys):
    assert cli.run([*TRIAL, *ARFF, "--methods", "MLKNN", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"file": "nldd-results/trial/cells.jsonl", "cells": 3, "failed": []}


def test_failed_cells_are_shown_and_the_exit_code_is_1(here, capsys, snapshot):
    """One percent of 40 training rows is too little for NLDD, and nothing to BR."""
    (here / "trial.toml").write_text(
        'folds = 3\nmethods = ["BR", "NLDD"]\n[parameters.NLDD]\ntrain_fraction = 0.01\n'
    )
    assert cli.run([*TRIAL, *ARFF]) == 1
    out, err = capsys.readouterr()
    snapshot(f"{out}\n{err}", "benchmark_failed")
    assert cli.run([*TRIAL, *ARFF, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["cells"] == 6
    assert [(cell["method"], cell["fold"]) for cell in found["failed"]] == [
        ("NLDD", fold) for fold in range(3)
    ]
    assert n_lines("nldd-results/trial") == 9  # they were tried again, and the others were not


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["--datasets", "nowhere.arff"], 1, "nowhere.arff"),
        ([*ARFF, "--methods", "NLD"], 1, "'NLDD'"),
        ([*ARFF, "--protocol", "bad.toml"], 1, "bad.toml: unknown key 'fold'"),
        ([*ARFF, "--out", "songs.csv/x"], 1, "songs.csv"),
        (["--jobs", "0"], 2, "0 workers"),
        (["--backend", "threads"], 2, "'threads'"),
        (["--out", "songs.csv"], 2, "is a file"),
        ([*ARFF, "--scheduler", "tcp://127.0.0.1:1"], 2, "--backend dask"),
    ],
)
def test_request_that_cannot_be_met_is_two_lines(here, capsys, arguments, code, named):
    (here / "bad.toml").write_text("fold = 3")
    assert cli.run([*TRIAL, *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err
    if code == 1:
        assert [line.partition(":")[0] for line in err.splitlines()] == ["Error", "Try"]


def test_worker_options_are_handed_on(here, monkeypatch):
    seen = {}
    target = "nldd.bench.runner.benchmark.run_benchmark"
    monkeypatch.setattr(target, lambda *_, **options: seen.update(options) or [])
    dask = ["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    assert cli.run([*TRIAL, *ARFF, "--jobs", "3", *dask]) == 0
    assert (seen["n_jobs"], seen["backend"], seen["address"]) == (3, "dask", dask[-1])


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def screen(self):
        """Lines that stand there in the end: each redrawing goes up and clears what is below."""
        shown = []
        for up, text in re.findall(r"(?:\x1b\[(\d+)A)?\r\x1b\[J([^\x1b]*)", self.getvalue()):
            del shown[len(shown) - int(up or 0) :]
            shown += text.splitlines()
        return shown


def state(done, *, failed=0, running=(), left=None):
    return State(8, done, failed, list(running), left)


def running(since, expected=None):
    """The last share of a trial, in a worker since then."""
    *_, cell = cells(trial(shares=Shares("songs", "BR", (0.5,))), "songs", songs(), ("BR",))
    return Task(cell, since=since, expected_seconds=expected)


def test_lines_say_how_far_how_long_and_what_failed():
    tasks = [running(90.0), running(40.0, expected=10.0)]
    assert progress_lines("trial:", state(4, failed=1, left=61.7, running=tasks), 100.0) == [
        "trial: [###############...............] 4/8 cells, about 01:02 left, 1 failed",
        "  songs BR on 50%, fold 1: 00:10",
        "  songs BR on 50%, fold 1: 01:00 of about 00:10",
    ]


def test_terminal_is_redrawn_in_place_and_no_line_wraps(monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    out = Terminal()
    watch = Watch("a protocol with a long name:", out)
    watch(state(0, running=[running(999.0), running(999.0)]))
    watch(state(2, running=[running(999.0)]))
    watch(state(8))
    assert out.screen() == ["a protocol with a long name: [" + 29 * "#"]
    # Over the three lines of the first drawing, then over the two of the second.
    assert re.findall(r"\x1b\[(\d+)A", out.getvalue()) == ["3", "2"]


def test_log_has_a_line_a_minute_and_one_at_the_end(monkeypatch):
    seconds = iter(range(1000, 2000))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    out, task = io.StringIO(), running(999.0)
    watch = Watch("trial:", out)
    for _ in range(150):  # two and a half minutes
        watch(state(3, running=[task]))
    watch(state(8))
    assert re.findall(r"\d/8", out.getvalue()) == ["3/8", "3/8", "8/8"]
    assert "\x1b" not in out.getvalue()


def key(dataset, method, fold=0, train_share=None):
    return Key("trial", dataset, method, fold, 0, train_share)


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ([], None),
        # The mean of 2 and 6 seconds, fitting and predicting.
        ([("films", "BR", 1.5), ("films", "BR", 5.5), ("songs", "BR", 99)], 4),
        # 2 seconds for 100 are 6 for 300.
        ([("songs", "BR", 1.5), ("songs", "CC", 50)], 6),
        # 2 / 100 and 12 / 300 a unit, 0.03 in the mean.
        ([("songs", "LP", 1.5), ("films", "CC", 11.5)], 9),
        # Failed cells and shares teach nothing.
        ([("films", "BR", 5, None, "it broke"), ("films", "BR", 7, 0.1, None)], None),
    ],
)
def test_time_is_that_of_the_same_method_on_the_same_data_or_in_proportion(done, expected):
    forecast = Forecast({"songs": 100, "films": 300})
    for dataset, method, seconds, share, error in ((*cell, None, None)[:5] for cell in done):
        of_cell = key(dataset, method, train_share=share)
        forecast.learn(CellRecord(*of_cell, "settings", {}, seconds, 0.5, {}, error=error))
    assert forecast.seconds(key("films", "BR", fold=2)) == pytest.approx(expected)
