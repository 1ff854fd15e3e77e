"""Inspect, evaluate and audit as people call them."""

import shutil
from dataclasses import asdict

import pytest

from coding_tables import (
    ROWS,
    as_json,
    call,
    counts_of,
    read_csv,
    refuse,
    succeed,
    write_csv,
)
from nldd import __version__
from nldd.coding.audit import judge_checks
from nldd.coding.evaluation import evaluate_table
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model_file import load_coding_model


@pytest.fixture
def study(made, tmp_path):
    """A copy, as these commands change files."""
    return shutil.copytree(made, tmp_path / "study")


def test_inspect_shows_all_that_the_model_knows(study, capsys):
    path = study / "model.nldd"
    model = load_coding_model(path)
    record = succeed(capsys, "inspect", path, "--json").json
    assert record["columns"] == as_json(asdict(model.columns))
    assert record["labels"] == counts_of(ROWS)
    assert record["coefficients"]["beta"] == as_json(model.classifier.regression_.beta)
    assert record["history"] == [asdict(event) for event in model.history]
    lines = [" ".join(line.split()) for line in succeed(capsys, "inspect", path).out.splitlines()]
    assert {f"Model {path}", "coded answers 108", f"nldd {__version__}"} <= set(lines)
    for code, count in counts_of(ROWS).items():
        assert any(line.startswith(f"{code} {count} ") for line in lines)
    event = model.history[0]
    (step,) = (line for line in lines if " fit answers.csv 108 (12 set aside) 108 " in line)
    assert step.endswith(f"{100 * event.subset_accuracy:.1f} %")
    assert lines[-1] == f"answers.csv read by nldd fit {event.sha256}"


def test_evaluate_agrees_with_python(study, capsys):
    model = load_coding_model(study / "model.nldd")
    quality = evaluate_table(model, study / "truth.csv", goal=GuaranteeTarget(0.8))
    words = ("evaluate", study / "model.nldd", study / "truth.csv", "--target-accuracy", "0.8")
    record = succeed(capsys, *words, "--no-report", "--json").json
    assert (record["rows"], record["coded"], record["set_aside"]) == (40, 40, 0)
    assert record == {"report": None, **as_json(quality.to_dict())}
    assert succeed(capsys, *words, "--no-report").out == f"{quality}\n"
    for score in quality.scores:
        assert f"{score.value:.4f}  ({score.low:.4f} to {score.high:.4f})" in str(quality)


def test_evaluate_writes_a_report_beside_the_table(study, capsys):
    done = succeed(capsys, "evaluate", study / "model.nldd", study / "truth.csv")
    report = study / "truth.report.html"
    assert done.out.endswith(f"\nReport: {report}\n")
    assert "home office" in report.read_text(encoding="utf-8")


@pytest.fixture
def coded(study):
    path = study / "coded.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", "-o", path)
    assert call(*words, "--max-theta", "0.05") == 0
    return path


def test_audit_draws_automatic_codes_in_their_order(coded, capsys):
    header, rows = read_csv(coded)
    auto = [row for row in rows if row[5] == "auto"]
    record = succeed(capsys, "audit", coded, "--sample", "8", "--json").json
    sample = coded.with_name("coded.audit.csv")
    counts = {"n_rows": 40, "n_auto": len(auto), "n_sample": 8, "n_besides": 0}
    assert record == {"out": str(sample), **counts}
    found, drawn = read_csv(sample)
    assert found == (*header, "nldd_check", "nldd_right_codes")
    assert [row[:-2] for row in drawn] == [row for row in auto if (*row, "", "") in drawn]
    assert len(drawn) == 8
    assert {row[-1] for row in drawn} == {""}
    succeed(capsys, "audit", coded, "--sample", "8", "--seed", "1", "-o", sample, "--force")
    assert read_csv(sample)[1] != drawn
    text = succeed(capsys, "audit", coded, "--force").out
    assert text.startswith(f"{len(auto)} of {len(auto)} ")
    assert text.endswith(f"  nldd audit {sample}\n")


def test_audit_tells_the_verified_accuracy(coded, capsys):
    succeed(capsys, "audit", coded, "--sample", "12")
    sample, second = coded.with_name("coded.audit.csv"), coded.with_name("second.csv")
    assert "nldd_check" in refuse(capsys, "audit", sample)[0]  # nothing is filled in
    header, rows = read_csv(sample)
    marks = ["yes", "YES", "1", "ok", "y", "right", "ja", "no", "0", " yes ", "", ""]
    write_csv(sample, [(*r[:-2], mark, "") for r, mark in zip(rows, marks, strict=True)], header)
    record = succeed(capsys, "audit", sample, "--json").json
    assert record == judge_checks([True] * 8 + [False] * 2, n_open=2).to_dict()
    assert f"{record['needed']:,} in all" in succeed(capsys, "audit", sample).out
    assert "Kept" in succeed(capsys, "audit", sample, "--target-accuracy", "0.4").out
    succeed(capsys, "audit", coded, "--besides", sample, "--sample", "5", "-o", second)
    assert succeed(capsys, "audit", sample, second, "--json").json["n_open"] == 7
    refuse(capsys, "audit", coded, sample)  # a coded table and a sample
