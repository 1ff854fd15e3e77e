"""What else the compiled search reads and writes: named groups of plain arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.search._distances import squared_norms
from nldd.search._groups import Groups

# Features of a dense row that are compared before its distance so far is checked.
STRETCH = 64
# Features of 0 and 1 in a word; one takes about a quarter of the time of a stored number in a dot
# product.
WORD = 64
WORDS_PER_NUMBER = 4


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

    @classmethod
    def of(cls, Z: Any, with_bits: bool) -> "Features":
        """`Z`, dense or CSR, in the form that the kernel reads."""
        norms = squared_norms(Z)
        dense, bits = np.empty((0, 0, 0)), np.empty((0, 0), dtype=np.uint64)
        if not issparse(Z):
            nowhere = np.empty(0, dtype=np.int64)
            return cls(
                _in_stretches(Z), nowhere, nowhere.astype(np.int32), np.empty(0), bits, norms
            )
        if with_bits:
            bits = pack(Z)
        starts, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
        return cls(dense, starts, columns, Z.data, bits, norms)


def _in_stretches(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    n_rows, n_features = Z.shape
    n_stretches = -(-n_features // STRETCH)
    length = -(-n_features // n_stretches)
    dense = np.zeros((n_rows, n_stretches * length))
    dense[:, :n_features] = Z
    return dense.reshape(n_rows, n_stretches, length)


def is_worth_packing(Z: Any) -> bool:
    """Whether the rows are sparse zeros and ones, and not so sparse that most words are empty."""
    if not issparse(Z) or not (Z.data == 1).all():
        return False
    return bool(Z.shape[0] * Z.shape[1] / WORD <= WORDS_PER_NUMBER * Z.nnz)


def pack(Z: Any) -> NDArray[np.uint64]:
    """CSR matrix of ones as words of 64 features, of shape (n_rows, n_words)."""
    n_words = -(-Z.shape[1] // WORD)
    words = np.zeros((Z.shape[0], n_words), dtype=np.uint64)
    row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    word, bit = np.divmod(Z.indices.astype(np.uint64), np.uint64(WORD))
    np.bitwise_or.at(words, (row, word.astype(np.intp)), np.left_shift(np.uint64(1), bit))
    return words


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


def working_memory(groups: Groups, n_columns: int, n_labels: int, k: int) -> tuple[Any, ...]:
    """Arrays for one query at a time, of `n_columns` sparse features, in the kernel's order."""
    n_labelsets = len(groups.low)
    n_cells = int(np.diff(groups.cell_starts).max())
    n_rows = int(np.diff(groups.row_starts[groups.cell_starts]).max())
    number, position = np.float64, np.int64
    shapes: list[tuple[Any, type]] = [
        (n_columns, number),  # x
        (n_labelsets, number),  # Dy2
        (n_labelsets, number),  # bounds
        (n_labelsets, position),  # by_bound
        (n_cells, number),  # gaps
        (n_cells, position),  # by_gap
        (n_rows, number),  # tied_Dx
        (n_rows, position),  # tied_at
        (n_labels, number),  # gains
        (k, number),  # best
        (n_labelsets, position),  # seen_row
        (n_labelsets, position),  # seen_labelset
        ((n_labelsets, 3), number),  # seen_keys
        (3, number),  # smallest
    ]
    return tuple(np.zeros(shape, dtype) for shape, dtype in shapes)


def read_only(arrays: Any) -> Any:
    """The same named tuple with arrays that are read-only.

    In a worker process arrays may be mapped from a file and read-only, which to the compiler is
    another type. Read-only everywhere, they are of one type, and one kernel is compiled.
    """
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return type(arrays)(*views)
