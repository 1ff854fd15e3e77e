"""What the compiled search reads and writes: named groups of plain arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.search._bits import pack
from nldd.search._distances import squared_norms

# Features of a dense row that are compared before its distance so far is checked.
STRETCH = 64


class Features(NamedTuple):
    """Rows of features: dense, sparse, or sparse and also as bits; what does not apply is empty.

    One type for all kinds means one compiled kernel for all kinds.

    Attributes
    ----------
    dense : ndarray of shape (n_rows, n_stretches, n_features_per_stretch)
        Filled up with zeros, which change no distance.
    starts, columns, values : the arrays of a CSR matrix
    bits : ndarray of shape (n_rows, n_words)
    squared_norms : ndarray of shape (n_rows,)
    """

    dense: NDArray[np.float64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    bits: NDArray[np.uint64]
    squared_norms: NDArray[np.float64]


class Groups(NamedTuple):
    """Training rows by labelset, and within a labelset by cell.

    Attributes
    ----------
    label_starts, labels : labelset u has ``labels[label_starts[u] : label_starts[u + 1]]``
    cell_starts : its cells are ``cell_starts[u]`` to ``cell_starts[u + 1]``
    low, high : ndarray of shape (n_labelsets, n_coordinates)
        Box around the sketches of its rows.
    row_starts : the rows of cell c are ``row_starts[c]`` to ``row_starts[c + 1]``
    cell_low, cell_high : ndarray of shape (n_cells, n_coordinates)
    sketch : ndarray of shape (n_rows, n_coordinates)
    number : ndarray of shape (n_rows,)
        Which training row each one is.
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


class Found(NamedTuple):
    """What the kernel fills: arrays of shape (n_queries, k), and the rows evaluated per query."""

    row: NDArray[np.int64]
    labelset: NDArray[np.int64]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    evaluated: NDArray[np.int64]

    @classmethod
    def empty(cls, n_queries: int, k: int) -> "Found":
        """Room for the answers to so many queries."""
        row, labelset = np.empty((2, n_queries, k), dtype=np.int64)
        Dx, Dy = np.empty((2, n_queries, k))
        return cls(row, labelset, Dx, Dy, np.zeros(n_queries, dtype=np.int64))


class Room(NamedTuple):
    """Working memory for one query at a time; the kernel says what is in it."""

    x: NDArray[np.float64]
    Dy2: NDArray[np.float64]
    bounds: NDArray[np.float64]
    by_bound: NDArray[np.int64]
    gaps: NDArray[np.float64]
    by_gap: NDArray[np.int64]
    tied_Dx: NDArray[np.float64]
    tied_at: NDArray[np.int64]
    gains: NDArray[np.float64]
    best: NDArray[np.float64]
    seen_row: NDArray[np.int64]
    seen_labelset: NDArray[np.int64]
    seen_keys: NDArray[np.float64]
    smallest: NDArray[np.float64]

    @classmethod
    def for_search(cls, groups: Groups, n_columns: int, n_labels: int, k: int) -> "Room":
        """Room for queries of `n_columns` sparse features that ask for `k` labelsets."""
        n_labelsets = len(groups.low)
        n_cells = int(np.diff(groups.cell_starts).max())
        n_rows = int(np.diff(groups.row_starts[groups.cell_starts]).max())

        def number(*shape: int) -> NDArray[np.float64]:
            return np.zeros(shape)

        def position(size: int) -> NDArray[np.int64]:
            return np.zeros(size, dtype=np.int64)

        return cls(
            x=number(n_columns),
            Dy2=number(n_labelsets),
            bounds=number(n_labelsets),
            by_bound=position(n_labelsets),
            gaps=number(n_cells),
            by_gap=position(n_cells),
            tied_Dx=number(n_rows),
            tied_at=position(n_rows),
            gains=number(n_labels),
            best=number(k),
            seen_row=position(n_labelsets),
            seen_labelset=position(n_labelsets),
            seen_keys=number(n_labelsets, 3),
            smallest=number(3),
        )


def as_features(Z: Any, with_bits: bool) -> Features:
    """`Z`, dense or CSR, in the form that the kernel reads."""
    norms = squared_norms(Z)
    dense, values = np.empty((0, 0, 0)), np.empty(0)
    starts, columns = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    bits = np.empty((0, 0), dtype=np.uint64)
    if issparse(Z):
        starts, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
        values = Z.data
        if with_bits:
            bits = pack(Z)
    else:
        dense = _in_stretches(Z)
    return Features(dense, starts, columns, values, bits, norms)


def _in_stretches(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    n_rows, n_features = Z.shape
    n_stretches = -(-n_features // STRETCH)
    length = -(-n_features // n_stretches)
    dense = np.zeros((n_rows, n_stretches * length))
    dense[:, :n_features] = Z
    return dense.reshape(n_rows, n_stretches, length)


def read_only(arrays: Any) -> Any:
    """The same named tuple with arrays that are read-only.

    In a worker process arrays may be mapped from a file and read-only, which to the compiler is
    another type. Read-only everywhere, they are of one type, and one kernel is compiled.
    """
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return type(arrays)(*views)
