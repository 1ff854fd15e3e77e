"""The search of one block of queries, compiled: labelsets in order of how good they can be.

For one query the kernel

1. finds the labelset with the smallest label distance, in the trie of labelsets,
2. finds its nearest member: a score to beat,
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
    tell_compilation as tell_compilation,
)
from nldd.search._distances import EPSILON, SLACK, TIE
from nldd.search._scan import clear, gap, heapify, likeliest, nearest_member, pop, prepare


@cached_kernel
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


@inlined_kernel()
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


@kernel()
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


@kernel()
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


@inlined_kernel()
def _candidates(
    groups, lower, least, i, gains, after, path, Dy2, doubt, first, sketch, slack, score, cut,
    bounds, by_bound,
):  # fmt: skip
    """Heap of the labelsets, but for `first`, whose lowest possible score is within the cut."""
    # What Dy^2 may be at most with the smallest Dx that any row can have: for most labelsets no
    # more than this is looked at.
    widest = np.inf
    if not score.product and score.y > 0:
        largest = max(0.0, cut - score.x * least) / score.y
        widest = largest * largest + doubt
    n_within = labelsets_within(groups.trie, gains, after, path, widest, np.inf, by_bound, Dy2)
    n = 0
    for t in range(n_within):
        u = by_bound[t]
        if u == first:
            continue
        if len(lower) > 0:
            start = groups.row_starts[groups.cell_starts[u]]
            stop = groups.row_starts[groups.cell_starts[u + 1]]
            dx = np.sqrt(max(0.0, lower[likeliest(lower, start, stop)]))
        else:
            dx = max(0.0, np.sqrt(gap(groups.box, u, sketch, i)) - slack)
        lowest = _score(score, dx, np.sqrt(max(0.0, Dy2[u] - doubt)))
        if lowest <= cut:
            bounds[n], by_bound[n] = lowest, u
            n += 1
    heapify(bounds, by_bound, np.int64(n))
    return n


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
