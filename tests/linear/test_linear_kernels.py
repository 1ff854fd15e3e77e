"""Passes over sparse rows in vectors, against the same passes in plain numba."""

import numpy as np
import plain_kernels
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from nldd.linear import _passes
from nldd.linear._passes import DOUBLE_WIDTH, SINGLE_WIDTH
from problems import seeds


def draw_rows(rng, dtype):
    """CSR rows, some of them empty, as the kernels take them."""
    shape = tuple(rng.integers(1, 60, size=2))
    X = csr_array(rng.normal(size=shape) * (rng.random(shape) < rng.choice([0.02, 0.3, 1.0])))
    where = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return shape, (*where, X.data.astype(dtype))


@pytest.mark.parametrize("seed", seeds(10, 30))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes(seed, dtype):
    rng = np.random.default_rng(seed)
    (n, d), rows = draw_rows(rng, dtype)
    Y = rng.integers(0, 2, size=(n, DOUBLE_WIDTH)).astype(float)
    weight, C = rng.random(n), rng.random((2, DOUBLE_WIDTH))
    W = rng.normal(size=(d + 1, DOUBLE_WIDTH)) * rng.choice([1, 300])
    found, expected = np.zeros((2, n + 2 * (d + 1), DOUBLE_WIDTH))
    for kernels, out in ((_passes, found), (plain_kernels, expected)):
        kernels.sparse_slopes(*rows, Y, weight, C, W, *np.split(out, [n, n + d + 1]))
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", seeds(10, 30))
def test_curvatures(seed):
    rng = np.random.default_rng(seed)
    (n, d), rows = draw_rows(rng, np.float32)
    D, labels = rng.random((n, 5), dtype=np.float32), rng.integers(0, 5, size=SINGLE_WIDTH)
    S = rng.normal(size=(d + 1, SINGLE_WIDTH)).astype(np.float32)
    found, expected = np.zeros((2, *S.shape), dtype=np.float32)
    _passes.sparse_curvatures(*rows, D, labels, S, found)
    plain_kernels.sparse_curvatures(*rows, D, labels, S, expected)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
