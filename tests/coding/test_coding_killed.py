"""Killing fit, update and predict at random moments: files are old or new, never half."""

import random
import subprocess
import sys
import time

import pytest

from nldd.cli import run
from nldd.coding.model_file import load_coding_model
from nldd.coding.tables.reading import read_table

TOPICS = ("buses", "parks", "rents", "schools", "noise")


def rows(first, n, seed):
    """Answers with codes; every text is told apart by its number."""
    rng = random.Random(seed)
    found = []
    for number in range(first, first + n):
        codes = sorted(rng.sample(TOPICS, rng.choice((1, 1, 2))))
        found.append((f"answer{number} {' and '.join(codes)} please", ";".join(codes)))
    return found


def write(path, answers, coded=True):
    head = "answer,codes\n" if coded else "answer\n"
    lines = [f"{text},{codes}\n" if coded else f"{text}\n" for text, codes in answers]
    path.write_text(head + "".join(lines))
    return str(path)


# A fresh process: what pandas brings starts threads, and a fork of those may wait for ever.
PROGRAM = """
import os, sys
import nldd.coding.coded_table, nldd.coding.training
from nldd.cli import run
pipe = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
os.write(pipe, b"ready\\n")
sys.stdin.readline()
code = run(sys.argv[1:])
os.write(pipe, b"done" if code == 0 else b"fail")
os._exit(code)
"""


def in_child(arguments):
    """Run a command in a process of its own, from when that is ready to begin."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], **pipes)
    assert child.stdout.readline() == b"ready\n"
    child.stdin.write(b"go\n")
    child.stdin.flush()
    return child


def killed(arguments, seconds):
    """Kill a command after so many seconds; whether it had said that it was done."""
    child = in_child(arguments)
    time.sleep(seconds)
    child.kill()
    said = child.communicate()[0]
    assert said in (b"", b"done")
    return said == b"done"


def duration(arguments):
    """How long a command takes that nobody disturbs."""
    child, start = in_child(arguments), time.monotonic()
    assert child.communicate()[0] == b"done"
    return time.monotonic() - start


def fit_arguments(table, model):
    columns = ["--text", "answer", "--labels", "codes", "--folds", "2", "--jobs", "1"]
    return ["fit", table, *columns, "--no-report", "--force", "-o", str(model)]


@pytest.fixture
def study(tmp_path):
    """A table and a model made of it."""
    table = write(tmp_path / "answers.csv", rows(0, 60, 0))
    assert run(fit_arguments(table, tmp_path / "model.nldd")) == 0
    return tmp_path


# An update has most to lose, so it is killed in every run.
N_KILLS = [pytest.param(2, id="few"), pytest.param(60, id="many", marks=pytest.mark.slow)]
MANY_KILLS = N_KILLS[1:]


def leftovers(folder):
    """What killed writers left behind: of one file at most the last one, as each write clears."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_update_never_loses_an_accepted_row(study, n_kills):
    rng = random.Random(2)
    model = study / "model.nldd"
    update = ["update", str(model), "--no-report", "--jobs", "1"]
    once = write(study / "once.csv", rows(1000, 2, 2))
    takes = duration([*update, once, "-o", str(study / "once.nldd")])
    accepted, n_done, first = [], 0, model.read_bytes()
    for number in range(n_kills):
        answers = rows(2000 + 10 * number, 2, number)
        table = write(study / "corrected.csv", answers)
        before = len(load_coding_model(model).answers)
        done = killed([*update, table], rng.uniform(0.3, 1.3) * takes)
        after = load_coding_model(model)
        joined = len(after.answers) - before
        assert joined in (0, 2)
        assert joined == 2 or not done
        if joined:
            accepted += [text for text, _ in answers]
        n_done += done
        assert set(accepted) <= set(after.answers.texts)
        assert len(after.history) == 1 + len(accepted) // 2
        assert len(leftovers(study)) <= 1
        if len(after.answers) > 150:  # each round takes as long as the first
            model.write_bytes(first)
            accepted = []
    assert n_done > 0 or n_kills < 50
    duration([*update, once])
    assert leftovers(study) == []


@pytest.mark.parametrize("n_kills", MANY_KILLS)
def test_predict(study, n_kills):
    rng = random.Random(3)
    new = write(study / "new.csv", rows(5000, 2500, 3), coded=False)
    coded, review = study / "coded.csv", study / "review.csv"
    places = ["-o", str(coded), "--review", str(review), "--force"]
    arguments = ["predict", str(study / "model.nldd"), new, "--max-theta", "0.2", *places]
    takes = duration(arguments)
    whole = coded.read_bytes(), review.read_bytes()
    n_done = n_not = 0
    for _ in range(n_kills):
        old = rng.random() < 0.5
        for path in (coded, review):
            path.unlink(missing_ok=True)
            if old:
                path.write_text("answer\nold\n")
        done = killed(arguments, rng.uniform(0, 1.2 * takes))
        for path, content in zip((coded, review), whole, strict=True):
            left = path.read_bytes() if path.exists() else None
            assert left in (content, b"answer\nold\n" if old else None)
            assert left == content or not done
        n_done, n_not = n_done + done, n_not + (not done)
        assert len(leftovers(study)) <= 2
    assert n_not > 0 or n_kills < 50
    for path in (coded, review):
        path.unlink(missing_ok=True)
    duration(arguments)
    assert leftovers(study) == []
    assert len(read_table(coded if coded.exists() else new)) in (1, 2500)
