"""The search of one block of queries, compiled: labelsets in order of how good they can be.

For one query the kernel

1. takes the label distance of every labelset,
2. finds the nearest member of the labelset with the smallest one: a score to beat,
3. puts the labelsets that may beat it on a heap, by the lowest score they can have: their label
   distance is known, and their feature distance is at least that of the box around their sketches,
4. takes labelsets from the heap until the lowest score left is worse than the k-th best found.

Bounds are loosened by more than rounding can amount to, and the distances that count are sums of
squared differences, so nothing that is skipped could have won or tied.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from nldd._kernels import (
    cached_kernel,
    inlined_kernel,
    kernel,
    sum_kernel,
    tell_compilation as tell_compilation,
)
from nldd.search._distances import EPSILON, SLACK, TIE
from nldd.search._scan import gap, heapify, nearest_member, overlap, pop


@cached_kernel
def query_block(features, groups, queries, lower, sketch, slack, P, score, known, found, room):
    """Fill `found` with the k best labelsets of each query, k being its width.

    `lower` has lower bounds of all squared feature distances, (n_queries, n_rows), where a matrix
    product was the cheaper way, and is empty elsewhere. `slack` says how far a distance between
    sketches can be off, `known` which score is not below the best one, infinite where nothing is
    known; one a query. The row that is found is a position in `features`.
    """
    evaluated, k = found.evaluated, found.row.shape[1]
    numbers, positions, seen_keys = room
    x, Dy2, bounds, gaps, tied_Dx, gains, best, smallest = numbers
    by_bound, by_gap, tied_at, seen_row, seen_labelset = positions
    n_queries, n_labels = P.shape
    doubt = (n_labels + 8) * EPSILON * n_labels  # rounding of Dy^2
    for i in range(n_queries):
        _scatter(queries.starts, queries.columns, queries.values, i, x, 1.0)
        first = _label_distances(P, i, groups.label_starts, groups.labels, gains, Dy2)
        for j in range(k):
            best[j] = known[i]
        n_seen, n_left, evaluated[i], u = 0, 0, lower.shape[1], first
        while True:
            # The nearest member of labelset u, no farther away than can still win.
            dy = np.sqrt(max(0.0, Dy2[u] - doubt))
            limit = _farthest(score, best[k - 1] * SLACK, dy)
            at, dx, looked = nearest_member(
                features, groups, u, queries, lower, i, x, sketch, slack[i], limit,
                gaps, by_gap, tied_Dx, tied_at,
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
                n_left, looked = _candidates(
                    features, groups, queries, lower, i, Dy2, doubt, first, sketch, slack[i],
                    score, cut, bounds, by_bound,
                )  # fmt: skip
                evaluated[i] += looked
            if n_left == 0 or bounds[0] > cut:
                break
            u = by_bound[0]
            n_left = pop(bounds, by_bound, n_left)
        _take_best(found, i, seen_row, seen_labelset, seen_keys, n_seen, groups.number, smallest)
        _scatter(queries.starts, queries.columns, queries.values, i, x, 0.0)


@inlined_kernel()
def _take_best(found, i, seen_row, seen_labelset, seen_keys, n_seen, number, smallest):
    """The best labelsets that were seen, in order, as the answer to query i."""
    for j in range(found.row.shape[1]):
        chosen = best_of(seen_keys, seen_row, n_seen, number, smallest)
        found.row[i, j], found.labelset[i, j] = seen_row[chosen], seen_labelset[chosen]
        found.Dy[i, j], found.Dx[i, j] = seen_keys[chosen, 1], seen_keys[chosen, 2]
        # The last one takes its place, and is no longer looked at where it was.
        n_seen -= 1
        seen_row[chosen], seen_labelset[chosen] = seen_row[n_seen], seen_labelset[n_seen]
        for key in range(seen_keys.shape[1]):
            seen_keys[chosen, key] = seen_keys[n_seen, key]


@kernel()
def _score(score, Dx, Dy):
    if score.product:
        return Dx**score.x * Dy**score.y
    return score.x * Dx + score.y * Dy


@kernel()
def _farthest(score, cut, Dy):
    """The largest Dx whose score with this Dy is not above the cut."""
    if score.x == 0:
        return np.inf
    if not score.product:
        return max(0.0, (cut - score.y * Dy) / score.x)
    factor = Dy**score.y
    return np.inf if factor == 0 else (cut / factor) ** (1 / score.x)


@kernel()
def _scatter(starts, columns, values, i, x, factor):
    """Write sparse row i, times 1 or 0 to make it zero again, into the dense vector x."""
    if len(starts) > 0:
        for t in range(starts[i], starts[i + 1]):
            x[columns[t]] = factor * values[t]


@kernel()
def _label_distances(P, i, label_starts, labels, gains, Dy2):
    """Squared label distances, up to rounding; returns the labelset with the smallest.

    ``|p - y|^2 = |p|^2 + sum of (1 - 2 p) over the labels in y``, because ``y^2 = y``.
    """
    total = 0.0
    for label in range(P.shape[1]):
        total += P[i, label] * P[i, label]
        gains[label] = 1 - 2 * P[i, label]
    smallest, least = 0, np.inf
    for u in range(len(Dy2)):
        square = total
        for t in range(label_starts[u], label_starts[u + 1]):
            square += gains[labels[t]]
        Dy2[u] = square
        if square < least:
            smallest, least = u, square
    return smallest


@kernel()
def _label_distance(P, i, label_starts, labels, u):
    """Label distance by subtraction: 0 where p is the labelset."""
    square = 0.0
    t, end = label_starts[u], label_starts[u + 1]
    for label in range(P.shape[1]):
        if t < end and labels[t] == label:
            square += (1 - P[i, label]) ** 2
            t += 1
        else:
            square += P[i, label] ** 2
    return np.sqrt(square)


@inlined_kernel()
def _candidates(
    features, groups, queries, lower, i, Dy2, doubt, first, sketch, slack, score, cut,
    bounds, by_bound,
):  # fmt: skip
    """Heap of the labelsets, but for `first`, whose lowest possible score is within the cut.

    Returns their number and the number of rows evaluated.
    """
    # What Dy^2 may be at most if Dx were 0: for most labelsets no more than this is looked at.
    bounded = not score.product and score.y > 0
    widest = (cut / score.y) ** 2 + doubt if bounded else np.inf
    n, looked = 0, 0
    for u in range(len(Dy2)):
        if Dy2[u] > widest or u == first:
            continue
        start = groups.row_starts[groups.cell_starts[u]]
        stop = groups.row_starts[groups.cell_starts[u + 1]]
        if len(lower) > 0:
            dx = np.sqrt(max(0.0, _lowest(lower, i, start, stop)))
        elif len(queries.bits) > 0 and score.y == 0:
            # Labels rule nothing out, and boxes hardly do: the rows themselves are quick enough.
            least = _fewest(features.bits, features.squared_norms, start, stop, queries.bits, i)
            dx = np.sqrt(least + queries.squared_norms[i])
            looked += stop - start
        else:
            dx = max(0.0, np.sqrt(gap(sketch, i, groups.low, groups.high, u)) - slack)
        lowest = _score(score, dx, np.sqrt(max(0.0, Dy2[u] - doubt)))
        if lowest <= cut:
            bounds[n], by_bound[n] = lowest, u
            n += 1
    heapify(bounds, by_bound, n)
    return n, looked


@sum_kernel()
def _lowest(lower, i, start, stop):
    """Smallest bound of query i in a range of rows."""
    smallest = np.inf
    for at in range(start, stop):
        smallest = min(smallest, lower[i, at])
    return smallest


@kernel()
def _fewest(bits, squared_norms, start, stop, q_bits, i):
    """Smallest squared distance in a range of packed rows, but for the size of the query."""
    smallest = np.inf
    for at in range(start, stop):
        smallest = min(smallest, squared_norms[at] - 2.0 * overlap(bits, at, q_bits, i))
    return smallest


@kernel()
def keep_smallest(best, value):
    """Let `value` into the smallest ones so far, which are in rising order."""
    j = len(best) - 1
    if value >= best[j]:
        return
    while j > 0 and best[j - 1] > value:
        best[j] = best[j - 1]
        j -= 1
    best[j] = value


@kernel()
def best_of(keys, at, n, number, smallest):
    """The best of n labelsets: smallest score, among equals Dy, then Dx, then the lowest row."""
    for key in range(keys.shape[1]):
        smallest[key] = np.inf
        for t in range(n):
            if _is_tied(keys, t, smallest, key):
                smallest[key] = min(smallest[key], keys[t, key])
    chosen = -1
    for t in range(n):
        if _is_tied(keys, t, smallest, len(smallest)) and (
            chosen < 0 or number[at[t]] < number[at[chosen]]
        ):
            chosen = t
    return chosen


@kernel()
def _is_tied(keys, t, smallest, n_keys):
    """Whether the first keys of entry t are equal, up to rounding, to the smallest."""
    for key in range(n_keys):  # noqa: SIM110 (the compiler knows no generators)
        if keys[t, key] > smallest[key] * (1 + TIE):
            return False
    return True
