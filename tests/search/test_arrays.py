"""Rows of 0 and 1 as bits."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from ways import callable_kernel

from nldd.search import _kernels
from nldd.search._layout import is_worth_packing, pack

overlap = callable_kernel(_kernels.overlap)
WIDTHS = [1, 63, 64, 65, 129]


def random_ones(rng, n_rows, n_features):
    """From nothing at all to ones only, row by row."""
    return (rng.random((n_rows, n_features)) < np.linspace(0, 1, n_rows)[:, np.newaxis]) * 1.0


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
@pytest.mark.parametrize("n_features", WIDTHS)
def test_pack_puts_feature_j_into_bit_j(n_features, container):
    X = random_ones(np.random.default_rng(n_features), 12, n_features)
    words = pack(container(X))
    assert words.shape == (12, -(-n_features // 64))
    for row, x in zip(words.tolist(), X, strict=True):
        assert sum(word << 64 * j for j, word in enumerate(row)) == sum(
            1 << int(j) for j in np.flatnonzero(x)
        )


@pytest.mark.parametrize("n_features", WIDTHS)
def test_overlap_counts_the_ones_in_common(n_features):
    rng = np.random.default_rng(n_features)
    A, B = random_ones(rng, 9, n_features), random_ones(rng, 11, n_features)[::-1].copy()
    a, b = pack(csr_array(A)), pack(csr_array(B))
    found = [[overlap(a, i, b, j) for j in range(11)] for i in range(9)]
    assert found == (A @ B.T).tolist()
    assert found[-1][0] == n_features  # both full


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
