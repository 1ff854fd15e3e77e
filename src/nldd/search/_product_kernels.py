"""Products of sparse rows, and what is nearest by them: the compiled part of ``_products``.

Numba compiles again when the file of a cached kernel has changed, so all that is compiled is here.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nldd.search._kernels import cached_kernel

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
# Of more labelsets than that the rows are not looked up one labelset after the other.
FEW = 32


class RowsByColumn(NamedTuple):
    """Sparse rows by column: where each begins, rows in order, and their values."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float64]


@njit(inline="always", **OPTIONS)
def _first_not_below(rows, start, stop, row):
    """The first place from `start` on whose row is not before this one."""
    while start < stop:
        middle = (start + stop) // 2
        if rows[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(inline="always", **OPTIONS)
def _nearest_of(labelset, starts, norms, products):
    """The row of a labelset with the smallest ``|b|^2 - 2 a.b``, the first one, and that number."""
    nearest, smallest = starts[labelset], np.inf
    for row in range(starts[labelset], starts[labelset + 1]):
        square = norms[row] - 2.0 * products[row]
        if square < smallest:
            nearest, smallest = row, square
    return nearest, smallest


@njit(**OPTIONS)
def _multiply(columns, queries, i, first, last, products):
    """Fill the products of query i with the rows from `first` up to `last`."""
    starts, indices, values = queries
    is_part = last - first < len(products)
    for row in range(first, last):
        products[row] = 0.0
    for t in range(starts[i], starts[i + 1]):
        column, value = indices[t], values[t]
        start, stop = columns.starts[column], columns.starts[column + 1]
        if is_part:
            start = _first_not_below(columns.rows, start, stop, first)
            stop = _first_not_below(columns.rows, start, stop, last)
        for s in range(start, stop):
            products[columns.rows[s]] += value * columns.values[s]


@njit(inline="always", **OPTIONS)
def _all_nearest(starts, norms, products, query_norm, squares, nearest):
    """Fill the squared distances of one query from the nearest rows of all labelsets."""
    for u in range(len(starts) - 1):
        nearest[u], smallest = _nearest_of(u, starts, norms, products)
        squares[u] = max(smallest + query_norm, 0.0)


@cached_kernel(**OPTIONS)
def nearest_members(starts, columns, norms, queries, query_norms, products, squares, nearest):
    """Fill the squared distance of each query from the nearest row of each labelset, and the row.

    Labelset u has the rows from ``starts[u]`` to ``starts[u + 1]``, and
    ``|a - b|^2 = |a|^2 + |b|^2 - 2 a.b``. Of sparse rows, `columns`, there is room for the products
    of one query; else these are there.
    """
    for i in range(len(squares)):
        one = products[i % len(products)]
        if columns is not None:
            _multiply(columns, queries, i, 0, len(one), one)
        _all_nearest(starts, norms, one, query_norms[i], squares[i], nearest[i])


@cached_kernel(**OPTIONS)
def most_probable(starts, columns, norms, queries, query_norms, products, gain, weight, found):
    """Find the labelset of largest ``gain - weight * Dx`` for each query.

    The one of largest gain comes first, and labelsets that are behind it by more than its distance
    costs cannot win: distances are not negative.
    """
    for i in range(len(found)):
        best, best_score = gain[i].argmax(), -np.inf
        for is_first in (True, False):
            n_open = 0
            for u in range(len(starts) - 1):
                n_open += gain[i, u] >= best_score
            if not is_first and n_open > FEW:
                _multiply(columns, queries, i, 0, len(products), products)
            leader, bar = best, best_score
            for u in range(len(starts) - 1):
                if (u == leader) != is_first or gain[i, u] < bar:
                    continue
                if is_first or n_open <= FEW:
                    _multiply(columns, queries, i, starts[u], starts[u + 1], products)
                _, smallest = _nearest_of(u, starts, norms, products)
                Dx = np.sqrt(max(smallest + query_norms[i], 0.0))
                score = gain[i, u] - weight * Dx
                if score > best_score:
                    best, best_score = u, score
        found[i] = best
