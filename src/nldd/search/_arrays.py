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
    """

    dense: NDArray[np.float64]  # (n_rows, n_stretches, n_features_per_stretch), filled with zeros
    starts: NDArray[np.int64]  # of a CSR matrix, as the next two
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    bits: NDArray[np.uint64]  # (n_rows, n_words)
    squared_norms: NDArray[np.float64]

    @classmethod
    def of(cls, Z: Any, with_bits: bool) -> "Features":
        """`Z`, dense or CSR, in the form that the kernel reads."""
        norms, dense = squared_norms(Z), np.empty((0, 0, 0))
        bits = pack(Z) if with_bits else np.empty((0, 0), dtype=np.uint64)
        starts, columns, values = np.empty((3, 0))
        if issparse(Z):
            starts, columns, values = Z.indptr, Z.indices, Z.data
        else:
            dense = _in_stretches(Z)
        return cls(dense, starts.astype(np.int64), columns.astype(np.int32), values, bits, norms)


def _in_stretches(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    n_rows, n_features = Z.shape
    n_stretches = -(-n_features // STRETCH)
    length = -(-n_features // n_stretches)
    padded = np.pad(Z, ((0, 0), (0, n_stretches * length - n_features)))
    return padded.reshape(n_rows, n_stretches, length)


def is_worth_packing(Z: Any) -> bool:
    """Whether the rows are sparse zeros and ones, and not so sparse that most words are empty."""
    is_ones = issparse(Z) and (Z.data == 1).all()
    return bool(is_ones and Z.shape[0] * Z.shape[1] / WORD <= WORDS_PER_NUMBER * Z.nnz)


def pack(Z: Any) -> NDArray[np.uint64]:
    """CSR matrix of ones as words of 64 features, of shape (n_rows, n_words)."""
    words = np.zeros((Z.shape[0], -(-Z.shape[1] // WORD)), dtype=np.uint64)
    row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    word, bit = np.divmod(Z.indices, WORD)
    np.bitwise_or.at(words, (row, word), np.uint64(1) << bit.astype(np.uint64))
    return words


class Found(NamedTuple):
    """What the kernel fills: arrays of shape (n_queries, k), and the rows evaluated per query."""

    row: NDArray[np.int64]
    labelset: NDArray[np.int64]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    evaluated: NDArray[np.int64]


def working_memory(groups: Groups, n_columns: int, n_labels: int, k: int) -> tuple[Any, ...]:
    """Numbers, positions and keys for one query at a time, of so many sparse features.

    What each of them is for stands where the kernel unpacks them.
    """
    n_labelsets = len(groups.low)
    n_cells = np.diff(groups.cell_starts).max()
    n_rows = np.diff(groups.row_starts[groups.cell_starts]).max()
    numbers = (n_columns, n_labelsets, n_labelsets, n_cells, n_rows, n_labels, k, 3)
    positions = (n_labelsets, n_cells, n_rows, n_labelsets, n_labelsets)
    return (
        tuple(np.zeros(size) for size in numbers),
        tuple(np.zeros(size, dtype=np.int64) for size in positions),
        np.zeros((n_labelsets, 3)),
    )


def read_only(arrays: Any) -> Any:
    """The same named tuple with read-only arrays.

    In a worker process they may be mapped from a file, which makes them read-only: to the compiler
    another type. Read-only everywhere, one kernel is compiled.
    """
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return type(arrays)(*views)
