import numpy as np
import pytest

from nldd.search._groups import distinct_labelsets


def numpy_unique(Y):
    labelsets, labelset = np.unique(Y, axis=0, return_inverse=True)
    return labelsets.tolist(), labelset.ravel().tolist()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, float])
@pytest.mark.parametrize("n_labels", [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100])
def test_distinct_labelsets_are_those_of_numpy(n_labels, dtype):
    rng = np.random.default_rng(n_labels)
    for density in (0.02, 0.5, 0.98):
        few = rng.random((6, n_labels)) < density
        Y = np.concatenate([few[rng.integers(6, size=20)], few ^ (rng.random(few.shape) < 0.1)])
        labelsets, labelset = distinct_labelsets(Y.astype(dtype))
        assert (labelsets.tolist(), labelset.tolist()) == numpy_unique(Y.astype(dtype))
        assert labelsets.dtype == dtype


def test_distinct_labelsets_come_with_the_first_label_counting_most():
    # Nine labels are two bytes: the ninth counts least although it is alone in its byte.
    Y = np.eye(9, dtype=int)
    labelsets, labelset = distinct_labelsets(Y)
    assert labelsets.tolist() == Y[::-1].tolist()
    assert labelset.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_distinct_labelsets_of_rows_all_alike_is_one():
    labelsets, labelset = distinct_labelsets(np.tile([0, 1, 1], (5, 1)))
    assert (labelsets.tolist(), labelset.tolist()) == ([[0, 1, 1]], [0, 0, 0, 0, 0])


def test_distinct_labelsets_know_the_empty_one():
    labelsets, labelset = distinct_labelsets(np.array([[0, 1], [0, 0], [0, 1]]))
    assert (labelsets.tolist(), labelset.tolist()) == ([[0, 0], [0, 1]], [1, 0, 1])


def test_distinct_labelsets_of_one_row():
    labelsets, labelset = distinct_labelsets(np.array([[1, 0]]))
    assert (labelsets.tolist(), labelset.tolist()) == ([[1, 0]], [0])


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(np.asfortranarray, id="by column, as from a data frame"),
        pytest.param(lambda Y: Y[::-1], id="from the last row"),
        pytest.param(lambda Y: Y[:, ::2], id="every other label"),
        pytest.param(lambda Y: Y.T, id="transposed"),
    ],
)
def test_distinct_labelsets_do_not_depend_on_the_layout_in_memory(view):
    Y = view(np.random.default_rng(0).integers(0, 2, size=(24, 24)))
    labelsets, labelset = distinct_labelsets(Y)
    assert (labelsets.tolist(), labelset.tolist()) == numpy_unique(Y)


def test_distinct_labelsets_leave_their_input_alone():
    Y = np.array([[1, 0], [0, 1]])
    Y.flags.writeable = False
    labelsets, _ = distinct_labelsets(Y)
    labelsets[:] = 7
    assert Y.tolist() == [[1, 0], [0, 1]]
