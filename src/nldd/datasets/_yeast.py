"""Yeast: 2417 genes, 103 numbers about each, up to 14 functional classes at once."""

import gzip
from importlib.resources import files

import numpy as np

from nldd.datasets._dataset import Dataset
from nldd.exceptions import InputError

N_SAMPLES, N_FEATURES, N_LABELS = 2417, 103, 14
N_POSITIVE, N_LABELSETS = 10241, 198


def load_yeast() -> Dataset:
    """Load the yeast data set of Elisseeff and Weston (2001), which the paper uses.

    The file is the one that river ships (BSD-3); its counts are checked on every load.

    Returns
    -------
    dataset : Dataset
        `X` of shape (2417, 103), `Y` of shape (2417, 14); unpacks as ``X, Y, label_names``.

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
    names = header.split(",")
    dataset = Dataset(
        X=values[:, :N_FEATURES],
        Y=values[:, N_FEATURES:].astype(np.int64),
        label_names=names[N_FEATURES:],
        feature_names=names[:N_FEATURES],
        name="yeast",
    )
    _check_counts(dataset)
    return dataset


def _check_counts(dataset: Dataset) -> None:
    counts = {
        "genes": (len(dataset.X), N_SAMPLES),
        "features": (dataset.n_features, N_FEATURES),
        "labels": (len(dataset.label_names), N_LABELS),
        "label columns": (dataset.n_labels, N_LABELS),
        "labels carried": (int(dataset.Y.sum()), N_POSITIVE),
        "distinct labelsets": (dataset.n_labelsets, N_LABELSETS),
    }
    for what, (found, expected) in counts.items():
        if found != expected:
            raise InputError(
                f"The yeast file that came with nldd is damaged: {found} {what} instead of "
                f"{expected}. Reinstall nldd."
            )
