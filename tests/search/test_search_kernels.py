"""The compiled pieces of the search against Python's own sorting and NumPy."""

import subprocess
import sys

import numpy as np
import pytest
from ways import callable_kernel

from nldd.search import _kernels
from nldd.search._index import Score, labelset_trie

best_of = callable_kernel(_kernels.best_of)
_farthest, _score = callable_kernel(_kernels._farthest), callable_kernel(_kernels._score)
_gains = callable_kernel(_kernels._gains)
labelsets_within = callable_kernel(_kernels.labelsets_within)


WEIGHTS = [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.3, 1.1), (1e-6, 1.0), (1.0, 1e-6), (7.0, 0.02)]
SCORES = [Score(x, y, product) for x, y in WEIGHTS for product in (False, True)]


def naive_best(keys, numbers):
    """Entry by entry: keep what is equal to the smallest, key after key, then the lowest number."""
    left = list(range(len(keys)))
    for key in keys.T:
        smallest = min(key[t] for t in left)
        left = [t for t in left if key[t] <= smallest * (1 + 1e-9)]
    return min(left, key=lambda t: numbers[t])


def best(keys, numbers, spare=0):
    """`best_of` with entries numbered through positions in any order, and room that is not used."""
    rng = np.random.default_rng(len(keys))
    at = rng.permutation(len(keys))
    number = np.empty(len(keys), dtype=np.int64)
    number[at] = numbers
    room = np.concatenate([keys, np.full((spare, 3), -1.0)])
    return best_of(room, at, len(keys), number, np.zeros(len(room), dtype=np.int64))


def test_best_of_equals_naive_loop():
    rng = np.random.default_rng(2)
    for _ in range(500):
        n = int(rng.integers(1, 12))
        nearly = 1 + rng.choice([0, 1e-13, 1e-12, 1e-7], (n, 3))
        keys = rng.integers(0, 3, (n, 3)) * 10.0 ** rng.integers(-8, 9) * nearly
        keys[rng.random((n, 3)) < 0.05] = np.inf
        numbers = rng.permutation(n)
        assert best(keys, numbers, spare=2) == naive_best(keys, numbers)


# The score, and its inverse


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_farthest_is_where_the_score_reaches_the_cut(score):
    rng = np.random.default_rng(0)
    for dx, dy in rng.uniform(0.1, 10, size=(100, 2)):
        cut = _score(score, dx, dy)
        found = _farthest(score, cut, dy)
        if score.x == 0:
            assert found == np.inf
        elif score.product:
            assert found == pytest.approx(dx, rel=1e-14 / min(1, score.x))
        else:
            assert found == pytest.approx(dx, rel=1e-14, abs=1e-15 * cut / score.x)


def random_labelsets(rng, n_labels):
    """Few labels or many in a set, the empty set among them or not."""
    Y = rng.random((rng.integers(1, 40), n_labels)) < rng.uniform(0.02, 0.9)
    return np.unique(Y.astype(np.int8), axis=0)


def within(Y, p, widest, margin):
    """Labelsets that the trie gives, and their squared distances."""
    n_labels = Y.shape[1]
    gains, after, path = np.empty((3, n_labels + 2))
    found, Dy2 = np.empty(len(Y), dtype=np.int64), np.full(len(Y), np.nan)
    path[0] = _gains(p[np.newaxis], 0, gains, after)
    n = labelsets_within(labelset_trie(Y), gains, after, path, widest, margin, found, Dy2)
    return found[:n], Dy2[found[:n]]


@pytest.mark.parametrize("n_labels", [1, 5, 80])
def test_labelsets_within_a_distance_are_those_of_numpy(n_labels):
    rng = np.random.default_rng(n_labels)
    for _ in range(30):
        Y = random_labelsets(rng, n_labels)
        p = rng.integers(-1, 6, size=n_labels) / 4  # quarters: no rounding
        expected = ((p - Y) ** 2).sum(axis=1)
        for widest in (*np.unique(expected), expected.min() - 0.1, np.inf):
            found, squares = within(Y, p, widest, np.inf)
            np.testing.assert_array_equal(found, np.flatnonzero(expected <= widest))
            np.testing.assert_array_equal(squares, expected[found])
        found, squares = within(Y, p, np.inf, 0.0)
        assert squares[-1] == expected.min() == expected[found[-1]]


UNCHECKED = """
import numpy as np
from nldd.search import _index
from nldd.search._index import LabelsetIndex, Score

_index.check_probabilities = lambda P: P
index = LabelsetIndex(np.eye(5), np.eye(5, dtype=int), np.ones(5))
for p, weight in ((np.nan, 1.0), (1e160, 1.0), (0.5, 1.7e308)):
    try:
        index.query(np.zeros((1, 5)), np.full((1, 5), p), Score(weight, weight))
    except ValueError as error:
        print(error)
"""


def test_a_search_without_an_answer_stops():
    """In a process of its own, which it ended when it read beyond its arrays."""
    done = subprocess.run([sys.executable, "-c", UNCHECKED], capture_output=True, text=True)
    few = "Too few labelsets have a finite score."
    assert done.stdout.splitlines() == ["No labelset has a finite label distance.", few, few]
