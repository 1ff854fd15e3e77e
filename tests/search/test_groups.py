"""Rows grouped by labelset and cell: the same as halving one by one, and as NumPy's unique."""

from itertools import chain

import numpy as np
import pytest

from nldd.search._groups import distinct_labelsets, split_into_cells


def naive_cells(rows, sketch, max_rows):
    """Halve at the median of the widest coordinate, one cell at a time."""
    if len(rows) <= max_rows:
        return [rows]
    values = sketch[rows]
    widest = (values.max(axis=0) - values.min(axis=0)).tolist()
    coordinate = widest.index(max(widest))
    rows = sorted(rows, key=lambda row: sketch[row, coordinate])
    half = len(rows) // 2
    return [
        *naive_cells(rows[:half], sketch, max_rows),
        *naive_cells(rows[half:], sketch, max_rows),
    ]


def cells_of(labelset, sketch, max_rows):
    order, starts = split_into_cells(labelset, sketch, max_rows)
    assert (starts[0], starts[-1]) == (0, len(labelset))
    return [part.tolist() for part in np.split(order, starts[1:-1])]


def random_rows(rng):
    """Every labelset present, as in an index; coordinates full of ties or without any."""
    n_labelsets = rng.integers(1, 8)
    more = rng.integers(0, n_labelsets, size=rng.integers(0, 150))
    labelset = rng.permutation(np.r_[np.arange(n_labelsets), more])
    sketch = rng.normal(size=(len(labelset), rng.integers(1, 5)))
    if rng.integers(2):
        sketch = sketch.round()
    return labelset, sketch.astype(np.float32)


def test_split_into_cells_equals_halving_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(60):
        labelset, sketch = random_rows(rng)
        max_rows = int(rng.integers(1, 20))
        expected = []
        for u in range(labelset.max() + 1):
            expected += naive_cells(np.flatnonzero(labelset == u).tolist(), sketch, max_rows)
        assert cells_of(labelset, sketch, max_rows) == expected


def test_cells_hold_every_row_once_and_one_labelset_each():
    rng = np.random.default_rng(1)
    for _ in range(60):
        labelset, sketch = random_rows(rng)
        max_rows = int(rng.integers(1, 20))
        cells = cells_of(labelset, sketch, max_rows)
        assert sorted(chain(*cells)) == list(range(len(labelset)))
        owners = [set(labelset[cell].tolist()) for cell in cells]
        assert all(len(owner) == 1 for owner in owners)
        assert owners == sorted(owners, key=min)
        # Halves of more than `max_rows` rows: cells are no smaller than they need to be.
        for cell in cells:
            assert len(cell) <= max_rows
            whole = np.count_nonzero(labelset == labelset[cell[0]])
            assert whole <= max_rows or len(cell) >= (max_rows + 1) // 2


def test_cells_are_cut_where_they_are_widest():
    # 10 wide and 1 high: two cells side by side, each of them then 1 wide and 1 high.
    sketch = np.array([[0, 0], [10, 1], [1, 1], [9, 0]], dtype=np.float32)
    assert cells_of(np.zeros(4, dtype=int), sketch, 2) == [[0, 2], [3, 1]]
    # Turned by a right angle.
    assert cells_of(np.zeros(4, dtype=int), sketch[:, ::-1], 2) == [[0, 2], [3, 1]]


@pytest.mark.parametrize("max_rows", [1, 2, 4, 8])
def test_rows_that_lie_on_one_point_are_split_all_the_same(max_rows):
    cells = cells_of(np.zeros(8, dtype=int), np.ones((8, 3), dtype=np.float32), max_rows)
    assert list(chain(*cells)) == list(range(8))
    assert {len(cell) for cell in cells} == {max_rows}


def test_labelsets_that_fit_stay_whole_and_in_the_order_of_rows():
    labelset = np.array([1, 0, 1, 2, 0, 1])
    sketch = np.array([[5], [4], [3], [2], [1], [0]], dtype=np.float32)
    assert cells_of(labelset, sketch, 3) == [[1, 4], [0, 2, 5], [3]]


def test_one_row_is_one_cell():
    assert cells_of(np.array([0]), np.zeros((1, 2), dtype=np.float32), 1) == [[0]]


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
