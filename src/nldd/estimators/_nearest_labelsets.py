"""The labelsets that NLDD finds nearest to a row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NearestLabelsets:
    """The k best distinct labelsets of each row, best first.

    Attributes
    ----------
    labelsets : ndarray of shape (n_samples, k, n_labels)
    theta : ndarray of shape (n_samples, k)
        Probability that one label of the labelset is wrong.
    row : ndarray of shape (n_samples, k)
        Training row that stands for the labelset, as a position in the data passed to `fit`.
    Dx, Dy : ndarray of shape (n_samples, k)
    """

    labelsets: NDArray[np.int64]
    theta: NDArray[np.float64]
    row: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
