"""Agreement of coders: by hand, by published examples, and straight from the equations."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from nldd.coding import agreement_measures
from nldd.coding.agreement_measures import (
    alpha_with_interval,
    cohen_kappa,
    krippendorff_alpha,
    masi_distance,
    nominal_distance,
)


def units_of(*coders):
    return [
        [None if value == "." else value for value in unit] for unit in zip(*coders, strict=True)
    ]


def naive_alpha(units, distance):
    """1 - D_o / D_e, pair by pair."""
    pairable = [[v for v in unit if v is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    values = [v for unit in pairable for v in unit]
    n = len(values)
    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in pairable
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(
        distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j
    )
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ({"a", "b"}, {"b", "a"}, 0.0),
        (set(), set(), 0.0),
        ({"a"}, set(), 1.0),
        ({"a"}, {"b"}, 1.0),
        # One holds the other: 1 - 2/3 * 2/4. nltk, which rounds 2/3 to 0.67, documents 0.665.
        ({1, 2}, {1, 2, 3, 4}, 2 / 3),
        # Each has something of its own: 1 - 1/3 * 1/3.
        ({"a", "b"}, {"b", "c"}, 8 / 9),
    ],
)
def test_masi_distance_by_hand(one, other, distance):
    assert masi_distance(one, other) == pytest.approx(distance)
    assert masi_distance(other, one) == pytest.approx(distance)


def test_alpha_of_published_examples():
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability, A to C: two values, five
    # values, and four coders who left cells out.
    assert round(krippendorff_alpha(units_of("0100000010", "1110010000")), 3) == 0.095
    assert round(krippendorff_alpha(units_of("aabbdcccedda", "babbbccceddd")), 3) == 0.692
    four = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    assert round(krippendorff_alpha(units_of(*four)), 3) == 0.743


@pytest.mark.parametrize("distance", [masi_distance, nominal_distance])
def test_alpha_is_the_equation_pair_by_pair(distance):
    rng = np.random.default_rng(0)
    sets = [frozenset(np.flatnonzero(rng.random(3) < 0.4).tolist()) for _ in range(120)]
    units = [[None if rng.random() < 0.2 else v for v in sets[i : i + 3]] for i in range(0, 120, 3)]
    assert krippendorff_alpha(units, distance) == pytest.approx(naive_alpha(units, distance))


def test_alpha_of_what_cannot_be_told():
    assert np.isnan(krippendorff_alpha([["a", "a"], ["a", "a"]]))
    assert np.isnan(krippendorff_alpha([["a", None], [None, "b"]]))
    assert np.isnan(alpha_with_interval([["a", None]])).all()
    assert np.isnan(alpha_with_interval([["a", "a"]])).all()
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1.0


@pytest.mark.parametrize(
    ("units", "alpha"),
    [
        # All agree, and so do they in any draw.
        ([["a", "a"], ["b", "b"]] * 20, 1.0),
        # Nine units: 2 of 18 values disagree; of all pairs, 2 * 9 * 9 do.
        ([["a", "a"], ["b", "b"]] * 4 + [["a", "b"]], 1 - 17 * 2 / (2 * 9 * 9)),
    ],
)
def test_alpha_without_a_known_error_has_no_interval(units, alpha):
    found = alpha_with_interval(units)
    assert found[0] == pytest.approx(alpha)
    assert np.isnan(found[1:]).all()


def test_distances_of_many_sets_are_counted_in_blocks(monkeypatch):
    """Only pairs of the same unit are compared one by one."""
    rng, calls = np.random.default_rng(3), []
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in rng.random((60, 5)) < 0.3]
    units = list(zip(sets[::2], sets[1::2], strict=True))

    def counted(one, other):
        calls.append(one)
        return masi_distance(one, other)

    monkeypatch.setattr(agreement_measures, "masi_distance", counted)
    monkeypatch.setattr(agreement_measures, "BLOCK", 4)
    alpha, low, high = alpha_with_interval(units, counted)
    assert len(calls) == 30
    assert alpha == pytest.approx(naive_alpha(units, masi_distance))
    assert low < alpha < high


def test_interval_of_alpha_holds_that_of_the_population():
    """Coders who give the truth with probability 0.8: alpha of all, and intervals of samples."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 20_000)
    coded = [np.where(rng.random(20_000) < 0.8, truth, rng.integers(0, 3, 20_000)) for _ in "ab"]
    units = list(zip(*(values.tolist() for values in coded), strict=True))
    whole, n_held = krippendorff_alpha(units), 0
    for start in range(0, 3000, 100):
        _, low, high = alpha_with_interval(units[start : start + 100])
        n_held += low <= whole <= high
    assert n_held >= 26  # of 30; 28.5 are expected


def test_kappa_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    A = rng.random((80, 5)) < [0.5, 0.3, 0.1, 0, 1]
    B = np.where(rng.random((80, 5)) < 0.2, ~A, A)
    B[:, 3:] = A[:, 3:]  # never, and always: nothing can be told
    found = cohen_kappa(A, B)
    expected = [cohen_kappa_score(A[:, j], B[:, j]) for j in range(3)]
    np.testing.assert_allclose(found[:3], expected)
    assert np.isnan(found[3:]).all()
    # One of them uses it: that is a disagreement like any other.
    assert cohen_kappa([[1], [0]], [[0], [0]]).tolist() == [0.0]
