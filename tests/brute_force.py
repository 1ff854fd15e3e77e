"""The search without shortcuts: every distance by one matrix product a block, then the minimum.

The oracle of the fast search on data too large for loops, and its peer in the benchmarks. The
products run in BLAS and rounding is dealt with as in the fast search, so answers are the same.
"""

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from nldd._parallel import delayed, do_all
from nldd.search._distances import exact_distances, scale_rows, squared_norms
from nldd.search._index import Neighbors
from nldd.search._kernels import EPSILON, TIE

BLOCK = 512


def fast_squared_distances(A, B, A_norms, B_norms):
    """``|a|^2 + |b|^2 - 2 a.b`` for all pairs of rows: one matrix product, some rounding."""
    D = np.asarray(safe_sparse_dot(A, B.T, dense_output=True))
    D *= -2
    D += A_norms[:, np.newaxis]
    D += B_norms
    return D


def rounding_bound(n_terms, A_norms, B_norms):
    """How far each row of `fast_squared_distances` can be from the truth."""
    return (n_terms + 8) * EPSILON * (A_norms + B_norms.max(initial=0.0))


class BruteForceIndex:
    def __init__(self, X, Y, scale):
        self.scale = scale
        self.labelsets, labelset = np.unique(Y, axis=0, return_inverse=True)
        self.rows = np.argsort(labelset.ravel(), kind="stable")
        self.counts = np.bincount(labelset.ravel())
        self.starts = np.cumsum(self.counts) - self.counts
        self.Z = scale_rows(X[self.rows], scale)
        self.norms = squared_norms(self.Z)

    def query(self, X, P, score, k=1, n_jobs=None):
        blocks = [slice(start, start + BLOCK) for start in range(0, len(P), BLOCK)]
        tasks = (delayed(self._query_block)(X[block], P[block], score, k) for block in blocks)
        return Neighbors.stack(do_all(tasks, len(blocks), n_jobs))

    def _query_block(self, X, P, score, k):
        A = scale_rows(X, self.scale)
        A_norms = squared_norms(A)
        squares = fast_squared_distances(A, self.Z, A_norms, self.norms)
        bound = rounding_bound(A.shape[1], A_norms, self.norms)[:, np.newaxis]
        nearest = np.minimum.reduceat(squares, self.starts, axis=1)
        query, labelset = self._candidate_labelsets(P, nearest, bound, score, k)
        Dy = exact_distances(P, self.labelsets, query, labelset)
        position, Dx = self._nearest_members(A, squares, nearest + 2 * bound, query, labelset)
        chosen = _k_best(query, (score(Dx, Dy), Dy, Dx, self.rows[position]), k)
        everything = np.full(len(P), len(self.rows))
        found = self.rows[position[chosen]], labelset[chosen], Dx[chosen], Dy[chosen]
        return Neighbors(*found, everything)

    def _candidate_labelsets(self, P, nearest, bound, score, k):
        """Pairs (query, labelset) that may be among the k best whatever the rounding was."""
        Dy2 = (1 - 2 * P) @ self.labelsets.T.astype(float) + squared_norms(P)[:, np.newaxis]
        doubt = (P.shape[1] + 8) * np.finfo(float).eps * P.shape[1]
        lowest = score(_root(nearest - bound), _root(Dy2 - doubt))
        highest = score(_root(nearest + bound), _root(Dy2 + doubt))
        cut = np.partition(highest, k - 1, axis=1)[:, [k - 1]]
        return np.nonzero(lowest <= cut * (1 + 2 * TIE))

    def _nearest_members(self, A, squares, limit, query, labelset):
        """For each pair (query, labelset): its member nearest in features, and how near it is."""
        size = self.counts[labelset]
        pair = np.repeat(np.arange(len(query)), size)
        step = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size)
        member = self.starts[labelset][pair] + step
        reach = limit[query, labelset] * (1 + 4 * TIE)
        close = squares[query[pair], member] <= reach[pair]
        pair, member = pair[close], member[close]
        Dx = exact_distances(A, self.Z, query[pair], member)
        first = first_in_group(pair, Dx, self.rows[member])
        return member[first], Dx[first]


def first_in_group(group, *keys):
    """Position of each group's first entry, the keys compared in turn with ties in between.

    Groups are 0, 1, ..., every one present. Keys are not negative: what to minimise first, what to
    minimise among those equal in it, and so on; the last must settle what is left, as a row number
    does.
    """
    n_groups = int(group.max(initial=-1)) + 1
    alive = np.arange(len(group))
    for key in keys:
        smallest = np.full(n_groups, np.inf)
        np.minimum.at(smallest, group[alive], key[alive])
        alive = alive[key[alive] <= smallest[group[alive]] * (1 + TIE)]
    first = np.empty(n_groups, dtype=np.intp)
    first[group[alive]] = alive
    return first


def _root(squares):
    return np.sqrt(np.maximum(squares, 0))


def _k_best(query, keys, k):
    left = np.arange(len(query))
    columns = []
    for _ in range(k):
        first = first_in_group(query[left], *(key[left] for key in keys))
        columns.append(left[first])
        left = np.delete(left, first)
    return np.stack(columns, axis=1)
