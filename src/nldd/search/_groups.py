"""How training rows are grouped: by labelset, and within a labelset into cells of near rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows in a cell: fewer make more boxes to look at, more make boxes that are less tight.
CELL_ROWS = 32


class Groups(NamedTuple):
    """Training rows by labelset, and within a labelset by cell, as the compiled search reads them.

    Labelset u has the labels from ``label_starts[u]`` to ``label_starts[u + 1]`` and likewise its
    cells, and each cell its rows. Boxes, from `low` to `high`, are around the sketches of rows, and
    `number` tells which training row each one is.
    """

    label_starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    cell_starts: NDArray[np.int64]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    row_starts: NDArray[np.int64]
    cell_low: NDArray[np.float32]
    cell_high: NDArray[np.float32]
    sketch: NDArray[np.float32]
    number: NDArray[np.int64]


def group_rows(
    labelsets: NDArray[Any],
    labelset: NDArray[np.intp],
    sketch: NDArray[np.float32],
    number: NDArray[np.int64],
) -> tuple[Groups, NDArray[np.intp]]:
    """Groups of rows whose labelsets, sketches and numbers are given, and the order of the rows."""
    order, row_starts = split_into_cells(labelset, sketch, CELL_ROWS)
    sketch = sketch[order]
    counts = np.bincount(labelset)
    cell_starts = np.searchsorted(row_starts, np.cumsum(counts) - counts)
    owner, labels = np.nonzero(labelsets)
    cell_low, cell_high = (
        extreme.reduceat(sketch, row_starts[:-1]) for extreme in (np.minimum, np.maximum)
    )
    label_starts = np.searchsorted(owner, np.arange(len(counts) + 1))
    low = np.minimum.reduceat(cell_low, cell_starts)
    high = np.maximum.reduceat(cell_high, cell_starts)
    cells = np.append(cell_starts, len(row_starts) - 1), low, high, row_starts, cell_low, cell_high
    return Groups(label_starts, labels.astype(np.int32), *cells, sketch, number[order]), order


def distinct_labelsets(Y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct rows of an indicator array in lexicographic order, and which one each row is.

    What ``np.unique(Y, axis=0)`` gives, from eight labels a byte: the first label is the highest
    bit, so bytes sort as rows do.
    """
    packed = np.packbits(Y.astype(bool, order="C"), axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, labelset = np.unique(keys, return_index=True, return_inverse=True)
    return Y[first], labelset.ravel()


def split_into_cells(
    labelset: NDArray[np.intp], sketch: NDArray[np.floating], max_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cells of at most `max_rows` rows of one labelset that lie close together.

    Cells are halved at the median of the coordinate in which they are widest, all of them at
    once, until they are small enough. Returns the rows, cell by cell in order of labelsets, and
    where each cell starts among them, and the end.
    """
    order = np.argsort(labelset, kind="stable")
    is_start = np.diff(labelset[order], prepend=-1) != 0
    while True:
        starts = np.flatnonzero(is_start)
        sizes = np.diff(starts, append=len(order))
        large = np.flatnonzero(sizes > max_rows)
        if len(large) == 0:
            return order, np.append(starts, len(order))
        # Positions of the rows in large cells, and which of the large cells each one is in.
        cell = np.repeat(np.arange(len(large)), sizes[large])
        first = np.cumsum(sizes[large]) - sizes[large]
        position = np.arange(len(cell)) - np.repeat(first - starts[large], sizes[large])
        values = sketch[order[position]]
        width = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
        widest = values[np.arange(len(cell)), width.argmax(axis=1)[cell]]
        order[position] = order[position][np.lexsort((widest, cell))]
        is_start[starts[large] + sizes[large] // 2] = True
