"""Rows grouped by labelset and cell: the same as halving one by one, and as NumPy's unique."""

import numpy as np
import pytest

from nldd.search._layout import distinct_labelsets

# The distinct labelsets


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
