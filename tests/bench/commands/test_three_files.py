"""Three files of one's own and a protocol of ten lines, killed in the middle: as the page says."""

import os
import re
import shlex
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.runner.trials import (
    COMMAND,
    alive,
    descendants,
    n_lines,
    songs,
    until,
    work_at_home,
    write_arff,
    write_csv,
    written,
)
from nldd import cli
from nldd.bench.runner.records import read_records

PAGE = (Path(__file__).parents[3] / "docs" / "benchmark.md").read_text("utf-8")
(PROTOCOL,) = re.findall(r"```toml\n(title = \"Birds.*?)```", PAGE, re.DOTALL)
(RUN,) = re.findall(r"\$ nldd (benchmark .*birds-train.*)", PAGE)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with films (ARFF and XML), songs (CSV), and birds (CSV, to train and to test)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(PROTOCOL)
    write_csv(songs(), tmp_path / "songs.csv")
    films = write_arff(songs(50), tmp_path / "films.arff")
    films.write_text(films.read_text().replace(": -C 4", ""))  # the XML file has the labels
    names = "".join(f'<label name="{name}"></label>' for name in songs().label_names)
    (tmp_path / "films.xml").write_text(
        f'<labels xmlns="http://mulan.sourceforge.net/labels">{names}</labels>'
    )
    birds = songs(80)
    birds.X[::9, 1] = np.nan
    for part, rows in (("train", slice(50)), ("test", slice(50, None))):
        rows_of_part = replace(birds, X=birds.X[rows], Y=birds.Y[rows])
        write_csv(rows_of_part, tmp_path / f"birds-{part}.csv")
        text = (tmp_path / f"birds-{part}.csv").read_text()
        (tmp_path / f"birds-{part}.csv").write_text(text.replace("nan", ""))
    return tmp_path


def run_at_home(monkeypatch, out):
    with monkeypatch.context() as patch:
        work_at_home(patch)
        assert cli.run([*shlex.split(RUN)[:-2], "--out", str(out)]) == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_killed_in_the_middle_it_goes_on_and_ends_as_if_undisturbed(here, monkeypatch, capsys):
    assert len(PROTOCOL.strip().splitlines()) == 10
    run_at_home(monkeypatch, here / "undisturbed")
    notes = capsys.readouterr().err
    assert "birds: As the files split it, the first 50 rows are those of birds-train.csv" in notes
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [*COMMAND, *shlex.split(RUN), "--jobs", "1"]
    process = subprocess.Popen(command, **quiet)
    try:
        until(lambda: n_lines("mine") >= 5)
    finally:
        workers = descendants(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    until(lambda: not alive(workers), seconds=30)
    assert 5 <= n_lines("mine") < 33
    assert subprocess.run(command, **quiet, check=False).returncode == 0
    assert written("mine") == written("undisturbed")
    records = read_records(Path("mine/cells.jsonl"))
    assert len(records) == 33  # three methods on two data sets of five folds, and on one split
    assert {(record.dataset, record.details["split"]) for record in records} == {
        ("films", "5-fold cross-validation, stratified by labels"),
        ("songs", "5-fold cross-validation, stratified by labels"),
        ("birds", "given split, 50 and 30 rows"),
    }
    chosen = [r.details["searched"]["best"] for r in records if r.method == "KNN"]
    assert len(chosen) == 11
    assert all(best["n_neighbors"] in (3, 9) for best in chosen)
    assert cli.run(["report", "mine"]) == 0
    assert "birds" in Path("mine/report.html").read_text("utf-8")
