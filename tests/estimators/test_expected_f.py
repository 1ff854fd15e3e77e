"""The labelset of largest expected F, against all 2^L predictions."""

from itertools import product

import numpy as np
from nldd.estimators._best_labelset import best_expected_f
from numpy.testing import assert_allclose, assert_array_equal


def f_measure(y, h):
    """F of two labelsets; 1 where both are empty."""
    if not any(y) and not any(h):
        return 1.0
    return 2 * sum(a * b for a, b in zip(y, h, strict=True)) / (sum(y) + sum(h))


def expected_f(g, labelsets, h):
    return sum(p * f_measure(y, h) for p, y in zip(g, labelsets.tolist(), strict=True))


def random_case(rng, empty):
    """Distinct labelsets of up to 6 labels, with probabilities that some share."""
    L = rng.integers(1, 7)
    sets = np.array(list(product([0, 1], repeat=L)), dtype=np.int8)
    count = rng.integers(1, min(len(sets), 9) + 1)
    chosen = rng.choice(np.arange(1, len(sets)), size=min(count, len(sets) - 1), replace=False)
    if empty:
        chosen = np.r_[0, chosen]
    rng.shuffle(chosen)
    G = rng.dirichlet(np.full(len(chosen), rng.choice([0.2, 1.0, 5.0])), size=2)
    return G, sets[chosen], sets


def assert_best(G, labelsets, predictions):
    best = best_expected_f(G, labelsets)
    for g, h in zip(G, best, strict=True):
        values = np.array([expected_f(g, labelsets, other) for other in predictions.tolist()])
        assert_allclose(expected_f(g, labelsets, h.tolist()), values.max(), rtol=1e-12)
        if (values > values.max() - 1e-9).sum() == 1:
            assert_array_equal(h, predictions[values.argmax()])
    return best


def test_best_expected_f_equals_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(120):
        assert_best(*random_case(rng, empty=False))


def test_best_expected_f_equals_brute_force_with_the_empty_labelset():
    rng = np.random.default_rng(1)
    n_empty = 0
    for _ in range(120):
        n_empty += (~assert_best(*random_case(rng, empty=True)).any(axis=1)).sum()
    assert 0 < n_empty < 240


def test_best_expected_f_of_all_labelsets():
    rng = np.random.default_rng(2)
    for L in range(1, 6):
        sets = np.array(list(product([0, 1], repeat=L)), dtype=np.int8)
        assert_best(rng.dirichlet(np.ones(len(sets)), size=4), sets, sets)


def test_best_expected_f_by_hand():
    labelsets = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8)
    # Empty: 0.35. {1}: 0.3 * 1 + 0.35 * 2/3 = 0.533. {1, 2}: 0.3 * 2/3 + 0.35 = 0.55. {2}: 0.233.
    # Empty: 0.5. {1}: 0.3 + 0.2 * 2/3 = 0.433. {1, 2}: 0.2 + 0.2 = 0.4.
    G = np.array([[0.35, 0.30, 0.35], [0.5, 0.3, 0.2]])
    assert_array_equal(best_expected_f(G, labelsets), [[1, 1], [0, 0]])


def test_best_expected_f_may_be_a_labelset_that_is_not_listed():
    labelsets = np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int8)
    # {1}: 0.52; {1, 2}: 2/3 whatever comes.
    assert_array_equal(best_expected_f(np.array([[0.52, 0.48]]), labelsets), [[1, 1, 0]])


def test_best_expected_f_of_a_certain_labelset_is_that_labelset():
    rng = np.random.default_rng(3)
    sets = np.array(list(product([0, 1], repeat=5)), dtype=np.int8)
    labelsets = rng.permutation(sets)
    assert_array_equal(best_expected_f(np.eye(32), labelsets), labelsets)


def test_best_expected_f_of_only_the_empty_labelset_is_empty():
    labelsets = np.zeros((1, 3), dtype=np.int8)
    assert_array_equal(best_expected_f(np.ones((2, 1)), labelsets), np.zeros((2, 3)))


def test_best_expected_f_permuted_labels_permute_the_answer():
    rng = np.random.default_rng(4)
    sets = np.array(list(product([0, 1], repeat=4)), dtype=np.int8)
    G = rng.dirichlet(np.ones(16), size=30)
    order = rng.permutation(4)
    assert_array_equal(best_expected_f(G, sets[:, order]), best_expected_f(G, sets)[:, order])
