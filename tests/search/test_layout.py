"""How rows lie in memory: grouped by labelset, and packed as bits where that pays."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from nldd.search._index import distinct_labelsets, is_worth_packing


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
