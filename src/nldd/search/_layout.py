"""How rows lie in memory for the compiled search: grouped, and as named groups of plain arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.search._distances import squared_norms
from nldd.search._kernels import Groups, PackedRows, SparseRows

# Rows in a cell: fewer make more boxes to look at, more make boxes that are less tight.
CELL_ROWS = 32
# Features of a dense row that are compared before its distance so far is checked.
STRETCH = 64
# Features of 0 and 1 in a word; one takes about a quarter of the time of a stored number in a dot
# product.
WORD = 64
WORDS_PER_NUMBER = 4


def group_rows(
    labelsets: NDArray[np.int8],
    labelset: NDArray[np.intp],
    sketch: NDArray[np.float32],
    number: NDArray[np.int64],
) -> tuple[Groups, NDArray[np.intp]]:
    """Groups of rows whose labelsets, sketches and numbers are given, and the order of the rows.

    Without coordinates in the sketches, the rows of a labelset are one cell.
    """
    max_rows = CELL_ROWS if sketch.shape[1] else len(labelset)
    order, row_starts = split_into_cells(labelset, sketch, max_rows)
    sketch, counts = sketch[order], np.bincount(labelset)
    cell_starts = np.searchsorted(row_starts, np.cumsum(np.append(0, counts)))
    corners = (extreme.reduceat(sketch, row_starts[:-1]) for extreme in (np.minimum, np.maximum))
    box = np.stack([*corners], axis=1)
    trie = labelset_trie(labelsets)
    return Groups(trie, labelsets, cell_starts, row_starts, box, sketch, number[order]), order


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


def distinct_labelsets(Y: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Distinct rows of an indicator array in lexicographic order, and which one each row is.

    What ``np.unique(Y, axis=0)`` gives, from eight labels a byte: the first label is the highest
    bit, so bytes sort as rows do.
    """
    packed = np.packbits(Y.astype(bool, order="C"), axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, labelset = np.unique(keys, return_index=True, return_inverse=True)
    return Y[first].astype(np.int8), labelset.ravel()


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
    """Rows of features in the form that the kernel reads: dense, sparse, or sparse and packed."""

    dense: NDArray[np.float64] | None  # (n_rows, n_stretches, n_features_per_stretch)
    packed: PackedRows | None
    sparse: SparseRows | None

    @classmethod
    def of(cls, Z: Any, with_bits: bool) -> "Features":
        """`Z`, dense or CSR; `with_bits` if it is of ones, and they are wanted."""
        norms = squared_norms(Z)
        if not issparse(Z):
            n_stretches = -(-Z.shape[1] // STRETCH)
            padded = np.zeros((len(Z), -(-Z.shape[1] // n_stretches) * n_stretches))
            padded[:, : Z.shape[1]] = Z
            return cls(padded.reshape(len(Z), n_stretches, -1), None, None)
        starts, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
        packed = PackedRows(pack(Z), norms) if with_bits else None
        return cls(None, packed, SparseRows(starts, columns, Z.data, norms))


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


def read_only(arrays: Any) -> Any:
    """The same arrays, in named tuples within named tuples, read-only.

    As they are in a worker process, mapped from a file. To the compiler that is another type, and
    a second kernel to compile.
    """
    if arrays is None:
        return None
    if isinstance(arrays, tuple):
        return type(arrays)(*map(read_only, arrays))
    view = np.ascontiguousarray(arrays).view()
    view.flags.writeable = False
    return view
