"""The desk of a coder: orders, decisions and conflicts, undo without limit, blind answers, pace."""

import json
import random
from dataclasses import replace

import pytest

from coding.review.desk_acts import act, listed, of, progress, renew, to_undo
from coding.review.made_review import CODES, NUMBERS, latest
from nldd.coding.review.desk import Conflict, Desk, UnknownItemError
from nldd.coding.review.records import CODE, DONE, FLAG, SKIP, Position, SimilarCodeError
from nldd.coding.review.store import Store
from nldd.coding.review.views import act_words, item_views, list_view, status_view, study_view
from nldd.exceptions import InputError


def test_orders_put_drawn_answers_first_and_empty_ones_last(desks):
    desk = desks(n_drawn=6, texts=["", "no raise", " \n\t", "no raise"], share=0.4, seed=1)
    said, drawn = of(desk), desk.drawn
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
        assert found[6:] == sorted(rest, key=key) + blank


def test_the_queue_goes_round_and_skipped_answers_come_last(desks):
    desk = desks(share=0.5)
    queue = desk.next_items("file", 0, 100)
    assert desk.next_items("file", queue[3], 3) == queue[4:7]
    assert desk.next_items("file", queue[-2], 3) == [queue[-1], *queue[:2]]
    assert desk.items_before("file", queue[3], 2) == [queue[2], queue[1]]
    for item in (queue[4], queue[1]):
        desk.decide(act(item, action=SKIP))
    left = [item for item in queue if item not in (queue[1], queue[4])]
    assert desk.next_items("file", queue[1], 100) == [*left[1:], left[0], queue[4], queue[1]]
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
    assert tab.own(5).after == Position(DONE, frozenset({"pay"}))
    with pytest.raises(Conflict):
        tab.decide(act(5, ["food"]))
    tab.decide(act(5, ["food"], seen=1))
    for other, again, error, words in (
        (desks("Bob"), first, InputError, "used already"),
        (desk, replace(first, item=6), InputError, "used already"),
        (tab, act(6, ["peace"]), InputError, "no code 'peace'"),
        (tab, act(41), UnknownItemError, "no answer 41"),
    ):
        with pytest.raises(error, match=words):
            other.decide(again)
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
            desk.decide_many(chosen, {i: desk.own(i).id for i in items})
        elif do == "undo":
            expected = [e.item for e in to_undo(desk.store.entries(), "Ann")]
            assert desk.undo(f"undo{step}") == expected
            assert desk.undo(f"undo{step}") == expected  # sent again: done once
        elif do == "bob":
            bob.follow()
            bob.decide(act(items[0], seen=bob.own(items[0]).id))
        elif do == "again":
            desk = desks()
        else:
            more = {"action": do, "seen": desk.own(items[0]).id, "note": f"note {step}"}
            desk.decide(act(items[0], rng.sample(CODES, rng.randrange(3)), **more))
        desk.follow()
        last = latest(desk.store.entries())
        for item in range(1, 41):
            own = last.get((item, "Ann"))
            assert desk.own(item).after == (own.after if own else Position())
    while desk.last_act:
        desk.undo(f"all{next(NUMBERS)}")
    assert all(desk.own(item).after == Position() for item in range(1, 41))
    assert desk.undo("more") == []


def test_drawn_answers_are_blind_also_once_they_are_decided(desks):
    desk = desks(n_drawn=8, share=0.9)
    said, (first, second, *_) = of(desk), desk.drawn
    (view,) = item_views(desk, [first])
    assert (view["blind"], view["suggestion"], view["n_alike"]) == (True, None, 0)
    assert first not in listed(desk, "all", said[first].codes[0])
    assert not set(desk.drawn) & set(listed(desk, "auto"))
    assert desk.alike(first) == []
    assert desk.decide_many(act(0), {first: 0}) == (0, [first])
    desk.decide(act(first, said[first].codes))
    (view,) = item_views(desk, [first])
    assert (view["blind"], view["suggestion"], view["state"]) == (True, None, DONE)
    desk.undo("back")
    desk.decide(act(first, ["pay"], seen=2))
    assert [entry.shown for entry in desk.store.entries()] == ["", "", ""]
    # Where the study is not blind, the suggestion is there from the beginning.
    desk.study = replace(desk.study, blind=False)
    assert item_views(desk, [second])[0]["suggestion"] is not None


def test_the_log_says_what_the_page_showed_not_what_the_machine_says_since(desks):
    desk = desks(share=0)
    said = of(desk)
    for number, codes in ((1, ("rooms",)), (2, ("food",))):
        renew(desk, number, [s._replace(codes=codes) for s in said.values()])
    for item, number in ((1, 0), (2, 1), (3, 2), (4, 9)):
        desk.decide(act(item, round=number))
    shown = [entry.shown for entry in desk.store.entries()]
    assert shown == [json.dumps(said[1].codes), '["rooms"]', '["food"]', ""]


def test_times_that_go_back_change_neither_order_nor_pace(desks, monkeypatch):
    desk = desks(share=0)
    for item, code, year in ((4, "pay", 2030), (4, "food", 2020), (5, "pay", 1999)):
        time = f"{year}-01-01T00:00:00.000Z"
        monkeypatch.setattr("nldd.coding.review.records.current_time", lambda time=time: time)
        desk.decide(act(item, [code], seen=desk.own(item).id, seconds=3))
    again = desks()
    assert again.own(4).after.codes == {"food"}
    assert again.pace == desk.pace == 3.0
    assert again.undo("last") == [5]


def test_a_new_round_renews_suggestions_but_not_what_was_decided(desks):
    desk = desks(share=0.5, n_drawn=4)
    said, queue = of(desk), desk.next_items("file", 0, 100)
    desk.decide(act(queue[5]))
    sure = [s._replace(status="auto", doubt=0.0) for i, s in said.items() if i != queue[5]]
    renew(desk, 1, sure, n_decided=1)
    assert desk.round == 1
    assert set(listed(desk)) == {*desk.drawn, queue[5]}
    status = status_view(desk, {})
    undecided = [i for i, s in said.items() if s.status != "auto" and i != queue[5]]
    assert status["machine"]["n_newly_auto"] == len(undecided)
    assert status["learning"]["since"] == 0
    rounds = [view["suggestion"]["round"] for view in item_views(desk, queue[5:7])]
    assert rounds == [0, 1]


def test_alike_answers_are_decided_together_but_for_those_that_changed(desks):
    desk, tab = desks(n=60, share=0.2), desks()
    item = desk.next_items("alike", 0, 1)[0]
    alike, codes = desk.alike(item), of(desk)[item].codes
    assert {of(desk)[i].codes for i in alike} == {codes}
    assert item_views(desk, [item])[0]["n_alike"] == len(alike) - 1
    tab.decide(act(alike[0], ["food"]))
    many = act(0, codes)
    assert desk.decide_many(many, dict.fromkeys(alike, 0)) == (len(alike) - 1, alike[:1])
    assert desk.decide_many(many, dict.fromkeys(alike, 0))[0] == len(alike) - 1
    assert desk.own(alike[0]).after.codes == {"food"}
    assert sorted(desk.undo("back")) == alike[1:]
    assert sorted(desk.alike(item)) == alike[1:]


def new_codes(desk):
    return [code for code, *_, is_new in desk.known_codes.listed if is_new]


def test_new_codes_are_asked_about_where_they_look_like_known_ones(desks):
    desk = desks(separator=";", none="-")
    with pytest.raises(SimilarCodeError, match="'managers'") as error:
        desk.add_code("manegers", sure=False)
    assert error.value.like == ["managers"]
    desk.add_code("manegers", sure=True)
    desk.add_code("  noise\n level ", sure=False)
    desk.add_code("noise level", sure=False)  # it is there
    for bad in ("", " \n", "a;b", "-", "x" * 201, "a\u202eb"):
        with pytest.raises(InputError):
            desk.add_code(bad, sure=True)
    again = desks("Bob")
    again.decide(act(2, ["noise level"]))
    assert new_codes(desk) == new_codes(again) == ["manegers", "noise level"]


def test_a_table_with_a_column_for_each_code_takes_no_new_one(desks):
    desk = desks(table_format={"codes": {"columns": {"pay": "q1"}}})
    with pytest.raises(InputError, match="has its own column"):
        desk.add_code("noise", sure=True)


def test_two_processes_that_add_codes_lose_none(desks, monkeypatch):
    desk, other = desks(), desks()
    keep = desk.store.keep_more

    def late(key, values):
        other.add_code("parking", sure=True)
        keep(key, values)

    monkeypatch.setattr(desk.store, "keep_more", late)
    desk.add_code("weather", sure=True)
    assert desk.store.setting("codes") == ["parking", "weather"]
    desk.follow()
    desk.decide(act(1, ["parking", "weather"]))


def test_codes_that_the_model_of_a_later_round_has_are_shown_and_taken(desks):
    desk = desks(share=0, n_drawn=3)
    desk.add_code("noise", sure=True)
    said = {i: s for i, s in of(desk).items() if i not in desk.drawn}
    old = next(i for i, s in said.items() if s.codes == ("managers",))
    desk.decide(act(old, ["managers"]))
    merged = {"managers": "work", "rooms": "work"}
    labels = ["food", "pay", "home office", "work", "parking", "noise"]
    new = [s._replace(codes=("work",), likely=bytes(6)) for i, s in said.items() if i != old]
    renew(desk, 1, new, codes=labels, becomes=merged, n_decided=1)
    item = next(i for i in said if i != old)
    assert item_views(desk, [item])[0]["suggestion"]["codes"] == ("work",)
    desk.decide(act(item, ["work"], round=1))
    # A page that still shows the codes of the first round.
    desk.decide(act(item, ["rooms", "managers", "parking"], seen=desk.own(item).id))
    assert desk.own(item).after.codes == {"work", "parking"}
    known = [code for code, *_ in desk.known_codes.listed]
    assert known[-3:] == ["noise", "work", "parking"]
    assert new_codes(desk) == ["noise"]
    assert not {"managers", "rooms"} & {*known}
    (view,) = item_views(desk, [old])
    assert (view["codes"], view["suggestion"]["codes"]) == (["work"], ("work",))
    again = desks("Bob")
    assert sorted(again.known_codes.listed) == sorted(desk.known_codes.listed)
    assert again.outlook.groups == desk.outlook.groups


def test_codes_that_an_answer_came_with_are_left_alone(desks):
    desk = desks(n=12, share=0)
    desk.store._connection.execute("UPDATE items SET given = '[\"pay\"]' WHERE item = 4")
    desk = desks()
    assert 4 not in desk.next_items("file", 0, 100)
    with pytest.raises(InputError, match="came with codes"):
        desk.decide(act(4))
    assert item_views(desk, [4])[0]["given"] == ["pay"]
    assert status_view(desk, {})["machine"]["n_open"] == 11


def test_a_browser_takes_no_copy_for_the_store_itself(desks, tmp_path):
    desk, copy = desks(), tmp_path / "copy of new.review.db"
    copy.write_bytes(desk.store.path.read_bytes())
    with Store.open(copy) as store:
        other = study_view(Desk(store, "Ann"))
    own = study_view(desk)
    assert own["store_id"] == study_view(desks())["store_id"] != other["store_id"]
    assert other["update"] == "nldd update model.nldd 'copy of new.review.db'"


def test_what_the_page_counts_and_names(desks):
    desk = desks(n=60, n_drawn=20, share=0.6, texts=[""])
    machine, found = status_view(desk, {})["machine"], list_view(desk, "auto")
    assert machine["n_auto_shown"] == found["n"] == len(found["rows"])
    hidden = [n for n in range(1, 61) if desk.is_blind(n) and desk.outlook.auto[desk.place(n)]]
    assert machine["n_auto"] - machine["n_auto_shown"] == len(hidden) > 0
    open_items = [n for n in (1, 2, 3, 4) if not desk.is_blind(n)]
    words = [view["suggestion"]["doubt_words"] for view in item_views(desk, open_items)]
    assert words[0] == ""
    assert words[1].endswith("all codes together")
    assert act_words([]) == progress(desk)["last"] == ""
