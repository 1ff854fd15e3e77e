"""Update as people call it, and the demonstration of all of it."""

from dataclasses import asdict

import pytest

from coding_tables import (
    ADDED,
    COLUMNS,
    HEADER,
    NEW,
    QUICK,
    answers,
    as_json,
    call,
    counts_of,
    read_csv,
    write_csv,
)
from nldd.coding.automation import triage
from nldd.coding.model_file import load_coding_model
from nldd.datasets import load_survey
from nldd.exceptions import InputError

CORRECTED = [(*row[:-1], "") if i % 5 == 0 else row for i, row in enumerate(answers(30, seed=3))]


@pytest.fixture
def corrected(study):
    return write_csv(study / "corrected.csv", CORRECTED)


def test_update_lets_answers_join_and_keeps_the_history(study, corrected, succeed):
    path = study / "model.nldd"
    before = load_coding_model(path)
    record = succeed("update", path, corrected, "--json").json
    after, joined = load_coding_model(path), [row for row in CORRECTED if row[-1]]
    assert after.answers.texts == [*before.answers.texts, *(row[1] for row in joined)]
    given = [set(names) for names in after.codes(after.Y)[-24:]]
    assert given == [set(row[-1].split(";")) for row in joined]
    assert after.history[0] == before.history[0]
    event = after.history[1]
    assert (event.action, event.file) == ("update", "corrected.csv")
    assert (event.n_added, event.n_set_aside, event.n_answers) == (24, 6, 132)
    assert record["history"] == [asdict(event) for event in after.history]
    assert record["rows"] == as_json([asdict(row) for row in triage(after).rows])
    assert record["selection"]["threshold"] == after.select().threshold


def test_after_an_update_it_is_told_on_what_the_promise_is_tested(study, corrected, succeed):
    path = study / "model.nldd"
    coded = ("predict", path, study / "new.csv", "-o", "-")
    commands = [("triage", path), (*coded, "--target-accuracy", "0.5")]
    for words in commands:
        assert "drawn at random" not in succeed(*words).err
    done = succeed("update", path, corrected, "--no-report")
    assert done.out.startswith("24 coded answers joined the model, 6 set aside")
    for said in (done.err, *(succeed(*words).err for words in commands)):
        assert "132 coded answers, 108 were drawn at random" in said
        assert "nldd predict --random 50" in said
    header, rows = (*HEADER, "nldd_drawn"), answers(10, seed=9)
    marked = [("q" + row[0], *row[1:], "yes" if i < 4 else "") for i, row in enumerate(rows)]
    said = succeed("update", path, write_csv(study / "more.csv", marked, header), "--no-report").err
    assert "142 coded answers, 112 were drawn at random" in said
    assert "--random" not in said
    assert succeed("inspect", path, "--json").json["drawn"] == 112


def test_what_exists_is_replaced_by_force_alone(study, corrected, succeed, refuse):
    path, before = study / "model.nldd", (study / "model.nldd").read_bytes()
    new, coded = study / "new.csv", study / "coded.csv"
    fit = ("fit", study / "answers.csv", *COLUMNS, *QUICK, "-o", path)
    succeed("predict", path, new, "-o", coded, "--max-theta", "1")
    kept = ("other.nldd", "other.csv", "model.report.html", "truth.report.html", "curve.png")
    for name in kept:
        (study / name).write_text("somebody's work")
    for words in (
        fit,
        ("update", path, corrected, "-o", study / "other.nldd"),
        ("update", path, corrected),
        ("evaluate", path, study / "truth.csv"),
        ("triage", path, "--figure", study / "curve"),
        ("predict", path, new, "-o", study / "other.csv"),
        ("predict", path, new, "-o", study / "c.csv", "--review", study / "other.csv"),
        ("audit", coded, "-o", study / "other.csv"),
    ):
        error, _ = refuse(*words)
        assert error.endswith(" already exists.")
    assert path.read_bytes() == before
    assert {(study / name).read_text() for name in kept} == {"somebody's work"}
    assert not (study / "curve.svg").exists() and not (study / "c.csv").exists()
    succeed("audit", coded, "-o", study / "other.csv", "--force")
    assert "nldd_check" in read_csv(study / "other.csv")[0]
    assert f"Before: {path}.bak" in succeed(*fit, "--force").out
    assert (study / "model.nldd.bak").read_bytes() == before


def test_update_renews_the_report_that_nldd_wrote_about_the_model(
    study, corrected, succeed, refuse
):
    path, report = study / "model.nldd", study / "model.report.html"
    new = study / "other.nldd"
    succeed("update", path, corrected, "-o", new)
    other = study / "other.report.html"
    assert "132 coded answers" in other.read_text(encoding="utf-8")
    other.rename(report)  # which is about another model
    more = write_csv(study / "more.csv", [("q1", "more pay", "30", "Bonn", "pay")])
    error, _ = refuse("update", path, more)
    assert error == f"{report} already exists."
    report.rename(other)
    succeed("update", new, more)
    assert "133 coded answers" in other.read_text(encoding="utf-8")


def test_undo_tells_what_it_takes_back(study, corrected, succeed):
    path, before = study / "model.nldd", (study / "model.nldd").read_bytes()
    succeed("update", path, corrected, "--no-report")
    event = load_coding_model(path).history[-1]
    assert succeed("undo", path).out.startswith("Undone: update with corrected.csv of ")
    assert path.read_bytes() == before
    record = succeed("undo", path, "--json").json
    assert [step["file"] for step in record["came_back"]] == ["corrected.csv"]
    assert (record["taken_back"], record["n_answers"]) == ([], 132)
    assert load_coding_model(path).history[-1] == event


def test_update_refuses_misspelt_codes(study, succeed, nldd):
    path = write_csv(study / "more.csv", [("a", "free beer", "30", "Bonn", "Pay")])
    done = nldd("update", study / "model.nldd", path)
    assert (done.code, done.out) == (1, "")
    assert "row 1: 'Pay': meant as 'pay'?" in done.err and "--new-codes" in done.err
    done = succeed("update", study / "model.nldd", path, "--new-codes")
    assert "Note: New codes: 'Pay'." in done.err


def test_update_refuses_a_file_that_has_joined(study, corrected, succeed, refuse):
    path = study / "model.nldd"
    succeed("update", path, corrected)
    content = path.read_bytes()
    error, hint = refuse("update", path, corrected)
    assert error.startswith("corrected.csv: ")
    assert "--again" in hint
    assert path.read_bytes() == content
    # Its answers have ids, so they are known again even so.
    error, _ = refuse("update", path, corrected, "--again")
    assert "all 24 coded answers" in error
    assert path.read_bytes() == content


def test_a_review_filled_in_in_a_workbook_updates_the_model(study, succeed):
    openpyxl = pytest.importorskip("openpyxl")
    path, review = study / "model.nldd", study / "review.xlsx"
    words = ("predict", path, study / "new.csv", "-o", study / "coded.xlsx", "--review", review)
    succeed(*words, "--max-theta", "0")
    book = openpyxl.load_workbook(review)
    header, *rows = book.worksheets[0].iter_rows()
    place = {cell.value: j for j, cell in enumerate(header)}
    for row in rows[:4]:
        row[place["codes"]].value = "food;pay;rooms"
    rows[4][place["nldd_ok"]].value = "x"
    texts = [row[place["answer"]].value for row in rows[:5]]
    kept = rows[4][place["nldd_codes"]].value
    book.save(review)
    assert "35 rows with the suggestion unchanged" in succeed("update", path, review).err
    model = load_coding_model(path)
    assert (model.history[-1].n_added, model.history[-1].n_set_aside) == (5, 35)
    joined = [";".join(codes) for codes in model.codes(model.Y)[-5:]]
    assert joined == [*["food;pay;rooms"] * 4, kept]
    assert model.answers.texts[-5:] == texts
    assert not model.drawn[-5:].any()
    succeed("update", path, review, "--accept-suggestions", "--again")
    assert load_coding_model(path).history[-1].n_added == 35


def test_columns_of_marks_go_the_whole_way_round(tmp_path, succeed, refuse):
    codes = ("food", "pay", "rooms")
    header = ("answer", *(f"q1_{code}" for code in codes))
    listed = [(text, set(names.split(";"))) for _, text, _, _, names in answers(90)]
    rows = [(text, *(int(code in names) for code in codes)) for text, names in listed]
    path = write_csv(tmp_path / "answers.csv", rows, header)
    model, review = tmp_path / "model.nldd", tmp_path / "review.csv"
    words = ("fit", path, "--text", "answer", "--label-columns", "q1_*", *QUICK, "-o", model)
    assert succeed(*words, "--json").json["n_without_code"] > 0
    new = write_csv(tmp_path / "new.csv", [(row[1],) for row in NEW], ("answer",))
    words = ("predict", model, new, "-o", tmp_path / "coded.csv", "--review", review)
    succeed(*words, "--max-theta", "0")
    found, cells = read_csv(review)
    assert found[:5] == (*header, "nldd_ok")
    assert {cell for row in cells for cell in row[1:4]} == {"0", "1"}
    filled = [(row[0], "x", "", "", "ok", *row[5:]) for row in cells]
    succeed("update", model, write_csv(review, filled, found))
    # Without ids, answers that the model has word by word with these codes do not join again.
    known = {row[0] for row in rows if row[1:] == (1, 0, 0)}
    joined = load_coding_model(model).Y[len(rows) :].tolist()
    assert joined == [[1, 0, 0]] * sum(row[0] not in known for row in cells)
    assert len(joined) > 20
    refuse("update", model, write_csv(review, [*filled, filled[0]], found))


def test_suggestions_of_renamed_and_merged_marks_are_still_suggestions(tmp_path, succeed, refuse):
    codes = ("food", "pay", "rooms")
    rows = [(i, text, *(int(c in names) for c in codes)) for i, text, _, _, names in answers(90)]
    path = write_csv(tmp_path / "answers.csv", rows, ("id", "answer", *codes))
    model, review = tmp_path / "model.nldd", tmp_path / "review.csv"
    columns = ("--text", "answer", "--label-columns", ",".join(codes), *QUICK)
    succeed("fit", path, *columns, "-o", model)
    new = write_csv(tmp_path / "new.csv", [(f"n{row[0]}", row[1]) for row in NEW], ("id", "answer"))
    book = [("pay", "money"), ("rooms", "place"), ("food", "place")]
    for merges in (book[:1], book):  # a rename, then a merge
        changed = write_csv(tmp_path / "book.csv", merges, ("code", "merged_into"))
        succeed("codebook", model, changed, "--jobs", "1")
        out = ("-o", tmp_path / "coded.csv", "--review", review, "--force", "--max-theta", "0")
        succeed("predict", model, new, *out)
        error, _ = refuse("update", model, review)
        assert "with the suggestion unchanged" in error
        # What only shows a suggestion is no code of people for predict, either.
        again = ("predict", model, review, "-o", "-", "--max-theta", "1", "--raw")
        assert ",coded," not in succeed(*again).out
    header, cells = read_csv(review)
    marks = [header.index(code) for code in codes]
    suggested = header.index("nldd_codes")
    for row in cells:
        food, pay, rooms = (row[j] == "1" for j in marks)
        names = set(filter(None, row[suggested].split(";")))
        assert names == {n for n, there in (("money", pay), ("place", food or rooms)) if there}
        assert not rooms  # the first of the merged columns has the mark


@pytest.mark.slow
def test_demo_walks_through_a_study(tmp_path, succeed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed("demo", "survey")
    done = succeed("demo", "survey", "--force")  # once more, in the same place
    folder = tmp_path / "nldd-survey"
    assert "synthetic" in done.out
    steps = [line for line in done.out.splitlines() if line.startswith("$ nldd ")]
    walked = ["fit", "triage", "predict", "update", "frequencies", "review"]  # the last for you
    assert [line.split()[2] for line in steps] == walked
    header, rows = read_csv(folder / "coded.csv")
    assert len(rows) == 300
    assert header[-8:] == (*ADDED, "nldd_drawn")
    # The survey knows the truth: that lies within the intervals, for nearly all codes.
    truth = counts_of(load_survey().rows[1200:])
    _, shares = read_csv(folder / "shares.csv")
    held = [float(low) <= truth[code] / 300 <= float(high) for code, _, _, low, high, *_ in shares]
    assert sum(held) >= len(held) - 1 == 11
    assert load_coding_model(folder / "model.nldd").history[-1].action == "update"
    assert (folder / "model.report.html").exists()
    assert set(HEADER) <= set(read_csv(folder / "answers.csv")[0])
    assert COLUMNS[0] in steps[0]


@pytest.mark.parametrize("name", ["model.nldd", "answers.csv", "curve.png"])
def test_demo_replaces_nothing_unasked(name, tmp_path, refuse):
    (tmp_path / name).write_text("somebody's work")
    error, hint = refuse("demo", "survey", "--out", tmp_path)
    assert f"has a file {name}" in error
    assert "--force" in hint
    left = [(path.name, path.read_text()) for path in tmp_path.iterdir()]
    assert left == [(name, "somebody's work")]


def test_demo_ends_with_the_error_of_its_step(tmp_path, nldd, monkeypatch):
    def fail(*_, **__):
        raise InputError("the table is damaged.")

    monkeypatch.setattr("nldd.coding.training.fit_table", fail)
    done = nldd("demo", "survey", "--out", tmp_path / "a")
    assert done.code == 1
    assert "Error: the table is damaged." in done.err
    with pytest.raises(InputError):
        call("--debug", "demo", "survey", "--out", tmp_path / "b")
