"""The record that every reader of data sets returns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set; unpacks as ``X, Y, label_names``.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Numbers; NaN where a value is missing. A CSR array if the file was sparse.
    Y : ndarray of shape (n_samples, n_labels)
        1 where a row carries a label, else 0.
    label_names : list of str
        One a column of `Y`, in the order of the file.
    feature_names : list of str
        One a column of `X`.
    name : str

    Examples
    --------
    >>> from nldd import load_yeast
    >>> yeast = load_yeast()
    >>> yeast
    Dataset('yeast', 2417 samples, 103 features, 14 labels)
    >>> X, Y, label_names = yeast
    >>> print(f"{yeast.cardinality:.2f} labels a row, {yeast.n_labelsets} labelsets")
    4.24 labels a row, 198 labelsets
    """

    X: Any
    Y: NDArray[np.int64]
    label_names: list[str]
    feature_names: list[str] = field(default_factory=list)
    name: str = ""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.Y, self.label_names))

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.n_samples} samples, {self.n_features} features, "
            f"{self.n_labels} labels)"
        )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of columns of `Y`."""
        return int(self.Y.shape[1])

    @property
    def cardinality(self) -> float:
        """Mean number of labels that a row carries."""
        return float(self.Y.sum(axis=1).mean())

    @property
    def n_labelsets(self) -> int:
        """Number of distinct labelsets."""
        # Eight labels a byte: sorting rows of bits is many times faster than rows of int64.
        return len(np.unique(np.packbits(self.Y != 0, axis=1), axis=0))
