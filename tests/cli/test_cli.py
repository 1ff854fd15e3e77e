"""The command line as people call it."""

import subprocess
import sys

import pytest

from nldd import InputError, __version__, cli


def test_demo_prints_tables_on_stdout_and_progress_on_stderr(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["demo", "--folds", "2", "--out", "pictures"]) == 0
    out, err = capfd.readouterr()
    assert "NLDD this run" in out
    assert out.count("\nGene ") == 5
    assert "BR and NLDD on yeast: 4 of 4" in err
    assert (tmp_path / "pictures" / "pairs.png").stat().st_size > 10_000


@pytest.mark.parametrize("way", [("-m", "nldd"), ("-c", "from nldd.cli import main; main()")])
def test_version(way, tmp_path):
    words = [sys.executable, *way, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == f"nldd, version {__version__}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dem"], "No such command 'dem'"),
        (["demo", "--folds", "1"], "1 is not in the range 2<=x<=100"),
        (["demo", "--base", "tree"], "'tree' is not one of 'logistic', 'svm'"),
        (["demo", "--fold"], "No such option"),
        (["demo", "--jobs", "0"], "0 workers cannot work"),
        (["demo", "--seed", "4294967296"], "is not in the range"),
    ],
    ids=["command", "folds", "base", "option", "jobs", "seed"],
)
def test_misspelt_commands_exit_with_2(arguments, message, capsys):
    assert cli.run(arguments) == 2
    assert message in capsys.readouterr().err


def test_errors_are_two_lines_unless_debug(capsys, monkeypatch):
    def fail(**_):
        raise InputError("the data are damaged.")

    monkeypatch.setattr("nldd.bench.commands.demo.run_demo", fail)
    assert cli.run(["demo"]) == 1
    assert capsys.readouterr().err == "Error: the data are damaged.\nTry: nldd demo --help\n"
    with pytest.raises(InputError):
        cli.run(["--debug", "demo"])


def test_unwritable_folder_is_a_plain_error(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert cli.run(["demo", "--folds", "2", "--out", str(tmp_path / "file" / "sub")]) == 1
    out, err = capsys.readouterr()
    assert "Error: " in err
    assert out == ""  # noticed before the work, not after it


@pytest.mark.parametrize(
    ("word", "meant"),
    [("ft", " Did you mean 'fit'?"), ("freqencies", " Did you mean 'frequencies'?"), ("xyzzy", "")],
)
def test_misspelt_command_is_answered_with_the_nearest(word, meant, capsys):
    assert cli.run([word]) == 2
    assert capsys.readouterr().err == f"Error: No such command '{word}'.{meant}\nTry: nldd --help\n"


def test_no_command_shows_help_that_is_no_error(capsys):
    cli.run([])
    shown = "".join(capsys.readouterr())
    assert shown.startswith("Usage: nldd [OPTIONS] COMMAND")
