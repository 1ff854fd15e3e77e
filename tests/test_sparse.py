"""Sparse matrices whose indices lie: refused or put in order before compiled code follows them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, csr_matrix, lil_array

from nldd import BinaryRelevance, InputError, NLDDClassifier, PlattSVC
from nldd._labels import as_label_sets
from nldd._validation import to_canonical
from nldd.estimators._mlknn import NeighborIndex
from nldd.search._index import LabelsetIndex, Score

DENSE = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 4.0]])


def changed(X, part, at, value):
    """A sparse matrix in which one number of its structure is another one."""
    getattr(X, part)[at] = value
    return X


BAD = {
    "column beyond": changed(csr_array(DENSE), "indices", 0, 3),
    "column below": changed(csr_array(DENSE), "indices", 0, -1),
    "row beyond, by columns": changed(csc_array(DENSE), "indices", 0, 2),
    "block beyond": changed(bsr_array(DENSE, blocksize=(1, 1)), "indices", 0, 2**20),
    "row beyond all": changed(csr_array(DENSE), "indptr", 1, 2**30),
    "coordinate beyond": changed(coo_array(DENSE), "row", 0, 2**30),
    "list beyond": changed(lil_array(DENSE), "rows", 0, [1, 3]),
}


@pytest.mark.parametrize("X", BAD.values(), ids=BAD)
def test_indices_out_of_range_are_refused_wherever_they_come_in(X, small):
    fitted = BinaryRelevance().fit(small[0][:, :3], small[1])
    doors = [
        lambda: LabelsetIndex(np.eye(3), np.eye(3), np.ones(3)).query(X, DENSE, Score(1, 1)),
        lambda: LabelsetIndex(X, np.eye(2), np.ones(3)),
        lambda: NeighborIndex(np.eye(3)).nearest(X, 1),
        lambda: NLDDClassifier().fit(X, np.eye(2)),
        lambda: fitted.predict(X),
        lambda: PlattSVC().fit(X, [0, 1]),
        lambda: NLDDClassifier().fit(np.eye(2), X),
        lambda: as_label_sets(X, ["a", "b", "c"]),
    ]
    for door in doors:
        with pytest.raises(InputError, match=r"[XY] is a sparse matrix whose indices do not fit"):
            door()


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_what_a_matrix_says_about_its_order_is_not_believed(container):
    X = container(([1.0, 2.0, 3.0, 4.0], [2, 1, 1, 2], [0, 3, 4]), shape=(2, 3))
    X.has_sorted_indices = X.has_canonical_format = True
    Z = to_canonical(X)
    assert_array_equal(Z.indices, [1, 2, 2])
    assert_array_equal(Z.data, [5, 1, 4])
    assert_array_equal(X.indices, [2, 1, 1, 2])  # as it was
    Y = np.eye(2)
    found, expected = (
        LabelsetIndex(M, Y, np.ones(3)).query(M, np.full((2, 2), 0.5), Score(1, 1), k=2)
        for M in (X, container([[0.0, 5.0, 1.0], [0.0, 0.0, 4.0]]))
    )
    assert_array_equal(found.Dx, expected.Dx)
    assert_array_equal(found.row, expected.row)
