"""What the coding commands say when they cannot do their work, and how they end."""

import os
import shlex

import pytest
from openpyxl import Workbook

from coding_tables import COLUMNS, HEADER, answers, write_csv


@pytest.fixture
def study(made, monkeypatch):
    """Nothing in the folder may change, as all tests here share it."""
    monkeypatch.chdir(made)
    before = contents(made)
    yield made
    assert contents(made) == before


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


CODES = "--text answer --labels codes"
FIT = f"fit answers.csv {CODES} --folds 2 --no-report --force -o made.nldd"
PREDICT = "predict model.nldd new.csv"
CODED = f"{PREDICT} -o coded.csv"
TARGET = "triage model.nldd --target-accuracy"

# Commands, and what their error or its advice names.
REFUSED = [
    (f"fit answer.csv {CODES} -o made.nldd", "answer.csv"),
    ("fit answers.csv --text anwser --labels codes -o made.nldd", "'answer'?"),
    (f"{FIT} --label-columns code*", "'codes'"),
    (f"{FIT} --encoding klingon", "klingon"),
    (f"{FIT} --delimiter ab", "one character"),
    (f"{CODED} --delimiter tab", "'answer'"),
    (f"{FIT} --sheet one", "no sheets"),
    (f"fit answers.csv {CODES} -o new.csv/model.nldd", "new.csv/model.nldd"),
    ("triage mdel.nldd", "mdel.nldd"),
    ("predict answers.csv new.csv -o coded.csv", "'id,answe'"),
    ("predict model.nldd model.nldd -o coded.csv", "a model of nldd"),
    ("audit model.nldd", "a model of nldd"),
    (f"{CODED} --review coded.csv", "coded.csv is named twice"),
    (f"{PREDICT} -o coded.ods", "'.ods'"),
    (f"{PREDICT} -o coded", ".csv"),
    (f"{PREDICT} -o new.csv/coded.csv", "new.csv/coded.csv"),
    ("evaluate model.nldd new.csv", "no column 'codes'"),
    ("update model.nldd answers.csv", "--again"),
    ("audit answers.csv", "'nldd_status'"),
]

MISSPELT = [
    (f"fit . {CODES}", "'.'"),
    ("inspect .", "'.'"),
    (f"{FIT} --sep ''", "--sep"),
    (f"{CODED} --max-theta 0.1 --target-accuracy 0.9", "--max-theta"),
    (f"{CODED} --max-theta 0.1 --measure hamming", "--max-theta"),
    (f"{CODED} --confidence '99,5 %'", "0.9 for 90 %"),
    *((f"{TARGET} {text}", "0.9 for 90 %") for text in ("90", "90%", "0,9")),
    *((f"{TARGET} {text}", repr(text)) for text in ("1", "0", "-3", "nan", "inf", "much")),
    (f"fit answers.csv {CODES} --folds 1", "range"),
    (PREDICT, "'-o'"),
    ("triage", "'MODEL'"),
    ("triage model.nldd --measure f1", "'f1'"),
    ("triage model.nldd --confidense 1", "--confidense"),
    ("trige model.nldd", "'trige'"),
    ("completion csh", "'csh'"),
    ("evaluate model.nldd truth.csv --measure per-code", "hamming"),
    ("audit new.csv --sample 0", "range"),
]


@pytest.mark.parametrize(("command", "named"), REFUSED)
def test_what_cannot_be_used_is_told_in_two_lines(command, named, study, refuse):
    assert named in " ".join(refuse(*shlex.split(command)))


@pytest.mark.parametrize(("command", "named"), MISSPELT)
def test_misspelt_commands_exit_with_2(command, named, study, refuse):
    error, hint = refuse(*shlex.split(command), code=2)
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
def test_tables_to_learn_nothing_from_are_refused(rows, error, tmp_path, refuse):
    path = write_csv(tmp_path / "answers.csv", rows)
    found, _ = refuse("fit", path, *COLUMNS, "-o", tmp_path / "model.nldd")
    assert error in found
    assert {path.name for path in tmp_path.iterdir()} <= {"answers.csv", ".model.nldd.lock"}


@pytest.mark.parametrize("command", ["inspect", "predict", "update", "evaluate"])
@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 and no more", b"\x80\x04\x95 a pickle", b"answer,codes\n"],
    ids=["empty", "cut", "pickle", "CSV"],
)
def test_models_that_are_none_are_refused(command, content, study, tmp_path, refuse):
    path = tmp_path / "bad.nldd"
    path.write_bytes(content)
    table = {"predict": ["new.csv", "-o", tmp_path / "coded.csv"], "update": ["truth.csv"]}
    words = [command, path, *table.get(command, ["truth.csv"] * (command == "evaluate"))]
    error, _ = refuse(*words)
    assert error.startswith(f"{path}: ") or error.startswith("bad.nldd: ")
    assert path.read_bytes() == content
    assert not (tmp_path / "coded.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_the_input_by_another_name_is_not_overwritten(study, tmp_path, refuse):
    (tmp_path / "alias.csv").symlink_to(study / "new.csv")
    error, _ = refuse(*PREDICT.split(), "-o", tmp_path / "alias.csv")
    assert "named twice" in error


@pytest.mark.parametrize("command", ["update", "evaluate"])
def test_a_column_of_the_model_with_another_name_is_to_be_renamed(command, study, tmp_path, refuse):
    header = (*HEADER[:-1], "nldd_codes", "Kodes")
    path = write_csv(tmp_path / "coded.csv", [(*row, row[-1]) for row in answers(9)], header)
    error, hint = refuse(command, "model.nldd", path)
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


def test_a_workbook_in_the_place_of_the_model_and_its_second_sheet(
    study, tmp_path, succeed, refuse
):
    path, coded = two_sheets(tmp_path / "new.xlsx"), tmp_path / "coded.csv"
    error, hint = refuse("predict", path, "model.nldd", "-o", coded)
    assert "Excel" in error
    assert "the model comes first" in hint
    error, hint = refuse("predict", "model.nldd", path, "-o", coded)
    assert "new.xlsx" in error
    assert "'Wave 2'" in hint
    succeed("predict", "model.nldd", path, "--sheet", "Wave 2", "-o", coded)
    assert coded.read_bytes().startswith(b"\xef\xbb\xbfid,answer,")  # as Excel opens it
