"""What the coding commands say when they cannot do their work, and how they end."""

import os

import pytest
from openpyxl import Workbook

from coding_tables import COLUMNS, HEADER, QUICK, answers, refuse, succeed, write_csv


@pytest.fixture
def study(made, monkeypatch):
    """Nothing in the folder may change, as all tests here share it."""
    monkeypatch.chdir(made)
    before = contents(made)
    yield made
    assert contents(made) == before


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


FRESH = ("fit", "-o", "made.nldd")
FIT = ("fit", "answers.csv", *COLUMNS, *QUICK, "-o", "made.nldd")
PREDICT = ("predict", "model.nldd", "new.csv")

REFUSED = {
    "missing table": (
        (*FRESH, "answer.csv", *COLUMNS),
        "answer.csv does not exist.",
        "Check the name",
    ),
    "column with a near name": (
        (*FRESH, "answers.csv", "--text", "anwser", "--labels", "codes"),
        "answers.csv has no column 'anwser'.",
        "Did you mean 'answer'?",
    ),
    "column in other letters": (
        (*FRESH, "answers.csv", "--text", "Answer", "--labels", "codes"),
        "answers.csv has no column 'Answer'.",
        "Did you mean 'answer'?",
    ),
    "column with no near name": (
        (*FRESH, "answers.csv", "--text", "zzz", "--labels", "codes"),
        "answers.csv has no column 'zzz'.",
        "Name one of its columns: 'id', 'answer', 'age', 'region', 'codes'",
    ),
    "pattern without a column": (
        (*FRESH, "answers.csv", "--text", "answer", "--label-columns", "q9_*"),
        "No column matches 'q9_*'; the columns are 'id', 'answer'",
        "--label-columns",
    ),
    "both kinds of codes": (
        (*FIT, "--label-columns", "code*"),
        "Name either the columns that hold the codes or the columns of 0 and 1.",
        "answers.csv has the columns 'id', 'answer', 'age', 'region', 'codes'",
    ),
    "no kind of codes": (
        (*FRESH, "answers.csv", "--text", "answer"),
        "Name either the columns that hold the codes or the columns of 0 and 1.",
        "--labels NAME",
    ),
    "nothing to code from": (
        (*FRESH, "answers.csv", "--labels", "codes"),
        "No column to code from was named.",
        "--text NAME",
    ),
    "column named twice": (
        (*FRESH, "answers.csv", "--text", "answer", "--labels", "answer"),
        "Column 'answer' is named twice",
        "name each column once",
    ),
    "column of marks with text": (
        (*FRESH, "answers.csv", "--text", "answer", "--label-columns", "region"),
        "answers.csv, row 1, column 'region': expected 0 or 1",
        "--labels NAME",
    ),
    "unknown encoding": ((*FIT, "--encoding", "klingon"), "There is no encoding", "utf-8"),
    "delimiter of two characters": ((*FIT, "--delimiter", "ab"), "must be one character", "tab"),
    "wrong delimiter": (
        (*FIT, "--delimiter", ";"),
        "answers.csv has no column 'answer'.",
        '--delimiter ","; with ";" the header is one name: \'id,answer,age,region,codes\'',
    ),
    "wrong delimiter of new answers": (
        (*PREDICT, "-o", "coded.csv", "--delimiter", "tab"),
        "new.csv has no column 'answer'.",
        '--delimiter ","; with tab the header is one name',
    ),
    "sheet of a CSV file": ((*FIT, "--sheet", "one"), "has no sheets", "Leave out"),
    "folder that is a file": (
        (*FRESH, "answers.csv", *COLUMNS, *QUICK, "-o", "new.csv/model.nldd"),
        "new.csv/model.nldd: cannot be written",
        "Check the name",
    ),
    "missing model": (("triage", "mdel.nldd"), "mdel.nldd: cannot be read", "Check the name"),
    "CSV as a model": (
        ("predict", "answers.csv", "new.csv", "-o", "coded.csv"),
        "answers.csv: not a model of nldd: it begins with 'id,answe'.",
        "such as model.nldd; the model comes first, then the table",
    ),
    "model as a table": (
        ("predict", "model.nldd", "model.nldd", "-o", "coded.csv"),
        "model.nldd is no table of text; it seems to be a model of nldd.",
        "name a table in its place",
    ),
    "model to audit": (
        ("audit", "model.nldd"),
        "model.nldd is no table of text; it seems to be a model of nldd.",
        "name a table in its place",
    ),
    "output is the input": (
        (*PREDICT, "-o", "new.csv"),
        "new.csv is named twice; what is read and what is written must differ.",
        "-o",
    ),
    "review is the output": (
        (*PREDICT, "-o", "coded.csv", "--review", "coded.csv"),
        "is named twice; what is read and what is written must differ.",
        "-o",
    ),
    "unknown ending": (
        (*PREDICT, "-o", "coded.ods"),
        "coded.ods: the ending '.ods' is none of those that are written.",
        "Use one of .csv, .tsv, .txt, .xlsx, .jsonl",
    ),
    "no ending": ((*PREDICT, "-o", "coded"), "coded: the ending ''", "Use one of .csv"),
    "unwritable output": (
        (*PREDICT, "-o", "new.csv/coded.csv"),
        "new.csv/coded.csv cannot be written: ",
        "Check the folder",
    ),
    "codes of the machine instead of people": (
        ("evaluate", "model.nldd", "new.csv"),
        "new.csv has no column 'codes'.",
        "rename the right column to 'codes' in the file, or use another file",
    ),
    "answers that have joined": (
        ("update", "model.nldd", "answers.csv"),
        "answers.csv: the model has these answers already, since ",
        "--again",
    ),
    "audit of what predict did not write": (
        ("audit", "answers.csv"),
        "answers.csv has no column 'nldd_status', so it was not written by nldd predict.",
        "nldd predict",
    ),
}

MISSPELT = {
    "folder as a table": (("fit", ".", *COLUMNS), "File '.' is a directory."),
    "folder as a model": (("inspect", "."), "File '.' is a directory."),
    "empty separator": ((*FIT, "--sep", ""), "--sep must be at least one character"),
    "theta and a target": (
        (*PREDICT, "-o", "coded.csv", "--max-theta", "0.1", "--target-accuracy", "0.9"),
        "--max-theta goes without --target-accuracy",
    ),
    "theta and a measure": (
        (*PREDICT, "-o", "coded.csv", "--max-theta", "0.1", "--measure", "hamming"),
        "--max-theta goes without --target-accuracy",
    ),
    "target in percent": (
        ("triage", "model.nldd", "--target-accuracy", "90"),
        "'--target-accuracy': 90 is not a number between 0 and 1; write 0.9 for 90 %.",
    ),
    "confidence in percent": (
        (*PREDICT, "-o", "coded.csv", "--confidence", "99,5 %"),
        "'--confidence': 99,5 % is not a number between 0 and 1; write 0.995 for 99.5 %.",
    ),
    "percent sign": (("triage", "model.nldd", "--target-accuracy", "90%"), "write 0.9 for 90 %"),
    "decimal comma": (("triage", "model.nldd", "--target-accuracy", "0,9"), "write 0.9 for 90 %"),
    **{
        f"target of {text!r}": (
            ("triage", "model.nldd", "--target-accuracy", text),
            f"{text!r} is not a number above 0 and below 1; write 0.9 for 90 %, say.",
        )
        for text in ("1", "0", "100%", "-3", "nan", "inf", "much", "")
    },
    "one fold": (("fit", "answers.csv", *COLUMNS, "--folds", "1"), "not in the range"),
    "no output": (PREDICT, "Missing option '-o'"),
    "no model": (("triage",), "Missing argument 'MODEL'"),
    "unknown measure": (("triage", "model.nldd", "--measure", "f1"), "'f1' is not one of"),
    "misspelt option": (("triage", "model.nldd", "--confidense", "1"), "No such option"),
    "misspelt command": (("trige", "model.nldd"), "No such command 'trige'"),
    "unknown shell": (("completion", "csh"), "'csh' is not one of"),
    "evaluate code by code": (
        ("evaluate", "model.nldd", "truth.csv", "--measure", "per-code"),
        "evaluate compares whole answers",
    ),
    "sample of none": (("audit", "new.csv", "--sample", "0"), "not in the range"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_told_in_two_lines(name, study, capsys):
    words, error, hint = REFUSED[name]
    found = refuse(capsys, *words, *(["--force"] if words[0] == "fit" else []))
    assert error in found[0]
    assert hint.lower() in found[1].lower()


@pytest.mark.parametrize("name", MISSPELT)
def test_misspelt_commands_exit_with_2(name, study, capsys):
    words, error = MISSPELT[name]
    found = refuse(capsys, *words, code=2)
    assert error in found[0]
    assert found[1].startswith("nldd")
    assert found[1].endswith("--help")


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([(*row[:-1], "") for row in answers(20)], "none of the 20 rows has codes in 'codes'."),
        ([(*row[:-1], " ; ") for row in answers(20)], "none of the 20 rows has codes in 'codes'."),
        ([], "answers.csv has no rows below its header."),
        ([(*row[:-1], "a;b") for row in answers(20)], "carry the same codes, {a, b}"),
        (answers(9), "At least 10 coded answers are needed to learn from; there are 9."),
    ],
    ids=["no codes", "separators only", "no rows", "same codes", "too few"],
)
def test_tables_to_learn_nothing_from_are_refused(rows, error, tmp_path, capsys):
    path = write_csv(tmp_path / "answers.csv", rows)
    found, _ = refuse(capsys, "fit", path, *COLUMNS, "-o", tmp_path / "model.nldd")
    assert error in found
    assert {path.name for path in tmp_path.iterdir()} <= {"answers.csv", ".model.nldd.lock"}


@pytest.mark.parametrize("command", ["triage", "inspect", "predict", "update", "evaluate"])
@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 and no more", b"\x80\x04\x95 a pickle", b"answer,codes\n"],
    ids=["empty", "cut", "pickle", "CSV"],
)
def test_models_that_are_none_are_refused(command, content, study, tmp_path, capsys):
    path = tmp_path / "bad.nldd"
    path.write_bytes(content)
    table = {"predict": ["new.csv", "-o", tmp_path / "coded.csv"], "update": ["truth.csv"]}
    words = [command, path, *table.get(command, ["truth.csv"] * (command == "evaluate"))]
    error, _ = refuse(capsys, *words)
    assert error.startswith(f"{path}: ") or error.startswith("bad.nldd: ")
    assert path.read_bytes() == content
    assert not (tmp_path / "coded.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_the_input_by_another_name_is_not_overwritten(study, tmp_path, capsys):
    (tmp_path / "alias.csv").symlink_to(study / "new.csv")
    error, _ = refuse(capsys, *PREDICT, "-o", tmp_path / "alias.csv")
    assert error.endswith("is named twice; what is read and what is written must differ.")


def test_text_in_a_column_of_numbers_names_its_cell(study, tmp_path, capsys):
    rows = [("a", "more pay", "30", "Bonn"), ("b", "more pay", "thirty", "Bonn")]
    path = write_csv(tmp_path / "new.csv", rows, HEADER[:-1])
    (tmp_path / "coded.csv").write_text("old")
    words = ("predict", "model.nldd", path, "-o", tmp_path / "coded.csv", "--force")
    error, hint = refuse(capsys, *words)
    assert error == "new.csv, row 2, column 'age': expected a number, got 'thirty'."
    assert hint == "correct the cell, or fit the model with --categorical 'age'"
    assert (tmp_path / "coded.csv").read_text() == "old"


def test_a_missing_column_of_new_answers_is_named(study, tmp_path, capsys):
    path = write_csv(tmp_path / "new.csv", [("more pay", "30")], ("answer", "Alter"))
    words = ("predict", "model.nldd", path, "-o", tmp_path / "coded.csv")
    error, hint = refuse(capsys, *words)
    assert error == "new.csv has no column 'age'."
    assert hint == (
        "rename the right column to 'age' in the file, or use another file; this one also has "
        "'Alter'"
    )


@pytest.mark.parametrize("command", ["update", "evaluate"])
def test_a_column_of_the_model_with_another_name_is_to_be_renamed(command, study, tmp_path, capsys):
    header = (*HEADER[:-1], "nldd_codes", "Kodes")
    path = write_csv(tmp_path / "coded.csv", [(*row, row[-1]) for row in answers(9)], header)
    error, hint = refuse(capsys, command, "model.nldd", path)
    assert error == "coded.csv has no column 'codes'."
    assert hint == "rename the column 'Kodes' to 'codes' in the file, or use another file"


def two_sheets(path):
    """New answers on the second sheet of a workbook."""
    book = Workbook()
    book.active.append(["note"])
    book.active.append(["made in May"])
    sheet = book.create_sheet("Wave 2")
    for row in (HEADER, *answers(9)):
        sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate"])
def test_columns_on_another_sheet(command, study, tmp_path, capsys):
    path = two_sheets(tmp_path / "new.xlsx")
    words = {
        "fit": ("fit", path, *COLUMNS, "-o", tmp_path / "model.nldd"),
        "predict": ("predict", "model.nldd", path, "-o", tmp_path / "coded.csv"),
        "evaluate": ("evaluate", "model.nldd", path),
    }
    error, hint = refuse(capsys, *words[command])
    assert error.startswith("new.xlsx has no column ")
    assert hint.endswith("; or --sheet NAME, as the workbook has other sheets: 'Wave 2'")


def test_a_workbook_in_the_place_of_the_model(study, tmp_path, capsys):
    path = two_sheets(tmp_path / "new.xlsx")
    words = (path, "model.nldd", "-o", tmp_path / "coded.csv")
    error, hint = refuse(capsys, "predict", *words)
    assert error == f"{path}: not a model of nldd: it is an Excel workbook."
    assert "the model comes first, then the table" in hint


def test_coded_answers_of_a_workbook_open_in_excel(study, tmp_path, capsys):
    path = two_sheets(tmp_path / "new.xlsx")
    words = ("predict", "model.nldd", path, "--sheet", "Wave 2", "-o", tmp_path / "coded.csv")
    succeed(capsys, *words)
    assert (tmp_path / "coded.csv").read_bytes().startswith(b"\xef\xbb\xbfid,answer,")
