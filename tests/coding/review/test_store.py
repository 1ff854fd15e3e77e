"""The store: what was added is there again, nothing is changed, what is no store is refused."""

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from coding.review.made_review import entry
from nldd.coding.review.records import Item, Study, Suggestion
from nldd.coding.review.store import Store
from nldd.exceptions import InputError, NLDDError

STUDY = Study(
    "new.csv", "0" * 64, "model.nldd", "1" * 64, ("id", "answer"), ("answer",), (("a", "", ""),)
)
ITEMS = [
    Item(1, ("1", "good"), "good", drawn=False, given=None),
    Item(2, (2.5, None), "", drawn=True, given=frozenset({"b", "a"})),
]
SWALLOW = "CREATE TRIGGER t BEFORE INSERT ON decisions BEGIN SELECT RAISE(IGNORE); END"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new.review.db"
    with Store.create(path, STUDY) as store:
        store.add_items(ITEMS)
        said = Suggestion(1, ("a",), "review", 0.25, b"\x80", {"why": "two codes"})
        store.add_suggestions(0, [said])
        store.finish_round(0, STUDY.model_sha256, {"threshold": 0.1})
    return path


def meddle(path, *statements):
    """Change a store as no command does."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_what_was_added_is_there_again(path):
    with Store.open(path) as store:
        assert store.study == STUDY
        assert list(store.items()) == ITEMS
        assert list(store.items([2, 9, 1])) == ITEMS[::-1]
        assert [s.details["why"] for s in store.suggestions(0)] == ["two codes"]
        assert [said.likely for said in store.suggestions(0, 1)] == [b"\x80"]
        assert list(store.suggestions(0, 2)) == []
        assert store.rounds()[-1].facts == {"threshold": 0.1}
        new = entry(1, {"a"}, uid="u1", shown='["a"]', seconds=1.5, note="why?", flag=True)
        (first,) = store.add([new])
        assert first == replace(new, id=1)
        store.keep("Ann", {"order": "file"})
    with Store.open(path, write=False) as store:
        assert store.entries() == [first]
        assert store.entries(after=1) == []
        assert (store.setting("Ann"), store.setting("Bob")) == ({"order": "file"}, None)
        with pytest.raises(NLDDError, match="cannot be written"):
            store.add([entry(1, {"a"})])


@pytest.mark.parametrize("bad", [{"item": 1, "uid": "u1"}, {"item": None, "uid": "u3"}])
def test_entries_are_added_all_or_none_and_each_has_its_own_name(path, bad):
    with Store.open(path) as store:
        store.add([entry(1, {"a"}, uid="u1")])
        with pytest.raises(NLDDError):
            store.add([entry(2, {"a"}, uid="u2"), entry(codes={"b"}, **bad)])
        assert [each.uid for each in store.entries()] == ["u1"]


def test_decisions_are_never_changed_or_removed(path):
    with Store.open(path) as store:
        store.add([entry(1, {"a"})])
    for statement in ("UPDATE decisions SET codes = '[]'", "DELETE FROM decisions"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            meddle(path, statement)


def test_what_is_no_store_is_refused(tmp_path):
    other = tmp_path / "other.review.db"
    with pytest.raises(InputError, match="no such review"):
        Store.open(other)
    other.write_text("id,answer\n", encoding="utf-8")
    with pytest.raises(InputError, match="no review that nldd wrote"):
        Store.open(other)


@pytest.mark.parametrize("name", ["t", "sqlitex", "sqlite_x"])
def test_a_trigger_that_swallows_decisions_is_refused_and_found_out(path, name):
    query = f"UPDATE sqlite_master SET name = '{name}', sql = replace(sql, ' t ', ' {name} ')"
    meddle(path, SWALLOW, "PRAGMA writable_schema = ON", f"{query} WHERE name = 't'")
    with pytest.raises(InputError, match="its tables differ"):
        Store.open(path)


def test_a_decision_that_is_not_written_is_not_acknowledged(path):
    with Store.open(path) as store:
        meddle(path, SWALLOW)
        with pytest.raises(NLDDError, match="not written"):
            store.add([entry(1, {"a"})])


def test_a_store_of_a_newer_nldd_says_so(path):
    meddle(path, "PRAGMA user_version = 2")
    with pytest.raises(InputError, match="newer nldd") as error:
        Store.open(path)
    assert "pip install --upgrade nldd" in error.value.hint


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
        store.add([entry(1, {"a"}, uid="u1")])
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


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = '{\"header\": 3}' WHERE key = 'study'",
        "UPDATE items SET cells = '[1' WHERE item = 2",
        "UPDATE items SET cells = '[\"1\"]' WHERE item = 1",  # too few
    ],
)
def test_values_that_nldd_has_not_written_are_told(path, statement):
    meddle(path, statement)
    with Store.open(path) as store, pytest.raises(InputError, match="is damaged"):
        list(store.items())
