"""The store: what was added is there again, nothing is changed, what is no store is refused."""

import os
import shutil
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nldd.coding.review.records import (
    CODE,
    DONE,
    SETTLE,
    UNTOUCHED,
    Item,
    LogEntry,
    Position,
    Study,
    Suggestion,
    outcomes,
)
from nldd.coding.review.store import Store
from nldd.exceptions import InputError, NLDDError

STUDY = Study(
    "new.csv", "0" * 64, "model.nldd", "1" * 64, ("id", "answer"), ("answer",), (("a", "", ""),)
)
ITEMS = [
    Item(1, ("1", "good"), "good", drawn=False, given=None),
    Item(2, (2.5, None), "", drawn=True, given=frozenset({"b", "a"})),
]


def entry(uid, item=1, coder="Ann", codes=("a",), action=CODE, **more):
    after = Position(DONE, frozenset(codes))
    return LogEntry(0, uid, item, coder, action, after, "2026-01-01T00:00:00.000Z", **more)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new.review.db"
    with Store.create(path, STUDY) as store:
        store.add_items(ITEMS)
        said = Suggestion(1, ("a",), "review", 0.25, b"\x80", {"why": "two codes"})
        store.add_suggestions(0, [said])
        store.finish_round(0, STUDY.model_sha256, {"threshold": 0.1})
    return path


def test_what_was_added_is_there_again(path):
    with Store.open(path) as store:
        assert store.study == STUDY
        assert list(store.items()) == ITEMS
        assert list(store.items([2, 9, 1])) == ITEMS[::-1]
        assert [s.details["why"] for s in store.suggestions(0)] == ["two codes"]
        assert [said.likely for said in store.suggestions(0, 1)] == [b"\x80"]
        assert list(store.suggestions(0, 2)) == []
        assert store.rounds()[-1].facts == {"threshold": 0.1}
        (first,) = store.add([entry("u1", shown='["a"]', seconds=1.5)])
        assert first == replace(entry("u1", shown='["a"]', seconds=1.5), id=1)
        store.keep("Ann", {"order": "file"})
    with Store.open(path, write=False) as store:
        assert store.entries() == [first]
        assert store.entries(after=1) == []
        assert store.setting("Ann") == {"order": "file"}
        assert store.setting("Bob") is None
        with pytest.raises(NLDDError, match="cannot be written"):
            store.add([entry("u2")])


def test_a_name_that_is_used_again_is_refused_and_nothing_is_added(path):
    with Store.open(path) as store:
        store.add([entry("u1")])
        with pytest.raises(NLDDError, match="a decision of this name is there already"):
            store.add([entry("u2"), entry("u1", item=2)])
        assert [each.uid for each in store.entries()] == ["u1"]


def test_a_row_with_too_few_cells_is_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE items SET cells = '[\"1\"]' WHERE item = 1")
    connection.commit()
    connection.close()
    with Store.open(path) as store, pytest.raises(InputError, match="is damaged"):
        list(store.items([1]))


def test_entries_of_one_act_are_added_all_or_none(path):
    with Store.open(path) as store:
        bad = entry("u2", codes=("a",), item=None)
        with pytest.raises(NLDDError):
            store.add([entry("u1"), bad])
        assert store.entries() == []


def test_decisions_are_never_changed_or_removed(path):
    with Store.open(path) as store:
        store.add([entry("u1")])
    connection = sqlite3.connect(path)
    for statement in ("UPDATE decisions SET codes = '[]'", "DELETE FROM decisions"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            connection.execute(statement)
    connection.close()


def test_a_file_that_is_no_store_or_a_crafted_one_is_refused(path, tmp_path):
    other = tmp_path / "other.review.db"
    with pytest.raises(InputError, match="no such review"):
        Store.open(other)
    other.write_text("id,answer\n", encoding="utf-8")
    with pytest.raises(InputError, match="no review that nldd wrote"):
        Store.open(other)


@pytest.mark.parametrize("name", ["t", "sqlitex", "sqlite_x"])
def test_a_trigger_that_swallows_decisions_is_refused_and_found_out(path, name):
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TRIGGER t BEFORE INSERT ON decisions BEGIN SELECT RAISE(IGNORE); END"
    )
    connection.execute("PRAGMA writable_schema = ON")
    query = "UPDATE sqlite_master SET name = ?, sql = replace(sql, ' t ', ?) WHERE name = 't'"
    connection.execute(query, (name, f" {name} "))
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="its tables differ"):
        Store.open(path)


def test_a_decision_that_is_not_written_is_not_acknowledged(path):
    with Store.open(path) as store:
        connection = sqlite3.connect(path)
        connection.execute(
            "CREATE TRIGGER t BEFORE INSERT ON decisions BEGIN SELECT RAISE(IGNORE); END"
        )
        connection.close()
        with pytest.raises(NLDDError, match="not written"):
            store.add([entry("u1")])


def test_a_store_that_was_not_completed_is_not_there(tmp_path):
    path = tmp_path / "new.review.db"
    with pytest.raises(RuntimeError), Store.create(path, STUDY) as store:
        store.add_items(ITEMS)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@contextmanager
def read_only(folder):
    """A folder that cannot be written meanwhile, even by root."""
    own = os.geteuid()
    folder.chmod(0o555)
    if own == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(own)
        folder.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="has no folders that cannot be written")
def test_a_store_is_read_in_a_folder_that_cannot_be_written(path):
    with Store.open(path) as store:
        store.add([entry("u1")])
    with TemporaryDirectory() as name:  # that of pytest is closed to others
        copy, crashed = Path(name, "new.review.db"), Path(name, "crashed.review.db")
        shutil.copy(path, copy)
        shutil.copy(path, crashed)
        Path(name, "crashed.review.db-wal").write_bytes(b"decisions")
        with read_only(Path(name)):
            with Store.open(copy, write=False) as store, store.snapshot():
                found = store.entries()
            with pytest.raises(InputError, match=r"last decisions are in crashed\.review\.db-wal"):
                Store.open(crashed, write=False)
            with pytest.raises(NLDDError, match="cannot be written"), Store.open(copy) as store:
                store.keep("a", 1)
    assert [e.uid for e in found] == ["u1"]


def test_the_last_entries_of_all_coders_come_to_an_outcome():
    ann, bob = entry("1", codes=("a",)), replace(entry("2", coder="Bob", codes=("b",)), id=2)
    (both,) = outcomes([ann, bob]).values()
    assert both.disagree
    assert both.codes is None
    settling = replace(ann, id=3, action=SETTLE)
    (settled,) = outcomes([ann, bob, settling]).values()
    assert (settled.codes, settled.settling.id) == ({"a"}, 3)
    (again,) = outcomes([ann, bob, settling, replace(bob, id=4)]).values()
    assert again.disagree
    (same,) = outcomes([ann, bob, settling, replace(bob, id=4, after=ann.after)]).values()
    assert same.settling
    assert UNTOUCHED.disagree is False


def test_values_that_nldd_has_not_written_are_told(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = '{\"header\": 3}' WHERE key = 'study'")
    connection.execute("UPDATE items SET cells = '[1' WHERE item = 2")
    connection.commit()
    connection.close()
    with Store.open(path) as store:
        for read in (lambda: store.study, lambda: list(store.items())):
            with pytest.raises(InputError, match="is damaged"):
                read()
