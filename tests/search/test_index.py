"""The exact search against plain loops, on its own and whatever the block size."""

import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

import reference
from nldd.search import _index
from nldd.search._index import IN_FEATURES, IN_LABELS, LabelsetIndex, Neighbors, Score

# What the index is asked for, and the same in Python for the reference.
SCORES = {
    "linear": (Score(0.3, 1.1), lambda Dx, Dy: 0.3 * Dx + 1.1 * Dy),
    "features only": (IN_FEATURES, lambda Dx, Dy: Dx),
    "labels only": (IN_LABELS, lambda Dx, Dy: Dy),
    "neither": (Score(0, 0), lambda Dx, Dy: 0 * Dx),
    "multiplicative": (Score(0.4, 1.3, product=True), lambda Dx, Dy: Dx**0.4 * Dy**1.3),
    "product of labels only": (Score(0, 0.5, product=True), lambda Dx, Dy: Dy**0.5),
}
LINEAR, linear = SCORES["linear"]


def random_index(seed, n_rows=60, n_queries=25, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows + n_queries, 3)) + offset
    if seed % 2:
        X = X + rng.normal(size=X.shape)
    Y = rng.integers(0, 2, size=(n_rows, 4)) * rng.integers(0, 2, size=(n_rows, 1))
    P = rng.uniform(size=(n_queries, 4)).round(1)
    scale = rng.uniform(0.5, 2, size=3)
    return X[:n_rows], Y, X[n_rows:], P, scale


@pytest.mark.parametrize(("score", "naive_score"), SCORES.values(), ids=SCORES.keys())
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_query_equals_loops(score, naive_score, seed):
    X, Y, X_new, P, scale = random_index(seed)
    k = min(3, len(np.unique(Y, axis=0)))
    found = LabelsetIndex(X, Y, scale).query(X_new, P, score, k)
    for i in range(len(P)):
        distances = reference.all_distances(X_new[i], P[i], X, Y, scale)
        rows = reference.k_nearest_labelsets(distances, Y, naive_score, k)
        assert found.row[i].tolist() == rows
        expected = np.array([distances[row] for row in rows])
        assert_allclose(found.Dx[i], expected[:, 0], rtol=1e-12, atol=1e-14)
        assert_allclose(found.Dy[i], expected[:, 1], rtol=1e-12, atol=1e-14)


def test_query_distance_of_a_duplicate_is_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, size=(40, 30))
    Y = rng.integers(0, 2, size=(40, 3))
    index = LabelsetIndex(X, Y, np.full(30, 3.0))
    found = index.query(X, Y.astype(float), LINEAR)
    assert_array_equal(found.row[:, 0], np.arange(40))
    assert_array_equal(found.Dx, 0)
    assert_array_equal(found.Dy, 0)


def equal(a: Neighbors, b: Neighbors):
    for name in ("row", "labelset", "Dx", "Dy"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12, atol=1e-14)


def test_query_block_size_follows_working_memory():
    X, Y, X_new, P, scale = random_index(1, n_rows=5000, n_queries=600)
    index = LabelsetIndex(X, Y, scale)
    expected, nearest = index.query(X_new, P, LINEAR), index.query(X_new, P, IN_FEATURES)
    assert index._block_rows(None, all_distances=False) == 1024
    # 8 bytes for 4 * 3 features, 4 labels and 16 coordinates: 256 a query; with 4 bytes for each of
    # the 5000 distances 20256, of which a MiB holds 51.
    with config_context(working_memory=1):
        assert index._block_rows(None, all_distances=True) == 51
        assert index._block_rows(2, all_distances=True) == 25
        equal(index.query(X_new, P, IN_FEATURES), nearest)
    with config_context(working_memory=0.01):
        assert index._block_rows(None, all_distances=False) == 40
        assert index._block_rows(None, all_distances=True) == 1
        equal(index.query(X_new, P, LINEAR), expected)


# How much is in memory at a time


class Watched:
    """Queries that note how many of the blocks cut from them are still alive."""

    def __init__(self, X):
        self.X, self.shape = X, X.shape
        self.alive, self.most = weakref.WeakSet(), 0

    def __getitem__(self, block):
        cut = self.X[block].view(Block)
        self.alive.add(cut)
        self.most = max(self.most, len(self.alive))
        return cut


class Block(np.ndarray):
    """A block of queries, which can be watched."""

    __hash__ = object.__hash__


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_query_cuts_no_more_blocks_than_there_are_workers(n_jobs):
    """And one, which waits for the first of them to be free."""
    X, Y, X_new, P, scale = random_index(1, n_queries=60)
    index, watched = LabelsetIndex(X, Y, scale), Watched(X_new)
    expected = index.query(X_new, P, LINEAR)
    with config_context(working_memory=1e-6):  # one query a block
        equal(index.query(watched, P, LINEAR, n_jobs=n_jobs), expected)
    assert 1 <= watched.most <= n_jobs + 1


# Bounds, which take a look at all rows


@pytest.fixture
def bounds_made(monkeypatch):
    """The number of rows of all bounds that were made."""
    made = []

    class Counting(_index.LowerBounds):
        def __init__(self, Z):
            made.append(len(Z))
            super().__init__(Z)

    monkeypatch.setattr(_index, "LowerBounds", Counting)
    return made


def test_bounds_are_made_once_for_all_queries_and_anew_for_new_rows(bounds_made):
    X, Y, X_new, P, scale = random_index(1)
    index = LabelsetIndex(X, Y, scale)
    assert bounds_made == []
    for i in range(10):
        for score in (LINEAR, IN_FEATURES):
            index.query(X_new[[i]], P[[i]], score)
    assert bounds_made == [60]
    index = index.with_rows(X_new, Y[:25])
    whole = LabelsetIndex(np.concatenate([X, X_new]), np.concatenate([Y, Y[:25]]), scale)
    for _ in range(2):
        equal(index.query(X_new, P, IN_FEATURES), whole.query(X_new, P, IN_FEATURES))
    assert bounds_made == [60, 85, 85]


def test_bounds_are_made_once_for_threads_that_ask_at_the_same_time(bounds_made):
    X, Y, X_new, P, scale = random_index(1)
    index = LabelsetIndex(X, Y, scale)
    together = threading.Barrier(4, timeout=20)

    def ask():
        together.wait()
        return index.query(X_new, P, LINEAR)

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask) for _ in range(4)]
    for answer in answers:
        equal(answer.result(), index.query(X_new, P, LINEAR))
    assert bounds_made == [60]


def test_bounds_are_no_part_of_an_index_that_is_sent_or_saved():
    X, Y, X_new, P, scale = random_index(1)
    index = LabelsetIndex(X, Y, scale)
    before = pickle.dumps(index)
    expected = index.query(X_new, P, LINEAR)
    assert pickle.dumps(index) == before
    equal(pickle.loads(before).query(X_new, P, LINEAR), expected)
