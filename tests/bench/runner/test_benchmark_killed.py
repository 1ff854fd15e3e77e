"""A benchmark that is killed again and again ends as one that nobody disturbed."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bench.runner.trials import (
    COMMAND,
    alive,
    descendants,
    n_lines,
    songs,
    until,
    work_at_home,
    write_csv,
    written,
)
from nldd import cli

pytestmark = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")

METHODS = ["BR", "SMBR", "NLDD", "MLKNN", "CC"]


@pytest.fixture
def started():
    """Processes that must not outlive a test, whatever comes of it."""
    pids = set()
    yield pids
    for pid in alive(pids):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def n_folds():
    return 20


@pytest.fixture
def command(tmp_path, n_folds):
    """Arguments of a benchmark of many quick cells, to the folder `out`; the jobs are to follow."""
    write_csv(songs(120), tmp_path / "songs.csv")
    (tmp_path / "trial.toml").write_text(f"folds = {n_folds}\nmethods = {METHODS}\n")
    data = ["--datasets", str(tmp_path / "songs.csv"), "--labels", "label_*"]
    protocol = ["--protocol", str(tmp_path / "trial.toml")]
    return ["benchmark", *protocol, *data, "--out", str(tmp_path / "out"), "--jobs"]


@pytest.fixture
def undisturbed(tmp_path, command, n_folds, monkeypatch):
    """What a run writes that nobody disturbs."""
    with monkeypatch.context() as patch:
        work_at_home(patch)
        assert cli.run([*command, "1"]) == 0
    (tmp_path / "out").rename(tmp_path / "undisturbed")
    lines = written(tmp_path / "undisturbed")
    assert len(lines) == 5 * n_folds
    return lines


def start(command, **options):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*COMMAND, *command], **(quiet | options))


@pytest.mark.slow  # the next one has a quick dose
@pytest.mark.parametrize(("n_kills", "n_jobs", "n_folds"), [(8, 2, 60)])
def test_killed_run_ends_as_an_undisturbed_one(
    tmp_path, command, undisturbed, started, monkeypatch, n_kills, n_jobs
):
    out, rng = tmp_path / "out", random.Random(n_kills)
    command = [*command, str(n_jobs)]
    for i in range(n_kills):
        process = start(command)
        if i % 4 == 3:  # at any moment of the start
            time.sleep(rng.uniform(0, 3))
        else:
            goal = n_lines(out) + rng.randint(1, len(undisturbed) // (2 * n_kills))
            until(lambda goal=goal: n_lines(out) >= goal)
            assert len(alive(descendants(process.pid))) > n_jobs
        left = descendants(process.pid) - {process.pid}
        started |= left
        process.kill()
        process.wait()
        until(lambda left=left: not alive(left), seconds=30)  # they end by themselves
    assert n_lines(out) < len(undisturbed)  # there was something to kill until the end
    work_at_home(monkeypatch)
    assert cli.run(command) == 0
    assert written(out) == undisturbed


@pytest.mark.parametrize(
    ("n_kills", "n_folds"), [(2, 6), pytest.param(50, 20, marks=pytest.mark.slow)]
)
def test_run_killed_at_any_moment_goes_on(tmp_path, command, undisturbed, monkeypatch, n_kills):
    """In forked processes, which are at work at once."""
    work_at_home(monkeypatch)
    out, rng = tmp_path / "out", random.Random(n_kills)
    for _ in range(n_kills):
        before = n_lines(out)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            cli.run([*command, "1"])
            os._exit(0)
        time.sleep(rng.uniform(0, 0.5))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert n_lines(out) >= before
        if n_lines(out) == len(undisturbed):
            assert written(out) == undisturbed
            (out / "cells.jsonl").unlink()
    assert cli.run([*command, "1"]) == 0
    assert written(out) == undisturbed


@pytest.mark.slow
def test_run_alone_may_write_and_leaves_nothing_behind_when_interrupted(
    tmp_path, command, n_folds, started, capsys
):
    """As a terminal interrupts it: the signal goes to the workers as well."""
    process = start([*command, "1"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: n_lines(tmp_path / "out") >= 1)
    workers = descendants(process.pid) - {process.pid}
    started |= workers
    os.kill(process.pid, signal.SIGSTOP)  # while the second one looks, the first goes nowhere
    assert cli.run([*command, "1"]) == 1
    assert "another benchmark" in capsys.readouterr().err
    os.kill(process.pid, signal.SIGCONT)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.split("\n")[-2] == "Interrupted."
    assert "Traceback" not in errors
    until(lambda: not alive(workers), seconds=15)
    assert 0 < n_lines(tmp_path / "out") < 5 * n_folds
