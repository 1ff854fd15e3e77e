"""Fit, triage and predict as people call them: what they print, write and promise."""

import json
import re
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
    refuse,
    succeed,
    write_csv,
)
from nldd.coding.evaluation import evaluate_evidence, evaluate_table, triage
from nldd.coding.guarantee import GuaranteeTarget, select_codes
from nldd.coding.model_file import load_coding_model
from nldd.coding.selective import selective_threshold
from nldd.coding.tables.reading import TableOptions
from nldd.coding.wording import theta_number
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.persistence._models import save_model
from nldd.present.text import percent

PROMISES = {
    "default": (0.9, 0.9, "subset"),
    "cautious": (0.8, 0.95, "subset"),
    "labels": (0.85, 0.9, "hamming"),
    "too much": (0.999, 0.99, "subset"),
}


@pytest.fixture
def study(made):
    return made


@pytest.fixture
def model(study):
    return load_coding_model(study / "model.nldd")


def promise(name):
    target, confidence, measure = PROMISES[name]
    options = ("--target-accuracy", target, "--confidence", confidence, "--measure", measure)
    return (target, confidence, measure), options


def test_fit_prints_what_it_understood(study, tmp_path, capsys):
    out = tmp_path / "model.nldd"
    words = ("fit", study / "answers.csv", *COLUMNS, "--features", "age,region", *QUICK, "-o", out)
    done = succeed(capsys, *words)
    lines = done.out.splitlines()
    coded = [row for row in ROWS if row[-1]]
    combinations = [row[-1] for row in coded]
    once = sum(combinations.count(codes) == 1 for codes in combinations)
    n_codes = sum(counts_of(ROWS).values())
    assert lines[0].startswith('The model reads the text of "answer", the numbers of "age", the ')
    counts = [line.split()[-1] for line in lines[lines.index("") + 3 :][:8]]
    mean, n_combinations = f"{n_codes / 108:.2f}", str(len(set(combinations)))
    assert counts == ["120", "108", "12", "5", mean, "0", n_combinations, str(once)]
    for code, count in counts_of(ROWS).items():
        assert any(line.split()[:-2] == [*code.split(), str(count)] for line in lines)
    fitted = load_coding_model(out)
    for score in evaluate_evidence(fitted).scores:
        if score.key in ("subset_accuracy", "micro_f"):
            interval = f"{score.value:.3f}  ({score.low:.3f} to {score.high:.3f})"
            assert any(score.name in line and interval in line for line in lines)
    assert lines[-1] == f"Model: {out}"
    assert re.search(r"(^|\n)testing: each answer without itself: 2 of 2 in \d+:\d\d\n", done.err)


def test_fit_as_json_agrees_with_the_model_and_the_text(study, tmp_path, capsys):
    words = ("fit", study / "answers.csv", *COLUMNS, "--features", "age,region", *QUICK)
    record = succeed(capsys, *words, "-o", tmp_path / "a.nldd", "--json").json
    text = succeed(capsys, *words, "-o", tmp_path / "b.nldd").out
    fitted = load_coding_model(tmp_path / "a.nldd")
    assert record["model"] == str(tmp_path / "a.nldd")
    assert record["report"] is None
    assert (record["rows"], record["coded"], record["set_aside"]) == (120, 108, 12)
    assert record["labels"] == counts_of(ROWS)
    assert record["scores"] == as_json([asdict(s) for s in evaluate_evidence(fitted).scores])
    made = triage(fitted)
    assert record["triage"]["rows"] == as_json([asdict(row) for row in made.rows])
    assert record["triage"]["selection"]["threshold"] == made.selection.threshold
    for row in record["triage"]["rows"]:
        assert theta_number(row["threshold"]) in text


def test_fit_writes_a_report_beside_the_model(study, tmp_path, capsys):
    words = ("fit", study / "answers.csv", *COLUMNS, "--folds", "2", "-o", tmp_path / "my.nldd")
    record = succeed(capsys, *words, "--json").json
    assert record["report"] == str(tmp_path / "my.report.html")
    page = (tmp_path / "my.report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "home office" in page
    written = {path.name for path in tmp_path.iterdir()} - {".my.nldd.lock"}
    assert written == {"my.nldd", "my.report.html"}


def test_fit_twice_gives_equal_files(study, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a.nldd", "b.nldd"):
        succeed(capsys, "fit", study / "answers.csv", *COLUMNS, *QUICK, "-o", tmp_path / name)
    assert (tmp_path / "a.nldd").read_bytes() == (tmp_path / "b.nldd").read_bytes()


def test_fit_warns_of_another_separator_on_stderr(tmp_path, capsys):
    rows = [(*row[:-1], row[-1].replace(";", ", ")) for row in answers(80)]
    path = write_csv(tmp_path / "answers.csv", rows)
    words = ("fit", path, *COLUMNS, *QUICK, "-o", tmp_path / "m.nldd")
    done = succeed(capsys, *words, "--as-written", "--json")
    assert 'If that separates codes, use --sep ",".' in done.err
    assert len(done.json["labels"]) > 5
    done = succeed(capsys, *words, "--sep", ",", "--force")
    assert re.search(r"^  codes +5$", done.out, re.MULTILINE)


def test_a_mark_tells_answers_to_which_no_code_applies(tmp_path, capsys):
    rows = [(*row[:-1], "-") if i % 4 == 0 else row for i, row in enumerate(answers(80))]
    path = write_csv(tmp_path / "answers.csv", rows)
    words = ("fit", path, *COLUMNS, "--no-code", "-", *QUICK, "-o", tmp_path / "model.nldd")
    record = succeed(capsys, *words, "--json").json
    assert (record["coded"], record["n_without_code"], len(record["labels"])) == (80, 20, 5)
    words = ("predict", tmp_path / "model.nldd", path, "-o", tmp_path / "coded.csv")
    succeed(capsys, *words, "--max-theta", "1", "--raw")
    assert "-" in {row[5] for row in read_csv(tmp_path / "coded.csv")[1]}


def assert_names_what_holds(said, made):
    """Nothing is automated, and the message names the closest test and the targets that hold."""
    said = " ".join(said.split())
    assert (
        f"Nothing can be coded automatically at a target of {100 * made.targets[0].target:g}"
        in (said)
    )
    held = [line for line in made.targets if line.n_auto]
    for line in held:
        assert f"{100 * line.target:g} % ({percent(line.share)} coded automatically)" in said
    assert ("Targets that hold today" in said) == bool(held)
    assert "coded answers would do" not in said
    assert "will be needed" not in said


@pytest.mark.parametrize("name", PROMISES)
def test_triage_agrees_with_python(name, study, model, capsys):
    (target, confidence, measure), options = promise(name)
    right = model.evidence.right(model.Y, measure)
    found = selective_threshold(model.evidence.theta, right, target, confidence, level_share=0.8)
    found = replace(found, measure=measure)
    made = triage(model, target, confidence, measure, human_accuracy=0.95)
    words = ("triage", study / "model.nldd", *options, "--human-accuracy", "0.95")
    record = succeed(capsys, *words, "--json").json
    assert record["selection"] == json.loads(json.dumps({**asdict(found), "share": found.share}))
    assert record["rows"] == as_json([asdict(row) for row in made.rows])
    assert (record["measure"], record["human_accuracy"]) == (measure, 0.95)

    lines = succeed(capsys, *words).out.splitlines()
    first = [line.split()[0] for line in lines[2 : 2 + len(made.targets)]]
    assert first == [f"{100 * row.target:g}" for row in made.targets]
    start = lines.index("Triage: the share of the machine and its accuracy") + 2
    table = [line.replace("(chosen)", "").split() for line in lines[start : start + len(made.rows)]]
    assert [row[0] for row in table] == [theta_number(row.threshold) for row in made.rows]
    assert [row[1] for row in table] == [percent(row.share, 1).split()[0] for row in made.rows]
    assert [row[3] for row in table] == [f"({row.n_auto})" for row in made.rows]
    assert [row[4] for row in table] == [percent(row.accuracy, 1).split()[0] for row in made.rows]
    said = "\n".join(lines)
    assert "if people are right in 95 % of the rest." in said
    assert said.count("(chosen)") == 1 + (found.threshold is not None)
    if found.threshold is None:
        assert_names_what_holds(said, made)
    else:
        assert f"\n\n{percent(found.share, 1)} of answers like these can be coded" in said
        assert f"is at most {found.threshold:.4f}." in said


def test_triage_draws_the_curve(study, tmp_path, capsys):
    done = succeed(capsys, "triage", study / "model.nldd", "--figure", tmp_path / "curve")
    assert done.out.endswith(f"\nCurve: {tmp_path / 'curve.svg'} and curve.png\n")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    words = ("triage", study / "model.nldd", "--figure", tmp_path / "b.png", "--json")
    assert succeed(capsys, *words).json["figure"] == str(tmp_path / "b.svg")


def expected_codes(study, model):
    """Codes and theta of the new answers by the functions of Python."""
    quality, _ = evaluate_table(model, study / "truth.csv", TableOptions())
    found = quality.predictions
    return [";".join(codes) for codes in model.codes(found.Y)], found.theta


@pytest.mark.parametrize("name", ["default", "labels", "too much"])
def test_predict_codes_as_python_does(name, study, model, tmp_path, capsys):
    promised, options = promise(name)
    found = model.select(*promised)
    out, review = tmp_path / "coded.csv", tmp_path / "review.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", *options, "-o", out)
    done = succeed(capsys, *words, "--review", review, "--json")
    codes, theta = expected_codes(study, model)
    threshold = -1.0 if found.threshold is None else found.threshold
    status = ["auto" if value <= threshold else "review" for value in theta]

    header, rows = read_csv(out)
    assert header == (*HEADER[:-1], *ADDED)
    assert [row[:4] for row in rows] == [row[:4] for row in NEW]
    assert [row[4] for row in rows] == codes
    assert [row[5] for row in rows] == status
    np.testing.assert_allclose([float(row[7]) for row in rows], theta, rtol=1e-5)
    assert all(row[8] in model.answers.texts for row in rows)
    found_header, for_people = read_csv(review)
    assert found_header[:6] == (*HEADER[:-1], "codes", "nldd_ok")
    expected = sorted((*row[:4], row[4], "") for row in rows if row[5] == "review")
    assert sorted(row[:6] for row in for_people) == expected
    record = done.json
    assert (record["auto"], record["review"]) == (status.count("auto"), status.count("review"))
    assert sum(record["why"].values()) == record["review"]
    assert record["threshold"] == found.threshold
    assert record["selection"]["n_auto"] == found.n_auto
    if found.threshold is None:
        assert_names_what_holds(done.err, triage(model, *promised))


def test_predict_prints_its_counts(study, tmp_path, capsys):
    words = ("predict", study / "model.nldd", study / "new.csv", "-o", tmp_path / "coded.csv")
    record = succeed(capsys, *words, "--json").json
    lines = succeed(capsys, *words, "--force").out.splitlines()
    share = 100 * record["auto"] / 40
    assert lines[0] == (
        f"40 answers: {record['auto']} coded automatically ({share:.1f} %), "
        f"theta up to {record['threshold']:.4f}"
    )
    assert lines[1].strip().startswith("at least 90 % of these are right")
    assert lines[2] == f"{record['review']} sent to review ({100 - share:.1f} %)"
    assert lines[-1] == f"Coded answers: {tmp_path / 'coded.csv'}"


def test_predict_up_to_a_theta_explains_itself(study, model, tmp_path, capsys):
    codes, theta = expected_codes(study, model)
    limit = float(np.median(theta))
    words = ("predict", study / "model.nldd", study / "new.csv", "-o", tmp_path / "coded.csv")
    done = succeed(capsys, *words, "--max-theta", limit, "--explain", "--json")
    assert done.json["auto"] == int((theta <= limit).sum())
    assert done.json["selection"] is None
    header, rows = read_csv(tmp_path / "coded.csv")
    more = (
        "nldd_Dx",
        "nldd_Dy",
        "nldd_x_part",
        "nldd_y_part",
        "nldd_next_codes",
        "nldd_next_theta",
    )
    assert header[-6:] == more
    assert [row[4] for row in rows] == codes
    assert all(float(row[-1]) >= float(row[7]) and row[-2] != row[4] for row in rows)


def test_the_surest_are_those_most_likely_right_unless_theta_is_asked_for(tmp_path, capsys):
    # Every second answer with several codes is coded wrongly: hard ones, as far as one can tell.
    hard = [";" in row[-1] and i % 2 == 0 for i, row in enumerate(answers(250))]
    rows = [(*row[:-1], "pay") if h else row for h, row in zip(hard, answers(250), strict=True)]
    path, model = write_csv(tmp_path / "answers.csv", rows), tmp_path / "model.nldd"
    options = ("--target-accuracy", "0.8", "--folds", "4")
    words = ("fit", path, *COLUMNS, *options, "-o", model, "--no-report", "--json")
    selection = succeed(capsys, *words).json["triage"]["selection"]
    loaded = load_coding_model(model)
    assert loaded.validation.gain_chance > 0
    assert selection == {**asdict(loaded.select(0.8)), "share": loaded.select(0.8).share}
    assert (selection["rank_by"], selection["limit"] < selection["threshold"]) == ("chance", True)
    said = succeed(capsys, "triage", model, *options[:2]).out
    assert "\n  chance from " in said
    rule = f"is at least {1 - selection['limit']:.4f}. This is a little stricter"
    assert rule in " ".join(said.split())

    out = tmp_path / "coded.csv"
    new = write_csv(tmp_path / "new.csv", [row[:4] for row in NEW], HEADER[:-1])
    for ranking, head in ((), "chance from"), (("--rank-by", "theta"), "theta up to"):
        found = loaded.select(0.8, rank_by=ranking[-1] if ranking else "chance")
        done = succeed(capsys, "predict", model, new, "-o", out, *options[:2], *ranking, "--force")
        assert f" {head} " in done.out.splitlines()[0]
        header, cells = read_csv(out)
        column = "nldd_theta" if ranking else "nldd_chance"
        values = np.array([float(row[header.index(column)]) for row in cells])
        auto = (values if ranking else 1 - values) <= found.limit + 1e-6
        status = header.index("nldd_status")
        assert [row[status] == "auto" for row in cells] == auto.tolist()
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


def test_empty_answers_are_for_people(study, tmp_path, capsys):
    path = write_csv(tmp_path / "new.csv", [("a", " ", "30", "Bonn")], HEADER[:-1])
    words = ("predict", study / "model.nldd", path, "-o", tmp_path / "coded.csv")
    record = succeed(capsys, *words, "--max-theta", "1", "--json").json
    assert (record["review"], record["why"]) == (1, {"the answer is empty": 1})


def test_codes_are_settled_one_by_one_where_asked_for(study, model, tmp_path, capsys):
    options = ("--measure", "per-code", "--target-accuracy", "0.7")
    found = select_codes(model, GuaranteeTarget(0.7))
    record = succeed(capsys, "triage", study / "model.nldd", *options, "--json").json
    assert (record["codes"]["yes"], record["codes"]["no"]) == (found.yes, found.no)
    assert "Code by code, " in succeed(capsys, "triage", study / "model.nldd", *options).out
    out = tmp_path / "coded.csv"
    words = ("predict", study / "model.nldd", study / "new.csv", *options, "-o", out)
    record = succeed(capsys, *words, "--json").json
    header, rows = read_csv(out)
    status = Counter(row[header.index("nldd_status")] for row in rows)
    assert (status["auto"], status["part"]) == (record["auto"], record["part"])
    n_people = status["part"] + status["review"]
    assert record["people"] == n_people
    assert "nldd_ask" in header
    assert record["per_code"]["limits"] == asdict(found.limits)
    said = " ".join(succeed(capsys, *words, "--force").out.split())
    assert "of the codes that the machine sets in an answer, at least 70 % are right" in said
    assert f" {n_people} sent to review (" in said
    words = ("evaluate", study / "model.nldd", study / "truth.csv", *options)
    error, _ = refuse(capsys, *words, code=2)
    assert error == "evaluate compares whole answers; --measure subset or hamming."


@pytest.mark.parametrize("model", [NLDDClassifier(None, random_state=0), MLkNN()])
def test_inspect_shows_classifiers_of_python_too(model, small, tmp_path, capsys):
    save_model(model.fit(*small), tmp_path / "model.nldd")
    assert call("inspect", tmp_path / "model.nldd") == 0
    text = capsys.readouterr().out
    assert f'\n{model}\n\n4 labels: "0", "1", "2", "3"\n' in text
    assert ("log-odds of a wrong label" in text) == isinstance(model, NLDDClassifier)
    assert call("inspect", tmp_path / "model.nldd", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["settings"] == str(model)
    assert said["labels"] == ["0", "1", "2", "3"]
