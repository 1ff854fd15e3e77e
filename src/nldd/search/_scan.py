"""The nearest member of one labelset, compiled.

Cells come in the order of the gap between the query and the box around their sketches, until that
is wider than the nearest distance found. Within a cell there are three ways to a distance, one a
kind of rows: packed bits, dense rows and sparse rows. Numba compiles the one that it is called for.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from nldd._kernels import by_type, inlined_kernel, kernel, sum_kernel
from nldd.search._distances import COORDINATES, EPSILON, SLACK, TIE
from nldd.search._layout import DenseRows, PackedRows, SparseRows


@inlined_kernel()
def nearest_member(
    rows, groups, u, queries, lower, i, x, sketch, slack, limit, gaps, by_gap, tied_Dx, tied_at
):  # fmt: skip
    """Member of labelset u nearest to query i, if within the limit: position, Dx, rows evaluated.

    Among members equally near, the one that comes first in the training data.
    """
    first, end = groups.cell_starts[u], groups.cell_starts[u + 1]
    # The box of a single cell is that of the labelset, seen before; with bounds of all rows, cells
    # do not matter.
    n_gaps = 1
    if len(lower) == 0 and end - first > 1:
        n_gaps = end - first
        for c in range(n_gaps):
            gaps[c], by_gap[c] = gap(groups.cell_box, first + c, sketch, i), c
        heapify(gaps, by_gap, n_gaps)
    else:
        gaps[0], by_gap[0] = 0.0, 0
    nearest, n_tied, looked = limit, 0, 0
    while n_gaps > 0 and np.sqrt(gaps[0]) - slack <= nearest * SLACK:
        cell = first + by_gap[0]
        n_gaps = pop(gaps, by_gap, n_gaps)
        start = groups.row_starts[cell]
        stop = groups.row_starts[cell + 1 if len(lower) == 0 else end]
        nearest, n_tied, n = scan(
            rows, groups.sketch, start, stop, queries, lower, i, x, sketch, slack,
            nearest, tied_Dx, tied_at, n_tied,
        )  # fmt: skip
        looked += n
    chosen = -1
    for t in range(n_tied):
        if tied_Dx[t] <= nearest * (1 + TIE) and (
            chosen < 0 or groups.number[tied_at[t]] < groups.number[tied_at[chosen]]
        ):
            chosen = t
    if chosen < 0:
        return -1, np.inf, looked
    return tied_at[chosen], tied_Dx[chosen], looked


@sum_kernel()
def gap(box, at, sketch, i):
    """Squared distance of sketch i from box `at`; 0 inside."""
    square = np.float32(0)
    for j in range(COORDINATES):
        outside = max(box[at, 0, j] - sketch[i, j], sketch[i, j] - box[at, 1, j], np.float32(0))
        square += outside * outside
    return square


@kernel()
def _keep_if_near(at, square, nearest, tied_Dx, tied_at, n_tied):
    """Note row `at` if it is as near as the nearest so far, or nearer."""
    dx = np.sqrt(square)
    if dx > nearest * (1 + TIE):
        return nearest, n_tied
    tied_Dx[n_tied], tied_at[n_tied] = dx, at
    return min(nearest, dx), n_tied + 1


@by_type
def scan(rows):
    """Way to the rows from `start` to `stop` that may be the nearest: those evaluated are counted.

    Rows whose bound is too far are skipped: that in `lower`, if there is one, which counts as a
    look at all rows, or else that of the sketches.
    """
    return {DenseRows: _scan_dense, PackedRows: _scan_packed, SparseRows: _scan_sparse}[rows]


def _scan_packed(
    rows, sketches, start, stop, queries, lower, i, x, sketch, slack,
    nearest, tied_Dx, tied_at, n_tied,
):  # fmt: skip
    """Rows of 0 and 1, packed: the squared distance is a count, so it is exact."""
    norm = queries.squared_norms[i]
    for at in range(start, stop):
        square = rows.squared_norms[at] + norm - 2.0 * overlap(rows.bits, at, queries.bits, i)
        reach = nearest * SLACK
        if square <= reach * reach:
            nearest, n_tied = _keep_if_near(at, square, nearest, tied_Dx, tied_at, n_tied)
    return nearest, n_tied, stop - start


@kernel()
def overlap(bits, at, q_bits, i):
    """How many bits two rows of 64-bit words have in common."""
    count = np.uint64(0)
    for j in range(bits.shape[1]):
        v = bits[at, j] & q_bits[i, j]
        v -= (v >> np.uint64(1)) & np.uint64(0x5555555555555555)
        v = (v & np.uint64(0x3333333333333333)) + (
            (v >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        count += (v * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return count


def _scan_dense(
    rows, sketches, start, stop, queries, lower, i, x, sketch, slack,
    nearest, tied_Dx, tied_at, n_tied,
):  # fmt: skip
    """Rows by subtraction, a stretch of features at a time until they are too far."""
    bounded, looked = len(lower) > 0, 0
    likely = likeliest(lower, start, stop) if bounded else start
    for at in range(likely, likely + stop - start):
        at = at if at < stop else at - stop + start  # from the likeliest one around
        reach = nearest * SLACK
        if bounded:
            if lower[at] > reach * reach:
                continue
        elif _sketch_square(sketches, at, sketch, i) > (reach + slack) * (reach + slack):
            continue
        else:
            looked += 1
        square = 0.0
        for stretch in range(rows.dense.shape[1]):
            square += _stretch_square(rows.dense, at, queries.dense, i, stretch)
            if square > reach * reach:
                break
        else:
            nearest, n_tied = _keep_if_near(at, square, nearest, tied_Dx, tied_at, n_tied)
    return nearest, n_tied, looked


@kernel()
def likeliest(lower, start, stop):
    """The row with the smallest bound."""
    chosen, smallest = start, lower[start]
    for at in range(start + 1, stop):
        is_less = lower[at] < smallest  # without a branch, which nobody could predict
        chosen, smallest = at if is_less else chosen, lower[at] if is_less else smallest
    return chosen


@sum_kernel()
def _sketch_square(sketches, at, q_sketch, i):
    square = np.float32(0)
    for j in range(COORDINATES):
        difference = sketches[at, j] - q_sketch[i, j]
        square += difference * difference
    return square


@sum_kernel()
def _stretch_square(dense, at, q_dense, i, stretch):
    square = 0.0
    for j in range(dense.shape[2]):
        difference = dense[at, stretch, j] - q_dense[i, stretch, j]
        square += difference * difference
    return square


def _scan_sparse(
    rows, sketches, start, stop, queries, lower, i, x, sketch, slack,
    nearest, tied_Dx, tied_at, n_tied,
):  # fmt: skip
    """Rows by a dot product, which rounding makes inexact; by subtraction if they may be near."""
    starts, columns, values = rows.starts, rows.columns, rows.values
    squared_norms, size = rows.squared_norms, queries.squared_norms[i]
    n_stored = queries.starts[i + 1] - queries.starts[i] + 8
    looked = 0
    for at in range(start, stop):
        reach = nearest * SLACK
        if _sketch_square(sketches, at, sketch, i) > (reach + slack) * (reach + slack):
            continue
        looked += 1
        product = 0.0
        for t in range(starts[at], starts[at + 1]):
            product += values[t] * x[columns[t]]
        # A sum of n terms is off by at most about n * eps times their size.
        sizes = size + squared_norms[at]
        doubt = (starts[at + 1] - starts[at] + n_stored) * EPSILON * sizes
        if sizes - 2 * product - doubt > reach * reach:
            continue
        square = _squared_difference(
            starts, columns, values, at, queries.starts, queries.columns, queries.values, i
        )
        if square <= reach * reach:
            nearest, n_tied = _keep_if_near(at, square, nearest, tied_Dx, tied_at, n_tied)
    return nearest, n_tied, looked


@kernel()
def _squared_difference(starts, columns, values, at, q_starts, q_columns, q_values, i):
    """Sum of squared differences of two sparse rows, their columns merged in order."""
    t, t_end = starts[at], starts[at + 1]
    s, s_end = q_starts[i], q_starts[i + 1]
    square = 0.0
    while t < t_end and s < s_end:
        a, b = columns[t], q_columns[s]
        difference = 0.0
        if a <= b:
            difference += values[t]
            t += 1
        if b <= a:
            difference -= q_values[s]
            s += 1
        square += difference * difference
    for left in range(t, t_end):
        square += values[left] * values[left]
    for left in range(s, s_end):
        square += q_values[left] * q_values[left]
    return square


@by_type
def prepare(queries):
    """What is done before the search for one query."""
    return {SparseRows: _spread, PackedRows: _measure_all}.get(queries, _nothing_to_do)


def _spread(queries, rows, i, x, lower):
    """Write a sparse query into the dense vector x."""
    for t in range(queries.starts[i], queries.starts[i + 1]):
        x[queries.columns[t]] = queries.values[t]


def _measure_all(queries, rows, i, x, lower):
    """Packed rows are quick enough to be all measured, where labels rule nothing out."""
    for at in range(len(lower)):
        both = rows.squared_norms[at] + queries.squared_norms[i]
        lower[at] = both - 2.0 * overlap(rows.bits, at, queries.bits, i)


def _nothing_to_do(queries, *others):
    pass


@by_type
def clear(queries):
    """What is done after it."""
    return _zero if queries is SparseRows else _nothing_to_do


def _zero(queries, i, x):
    for t in range(queries.starts[i], queries.starts[i + 1]):
        x[queries.columns[t]] = 0.0


@inlined_kernel()
def heapify(keys, items, n):
    """Make the first n entries a heap: the smallest key at 0."""
    for root in range(n // 2 - 1, -1, -1):
        _sift(keys, items, root, n)


@inlined_kernel()
def pop(keys, items, n):
    """Take the smallest off a heap of n entries; returns how many are left."""
    n -= 1
    keys[0], items[0] = keys[n], items[n]
    _sift(keys, items, np.int64(0), n)
    return n


@kernel()
def _sift(keys, items, root, n):
    """Let the entry at `root` sink to its place.

    Of literals, like 0, it would be compiled once more: hence ``np.int64`` where it is called.
    """
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and keys[child + 1] < keys[child]:
            child += 1
        if keys[root] <= keys[child]:
            return
        keys[root], keys[child] = keys[child], keys[root]
        items[root], items[child] = items[child], items[root]
        root = child
