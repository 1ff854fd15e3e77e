"""The record that every reader of data sets returns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from nldd.exceptions import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set; unpacks as ``X, Y, label_names``.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features), or ndarray of texts (n_samples,)
        Numbers; NaN where a value is missing. A CSR array if the file was sparse. Texts, as
        objects, if a column of text was asked for; see `is_text`.
    Y : ndarray of shape (n_samples, n_labels)
        1 where a row carries a label, else 0.
    label_names, feature_names : list of str
        One a column of `Y` and of `X`, in the order of the file.
    name : str
    n_train : int or None
        The first `n_train` rows were given for training and the others for testing; None if the
        rows came without such a split.
    notes : tuple of str
        Sentences on what was done to the rows and columns, such as what was left out.
    groups : ndarray of shape (n_samples,) or None
        Which rows belong together, such as those of one speaker; None if that was not asked for.

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
    n_train: int | None = None
    notes: tuple[str, ...] = ()
    groups: NDArray[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.Y, self.label_names))

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.n_samples} samples, {self.n_features} features, "
            f"{self.n_labels} labels)"
        )

    @property
    def given_split(self) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Rows to train on and rows to test on, as the data set was given; None if it was not."""
        if self.n_train is None:
            return None
        train, test = np.split(np.arange(self.n_samples), [self.n_train])
        return train, test

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def is_text(self) -> bool:
        """Whether `X` holds one text a row, which a method takes only as numbers."""
        return bool(self.X.ndim == 1)

    @property
    def n_features(self) -> int:
        """Number of columns of `X`; 1 for texts."""
        return 1 if self.is_text else int(self.X.shape[1])

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
        return len(labelset_counts(self.Y))


def labelset_counts(Y: NDArray[np.int64]) -> NDArray[np.intp]:
    """How many rows have each of the distinct labelsets."""
    # Eight labels a byte: sorting rows of bits is many times faster than rows of int64.
    return np.unique(np.packbits(Y != 0, axis=1), axis=0, return_counts=True)[1]


def stack(tables: Sequence[Any]) -> Any:
    """Tables one below the other: a CSR array if any of them is one."""
    if len(tables) == 1:
        return tables[0]
    if any(map(issparse, tables)):
        return vstack([csr_array(table) for table in tables], format="csr")
    return np.concatenate(tables)


def join(parts: Sequence[Dataset], name: str) -> Dataset:
    """Rows of several files one below the other; those of the first are given for training."""
    first = parts[0]
    if len(parts) == 1:
        return replace(first, name=name)
    for part in parts[1:]:
        for what in ("label_names", "feature_names"):
            here, there = getattr(first, what), getattr(part, what)
            if here != there:
                odd = [name for name in (*here, *there) if (name in here) != (name in there)]
                differ = (
                    f"differ: {odd[0]!r:.60} is in one only" if odd else "come in another order"
                )
                which = f"The {what.replace('_', ' ')} of {first.name} and {part.name} {differ}"
                raise InputError(f"{which}. Give both files the same columns.")
    X, Y = stack([part.X for part in parts]), stack([part.Y for part in parts])
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    groups = [part.groups for part in parts if part.groups is not None]
    together = np.concatenate(groups) if groups else None
    split: dict[str, Any] = {"n_train": first.n_samples, "notes": notes, "groups": together}
    return replace(first, X=X, Y=Y, name=name, **split)
