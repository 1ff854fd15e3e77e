"""The smallest of many, compiled: a heap, the k smallest, and the best under the rule for ties."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from nldd.search._compile import kernel
from nldd.search._ties import TIE


@kernel()
def heapify(keys, items, n):
    """Make the first n entries a heap: the smallest key at 0."""
    for root in range(n // 2 - 1, -1, -1):
        _sift(keys, items, root, n)


@kernel()
def pop(keys, items, n):
    """Take the smallest off a heap of n entries; returns how many are left."""
    n -= 1
    keys[0], items[0] = keys[n], items[n]
    _sift(keys, items, 0, n)
    return n


@kernel()
def _sift(keys, items, root, n):
    """Let the entry at `root` sink to its place."""
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and keys[child + 1] < keys[child]:
            child += 1
        if keys[root] <= keys[child]:
            return
        keys[root], keys[child] = keys[child], keys[root]
        items[root], items[child] = items[child], items[root]
        root = child


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
