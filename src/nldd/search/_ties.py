"""What "equally near" means, and who wins then."""

import numpy as np
from numpy.typing import NDArray

# Distances closer than this, relative to their size, are equal: they differ by rounding alone.
TIE = 1e-9


def first_in_group(group: NDArray[np.intp], *keys: NDArray[np.float64]) -> NDArray[np.intp]:
    """Position of each group's first entry, the keys compared in turn with ties in between.

    Parameters
    ----------
    group : ndarray of shape (n_entries,)
        Group of each entry: 0, 1, ..., every group present.
    *keys : ndarray of shape (n_entries,), not negative
        What to minimise first, what to minimise among those equal in it, and so on.
        The last key must settle what is left, as a row number does.

    Returns
    -------
    first : ndarray of shape (n_groups,)

    Examples
    --------
    >>> distance, row = np.array([3.0, 2.0, 5.0, 5.0]), np.array([0, 1, 9, 8])
    >>> first_in_group(np.array([0, 0, 1, 1]), distance, row)
    array([1, 3])
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
