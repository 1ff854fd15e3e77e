"""How the coding commands end, what they show on terminals, and what they do without extras."""

import os
import subprocess
import sys

import pytest

from coding_tables import ADDED, COLUMNS, HEADER, QUICK, answers, read_csv, write_csv
from nldd import cli

FIT = ("fit", "answers.csv", *COLUMNS, *QUICK, "-o", "made.nldd")
PREDICT = ("predict", "model.nldd", "new.csv")


@pytest.fixture
def study(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def test_a_mistake_of_ours_says_what_to_report(study, nldd, monkeypatch):
    monkeypatch.setattr("nldd.coding.model_file.load_coding_model", lambda path: 1 / 0)
    done = nldd(*PREDICT, "-o", "coded.csv")
    assert (done.code, done.out) == (1, "")
    first, second = done.err.splitlines()
    assert "a mistake in nldd, not in your data: ZeroDivisionError" in first
    assert "nldd --debug predict" in second


def test_interruption_exits_with_130(study, nldd, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nldd.coding.training.fit_table", interrupt)
    done = nldd(*FIT)
    assert (done.code, done.out) == (130, "")
    assert done.err.split() == ["Interrupted."]


def test_interruption_between_blocks_leaves_the_old_file(study, tmp_path, nldd, monkeypatch):
    from nldd.coding import coded_answers

    code_block, calls = coded_answers._code_block, []

    def interrupt(answers, *more):
        calls.append(len(answers))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return code_block(answers, *more)

    monkeypatch.setattr(coded_answers, "_code_block", interrupt)
    monkeypatch.setattr(coded_answers, "BLOCK_ROWS", 10)
    (tmp_path / "coded.csv").write_text("old")
    words = (*PREDICT, "-o", tmp_path / "coded.csv", "--review", tmp_path / "review.csv")
    assert nldd(*words, "--force").code == 130
    assert calls == [10, 10, 10]
    assert [path.name for path in tmp_path.iterdir()] == ["coded.csv"]
    assert (tmp_path / "coded.csv").read_text() == "old"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell, succeed):
    script = succeed("completion", shell).out
    assert f"_NLDD_COMPLETE={shell}_complete" in script
    assert "nldd" in script


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nldd tri", {"triage"}),
        ("nldd ", {name for part in cli.COMMANDS.values() for name in part}),
        ("nldd predict --max", {"--max-theta"}),
        ("nldd triage --measure ", {"subset", "hamming", "per-code"}),
        ("nldd demo s", {"survey"}),
    ],
)
def test_completion_completes(line, expected, capsys, monkeypatch):
    monkeypatch.setenv("_NLDD_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    with pytest.raises(SystemExit) as ended:
        cli.run([])
    assert ended.value.code == 0
    found = capsys.readouterr().out.split()
    assert {word.partition(",")[2] for word in found} == expected


def blocked(monkeypatch, *names):
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_workbooks_and_old_encodings_need_no_extra(study, tmp_path, succeed, monkeypatch):
    blocked(monkeypatch, "openpyxl", "pyarrow")
    succeed(*PREDICT, "-o", tmp_path / "coded.xlsx")
    rows = [("a", "zu wenig Geld für Überstunden, schön wäre mehr", "", "Köln")] * 9
    path = write_csv(tmp_path / "new.csv", rows, HEADER[:-1], encoding="cp1252")
    succeed("predict", "model.nldd", path, "-o", tmp_path / "b.csv")
    assert [row[:4] for row in read_csv(tmp_path / "b.csv")[1]] == rows
    succeed("predict", "model.nldd", tmp_path / "coded.xlsx", "-o", tmp_path / "c.csv")
    assert read_csv(tmp_path / "c.csv")[0][4:11] == ADDED


def test_parquet_without_its_reader_names_the_command(study, tmp_path, refuse, monkeypatch):
    blocked(monkeypatch, "pyarrow", "pyarrow.parquet")
    (tmp_path / "new.parquet").write_bytes(b"PAR1\x15 and so on PAR1")
    words = ("predict", "model.nldd", tmp_path / "new.parquet", "-o", tmp_path / "coded.csv")
    error, hint = refuse(*words)
    assert "pyarrow" in error
    assert hint == 'pip install "nldd[parquet]"'


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_command_quietly(study, tmp_path):
    path = write_csv(tmp_path / "new.csv", answers(3000))
    code = "from nldd.cli import main; main()"
    words = [sys.executable, "-c", code, "predict", "model.nldd", str(path), "-o", "-"]
    reader, writer = os.pipe()
    done = subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, err = done.communicate()
    assert done.returncode == 1
    assert "Traceback" not in err
