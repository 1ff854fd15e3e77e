"""The search of one block of queries, compiled: labelsets in order of how good they can be.

For one query the kernel

1. finds the labelset with the smallest label distance, in the trie of labelsets,
2. finds its nearest member: a score to beat,
3. lists the labelsets that may beat it, by the lowest score they can have: their label distance is
   known, and their feature distance is at least that of the nearest of their cells,
4. visits them, the likeliest first, unless their lowest score is above the k-th best found.

The nearest member of a labelset: its cells, the likeliest first, unless they are farther than the
nearest row found. How far a cell or a row is at least is known from sketches, or from bounds of the
distances to all rows. There are three ways to a distance, for dense, packed and sparse rows. The
two that a search does not need are None, and the compiler leaves out what is done if they are not.

Bounds are loosened by more than rounding can amount to, and the distances that count are sums of
squared differences, so nothing that is skipped could have won or tied.

Numba compiles again when the file of a cached kernel has changed, and looks at no other file. So
all that is compiled into it is here: the kernels that it calls, constants, and named tuples.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


def cached_kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: ``njit`` that is kept on disk, wherever there is a folder to write to.

    Numba compiles again when the file of the function has changed, and looks at no other file. So
    all that is compiled into it has to be in that file: kernels, constants, options, named tuples.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # neither beside the file nor in the user's folder
            return njit(**options)(function)

    return decorate


# Distances closer than this, relative to their size, are equal: they differ by rounding alone. Who
# wins then: Dy, then Dx, then the lowest row.
TIE = 1e-9
# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE
EPSILON = np.finfo(np.float64).eps
# Numbers in a sketch. Fixed, so that the compiler can unroll loops: one or two vector registers.
COORDINATES = 16

# Kernels may run in several threads, and allocate nothing: so they can do without numba's reference
# counts, which are atomic, and with which searches took up to half as long again.
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

    Labelset u has the cells from ``cell_starts[u]`` to ``cell_starts[u + 1]``, and likewise each
    cell its rows. Boxes, lowest and highest corner, are around the sketches of the rows of a cell,
    and `number` tells which training row each one is.
    """

    trie: NDArray[np.int32]
    labelsets: NDArray[np.int8]
    cell_starts: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    box: NDArray[np.float32]
    sketch: NDArray[np.float32]
    number: NDArray[np.int64]


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


@cached_kernel(**OPTIONS)
def query_block(
    groups, dense, packed, sparse, bounds_all, least, sketch, slack, P, score,
    found, Dx, Dy, evaluated, room,
):  # fmt: skip
    """Fill `found` (row, labelset), `Dx` and `Dy` with the k best of each query, k their width.

    One of `dense`, `packed` and `sparse` has the features of rows and of queries. `bounds_all` has
    lower bounds of all squared feature distances, (n_queries, n_rows), or room for those of one
    query at a time, (1, n_rows), or none, (1, 0); then there is a `sketch` of each query, and
    `slack` says how far its distances can be off. No Dx of a query is below `least`. The row that
    is found is a position among the rows.
    """
    k, n_labels = found.shape[2], P.shape[1]
    numbers, positions, seen_keys = room
    Dy2, lowest, gaps, tied_Dx, best = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    gains, after, path = numbers[5], numbers[6], numbers[7]
    within, candidates, tied = positions[0], positions[1], positions[2]
    seen_row, seen_labelset = positions[3], positions[4]
    doubt = 2 * (n_labels + 8) * EPSILON * n_labels  # rounding of Dy^2
    for i in range(len(P)):
        lower = bounds_all[i % len(bounds_all)]
        _prepare(packed, sparse, i, lower)
        for j in range(k):
            best[j] = np.inf
        path[0] = _gains(P, i, gains, after)
        n_near = labelsets_within(groups.trie, gains, after, path, np.inf, 0.0, within, Dy2)
        if n_near == 0:
            raise ValueError("No labelset has a finite label distance.")
        candidates[0] = within[n_near - 1]
        lowest[0] = 0.0
        labelset_gap(groups, candidates[0], lower, sketch, i, slack[i], gaps)
        n_seen, n_candidates, t = 0, 1, 0
        evaluated[i] = len(lower)
        while t < n_candidates:
            cut, u = best[k - 1] * SLACK, candidates[t]
            if lowest[t] <= cut:
                # The nearest member of labelset u, no farther away than can still win.
                limit = _farthest(score, cut, np.sqrt(_positive(Dy2[u] - doubt)))
                at, dx, looked = nearest_member(
                    groups, dense, packed, sparse, u, lower, sketch, i, slack[i], gaps, limit,
                    tied_Dx, tied,
                )  # fmt: skip
                evaluated[i] += looked
                if at >= 0:
                    dy = _label_distance(P, i, groups.labelsets, u)
                    seen_row[n_seen], seen_labelset[n_seen] = at, u
                    total = _score(score, dx, dy)
                    seen_keys[n_seen, 0], seen_keys[n_seen, 1], seen_keys[n_seen, 2] = total, dy, dx
                    keep_smallest(best, k, total)
                    n_seen += 1
            if t == 0:
                n_candidates = list_candidates(
                    groups, lower, least[i], sketch, i, slack[i], gains, after, path, Dy2, doubt,
                    score, best[k - 1] * SLACK, gaps, within, lowest, candidates,
                )  # fmt: skip
            t += 1
        if n_seen < k:
            raise ValueError("Too few labelsets have a finite score.")
        _take_best(
            found, Dx, Dy, i, seen_row, seen_labelset, seen_keys, n_seen, groups.number, tied
        )
        _clear(sparse, i)


@kernel
def _take_best(found, Dx, Dy, i, seen_row, seen_labelset, seen_keys, n_seen, number, tied):
    """The best labelsets that were seen, in order, as the answer to query i."""
    for j in range(found.shape[2]):
        chosen = best_of(seen_keys, seen_row, n_seen, number, tied)
        found[0, i, j], found[1, i, j] = seen_row[chosen], seen_labelset[chosen]
        Dy[i, j], Dx[i, j] = seen_keys[chosen, 1], seen_keys[chosen, 2]
        # The last one takes its place, and is no longer looked at where it was.
        n_seen -= 1
        seen_row[chosen], seen_labelset[chosen] = seen_row[n_seen], seen_labelset[n_seen]
        for key in range(seen_keys.shape[1]):
            seen_keys[chosen, key] = seen_keys[n_seen, key]


@kernel
def _positive(number):
    return number if number > 0 else 0.0


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
        return _positive((cut - y * Dy) / x)
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
        after[label - 1] = after[label] - _positive(-gains[label])
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
            if square + margin < widest:
                widest = square + margin
        node += 1
    return n


@kernel
def _label_distance(P, i, labelsets, u):
    """Label distance by subtraction: 0 where p is the labelset."""
    square = 0.0
    for label in range(P.shape[1]):
        difference = P[i, label] - labelsets[u, label]
        square += difference * difference
    return np.sqrt(square)


@inlined_kernel
def list_candidates(
    groups, lower, least, sketch, i, slack, gains, after, path, Dy2, doubt, score, cut, gaps,
    within, lowest, candidates,
):  # fmt: skip
    """Append labelsets whose lowest possible score is within the cut, the likeliest one first."""
    # What Dy^2 may be at most with the smallest Dx that any row can have: for most labelsets no
    # more than this is looked at.
    x, y, is_product = score
    widest = np.inf
    if not is_product and y > 0:
        largest = _positive(cut - x * least) / y
        widest = largest * largest + doubt
    n = 1
    for t in range(labelsets_within(groups.trie, gains, after, path, widest, np.inf, within, Dy2)):
        u = within[t]
        if u == candidates[0]:
            continue
        gap = labelset_gap(groups, u, lower, sketch, i, slack, gaps)
        bound = _score(score, gap, np.sqrt(_positive(Dy2[u] - doubt)))
        if bound <= cut:
            lowest[n], candidates[n] = bound, u
            if bound < lowest[1]:
                lowest[n], candidates[n] = lowest[1], candidates[1]
                lowest[1], candidates[1] = bound, u
            n += 1
    return n


@kernel
def keep_smallest(best, k, value):
    """Let `value` into the k smallest ones so far, which are in rising order."""
    j = k - 1
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
            if keys[tied[t], key] < smallest:
                smallest = keys[tied[t], key]
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
def labelset_gap(groups, u, lower, sketch, i, slack, gaps):
    """Fill how far the cells of labelset u are from query i at least; returns the smallest gap."""
    smallest = np.inf
    for c in range(groups.cell_starts[u], groups.cell_starts[u + 1]):
        if len(lower) > 0:
            start, stop = groups.row_starts[c], groups.row_starts[c + 1]
            gaps[c] = np.sqrt(_positive(np.float64(lower[likeliest(lower, start, stop)])))
        elif sketch is not None:
            square = np.float64(_box_square(groups.box, c, sketch, i))
            gaps[c] = _positive(np.sqrt(square) - slack)
        smallest = gaps[c] if gaps[c] < smallest else smallest
    return smallest


@inlined_kernel
def nearest_member(
    groups, dense, packed, sparse, u, lower, sketch, i, slack, gaps, limit, tied_Dx, tied_at
):  # fmt: skip
    """Member of labelset u nearest to query i, if within the limit: position, Dx, rows evaluated.

    Among members equally near, the one that comes first in the training data.
    """
    first, end = groups.cell_starts[u], groups.cell_starts[u + 1]
    likely = likeliest(gaps, first, end)
    nearest, n_tied, looked = limit, 0, 0
    for step in range(likely, likely + end - first):
        c = step if step < end else step - end + first  # from the likeliest one around
        if gaps[c] > nearest * SLACK:
            continue
        nearest, n_tied, n = scan_cell(
            dense, packed, sparse, groups.sketch, groups.row_starts[c], groups.row_starts[c + 1],
            lower, sketch, i, slack, nearest, tied_Dx, tied_at, n_tied,
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


@inlined_kernel
def scan_cell(
    dense, packed, sparse, sketches, start, stop, lower, sketch, i, slack,
    nearest, tied_Dx, tied_at, n_tied,
):  # fmt: skip
    """Note rows as near as the nearest so far, or nearer; those whose bound is too far are skipped.

    Rows evaluated are counted, unless there are bounds, which count as a look at all rows.
    """
    bounded, looked = len(lower) > 0, 0
    likely = likeliest(lower, start, stop) if bounded else start
    for step in range(likely, likely + stop - start):
        at = step if step < stop else step - stop + start
        reach = nearest * SLACK
        if bounded and lower[at] > reach * reach:
            continue
        beyond = (reach + slack) * (reach + slack)
        if sketch is not None and packed is None and not bounded:  # noqa: SIM102 (pruned by parts)
            if _sketch_square(sketches, at, sketch, i) > beyond:
                continue
        looked += 1
        square = np.inf
        if dense is not None:
            square = _dense_square(dense, at, i, reach * reach)
        if packed is not None:
            square = _packed_square(packed, at, i)
        if sparse is not None and _sparse_bound(sparse, at, i) <= reach * reach:
            square = _sparse_square(sparse, at, i)
        dx = np.sqrt(square)
        if dx <= nearest * (1 + TIE):
            tied_Dx[n_tied], tied_at[n_tied] = dx, at
            n_tied += 1
            nearest = dx if dx < nearest else nearest
    return nearest, n_tied, 0 if bounded else looked


@kernel
def likeliest(lower, start, stop):
    """The row with the smallest bound."""
    chosen, smallest = start, lower[start]
    for at in range(start + 1, stop):
        is_less = lower[at] < smallest  # without a branch, which nobody could predict
        chosen, smallest = at if is_less else chosen, lower[at] if is_less else smallest
    return chosen


@sum_kernel
def _box_square(box, c, sketch, i):
    """Squared distance of sketch i from box c; 0 inside."""
    square = np.float32(0)
    for j in range(COORDINATES):
        below, above = box[c, 0, j] - sketch[i, j], sketch[i, j] - box[c, 1, j]
        outside = below if below > above else above
        outside = outside if outside > 0 else np.float32(0)
        square += outside * outside
    return square


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


@inlined_kernel
def _dense_square(dense, at, i, farthest):
    """By subtraction, a stretch of features at a time until the sum is too large."""
    rows, queries = dense
    square = 0.0
    for stretch in range(rows.shape[1]):
        square += _stretch_square(rows, at, queries, i, stretch)
        if square > farthest:
            break
    return square


@kernel
def _packed_square(packed, at, i):
    """Of rows of 0 and 1 the squared distance is a count, so it is exact."""
    rows, queries = packed
    both = rows.squared_norms[at] + queries.squared_norms[i]
    return both - 2.0 * overlap(rows.bits, at, queries.bits, i)


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


@inlined_kernel
def _sparse_bound(sparse, at, i):
    """A squared distance at most, by a dot product less what rounding may amount to."""
    rows, queries, x = sparse
    start, stop = rows.starts[at], rows.starts[at + 1]
    product = 0.0
    for t in range(start, stop):
        product += rows.values[t] * x[rows.columns[t]]
    # A sum of n terms is off by at most about n * eps times their size.
    sizes = queries.squared_norms[i] + rows.squared_norms[at]
    n_terms = stop - start + queries.starts[i + 1] - queries.starts[i] + 8
    return sizes - 2 * product - n_terms * EPSILON * sizes


@kernel
def _sparse_square(sparse, at, i):
    """By subtraction: the sum of squared differences, columns merged in order."""
    rows, queries, _ = sparse
    t, t_end = rows.starts[at], rows.starts[at + 1]
    s, s_end = queries.starts[i], queries.starts[i + 1]
    square = 0.0
    while t < t_end and s < s_end:
        a, b = rows.columns[t], queries.columns[s]
        difference = 0.0
        if a <= b:
            difference += rows.values[t]
            t += 1
        if b <= a:
            difference -= queries.values[s]
            s += 1
        square += difference * difference
    for left in range(t, t_end):
        square += rows.values[left] * rows.values[left]
    for left in range(s, s_end):
        square += queries.values[left] * queries.values[left]
    return square


@kernel
def _prepare(packed, sparse, i, lower):
    """Write a sparse query into the dense vector x; measure all packed rows where that pays."""
    if sparse is not None:
        _, queries, x = sparse
        for t in range(queries.starts[i], queries.starts[i + 1]):
            x[queries.columns[t]] = queries.values[t]
    if packed is not None:
        for at in range(len(lower)):
            lower[at] = _packed_square(packed, at, i)


@kernel
def _clear(sparse, i):
    if sparse is not None:
        _, queries, x = sparse
        for t in range(queries.starts[i], queries.starts[i + 1]):
            x[queries.columns[t]] = 0.0
