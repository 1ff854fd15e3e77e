"""Text from files on a terminal: shown, and never obeyed."""

import re
import sys
from dataclasses import replace

import pytest

from coding_tables import COLUMNS, HEADER, QUICK, answers, nldd, write_csv
from nldd import InputError, cli
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.present.console import print_json, show
from nldd.present.text import KEPT, printable

# Clear the screen, in two ways; set the title; ring; turn words around; go back.
EVIL = "\x1b[2J\x9b2J\x1b]0 pwned\x07\u202e\u2066\x7f\x08"


def is_tame(text):
    return printable(text, KEPT) == text


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study all of whose names, answers and codes are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    header = (*HEADER[:3], f"region{EVIL}", HEADER[4])
    rows = [
        (*row[:1], row[1] + EVIL, row[2], row[3] + EVIL, row[4].replace("food", f"food{EVIL}"))
        for row in answers(80)
    ]
    write_csv(folder / "answers.csv", rows[:60], header)
    write_csv(folder / "more.csv", rows[60:], header)
    write_csv(folder / "wrong.csv", [(*row[:2], EVIL, *row[3:]) for row in rows], header)
    names = ("--features", f"age,region{EVIL}")
    words = ["fit", folder / "answers.csv", *COLUMNS, *QUICK, *names, "-o", folder / "model.nldd"]
    assert cli.run(list(map(str, words))) == 0
    model = load_coding_model(folder / "model.nldd")
    event = replace(model.history[0], action=f"fit{EVIL}", file=EVIL, version=EVIL, time=EVIL)
    save_coding_model(replace(model, history=(event,)), folder / "model.nldd")
    write_csv(folder / "other.csv", rows, (f"id{EVIL}", *header[1:3], "x", "y"))
    return folder


MODEL, OUT = "{0}/model.nldd", ("-o", "{0}/coded.csv")
COMMANDS = {
    "fit": ("fit", "{0}/answers.csv", *COLUMNS, *QUICK, "-o", "{0}/b.nldd"),
    "fit without the columns": ("fit", "{0}/other.csv", *COLUMNS, *QUICK, "-o", "{0}/b.nldd"),
    "columns that match nothing": ("fit", "{0}/other.csv", "--text", "y", "--label-columns", "q*"),
    "inspect": ("inspect", MODEL),
    "triage": ("triage", MODEL),
    "predict": ("predict", MODEL, "{0}/more.csv", *OUT),
    "predict no numbers": ("predict", MODEL, "{0}/wrong.csv", *OUT),
    "predict without columns": ("predict", MODEL, "{0}/other.csv", *OUT),
    "update": ("update", MODEL, "{0}/more.csv", "-o", "{0}/c.nldd", "--no-report"),
    "update again": ("update", MODEL, "{0}/answers.csv", "--no-report"),
    "evaluate": ("evaluate", MODEL, "{0}/more.csv", "--no-report"),
    "a name of a file": ("inspect", f"{{0}}/{EVIL}"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_command_prints_what_a_terminal_obeys(words, study, capsys):
    command = [word.replace("{0}", str(study)) for word in words]
    for more in ((), ("--json",)):
        done = nldd(capsys, *command, *more)
        assert done.code in (0, 1)
        assert "mistake in nldd" not in done.err
        assert is_tame(done.out)
        assert is_tame(done.err)


def test_json_keeps_the_text_that_it_hides(capsys):
    print_json({"code": EVIL})
    out = capsys.readouterr().out
    assert is_tame(out)
    assert re.search(r'"code": "\\u001b\[2J\\u009b2J', out)
    print_json({"code": "\u00fcber"})
    assert "\u00fcber" in capsys.readouterr().out


def test_words_of_all_scripts_are_printed_as_they_are(capsys):
    text = "\u0645\u06cc\u200c\u062e\u0648 \U0001f469\u200d\U0001f680\n\t\u2068\u05d0\u2069"
    show(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_traceback_of_debug_is_tame(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # `main` has its own
    with pytest.raises(InputError) as error:
        cli.main(["--debug", "inspect", f"nowhere{EVIL}"])
    sys.excepthook(error.type, error.value, error.tb)  # as Python does where nobody catches it
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert "nowhere" in said
    assert is_tame(said)
