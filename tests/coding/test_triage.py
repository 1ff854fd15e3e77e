"""The triage table, against a loop over its definition."""

from dataclasses import asdict, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from coding.made_up import fitted, made_up
from nldd.coding.automation import triage, triage_rows
from nldd.coding.guarantee import GuaranteeTarget, accuracy_interval, selective_threshold

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(120, 0))


def naive_rows(theta, right, human_accuracy, chosen):
    """One dictionary a line, each answer looked at for each threshold."""
    keys = ("threshold", "n_auto", "share", "accuracy", "combined", "chosen")
    n = len(theta)
    percents = [1, 2, 5, *range(10, 101, 10)]
    thresholds = {sorted(theta)[ceil(Fraction(k * n, 100)) - 1] for k in percents}
    if chosen is not None:
        thresholds.add(chosen)
    rows = []
    for threshold in sorted(thresholds):
        auto = [r for value, r in zip(theta, right, strict=True) if value <= threshold]
        combined = (sum(auto) + (n - len(auto)) * human_accuracy) / n
        shares = (len(auto) / n, sum(auto) / len(auto), combined)
        values = (threshold, len(auto), *shares, threshold == chosen)
        rows.append(dict(zip(keys, values, strict=True)))
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
        # None, one of the answers, or between two of them.
        chosen = rng.choice([None, rng.choice(theta), rng.choice(theta) + 1e-6])
        human_accuracy = float(rng.choice([1.0, 0.9, 0.0]))
        found = [asdict(row) for row in triage_rows(theta, right, human_accuracy, chosen)]
        expected = naive_rows(theta.tolist(), right.tolist(), human_accuracy, chosen)
        assert len(found) == len(expected)
        for row, line in zip(found, expected, strict=True):
            assert {key: row[key] for key in line} == pytest.approx(line)
            auto = right[theta <= row["threshold"]]
            assert (row["low"], row["high"]) == pytest.approx(accuracy_interval(auto))


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
