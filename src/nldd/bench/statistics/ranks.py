"""Ranks of methods on data sets: who is best where, and on average."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from nldd.exceptions import InputError

# Values come from sums over rows and folds: what differs beyond this is rounding, not a result.
DECIMALS = 10


def ranks(values: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Rank the methods on each data set; rank 1 is the best.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure. NaN where a method has no value on a data set: it gets the rank NaN, and the
        others of the row are ranked as if that method did not exist.
    greater_is_better : bool

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        Values that are equal after rounding to 10 decimals share the mean of their ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.statistics.ranks import ranks
    >>> ranks([[0.2, 0.1, 0.2], [0.3, np.nan, 0.4]], greater_is_better=False)
    array([[2.5, 1. , 2.5],
           [1. , nan, 2. ]])
    """
    values = read_values(values)
    oriented = -values if greater_is_better else values
    rounded = np.round(oriented, DECIMALS)
    return np.asarray(rankdata(rounded, axis=1, nan_policy="omit"), dtype=float)


def average_ranks(values: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Mean rank of each method over the data sets on which every method has a value.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One measure; data sets with NaN are left out.
    greater_is_better : bool

    Returns
    -------
    ndarray of shape (n_methods,)
        1 is the best; NaN for every method where no data set is left.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.statistics.ranks import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.5, 0.6, 0.4], [0.1, np.nan, 0.2]], True)
    array([1.5, 1.5, 3. ])
    """
    values = complete_values(values)
    if not len(values):
        return np.full(values.shape[1], np.nan)
    return np.asarray(ranks(values, greater_is_better).mean(axis=0))


def complete_rows(values: Any) -> NDArray[np.bool_]:
    """Which rows (data sets) have a value of every method.

    All comparisons leave the other rows out; who reports a comparison says which these are.

    >>> complete_rows([[0.2, 0.1], [0.3, np.nan]])
    array([ True, False])
    """
    return np.asarray(~np.isnan(read_values(values)).any(axis=1))


def complete_values(values: Any) -> NDArray[np.float64]:
    """The complete rows themselves."""
    values = read_values(values)
    return values[complete_rows(values)]


def read_values(values: Any) -> NDArray[np.float64]:
    """The values as a 2-D array of floats, one row a data set and one column a method."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Values must be numbers, one row a data set and one column a method ({error})."
        ) from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            "Values must have one row per data set and one column per method; "
            f"got shape {array.shape}."
        )
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0].tolist()
        raise InputError(
            f"Values must be finite; row {row}, column {column} holds {array[row, column]}. "
            "Write NaN where a method has no value on a data set."
        )
    return array
