"""The distinct labelsets of the training rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct_labelsets(Y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct rows of an indicator array in lexicographic order, and which one each row is.

    What ``np.unique(Y, axis=0)`` gives, from eight labels a byte: the first label is the highest
    bit, so bytes sort as rows do.

    Examples
    --------
    >>> distinct_labelsets(np.array([[1, 0], [0, 1], [1, 0]]))
    (array([[0, 1],
           [1, 0]]), array([1, 0, 1]))
    """
    packed = np.packbits(Y.astype(bool, order="C"), axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, labelset = np.unique(keys, return_index=True, return_inverse=True)
    return Y[first], labelset.ravel()
