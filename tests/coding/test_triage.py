"""The triage table, against a loop over its definition."""

from dataclasses import asdict
from math import ceil, sqrt

import numpy as np
import pytest
from scipy.stats import beta, binomtest, t

from coding.made_up import fitted, made_up
from nldd.coding import (
    accuracy_interval,
    selective_threshold,
    triage,
    triage_rows,
)
from nldd.displays import risk_coverage as risk_coverage_curve
from nldd.reports import curve, save_curve

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(120, 0))


def naive_rows(theta, right, human_accuracy, chosen):
    """One dictionary a line, each answer looked at for each threshold."""
    n = len(theta)
    thresholds = {sorted(theta)[ceil(k * n / 10) - 1] for k in range(1, 11)}
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
    for _ in range(150):
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


@pytest.mark.parametrize("n", [10, 30, 70, 110, 1130])
def test_tenths_are_exact(n):
    rows = triage_rows(np.linspace(0.1, 0.9, n), np.ones(n))
    assert [row.n_auto for row in rows] == [k * n // 10 for k in range(1, 11)]


def test_one_answer():
    (row,) = triage_rows(np.array([0.3]), np.array([0.0]), 0.5)
    assert (row.threshold, row.n_auto, row.share, row.accuracy) == (0.3, 1, 1.0, 0.0)
    assert (row.low, row.high) == (0.0, pytest.approx(0.975))
    assert row.combined == 0.0


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_right_and_all_wrong(value):
    rows = triage_rows(np.arange(20) / 20, np.full(20, value), human_accuracy=0.75)
    for row in rows:
        assert row.accuracy == value
        assert row.combined == pytest.approx(row.share * value + (1 - row.share) * 0.75)
    # (1 - p)^20 = 0.025 at the limit.
    last = rows[-1]
    limits = {1.0: (0.025 ** (1 / 20), 1.0), 0.0: (0.0, 1 - 0.025 ** (1 / 20))}
    assert (last.low, last.high) == pytest.approx(limits[value])


def test_equal_theta_is_let_through_together():
    rows = triage_rows(np.full(30, 0.2), np.repeat([1.0, 0.0], 15))
    assert [(row.threshold, row.n_auto, row.accuracy) for row in rows] == [(0.2, 30, 0.5)]


def test_people_with_their_own_accuracy():
    theta, right = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 1.0, 0.0, 0.0])
    rows = triage_rows(theta, right, human_accuracy=0.9)
    assert [row.combined for row in rows] == pytest.approx([3.7 / 4, 3.8 / 4, 2.9 / 4, 0.5])
    perfect = triage_rows(theta, right)
    assert [row.combined for row in perfect] == pytest.approx([1, 1, 0.75, 0.5])


def test_chosen_line_between_others():
    theta = np.arange(1, 101) / 100
    rows = triage_rows(theta, np.ones(100), chosen=0.33)
    assert [row.n_auto for row in rows] == [10, 20, 30, 33, 40, 50, 60, 70, 80, 90, 100]
    assert [row.n_auto for row in rows if row.chosen] == [33]
    rows = triage_rows(theta, np.ones(100), chosen=0.335)  # between two answers
    assert [(row.threshold, row.n_auto) for row in rows if row.chosen] == [(0.335, 33)]
    rows = triage_rows(theta, np.ones(100), chosen=0.3)  # a tenth already
    assert [row.n_auto for row in rows if row.chosen] == [30]
    assert len(rows) == 10


def test_chosen_line_that_lets_no_answer_through_is_none():
    rows = triage_rows(np.array([0.2, 0.3]), np.array([1.0, 0.0]), chosen=0.1)
    assert [(row.n_auto, row.chosen) for row in rows] == [(1, False), (2, False)]


@pytest.mark.parametrize("n", [1, 2, 5, 17, 60])
def test_interval_is_clopper_and_pearsons(n):
    for k in range(n + 1):
        for level in (0.95, 0.8):
            expected = binomtest(k, n).proportion_ci(level, method="exact")
            found = accuracy_interval([1] * k + [0] * (n - k), level)
            assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
            assert found[0] <= k / n <= found[1]


def test_interval_of_shares_is_students():
    shares = np.array([1.0, 0.75, 0.5, 1.0, 0.75, 0.25] * 5)
    half = t.ppf(0.975, 29) * shares.std(ddof=1) / sqrt(30)
    expected = (shares.mean() - half, shares.mean() + half)
    assert accuracy_interval(shares) == pytest.approx(expected)
    low, high = accuracy_interval([0.99] * 29 + [0.0] + [1.0] * 5)
    assert (low > 0.8, high) == (True, 1.0)  # cut to what a share can be
    assert accuracy_interval([]) == (0.0, 1.0)


@pytest.mark.parametrize("shares", [[0.5], [0.75] * 5, [0.95] * 40, [1.0] * 9 + [0.95]])
def test_interval_of_few_or_equal_shares_is_exact_at_a_price(shares):
    """Clopper and Pearson's bounds of the whole answers that are right, at 2.5 % by e."""
    n, right, wrong = len(shares), int(sum(shares)), int(len(shares) - sum(shares))
    tail = 0.025 / np.e
    low = beta.ppf(tail, right, n - right + 1) if right else 0.0
    high = beta.isf(tail, n - wrong + 1, wrong) if wrong else 1.0
    assert accuracy_interval(shares) == pytest.approx((low, high))


def test_interval_of_few_shares_covers_the_truth():
    rng = np.random.default_rng(0)
    for n in (1, 5, 20):
        studies = rng.binomial(8, rng.choice([0.6, 0.98], (400, n))) / 8
        bounds = np.array([accuracy_interval(study) for study in studies])
        assert ((bounds[:, 0] <= 0.79) & (bounds[:, 1] >= 0.79)).mean() > 0.95


@pytest.mark.parametrize("measure", ["subset", "hamming"])
def test_table_of_a_model(model, measure):
    made = triage(model, target=0.7, confidence=0.8, measure=measure, human_accuracy=0.9)
    wrong = (model.evidence.Y != model.Y).sum(axis=1)
    right = (wrong == 0).astype(float) if measure == "subset" else 1 - wrong / 3
    theta = model.evidence.theta
    assert made.selection == selective_threshold(theta, right, 0.7, 0.8)
    assert made.rows == triage_rows(theta, right, 0.9, made.selection.threshold)
    (chosen,) = (row for row in made.rows if row.chosen)
    assert chosen.threshold == made.selection.threshold
    assert chosen.n_auto == made.selection.n_auto
    assert chosen.accuracy == pytest.approx(made.selection.accuracy)
    assert (made.measure, made.human_accuracy) == (measure, 0.9)


def test_table_without_a_threshold(model):
    made = triage(model, target=0.999, confidence=0.999)
    assert made.selection.threshold is None
    assert not any(row.chosen for row in made.rows)


def test_curve_of_a_model(model, tmp_path):
    made = triage(model, target=0.7)
    display = curve(model, made)
    right = model.evidence.right(model.Y)
    expected = risk_coverage_curve(model.evidence.theta, right)
    np.testing.assert_array_equal(display.coverage, expected.coverage)
    np.testing.assert_array_equal(display.accuracy, expected.accuracy)
    assert tuple(display.chosen) == (made.selection.share, made.selection.accuracy)
    assert curve(model, triage(model, target=0.999, confidence=0.999)).chosen is None
    for name in ("curve", "curve.png"):
        assert save_curve(model, made, tmp_path / name) == tmp_path / "curve.svg"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.png", "curve.svg"]
