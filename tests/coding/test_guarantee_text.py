"""What predict prints: the counts, the promise behind them, and how little it loads."""

from collections import Counter
from dataclasses import asdict

from nldd.coding.guarantee_text import (
    code_paragraphs,
    counts_record,
    render_counts,
    render_unsupported,
)

from nldd.coding.coded_answers import CodingOptions, CodingSummary
from nldd.coding.evaluation import TargetShare
from nldd.coding.guarantee import CodeLimits, CodeSelection
from nldd.coding.selective import Selection

PROMISE = Selection(0.9525, 0.9, 0.0374, 100, 60, 0.98)
NO_PROMISE = Selection(0.9, 0.95, None, 108, closest=(60, 51, 57))


def test_counts_tell_shares_reasons_and_the_promise_as_it_was_asked_for():
    why = Counter({"far from all coded answers": 2, "the answer is empty": 10})
    counts = CodingSummary(1500, 1480, 12, why)
    assert render_counts(counts, CodingOptions(0.0374), PROMISE, "subset").splitlines() == [
        "1,500 answers: 1,480 coded automatically (98.7 %), theta up to 0.0374",
        "  at least 95.25 % of these are right (answers with all codes right), with 90 % "
        "confidence",
        "12 sent to review (0.8 %)",
        "8 had codes already and were left alone (status: coded)",
        "  10  the answer is empty",
        "   2  far from all coded answers",
    ]
    by_chance = render_counts(counts, CodingOptions(0.0374, rank_by="chance"), PROMISE, "subset")
    assert by_chance.splitlines()[0].endswith("(98.7 %), chance from 0.9626")


def test_counts_without_a_promise_are_counts_alone():
    none = CodingSummary()
    assert render_counts(none, CodingOptions(None), NO_PROMISE, "hamming").splitlines() == [
        "0 answers: 0 coded automatically (0 %)",
        "0 sent to review (0 %)",
    ]
    record = counts_record(none, CodingOptions(None), NO_PROMISE)
    assert record["selection"] == {**asdict(NO_PROMISE), "share": 0.0}
    assert counts_record(none, CodingOptions(0.1), None)["selection"] is None


def test_answers_with_an_open_code_are_counted_as_sent_to_review():
    counts = CodingSummary(5000, 10, 10, n_part=4980)
    lines = render_counts(counts, CodingOptions(None), None, "per-code").splitlines()
    open_ = "10 whole answers, 4,980 with some codes open (nldd_ask)"
    assert lines[1:] == [f"4,990 sent to review (99.8 %): {open_}"]
    record = counts_record(counts, CodingOptions(None), None)
    assert (record["people"], record["review"], record["part"]) == (4990, 10, 4980)
    assert counts.n_coded == 0


def test_without_a_threshold_the_closest_test_and_the_targets_that_hold_are_named():
    targets = [
        TargetShare(0.9, 0, 0.0, True),
        TargetShare(0.8, 44, 0.41),
        TargetShare(0.7, 68, 0.63),
    ]
    said = " ".join(render_unsupported(NO_PROMISE, "subset", targets).split())
    assert said.startswith("Nothing can be coded automatically at a target of 90 %")
    assert "Of the 60 most confident answers, 51 are right; 57 would be needed." in said
    assert "today: 80 % (41 % coded automatically), 70 % (63 % coded automatically)." in said
    assert said.endswith("Code more answers drawn at random, or lower the target.")
    of_labels = render_unsupported(NO_PROMISE, "hamming", targets[:1])
    assert "85.0 % of the labels are right; 95.0 % would be needed" in " ".join(of_labels.split())
    assert "No lower target holds either." in of_labels


def code_selection(**changes):
    given = {"yes": 0.8, "no": 0.05, "right": 0.934, "missed": 0.031, **changes}
    sizes = {"n_answers": 400, "n_whole": 120, "n_part": 250, "n_set": 300, "share_asked": 0.2}
    return CodeSelection(0.9, 0.9, limits=CodeLimits(0.81, 0.04), **given, **sizes)


def test_codes_settled_one_by_one_are_promised_both_ways():
    settled, promise = code_paragraphs(code_selection())
    assert settled.startswith("Code by code, 80.0 % of the decisions need no people")
    assert "120 of 400 coded answers would be settled. The other 280 would be sent to" in settled
    assert "250 of them with some codes settled." in settled
    assert "at least 90 % are right (93.4 % of those tested)" in promise
    assert "at most 10 % are ruled out (3.1 % of those tested)" in promise
    (_, only_no) = code_paragraphs(code_selection(yes=None, right=None))
    assert "are right" not in only_no
    assert only_no.endswith("so that people decide on all that is likely.")
    (nothing,) = code_paragraphs(code_selection(yes=None, no=None))
    assert nothing.startswith("No code can be settled by itself yet: 400 coded answers")
