"""Distances to all labelsets by products equal those of loops, whatever the rows are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix

from nldd.search._distances import word_scale
from nldd.search._products import LabelsetRows
from problems import random_problem, seeds

CONTAINERS = {"dense": np.asarray, "array": csr_array, "matrix": csr_matrix}


def naive_distances(X, Y, scale, queries, unit_length=False):
    """Labelsets in order; of each query the distances and the first nearest rows."""
    X, queries = X / scale, queries / scale
    if unit_length:
        X, queries = (
            np.array([row / max(np.linalg.norm(row), 1e-300) for row in rows])
            for rows in (X, queries)
        )
    labelsets = sorted({tuple(row) for row in Y.tolist()})
    D, nearest = np.empty((2, len(queries), len(labelsets)))
    for i, query in enumerate(queries):
        for u, labelset in enumerate(labelsets):
            members = [j for j, row in enumerate(Y.tolist()) if tuple(row) == labelset]
            found = [np.linalg.norm(query - X[j]) for j in members]
            D[i, u], nearest[i, u] = min(found), members[int(np.argmin(found))]
    return np.array(labelsets), D, nearest


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("seed", seeds(8, 400))
def test_distances_equal_loops(seed, container):
    X, Y, queries = random_problem(seed)
    scale = np.random.default_rng(seed).uniform(0.5, 2, size=X.shape[1])
    unit_length = seed % 2 == 1
    rows = LabelsetRows(container(X), Y, scale, unit_length)
    labelsets, D, nearest = naive_distances(X, Y, scale, queries, unit_length)
    found, row = rows.distances(container(queries))
    size = 1 + np.abs(np.vstack([X, queries]) / scale).max()
    assert_array_equal(rows.labelsets, labelsets)
    assert_allclose(found, D, rtol=0, atol=1e-7 * size)
    # Which of two equal members is given is open where rounding decides.
    chosen = np.linalg.norm((X[row] - X[nearest.astype(int)]) / scale, axis=2)
    equal = np.isclose(D, np.take_along_axis(D, np.argmin(D, 1)[:, None], 1)) | (chosen == 0)
    assert (Y[row] == labelsets).all()
    assert unit_length or equal.any()
    grown = LabelsetRows(container(X[:3]), Y[:3], scale, unit_length)
    grown = grown.with_rows(container(X[3:]), Y[3:])
    assert_allclose(grown.distances(container(queries))[0], found, rtol=0, atol=1e-7 * size)
    assert_array_equal(grown.counts, rows.counts)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("weight", [0.0, 0.3, 5.0])
def test_the_most_probable_labelset_is_that_of_all_distances(container, weight):
    """Few and many labelsets, near and far apart in gain: rows are left out, or all are needed."""
    rng = np.random.default_rng(5)
    for n_labelsets, spread in ((3, 1.0), (20, 10.0), (20, 0.1), (90, 0.01), (90, 3.0)):
        X = np.where(rng.random((300, 40)) < 0.1, rng.random((300, 40)), 0)
        X[150:] = X[:150]
        pool = np.unique(rng.integers(0, 2, size=(n_labelsets, 8)), axis=0)
        Y = pool[rng.integers(len(pool), size=300)]
        rows = LabelsetRows(container(X), Y, word_scale(X), unit_length=True)
        queries = container(X[::7] * (rng.random((43, 40)) < 0.8))
        gain = spread * rng.normal(size=(43, len(rows.counts)))
        z = gain - weight * rows.distances(queries)[0]
        found = rows.most_probable(queries, gain, weight)
        assert_allclose(z[np.arange(43), found], z.max(axis=1), rtol=0, atol=1e-9)


def test_word_scale_is_one_over_the_inverse_document_frequency():
    X = np.array([[1.0, 0, 3], [2, 0, 0], [0, 0, 1], [4, 0, 0]])
    expected = [1 / (np.log(5 / (1 + n)) + 1) for n in (3, 0, 2)]
    assert_allclose(word_scale(X), expected)
    assert_allclose(word_scale(csr_array(X)), expected)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_far_from_zero_lose_no_digits(offset):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(60, 5)) + offset, rng.integers(0, 2, size=(60, 2))
    found, _ = LabelsetRows(X, Y, np.ones(5)).distances(X)
    _, D, _ = naive_distances(X, Y, np.ones(5), X)
    assert_allclose(found, D, rtol=0, atol=1e-6)
