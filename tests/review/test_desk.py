"""The desk of a coder: orders, decisions and conflicts, undo without limit, blind answers, pace."""

import random
from dataclasses import replace
from itertools import count

import pytest

from nldd.exceptions import InputError
from nldd.review import Desk, Position, Store, latest
from nldd.review._desk import Act, Conflict, SimilarCodeError, UnknownItemError
from nldd.review._log import CODE, DONE, FLAG, OPEN, SETTLE, SKIP, SKIPPED, to_undo
from nldd.review._views import (
    audit_view,
    disagreement_rows,
    doubt_words,
    item_views,
    list_view,
    status_view,
    study_view,
)
from review.made_review import CODES, make_review

NUMBERS = count(1)


def act(item, codes=("pay",), action=CODE, seen=0, **more):
    return Act(f"u{next(NUMBERS)}", item, seen, action, frozenset(codes), **more)


@pytest.fixture
def desks(tmp_path):
    """Opens desks of a review of forty answers, for coders by name."""
    path, stores = tmp_path / "new.review.db", []

    def open_desk(coder="Ann", **made):
        if not path.exists():
            make_review(path, **made)
        stores.append(Store.open(path))
        return Desk(stores[-1], coder, ["age"])

    yield open_desk
    for store in stores:
        store.close()


def of(desk, **facts):
    """Suggestions of all items of a store, by their numbers."""
    return {s.item: s for s in desk.store.suggestions(facts.get("round", 0))}


def listed(desk, state="queue", code="", search="", order="file"):
    return [row["item"] for row in list_view(desk, state, code, search, order, 0, 100)["rows"]]


def progress(desk):
    return status_view(desk, {})["progress"]


def test_orders_put_drawn_answers_first_and_empty_ones_last(desks):
    texts = ["", "no raise", " \n\t", "no raise"]
    desk = desks(n_drawn=6, texts=texts, share=0.4, seed=1)
    said = of(desk)
    drawn = [i.item for i in desk.store.items() if i.drawn]
    people = [i for i, s in said.items() if s.status == "review" and i not in drawn]
    blank = [i for i in people if i in (1, 3)]
    rest = [i for i in people if i not in blank]
    assert blank
    sizes = {s.codes: sum(said[i].codes == s.codes for i in people) for s in said.values()}
    places = list(dict.fromkeys(s.codes for s in said.values()))
    keys = {
        "file": lambda i: i,
        "unsure": lambda i: -said[i].doubt,
        "alike": lambda i: (-sizes[c := said[i].codes], places.index(c), said[i].doubt),
    }
    for order, key in keys.items():
        found = desk.next_items(order, 0, 100)
        assert sorted(found[:6]) == drawn
        assert found[:6] != drawn  # by chance, as the seed has it
        assert found[6 : 6 + len(rest)] == sorted(rest, key=key)
        assert sorted(found[6 + len(rest) :]) == blank
    with pytest.raises(InputError, match="no order 'best'"):
        desk.next_items("best", 0, 1)


def test_the_queue_goes_round_and_skipped_answers_come_last(desks):
    desk = desks(share=0.5)
    queue = desk.next_items("file", 0, 100)
    assert desk.next_items("file", queue[3], 3) == queue[4:7]
    assert desk.next_items("file", queue[-2], 3) == [queue[-1], *queue[:2]]
    assert desk.items_before("file", queue[3], 2) == [queue[2], queue[1]]
    for item in (queue[4], queue[1]):
        desk.decide(act(item, action=SKIP))
    left = [item for item in queue if item not in (queue[1], queue[4])]
    assert desk.next_items("file", queue[1], 100)[-2:] == [queue[4], queue[1]]
    assert desk.next_items("file", queue[1], 100)[0] == queue[2]
    for item in left:
        desk.decide(act(item))
    assert desk.next_items("file", 0, 9) == [queue[4], queue[1]]
    assert desk.next_items("file", queue[4], 9) == [queue[1], queue[4]]
    assert desk.items_before("file", queue[3], 9) == queue[2::-1]
    counts = progress(desk)
    assert (counts["n_open"], counts["n_done"], counts["n_skipped"]) == (0, len(left), 2)


def test_a_decision_on_what_was_not_seen_is_a_conflict_and_writes_nothing(desks):
    desk, tab = desks(), desks()
    first = act(5, note="", seconds=2.0)
    desk.decide(first)
    desk.decide(first)  # sent again: written once
    tab.follow()
    assert tab.position(5) == Position(DONE, frozenset({"pay"}))
    with pytest.raises(Conflict):
        tab.decide(act(5, ["food"]))
    assert len(tab.store.entries()) == 1
    tab.decide(act(5, ["food"], seen=1))
    with pytest.raises(InputError, match="Another coder has sent"):
        desks("Bob").decide(first)
    with pytest.raises(InputError, match="no code 'peace'"):
        tab.decide(act(6, ["peace"]))
    with pytest.raises(UnknownItemError, match="no answer 41"):
        tab.decide(act(41))
    assert [e.after.codes for e in tab.store.entries()] == [{"pay"}, {"food"}]


def test_two_processes_that_write_at_once_see_each_other(desks, monkeypatch):
    desk, other = desks(), desks()
    add, raced = desk.store.add, []

    def late(entries, behind=None):
        if not raced:
            raced.append(other.decide(act(7, ["food"])))
        return add(entries, behind)

    monkeypatch.setattr(desk.store, "add", late)
    with pytest.raises(Conflict):
        desk.decide(act(7, ["pay"]))
    assert [e.after.codes for e in desk.store.entries()] == [{"food"}]


@pytest.mark.parametrize("seed", range(3))
def test_undo_goes_back_to_the_beginning_whatever_was_done(desks, seed):
    rng, desk, bob = random.Random(seed), desks(n_drawn=4), desks("Bob")
    for step in range(60):
        items = rng.sample(range(1, 41), 3)
        do = rng.choice([CODE, CODE, SKIP, FLAG, "unflag", "many", "undo", "undo", "bob", "again"])
        if do == "many":
            chosen = act(0, rng.sample(CODES, 2))
            desk.decide_many(chosen.uid, {i: desk.seen(i) for i in items}, chosen)
        elif do == "undo":
            expected = [e.item for e in to_undo(desk.store.entries(), "Ann")]
            assert desk.undo(f"undo{step}") == expected
            assert desk.undo(f"undo{step}") == expected  # sent again: done once
        elif do == "bob":
            bob.follow()
            bob.decide(act(items[0], seen=bob.seen(items[0])))
        elif do == "again":
            desk = desks()
        else:
            more = {"action": do, "seen": desk.seen(items[0]), "note": f"note {step}"}
            desk.decide(act(items[0], rng.sample(CODES, rng.randrange(3)), **more))
        desk.follow()
        last = latest(desk.store.entries())
        for item in range(1, 41):
            own = last.get(item, {}).get("Ann")
            assert desk.position(item) == (own.after if own else Position())
    while desk.can_undo:
        desk.undo(f"all{next(NUMBERS)}")
    assert all(desk.position(item) == Position() for item in range(1, 41))
    assert desk.undo("more") == []


def test_flags_stay_when_an_answer_is_decided_and_decisions_when_it_is_flagged(desks):
    desk = desks()
    desk.decide(act(3, action=FLAG, note="ask Bob"))
    desk.decide(act(3, ["pay", "food"], seen=1))
    assert desk.position(3) == Position(DONE, frozenset({"pay", "food"}), True, "ask Bob")
    assert listed(desk, "flagged") == [3]
    desk.decide(act(3, action="unflag", seen=2))
    assert desk.position(3) == Position(DONE, frozenset({"pay", "food"}))
    desk.decide(act(3, action=SKIP, seen=3))
    assert desk.position(3) == Position(SKIPPED)


def test_drawn_answers_are_blind_until_they_are_decided(desks):
    desk = desks(n_drawn=8, share=0.9)
    said = of(desk)
    drawn = [i.item for i in desk.store.items() if i.drawn]
    (view,) = item_views(desk, drawn[:1])
    assert (view["blind"], view["suggestion"], view["n_alike"]) == (True, None, 0)
    assert drawn[0] not in listed(desk, "all", said[drawn[0]].codes[0])
    assert not set(drawn) & set(listed(desk, "auto"))
    assert desk.alike(drawn[0]) == []
    desk.decide(act(drawn[0], said[drawn[0]].codes))
    (view,) = item_views(desk, drawn[:1])
    assert view["suggestion"]["codes"] == list(said[drawn[0]].codes)
    desk.undo("back")
    desk.decide(act(drawn[0], ["pay"], seen=2))
    # Undone, it is blind again; but the suggestion has been seen, and the log says so.
    assert [bool(entry.shown) for entry in desk.store.entries()] == [False, False, True]
    # Where the study is not blind, the suggestion is there from the beginning.
    desk.study = replace(desk.study, blind=False)
    assert item_views(desk, drawn[1:2])[0]["suggestion"] is not None


def test_checks_of_drawn_answers_are_judged_as_an_audit(desks):
    desk = desks(n_drawn=20, share=0.6)
    said = of(desk)
    drawn = [i.item for i in desk.store.items() if i.drawn]
    automatic = [i for i in drawn if said[i].status == "auto"]
    assert audit_view(desk)["text"] == "No automatic code has been checked yet."
    wrong = automatic[0]
    for item in drawn[:-1]:
        others = [code for code in CODES if code not in said[item].codes]
        desk.decide(act(item, others[:1] if item == wrong else said[item].codes))
    checked = [i for i in automatic if i != drawn[-1]]
    view = audit_view(desk)
    assert (view["n_drawn"], view["n_left"]) == (20, 1)
    assert (view["n_checked"], view["n_right"]) == (len(checked), len(checked) - 1)
    assert view["low"] < view["accuracy"] == (len(checked) - 1) / len(checked) < view["high"]
    assert f"{len(checked) - 1} of {len(checked)} automatic codes" in view["text"]


def test_coders_do_not_see_each_other_before_they_have_decided(desks):
    ann, bob = desks("Ann"), desks("Bob")
    ann.decide(act(9, ["pay"]))
    bob.follow()
    (view,) = item_views(bob, [9])
    assert (view["others"], view["state"], view["codes"]) == ([], OPEN, None)
    bob.decide(act(9, ["food"]))
    (view,) = item_views(bob, [9])
    assert [(o["coder"], o["codes"]) for o in view["others"]] == [("Ann", ["pay"])]
    (row,) = disagreement_rows(bob)
    assert row["by"] == [{"coder": "Ann", "codes": ["pay"]}, {"coder": "Bob", "codes": ["food"]}]
    assert listed(bob, "disagree") == [9]
    ann.follow()
    ann.decide(act(9, ["pay"], seen=1))  # the same again: Bob has not seen this entry
    bob.follow()
    with pytest.raises(Conflict):
        bob.decide(act(9, ["pay"], SETTLE, seen=row["seen"]))
    bob.decide(act(9, ["pay"], SETTLE, seen=disagreement_rows(bob)[0]["seen"]))
    assert disagreement_rows(bob) == []
    assert item_views(bob, [9])[0]["settled"]
    with pytest.raises(InputError, match="do not disagree"):
        bob.decide(act(9, ["pay"], SETTLE, seen=bob.seen(9)))
    bob.undo("back")
    assert listed(bob, "disagree") == [9]


def test_answers_of_others_are_left_to_them_where_the_coder_wants_that(desks):
    ann, bob = desks("Ann", share=0), desks("Bob")
    ann.decide(act(1))
    bob.follow()
    assert 1 in bob.next_items("file", 0, 100)
    bob.keep_settings({"others": "leave"})
    assert 1 not in bob.next_items("file", 0, 100)
    assert progress(bob)["n_done"] == 1


def test_the_pace_is_the_median_of_the_last_decisions(desks):
    desk = desks(n=80, share=0)
    for item, seconds in enumerate([1000.0] * 20 + [5.0] * 26 + [9000.0] * 24, 1):
        desk.decide(act(item, seconds=seconds))
    # Of the last fifty, 24 are long (and cut at two minutes), 26 took five seconds.
    assert desk.pace == 5.0
    assert progress(desk)["seconds_left"] == 5.0 * 10
    assert desks("Bob").pace is None


def test_times_that_go_back_change_neither_order_nor_pace(desks, monkeypatch):
    desk = desks(share=0)
    for item, year in zip((4, 4, 5), (2030, 2020, 1999), strict=True):
        monkeypatch.setattr(
            "nldd.review._desk.now", lambda year=year: f"{year}-01-01T00:00:00.000Z"
        )
        desk.decide(
            act(item, CODES[:1] if year == 2020 else ["pay"], seen=desk.seen(item), seconds=3)
        )
    again = desks()
    assert again.position(4).codes == {CODES[0]}
    assert again.pace == desk.pace == 3.0
    assert again.undo("last") == [5]


def test_a_new_round_renews_suggestions_but_not_what_was_decided(desks):
    desk = desks(share=0.5, n_drawn=4)
    said = of(desk)
    queue = desk.next_items("file", 0, 100)
    desk.decide(act(queue[5]))
    sure = [s._replace(status="auto", doubt=0.0) for i, s in said.items() if i != queue[5]]
    with Store.open(desk.store.path) as store:
        store.add_suggestions(1, sure)
        store.finish_round(1, "2" * 64, {"codes": list(CODES), "n_decided": 1})
    desk.follow()
    drawn = {i.item for i in desk.store.items() if i.drawn}
    assert desk.round == 1
    assert set(listed(desk)) == drawn | {queue[5]}
    status = status_view(desk, {})
    undecided = [i for i, s in said.items() if s.status != "auto" and i != queue[5]]
    assert status["machine"]["n_newly_auto"] == len(undecided)
    assert status["learning"]["since"] == 0
    assert item_views(desk, [queue[5]])[0]["suggestion"]["round"] == 0
    assert item_views(desk, [queue[6]])[0]["suggestion"]["round"] == 1


def test_alike_answers_are_decided_together_but_for_those_that_changed(desks):
    desk, tab = desks(n=60, share=0.2), desks()
    item = desk.next_items("alike", 0, 1)[0]
    alike = desk.alike(item)
    codes = of(desk)[item].codes
    assert {of(desk)[i].codes for i in alike} == {codes}
    assert item_views(desk, [item])[0]["n_alike"] == len(alike) - 1
    tab.decide(act(alike[0], ["food"]))
    many = act(0, codes)
    assert desk.decide_many(many.uid, dict.fromkeys(alike, 0), many) == (len(alike) - 1, alike[:1])
    assert desk.decide_many(many.uid, dict.fromkeys(alike, 0), many)[0] == len(alike) - 1
    assert desk.position(alike[0]).codes == {"food"}
    assert sorted(desk.undo("back")) == alike[1:]
    assert sorted(desk.alike(item)) == alike[1:]


def test_new_codes_are_asked_about_where_they_look_like_known_ones(desks):
    desk = desks(separator=";", none="-")
    with pytest.raises(SimilarCodeError, match="'managers'") as error:
        desk.add_code("manegers", sure=False)
    assert error.value.like == ["managers"]
    desk.add_code("manegers", sure=True)
    desk.add_code("  noise\n level ", sure=False)
    desk.add_code("noise level", sure=False)  # it is there
    assert [code for code, *_, new in desk.codes if new] == ["manegers", "noise level"]
    for bad in ("", " \n", "a;b", "-", "x" * 201, "a\u202eb"):
        with pytest.raises(InputError):
            desk.add_code(bad, sure=True)
    again = desks("Bob")
    again.decide(act(2, ["noise level"]))
    assert [code for code, *_, new in again.codes if new] == ["manegers", "noise level"]


def test_the_list_finds_answers_by_words_codes_and_numbers(desks):
    desk = desks(texts=["Öffentliche BUSSE fahren", "die Busse", "17 busse"], share=0.5)
    said = of(desk)
    assert listed(desk, "all", search="busse FAHREN") == [1]
    assert listed(desk, "all", search="öffentliche") == [1]
    assert listed(desk, "all", search="17") == [3, 17]
    desk.decide(act(2, ["food"]))
    food = [i for i, s in said.items() if ("food" in s.codes and i != 2) or i == 2]
    assert listed(desk, "all", "food") == food
    rows = {row["item"]: row for row in list_view(desk, "all", "", "", "file", 0, 100)["rows"]}
    assert (rows[2]["state"], rows[2]["by"], rows[2]["codes"]) == ("done", "people", ["food"])
    auto = [i for i, s in said.items() if s.status == "auto" and i != 2]
    assert listed(desk, "auto") == auto
    assert {row["state"] for row in rows.values() if row["item"] in auto} == {"auto"}
    assert list_view(desk, "all", "", "", "file", 38, 5)["rows"][-1]["item"] == 40
    with pytest.raises(InputError, match="no state 'lost'"):
        listed(desk, "lost")


def test_codes_that_an_answer_came_with_are_left_alone(tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, n=12, share=0)
    with Store.open(path) as store:
        store._connection.execute("UPDATE items SET given = '[\"pay\"]' WHERE item = 4")
        desk = Desk(store, "Ann")
        assert 4 not in desk.next_items("file", 0, 100)
        with pytest.raises(InputError, match="came with codes"):
            desk.decide(act(4))
        assert item_views(desk, [4])[0]["given"] == ["pay"]
        assert status_view(desk, {})["machine"]["n_open"] == 11


def test_doubt_is_said_in_words():
    said = {
        0.995: "fewer than 1 in 100",
        0.8: "1 in 5",
        0.6: "2 in 5",
        0.5: "1 in 2",
        0.952: "1 in 20",
    }
    for chance, words in said.items():
        assert words in doubt_words(chance, 0.0)
    assert doubt_words(0.49, 0.0) == "more likely wrong than right"
    assert doubt_words(None, 0.031) == "about 3 % of codes like these are wrong"


def test_a_browser_takes_no_copy_for_the_store_itself(desks, tmp_path):
    desk = desks()
    copy = tmp_path / "copy of new.review.db"
    copy.write_bytes(desk.store.path.read_bytes())
    with Store.open(copy) as store:
        other = study_view(Desk(store, "Ann"), 0)
    own = study_view(desk, 0)
    assert own["store_id"] == study_view(desks(), 0)["store_id"] != other["store_id"]
    assert other["update"] == "nldd update model.nldd 'copy of new.review.db'"
