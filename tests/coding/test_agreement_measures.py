"""Agreement of coders: by hand, by published examples, and straight from the equations."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from nldd.coding import agreement_measures
from nldd.coding.agreement_measures import cohen_kappa, krippendorff_alpha, masi_distance


def units_of(*coders):
    """Sets of one value for each unit; a dot is none."""
    units = zip(*coders, strict=True)
    return [[None if value == "." else frozenset([value]) for value in unit] for unit in units]


def alpha(units):
    return krippendorff_alpha(units)[0]


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
    assert round(alpha(units_of("0100000010", "1110010000")), 3) == 0.095
    assert round(alpha(units_of("aabbdcccedda", "babbbccceddd")), 3) == 0.692
    four = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    assert round(alpha(units_of(*four)), 3) == 0.743


@pytest.mark.parametrize("block", [4, 1024])
def test_alpha_is_the_equation_pair_by_pair(monkeypatch, block):
    monkeypatch.setattr(agreement_measures, "BLOCK", block)
    rng = np.random.default_rng(0)
    sets = [frozenset(np.flatnonzero(rng.random(5) < 0.4).tolist()) for _ in range(120)]
    units = [[None if rng.random() < 0.2 else v for v in sets[i : i + 3]] for i in range(0, 120, 3)]
    found, low, high = krippendorff_alpha(units)
    assert found == pytest.approx(naive_alpha(units, masi_distance))
    assert low < found < high
    whole = [[None if v is None else frozenset([v]) for v in unit] for unit in units]
    assert alpha(whole) == pytest.approx(naive_alpha(units, lambda one, other: one != other))


def test_alpha_of_what_cannot_be_told():
    assert np.isnan(alpha(units_of("aa", "aa")))
    assert np.isnan(krippendorff_alpha(units_of("a.", ".b"))).all()
    assert alpha(units_of("ab", "ab")) == 1.0


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        # All agree, and so do they in any draw.
        (units_of("ab" * 20, "ab" * 20), 1.0),
        # Nine units: 2 of 18 values disagree; of all pairs, 2 * 9 * 9 do.
        (units_of("ab" * 4 + "a", "ab" * 4 + "b"), 1 - 17 * 2 / (2 * 9 * 9)),
    ],
)
def test_alpha_without_a_known_error_has_no_interval(units, expected):
    found = krippendorff_alpha(units)
    assert found[0] == pytest.approx(expected)
    assert np.isnan(found[1:]).all()


def test_interval_of_alpha_holds_that_of_the_population():
    """Coders who give the truth with probability 0.8: alpha of all, and intervals of samples."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 20_000)
    coded = [np.where(rng.random(20_000) < 0.8, truth, rng.integers(0, 3, 20_000)) for _ in "ab"]
    units = units_of(*(values.tolist() for values in coded))
    whole, n_held = alpha(units), 0
    for start in range(0, 3000, 100):
        _, low, high = krippendorff_alpha(units[start : start + 100])
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
