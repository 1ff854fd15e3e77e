"""What people do by mistake or by habit: nothing is lost, and no promise becomes a wrong one."""

import io
import random
import sys

import pytest

from coding_tables import COLUMNS, HEADER, NEW, PHRASES, QUICK, answers, read_csv, write_csv
from nldd import cli
from nldd.coding.model_file import load_coding_model

SEPARATE = ("fit", "answers.csv", *COLUMNS, *QUICK)
REPORTED = ("fit", "answers.csv", *COLUMNS, "--folds", "2", "-o", "model.nldd")
EVALUATE = ("evaluate", "model.nldd", "truth.csv")


@pytest.fixture
def study(study, monkeypatch):
    monkeypatch.chdir(study)
    return study


def fill(path, column, values):
    """Write into a column what people would."""
    header, rows = read_csv(path)
    place = header.index(column)
    pairs = zip(rows, values, strict=False)
    filled = [(*row[:place], value, *row[place + 1 :]) for row, value in pairs]
    write_csv(path, [*filled, *rows[len(filled) :]], header)


def test_a_review_filled_in_twice_counts_each_answer_once(tmp_path, succeed, nldd):
    rng = random.Random(0)
    words = [f"word{i}" for i in range(60)]
    # No answer says anything about its code: whoever promises 90 % is wrong.
    rows = [(" ".join(rng.choices(words, k=6)), rng.choice("abc")) for _ in range(200)]
    header = ("answer", "codes")
    model, review = tmp_path / "model.nldd", tmp_path / "review.csv"
    write_csv(tmp_path / "answers.csv", rows[:100], header)
    succeed("fit", tmp_path / "answers.csv", *COLUMNS, *QUICK, "-o", model)
    for n_filled in (40, 70, 100):
        part = [row if i < n_filled else (row[0], "") for i, row in enumerate(rows[100:])]
        nldd("update", model, write_csv(review, part, header))
    found = load_coding_model(model)
    assert len(found.answers) <= 200
    assert found.evidence.right(found.Y).mean() < 0.5


OVER = {
    "model over answers": (*SEPARATE, "-o", "answers.csv"),
    "report over answers": (*REPORTED, "--report", "answers.csv"),
    "report over its model": (*REPORTED, "--report", "model.nldd"),
    "evaluation over its table": (*EVALUATE, "--report", "truth.csv"),
    "evaluation over its model": (*EVALUATE, "--report", "model.nldd"),
    "sample over coded answers": ("audit", "coded.csv", "-o", "coded.csv"),
    "model over corrections": ("update", "model.nldd", "truth.csv", "-o", "truth.csv"),
    "answers over the model": ("predict", "model.nldd", "new.csv", "-o", "model.nldd"),
}


@pytest.mark.parametrize("name", list(OVER))
def test_no_command_writes_over_what_it_reads_or_writes(name, study, succeed, refuse):
    succeed("predict", "model.nldd", "new.csv", "-o", "coded.csv", "--max-theta", "1")
    before = {path: path.read_bytes() for path in study.iterdir()}
    refuse(*OVER[name])
    assert {path: path.read_bytes() for path in before} == before


def test_predict_does_not_throw_away_codes_of_people(study, succeed, refuse):
    words = ("predict", "model.nldd", "new.csv", "-o", "coded.csv", "--review", "review.csv")
    succeed(*words, "--max-theta", "0")
    fill(study / "review.csv", "codes", ["pay"])
    content = (study / "review.csv").read_bytes()
    error, _ = refuse(*words, "--max-theta", "0", "--force")
    assert error.startswith("review.csv ")
    assert (study / "review.csv").read_bytes() == content


def test_audit_does_not_throw_away_checks_of_people(study, succeed, refuse):
    succeed("predict", "model.nldd", "new.csv", "-o", "coded.csv", "--max-theta", "1")
    succeed("audit", "coded.csv", "--sample", "9")
    fill(study / "coded.audit.csv", "nldd_check", ["yes", "no"])
    content = (study / "coded.audit.csv").read_bytes()
    error, _ = refuse("audit", "coded.csv", "--sample", "9", "--force")
    assert "people filled in" in error
    assert (study / "coded.audit.csv").read_bytes() == content


def test_the_guard_of_a_review_file_is_taken_off_by_update(study, succeed):
    rows = [("a", "=more pay", "-", "-"), ("b", "- better chairs", "44", "+49 Bonn")]
    write_csv(study / "new.csv", rows, HEADER[:-1])
    words = ("predict", "model.nldd", "new.csv", "-o", "coded.csv", "--review", "review.csv")
    succeed(*words, "--max-theta", "0")
    fill(study / "review.csv", "nldd_ok", ["x", "x"])
    succeed("update", "model.nldd", "review.csv")
    answers_ = load_coding_model("model.nldd").answers
    joined = zip(answers_.texts[-2:], answers_.categories[-2:], strict=True)
    assert sorted(joined) == [("- better chairs", ("+49 Bonn",)), ("=more pay", ("-",))]


def test_the_guard_of_a_column_name_is_taken_off_by_update(tmp_path, succeed):
    header = ("id", "+/-", "age", "region", "codes")
    path = write_csv(tmp_path / "answers.csv", answers(60), header)
    model, review = tmp_path / "model.nldd", tmp_path / "review.csv"
    succeed("fit", path, "--text", "+/-", "--labels", "codes", *QUICK, "-o", model)
    new = write_csv(tmp_path / "new.csv", [row[:-1] for row in NEW], header[:-1])
    words = ("predict", model, new, "-o", tmp_path / "coded.csv", "--review", review)
    succeed(*words, "--max-theta", "0")
    fill(review, "nldd_ok", ["x"] * len(NEW))
    succeed("update", model, review)
    joined = load_coding_model(model).answers.texts[-len(NEW) :]
    assert sorted(joined) == sorted(row[1] for row in NEW)


def test_the_mark_for_no_code_survives_the_guard(tmp_path, succeed):
    rows = [(*row[:-1], "-") if i % 3 == 0 else row for i, row in enumerate(answers(60))]
    path = write_csv(tmp_path / "answers.csv", rows)
    model, coded = tmp_path / "model.nldd", tmp_path / "coded.csv"
    succeed("fit", path, *COLUMNS, "--no-code", "-", *QUICK, "-o", model)
    succeed("predict", model, path, "-o", coded, "--max-theta", "1")
    accepted = [(f"new{row[0]}", *row[1:4], row[5]) for row in read_csv(coded)[1][:30]]
    succeed("update", model, write_csv(tmp_path / "more.csv", accepted, HEADER))
    assert load_coding_model(model).labels == tuple(sorted(PHRASES))


def test_json_and_a_table_on_standard_output_are_refused_before_the_work(study, nldd):
    assert nldd("predict", "model.nldd", "new.csv", "-o", "-", "--json").out == ""


def test_fit_notices_beforehand_that_the_model_cannot_be_written(study, refuse, monkeypatch):
    def never(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("nldd.coding.training.fit_coding_model", never)
    error, _ = refuse(*SEPARATE, "-o", "new.csv/model.nldd")
    assert "new.csv/model.nldd: cannot be written" in error


def test_update_of_no_model_leaves_no_file(study, refuse):
    error, _ = refuse("update", "nowhere/model.nldd", "truth.csv")
    assert error.startswith("nowhere/model.nldd: ")
    refuse("update", "mdel.nldd", "truth.csv")
    assert not (study / ".mdel.nldd.lock").exists()


def test_terminals_with_few_letters_show_what_they_can(tmp_path, succeed, monkeypatch):
    rows = [(*row[:-1], row[-1].replace("pay", "💸")) for row in answers(60)]
    path = write_csv(tmp_path / "answers.csv", rows)
    succeed("fit", path, *COLUMNS, *QUICK, "-o", tmp_path / "model.nldd")
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # `main` has its own
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding="cp1252"))
    with pytest.raises(SystemExit) as ended:
        cli.main(["inspect", str(tmp_path / "model.nldd")])
    sys.stdout.flush()
    assert ended.value.code == 0
    assert b"managers" in terminal.getvalue()
