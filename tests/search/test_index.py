"""The index: what it answers and refuses, what grew, its bounds, how its rows lie in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from ways import SCORES, WAYS, assert_same, every_way, naive, random_problem

import reference
from brute_force import BruteForceIndex
from nldd.exceptions import InputError
from nldd.search import _index
from nldd.search._index import (
    IN_FEATURES,
    IN_LABELS,
    LabelsetIndex,
    distinct_labelsets,
    is_worth_packing,
)
from problems import seeds

LINEAR = SCORES[0]


def random_index(seed, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(85, 3)) + offset
    if seed % 2:
        X = X + rng.normal(size=X.shape)
    Y = rng.integers(0, 2, size=(60, 4)) * rng.integers(0, 2, size=(60, 1))
    P = rng.uniform(size=(25, 4)).round(1)
    return X[:60], Y, X[60:], P, rng.uniform(0.5, 2, size=3)


@pytest.mark.parametrize("score", SCORES, ids=str)
@pytest.mark.parametrize("seed", seeds(2, 20))
def test_index_and_its_oracle_equal_loops(score, seed):
    """The search without shortcuts is the oracle on data too large for loops."""
    offset = 1e6 * (seed % 4 == 0)
    X, Y, X_new, P, scale = random_index(seed, offset=offset)
    k, rtol = min(3, len(np.unique(Y, axis=0))), 1e-9 if offset else 1e-12
    answers = (
        LabelsetIndex(X, Y, scale).query(X_new, P, score, k),
        BruteForceIndex(X, Y, scale).query(X_new, P, naive(score), k),
    )
    for i in range(len(P)):
        distances = reference.all_distances(X_new[i], P[i], X, Y, scale)
        rows = reference.k_nearest_labelsets(distances, Y, naive(score), k)
        expected = np.array([distances[row] for row in rows])
        for found in answers:
            assert found.row[i].tolist() == rows
            assert_allclose(found.Dx[i], expected[:, 0], rtol=rtol, atol=1e-14)
            assert_allclose(found.Dy[i], expected[:, 1], rtol=1e-12, atol=1e-14)


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
        assert_same(index.query(X_new, P, IN_FEATURES), whole.query(X_new, P, IN_FEATURES))
    assert bounds_made == [60, 85, 85]


ONES = np.ones((2, 1)), np.ones((2, 5))


@pytest.mark.parametrize(
    ("X", "P"),
    [
        pytest.param(np.ones((3, 1)), ONES[1], id="more rows"),
        pytest.param(np.ones((2, 2)), ONES[1], id="feature too many"),
        pytest.param(ONES[0], np.ones(2), id="one number a row"),
    ],
)
def test_queries_of_another_size_are_refused(X, P):
    index = LabelsetIndex(np.ones((5, 1)), np.eye(5, dtype=int), np.ones(1))
    with pytest.raises(InputError, match="The index needs 1 features in X and 5 labels in P"):
        index.query(X, P, IN_FEATURES)


def test_probabilities_off_by_rounding_are_clipped():
    index = LabelsetIndex(np.ones((2, 1)), np.eye(2, dtype=int), np.ones(1))
    near = index.query(np.ones((1, 1)), np.array([[1 + 1e-7, -1e-7]]), IN_LABELS)
    assert (near.row.item(), near.Dy.item()) == (0, 0)


def assert_equal_indexes(grown, whole, X_new, P):
    assert len(grown) == len(whole)
    np.testing.assert_array_equal(grown.labelsets, whole.labelsets)
    np.testing.assert_array_equal(grown.counts, whole.counts)
    for score in SCORES:
        for k in {1, len(whole.counts)}:
            assert_same(grown.query(X_new, P, score, k), whole.query(X_new, P, score, k))


@every_way
@pytest.mark.parametrize(
    "stops",
    [
        pytest.param([60], id="once"),
        pytest.param([59], id="one row"),
        pytest.param([1], id="to one row"),
        pytest.param([10, 11, 40, 59], id="several times"),
    ],
)
def test_added_rows_are_as_good_as_the_first(way, stops, monkeypatch):
    monkeypatch.setattr("nldd.search._index.CELL_ROWS", 3)
    _, _, as_rows, as_queries = WAYS[way]
    rng = np.random.default_rng(stops[0])
    for n_features in (3, 70):
        X, Y, X_new, P, scale = random_problem(rng, way, 80, n_features, 9)
        grown = LabelsetIndex(as_rows(X[: stops[0]]), Y[: stops[0]], scale)
        for start, stop in zip(stops, [*stops[1:], 80], strict=True):
            grown = grown.with_rows(as_rows(X[start:stop]), Y[start:stop])
        whole = LabelsetIndex(as_rows(X), Y, scale)
        assert_equal_indexes(grown, whole, as_queries(X_new), P)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(np.asarray, csr_array, id="sparse to dense"),
        pytest.param(csr_array, np.asarray, id="dense to sparse"),
        pytest.param(np.asarray, lambda X: X.astype(np.float32), id="single to double"),
    ],
)
def test_added_rows_may_come_in_another_container(first, then):
    X, Y, X_new, P, scale = random_problem(np.random.default_rng(1), "bounds", 60, 5, 4)
    X = X.round(1).astype(np.float32).astype(float)
    grown = LabelsetIndex(first(X[:40]), Y[:40], scale)
    grown = grown.with_rows(then(X[40:]), Y[40:])
    assert_equal_indexes(grown, LabelsetIndex(first(X), Y, scale), first(X_new), P)


@pytest.mark.parametrize("value", [2.0, 0.5, -1.0])
def test_rows_that_are_not_ones_unpack_the_bits(value):
    rng = np.random.default_rng(2)
    X, Y, X_new, P, scale = random_problem(rng, "bits", 60, 70, 4)
    grown = LabelsetIndex(csr_array(X), Y, scale)
    assert len(grown.features.packed.bits) == 60
    more = csr_array(X[:20] * np.where(rng.random((20, 70)) < 0.1, value, 1.0))
    grown = grown.with_rows(more, Y[::-1][:20])
    assert grown.features.packed is None
    everything = csr_array(np.concatenate([X, more.toarray()]))
    whole = LabelsetIndex(everything, np.concatenate([Y, Y[::-1][:20]]), scale)
    assert_equal_indexes(grown, whole, csr_array(X_new), P)
    assert_equal_indexes(grown, whole, csr_array(value * X_new), P)


def numpy_unique(Y):
    labelsets, labelset = np.unique(Y, axis=0, return_inverse=True)
    return labelsets.tolist(), labelset.ravel().tolist()


@pytest.mark.parametrize("dtype", [bool, np.int64])
@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 65])
def test_distinct_labelsets_are_those_of_numpy(n_labels, dtype):
    rng = np.random.default_rng(n_labels)
    for density in (0.02, 0.5, 0.98):
        few = rng.random((6, n_labels)) < density
        Y = np.concatenate([few[rng.integers(6, size=20)], few ^ (rng.random(few.shape) < 0.1)])
        Y = np.asfortranarray(Y[::-1]) if density == 0.5 else Y  # as from a data frame
        labelsets, labelset = distinct_labelsets(Y.astype(dtype))
        assert (labelsets.tolist(), labelset.tolist()) == numpy_unique(Y.astype(dtype))
        assert labelsets.dtype == np.int8


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        pytest.param(csr_array(np.eye(4)), True, id="ones"),
        pytest.param(csr_matrix(np.eye(4, dtype=bool)), True, id="bool"),
        pytest.param(np.eye(4), False, id="dense"),
        pytest.param(csr_array(2 * np.eye(4)), False, id="twos"),
        pytest.param(csr_array(-np.eye(4)), False, id="minus ones"),
        pytest.param(csr_array(np.array([[1.0, 1 + 1e-15]])), False, id="nearly one"),
        pytest.param(csr_array(([1.0, 0.0], ([0, 0], [0, 1]))), False, id="a stored zero"),
        pytest.param(csr_array((3, 2)), False, id="nothing stored"),
        # 256 features are four words, as quick as the one number that is stored; 257 are more.
        pytest.param(csr_array(np.eye(1, 256)), True, id="just dense enough"),
        pytest.param(csr_array(np.eye(1, 257)), False, id="just too sparse"),
    ],
)
def test_packing_pays_for_zeros_and_ones_that_are_not_too_sparse(X, expected):
    assert is_worth_packing(X) is expected
