"""Tables as survey firms have them: several coders, a row per code, waves, answers again."""

import pytest

from coding_tables import HEADER, QUICK, answers, read_csv, write_csv
from nldd.coding.model_file import load_coding_model

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
ROWS = answers(100)
LABELS = ("--text", "answer", "--labels", "codes")


def fit(succeed, path, *more, text="answer", labels="codes"):
    out = path.with_name("model.nldd")
    words = ("fit", path, "--text", text, "--labels", labels, *QUICK, "-o", out, "--force", *more)
    done = succeed(*words)
    return load_coding_model(out), done


def two_coders(folder, column="coder"):
    """Each answer twice; the codings of every tenth one differ."""
    rows = []
    for i, (name, text, *_, codes) in enumerate(ROWS):
        other = codes if i % 10 else "pay;rooms" if codes != "pay;rooms" else "food"
        rows += [(name, text, "A", codes), (name, text, "B", other)]
    return write_csv(folder / "two.csv", rows, ("id", "answer", column, "codes"))


def test_two_coders_are_one_answer_tested_against_one_of_them(tmp_path, succeed):
    model, done = fit(succeed, two_coders(tmp_path))
    assert len(model.answers) == len(model.tested) == 100
    assert (~model.taught).sum() == 10
    assert model.history[0].n_added == 100
    assert "2 coders" in done.err and "differ for 10 answers" in done.err
    given = dict(zip(model.answers.ids, model.codes(model.Y), strict=True))
    differing = [given[ROWS[i][0]] for i in range(0, 100, 10)]
    firsts = [tuple(sorted(ROWS[i][-1].split(";"))) for i in range(0, 100, 10)]
    assert 0 < sum(a == b for a, b in zip(differing, firsts, strict=True)) < 10
    assert set(model.classifier.rows_.tolist()) == {i for i in range(100) if i % 10}


def test_one_of_the_coders_may_be_taken(tmp_path, refuse, succeed):
    path = two_coders(tmp_path, column="by")
    model, _ = fit(succeed, path, "--coder-column", "by", "--coder", "B")
    assert len(model.answers) == 100 and model.taught.all()
    assert model.codes(model.Y)[0] in (("pay", "rooms"), ("food",))
    said, hint = refuse("fit", path, *LABELS, "--coder-column", "by", "--coder", "C")
    assert "'A'" in said and "'B'" in said and "--coder" in hint
    said, hint = refuse("fit", path, *LABELS, "--coder", "A")  # in a column of another name
    assert "who coded a row" in said and "--coder-column" in hint


def one_row_per_code(folder, rows=ROWS):
    long = [(name, text, code) for name, text, *_, codes in rows for code in codes.split(";")]
    return write_csv(folder / "long.csv", long, ("id", "comment", "code")), len(long)


def test_one_row_per_code_becomes_one_answer_and_no_code_is_dropped(tmp_path, succeed):
    path, n = one_row_per_code(tmp_path)
    model, done = fit(succeed, path, text="comment", labels="code")
    assert len(model.answers) == 100 < n
    assert int(model.Y.sum()) == n
    expected = {name: tuple(sorted(codes.split(";"))) for name, *_, codes in ROWS}
    assert dict(zip(model.answers.ids, model.codes(model.Y), strict=True)) == expected
    assert model.taught.all()
    assert f"{n} rows are 100 answers" in done.err


def test_no_code_beside_a_code_is_refused_with_the_rows(tmp_path, refuse):
    path, n = one_row_per_code(tmp_path)
    header, rows = read_csv(path)
    write_csv(path, [*rows, (*rows[0][:2], "-")], header)
    words = ("--text", "comment", "--labels", "code", "--no-code", "-")
    said, _ = refuse("fit", path, *words, "-o", tmp_path / "m.nldd")
    assert f"{n + 1:,}" in said and "rows 1 and" in said


def test_waves_of_a_respondent_stay_together_and_count_once(tmp_path, succeed):
    rows = [(f"p{i % 50}", 1 + i // 50, row[1], row[-1]) for i, row in enumerate(ROWS)]
    path = write_csv(tmp_path / "waves.csv", rows, ("Respondent ID", "wave", "answer", "codes"))
    model, done = fit(succeed, path)
    assert model.columns.id == "Respondent ID"
    assert len(model.tested) <= 50 < len(model.answers)
    assert "respondents with several answers" in done.err
    assert load_coding_model(tmp_path / "model.nldd").answers.ids == model.answers.ids


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("id", "nr"), "id"),
        (("ResponseId", "x"), "ResponseId"),
        (("coder_id", "x"), ""),
        (("video", "paid"), ""),
        (("CASE", "id"), "CASE"),  # which keeps more together
    ],
)
def test_a_column_that_is_plainly_one_of_ids_is_found(names, expected, tmp_path, succeed):
    rows = [(f"a{i % 90}", f"b{i}", row[1], row[-1]) for i, row in enumerate(ROWS)]
    path = write_csv(tmp_path / "t.csv", rows, (*names, "answer", "codes"))
    assert fit(succeed, path)[0].columns.id == expected


def test_ids_may_be_named_and_a_few_values_are_none(tmp_path, refuse, succeed):
    rows = [(f"k{i % 70}", i % 2, *row[1:]) for i, row in enumerate(ROWS)]
    header = ("key", "id", "answer", "age", "region", "codes")
    path = write_csv(tmp_path / "t.csv", rows, header)
    assert fit(succeed, path)[0].columns.id == ""
    model, _ = fit(succeed, path, "--id", "key")
    assert len(set(model.answers.ids)) == 70
    said, _ = refuse("fit", path, *LABELS, "--id", "keys", "-o", tmp_path / "m.nldd")
    assert "keys" in said


def test_evaluate_leaves_out_respondents_that_the_model_was_trained_on(tmp_path, succeed, refuse):
    path = write_csv(tmp_path / "answers.csv", ROWS)
    fit(succeed, path)
    new = answers(30, seed=1)
    again = [(name, f"{text} indeed", *rest) for name, text, *rest in ROWS[:20]]
    table = write_csv(tmp_path / "more.csv", [*new, *again, ROWS[50]])
    done = succeed("evaluate", tmp_path / "model.nldd", table, "--no-report", "--json")
    assert done.json["coded"] == 30
    assert "21 coded answers" in done.err
    said, hint = refuse("evaluate", tmp_path / "model.nldd", path, "--no-report")
    assert "trained on all 100" in said and "triage" in hint


def test_after_an_update_the_answers_of_the_model_carry_the_codes_of_people(tmp_path, succeed):
    write_csv(tmp_path / "answers.csv", ROWS)
    fit(succeed, tmp_path / "answers.csv")
    new = answers(40, seed=1)
    table = write_csv(tmp_path / "new.csv", [row[:-1] for row in new], HEADER[:-1])
    odd = [(*row[:-1], "pay;rooms") for row in new[:15]]
    header = ("id", "answer", "age", "region", "codes")
    corrected = write_csv(tmp_path / "corrected.csv", odd, header)
    succeed("update", tmp_path / "model.nldd", corrected, "--no-report")
    words = ("predict", tmp_path / "model.nldd", table, "-o", tmp_path / "coded.csv")
    record = succeed(*words, "--target-accuracy", "0.5", "--json").json
    assert (record["rows"], record["coded"]) == (40, 15)
    assert record["auto"] + record["people"] == 25
    names, rows = read_csv(tmp_path / "coded.csv")
    status, codes = names.index("nldd_status"), names.index("nldd_codes")
    assert [row[status] for row in rows[:15]] == ["coded"] * 15
    assert {row[codes] for row in rows[:15]} == {"pay;rooms"}
    words = ("frequencies", tmp_path / "model.nldd", tmp_path / "coded.csv", "--json")
    assert succeed(*words).json["n_people"] == 15
