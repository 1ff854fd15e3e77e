"""The exact search against plain loops, on its own and whatever the block size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

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


def equal(a: Neighbors, b: Neighbors):
    for name in ("row", "labelset", "Dx", "Dy"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12, atol=1e-14)


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
