"""Several coders: checks, disputes, who has which answers, and their reviews in one."""

import shutil
from pathlib import Path

import pytest

from coding.review.desk_acts import act, listed, of, progress, renew, to_undo
from coding.review.made_review import decide, entry, latest, log_of, make_review
from coding_tables import call, refuse, succeed
from nldd.coding.agreement import SharedAnswer, compare_coders
from nldd.coding.audit import judge_checks
from nldd.coding.review import views
from nldd.coding.review.decisions import agreement_of, merge_stores
from nldd.coding.review.desk import Conflict
from nldd.coding.review.records import CODE, FLAG, OPEN, SETTLE, SKIP, outcomes
from nldd.coding.review.store import Store
from nldd.exceptions import InputError


@pytest.mark.parametrize(
    ("n_right", "n", "headline"),
    [(1, 1, "1 of 1 right"), (18, 19, "18 of 19 right"), (20, 20, "83 to 100 % right")],
)
def test_few_checks_are_counts_with_an_interval_but_no_share(n_right, n, headline):
    """One right answer of one is no accuracy of 100 %."""
    found = judge_checks([True] * n_right + [False] * (n - n_right), 50 - n, 0.9)
    said = views.CheckedAccuracy(50, 0, False, found)
    assert said.headline == headline
    assert said.text.split(";")[0].count(" %") == 2 + (n > 19)


def test_the_result_goes_with_codes_that_were_withdrawn(desks, capsys):
    desk = desks(n_drawn=20, share=0.6)
    said = of(desk)
    assert views.audit_view(desk)["text"] == "No automatic code has been checked yet."
    for item in desk.drawn:
        desk.decide(act(item, said[item].codes))
    n = views.audit_view(desk)["n_checked"]
    assert views.audit_view(desk)["headline"] == f"{n} of {n} right"
    # Nothing is left where people have decided all: that withdraws no code.
    for number, n_review in ((1, 0), (2, 20)):
        renew(desk, number, (), n_auto=0, n_review=n_review)
        view = views.audit_view(desk)
        assert (view["withdrawn"], view["headline"] == "") == (n_review > 0, n_review > 0)
    assert (view["accuracy"], view["n_checked"]) == (1, n)  # the record stays
    assert call("audit", desk.store.path) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"The first automatic codes were withdrawn ({n} of {n} checked")
    assert views.audit_of(desk.store).audit.verdict == view["verdict"] is not None


def test_coders_do_not_see_each_other_before_they_have_decided(desks):
    ann, bob = desks("Ann"), desks("Bob")
    ann.decide(act(9, ["pay"]))
    bob.follow()
    (view,) = views.item_views(bob, [9])
    assert (view["others"], view["state"], view["codes"]) == ([], OPEN, None)
    bob.decide(act(9, ["food"]))
    (view,) = views.item_views(bob, [9])
    assert view["others"] == [{"coder": "Ann", "codes": ["pay"]}]
    (row,) = views.disagreements_view(bob)
    assert row["by"] == [{"coder": "Ann", "codes": ["pay"]}, {"coder": "Bob", "codes": ["food"]}]
    assert listed(bob, "disagree") == [9]
    ann.follow()
    ann.decide(act(9, ["pay"], seen=1))  # the same again: Bob has not seen this entry
    bob.follow()
    with pytest.raises(Conflict):
        bob.decide(act(9, ["pay"], SETTLE, seen=row["seen"]))
    bob.decide(act(9, ["pay"], SETTLE, seen=views.disagreements_view(bob)[0]["seen"]))
    assert views.disagreements_view(bob) == []
    assert views.item_views(bob, [9])[0]["settled"]
    with pytest.raises(InputError, match="do not disagree"):
        bob.decide(act(9, ["pay"], SETTLE, seen=bob.own(9).id))
    bob.undo("back")
    assert listed(bob, "disagree") == [9]


def test_what_is_settled_stays_so_until_somebody_decides_otherwise(desks):
    ann, bob, cleo = desks("Ann", share=0), desks("Bob"), desks("Cleo")

    def then(desk, action, codes=("pay",)):
        desk.follow()
        seen = desk.seen_by_all(9) if action == SETTLE else desk.own(9).id
        desk.decide(act(9, codes, action, seen=seen))
        outcome = desks("Dan").outcome(9)
        return outcome.settling is not None

    then(ann, CODE)
    then(bob, CODE, ["food"])
    assert then(ann, SETTLE, ["food"])
    before = agreement_of(ann.store)
    assert (before.n_answers, before.n_same) == (1, 0)
    assert all([then(bob, FLAG), then(ann, FLAG), then(ann, SKIP), then(cleo, SKIP)])
    cleo.undo("a")
    assert not then(ann, CODE, ["rooms"])
    ann.undo("b")
    ann.undo("c")  # the skip
    assert then(bob, CODE, ["food"])
    assert agreement_of(ann.store) == before
    assert not then(bob, CODE, ["rooms"])
    assert not then(bob, FLAG)
    ann.follow()
    assert 9 in ann.disagreed
    assert views.item_views(ann, [9])[0]["settled"] is False


def test_answers_of_others_are_left_to_them_where_the_coder_wants_that(desks):
    ann, bob = desks("Ann", share=0), desks("Bob")
    ann.decide(act(1))
    bob.follow()
    assert 1 in bob.next_items("file", 0, 100)
    bob.change_settings({"others": "leave"})
    assert 1 not in bob.next_items("file", 0, 100)
    assert progress(bob)["n_done"] == 1


def test_answers_in_dispute_are_nothing_to_learn_from(desks):
    ann, bob = desks("Ann", share=0), desks("Bob")
    for item in range(1, 5):
        ann.decide(act(item, ["pay"]))
        bob.decide(act(item, ["food"]))
    ann.decide(act(5))
    status = views.status_view(ann, {})
    assert status["learning"]["since"] == 1
    assert (status["machine"]["n_people"], status["machine"]["n_apart"]) == (1, 4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "new.review.db"
    make_review(path, 10, n_drawn=3)
    return path


@pytest.fixture
def two(made, tmp_path):
    """The same review twice, of Ann and of Bob."""
    return [Path(shutil.copy(made, tmp_path / f"{name}.review.db")) for name in ("ann", "bob")]


def at(second, item, codes, coder, **more):
    """An entry of a certain time."""
    return entry(item, codes, coder, time=f"2026-01-01T00:00:{second:02}.000Z", **more)


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
    both = tmp_path / "both.review.db"
    merged = merge_stores([ann, bob], both)
    assert (merged.n_entries, merged.n_items, merged.notes) == (6, 3, [])
    assert merged.coders == ("Ann", "Bob")
    log = log_of(both)
    # Ann's clock was moved back: what she did later stays later.
    told = [f"{e.id} {e.coder} {e.action} {e.item}" for e in log]
    assert told[:3] == ["1 Ann code 9", "2 Bob code 1", "3 Ann code 1"]
    assert told[3:] == ["4 Ann code 2", "5 Bob code 2", "6 Ann undo 2"]
    assert (log[5].undoes, log[3].uid) == (4, second.uid)
    assert [e.uid for e in to_undo(log, "Ann")] == [first.uid]
    found = {item: outcome.codes for item, outcome in outcomes(log).items()}
    assert found == {9: {"rooms"}, 1: {"pay"}, 2: {"rooms"}}
    with Store.open(both) as new, Store.open(ann) as store:
        assert (new.study, new.rounds()) == (store.study, store.rounds())
        assert list(new.items()) == list(store.items())
        assert list(new.suggestions(0)) == list(store.suggestions(0))
        assert (new.setting("codes"), new.setting("coder:Bob")) == (["parking"], None)
    add(ann, at(9, 5, {"food"}, "Ann"))
    again = merge_stores([both, ann, bob], tmp_path / "again.review.db")
    assert (again.n_entries, again.n_items, again.notes) == (7, 4, [])


def test_one_name_of_two_decisions_is_refused(two, tmp_path):
    for path, codes in zip(two, ({"pay"}, {"food"}), strict=True):
        add(path, at(1, 1, codes, "Ann", uid="u1"))
    with pytest.raises(InputError, match="'u1' stands for two decisions"):
        merge_stores(two, tmp_path / "both.review.db")


def test_one_name_of_two_people_is_told(two, tmp_path):
    add(two[0], at(1, 1, {"pay"}, "Ann"), at(2, 2, {"pay"}, "Ann"))
    add(two[1], at(3, 1, {"food"}, "Ann"), at(1, 2, {"pay"}, "Ann"))
    (note,) = merge_stores(two, tmp_path / "both.review.db").notes
    assert note.startswith("Ann decided 1 answer differently in ann.review.db and bob.review.db")
    by = latest(log_of(tmp_path / "both.review.db"))
    assert by[1, "Ann"].after.codes == {"food"}


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ({"table_sha256": "0" * 64}, "have other contents"),
        ({"header": ("id", "answer", "age", "place")}, "the columns of their tables differ"),
        ({"n_drawn": 2}, "drawn"),
    ],
)
def test_reviews_of_something_else_are_not_merged(two, tmp_path, study, words):
    make_review(tmp_path / "other.review.db", 10, **{"n_drawn": 3, **study})
    with pytest.raises(InputError, match=rf"not of the same study: .*{words}"):
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
    path = two[0]
    pay, food, rooms, managers = (frozenset({c}) for c in ("pay", "food", "rooms", "managers"))
    ann = {1: pay, 2: food | pay, 3: rooms, 4: food, 5: pay}
    bob = {1: pay, 2: pay, 3: rooms, 4: managers, 6: food}
    decide(path, ann)
    with Store.open(path) as store:
        assert agreement_of(store) is None
    decide(path, bob, "Bob")
    decide(path, {2: {"pay"}}, action="settle")
    decide(path, {4: {"food"}}, "Cleo", action="settle")
    with Store.open(path) as store:
        found, texts = agreement_of(store), dict(store.texts())
    pairs = {i: (ann.get(i), bob.get(i)) for i in range(1, 7)}
    answers = [SharedAnswer(str(i), texts[i], pair) for i, pair in pairs.items()]
    assert found == compare_coders(answers, ("Ann", "Bob"))
    assert (found.n_answers, found.n_same, found.n_single) == (4, 2, 2)
    assert [d.name for d in found.disagreements] == ["4", "2"]


def test_the_commands(two, tmp_path, capsys, snapshot):
    decide(two[0], {1: {"pay"}, 2: {"food"}, 3: {"food"}})
    decide(two[1], {1: {"pay"}, 2: {"pay"}, 3: {"food"}}, "Bob")
    both, table, tasks = (tmp_path / name for name in ("both.review.db", "coded.csv", "tasks.json"))
    snapshot(succeed(capsys, "review", "merge", *two, "-o", both).out, "review_merge")
    assert succeed(capsys, "review", "export", both, "-o", table).out.startswith("10 answers.")
    assert "already exists" in refuse(capsys, "review", "export", both, "-o", table)[0]
    for taken in (both, tmp_path / "new.csv"):
        message, _ = refuse(capsys, "review", "export", both, "-o", taken, "--force")
        assert "is named twice" in message
    assert succeed(capsys, "review", "export", both, "-o", "-").out == table.read_text("utf-8")
    assert call("review", "export", both, "-o", "-", "--json") == 2
    config = tmp_path / "labels.xml"
    succeed(capsys, "review", "export", both, "-o", tasks, "--config", config)
    assert 'choice="multiple"' in config.read_text("utf-8")
    done = succeed(capsys, "review", "import", two[0], tasks, "--json")
    assert done.json == {"n_added": 3, "n_known": 3, "coders": ["Bob"], "n_left": 7, "n_since": 0}
    done = succeed(capsys, "review", "import", two[0], tasks)
    assert "0 new decisions. 6 annotations had come before. 7 tasks without" in done.out
