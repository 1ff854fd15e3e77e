"""``nldd review``: a new review, the same again, what is refused, and how it ends."""

import os
import re
import signal
import threading

import pytest

from coding.review.serve_made import Client
from coding_tables import HEADER, answers, call, refuse, succeed, write_csv
from nldd._files import file_sha256
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.app import ReviewApp
from nldd.coding.review.decisions import is_of_table
from nldd.coding.review.desk import Desk
from nldd.coding.review.prepare import prepare_review
from nldd.coding.review.server import ReviewServer
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import read_table


@pytest.fixture
def review(made, tmp_path, monkeypatch, capsys):
    """Runs the command up to where it would serve; returns its code and what it prints."""
    served = []

    def run(running):
        served.append(running.review.desk)
        running.close()

    monkeypatch.setattr(ReviewServer, "run", run)
    store = tmp_path / "new.review.db"

    def call_review(*words, table=made / "new.csv", model=made / "model.nldd"):
        given = (model, table, "--store", store, "--no-browser", *words)
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
    assert " answers: " in said
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


def test_what_cannot_be_reviewed_is_refused(review, tmp_path, monkeypatch):
    assert review("--show", "wage")[1].count("Error: The table has no column 'wage'") == 1
    assert review()[0] == 0
    assert review("--show", "wage")[0] == 1
    other = tmp_path / "other.csv"
    write_csv(other, [row[:-1] for row in answers(9, seed=2)], HEADER[:-1])
    code, said = review(table=other)
    assert (code, "was made of other answers" in said) == (1, True)
    code, said = review("--coder", "\x1b[2J")
    assert (code, "A coder needs a name" in said) == (1, True)


def test_a_review_that_is_open_already_is_refused_with_its_address(review):
    assert review()[0] == 0
    first = ReviewServer(ReviewApp(Desk(Store.open(review.store), "Ann")))
    code, said = review()
    first.close()
    assert (code, f"is open at http://127.0.0.1:{first.port}/ already" in said) == (1, True)
    assert review()[0] == 0


def test_a_model_that_has_changed_renews_the_suggestions(review, made, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(
        "nldd.coding.review.learning.Learner.start", lambda learner: started.append(1)
    )
    assert review()[0] == 0
    assert not started
    other = tmp_path / "model.nldd"
    other.write_text("no model")
    code, said = review(model=other)
    assert (code, "not a model of nldd" in said, started) == (1, True, [])
    model = load_coding_model(made / "model.nldd")
    save_coding_model(model.record("update", "more.csv", "", 0, 0), other)
    code, said = review(model=other)
    assert (code, "has changed since" in said, started) == (0, True, [1])
    with Store.open(review.store) as store:
        store.finish_round(store.begin_round(""), file_sha256(other), {"codes": []})
    code, said = review(model=other)
    assert (code, "has changed since" in said, started) == (0, False, [1])


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_server_and_decisions_are_kept(made, tmp_path, capsys, monkeypatch):
    store, sent = tmp_path / "new.review.db", []
    decision = {"uid": "u", "item": 1, "seen": 0, "action": "code", "codes": ["pay"]}

    def decide(address):
        client = Client(address)
        sent.append(client.send("/api/decide", decision)[0])
        client.close()
        signal.raise_signal(signal.SIGINT)

    def open_page(address, no_browser):
        threading.Thread(target=decide, args=(address,)).start()

    monkeypatch.setattr("nldd.coding.commands.review._open_page", open_page)
    assert call("review", made / "model.nldd", made / "new.csv", "--store", store) == 0
    assert sent == [200]
    assert f"All decisions are in {store}." in capsys.readouterr().err
    with Store.open(store) as kept:
        assert [entry.after.codes for entry in kept.entries()] == [{"pay"}]


def test_usage_of_the_commands_beside_the_page_names_their_own_arguments(capsys):
    assert succeed(capsys, "review", "merge", "--help").out.startswith("Usage: nldd review merge")
    _, hint = refuse(capsys, "review", "merge", "a.review.db", code=2)
    assert hint == "nldd review merge --help"


def test_a_table_that_was_saved_again_is_that_of_its_review(made, tmp_path):
    table, store = tmp_path / "new.csv", tmp_path / "new.review.db"
    table.write_bytes((made / "new.csv").read_bytes())
    prepare_review(made / "model.nldd", table, store, GuaranteeTarget(0.9, 0.9, "subset", "chance"))
    with Store.open(store, write=False) as review:
        assert is_of_table(review, read_table(table))
        table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
        assert is_of_table(review, read_table(table))
        for change in (
            (b"p1001", b"p1000"),
            (b"region", b"place"),
            (b"\r\n", b"\r\np999,more,,Bonn\r\n"),
        ):
            changed = tmp_path / "changed.csv"
            changed.write_bytes(table.read_bytes().replace(*change, 1))
            assert not is_of_table(review, read_table(changed))
