"""``nldd review``: a new review, the same again, what is refused, and how it ends."""

import os
import re
import signal
import subprocess
import sys

import pytest

from coding_tables import COLUMNS, HEADER, answers, call, write_csv
from nldd.review import Running, Store
from review.serve_made import Client


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with a model and new answers."""
    folder = tmp_path_factory.mktemp("study")
    write_csv(folder / "answers.csv", answers(80))
    write_csv(folder / "new.csv", [row[:-1] for row in answers(30, seed=1)], HEADER[:-1])
    words = (*COLUMNS, "--folds", "2", "--no-report", "-o", folder / "model.nldd")
    assert call("fit", folder / "answers.csv", *words) == 0
    return folder


@pytest.fixture
def review(study, tmp_path, monkeypatch, capsys):
    """Runs the command up to where it would serve; returns its code and what it prints."""
    served = []

    def run(running):
        served.append(running.review.desk)
        running._socket.close()
        running.review.close()

    monkeypatch.setattr(Running, "run", run)
    store = tmp_path / "new.review.db"

    def call_review(*words, table=study / "new.csv"):
        given = (study / "model.nldd", table, "--store", store, "--no-browser", *words)
        capsys.readouterr()
        code = call("review", *given)
        out, err = capsys.readouterr()
        return code, out + err

    call_review.served, call_review.store = served, store
    return call_review


def test_a_review_is_made_once_and_gone_on_with(review):
    code, said = review(
        "--audit", "5", "--coder", " Ann  B ", "--show", "age,region", "--seed", "3"
    )
    assert code == 0
    assert "30 answers: " in said
    assert re.search(r"The page: http://127\.0\.0\.1:\d+/\?token=\S{43}\n", said)
    assert "nldd update" in said
    assert "nldd review export" in said
    desk = review.served[0]
    assert (desk.coder, desk.study.n_audit, desk.study.seed) == ("Ann B", 5, 3)
    assert [name for name, _ in desk.show] == ["age", "region"]
    code, said = review("--audit", "5")
    assert (code, "Going on with" in said) == (0, True)
    code, said = review("--target-accuracy", "0.8", "--audit-open", "--audit", "5")
    assert code == 1
    assert "was made with --target-accuracy 0.9 (not 0.8) and without --audit-open." in said
    with Store.open(review.store) as store:
        assert store.study.target == 0.9


def test_what_cannot_be_reviewed_is_refused(review, study, tmp_path, monkeypatch):
    assert review("--show", "wage")[1].count("Error: The table has no column 'wage'") == 1
    other = tmp_path / "other.csv"
    write_csv(other, [row[:-1] for row in answers(9, seed=2)], HEADER[:-1])
    code, said = review(table=other)
    assert (code, "was made of other answers" in said) == (1, True)
    code, said = review("--coder", "\x1b[2J")
    assert (code, "A coder needs a name" in said) == (1, True)
    monkeypatch.setattr("nldd.cli.review.find_spec", lambda name: None)
    code, said = review()
    assert (code, 'Try: pip install "nldd[review]"' in said) == (1, True)


def test_a_model_that_has_changed_renews_the_suggestions(review, study, monkeypatch):
    started = []
    monkeypatch.setattr("nldd.review._learning.Learner.start", lambda learner: started.append(1))
    assert review()[0] == 0
    assert not started
    before = (study / "model.nldd").read_bytes()
    try:
        (study / "model.nldd").write_bytes(before + b"\0")
        code, said = review()
    finally:
        (study / "model.nldd").write_bytes(before)
    assert (code, "has changed since" in said, started) == (0, True, [1])


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_server_and_decisions_are_kept(study, tmp_path):
    store = tmp_path / "new.review.db"
    words = [study / "model.nldd", study / "new.csv", "--store", store, "--no-browser"]
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from nldd.cli import main; main()"
    command = [sys.executable, "-c", program, "review", *map(str, words), "--every", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = next(found for line in process.stderr if (found := re.search(r"http\S+", line)))
        client = Client(address[0])
        view = client.get("/api/items?ids=1")["items"][0]
        sent = {"uid": "u", "item": 1, "seen": view["seen"], "action": "code", "codes": ["pay"]}
        assert client.send("/api/decide", sent)[0] == 200
        process.send_signal(signal.SIGINT)
        assert "All decisions are in" in process.stderr.read()
    client.close()
    assert process.returncode == 0
    with Store.open(store) as kept:
        assert [entry.after.codes for entry in kept.entries()] == [{"pay"}]
