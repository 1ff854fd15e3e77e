"""Rounds of suggestions: what `nldd predict` and `nldd update` would say, whatever ends them."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from shutil import copy

import numpy as np
import pytest

from coding.review.made_review import decide, drawn_in, log_of, said_in
from coding_tables import COLUMNS, HEADER, NEW, QUICK, ROWS, call, read_csv, succeed, write_csv
from nldd._files import file_sha256
from nldd.coding.guarantee import Guarantee, GuaranteeTarget
from nldd.coding.model_file import load_coding_model
from nldd.coding.review.records import Suggestion
from nldd.coding.review.rounds import Learner, learn, prepare_review
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import frame_of
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError

PROMISE = GuaranteeTarget(0.7, 0.9, "subset", "chance")
# With few answers, one of the distances may get no weight.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.ZeroWeightWarning")
TRUTH = {number: set(row[-1].split(";")) for number, row in enumerate(NEW, 1)}


def prepare(made, path, table, promise=PROMISE, **more):
    prepared = prepare_review(made / "model.nldd", table, path, promise, **more)
    with Store.open(path, write=False) as store:
        (first,) = store.rounds()
        return prepared, store.study, list(store.items()), list(store.suggestions(0)), first


def rows_of(path):
    """The rows of a table, as mappings from its columns."""
    return read_table(path).frame.to_dict("records")


def test_suggestions_are_those_of_predict(made, tmp_path, capsys):
    path, out, review = (tmp_path / name for name in ("new.review.db", "coded.csv", "review.csv"))
    prepared, study, items, said, first = prepare(made, path, made / "new.csv")
    words = ("-o", out, "--target-accuracy", "0.7", "--review", review)
    succeed(capsys, "predict", made / "model.nldd", made / "new.csv", *words)
    coded = rows_of(out)
    for found, row in zip(said, coded, strict=True):
        details = found.details
        assert (";".join(found.codes), found.status) == (row["nldd_codes"], row["nldd_status"])
        assert (details["theta"], details["why"]) == (float(row["nldd_theta"]), row["nldd_why"])
        assert details["nearest"][0]["text"] == row["nldd_nearest"]
    for row in rows_of(review):
        nexts = said[int(row["id"][2:]) - 1].details["next"]
        assert [";".join(codes) for codes in nexts] == [row[f"nldd_next_{k}"] for k in (1, 2, 3)]
    assert [item.cells for item in items] == [row[:-1] for row in NEW]
    assert [item.text for item in items] == [row[1] for row in NEW]
    assert study.table_sha256 == file_sha256(made / "new.csv")
    assert [code for code, _, _ in study.codes] == first.facts["codes"]
    n_auto = sum(row["nldd_status"] == "auto" for row in coded)
    assert 0 < first.facts["n_auto"] == prepared.counts.n_auto == n_auto < 40


def test_rows_with_codes_empty_ones_and_cells_of_a_workbook(made, tmp_path):
    rows = [
        ("p1", "salaries are too low", 44, datetime(2024, 2, 29, 12, 30), "pay;food"),
        ("p2", "  ", 1.5, date(2024, 2, 29), None),
        ("p3", "the heating is broken and lunch costs too much", None, True, None),
    ]
    table = tmp_path / "new.xlsx"
    write_table(table, frame_of(dict(zip(HEADER, zip(*rows, strict=True), strict=True))))
    prepared, study, items, said, _ = prepare(made, tmp_path / "new.review.db", table)
    assert [[*item.cells] for item in items] == read_table(table).frame.to_numpy().tolist()
    assert [item.given for item in items] == [{"pay", "food"}, None, None]
    assert [s.item for s in said] == [2, 3]
    assert (said[0].details["empty"], said[0].codes, said[0].status) == (True, (), "review")
    assert said[0].details["nearest"] == said[0].details["next"] == []
    assert not said[1].details["empty"]
    assert prepared.counts.n_coded == 1
    assert study.table_format["kind"] == "xlsx"


def test_those_drawn_are_a_sample_of_all_with_about_as_many_automatic_ones(made, tmp_path):
    rows = [(*row[:-1], "pay" if i % 10 == 0 else "") for i, row in enumerate(NEW * 10)]
    table = write_csv(tmp_path / "many.csv", rows)
    how = {"n_audit": 30, "seed": 1}
    prepared, study, items, said, first = prepare(made, tmp_path / "m.review.db", table, **how)
    drawn = [item for item in items if item.drawn]
    share = first.facts["n_auto"] / sum(item.given is None for item in items)
    assert (study.n_audit, study.blind) == (30, True)
    assert len(drawn) == prepared.counts.n_drawn == int(np.ceil(30 / share))
    assert not any(item.given for item in drawn)
    status = {s.item: s.status for s in said}
    n_auto = sum(status[item.item] == "auto" for item in drawn)
    assert abs(n_auto - 30) <= 3 * np.sqrt(30 * (1 - share))
    assert any("were not drawn from" in note for note in prepared.notes)
    again = prepare(made, tmp_path / "again.review.db", table, **how)[2]
    assert again == items
    assert not any("asked for" in note for note in prepared.notes)


@pytest.mark.parametrize("measure", ["subset", "hamming", "per-code"])
def test_the_guarantee_is_that_of_predict_and_is_exported(made, tmp_path, capsys, measure):
    path, promise = tmp_path / "new.review.db", GuaranteeTarget(0.7, 0.8, measure, "chance")
    *_, first = prepare(made, path, made / "new.csv", promise)
    stated = Guarantee.parse(first.facts["guarantee"])
    assert (stated.target, stated.confidence, stated.measure) == (0.7, 0.8, measure)
    coded, export = tmp_path / "coded.csv", tmp_path / "export.csv"
    words = ("--target-accuracy", "0.7", "--confidence", "0.8", "--measure", measure)
    succeed(capsys, "predict", made / "model.nldd", made / "new.csv", "-o", coded, *words)
    succeed(capsys, "review", "export", path, "-o", export)
    for table in (coded, export):
        assert {row["nldd_guarantee"] for row in rows_of(table)} == {str(stated)}


def test_what_cannot_be_reviewed_is_refused_and_leaves_nothing(made, tmp_path):
    path = tmp_path / "new.review.db"
    empty = write_csv(tmp_path / "empty.csv", [], HEADER[:-1])
    other = write_csv(tmp_path / "other.csv", [("1",)], ("id",))
    for table, words in ((empty, "no rows below its header"), (other, "no column 'answer'")):
        with pytest.raises(InputError, match=words):
            prepare(made, path, table)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.csv", "other.csv"]
    path.write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        prepare(made, path, made / "new.csv")
    assert path.read_text() == "mine"


@pytest.fixture
def study(made, tmp_path):
    """A model, and a store of new answers of which some were drawn."""
    places = [tmp_path / name for name in ("model.nldd", "new.csv", "new.review.db")]
    for place in places[:2]:
        copy(made / place.name, place)
    prepare_review(*places, PROMISE, n_audit=5, seed=3)
    return places


def rounds(path):
    with Store.open(path, write=False) as store:
        return store.rounds()


def test_a_round_is_what_update_and_predict_would_say(study, tmp_path):
    model_path, table, path = study
    drawn = drawn_in(path)
    decided = {i: TRUTH[i] for i in {*drawn, *range(1, 12)}} | {3: {"pay", "parking"}}
    decide(path, decided)
    decide(path, {12: {"pay"}})
    decide(path, {12: {"food"}}, coder="Bob")  # they disagree, and somebody has decided it
    learned = learn(path, model_path)
    assert (learned.state, learned.round) == ("idle", 1)
    updated, out = tmp_path / "updated.nldd", tmp_path / "coded.csv"
    assert call("update", model_path, path, "-o", updated, "--no-report", "--jobs", "1") == 0
    assert call("predict", updated, table, "-o", out, "--target-accuracy", "0.7") == 0
    header, rows = read_csv(out)
    said = said_in(path, 1)
    assert sorted(said) == sorted({*TRUTH} - {*decided} - {12})
    for item, found in said.items():
        row = dict(zip(header, rows[item - 1], strict=True))
        assert ";".join(found.codes) == row["nldd_codes"]
        assert (found.status, found.details["why"]) == (row["nldd_status"], row["nldd_why"])
        assert found.details["theta"] == float(row["nldd_theta"])
    model, facts = load_coding_model(updated), rounds(path)[-1].facts
    assert facts["codes"] == list(model.labels) == ["food", *model.labels[1:]]
    assert "parking" in facts["codes"]
    assert len(model.tested) == 108 + len(drawn)
    assert facts["n_decided"] == len(decided)
    assert facts["n_auto"] == sum(s.status == "auto" for s in said.values())
    assert len(said_in(path, 0)) == 40


def test_a_refit_that_fails_its_test_withdraws_nothing(made, tmp_path):
    model_path, path = made / "model.nldd", tmp_path / "new.review.db"
    promise = GuaranteeTarget(0.9, 0.9, "subset", "theta")
    prepare_review(model_path, made / "new.csv", path, promise, n_audit=40)
    first, odd = said_in(path, 0), {"pay", "rooms"}
    wrong = {i: odd if TRUTH[i] != odd else {"food"} for i in range(1, 31)}
    left = {i for i, said in first.items() if said.status == "auto"} - {*wrong}
    assert left
    decide(path, wrong)
    assert "stays in use" in learn(path, model_path).message
    kept = said_in(path, 1)
    assert {item for item, said in kept.items() if said.status == "auto"} == left
    assert {item: kept[item].codes for item in left} == {item: first[item].codes for item in left}
    before, after = (found.facts for found in rounds(path))
    assert (after["guarantee"], after["n_auto"]) == (before["guarantee"], len(left))
    assert (before["n_tests"], after["n_tests"]) == (1, 2)


def test_only_the_first_and_the_last_round_stay_and_unfinished_ones_never_count(study):
    model_path, _, path = study
    assert learn(path, model_path).round == 1
    first = said_in(path, 0)
    assert said_in(path, 1) == first  # nobody has decided anything
    decide(path, {1: TRUTH[1], 2: TRUTH[2]})
    with Store.open(path) as store:
        number = store.begin_round("killed")
        store.add_suggestions(number, [Suggestion(1, ("pay",), "auto", 0.0, b"", {})])
    assert [found.round for found in rounds(path)] == [0, 1]
    assert learn(path, model_path).round == 3
    assert [found.round for found in rounds(path)] == [0, 1, 3]
    said = [said_in(path, number) for number in range(4)]
    assert said[:3] == [first, {}, {}]
    assert sorted(said[3]) == sorted({*TRUTH} - {1, 2})


def test_extra_features_are_found_by_the_number_of_the_row(tmp_path):
    numbers, new = tmp_path / "known.npy", tmp_path / "new.npy"
    rng = np.random.default_rng(0)
    np.save(numbers, rng.normal(size=(len(ROWS), 3)).astype(np.float32))
    np.save(new, rng.normal(size=(len(NEW), 3)).astype(np.float32))
    model_path, path = tmp_path / "model.nldd", tmp_path / "new.review.db"
    answers = write_csv(tmp_path / "answers.csv", ROWS)
    words = (*COLUMNS, *QUICK, "--extra-features", numbers, "-o", model_path)
    assert call("fit", answers, *words) == 0
    table = write_csv(tmp_path / "new.csv", [(*row[:-1], "") for row in NEW])
    options = TableOptions(numbers=new)
    prepare_review(model_path, table, path, PROMISE, options=options)
    assert learn(path, model_path, options).round == 1
    assert said_in(path, 1) == said_in(path, 0)
    decide(path, {7: TRUTH[7]})
    assert learn(path, model_path, options).round == 2
    assert sorted(said_in(path, 2)) == sorted({*TRUTH} - {7})
    with pytest.raises(InputError, match="extra features"):
        learn(path, model_path)
    assert rounds(path)[-1].round == 2


def wait(learner):
    while learner.poll().state == "running":
        time.sleep(0.05)
    return learner.poll()


@pytest.mark.slow
def test_another_process_learns_and_says_how_that_ended(study):
    model_path, _, path = study
    decide(path, {1: TRUTH[1]})
    learner, content = Learner(path, model_path), model_path.read_bytes()
    assert learner.poll().state == "idle"
    model_path.write_bytes(b"no model")
    assert learner.start()
    failed = wait(learner)
    assert (failed.state, failed.round, "\n" in failed.message) == ("failed", 0, False)
    assert "model.nldd" in failed.message
    model_path.write_bytes(content)
    assert learner.start()
    assert not learner.start()
    assert learner.poll().state == "running"
    learned = wait(learner)
    assert (learned.state, learned.round) == ("idle", 1)
    assert learned.message == "Learned from 1 decision."
    assert learner.start()
    learner.stop()
    assert learner.poll() == learned
    assert [found.round for found in rounds(path)] == [0, 1]
    assert len(log_of(path)) == 1


def is_alive(process):
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # a system without these files
        return True


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.slow
def test_the_process_ends_with_the_one_that_started_it(study):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from nldd.coding.review.rounds import Learner\n"
        "learner = Learner(*map(Path, sys.argv[1:])); learner.start()\n"
        "print(learner._process.pid, flush=True); time.sleep(60)"
    )
    model_path, _, path = study
    words = [sys.executable, "-c", code, str(path), str(model_path)]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        # It waits ten seconds for the right to write, and would then end for want of it.
        other.execute("BEGIN IMMEDIATE")
        with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
            child = int(parent.stdout.readline())
            time.sleep(3)
            assert is_alive(child)
            parent.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 5
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.1)
    if is_alive(child):
        os.kill(child, signal.SIGKILL)
        pytest.fail("the process lives on")


@pytest.mark.slow
def test_a_round_that_is_killed_at_any_moment_leaves_the_store_right(study):
    model_path, _, path = study
    decide(path, {1: TRUTH[1]})
    rng, learner = np.random.default_rng(0), Learner(path, model_path)
    for _ in range(20):
        assert learner.start()
        time.sleep(rng.uniform(0, 3))
        learner.stop()
        assert len(log_of(path)) == 1
        last = rounds(path)[-1].round
        assert len(said_in(path, last)) == (40 if last == 0 else 39)
