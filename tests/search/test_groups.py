"""Rows grouped by labelset and cell: the same as halving one by one, and as NumPy's unique."""

from itertools import chain

import numpy as np
import pytest

from nldd.search._layout import distinct_labelsets, split_into_cells


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


@pytest.mark.parametrize("max_rows", [1, 2, 4, 8])
def test_rows_that_lie_on_one_point_are_split_all_the_same(max_rows):
    cells = cells_of(np.zeros(8, dtype=int), np.ones((8, 3), dtype=np.float32), max_rows)
    assert list(chain(*cells)) == list(range(8))
    assert {len(cell) for cell in cells} == {max_rows}


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
        assert labelsets.dtype == np.int8


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
