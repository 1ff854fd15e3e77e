"""Nearest neighbours against sorting by (distance, row) in plain loops."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix

from nldd.estimators._mlknn import NeighborIndex


def naive_order(X, queries):
    """All rows by (squared distance, row), query by query."""
    X, queries = np.asarray(X).tolist(), np.asarray(queries).tolist()
    nearest = []
    for q in queries:
        squares = [math.fsum((a - b) ** 2 for a, b in zip(q, x, strict=True)) for x in X]
        nearest.append(sorted(range(len(X)), key=lambda j, d=squares: (d[j], j)))
    return np.array(nearest, dtype=int)


def naive_nearest(X, queries, k):
    """The first k of them, in rising order."""
    return np.sort(naive_order(X, queries)[:, :k], axis=1)


def naive_nearest_others(X, k):
    """The same for the rows themselves; a row is never its own neighbour."""
    everything = naive_order(X, X)
    return np.array([sorted([j for j in row if j != i][:k]) for i, row in enumerate(everything)])


def tied_case(rng):
    """Few small integers, so that distances tie, and rows that occur twice or more."""
    n, d = rng.integers(2, 16), rng.integers(1, 5)
    X = rng.integers(0, 3, size=(n, d))[rng.integers(0, n, size=n)].astype(float)
    queries = np.vstack([rng.integers(0, 3, size=(4, d)), X[rng.integers(0, n, size=2)]])
    return X, queries.astype(float)


@pytest.mark.parametrize("form", [np.asarray, np.float32, csr_array, csr_matrix])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nearest_equals_naive_loop_with_ties_and_duplicates(form, offset):
    rng = np.random.default_rng(0)
    for _ in range(25):
        X, queries = tied_case(rng)
        k = rng.integers(1, len(X))
        index = NeighborIndex(form(X + offset))
        assert_array_equal(index.nearest(form(queries + offset), k), naive_nearest(X, queries, k))
        assert_array_equal(index.nearest(None, k), naive_nearest_others(X, k))


@pytest.mark.parametrize("d", [1, 3, 33])
def test_nearest_ties_are_exact_for_repeated_and_mirrored_rows(d):
    """Fractions round, yet equal rows, and rows mirrored at the query, are equally far away."""
    rng = np.random.default_rng(d)
    base = rng.normal(size=(8, d))
    source = rng.integers(0, 8, size=40)
    query = rng.normal(size=(1, d))
    rank = np.linalg.norm(base - query, axis=1).argsort().argsort()
    expected = np.lexsort((np.arange(40), rank[source]))
    for X, q in [(base[source], query), (csr_array(base[source]), csr_array(query))]:
        for k in range(1, 41):
            assert_array_equal(NeighborIndex(X).nearest(q, k)[0], np.sort(expected[:k]))
    mirrored = base[source] * rng.choice([-1, 1], size=(40, 1))
    rank = np.linalg.norm(base, axis=1).argsort().argsort()
    expected = np.lexsort((np.arange(40), rank[source]))
    for k in range(1, 41):
        found = NeighborIndex(mirrored).nearest(np.zeros((1, d)), k)[0]
        assert_array_equal(found, np.sort(expected[:k]))


@pytest.mark.parametrize("spread", [1e-4, 1.0], ids=["tiny spread", "unit spread"])
def test_nearest_far_from_zero_is_not_lost_in_rounding(spread):
    """At 1e6 the product form is off by about 1e-3, far more than these distances squared."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        X = 1e6 + spread * rng.normal(size=(20, 3))
        queries = 1e6 + spread * rng.normal(size=(5, 3))
        k = rng.integers(1, 20)
        index = NeighborIndex(X)
        assert_array_equal(index.nearest(queries, k), naive_nearest(X, queries, k))
        assert_array_equal(index.nearest(None, k), naive_nearest_others(X, k))
