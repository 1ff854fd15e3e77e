"""``nldd review``: a new review, the same again, what is refused, and how it ends."""

import os
import re
import signal
import threading

import pytest

from coding.review.made_review import log_of
from coding.review.serve_made import DECISION, Client
from coding_tables import HEADER, answers, call, write_csv
from nldd._files import file_sha256
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.app import ReviewApp
from nldd.coding.review.decisions import is_of_table
from nldd.coding.review.desk import Desk
from nldd.coding.review.rounds import prepare_review
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
        capsys.readouterr()
        code = call("review", model, table, "--store", store, "--no-browser", *words)
        return code, "".join(capsys.readouterr())

    call_review.served, call_review.store = served, store
    return call_review


def test_a_review_is_made_once_and_gone_on_with(review):
    made = ("--coder", " Ann  B ", "--show", "age,region", "--seed", "3")
    code, said = review("--audit", "5", *made)
    assert code == 0
    assert re.search(r"The page: http://127\.0\.0\.1:\d+/\?token=\S{43}\n", said)
    for part in (" answers: ", "nldd update", "nldd review export"):
        assert part in said
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


def test_what_cannot_be_reviewed_is_refused(review, tmp_path):
    assert review("--show", "wage")[1].count("Error: The table has no column 'wage'") == 1
    assert review()[0] == 0
    other = write_csv(tmp_path / "other.csv", [r[:-1] for r in answers(9, seed=2)], HEADER[:-1])
    (tmp_path / "model.nldd").write_text("no model")
    for words, how, part in (
        (("--show", "wage"), {}, "no column 'wage'"),
        ((), {"table": other}, "was made of other answers"),
        (("--coder", "\x1b[2J"), {}, "A coder needs a name"),
        ((), {"model": tmp_path / "model.nldd"}, "not a model of nldd"),
    ):
        code, said = review(*words, **how)
        assert (code, part in said) == (1, True)


def test_a_review_that_is_open_already_is_refused_with_its_address(review):
    assert review()[0] == 0
    first = ReviewServer(ReviewApp(Desk(Store.open(review.store), "Ann")), None, print)
    code, said = review()
    first.close()
    assert (code, f"is open at http://127.0.0.1:{first.port}/ already" in said) == (1, True)
    assert review()[0] == 0


def test_a_model_that_has_changed_renews_the_suggestions(review, made, tmp_path, monkeypatch):
    started, other = [], tmp_path / "model.nldd"
    start = "nldd.coding.review.rounds.Learner.start"
    monkeypatch.setattr(start, lambda learner: started.append(learner))
    assert review()[0] == 0
    assert not started
    model = load_coding_model(made / "model.nldd")
    save_coding_model(model.record("update", "more.csv", "", 0, 0), other)
    code, said = review(model=other)
    assert (code, "has changed since" in said, len(started)) == (0, True, 1)
    with Store.open(review.store) as store:
        store.finish_round(store.begin_round(""), file_sha256(other), {"codes": []})
    code, said = review(model=other)
    assert (code, "has changed since" in said, len(started)) == (0, False, 1)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_server_and_decisions_are_kept(made, tmp_path, capsys, monkeypatch):
    store, sent = tmp_path / "new.review.db", []

    def decide(address):
        client = Client(address)
        sent.append(client.send("/api/decide", DECISION)[0])
        client.close()
        signal.raise_signal(signal.SIGINT)

    def open_page(address, no_browser):
        threading.Thread(target=decide, args=(address,)).start()

    monkeypatch.setattr("nldd.coding.commands.review._open_page", open_page)
    assert call("review", made / "model.nldd", made / "new.csv", "--store", store) == 0
    assert sent == [200]
    assert f"All decisions are in {store}." in capsys.readouterr().err
    assert [entry.after.codes for entry in log_of(store)] == [{"pay"}]


def test_usage_of_the_commands_beside_the_page_names_their_own_arguments(succeed, refuse):
    assert succeed("review", "merge", "--help").out.startswith("Usage: nldd review merge")
    _, hint = refuse("review", "merge", "a.review.db", code=2)
    assert hint == "nldd review merge --help"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        (b"\n", b"\r\n", True),
        (b"p1001", b"p1000", False),
        (b"region", b"place", False),
        (b"p1001", b"p999,more,,Bonn\np1001", False),
    ],
)
def test_a_table_that_was_saved_again_is_that_of_its_review(made, tmp_path, old, new, is_same):
    table, store = made / "new.csv", tmp_path / "new.review.db"
    prepare_review(made / "model.nldd", table, store, GuaranteeTarget(0.9, 0.9, "subset", "chance"))
    changed = tmp_path / "changed.csv"
    changed.write_bytes(table.read_bytes().replace(old, new, -1 if is_same else 1))
    with Store.open(store, write=False) as review:
        assert is_of_table(review, read_table(table))
        assert is_of_table(review, read_table(changed)) == is_same
