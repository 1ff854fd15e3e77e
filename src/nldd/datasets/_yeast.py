"""Yeast: 2417 genes, 103 numbers about each, up to 14 functional classes at once."""

import gzip
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError

N_SAMPLES, N_FEATURES, N_LABELS = 2417, 103, 14
N_POSITIVE, N_LABELSETS = 10241, 198


class Dataset(NamedTuple):
    """Features, labels and label names; unpacks as ``X, Y, label_names``."""

    X: NDArray[np.float64]
    Y: NDArray[np.int64]
    label_names: list[str]


def load_yeast() -> Dataset:
    """Load the yeast data set of Elisseeff and Weston (2001), which the paper uses.

    The file is the one that river ships (BSD-3); its counts are checked on every load.

    Returns
    -------
    X : ndarray of shape (2417, 103)
    Y : ndarray of shape (2417, 14)
    label_names : list of str

    Examples
    --------
    >>> X, Y, label_names = load_yeast()
    >>> X.shape, Y.shape, label_names[0]
    ((2417, 103), (2417, 14), 'Class1')
    >>> print(f"{Y.sum(axis=1).mean():.2f} labels a gene")
    4.24 labels a gene
    """
    compressed = files("nldd.datasets").joinpath("yeast.csv.gz").read_bytes()
    header, *lines = gzip.decompress(compressed).decode("ascii").splitlines()
    values = np.loadtxt(lines, delimiter=",")
    dataset = Dataset(
        values[:, :N_FEATURES],
        values[:, N_FEATURES:].astype(np.int64),
        header.split(",")[N_FEATURES:],
    )
    _check_counts(dataset)
    return dataset


def _check_counts(dataset: Dataset) -> None:
    X, Y, label_names = dataset
    counts = {
        "genes": (len(X), N_SAMPLES),
        "features": (X.shape[1], N_FEATURES),
        "labels": (len(label_names), N_LABELS),
        "label columns": (Y.shape[1], N_LABELS),
        "labels carried": (int(Y.sum()), N_POSITIVE),
        "distinct labelsets": (len(np.unique(Y, axis=0)), N_LABELSETS),
    }
    for what, (found, expected) in counts.items():
        if found != expected:
            raise InputError(
                f"The yeast file that came with nldd is damaged: {found} {what} instead of "
                f"{expected}. Reinstall nldd."
            )
