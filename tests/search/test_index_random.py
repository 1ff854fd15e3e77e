"""The search in thousands of small problems against a search without shortcuts."""

import numpy as np
import pytest
from joblib import dump, load
from scipy.sparse import csr_array
from sklearn import config_context
from ways import SCORES, WAYS, assert_same, every_way, naive, random_problem

from brute_force import BruteForceIndex
from nldd.exceptions import InputError
from nldd.search._index import IN_FEATURES, LabelsetIndex, Score

LINEAR = SCORES[0]


@every_way
@pytest.mark.parametrize(
    "n_features", [1, 3, 70, *(pytest.param(n, marks=pytest.mark.slow) for n in (20, 130))]
)
def test_query_equals_brute_force(way, n_features, monkeypatch):
    _, _, as_rows, as_queries = WAYS[way]
    rng = np.random.default_rng(n_features)
    for n_rows, n_labels, cell_rows in [
        (1, 3, 2),
        (2, 1, 2),
        (15, 9, 1),
        (40, 75, 2),
        (90, 3, 2),
        (90, 5, 32),
    ]:
        monkeypatch.setattr("nldd.search._index.CELL_ROWS", cell_rows)
        X, Y, X_new, P, scale = random_problem(rng, way, n_rows, n_features, n_labels)
        index = LabelsetIndex(as_rows(X), Y, scale)
        oracle = BruteForceIndex(X, Y, scale)
        queries = as_queries(X_new)
        assert (index.features.packed is not None) == way.startswith("bits")
        for score in SCORES:
            k = min(rng.choice([1, 3, len(index.counts)]), len(index.counts))
            found = index.query(queries, P, score, k)
            assert_same(found, oracle.query(X_new, P, naive(score), k))
            assert (found.evaluated >= 1).all()
            assert (found.evaluated <= len(index)).all()


@every_way
def test_query_gives_the_same_whatever_the_blocks(way, monkeypatch):
    monkeypatch.setattr("nldd.search._index.MAX_BLOCK", 30)
    _, _, as_rows, as_queries = WAYS[way]
    rng = np.random.default_rng(2)
    X, Y, X_new, P, scale = random_problem(rng, way, 300, 20, 6, n_queries=70)
    index, X_new = LabelsetIndex(as_rows(X), Y, scale), as_queries(X_new)
    for score in (LINEAR, IN_FEATURES):
        expected = index.query(X_new, P, score, n_jobs=1)  # three blocks
        assert_same(index.query(X_new, P, score, n_jobs=2), expected)
        with config_context(working_memory=0.02):  # some ten queries a block
            assert_same(index.query(X_new, P, score, n_jobs=2), expected)
        with config_context(working_memory=1e-6):  # one at a time
            assert_same(index.query(X_new, P, score), expected)


def clustered(rng, n_rows, ones):
    """30 clusters, each with a labelset of its own but for one row in ten."""
    centres = np.random.default_rng(99).random((30, 60))
    labelsets = np.random.default_rng(98).integers(0, 2, size=(30, 12))
    cluster = rng.integers(30, size=n_rows)
    X = centres[cluster] * 10 + rng.normal(size=(n_rows, 60))
    if ones:
        X = (centres[cluster] + rng.normal(0, 0.1, size=X.shape) > 0.5) * 1.0
    Y = labelsets[np.where(rng.random(n_rows) < 0.9, cluster, rng.integers(30, size=n_rows))]
    return X, Y


@pytest.mark.parametrize(
    ("container", "ones"),
    [
        pytest.param(np.asarray, False, id="dense"),
        pytest.param(csr_array, False, id="sparse"),
        pytest.param(csr_array, True, id="bits"),
    ],
)
@pytest.mark.parametrize("score", [Score(0.1, 1.0), Score(0.2, 1.0, product=True)], ids=str)
def test_query_looks_at_few_rows_of_clusters(container, ones, score, monkeypatch):
    monkeypatch.setattr("nldd.search._index.FEW_ROWS", 0)
    rng = np.random.default_rng(4)
    X, Y = clustered(rng, 3000, ones)
    X_new, near = clustered(rng, 200, ones)
    P = np.clip(near + rng.normal(0, 0.2, near.shape), 0, 1)
    index = LabelsetIndex(container(X), Y, np.ones(60))
    found = index.query(container(X_new), P, score)
    assert_same(found, BruteForceIndex(X, Y, np.ones(60)).query(X_new, P, naive(score)))
    assert found.evaluated.mean() < 0.1 * len(X)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_query_of_dense_rows_far_from_zero(offset, monkeypatch):
    """Sketches and bounds take off the centre first, so they still tell rows apart."""
    rng = np.random.default_rng(6)
    X, Y = clustered(rng, 1000, ones=False)
    X, X_new, P = (X + offset).round(3), (X[:50] + offset).round(2), Y[:50] * 0.8 + 0.1
    oracle = BruteForceIndex(X, Y, np.ones(60))
    for few_rows in (4096, 0):
        monkeypatch.setattr("nldd.search._index.FEW_ROWS", few_rows)
        found = LabelsetIndex(X, Y, np.ones(60)).query(X_new, P, LINEAR)
        assert_same(found, oracle.query(X_new, P, naive(LINEAR)))
    assert found.evaluated.mean() < 0.2 * len(X)


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [1e-60, 1e16, 1e100])
def test_query_of_numbers_of_any_size(size, container):
    """From 1e16 on squares are too large for single precision; answers are as for small ones."""
    rng = np.random.default_rng(7)
    X, Y, X_new, P, scale = random_problem(rng, "bounds", 80, 10, 4)
    product = Score(2.0, 0.5, product=True)
    # The last one weighs features so that their size cancels; the others do not mind it.
    for score, of_small in [
        (IN_FEATURES, IN_FEATURES),
        (product, product),
        (Score(1 / size, 0.5), Score(1.0, 0.5)),
    ]:
        index = LabelsetIndex(container(size * X), Y, scale)
        found = index.query(container(size * X_new), P, score)
        expected = BruteForceIndex(X, Y, scale).query(X_new, P, naive(of_small))
        np.testing.assert_array_equal(found.row, expected.row)
        np.testing.assert_allclose(found.Dx, size * expected.Dx, rtol=1e-12)


@every_way
def test_query_of_an_index_mapped_from_a_file(way, tmp_path):
    """Read-only arrays, as worker processes get them."""
    _, _, as_rows, as_queries = WAYS[way]
    X, Y, X_new, P, scale = random_problem(np.random.default_rng(8), way, 80, 20, 5)
    index = LabelsetIndex(as_rows(X), Y, scale)
    dump(index, tmp_path / "index.joblib")
    mapped = load(tmp_path / "index.joblib", mmap_mode="r")
    assert isinstance(mapped.groups.number.base.base, np.memmap)
    assert not mapped.groups.number.flags.writeable
    for score in SCORES:
        expected = index.query(as_queries(X_new), P, score)
        assert_same(mapped.query(as_queries(X_new), P, score), expected)
    mapped = mapped.with_rows(as_rows(X_new), Y[:12])
    index = index.with_rows(as_rows(X_new), Y[:12])
    assert_same(
        mapped.query(as_queries(X_new), P, LINEAR), index.query(as_queries(X_new), P, LINEAR)
    )


def test_query_of_a_long_sparse_row_next_to_a_short_one():
    # 1e5 squares of 1.2e-16 are added to 1 one by one, each rounded up to 2.2e-16: the fast
    # distance of row 0 is 2.2e-11 instead of 1.2e-11, and row 1, at 1.5e-11, seems nearer.
    n_features = 100_000
    query = np.full((1, n_features), 1.1e-8)
    query[0, 0] = 1
    X = csr_array(([1, 1 + 1.7e-6], ([0, 1], [0, 0])), shape=(2, n_features))
    index = LabelsetIndex(X, np.array([[1, 0], [0, 1]]), np.ones(n_features))
    found = index.query(csr_array(query), np.array([[0.0, 1.0]]), IN_FEATURES)
    assert found.row.tolist() == [[0]]


def test_rows_whose_squares_are_finite_but_whose_distances_are_not_are_refused():
    X = csr_array(np.array([[1e154], [-1e154], [-1e154]]))
    with pytest.raises(InputError, match="too large to measure distances"):
        LabelsetIndex(X, np.array([[0, 1], [1, 0], [1, 1]]), np.ones(1))
