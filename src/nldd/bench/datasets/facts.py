"""What is measured on a data set: its size, its labels, and how unequal they are."""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.datasets import Dataset, labelset_counts


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts measured on a data set.

    Attributes
    ----------
    name : str
    n_samples, n_features, n_labels, n_labelsets : int
    n_binary : int
        Features that are 0 or 1 in every row.
    sparse, text : bool
        Whether the features are kept as a sparse array; whether they are texts.
    n_missing : int
        Feature values that are missing (NaN), or empty texts.
    n_train : int or None
        Rows that were given for training; None without a given split.
    cardinality, density : float
        Mean number of labels that a row carries; the same divided by the number of labels.
    distinct : float
        Number of distinct labelsets divided by that of the rows (PDIV).
    n_single : int
        Labelsets that occur once.
    seen_once, unlabelled : float
        Shares of the rows whose labelset no other row has, and of those that carry no label.
    n_absent : int
        Labels that no row carries. They are left out of the next four.
    mean_ir, max_ir, cv_ir : float
        Mean, maximum and coefficient of variation over the labels of the imbalance ratio: how many
        times as often as the label the most frequent label occurs. NaN without any label.
    scumble : float
        Mean over the rows of how unequal the imbalance ratios of their labels are.
    tcs : float
        Theoretical complexity: the logarithm of features times labels times labelsets. NaN for
        texts.
    frequent : tuple of (str, float)
        The most frequent labels with the shares of the rows that carry them.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench import describe
    >>> from nldd.datasets import Dataset
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [0, 0]])
    >>> facts = describe(Dataset(np.zeros((4, 1)), Y, ["a", "b"]))
    >>> facts.cardinality, facts.n_labelsets, facts.unlabelled, facts.max_ir
    (1.0, 3, 0.25, 3.0)
    """

    name: str
    n_samples: int
    n_features: int
    n_binary: int
    n_labels: int
    sparse: bool
    text: bool
    n_missing: int
    n_train: int | None
    cardinality: float
    density: float
    n_labelsets: int
    distinct: float
    n_single: int
    seen_once: float
    unlabelled: float
    n_absent: int
    mean_ir: float
    max_ir: float
    cv_ir: float
    scumble: float
    tcs: float
    frequent: tuple[tuple[str, float], ...]


def describe(dataset: Dataset, n_frequent: int = 5) -> Facts:
    """Measure a data set.

    Parameters
    ----------
    dataset : Dataset
    n_frequent : int, default=5
        How many of the most frequent labels to name.

    Returns
    -------
    Facts

    Notes
    -----
    The imbalance ratio of a label is the number of rows of the most frequent label, divided by its
    own. SCUMBLE [1]_ of a row is 1 minus the geometric mean over the arithmetic mean of the ratios
    of its labels, and 0 of a row without labels: high where frequent labels stand beside rare ones.
    TCS [2]_ is the natural logarithm of features times labels times distinct labelsets.

    References
    ----------
    .. [1] Charte, Rivera, del Jesus and Herrera (2014). Concurrence among imbalanced labels and its
       influence on multilabel resampling algorithms. HAIS.
    .. [2] Charte, Rivera, del Jesus and Herrera (2016). On the impact of dataset complexity and
       sampling strategy in multilabel classifiers performance. HAIS.

    Examples
    --------
    >>> from nldd import load_yeast
    >>> from nldd.bench import describe
    >>> facts = describe(load_yeast(), n_frequent=1)
    >>> facts.n_labelsets, facts.frequent[0][0]
    (198, 'Class12')
    >>> print(f"MeanIR {facts.mean_ir:.3f}, SCUMBLE {facts.scumble:.4f}, TCS {facts.tcs:.3f}")
    MeanIR 7.197, SCUMBLE 0.1044, TCS 12.562
    """
    counts = labelset_counts(dataset.Y)
    shares = (dataset.Y != 0).mean(axis=0)
    order = np.argsort(-shares, kind="stable")[:n_frequent].tolist()
    mean_ir, max_ir, cv_ir, scumble = _imbalance(dataset.Y != 0)
    size = dataset.n_features * dataset.n_labels * len(counts)
    return Facts(
        name=dataset.name,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        n_binary=_count_binary(dataset),
        n_labels=dataset.n_labels,
        sparse=issparse(dataset.X),
        text=dataset.is_text,
        n_missing=_count_missing(dataset),
        n_train=dataset.n_train,
        cardinality=dataset.cardinality,
        density=dataset.cardinality / dataset.n_labels,
        n_labelsets=len(counts),
        distinct=len(counts) / dataset.n_samples,
        n_single=int((counts == 1).sum()),
        seen_once=float((counts == 1).sum() / dataset.n_samples),
        unlabelled=float(1 - dataset.Y.any(axis=1).mean()),
        n_absent=int((shares == 0).sum()),
        mean_ir=mean_ir,
        max_ir=max_ir,
        cv_ir=cv_ir,
        scumble=scumble,
        tcs=np.nan if dataset.is_text else log(size),
        frequent=tuple((dataset.label_names[j], float(shares[j])) for j in order),
    )


def _imbalance(carried: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """MeanIR, MaxIR, CVIR and SCUMBLE; see :func:`describe`."""
    counts = carried.sum(axis=0)
    present = counts > 0
    if not present.any():
        return np.nan, np.nan, np.nan, 0.0
    ratios = counts.max() / counts[present]
    # Charte's deviation divides by one less than the number of labels.
    deviation = float(ratios.std(ddof=1)) if len(ratios) > 1 else 0.0
    rows = carried[carried.any(axis=1)][:, present].astype(float)
    n_labels = rows.sum(axis=1)
    # By logarithms, since the product of hundreds of ratios exceeds the largest float.
    geometric = np.exp(rows @ np.log(ratios) / n_labels)
    # Rounding may leave the two means of equal ratios a little apart.
    unequal = np.maximum(0, 1 - geometric / (rows @ ratios / n_labels))
    mean = float(ratios.mean())
    return mean, float(ratios.max()), deviation / mean, float(unequal.sum() / len(carried))


def _count_missing(dataset: Dataset) -> int:
    if dataset.is_text:
        return sum(not text.strip() for text in dataset.X)
    return int(np.isnan(dataset.X.data if issparse(dataset.X) else dataset.X).sum())


def _count_binary(dataset: Dataset) -> int:
    """How many features are 0 or 1 throughout, where they are not missing."""
    X = dataset.X
    if dataset.is_text:
        return 0
    if issparse(X):
        other = (X.data != 1) & (X.data != 0) & ~np.isnan(X.data)
        return dataset.n_features - len(np.unique(X.indices[other]))
    return int(((X == 0) | (X == 1) | np.isnan(X)).all(axis=0).sum())
