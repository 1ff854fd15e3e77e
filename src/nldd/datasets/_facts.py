"""What there is to know about a data set before a method meets it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from nldd.datasets._dataset import Dataset

N_FREQUENT = 5


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts measured on a data set.

    Attributes
    ----------
    name : str
    n_samples, n_features, n_labels : int
    sparse : bool
        Whether the features are kept as a sparse array.
    n_missing : int
        Feature values that are missing (NaN).
    cardinality : float
        Mean number of labels that a row carries.
    density : float
        Cardinality divided by the number of labels.
    n_labelsets : int
        Distinct labelsets.
    seen_once : float
        Share of the rows whose labelset no other row has: no method that copies labelsets from
        other rows can get these right.
    unlabelled : float
        Share of the rows that carry no label.
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


def describe(dataset: Dataset, n_frequent: int = N_FREQUENT) -> Facts:
    """Measure a data set.

    Examples
    --------
    >>> from nldd.datasets import load_yeast
    >>> facts = describe(load_yeast(), n_frequent=1)
    >>> print(f"{facts.density:.3f} of the cells of Y, {facts.seen_once:.3f} of the rows")
    0.303 of the cells of Y, 0.032 of the rows
    >>> print("{} in {:.3f} of them".format(*facts.frequent[0]))
    Class12 in 0.751 of them
    """
    Y = dataset.Y != 0
    values = dataset.X.data if issparse(dataset.X) else dataset.X
    _, counts = np.unique(np.packbits(Y, axis=1), axis=0, return_counts=True)
    shares = Y.mean(axis=0)
    order = np.argsort(-shares, kind="stable")[:n_frequent].tolist()
    cardinality = float(Y.sum(axis=1).mean())
    return Facts(
        name=dataset.name,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        n_labels=dataset.n_labels,
        sparse=issparse(dataset.X),
        n_missing=int(np.isnan(values).sum()),
        cardinality=cardinality,
        density=cardinality / dataset.n_labels,
        n_labelsets=len(counts),
        seen_once=float((counts == 1).sum() / dataset.n_samples),
        unlabelled=float(1 - Y.any(axis=1).mean()),
        frequent=tuple((dataset.label_names[j], float(shares[j])) for j in order),
    )
