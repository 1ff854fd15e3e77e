"""The search of one block of queries, compiled: labelsets in order of how good they can be.

For one query the kernel

1. finds the labelset with the smallest label distance, in the trie of labelsets,
2. finds its nearest member: a score to beat,
3. puts the labelsets that may beat it on a heap, by the lowest score they can have: their label
   distance is known, and their feature distance is at least that of the box around their sketches,
4. takes labelsets from the heap until the lowest score left is worse than the k-th best found.

The nearest member of a labelset: its cells come in the order of the gap between the query and the
box around their sketches, until that is wider than the nearest distance found. Within a cell there
are three ways to a distance, one for each kind of rows: packed bits, dense rows and sparse rows.
Numba compiles the one that it is called for.

Bounds are loosened by more than rounding can amount to, and the distances that count are sums of
squared differences, so nothing that is skipped could have won or tied.

Numba compiles again when the file of a cached kernel has changed, and looks at no other file. So
all that is compiled into it is here: the kernels that it calls, constants, and named tuples.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload
from numpy.typing import NDArray

from nldd._kernels import cached_kernel

# Distances closer than this, relative to their size, are equal: they differ by rounding alone. Who
# wins then: Dy, then Dx, then the lowest row.
TIE = 1e-9
# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE
EPSILON = np.finfo(np.float64).eps
# Numbers in a sketch. Fixed, so that the compiler can unroll loops: one or two vector registers.
COORDINATES = 16

# Kernels may run in several threads, and allocate nothing: so they can do without numba's reference
# counts, which are atomic, and with which searches took 3 % (tmc2007) to 20 % (bibtex) longer.
OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
# What Python would need to call one takes as long to compile as itself, so only the one that it
# calls has that.
kernel: Any = partial(njit, no_cpython_wrapper=True, **OPTIONS)
# Functions that take many arrays and are called often are compiled into their caller, because
# passing the arrays costs as much as using them.
inlined_kernel = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
sum_kernel = partial(kernel, fastmath={"reassoc", "contract"})


class Groups(NamedTuple):
    """Training rows by labelset, and within a labelset by cell, as the compiled search reads them.

    Labelset u has the labels from ``label_starts[u]`` to ``label_starts[u + 1]`` and likewise its
    cells, and each cell its rows. Boxes, lowest and highest corner, are around the sketches of
    rows, and `number` tells which training row each one is.
    """

    trie: NDArray[np.int32]

    label_starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    cell_starts: NDArray[np.int64]
    box: NDArray[np.float32]
    row_starts: NDArray[np.int64]
    cell_box: NDArray[np.float32]
    sketch: NDArray[np.float32]
    number: NDArray[np.int64]


class DenseRows(NamedTuple):
    """Dense features, in stretches."""

    dense: NDArray[np.float64]


class PackedRows(NamedTuple):
    """Features of 0 and 1, as words of 64."""

    bits: NDArray[np.uint64]
    squared_norms: NDArray[np.float64]


class SparseRows(NamedTuple):
    """Features as a CSR matrix."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    squared_norms: NDArray[np.float64]


class Found(NamedTuple):
    """What the kernel fills: arrays of shape (n_queries, k), and the rows evaluated per query."""

    row: NDArray[np.int64]
    labelset: NDArray[np.int64]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    score: NDArray[np.float64]
    evaluated: NDArray[np.int64]


def by_type(choose: Any) -> Any:
    """Decorator: a kernel that `choose` makes of the type of its first argument, a named tuple.

    Only the way that is called for is compiled, and the caller is the same for all of them.
    """

    def stub(*args: Any) -> Any:
        raise NotImplementedError("Kernels alone can call this.")

    overload(stub, jit_options=OPTIONS, strict=False)(
        lambda first, *others: choose(first.instance_class)
    )
    return stub


@cached_kernel(**OPTIONS)
def query_block(rows, groups, queries, bounds_all, least, sketch, slack, P, score, found, room):
    """Fill `found` with the k best labelsets of each query, k being its width.

    `bounds_all` has lower bounds of all squared feature distances, (n_queries, n_rows), where that
    is the cheaper way, or room for those of one query at a time, (1, n_rows), and elsewhere none,
    (1, 0). No Dx of a query is below `least`. `slack` says how far a distance between sketches can
    be off. ``found.score`` is infinite at the start. The row that is found is a position in `rows`.
    """
    evaluated, k = found.evaluated, found.row.shape[1]
    numbers, positions, seen_keys, x = room
    Dy2, bounds, gaps, tied_Dx = numbers[0], numbers[1], numbers[2], numbers[3]
    gains, after, path = numbers[4], numbers[5], numbers[6]
    by_bound, by_gap, tied = positions[0], positions[1], positions[2]
    seen_row, seen_labelset = positions[3], positions[4]
    n_labels = P.shape[1]
    doubt = 2 * (n_labels + 8) * EPSILON * n_labels  # rounding of Dy^2
    for i in range(len(P)):
        lower = bounds_all[i % len(bounds_all)]
        prepare(queries, rows, i, x, lower)
        best = found.score[i]
        path[0] = _gains(P, i, gains, after)
        n_near = labelsets_within(groups.trie, gains, after, path, np.inf, 0.0, by_bound, Dy2)
        if n_near == 0:
            raise ValueError("No labelset has a finite label distance.")
        first = by_bound[n_near - 1]
        n_seen, n_left, evaluated[i], u = 0, 0, len(lower), first
        while True:
            # The nearest member of labelset u, no farther away than can still win.
            dy = np.sqrt(max(0.0, Dy2[u] - doubt))
            limit = _farthest(score, best[k - 1] * SLACK, dy)
            at, dx, looked = nearest_member(
                rows, groups, u, queries, lower, i, x, sketch, slack[i], limit,
                gaps, by_gap, tied_Dx, tied,
            )  # fmt: skip
            evaluated[i] += looked
            if at >= 0:
                dy = _label_distance(P, i, groups.label_starts, groups.labels, u)
                seen_row[n_seen], seen_labelset[n_seen] = at, u
                total = _score(score, dx, dy)
                seen_keys[n_seen, 0], seen_keys[n_seen, 1], seen_keys[n_seen, 2] = total, dy, dx
                keep_smallest(best, total)
                n_seen += 1
            cut = best[k - 1] * SLACK
            if u == first:
                n_left = _candidates(
                    groups, lower, least[i], i, gains, after, path, Dy2, doubt, first, sketch,
                    slack[i], score, cut, bounds, by_bound,
                )  # fmt: skip
            if n_left == 0 or bounds[0] > cut:
                break
            u = by_bound[0]
            n_left = pop(bounds, by_bound, n_left)
        if n_seen < k:
            raise ValueError("Too few labelsets have a finite score.")
        _take_best(found, i, seen_row, seen_labelset, seen_keys, n_seen, groups.number, tied)
        clear(queries, i, x)


@inlined_kernel
def _take_best(found, i, seen_row, seen_labelset, seen_keys, n_seen, number, tied):
    """The best labelsets that were seen, in order, as the answer to query i."""
    for j in range(found.row.shape[1]):
        chosen = best_of(seen_keys, seen_row, n_seen, number, tied)
        found.row[i, j], found.labelset[i, j] = seen_row[chosen], seen_labelset[chosen]
        found.Dy[i, j], found.Dx[i, j] = seen_keys[chosen, 1], seen_keys[chosen, 2]
        # The last one takes its place, and is no longer looked at where it was.
        n_seen -= 1
        seen_row[chosen], seen_labelset[chosen] = seen_row[n_seen], seen_labelset[n_seen]
        for key in range(seen_keys.shape[1]):
            seen_keys[chosen, key] = seen_keys[n_seen, key]


@kernel
def _score(score, Dx, Dy):
    x, y, is_product = score
    return Dx**x * Dy**y if is_product else x * Dx + y * Dy


@kernel
def _farthest(score, cut, Dy):
    """The largest Dx whose score with this Dy is not above the cut."""
    x, y, is_product = score
    if x == 0:
        return np.inf
    if not is_product:
        return max(0.0, (cut - y * Dy) / x)
    factor = Dy**y
    return np.inf if factor == 0 else (cut / factor) ** (1 / x)


@kernel
def _gains(P, i, gains, after):
    """Fill what each label adds to a squared label distance; returns that of no labels at all.

    ``|p - y|^2 = |p|^2 + sum of (1 - 2 p) over the labels in y``, because ``y^2 = y``. Labels count
    from 1 here, and the root of the trie is 0. Labels after each one can only take away so much
    as `after` says.
    """
    total, gains[0], after[P.shape[1]] = 0.0, 0.0, 0.0
    for label in range(P.shape[1], 0, -1):
        p = P[i, label - 1]
        total += p * p
        gains[label] = 1 - 2 * p
        after[label - 1] = after[label] + min(0.0, gains[label])
    return total


@kernel
def labelsets_within(trie, gains, after, path, widest, margin, within, Dy2):
    """Labelsets whose squared label distance, up to rounding, is at most `widest`: their number.

    Of a subtree that can have none of them only the root is looked at. None is farther than those
    before it by more than the margin; so without a margin the last one is the nearest of all.
    """
    node, n = 0, 0
    while node < len(trie):
        label, depth, u = trie[node, 0], trie[node, 1], trie[node, 3]
        square = path[depth] + gains[label]
        if square + after[label] > widest:
            node = trie[node, 2]
            continue
        path[depth + 1] = square
        if u >= 0 and square <= widest:
            within[n], Dy2[u] = u, square
            n += 1
            widest = min(widest, square + margin)
        node += 1
    return n


@kernel
def _label_distance(P, i, label_starts, labels, u):
    """Label distance by subtraction: 0 where p is the labelset."""
    square = 0.0
    t, end = label_starts[u], label_starts[u + 1]
    for label in range(P.shape[1]):
        if t < end and labels[t] == label:
            square += (1 - P[i, label]) * (1 - P[i, label])
            t += 1
        else:
            square += P[i, label] * P[i, label]
    return np.sqrt(square)


@inlined_kernel
def _candidates(
    groups, lower, least, i, gains, after, path, Dy2, doubt, first, sketch, slack, score, cut,
    bounds, by_bound,
):  # fmt: skip
    """Heap of the labelsets, but for `first`, whose lowest possible score is within the cut."""
    # What Dy^2 may be at most with the smallest Dx that any row can have: for most labelsets no
    # more than this is looked at.
    x, y, is_product = score
    widest = np.inf
    if not is_product and y > 0:
        largest = max(0.0, cut - x * least) / y
        widest = largest * largest + doubt
    n_within = labelsets_within(groups.trie, gains, after, path, widest, np.inf, by_bound, Dy2)
    cell_starts, row_starts, box = groups.cell_starts, groups.row_starts, groups.box
    n = 0
    for t in range(n_within):
        u = by_bound[t]
        if u == first:
            continue
        if len(lower) > 0:
            start, stop = row_starts[cell_starts[u]], row_starts[cell_starts[u + 1]]
            dx = np.sqrt(max(0.0, lower[likeliest(lower, start, stop)]))
        else:
            dx = max(0.0, np.sqrt(gap(box, u, sketch, i)) - slack)
        lowest = _score(score, dx, np.sqrt(max(0.0, Dy2[u] - doubt)))
        if lowest <= cut:
            bounds[n], by_bound[n] = lowest, u
            n += 1
    heapify(bounds, by_bound, np.int64(n))
    return n


@kernel
def keep_smallest(best, value):
    """Let `value` into the smallest ones so far, which are in rising order."""
    j = len(best) - 1
    if value >= best[j]:
        return
    while j > 0 and best[j - 1] > value:
        best[j] = best[j - 1]
        j -= 1
    best[j] = value


@kernel
def best_of(keys, at, n, number, tied):
    """The best of n labelsets: smallest score, among equals Dy, then Dx, then the lowest row."""
    for t in range(n):
        tied[t] = t
    for key in range(keys.shape[1]):
        smallest = np.inf
        for t in range(n):
            smallest = min(smallest, keys[tied[t], key])
        n_tied = 0
        for t in range(n):
            if keys[tied[t], key] <= smallest * (1 + TIE):
                tied[n_tied] = tied[t]
                n_tied += 1
        n = n_tied
    chosen = tied[0]
    for t in range(1, n):
        if number[at[tied[t]]] < number[at[chosen]]:
            chosen = tied[t]
    return chosen


@inlined_kernel
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


@sum_kernel
def gap(box, at, sketch, i):
    """Squared distance of sketch i from box `at`; 0 inside."""
    square = np.float32(0)
    for j in range(COORDINATES):
        outside = max(box[at, 0, j] - sketch[i, j], sketch[i, j] - box[at, 1, j], np.float32(0))
        square += outside * outside
    return square


@kernel
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


@kernel
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
    dense, q_dense, bounded, looked = rows.dense, queries.dense, len(lower) > 0, 0
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
        for stretch in range(dense.shape[1]):
            square += _stretch_square(dense, at, q_dense, i, stretch)
            if square > reach * reach:
                break
        else:
            nearest, n_tied = _keep_if_near(at, square, nearest, tied_Dx, tied_at, n_tied)
    return nearest, n_tied, looked


@kernel
def likeliest(lower, start, stop):
    """The row with the smallest bound."""
    chosen, smallest = start, lower[start]
    for at in range(start + 1, stop):
        is_less = lower[at] < smallest  # without a branch, which nobody could predict
        chosen, smallest = at if is_less else chosen, lower[at] if is_less else smallest
    return chosen


@sum_kernel
def _sketch_square(sketches, at, q_sketch, i):
    square = np.float32(0)
    for j in range(COORDINATES):
        difference = sketches[at, j] - q_sketch[i, j]
        square += difference * difference
    return square


@sum_kernel
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


@kernel
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


@inlined_kernel
def heapify(keys, items, n):
    """Make the first n entries a heap: the smallest key at 0."""
    for root in range(n // 2 - 1, -1, -1):
        _sift(keys, items, root, n)


@inlined_kernel
def pop(keys, items, n):
    """Take the smallest off a heap of n entries; returns how many are left."""
    n -= 1
    keys[0], items[0] = keys[n], items[n]
    _sift(keys, items, np.int64(0), n)
    return n


@kernel
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
