"""How rows lie in memory for the compiled search: grouped, and as named groups of plain arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.exceptions import InputError
from nldd.search._distances import squared_norms
from nldd.search._kernels import DenseRows, Groups, PackedRows, SparseRows

# Rows in a cell: fewer make more boxes to look at, more make boxes that are less tight.
CELL_ROWS = 32
# Features of a dense row that are compared before its distance so far is checked.
STRETCH = 64
# Features of 0 and 1 in a word; one takes about a quarter of the time of a stored number in a dot
# product.
WORD = 64
WORDS_PER_NUMBER = 4


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
    label_starts = np.searchsorted(owner, np.arange(len(counts) + 1))
    cell_box = _boxes(sketch, sketch, row_starts[:-1])
    box = _boxes(cell_box[:, 0], cell_box[:, 1], cell_starts)
    cells = np.append(cell_starts, len(row_starts) - 1), box, row_starts, cell_box
    trie = labelset_trie(labelsets)
    return Groups(trie, label_starts, labels.astype(np.int32), *cells, sketch, number[order]), order


def _boxes(
    low: NDArray[np.float32], high: NDArray[np.float32], starts: NDArray[np.intp]
) -> NDArray[np.float32]:
    corners = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    return np.stack(corners, axis=1)


def labelset_trie(labelsets: NDArray[Any]) -> NDArray[np.int32]:
    """Trie of labelsets in lexicographic order: each node adds one label to those above it.

    Nodes come before those below them, in the order of the labelsets. For each one: its label,
    counted from 1; how deep it lies; the next node that is not below it; its labelset, or -1. The
    root, without a label, is first.
    """
    different = labelsets[1:] != labelsets[:-1]
    # Labels before the first difference are those of the labelset before, whose nodes are there.
    first_new = np.append(0, different.argmax(axis=1))
    owner, label = np.nonzero(labelsets)
    n_labels = np.bincount(owner, minlength=len(labelsets))
    depth = np.arange(len(owner)) - np.repeat(np.cumsum(n_labels) - n_labels, n_labels) + 1
    is_new, is_last = label >= first_new[owner], depth == n_labels[owner]
    nodes = np.stack([label + 1, depth, depth, np.where(is_last, owner, -1)], axis=1)[is_new]
    root = [0, 0, 0, -1 if n_labels[0] else 0]
    trie = np.concatenate([[root], nodes]).astype(np.int32)
    for level in range(trie[:, 1].max() + 1):
        (up_to_level,) = np.nonzero(trie[:, 1] <= level)
        following = np.append(up_to_level[1:], len(trie))
        at_level = trie[up_to_level, 1] == level
        trie[up_to_level[at_level], 2] = following[at_level]
    return trie


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


class Features(NamedTuple):
    """Rows of features: dense, sparse, or sparse and also as bits; what does not apply is empty."""

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
            n_stretches = -(-Z.shape[1] // STRETCH)
            padded = np.zeros((len(Z), -(-Z.shape[1] // n_stretches) * n_stretches))
            padded[:, : Z.shape[1]] = Z
            dense = padded.reshape(len(Z), n_stretches, -1)
        return cls(dense, starts.astype(np.int64), columns.astype(np.int32), values, bits, norms)

    def rows(self, packed: bool) -> DenseRows | PackedRows | SparseRows:
        """Only what the kernel needs, which is compiled for each kind of rows by itself."""
        if packed:
            return PackedRows(self.bits, self.squared_norms)
        if len(self.dense) > 0:
            return DenseRows(self.dense)
        return SparseRows(self.starts, self.columns, self.values, self.squared_norms)


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


def check_sizes(
    rows: Features, groups: Groups, queries: Features, lower: NDArray[np.float32]
) -> None:
    """Refuse arrays that do not belong together: the kernel would read beyond their ends."""
    n_rows, n_queries = len(groups.number), len(queries.squared_norms)
    agree = (
        len(rows.squared_norms) == len(groups.sketch) == groups.row_starts[-1] == n_rows
        and len(groups.row_starts) - 1 == groups.cell_starts[-1] == len(groups.cell_box)
        and len(groups.cell_starts) == len(groups.label_starts) == len(groups.box) + 1
        and groups.trie[:, 3].max() + 1 == len(groups.box)
        and groups.label_starts[-1] == len(groups.labels)
        and rows.dense.shape[1:] == queries.dense.shape[1:]
        and len(queries.bits) in (0, n_queries)
        and (len(queries.bits) == 0 or rows.bits.shape[1:] == queries.bits.shape[1:])
        and lower.shape in ((1, 0), (1, n_rows), (n_queries, n_rows))
    )
    if not agree:
        raise InputError("The arrays of the index do not belong together. Build it again.")


def working_memory(groups: Groups, n_columns: int, n_labels: int) -> tuple[Any, ...]:
    """Numbers, positions and keys for one query at a time: see where the kernel unpacks them.

    In few arrays, of which no row is full: each one that the kernel takes costs time to compile.
    """
    n_labelsets = len(groups.box)
    n_rows = np.diff(groups.row_starts[groups.cell_starts]).max()
    size = max(n_labelsets, n_rows, n_labels + 2)
    return (
        np.empty((7, size)),
        np.empty((5, size), dtype=np.int64),
        np.empty((n_labelsets, 3)),
        np.zeros(n_columns),
    )


def read_only(arrays: Any) -> Any:
    """The same named tuple with read-only arrays, as they may be in a worker process, mapped from
    a file: to the compiler that is another type, and a second kernel to compile.
    """
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return type(arrays)(*views)
