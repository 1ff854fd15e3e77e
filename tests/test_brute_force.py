"""The oracle of the search is itself right: it agrees with plain loops."""

import numpy as np
import pytest

import reference
from brute_force import BruteForceIndex, first_in_group, linear
from nldd.search._kernels import TIE


def naive_first(group, *keys):
    """Entry by entry: of each group keep what is equal to the smallest, key after key."""
    first = []
    for g in range(max(group, default=-1) + 1):
        left = [i for i, h in enumerate(group) if h == g]
        for key in keys:
            smallest = min(key[i] for i in left)
            left = [i for i in left if key[i] - smallest <= 1e-9 * smallest]
        assert len(left) == 1
        first.append(left[0])
    return first


def random_case(rng):
    """Groups in any order, two keys full of ties and of near misses, and row numbers."""
    n_groups = rng.integers(1, 6)
    group = rng.permutation(np.r_[np.arange(n_groups), rng.integers(0, n_groups, rng.integers(15))])
    size = 10.0 ** rng.integers(-8, 9)
    nearly = 1 + rng.choice([0, 1e-13, 1e-12, 1e-7], (2, len(group)))
    distances = rng.integers(0, 4, (2, len(group))) * size * nearly
    return group, *distances, rng.permutation(len(group))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_brute_force_equals_loops(offset):
    rng = np.random.default_rng(0)
    for _ in range(10):
        X = rng.integers(0, 4, size=(45, 3)) + offset
        Y = rng.integers(0, 2, size=(40, 4)) * rng.integers(0, 2, size=(40, 1))
        P, scale = rng.uniform(size=(5, 4)).round(1), rng.uniform(0.5, 2, size=3)
        score = linear(*rng.choice([0.0, 0.3, 1.1], size=2))
        k = min(3, len(np.unique(Y, axis=0)))
        found = BruteForceIndex(X[:40], Y, scale).query(X[40:], P, score, k)
        for i in range(5):
            distances = reference.all_distances(X[40 + i], P[i], X[:40], Y, scale)
            rows = reference.k_nearest_labelsets(distances, Y, score, k)
            assert found.row[i].tolist() == rows
            expected = np.array([distances[row] for row in rows])
            np.testing.assert_allclose(found.Dx[i], expected[:, 0], rtol=1e-9)
            np.testing.assert_allclose(found.Dy[i], expected[:, 1], rtol=1e-12, atol=1e-14)


def test_first_in_group_equals_naive_loop():
    rng = np.random.default_rng(0)
    for _ in range(300):
        case = random_case(rng)
        assert first_in_group(*case).tolist() == naive_first(*case)


def test_first_in_group_does_not_depend_on_the_order_of_entries():
    rng = np.random.default_rng(1)
    for _ in range(50):
        case = random_case(rng)
        order = rng.permutation(len(case[0]))
        shuffled = first_in_group(*(part[order] for part in case))
        assert order[shuffled].tolist() == first_in_group(*case).tolist()


def test_first_in_group_by_hand():
    group = np.array([1, 0, 1, 0, 1, 0])
    first_key = np.array([2.0, 5.0, 2.0, 4.0, 3.0, 4.0])
    second_key = np.array([7.0, 0.0, 6.0, 1.0, 0.0, 1.0])
    row = np.array([0, 1, 2, 9, 4, 8])
    # Group 0: entries 3 and 5 tie at 4, and at 1; row 8 is before row 9: entry 5.
    # Group 1: entries 0 and 2 tie at 2; 6 is less than 7: entry 2.
    assert first_in_group(group, first_key, second_key, row).tolist() == [5, 2]


@pytest.mark.parametrize(
    ("distances", "winner"),
    [
        pytest.param([1 + 0.9 * TIE, 1.0], 0, id="just equal"),
        pytest.param([1 + 1.1 * TIE, 1.0], 1, id="just not equal"),
        pytest.param([1e6 * (1 + 0.9 * TIE), 1e6], 0, id="relative to large"),
        pytest.param([1e-6 * (1 + 1.1 * TIE), 1e-6], 1, id="relative to small"),
        pytest.param([1e-300, 0.0], 1, id="nothing is equal to zero"),
        pytest.param([0.0, 0.0], 0, id="but zero"),
        pytest.param([np.inf, np.inf], 0, id="both infinite"),
        pytest.param([np.inf, 1.0], 1, id="one infinite"),
    ],
)
def test_first_in_group_takes_rounding_for_a_tie(distances, winner):
    """Entry 0 has the lower row number and wins where the distances are equal."""
    found = first_in_group(np.array([0, 0]), np.array(distances), np.array([10, 11]))
    assert found.tolist() == [winner]


def test_first_in_group_compares_with_the_smallest_not_in_chains():
    # Each is within TIE of the next, but the last is not within TIE of the first.
    chain = 1 + np.array([0.0, 0.8, 1.6]) * TIE
    row = np.array([2, 1, 0])
    assert first_in_group(np.zeros(3, dtype=int), chain, row).tolist() == [1]


def test_first_in_group_of_nothing_is_nothing():
    nothing = np.array([], dtype=np.intp)
    assert first_in_group(nothing, np.array([]), nothing).tolist() == []


def test_first_in_group_leaves_its_input_alone():
    group, key, row = np.array([0, 1, 0]), np.array([1.0, 2.0, 1.0]), np.array([5, 6, 4])
    assert first_in_group(group, key, row).tolist() == [2, 1]
    assert (group.tolist(), key.tolist(), row.tolist()) == ([0, 1, 0], [1, 2, 1], [5, 6, 4])
