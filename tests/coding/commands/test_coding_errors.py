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

NEW = ("-o", "coded.csv")
TARGET = ("triage", "model.nldd", "--target-accuracy")

# Words of a command, and what its error or its advice names.
REFUSED = {
    "missing table": ((*FRESH, "answer.csv", *COLUMNS), "answer.csv"),
    "near name": ((*FRESH, "answers.csv", "--text", "anwser", "--labels", "codes"), "'answer'?"),
    "other letters": (
        (*FRESH, "answers.csv", "--text", "Answer", "--labels", "codes"),
        "'answer'?",
    ),
    "no near name": ((*FRESH, "answers.csv", "--text", "zzz", "--labels", "codes"), "'region'"),
    "pattern without a column": (
        (*FRESH, "answers.csv", "--text", "answer", "--label-columns", "q9_*"),
        "'q9_*'",
    ),
    "both kinds of codes": ((*FIT, "--label-columns", "code*"), "'codes'"),
    "no kind of codes": ((*FRESH, "answers.csv", "--text", "answer"), "--labels NAME"),
    "nothing to code from": ((*FRESH, "answers.csv", "--labels", "codes"), "--text NAME"),
    "column named twice": (
        (*FRESH, "answers.csv", "--text", "answer", "--labels", "answer"),
        "'answer' is named twice",
    ),
    "column of marks with text": (
        (*FRESH, "answers.csv", "--text", "answer", "--label-columns", "region"),
        "row 1, column 'region'",
    ),
    "unknown encoding": ((*FIT, "--encoding", "klingon"), "klingon"),
    "delimiter of two characters": ((*FIT, "--delimiter", "ab"), "one character"),
    "wrong delimiter": ((*PREDICT, *NEW, "--delimiter", "tab"), "'answer'"),
    "sheet of a CSV file": ((*FIT, "--sheet", "one"), "no sheets"),
    "folder that is a file": (
        (*FRESH, "answers.csv", *COLUMNS, *QUICK, "-o", "new.csv/model.nldd"),
        "new.csv/model.nldd",
    ),
    "missing model": (("triage", "mdel.nldd"), "mdel.nldd"),
    "CSV as a model": (("predict", "answers.csv", "new.csv", *NEW), "'id,answe'"),
    "model as a table": (("predict", "model.nldd", "model.nldd", *NEW), "a model of nldd"),
    "model to audit": (("audit", "model.nldd"), "a model of nldd"),
    "output is the input": ((*PREDICT, "-o", "new.csv"), "new.csv is named twice"),
    "review is the output": ((*PREDICT, *NEW, "--review", "coded.csv"), "coded.csv is named twice"),
    "unknown ending": ((*PREDICT, "-o", "coded.ods"), "'.ods'"),
    "no ending": ((*PREDICT, "-o", "coded"), ".csv"),
    "unwritable output": ((*PREDICT, "-o", "new.csv/coded.csv"), "new.csv/coded.csv"),
    "codes of the machine": (("evaluate", "model.nldd", "new.csv"), "no column 'codes'"),
    "answers that have joined": (("update", "model.nldd", "answers.csv"), "--again"),
    "audit of another table": (("audit", "answers.csv"), "'nldd_status'"),
}

MISSPELT = {
    "folder as a table": (("fit", ".", *COLUMNS), "'.'"),
    "folder as a model": (("inspect", "."), "'.'"),
    "empty separator": ((*FIT, "--sep", ""), "--sep"),
    "theta and a target": (
        (*PREDICT, *NEW, "--max-theta", "0.1", *TARGET[2:], "0.9"),
        "--max-theta",
    ),
    "theta and a measure": (
        (*PREDICT, *NEW, "--max-theta", "0.1", "--measure", "hamming"),
        "--max-theta",
    ),
    "target in percent": ((*TARGET, "90"), "0.9 for 90 %"),
    "confidence in percent": ((*PREDICT, *NEW, "--confidence", "99,5 %"), "0.9 for 90 %"),
    "percent sign": ((*TARGET, "90%"), "0.9 for 90 %"),
    "decimal comma": ((*TARGET, "0,9"), "0.9 for 90 %"),
    **{
        f"target of {text!r}": ((*TARGET, text), repr(text))
        for text in ("1", "0", "100%", "-3", "nan", "inf", "much", "")
    },
    "one fold": (("fit", "answers.csv", *COLUMNS, "--folds", "1"), "range"),
    "no output": (PREDICT, "'-o'"),
    "no model": (("triage",), "'MODEL'"),
    "unknown measure": (("triage", "model.nldd", "--measure", "f1"), "'f1'"),
    "misspelt option": (("triage", "model.nldd", "--confidense", "1"), "--confidense"),
    "misspelt command": (("trige", "model.nldd"), "'trige'"),
    "unknown shell": (("completion", "csh"), "'csh'"),
    "evaluate code by code": (
        ("evaluate", "model.nldd", "truth.csv", "--measure", "per-code"),
        "hamming",
    ),
    "sample of none": (("audit", "new.csv", "--sample", "0"), "range"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_told_in_two_lines(name, study, capsys):
    words, named = REFUSED[name]
    found = refuse(capsys, *words, *(["--force"] if words[0] == "fit" else []))
    assert named in " ".join(found)


@pytest.mark.parametrize("name", MISSPELT)
def test_misspelt_commands_exit_with_2(name, study, capsys):
    words, named = MISSPELT[name]
    error, hint = refuse(capsys, *words, code=2)
    assert named in error
    assert hint.startswith("nldd")
    assert hint.endswith("--help")


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([(*row[:-1], "") for row in answers(20)], "none of the 20 rows"),
        ([(*row[:-1], " ; ") for row in answers(20)], "none of the 20 rows"),
        ([], "no rows"),
        ([(*row[:-1], "a;b") for row in answers(20)], "{a, b}"),
        (answers(9), "there are 9"),
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
    assert "named twice" in error


def test_text_in_a_column_of_numbers_names_its_cell(study, tmp_path, capsys):
    rows = [("a", "more pay", "30", "Bonn"), ("b", "more pay", "thirty", "Bonn")]
    path = write_csv(tmp_path / "new.csv", rows, HEADER[:-1])
    (tmp_path / "coded.csv").write_text("old")
    words = ("predict", "model.nldd", path, "-o", tmp_path / "coded.csv", "--force")
    error, hint = refuse(capsys, *words)
    assert "new.csv, row 2, column 'age'" in error
    assert "'thirty'" in error
    assert "--categorical 'age'" in hint
    assert (tmp_path / "coded.csv").read_text() == "old"


def test_a_missing_column_of_new_answers_is_named(study, tmp_path, capsys):
    path = write_csv(tmp_path / "new.csv", [("more pay", "30")], ("answer", "Alter"))
    words = ("predict", "model.nldd", path, "-o", tmp_path / "coded.csv")
    error, hint = refuse(capsys, *words)
    assert "'age'" in error
    assert "'Alter'" in hint


@pytest.mark.parametrize("command", ["update", "evaluate"])
def test_a_column_of_the_model_with_another_name_is_to_be_renamed(command, study, tmp_path, capsys):
    header = (*HEADER[:-1], "nldd_codes", "Kodes")
    path = write_csv(tmp_path / "coded.csv", [(*row, row[-1]) for row in answers(9)], header)
    error, hint = refuse(capsys, command, "model.nldd", path)
    assert "'codes'" in error
    assert "'Kodes'" in hint


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
    assert "new.xlsx" in error
    assert "'Wave 2'" in hint


def test_a_workbook_in_the_place_of_the_model(study, tmp_path, capsys):
    path = two_sheets(tmp_path / "new.xlsx")
    words = (path, "model.nldd", "-o", tmp_path / "coded.csv")
    error, hint = refuse(capsys, "predict", *words)
    assert "Excel" in error
    assert "the model comes first" in hint


def test_coded_answers_of_a_workbook_open_in_excel(study, tmp_path, capsys):
    path = two_sheets(tmp_path / "new.xlsx")
    words = ("predict", "model.nldd", path, "--sheet", "Wave 2", "-o", tmp_path / "coded.csv")
    succeed(capsys, *words)
    assert (tmp_path / "coded.csv").read_bytes().startswith(b"\xef\xbb\xbfid,answer,")
