"""Training rows grouped by labelset, and within a labelset by where they lie."""

import numpy as np
from numpy.typing import NDArray


def split_into_cells(
    labelset: NDArray[np.intp], sketch: NDArray[np.floating], max_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cells of at most `max_rows` rows of one labelset that lie close together.

    Cells are halved at the median of the coordinate in which they are widest, all of them at
    once, until they are small enough.

    Parameters
    ----------
    labelset : ndarray of shape (n_rows,)
    sketch : ndarray of shape (n_rows, n_coordinates)

    Returns
    -------
    order : ndarray of shape (n_rows,)
        Rows, cell by cell; the cells of a labelset are neighbours, in order of labelsets.
    starts : ndarray of shape (n_cells + 1,)
        Where each cell starts in `order`, and the end.

    Examples
    --------
    >>> sketch = np.array([[3.0], [1.0], [2.0], [0.0], [9.0]])
    >>> split_into_cells(np.array([0, 0, 0, 0, 1]), sketch, max_rows=2)
    (array([3, 1, 2, 0, 4]), array([0, 2, 4, 5]))
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
