"""Frequencies, suspects and agreement as people call them: what they print, write and refuse."""

from shutil import copy

import pytest

from coding_tables import COLUMNS, HEADER, answers, call, read_csv, refuse, succeed, write_csv
from nldd.coding.model_file import load_coding_model


@pytest.fixture
def study(made, tmp_path):
    """A study with a coded table and a sample of it that people have checked."""
    for name in ("model.nldd", "new.csv", "truth.csv"):
        copy(made / name, tmp_path)
    coded, sample = tmp_path / "coded.csv", tmp_path / "coded.audit.csv"
    words = ("-o", coded, "--max-theta", "0.01")
    assert call("predict", made / "model.nldd", made / "new.csv", *words) == 0
    assert call("audit", coded, "--sample", "12", "-o", sample) == 0
    truth = {row[0]: row[-1] for row in read_csv(made / "truth.csv")[1]}
    header, rows = read_csv(sample)
    check, codes = header.index("nldd_check"), header.index("nldd_codes")
    header = [*header[: check + 1], "codes"]
    checked = []
    for row in rows:
        right = row[codes] == truth[row[0]]
        checked.append([*row[:check], "yes" if right else "no", "" if right else truth[row[0]]])
    write_csv(sample, checked, header)
    return tmp_path


def test_frequencies_are_told_and_written(study, capsys):
    files, page = (study / "model.nldd", study / "coded.csv"), study / "shares.html"
    out = study / "shares.csv"
    words = ("frequencies", *files, "--checked", study / "coded.audit.csv")
    done = succeed(capsys, *words, "-o", out)
    assert done.out.startswith("Shares of the codes in all 40 answers\n")
    assert f"Shares: {out}" in done.out
    header, rows = read_csv(out)
    assert list(header[:7]) == ["code", "name", "share", "low", "high", "raw", "bias"]
    record = succeed(capsys, *words, "--json").json
    assert record["n_people"] == 12
    assert [row[0] for row in rows] == [code["code"] for code in record["codes"]]
    for row, code in zip(rows, record["codes"], strict=True):
        assert float(row[2]) == pytest.approx(code["share"], abs=1e-6)
    assert "already exists" in refuse(capsys, "frequencies", *files, "-o", out)[0]
    book = write_csv(study / "book.csv", [("pay", "Salaries")], ("code", "name"))
    succeed(capsys, "codebook", study / "model.nldd", book)
    succeed(capsys, "frequencies", *files, "-o", out, "--force", "--report", page)
    assert ("pay", "Salaries") in {row[:2] for row in read_csv(out)[1]}
    html = page.read_text(encoding="utf-8")
    assert "pay: Salaries" in html and "That is an assumption." in html


def test_a_checked_sample_joins_the_model(study, capsys):
    """Right codes of the machine, and others in place of wrong ones; what is open does not join."""
    model, coded, sample = (study / name for name in ("model.nldd", "coded.csv", "second.csv"))
    succeed(capsys, "audit", coded, "--sample", "6", "-o", sample)
    message, hint = refuse(capsys, "update", model, sample)
    assert message == "second.csv: nobody has checked a row in the column 'nldd_check' yet."
    assert "nldd_right_codes" in hint
    header, rows = read_csv(sample)
    marks = [("yes", ""), ("no", "food; pay"), ("ja", ""), ("no", ""), ("", ""), ("no", "pay")]
    write_csv(sample, [(*row[:-2], *m) for row, m in zip(rows, marks, strict=True)], header)
    before = load_coding_model(model)
    succeed(capsys, "update", model, sample)
    after = load_coding_model(model)
    assert (after.history[-1].n_added, after.history[-1].n_set_aside) == (4, 2)
    place, text = header.index("nldd_codes"), header.index("answer")
    codes = [{*rows[0][place].split(";")}, {"food", "pay"}, {*rows[2][place].split(";")}, {"pay"}]
    assert after.answers.texts[-4:] == [rows[i][text] for i in (0, 1, 2, 5)]
    assert list(map(set, after.codes(after.Y)[-4:])) == codes
    # They are a sample of the sure ones only.
    assert after.drawn.tolist() == [*before.drawn.tolist(), *[False] * 4]


def test_suspects_are_told_and_written(study, capsys):
    rows = answers(90)
    swapped = [(*row[:-1], rows[i + 1][-1]) if i % 30 == 7 else row for i, row in enumerate(rows)]
    model, out = study / "other.nldd", study / "suspects.csv"
    table = write_csv(study / "swapped.csv", swapped)
    assert call("fit", table, *COLUMNS, "--folds", "3", "--no-report", "-o", model) == 0
    used = read_csv(table)[1][7][-1].split(";")[0]
    book = write_csv(study / "book.csv", [(used, "Z")], ("code", "name"))
    succeed(capsys, "codebook", model, book)
    done = succeed(capsys, "suspects", model, "-o", out)
    found = succeed(capsys, "suspects", model, "--json").json
    assert done.out.startswith(f"{len(found['suspects'])} of 90 coded answers of the model may be")
    assert f" {used}: Z" in done.out
    numbers = [suspect["number"] for suspect in found["suspects"]]
    assert {8, 38, 68} & set(numbers)
    assert [int(row[0]) for row in read_csv(out)[1]] == numbers
    assert refuse(capsys, "suspects", model, "-o", out)[0].endswith(" already exists.")


def test_agreement_is_told_and_disagreements_are_written(tmp_path, capsys):
    rows, out = answers(30), tmp_path / "differ.csv"
    a = write_csv(tmp_path / "ann.csv", rows)
    other = [(*row[:-1], rows[0][-1]) if i in (4, 9) else row for i, row in enumerate(rows)]
    other[2] = (*rows[2][:-1], "")
    b = write_csv(tmp_path / "bob.csv", other)
    done = succeed(capsys, "agreement", a, b, *COLUMNS, "-o", out)
    assert "29 answers coded by two or more, matched by their order. 1 answer more" in done.out
    header, found = read_csv(out)
    assert list(header) == ["row", "answer", "ann.csv", "bob.csv", "differ_in", "distance"]
    cells = {int(row[0]): (row[2], row[3]) for row in found}
    assert cells == {i + 1: (rows[i][-1], rows[0][-1]) for i in (4, 9)}
    record = succeed(capsys, "agreement", a, b, *COLUMNS, "--id", HEADER[0], "--json").json
    assert (record["n_answers"], record["n_same"]) == (29, 27)
    assert record["masi"]["low"] <= record["masi"]["value"] <= record["masi"]["high"]
    assert len(record["disagreements"]) == 2
    assert "already exists" in refuse(capsys, "agreement", a, b, *COLUMNS, "-o", out)[0]
