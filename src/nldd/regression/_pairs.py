"""The pairs S of the paper: what the regression learns from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Pairs:
    """Pairs of a validation instance and a training row near to it.

    Attributes
    ----------
    Dx, Dy : ndarray of shape (n_pairs,)
        Distance in feature space and in label space.
    errors : ndarray of shape (n_pairs,)
        Number of labels in which the two differ.
    n_labels : int
    instance : ndarray of shape (n_pairs,)
        Validation row of each pair, as a position in the data passed to `fit`; pairs that share
        an instance are not independent.
    row : ndarray of shape (n_pairs,)
        Training row of each pair, as a position in the data passed to `fit`.
    weight : ndarray of shape (n_pairs,)
        Weight of the instance; 1 unless sample weights were given.
    """

    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    errors: NDArray[np.intp]
    n_labels: int
    instance: NDArray[np.intp]
    row: NDArray[np.intp]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def design(self) -> NDArray[np.float64]:
        """Columns 1, Dx, Dy of the linear model."""
        return np.column_stack([np.ones(len(self)), self.Dx, self.Dy])
