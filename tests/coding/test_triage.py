"""The triage table, against a loop over its definition."""

from collections import Counter
from dataclasses import asdict, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from coding.made_up import fitted, made_up
from nldd.coding.automation import TargetShare, Triage, triage, triage_rows
from nldd.coding.coded_answers import CodingOptions, CodingSummary
from nldd.coding.guarantee import CodeLimits, CodeSelection, GuaranteeTarget
from nldd.coding.selective import Selection, accuracy_interval, selective_threshold
from nldd.coding.wording import per_code_words

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(120, 0))


def naive_rows(theta, right, human_accuracy, chosen):
    """One dictionary a line, each answer looked at for each threshold."""
    n = len(theta)
    percents = [1, 2, 5, *range(10, 101, 10)]
    thresholds = {sorted(theta)[ceil(Fraction(k * n, 100)) - 1] for k in percents}
    if chosen is not None:
        thresholds.add(chosen)
    rows = []
    for threshold in sorted(thresholds):
        auto = [r for value, r in zip(theta, right, strict=True) if value <= threshold]
        people = [human_accuracy] * (n - len(auto))
        rows.append(
            {
                "threshold": threshold,
                "n_auto": len(auto),
                "share": len(auto) / n,
                "accuracy": sum(auto) / len(auto),
                "combined": (sum(auto) + sum(people)) / n,
                "chosen": threshold == chosen,
            }
        )
    return rows


@pytest.mark.parametrize("kind", ["whole", "shares", "tied"])
def test_rows_are_those_of_the_definition(kind):
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(1, 80))
        theta = rng.random(n).round(1 if kind == "tied" else 12)
        right = (rng.random(n) > theta).astype(float)
        if kind == "shares":
            right = rng.binomial(4, 1 - theta) / 4
        chosen = float(rng.choice(theta)) if rng.random() < 0.7 else None
        human_accuracy = float(rng.choice([1.0, 0.9, 0.0]))
        found = [asdict(row) for row in triage_rows(theta, right, human_accuracy, chosen)]
        expected = naive_rows(theta.tolist(), right.tolist(), human_accuracy, chosen)
        assert len(found) == len(expected)
        for row, line in zip(found, expected, strict=True):
            assert {key: row[key] for key in line} == pytest.approx(line)
            auto = right[theta <= row["threshold"]]
            assert (row["low"], row["high"]) == pytest.approx(accuracy_interval(auto))


def test_chosen_line_between_others():
    theta = np.arange(1, 101) / 100
    rows = triage_rows(theta, np.ones(100), chosen=0.33)
    tenths = [40, 50, 60, 70, 80, 90, 100]
    assert [row.n_auto for row in rows] == [1, 2, 5, 10, 20, 30, 33, *tenths]
    assert [row.n_auto for row in rows if row.chosen] == [33]
    rows = triage_rows(theta, np.ones(100), chosen=0.335)  # between two answers
    assert [(row.threshold, row.n_auto) for row in rows if row.chosen] == [(0.335, 33)]
    rows = triage_rows(theta, np.ones(100), chosen=0.3)  # a tenth already
    assert [row.n_auto for row in rows if row.chosen] == [30]
    assert len(rows) == 13


def test_chosen_line_that_lets_no_answer_through_is_none():
    rows = triage_rows(np.array([0.2, 0.3]), np.array([1.0, 0.0]), chosen=0.1)
    assert [(row.n_auto, row.chosen) for row in rows] == [(1, False), (2, False)]


@pytest.mark.parametrize("measure", ["subset", "hamming"])
def test_table_of_a_model(model, measure):
    made = triage(model, GuaranteeTarget(0.7, 0.8, measure), human_accuracy=0.9)
    wrong = (model.evidence.Y != model.Y).sum(axis=1)
    right = (wrong == 0).astype(float) if measure == "subset" else 1 - wrong / 3
    theta = model.evidence.theta
    # The first fit has four fifths of the level.
    first = {"level_share": 0.8}
    found = selective_threshold(theta, right, 0.7, 0.8, **first)
    assert made.selection == replace(found, measure=measure)
    assert made.rows == triage_rows(theta, right, 0.9, made.selection.threshold)
    (chosen,) = (row for row in made.rows if row.chosen)
    assert chosen.threshold == made.selection.threshold
    assert chosen.n_auto == made.selection.n_auto
    assert chosen.accuracy == pytest.approx(made.selection.accuracy)
    assert (made.selection.measure, made.human_accuracy) == (measure, 0.9)
    others = {"subset": {0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5}, "hamming": {0.99, 0.98, 0.95}}
    assert {row.target for row in made.targets} >= {0.7, 0.9, 0.8, *others[measure]}
    for row in made.targets:
        alone = selective_threshold(theta, right, row.target, 0.8, **first)
        assert (row.n_auto, row.share) == (alone.n_auto, alone.n_auto / 120)
        assert row.chosen == (row.target == 0.7)


TARGETS = (TargetShare(0.9, 0, 0.0, True), TargetShare(0.8, 44, 0.41), TargetShare(0.7, 68, 0.63))
NOTHING = Selection(0.9, 0.95, None, 108, closest=(60, 51, 57))


def test_without_a_threshold_the_closest_test_and_the_targets_that_hold_are_named():
    said = str(Triage((), NOTHING, targets=TARGETS))
    for words in ("90 %", "60 most", "51 are", "57 would", "80 % (41 %", "70 % (63 %"):
        assert words in " ".join(said.split())
    labels = str(Triage((), replace(NOTHING, measure="hamming"), targets=TARGETS[:1]))
    assert "85.0 % of the labels" in " ".join(labels.split())
    assert "No lower target" in labels
    few = str(Triage((), replace(NOTHING, closest=None)))
    assert "108 coded answers" in few


def test_a_refit_that_fails_says_what_stays_in_use():
    said = str(Triage((), NOTHING, earlier=Selection(0.9, 0.95, 0.1, 100, 62, 0.97, limit=0.1)))
    for words in ("108 answers", "51 of the 60", "57 are needed", "62.0 %"):
        assert words in " ".join(said.split())


def test_repeated_words_without_ids_are_told_apart():
    again = Selection(0.9, 0.9, 0.2, 80, 60, 0.95, limit=0.2)
    said = str(Triage((), replace(NOTHING, repeated=again)))
    assert "80 coded answers" in " ".join(said.split())
    assert "75.0 %" in said


def code_selection(**changes):
    given = {"yes": 0.8, "no": 0.05, "right": 0.934, "missed": 0.031, **changes}
    sizes = {"n_answers": 400, "n_whole": 120, "n_part": 250, "n_set": 300, "share_asked": 0.2}
    return CodeSelection(0.9, 0.9, limits=CodeLimits(0.81, 0.04), **given, **sizes)


def test_codes_settled_one_by_one_are_guaranteed_both_ways():
    settled, guaranteed = per_code_words(code_selection())
    for words in ("80.0 %", "120 of 400", "280", "250"):
        assert words in settled
    for words in ("at least 90 % are right (93.4 %", "at most 10 % are ruled out (3.1 %"):
        assert words in guaranteed
    assert "93.4" not in per_code_words(code_selection(yes=None, right=None))[1]
    (nothing,) = per_code_words(code_selection(yes=None, no=None))
    assert "400 coded answers" in nothing


def test_what_predict_prints():
    found = Selection(0.9525, 0.9, 0.0374, 100, 60, 0.98, limit=0.0374)
    why = Counter({"far from all coded answers": 2, "the answer is empty": 10})
    counts = CodingSummary(1500, 1480, 12, why, options=CodingOptions(None).apply(found))
    assert str(counts).splitlines() == [
        "1,500 answers: 1,480 coded automatically (98.7 %), theta up to 0.0374",
        "  at least 95.25 % of these are right (answers with all codes right), with 90 % "
        "confidence",
        "12 sent to review (0.8 %)",
        "8 had codes already and were left alone (status: coded)",
        "  10  the answer is empty",
        "   2  far from all coded answers",
    ]
    by_chance = replace(counts, options=CodingOptions(0.0374, rank_by="chance"))
    assert str(by_chance).splitlines()[0].endswith("chance from 0.9626")
    assert (by_chance.to_dict()["selection"], by_chance.to_dict()["per_code"]) == (None, None)
    assert counts.to_dict()["selection"] == {**asdict(found), "share": 0.6}


def test_answers_with_an_open_code_are_counted_as_sent_to_review():
    counts = CodingSummary(5000, 10, 10, n_part=4980)
    assert "4,990 sent to review (99.8 %): 10 whole answers, 4,980" in str(counts)
    record = counts.to_dict()
    assert (record["people"], record["review"], record["part"]) == (4990, 10, 4980)
    assert counts.n_coded == 0
    assert str(CodingSummary()).startswith("0 answers: 0 coded automatically (0 %)\n0 sent")
