"""Reviews of two coders in one: every decision once, in its order, and how far they agree."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from desk_acts import latest, to_undo
from made_review import make_review
from stored_study import decide, entry

from nldd.coding.agreement import SharedAnswer, compare_coders
from nldd.coding.commands.review import export, import_tasks, merge
from nldd.coding.review.merge import agreement_of, merge_stores
from nldd.coding.review.records import outcomes
from nldd.coding.review.store import Store
from nldd.exceptions import InputError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "new.review.db"
    make_review(path, 10, n_drawn=3)
    return path


@pytest.fixture
def two(made, tmp_path):
    """The same review twice, of Ann and of Bob."""
    for name in ("ann", "bob"):
        shutil.copy(made, tmp_path / f"{name}.review.db")
    return tmp_path / "ann.review.db", tmp_path / "bob.review.db"


def log_of(path):
    with Store.open(path) as store:
        return store.entries()


def at(second, item, codes, coder, **more):
    """An entry of a certain time."""
    made = entry(item, codes, coder, **more)
    return replace(made, time=f"2026-01-01T00:00:{second:02}.000Z")


def add(path, *entries):
    with Store.open(path) as store:
        return store.add(entries)


def test_all_entries_are_there_once_in_their_order(two, tmp_path):
    ann, bob = two
    shared = at(0, 9, {"rooms"}, "Ann")
    add(ann, shared)
    add(bob, shared)
    first, second = add(ann, at(5, 1, {"pay"}, "Ann"), at(2, 2, {"food"}, "Ann"))
    add(bob, at(1, 1, {"pay"}, "Bob"), at(7, 2, {"rooms"}, "Bob"))
    add(ann, at(8, 2, None, "Ann", action="undo", undoes=second.id))
    with Store.open(bob) as store:
        store.keep("codes", ["parking"])
        store.keep("coder:Bob", {"theme": "dark"})
    merged = merge_stores([ann, bob], tmp_path / "both.review.db")
    assert (merged.n_entries, merged.n_items, merged.notes) == (6, 3, [])
    assert merged.coders == ("Ann", "Bob")
    log = log_of(tmp_path / "both.review.db")
    assert [e.id for e in log] == [1, 2, 3, 4, 5, 6]
    # Ann's clock was moved back: what she did later stays later.
    assert [(e.item, e.coder, e.action) for e in log] == [
        (9, "Ann", "code"),
        (1, "Bob", "code"),
        (1, "Ann", "code"),
        (2, "Ann", "code"),
        (2, "Bob", "code"),
        (2, "Ann", "undo"),
    ]
    assert (log[5].undoes, log[3].uid) == (4, second.uid)
    assert [e.uid for e in to_undo(log, "Ann")] == [first.uid]
    found = outcomes(log)
    assert {i: sorted(o.codes) for i, o in found.items()} == {
        9: ["rooms"],
        1: ["pay"],
        2: ["rooms"],
    }
    with Store.open(tmp_path / "both.review.db") as both, Store.open(ann) as store:
        assert both.study == store.study
        assert list(both.items()) == list(store.items())
        assert list(both.suggestions(0)) == list(store.suggestions(0))
        assert both.rounds() == store.rounds()
        assert (both.setting("codes"), both.setting("coder:Bob")) == (["parking"], None)
    add(ann, at(9, 5, {"food"}, "Ann"))
    again = merge_stores([tmp_path / "both.review.db", ann, bob], tmp_path / "again.review.db")
    assert (again.n_entries, again.n_items, again.notes) == (7, 4, [])


def test_one_name_of_two_decisions_is_refused(two, tmp_path):
    for path, codes in zip(two, ({"pay"}, {"food"}), strict=True):
        add(path, at(1, 1, codes, "Ann", uid="u1"))
    with pytest.raises(InputError, match="'u1' stands for two decisions"):
        merge_stores(two, tmp_path / "both.review.db")


def test_one_name_of_two_people_is_told(two, tmp_path):
    ann, bob = two
    add(ann, at(1, 1, {"pay"}, "Ann"), at(2, 2, {"pay"}, "Ann"))
    add(bob, at(3, 1, {"food"}, "Ann"), at(1, 2, {"pay"}, "Ann"))
    merged = merge_stores(two, tmp_path / "both.review.db")
    said = "Ann decided 1 answer differently in ann.review.db and bob.review.db: the later"
    assert [note[: len(said)] for note in merged.notes] == [said]
    by = latest(log_of(tmp_path / "both.review.db"))
    assert by[1, "Ann"].after.codes == {"food"}


@pytest.mark.parametrize(
    ("n", "study", "words"),
    [
        (10, {"table_sha256": "0" * 64}, "have other contents"),
        (10, {"header": ("id", "answer", "age", "place")}, "the columns of their tables differ"),
        (10, {"n_drawn": 2}, "1 answer drawn at random in one of them only|answers drawn"),
    ],
)
def test_reviews_of_something_else_are_not_merged(two, tmp_path, n, study, words):
    n_drawn = study.pop("n_drawn", 3)
    make_review(tmp_path / "other.review.db", n, n_drawn=n_drawn, **study)
    with pytest.raises(InputError, match=rf"not of the same study: .*({words})"):
        merge_stores([two[0], tmp_path / "other.review.db"], tmp_path / "both.review.db")
    assert not (tmp_path / "both.review.db").exists()


def test_files_are_named_with_care(two, tmp_path):
    taken = Path(shutil.copy(two[1], tmp_path / "taken.db"))
    for paths, out, words in (
        (two[:1], tmp_path / "x.db", "At least two"),
        ((two[0], two[0]), tmp_path / "x.db", "named twice"),
        (two, two[0], "named twice"),
        (two, taken, "already exists"),
        ((two[0], tmp_path / "none.db"), tmp_path / "x.db", "no such review"),
    ):
        with pytest.raises(InputError, match=words):
            merge_stores(paths, out)
    assert log_of(two[0]) == []


def test_agreement_is_of_what_each_decided_alone(two):
    ann, _ = two
    decide(ann, {1: {"pay"}, 2: {"food", "pay"}, 3: {"rooms"}, 4: {"food"}, 5: {"pay"}})
    with Store.open(ann) as store:
        assert agreement_of(store) is None
    decide(ann, {1: {"pay"}, 2: {"pay"}, 3: {"rooms"}, 4: {"managers"}, 6: {"food"}}, "Bob")
    decide(ann, {2: {"pay"}}, action="settle")
    decide(ann, {4: {"food"}}, "Cleo", action="settle")
    with Store.open(ann) as store:
        found = agreement_of(store)
        texts = {item.item: item.text for item in store.items()}
    codes = [
        ({"pay"}, {"pay"}),
        ({"food", "pay"}, {"pay"}),
        ({"rooms"}, {"rooms"}),
        ({"food"}, {"managers"}),
        ({"pay"}, None),
        (None, {"food"}),
    ]
    answers = [
        SharedAnswer(str(i), texts[i], tuple(c and frozenset(c) for c in pair))
        for i, pair in enumerate(codes, 1)
    ]
    assert found == compare_coders(answers, ("Ann", "Bob"))
    assert (found.n_answers, found.n_same, found.n_single) == (4, 2, 2)
    assert [d.name for d in found.disagreements] == ["4", "2"]


def test_the_commands(two, tmp_path):
    run = CliRunner().invoke
    decide(two[0], {1: {"pay"}, 2: {"food"}, 3: {"pay"}})
    decide(two[1], {1: {"pay"}, 2: {"pay"}, 3: {"pay"}}, "Bob")
    both, table = str(tmp_path / "both.review.db"), str(tmp_path / "coded.csv")
    done = run(merge, [*map(str, two), "-o", both], catch_exceptions=False)
    assert "3 answers decided by Ann and Bob; the log has 6 entries." in done.output
    assert "The same codes from all: 2 answers (66.7 %)." in done.output
    done = run(export, [both, "-o", table], catch_exceptions=False)
    assert "10 answers." in done.output
    with pytest.raises(InputError, match="already exists"):
        run(export, [both, "-o", table], catch_exceptions=False)
    for taken in (both, str(tmp_path / "new.csv")):
        with pytest.raises(InputError, match="is named twice"):
            run(export, [both, "-o", taken, "--force"], catch_exceptions=False)
    shown = run(export, [both, "-o", "-"], catch_exceptions=False).output
    assert shown == (tmp_path / "coded.csv").read_text()
    tasks, config = str(tmp_path / "tasks.json"), str(tmp_path / "labels.xml")
    run(export, [both, "-o", tasks, "--config", config], catch_exceptions=False)
    assert 'choice="multiple"' in (tmp_path / "labels.xml").read_text()
    done = run(import_tasks, [str(two[0]), tasks], catch_exceptions=False)
    assert "3 new decisions by Bob. 3 annotations had come before. 7 tasks without" in done.output
