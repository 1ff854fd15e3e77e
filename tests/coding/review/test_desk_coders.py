"""Several coders of one review: checks, agreement, disputes, and who has which answers."""

import pytest

from coding.review.desk_acts import act, listed, of, progress
from coding_tables import call
from nldd.coding.audit import judge_checks
from nldd.coding.review.decisions import agreement_of
from nldd.coding.review.desk import Conflict
from nldd.coding.review.records import CODE, FLAG, OPEN, SETTLE, SKIP
from nldd.coding.review.store import Store
from nldd.coding.review.views import (
    CheckedAccuracy,
    audit_of,
    audit_view,
    disagreements_view,
    item_views,
    status_view,
)
from nldd.exceptions import InputError


@pytest.mark.parametrize(
    ("n_right", "n", "headline"),
    [(1, 1, "1 of 1 right"), (18, 19, "18 of 19 right"), (20, 20, "83 to 100 % right")],
)
def test_few_checks_are_counts_with_an_interval_but_no_share(n_right, n, headline):
    """One right answer of one is no accuracy of 100 %."""
    found = judge_checks([True] * n_right + [False] * (n - n_right), 50 - n, 0.9)
    said = CheckedAccuracy(50, 0, False, found)
    assert said.headline == headline
    assert said.text.split(";")[0].count(" %") == 2 + (n > 19)


def test_the_result_goes_with_codes_that_were_withdrawn(desks, capsys):
    desk = desks(n_drawn=20, share=0.6)
    said, facts = of(desk), dict(desk.rounds[0].facts)
    assert audit_view(desk)["text"] == "No automatic code has been checked yet."
    for item in desk.drawn:
        desk.decide(act(item, said[item].codes))
    n = audit_view(desk)["n_checked"]
    assert audit_view(desk)["headline"] == f"{n} of {n} right"
    # Nothing is left where people have decided all: that withdraws no code.
    for number, n_review in ((1, 0), (2, 20)):
        with Store.open(desk.store.path) as store:
            store.finish_round(number, "2" * 64, {**facts, "n_auto": 0, "n_review": n_review})
        desk.follow()
        view = audit_view(desk)
        assert (view["withdrawn"], view["headline"] == "") == (n_review > 0, n_review > 0)
    assert (view["accuracy"], view["n_checked"]) == (1, n)  # the record stays
    assert call("audit", desk.store.path) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"The first automatic codes were withdrawn ({n} of {n} checked")
    assert audit_of(desk.store).audit.verdict == view["verdict"] is not None


def test_coders_do_not_see_each_other_before_they_have_decided(desks):
    ann, bob = desks("Ann"), desks("Bob")
    ann.decide(act(9, ["pay"]))
    bob.follow()
    (view,) = item_views(bob, [9])
    assert (view["others"], view["state"], view["codes"]) == ([], OPEN, None)
    bob.decide(act(9, ["food"]))
    (view,) = item_views(bob, [9])
    assert view["others"] == [{"coder": "Ann", "codes": ["pay"]}]
    (row,) = disagreements_view(bob)
    assert row["by"] == [{"coder": "Ann", "codes": ["pay"]}, {"coder": "Bob", "codes": ["food"]}]
    assert listed(bob, "disagree") == [9]
    ann.follow()
    ann.decide(act(9, ["pay"], seen=1))  # the same again: Bob has not seen this entry
    bob.follow()
    with pytest.raises(Conflict):
        bob.decide(act(9, ["pay"], SETTLE, seen=row["seen"]))
    bob.decide(act(9, ["pay"], SETTLE, seen=disagreements_view(bob)[0]["seen"]))
    assert disagreements_view(bob) == []
    assert item_views(bob, [9])[0]["settled"]
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
    assert item_views(ann, [9])[0]["settled"] is False


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
    status = status_view(ann, {})
    assert status["learning"]["since"] == 1
    assert (status["machine"]["n_people"], status["machine"]["n_apart"]) == (1, 4)
