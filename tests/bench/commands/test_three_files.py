"""Three files of one's own and a protocol of ten lines, as the page says."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.runner.trials import songs, work_at_home, write_arff, write_csv
from nldd import cli
from nldd.bench.runner.records import read_records

PAGE = (Path(__file__).parents[3] / "docs" / "benchmark.md").read_text("utf-8")
(PROTOCOL,) = re.findall(r"```toml\n(title = \"Birds.*?)```", PAGE, re.DOTALL)
(RUN,) = re.findall(r"\$ nldd (benchmark .*birds-train.*)", PAGE)


def write_files(folder):
    """Films (ARFF and XML), songs (CSV), and birds (CSV, to train and to test)."""
    (folder / "mine.toml").write_text(PROTOCOL)
    write_csv(songs(), folder / "songs.csv")
    films = write_arff(songs(50), folder / "films.arff")
    films.write_text(films.read_text().replace(": -C 4", ""))  # the XML file has the labels
    names = "".join(f'<label name="{name}"></label>' for name in songs().label_names)
    (folder / "films.xml").write_text(
        f'<labels xmlns="http://mulan.sourceforge.net/labels">{names}</labels>'
    )
    birds = songs(80)
    birds.X[::9, 1] = np.nan
    for part, rows in (("train", slice(50)), ("test", slice(50, None))):
        part_of_birds = replace(birds, X=birds.X[rows], Y=birds.Y[rows])
        write_csv(part_of_birds, folder / f"birds-{part}.csv")


@pytest.mark.slow
def test_run_and_report_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    work_at_home(monkeypatch)
    assert len(PROTOCOL.strip().splitlines()) == 10
    assert cli.run(shlex.split(RUN)) == 0
    assert "birds: As the files split it, the first 50 rows" in capsys.readouterr().err
    records = read_records("mine/cells.jsonl")
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
