"""Passes over sparse rows in vectors, against products of dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from nldd.linear._passes import DOUBLE_WIDTH, SINGLE_WIDTH, sparse_curvatures, sparse_slopes
from problems import seeds


def draw_rows(rng, dtype):
    """CSR rows, some of them empty, as the kernels take them, and dense with a column of ones."""
    shape = tuple(rng.integers(1, 60, size=2))
    X = rng.normal(size=shape) * (rng.random(shape) < rng.choice([0.02, 0.3, 1.0]))
    S = csr_array(X.astype(dtype))
    rows = S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data
    return rows, np.column_stack([S.toarray(), np.ones(len(X))]).astype(np.float64)


@pytest.mark.parametrize("seed", seeds(10, 30))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes(seed, dtype):
    rng = np.random.default_rng(seed)
    rows, A = draw_rows(rng, dtype)
    Y = rng.integers(0, 2, size=(len(A), DOUBLE_WIDTH)).astype(float)
    weight, C = rng.random(len(A)), rng.random((2, DOUBLE_WIDTH))
    W = rng.normal(size=(A.shape[1], DOUBLE_WIDTH)) * rng.choice([1, 300])
    D, (G, M) = np.zeros(Y.shape), np.zeros((2, *W.shape))
    sparse_slopes(*rows, Y, weight, C, W, D, G, M)
    with np.errstate(over="ignore"):
        P = 1 / (1 + np.exp(-(A @ W)))
    cost = weight[:, np.newaxis] * np.where(Y == 1, C[1], C[0])
    assert_allclose(D, cost * P * (1 - P), rtol=1e-10, atol=1e-12)
    assert_allclose(G, A.T @ (cost * (P - Y)), rtol=1e-10, atol=1e-12)
    assert_allclose(M, np.square(A).T @ (cost * P * (1 - P)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(10, 30))
def test_curvatures(seed):
    rng = np.random.default_rng(seed)
    rows, A = draw_rows(rng, np.float32)
    D, labels = rng.random((len(A), 5), dtype=np.float32), rng.integers(0, 5, size=SINGLE_WIDTH)
    S = rng.normal(size=(A.shape[1], SINGLE_WIDTH)).astype(np.float32)
    Q = np.zeros_like(S)
    sparse_curvatures(*rows, D, labels, S, Q)
    assert_allclose(Q, A.T @ (D[:, labels] * (A @ S)), rtol=1e-3, atol=1e-4)
