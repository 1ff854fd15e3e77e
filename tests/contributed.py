"""What users see of the examples of CONTRIBUTING.md; `test_contributing.py` runs this elsewhere."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bench.runner.trials import songs, work_at_home, write_csv
from coding_tables import answers, call, read_csv
from nldd.bench.runner.records import read_predictions, read_records
from nldd.coding.model_file import load_coding_model
from nldd.estimators._registry import METHODS


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    """A folder of results of the new method beside an old one, on two data sets."""
    folder = tmp_path_factory.mktemp("benchmark")
    for name, n_rows in (("songs", 60), ("tunes", 45)):
        write_csv(songs(n_rows), folder / f"{name}.csv")
    (folder / "trial.toml").write_text("folds = 2\n")
    words = ["--protocol", folder / "trial.toml", "--labels", "label_*", "--out", folder / "out"]
    files = f"{folder / 'songs.csv'},{folder / 'tunes.csv'}"
    with pytest.MonkeyPatch.context() as patch:
        work_at_home(patch)
        assert call("benchmark", *words, "--datasets", files, "--methods", "BR,mean") == 0
    return folder / "out"


def test_benchmark_knows_the_method(benchmark):
    records = read_records(benchmark / "cells.jsonl")
    assert [record.error for record in records] == [None] * 8
    (record,) = (r for r in records if (r.method, r.dataset, r.fold) == ("MEAN", "songs", 0))
    kept = read_predictions(benchmark, record.key)
    X, Y, _ = songs()
    train = np.setdiff1d(np.arange(60), kept.rows)
    model = METHODS["MEAN"].default().fit(X[train], Y[train])
    assert len(train) == 30
    assert_array_equal(kept.Y_pred, model.predict(X[kept.rows]))
    assert_allclose(kept.P, model.predict_proba(X[kept.rows]), atol=1e-6)


def test_report_has_the_measure(benchmark):
    assert call("report", benchmark, "--measures", "within_one") == 0
    (path,) = benchmark.rglob("within_one.csv")
    with path.open(newline="", encoding="utf-8-sig") as stream:
        table = {(row["dataset"], row["method"]): row for row in csv.DictReader(stream)}
    folds = {key: [] for key in table}
    for record in read_records(benchmark / "cells.jsonl"):
        kept = read_predictions(benchmark, record.key)
        n_wrong = (kept.Y_pred != songs(60 if record.dataset == "songs" else 45).Y[kept.rows]).sum(
            1
        )
        folds[record.dataset, record.method].append((n_wrong <= 1).mean())
    assert len(folds) == 4
    for key, values in folds.items():
        assert float(table[key]["value"]) == pytest.approx(np.mean(values))
    assert "Within one label" in (benchmark / "report.html").read_text("utf-8")


def test_model_is_fitted_from_the_format(tmp_path):
    rows = answers(60)
    names = ("id", "answer", "age", "region", "codes")
    records = (
        "\n".join(f"{n}: {cell}" for n, cell in zip(names, row, strict=True)) for row in rows
    )
    (tmp_path / "answers.rec").write_text("\n\n".join(records) + "\n")
    words = ("--text", "answer", "--labels", "codes", "--folds", "2", "--jobs", "1", "--no-report")
    path = tmp_path / "model.nldd"
    assert call("fit", tmp_path / "answers.rec", *words, "-o", path) == 0
    model = load_coding_model(path)
    assert list(model.answers.texts) == [row[1] for row in rows]
    assert [set(codes) for codes in model.codes(model.Y)] == [
        set(row[4].split(";")) for row in rows
    ]
    assert call("predict", path, tmp_path / "answers.rec", "-o", tmp_path / "coded.csv") == 0
    header, coded = read_csv(tmp_path / "coded.csv")
    assert len(coded) == 60
    assert coded[0][header.index("answer")] == rows[0][1]
