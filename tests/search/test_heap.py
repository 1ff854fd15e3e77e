"""The compiled helpers against Python's own sorting."""

import numpy as np
import pytest

from nldd.search import TIE
from nldd.search._kernel import best_of, keep_smallest
from nldd.search._scan import heapify, pop


def random_keys(rng, n):
    """Keys with ties, without, or partly infinite, as bounds can be."""
    keys = [rng.normal(size=n), rng.integers(0, 4, n) * 1.0, rng.choice([0.5, np.inf], n)]
    return keys[rng.integers(3)]


def pop_all(keys, items, n):
    popped = []
    while n > 0:
        popped.append((keys[0], int(items[0])))
        n = pop(keys, items, n)
    return popped


def test_a_heap_gives_keys_in_rising_order_with_their_items():
    rng = np.random.default_rng(0)
    for n in [*range(20), 100, 1000]:
        for _ in range(10):
            keys = random_keys(rng, n)
            heap, items = keys.copy(), np.arange(n)
            heapify(heap, items, n)
            popped = pop_all(heap, items, n)
            assert [key for key, _ in popped] == sorted(keys.tolist())
            assert sorted(item for _, item in popped) == list(range(n))
            assert all(keys[item] == key for key, item in popped)


def test_a_heap_keeps_to_its_first_entries():
    keys, items = np.array([3.0, 1.0, 2.0, -9.0]), np.array([30, 10, 20, 99])
    heapify(keys, items, 3)
    assert (keys[3], items[3]) == (-9, 99)
    assert pop_all(keys, items, 3) == [(1, 10), (2, 20), (3, 30)]


def test_a_heap_of_sorted_or_falling_keys():
    for keys in (np.arange(50.0), np.arange(50.0)[::-1].copy()):
        heap, items = keys.copy(), np.arange(50)
        heapify(heap, items, 50)
        assert [key for key, _ in pop_all(heap, items, 50)] == list(range(50))


def test_keep_smallest_holds_the_smallest_so_far_in_rising_order():
    rng = np.random.default_rng(1)
    for _ in range(200):
        k = int(rng.integers(1, 6))
        values = random_keys(rng, rng.integers(1, 15))
        best = np.full(k, np.inf)
        for n, value in enumerate(values, start=1):
            keep_smallest(best, value)
            expected = [*sorted(values[:n].tolist())[:k], *[np.inf] * (k - n)]
            assert best.tolist() == expected


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
    return best_of(room, at, len(keys), number, np.zeros(3))


def test_best_of_equals_naive_loop():
    rng = np.random.default_rng(2)
    for _ in range(3000):
        n = int(rng.integers(1, 12))
        nearly = 1 + rng.choice([0, 1e-13, 1e-12, 1e-7], (n, 3))
        keys = rng.integers(0, 3, (n, 3)) * 10.0 ** rng.integers(-8, 9) * nearly
        keys[rng.random((n, 3)) < 0.05] = np.inf
        numbers = rng.permutation(n)
        assert best(keys, numbers, spare=2) == naive_best(keys, numbers)


@pytest.mark.parametrize(
    ("keys", "winner"),
    [
        pytest.param([[2, 0, 0], [1, 9, 9]], 1, id="the score first"),
        pytest.param([[1, 2, 0], [1, 1, 9]], 1, id="then Dy"),
        pytest.param([[1, 1, 2], [1, 1, 1]], 1, id="then Dx"),
        pytest.param([[1, 1, 1], [1, 1, 1]], 0, id="then the number"),
        pytest.param([[1 + 0.9 * TIE, 1, 1], [1, 1, 1]], 0, id="just equal"),
        pytest.param([[1 + 1.1 * TIE, 1, 1], [1, 1, 1]], 1, id="just not equal"),
        pytest.param([[1e-300, 0, 0], [0, 1, 1]], 1, id="nothing is equal to zero"),
        pytest.param([[np.inf, 0, 0], [np.inf, 1, 0]], 0, id="both infinite"),
        # Entry 1 would have the smallest Dy, but it is out: its score is not the smallest.
        pytest.param([[1, 5, 1], [2, 0, 0], [1, 5, 0]], 2, id="what is out stays out"),
    ],
)
def test_best_of_follows_the_rule_for_ties(keys, winner):
    assert best(np.array(keys, dtype=float), np.arange(len(keys))) == winner
