"""What tells of quality as people call it: inspect, evaluate, audit, frequencies and so on."""

from dataclasses import asdict

import pytest

from coding_tables import (
    COLUMNS,
    HEADER,
    ROWS,
    answers,
    as_json,
    call,
    counts_of,
    read_csv,
    write_csv,
)
from nldd import __version__
from nldd.coding.audit import judge_checks
from nldd.coding.evaluation import evaluate_table
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model_file import load_coding_model


@pytest.fixture
def coded(study):
    path = study / "coded.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", "-o", path)
    assert call(*words, "--max-theta", "0.05") == 0
    return path


@pytest.fixture
def checked(study, coded):
    """The study with a sample that people have checked."""
    sample = study / "coded.audit.csv"
    assert call("audit", coded, "--sample", "12") == 0
    truth = {row[0]: row[-1] for row in read_csv(study / "truth.csv")[1]}
    header, rows = read_csv(sample)
    codes, marks = header.index("nldd_codes"), []
    for row in rows:
        right = row[codes] == truth[row[0]]
        marks.append([*row[:-2], "yes" if right else "no", "" if right else truth[row[0]]])
    write_csv(sample, marks, header)
    return study


def test_frequencies_are_told_and_written(checked, succeed, refuse):
    files, page = (checked / "model.nldd", checked / "coded.csv"), checked / "shares.html"
    out = checked / "shares.csv"
    words = ("frequencies", *files, "--checked", checked / "coded.audit.csv")
    done = succeed(*words, "-o", out)
    assert done.out.startswith("Shares of the codes in all 40 answers\n")
    assert f"Shares: {out}" in done.out
    header, rows = read_csv(out)
    assert list(header[:7]) == ["code", "name", "share", "low", "high", "raw", "bias"]
    record = succeed(*words, "--json").json
    assert record["n_people"] == 12
    assert [row[0] for row in rows] == [code["code"] for code in record["codes"]]
    for row, code in zip(rows, record["codes"], strict=True):
        assert float(row[2]) == pytest.approx(code["share"], abs=1e-6)
    assert "already exists" in refuse("frequencies", *files, "-o", out)[0]
    book = write_csv(checked / "book.csv", [("pay", "Salaries")], ("code", "name"))
    succeed("codebook", checked / "model.nldd", book)
    succeed("frequencies", *files, "-o", out, "--force", "--report", page)
    assert ("pay", "Salaries") in {row[:2] for row in read_csv(out)[1]}
    html = page.read_text(encoding="utf-8")
    assert "pay: Salaries" in html and "That is an assumption." in html


def test_a_checked_sample_joins_the_model(checked, succeed, refuse):
    """Right codes of the machine, and others in place of wrong ones; what is open does not join."""
    model, coded, sample = (checked / name for name in ("model.nldd", "coded.csv", "second.csv"))
    succeed("audit", coded, "--sample", "6", "-o", sample)
    message, hint = refuse("update", model, sample)
    assert "second.csv" in message and "'nldd_check'" in message
    assert "nldd_right_codes" in hint
    header, rows = read_csv(sample)
    marks = [("yes", ""), ("no", "food; pay"), ("ja", ""), ("no", ""), ("", ""), ("no", "pay")]
    write_csv(sample, [(*row[:-2], *m) for row, m in zip(rows, marks, strict=True)], header)
    before = load_coding_model(model)
    succeed("update", model, sample)
    after = load_coding_model(model)
    assert (after.history[-1].n_added, after.history[-1].n_set_aside) == (4, 2)
    place, text = header.index("nldd_codes"), header.index("answer")
    codes = [{*rows[0][place].split(";")}, {"food", "pay"}, {*rows[2][place].split(";")}, {"pay"}]
    assert after.answers.texts[-4:] == [rows[i][text] for i in (0, 1, 2, 5)]
    assert list(map(set, after.codes(after.Y)[-4:])) == codes
    # They are a sample of the sure ones only.
    assert after.drawn.tolist() == [*before.drawn.tolist(), *[False] * 4]


def test_suspects_are_told_and_written(checked, succeed, refuse):
    rows = answers(90)
    swapped = [(*row[:-1], rows[i + 1][-1]) if i % 30 == 7 else row for i, row in enumerate(rows)]
    model, out = checked / "other.nldd", checked / "suspects.csv"
    table = write_csv(checked / "swapped.csv", swapped)
    assert call("fit", table, *COLUMNS, "--folds", "3", "--no-report", "-o", model) == 0
    used = read_csv(table)[1][7][-1].split(";")[0]
    succeed("codebook", model, write_csv(checked / "book.csv", [(used, "Z")], ("code", "name")))
    done = succeed("suspects", model, "-o", out)
    found = succeed("suspects", model, "--json").json
    assert done.out.startswith(f"{len(found['suspects'])} of 90 coded answers of the model may be")
    assert f" {used}: Z" in done.out
    numbers = [suspect["number"] for suspect in found["suspects"]]
    assert {8, 38, 68} & set(numbers)
    assert [int(row[0]) for row in read_csv(out)[1]] == numbers
    assert refuse("suspects", model, "-o", out)[0].endswith(" already exists.")


def test_agreement_is_told_and_disagreements_are_written(tmp_path, succeed, refuse):
    rows, out = answers(30), tmp_path / "differ.csv"
    a = write_csv(tmp_path / "ann.csv", rows)
    other = [(*row[:-1], rows[0][-1]) if i in (4, 9) else row for i, row in enumerate(rows)]
    other[2] = (*rows[2][:-1], "")
    b = write_csv(tmp_path / "bob.csv", other)
    done = succeed("agreement", a, b, *COLUMNS, "-o", out)
    assert "29 answers coded by two or more, matched by their order. 1 answer more" in done.out
    header, found = read_csv(out)
    assert list(header) == ["row", "answer", "ann.csv", "bob.csv", "differ_in", "distance"]
    cells = {int(row[0]): (row[2], row[3]) for row in found}
    assert cells == {i + 1: (rows[i][-1], rows[0][-1]) for i in (4, 9)}
    record = succeed("agreement", a, b, *COLUMNS, "--id", HEADER[0], "--json").json
    assert (record["n_answers"], record["n_same"]) == (29, 27)
    assert record["masi"]["low"] <= record["masi"]["value"] <= record["masi"]["high"]
    assert len(record["disagreements"]) == 2
    assert "already exists" in refuse("agreement", a, b, *COLUMNS, "-o", out)[0]


def test_inspect_shows_all_that_the_model_knows(study, succeed):
    path = study / "model.nldd"
    model = load_coding_model(path)
    record = succeed("inspect", path, "--json").json
    assert record["columns"] == as_json(asdict(model.columns))
    assert record["labels"] == counts_of(ROWS)
    assert record["weights"] == as_json(model.classifier.weights_._asdict())
    assert record["history"] == [asdict(event) for event in model.history]
    lines = [" ".join(line.split()) for line in succeed("inspect", path).out.splitlines()]
    assert {f"Model {path}", "coded answers 108", f"nldd {__version__}"} <= set(lines)
    for code, count in counts_of(ROWS).items():
        assert any(line.startswith(f"{code} {count} ") for line in lines)
    event = model.history[0]
    (step,) = (line for line in lines if " fit answers.csv 108 (12 set aside) 108 " in line)
    assert step.endswith(f"{100 * event.subset_accuracy:.1f} %")
    assert lines[-1] == f"answers.csv read by nldd fit {event.sha256}"


def test_evaluate_agrees_with_python(study, succeed):
    model = load_coding_model(study / "model.nldd")
    quality = evaluate_table(model, study / "truth.csv", goal=GuaranteeTarget(0.8))
    words = ("evaluate", study / "model.nldd", study / "truth.csv", "--target-accuracy", "0.8")
    record = succeed(*words, "--no-report", "--json").json
    assert (record["rows"], record["coded"], record["set_aside"]) == (40, 40, 0)
    assert record == {"report": None, **as_json(quality.to_dict())}
    assert succeed(*words, "--no-report").out == f"{quality}\n"
    for score in quality.scores:
        assert f"{score.value:.4f}  ({score.low:.4f} to {score.high:.4f})" in str(quality)


def test_evaluate_writes_a_report_beside_the_table(study, succeed):
    done = succeed("evaluate", study / "model.nldd", study / "truth.csv")
    report = study / "truth.report.html"
    assert done.out.endswith(f"\nReport: {report}\n")
    assert "home office" in report.read_text(encoding="utf-8")


def test_audit_draws_automatic_codes_in_their_order(coded, succeed):
    header, rows = read_csv(coded)
    auto = [row for row in rows if row[5] == "auto"]
    record = succeed("audit", coded, "--sample", "8", "--json").json
    sample = coded.with_name("coded.audit.csv")
    counts = {"n_rows": 40, "n_auto": len(auto), "n_sample": 8, "n_besides": 0}
    assert record == {"out": str(sample), **counts}
    found, drawn = read_csv(sample)
    assert found == (*header, "nldd_check", "nldd_right_codes")
    assert [row[:-2] for row in drawn] == [row for row in auto if (*row, "", "") in drawn]
    assert len(drawn) == 8
    assert {row[-1] for row in drawn} == {""}
    succeed("audit", coded, "--sample", "8", "--seed", "1", "-o", sample, "--force")
    assert read_csv(sample)[1] != drawn
    text = succeed("audit", coded, "--force").out
    assert text.startswith(f"{len(auto)} of {len(auto)} ")
    assert text.endswith(f"  nldd audit {sample}\n")


def test_audit_tells_the_verified_accuracy(coded, succeed, refuse):
    succeed("audit", coded, "--sample", "12")
    sample, second = coded.with_name("coded.audit.csv"), coded.with_name("second.csv")
    assert "nldd_check" in refuse("audit", sample)[0]  # nothing is filled in
    header, rows = read_csv(sample)
    marks = ["yes", "YES", "1", "ok", "y", "right", "ja", "no", "0", " yes ", "", ""]
    write_csv(sample, [(*r[:-2], mark, "") for r, mark in zip(rows, marks, strict=True)], header)
    record = succeed("audit", sample, "--json").json
    assert record == judge_checks([True] * 8 + [False] * 2, n_open=2).to_dict()
    assert f"{record['needed']:,} in all" in succeed("audit", sample).out
    assert "Kept" in succeed("audit", sample, "--target-accuracy", "0.4").out
    succeed("audit", coded, "--besides", sample, "--sample", "5", "-o", second)
    assert succeed("audit", sample, second, "--json").json["n_open"] == 7
    refuse("audit", coded, sample)  # a coded table and a sample
