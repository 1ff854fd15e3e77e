"""The record that every reader of data sets returns, and the facts that are measured on it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set; unpacks as ``X, Y, label_names``.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Numbers; NaN where a value is missing. A CSR array if the file was sparse.
    Y : ndarray of shape (n_samples, n_labels)
        1 where a row carries a label, else 0.
    label_names, feature_names : list of str
        One a column of `Y` and of `X`, in the order of the file.
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
        return len(_labelset_counts(self.Y))


def _labelset_counts(Y: NDArray[np.int64]) -> NDArray[np.intp]:
    """How many rows have each of the distinct labelsets."""
    # Eight labels a byte: sorting rows of bits is many times faster than rows of int64.
    return np.unique(np.packbits(Y != 0, axis=1), axis=0, return_counts=True)[1]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts measured on a data set.

    Attributes
    ----------
    name : str
    n_samples, n_features, n_labels, n_labelsets : int
    sparse : bool
        Whether the features are kept as a sparse array.
    n_missing : int
        Feature values that are missing (NaN).
    cardinality, density : float
        Mean number of labels that a row carries; the same divided by the number of labels.
    seen_once, unlabelled : float
        Shares of the rows whose labelset no other row has, and of those that carry no label.
    frequent : tuple of (str, float)
        The most frequent labels with the shares of the rows that carry them.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    sparse: bool
    n_missing: int
    cardinality: float
    density: float
    n_labelsets: int
    seen_once: float
    unlabelled: float
    frequent: tuple[tuple[str, float], ...]


def describe(dataset: Dataset, n_frequent: int = 5) -> Facts:
    """Measure a data set.

    Examples
    --------
    >>> from nldd.datasets import load_yeast
    >>> facts = describe(load_yeast(), n_frequent=1)
    >>> facts.n_labelsets, facts.frequent[0][0]
    (198, 'Class12')
    """
    values = dataset.X.data if issparse(dataset.X) else dataset.X
    counts = _labelset_counts(dataset.Y)
    shares = (dataset.Y != 0).mean(axis=0)
    order = np.argsort(-shares, kind="stable")[:n_frequent].tolist()
    return Facts(
        name=dataset.name,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        n_labels=dataset.n_labels,
        sparse=issparse(dataset.X),
        n_missing=int(np.isnan(values).sum()),
        cardinality=dataset.cardinality,
        density=dataset.cardinality / dataset.n_labels,
        n_labelsets=len(counts),
        seen_once=float((counts == 1).sum() / dataset.n_samples),
        unlabelled=float(1 - dataset.Y.any(axis=1).mean()),
        frequent=tuple((dataset.label_names[j], float(shares[j])) for j in order),
    )
