"""Killing an update at random moments: the model is the old or the new one, never half."""

import os
import random
import signal
import time

import pytest

from nldd.cli import run
from nldd.coding import load_coding_model

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TOPICS = ("buses", "parks", "rents", "schools", "noise")


def rows(first, n, seed):
    """Answers with codes; every text is told apart by its number."""
    rng = random.Random(seed)
    found = []
    for number in range(first, first + n):
        codes = sorted(rng.sample(TOPICS, rng.choice((1, 1, 2))))
        found.append((f"answer{number} {' and '.join(codes)} please", ";".join(codes)))
    return found


def write(path, answers):
    path.write_text("answer,codes\n" + "".join(f"{text},{codes}\n" for text, codes in answers))
    return str(path)


def in_child(arguments):
    """Run a command in a child process; ``True`` comes through the pipe once it has answered."""
    reader, writer = os.pipe()
    child, code = os.fork(), 1
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            code = run(arguments)
            os.write(writer, b"done" if code == 0 else b"fail")
        finally:
            os._exit(code)
    os.close(writer)
    return child, reader


def killed(arguments, seconds):
    """Kill a command after so many seconds; whether it had said that it was done."""
    child, reader = in_child(arguments)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said = os.read(reader, 10)
    os.close(reader)
    assert said in (b"", b"done")
    return said == b"done"


def duration(arguments):
    """How long a command takes that nobody disturbs."""
    start = time.monotonic()
    child, reader = in_child(arguments)
    assert os.waitpid(child, 0)[1] == 0
    os.close(reader)
    return time.monotonic() - start


@pytest.fixture
def study(tmp_path):
    """A table and a model made of it."""
    table = write(tmp_path / "answers.csv", rows(0, 60, 0))
    columns = ["--text", "answer", "--labels", "codes", "--folds", "2", "--jobs", "1"]
    assert run(["fit", table, *columns, "--no-report", "-o", str(tmp_path / "model.nldd")]) == 0
    return tmp_path


N_KILLS = [pytest.param(2, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n_kills", N_KILLS)
def test_update_never_loses_an_accepted_row(study, n_kills):
    rng = random.Random(2)
    model = study / "model.nldd"
    once = write(study / "once.csv", rows(1000, 2, 2))
    takes = duration(["update", str(model), once, "-o", str(study / "once.nldd")])
    accepted, n_done = [], 0
    for number in range(n_kills):
        answers = rows(2000 + 10 * number, 2, number)
        table = write(study / "corrected.csv", answers)
        before = len(load_coding_model(model).answers)
        done = killed(["update", str(model), table], rng.uniform(0.3, 1.3) * takes)
        after = load_coding_model(model)
        joined = len(after.answers) - before
        assert joined in (0, 2)
        assert joined == 2 or not done
        if joined:
            accepted += [text for text, _ in answers]
        n_done += done
        assert set(accepted) <= set(after.answers.texts)
        assert len(after.history) == 1 + len(accepted) // 2
    assert n_done > 0 or n_kills < 50
