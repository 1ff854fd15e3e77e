"""Shares from a checked part: by enumeration, by a naive reference, and in simulated studies."""

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from coding.made_up import fitted, made_up
from nldd.coding import frequencies
from programs import program


@pytest.fixture(scope="module")
def studies():
    """The program of the committed coverage."""
    return program("frequencies")


def chance(x, total, n, N):
    """Exactly: x of n drawn are marked, if `total` of N are."""
    if x > total or n - x > N - total:
        return Fraction(0)
    return Fraction(comb(total, x) * comb(N - total, n - x), comb(N, n))


def naive_limits(found, n, rest):
    """All numbers of marked among the rest under which what was found is not too rare."""
    kept = []
    for total in range(found, found + rest + 1):
        each = [chance(x, total, n, n + rest) for x in range(n + 1)]
        half = each[found] / 2
        if min(sum(each[:found]) + half, sum(each[found + 1 :]) + half) >= Fraction(1, 40):
            kept.append(total - found)
    return min(kept), max(kept)


@pytest.mark.parametrize(
    ("found", "n", "rest"),
    [(0, 0, 9), (0, 12, 30), (3, 12, 30), (12, 12, 30), (5, 40, 4), (2, 7, 0)],
)
def test_limits_are_those_of_all_numbers_tried(found, n, rest):
    low, high = frequencies.rest_limits(*(np.array([value]) for value in (found, n, rest)))
    assert (low[0], high[0]) == naive_limits(found, n, rest)


def test_estimate_by_hand():
    """8 of 10 checked with the code are right, 1 of 20 without it was missed; one code."""
    Y_rest = np.array([[1]] * 30 + [[0]] * 170)
    machine = np.array([[1]] * 10 + [[0]] * 20)
    people = np.array([[1]] * 8 + [[0]] * 2 + [[1]] + [[0]] * 19)
    total, low, high = frequencies.estimate_rest([frequencies.count_part(Y_rest, machine, people)])
    # 30 * 0.8 + 170 * 0.05
    assert total == pytest.approx([32.5])
    (a, b), (c, d) = naive_limits(8, 10, 30), naive_limits(1, 20, 170)
    # There are whole answers only.
    assert low == [np.floor(32.5 - np.hypot(24 - a, 8.5 - c))]
    assert high == [np.ceil(32.5 + np.hypot(b - 24, d - 8.5))]


def test_what_was_not_looked_at_may_all_be_wrong():
    """Two parts with a code that no checked answer got: the machine's word, and wide limits."""
    numbers = ((5, 95, 0, 0, 50, 0), (7, 93, 0, 0, 50, 0))
    parts = [frequencies.PartCounts(*(np.array([value]) for value in part)) for part in numbers]
    total, low, high = frequencies.estimate_rest(parts)
    assert (total, low) == ([12.0], [0.0])  # not 12 - sqrt(5² + 7²)
    missed = naive_limits(0, 50, 95)[1], naive_limits(0, 50, 93)[1]
    assert high == [np.ceil(12 + np.hypot(*missed))]


def test_all_checked_leaves_nothing_open():
    part = frequencies.count_part(np.zeros((0, 2)), np.eye(2), np.ones((2, 2)))
    for found in frequencies.estimate_rest([part]):
        assert found.tolist() == [0, 0]


@pytest.mark.parametrize(
    "cell",
    [
        ("one part", 0.02, "some", 100),
        ("two parts", 0.005, "many", 50),
        ("small table", 0.3, "many", 200),
    ],
    ids=lambda cell: "-".join(map(str, cell)),
)
def test_intervals_hold_the_share_in_few_simulated_studies(cell, studies, monkeypatch):
    monkeypatch.setattr(studies, "N_STUDIES", 200)
    found = studies.run_cell(*cell)
    assert found["covered"] / 200 >= 0.92
    # The raw share is biased, and the corrected one is nearer to the truth.
    assert found["off"] < found["raw_off"] + 0.01


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(80))


def test_bias_of_codes_is_counted_by_answers_predicted_without_themselves(model):
    found = {bias.code: bias for bias in frequencies.code_bias(model)}
    assert set(found) == set(model.labels)
    for j, code in enumerate(model.labels):
        people, machine = model.Y[:, j], model.evidence.Y[:, j]
        bias = found[code]
        assert (bias.people, bias.machine) == (people.mean(), machine.mean())
        assert bias.difference == pytest.approx(machine.mean() - people.mean())
        plus, minus = int((machine > people).sum()), int((machine < people).sum())
        # Bonett and Price (2012), equation 8: one is added to each kind of pair that differs.
        p, q, n = (plus + 1) / 82, (minus + 1) / 82, 80
        half = 1.959964 * np.sqrt((p + q - (p - q) ** 2) / (n + 2))
        assert (bias.low, bias.high) == pytest.approx((p - q - half, p - q + half), abs=1e-6)
    sizes = [abs(bias.difference) for bias in frequencies.code_bias(model)]
    assert sizes == sorted(sizes, reverse=True)


def test_bias_is_that_of_drawn_answers_alone(model):
    drawn = np.arange(80) < 40
    found = frequencies.code_bias(replace(model, drawn=drawn))
    assert {bias.n_answers for bias in found} == {40}
    by_code = {bias.code: bias.people for bias in found}
    assert by_code == dict(zip(model.labels, model.Y[:40].mean(axis=0).tolist(), strict=True))


def test_limits_of_differences_hold_in_simulated_studies():
    rng = np.random.default_rng(0)
    for plus, minus, n in ((0.01, 0.002, 100), (0.1, 0.03, 60), (0.2, 0.2, 300)):
        counts = rng.multinomial(n, [plus, minus, 1 - plus - minus], size=2000)
        low, high = frequencies.difference_limits(counts[:, 0], counts[:, 1], n)
        assert ((low <= plus - minus) & (plus - minus <= high)).mean() >= 0.93
