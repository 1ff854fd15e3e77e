"""Fit, triage and predict as people call them: what they print, write and guarantee."""

import json
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from coding_tables import (
    ADDED,
    COLUMNS,
    HEADER,
    NEW,
    QUICK,
    ROWS,
    answers,
    as_json,
    call,
    counts_of,
    read_csv,
    write_csv,
)
from nldd.coding.automation import triage
from nldd.coding.evaluation import evaluate_evidence, evaluate_table
from nldd.coding.guarantee import GuaranteeTarget, select_codes, selective_threshold
from nldd.coding.model_file import load_coding_model
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.persistence import save_model

GOALS = {
    "default": GuaranteeTarget(),
    "cautious": GuaranteeTarget(0.8, 0.95),
    "labels": GuaranteeTarget(0.85, measure="hamming"),
    "too much": GuaranteeTarget(0.999, 0.99),
}


@pytest.fixture
def study(made):
    return made


@pytest.fixture
def model(study):
    return load_coding_model(study / "model.nldd")


def options_of(goal):
    names = ("--target-accuracy", "--confidence", "--measure")
    return [word for pair in zip(names, goal, strict=False) for word in pair]


def test_fit_as_json_agrees_with_the_model_and_the_text(study, tmp_path, succeed, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    words = ("fit", study / "answers.csv", *COLUMNS, "--features", "age,region", *QUICK)
    record = succeed(*words, "-o", tmp_path / "a.nldd", "--json").json
    fitted = load_coding_model(tmp_path / "a.nldd")
    assert (record["model"], record["report"]) == (str(tmp_path / "a.nldd"), None)
    assert (record["rows"], record["coded"], record["set_aside"]) == (120, 108, 12)
    assert record["labels"] == counts_of(ROWS)
    assert record["scores"] == as_json([asdict(s) for s in evaluate_evidence(fitted).scores])
    assert record["triage"] == as_json(triage(fitted).to_dict())
    done = succeed(*words, "-o", tmp_path / "b.nldd")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    assert {"rows 120", "coded answers 108", "codes 5"} <= set(shown)
    assert f"codes an answer, on average {record['cardinality']:.2f}" in shown
    assert str(triage(fitted)) in done.out
    assert "2 of 2" in done.err  # progress
    # And a second fit is the same, to the last byte.
    assert (tmp_path / "a.nldd").read_bytes() == (tmp_path / "b.nldd").read_bytes()


def test_fit_writes_a_report_beside_the_model(study, tmp_path, succeed):
    words = ("fit", study / "answers.csv", *COLUMNS, "--folds", "2", "-o", tmp_path / "my.nldd")
    assert succeed(*words, "--json").json["report"] == str(tmp_path / "my.report.html")
    page = (tmp_path / "my.report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "home office" in page
    written = {path.name for path in tmp_path.iterdir()} - {".my.nldd.lock"}
    assert written == {"my.nldd", "my.report.html"}


def test_fit_warns_of_another_separator_on_stderr(tmp_path, succeed):
    rows = [(*row[:-1], row[-1].replace(";", ", ")) for row in answers(80)]
    path = write_csv(tmp_path / "answers.csv", rows)
    words = ("fit", path, *COLUMNS, *QUICK, "-o", tmp_path / "m.nldd", "--json")
    done = succeed(*words, "--as-written")
    assert '--sep ","' in done.err
    assert len(done.json["labels"]) > 5
    assert len(succeed(*words, "--sep", ",", "--force").json["labels"]) == 5


@pytest.mark.parametrize("name", GOALS)
def test_triage_agrees_with_python(name, study, model, succeed):
    goal = GOALS[name]
    right = model.evidence.right(model.Y, goal.measure)
    found = selective_threshold(model.evidence.theta, right, *goal[:2], level_share=0.8)
    made = triage(model, goal, human_accuracy=0.95)
    words = ("triage", study / "model.nldd", *options_of(goal), "--human-accuracy", "0.95")
    record = succeed(*words, "--json").json
    assert record["selection"] == as_json(replace(found, measure=goal.measure).to_dict())
    assert record["rows"] == as_json([asdict(row) for row in made.rows])
    assert (record["measure"], record["human_accuracy"]) == (goal.measure, 0.95)
    assert succeed(*words).out.startswith(str(made))


def test_triage_draws_the_curve(study, tmp_path, succeed):
    done = succeed("triage", study / "model.nldd", "--figure", tmp_path / "curve")
    assert done.out.endswith(f"\nCurve: {tmp_path / 'curve.svg'} and curve.png\n")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    words = ("triage", study / "model.nldd", "--figure", tmp_path / "b.png", "--json")
    assert succeed(*words).json["figure"] == str(tmp_path / "b.svg")


def expected_codes(study, model):
    """Codes and theta of the new answers by the functions of Python."""
    found = evaluate_table(model, study / "truth.csv").predictions
    return [";".join(codes) for codes in model.codes(found.Y)], found.theta


@pytest.mark.parametrize("name", ["labels", "too much"])
def test_predict_codes_as_python_does(name, study, model, tmp_path, succeed):
    goal = GOALS[name]
    found = model.select(goal)
    out, review = tmp_path / "coded.csv", tmp_path / "review.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", *options_of(goal), "-o", out)
    done = succeed(*words, "--review", review, "--json")
    codes, theta = expected_codes(study, model)
    threshold = -1.0 if found.threshold is None else found.threshold
    status = ["auto" if value <= threshold else "review" for value in theta]
    header, rows = read_csv(out)
    assert header == (*HEADER[:-1], *ADDED)
    expected = zip(NEW, codes, status, strict=True)
    assert [row[:6] for row in rows] == [(*row[:4], *cells) for row, *cells in expected]
    assert len(read_csv(review)[1]) == status.count("review")
    record = done.json
    assert (record["auto"], record["review"]) == (status.count("auto"), status.count("review"))
    assert (record["threshold"], record["selection"]["n_auto"]) == (found.threshold, found.n_auto)
    for line in triage(model, goal).targets:  # without a threshold, those that hold are named
        named = f"{100 * line.target:g} % (" in " ".join(done.err.split())
        assert named == (found.threshold is None and line.n_auto > 0)
    assert f"{record['auto']} coded automatically" in succeed(*words, "--force").out


def test_predict_up_to_a_theta_explains_itself(study, model, tmp_path, succeed):
    codes, theta = expected_codes(study, model)
    limit = float(np.median(theta))
    words = ("predict", study / "model.nldd", study / "new.csv", "-o", tmp_path / "coded.csv")
    done = succeed(*words, "--max-theta", limit, "--explain", "--json")
    assert (done.json["auto"], done.json["selection"]) == (int((theta <= limit).sum()), None)
    header, rows = read_csv(tmp_path / "coded.csv")
    assert header[-2:] == ("nldd_next_codes", "nldd_next_probability")
    assert [row[4] for row in rows] == codes


def test_the_surest_are_those_most_likely_right_unless_theta_is_asked_for(tmp_path, succeed):
    # Every second answer with several codes is coded wrongly: hard ones, as far as one can tell.
    hard = [";" in row[-1] and i % 2 == 0 for i, row in enumerate(answers(250))]
    rows = [(*row[:-1], "pay") if h else row for h, row in zip(hard, answers(250), strict=True)]
    path, model = write_csv(tmp_path / "answers.csv", rows), tmp_path / "model.nldd"
    options = ("--target-accuracy", "0.9", "--folds", "4")
    words = ("fit", path, *COLUMNS, *options, "-o", model, "--no-report", "--json")
    selection = succeed(*words).json["triage"]["selection"]
    loaded = load_coding_model(model)
    assert selection == loaded.select(GuaranteeTarget(0.9)).to_dict()
    assert (selection["rank_by"], selection["limit"] < selection["threshold"]) == ("chance", True)
    new, out = write_csv(tmp_path / "n.csv", [r[:4] for r in NEW], HEADER[:-1]), tmp_path / "c.csv"
    for rank_by in ("chance", "theta"):
        found = loaded.select(GuaranteeTarget(0.9, rank_by=rank_by))
        words = ("predict", model, new, "-o", out, *options[:2], "--rank-by", rank_by, "--force")
        assert f" {rank_by} " in succeed(*words).out.splitlines()[0]
        header, cells = read_csv(out)
        values = np.array([float(row[header.index(f"nldd_{rank_by}")]) for row in cells])
        auto = (values if rank_by == "theta" else 1 - values) <= found.limit + 1e-6
        assert [row[header.index("nldd_status")] == "auto" for row in cells] == auto.tolist()
        assert 0 < auto.sum() < len(cells)


def test_predict_to_standard_output_writes_only_the_table_there(study, tmp_path, capfd):
    words = ("predict", study / "model.nldd", study / "new.csv", "-o")
    assert call(*words, tmp_path / "coded.csv") == 0
    capfd.readouterr()
    assert call(*words, "-", "--review", tmp_path / "review.csv") == 0
    out, err = capfd.readouterr()
    assert out.encode() == (tmp_path / "coded.csv").read_bytes()
    assert err.startswith("40 answers: ")
    assert f"For review: {tmp_path / 'review.csv'}" in err


def test_codes_are_settled_one_by_one_where_asked_for(study, model, tmp_path, succeed, refuse):
    options = ("--measure", "per-code", "--target-accuracy", "0.7")
    found = select_codes(model, GuaranteeTarget(0.7))
    record = succeed("triage", study / "model.nldd", *options, "--json").json
    assert (record["codes"]["yes"], record["codes"]["no"]) == (found.yes, found.no)
    out = tmp_path / "coded.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", *options, "-o", out)
    record = succeed(*words, "--json").json
    header, rows = read_csv(out)
    status = Counter(row[header.index("nldd_status")] for row in rows)
    assert (status["auto"], status["part"]) == (record["auto"], record["part"])
    assert record["people"] == status["part"] + status["review"]
    assert "nldd_ask" in header
    assert record["per_code"]["limits"] == asdict(found.limits)
    refuse(*words, "--force", "--random", "3", code=2)  # without a review


@pytest.mark.parametrize("model", [NLDDClassifier(None, random_state=0), MLkNN()])
def test_inspect_shows_classifiers_of_python_too(model, small, tmp_path, succeed):
    save_model(model.fit(*small), tmp_path / "model.nldd")
    text = succeed("inspect", tmp_path / "model.nldd").out
    assert f'\n{model}\n\n4 labels: "0", "1", "2", "3"\n' in text
    assert ("log-odds of a wrong label" in text) == isinstance(model, NLDDClassifier)
    said = json.loads(succeed("inspect", tmp_path / "model.nldd", "--json").out)
    assert (said["settings"], said["labels"]) == (str(model), ["0", "1", "2", "3"])
