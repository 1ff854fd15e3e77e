"""Small random problems for every way in which the search comes to a distance.

Made to be awkward: ties and duplicates in abundance, rows of zeros, probabilities that are the
labels of a row, one row, one labelset.
"""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix

from nldd.search._index import IN_FEATURES, IN_LABELS, Score


def callable_kernel(kernel):
    """A kernel that Python can call; those of the search are called by each other only."""

    @njit(error_model="numpy")
    def call(*args):
        return kernel(*args)

    return call


def numbers(rng, n_rows, n_features):
    """Small integers or no ties at all; half of the time mostly zero."""
    X = rng.integers(0, 3, size=(n_rows, n_features)) * 1.0
    if rng.integers(3) == 0:
        X = X + rng.normal(size=X.shape)
    if rng.integers(2):
        X = X * (rng.random(X.shape) < 0.2)
    return X + 0.0  # no negative zeros


def ones(rng, n_rows, n_features):
    X = (rng.random((n_rows, n_features)) < rng.uniform(0.1, 0.7)) * 1.0
    X[:, 0] = 1  # one a row, or there may be nothing to pack
    return X


def single(X):
    return X.astype(np.float32)


# Name: what rows and queries are drawn from, and the containers they come in.
WAYS = {
    "bounds": (numbers, numbers, np.asarray, np.asarray),
    "sketches": (numbers, numbers, np.asarray, np.asarray),
    "sketches for any score": (numbers, numbers, np.asarray, np.asarray),
    "single precision": (numbers, numbers, single, single),
    "dense rows, sparse queries": (numbers, numbers, np.asarray, csr_array),
    "sparse": (numbers, numbers, csr_array, csr_array),
    "sparse matrix": (numbers, numbers, csr_matrix, csr_matrix),
    "sparse rows, dense queries": (numbers, numbers, csr_array, np.asarray),
    "bits": (ones, ones, csr_array, csr_array),
    "bits, other queries": (ones, numbers, csr_array, csr_array),
    "bits, dense queries": (ones, ones, csr_array, np.asarray),
}
# One for each way in which the kernel comes to a distance; the other containers are slow tests.
REPRESENTATIVE = ("bounds", "sketches", "sparse", "bits")
every_way = pytest.mark.parametrize(
    "way",
    [way if way in REPRESENTATIVE else pytest.param(way, marks=pytest.mark.slow) for way in WAYS],
    indirect=True,
)
SCORES = [
    Score(0.3, 1.1),
    Score(1.0, 0.01),
    IN_FEATURES,
    IN_LABELS,
    Score(0, 0),
    Score(0.4, 1.3, product=True),
    Score(2.0, 0, product=True),
    Score(0, 0.5, product=True),
]


@pytest.fixture
def way(request, monkeypatch):
    """Dense rows so few would all be left to bounds from a matrix product."""
    if request.param == "sketches":
        monkeypatch.setattr("nldd.search._index.FEW_ROWS", 0)
    if request.param == "sketches for any score":
        monkeypatch.setattr("nldd.search._distances.LARGEST_SQUARE", -1.0)
    return request.param


def random_problem(rng, way, n_rows, n_features, n_labels, n_queries=12):
    """Rows, labels, queries, probabilities, all dense in double precision, and a scale."""
    of_rows, of_queries, _, _ = WAYS[way]
    X = of_rows(rng, n_rows, n_features)
    X = X[rng.integers(n_rows, size=n_rows)] if rng.integers(2) else X  # duplicates
    X_new = of_queries(rng, n_queries, n_features)
    is_old = rng.random(n_queries) < 0.3
    X_new[is_old] = X[rng.integers(n_rows, size=is_old.sum())]
    if way == "single precision":
        X, X_new = (single(Z).astype(float) for Z in (X, X_new))

    few = rng.random((rng.integers(1, 30), n_labels)) < rng.uniform(0, 0.7)
    few[0] = False
    Y = few[rng.integers(len(few), size=n_rows)].astype(np.int8)
    P = rng.integers(0, 5, size=(n_queries, n_labels)) / 4
    if rng.integers(4) == 0:
        P = rng.uniform(size=P.shape)
    is_certain = rng.random(n_queries) < 0.2
    P[is_certain] = Y[rng.integers(n_rows, size=is_certain.sum())]

    # Powers of two: what is tied stays tied. Ones stay ones only if they are not scaled.
    scale = np.ones(n_features) if of_rows is ones else 2.0 ** rng.integers(-1, 2, n_features)
    return X, Y, X_new, P, scale


def naive(score):
    if score.product:
        return lambda Dx, Dy: Dx**score.x * Dy**score.y
    return lambda Dx, Dy: score.x * Dx + score.y * Dy


def assert_same(found, expected):
    """Equal answers; the way to them may have been longer or shorter."""
    assert_array_equal(found.row, expected.row)
    assert_array_equal(found.labelset, expected.labelset)
    assert_allclose(found.Dx, expected.Dx, rtol=1e-12, atol=1e-14)
    assert_allclose(found.Dy, expected.Dy, rtol=1e-12, atol=1e-14)
