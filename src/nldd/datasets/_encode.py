"""From an ARFF file and its label columns to a data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from nldd._wording import quote, quote_first
from nldd.datasets._arff import Arff
from nldd.datasets._arff_header import Attribute
from nldd.datasets._dataset import Dataset
from nldd.datasets._features import code_numbers, encode_features, is_direct


def as_dataset(arff: Arff, labels: Sequence[int], name: str) -> Dataset:
    """Split the columns of `arff` into labels, at the given positions, and features."""
    chosen = set(labels)
    features = [j for j in range(len(arff.attributes)) if j not in chosen]
    if not features:
        raise arff.source.error(
            arff.data_line,
            f"all {len(labels)} attributes are labels, and none is left as a feature.",
        )
    Y = encode_labels(arff, labels)
    X, feature_names = encode_features(arff, features)
    label_names = [arff.attributes[j].name for j in labels]
    return Dataset(X, Y, label_names, feature_names, name)


def encode_labels(arff: Arff, columns: Sequence[int]) -> NDArray[np.int64]:
    """The label columns as 0 and 1, written as numbers or as nominal values such as {0,1}."""
    table = arff.table[:, columns]
    n_rows, n_labels = table.shape
    arff.source.check_cells(
        n_rows * n_labels, arff.data_line, f"{n_rows} rows of {n_labels} labels"
    )
    labels = [arff.attributes[column] for column in columns]
    for label in labels:
        _check_attribute(label, arff)
    _check_label_cells(table, labels, arff)
    codes = table.astype(np.int64)
    Y: NDArray[np.int64] = codes.toarray() if issparse(codes) else codes
    for j, label in enumerate(labels):
        numbers = None if is_direct(label) else code_numbers(label)
        if numbers is not None:
            Y[:, j] = numbers[Y[:, j]]
    return Y


def _check_attribute(label: Attribute, arff: Arff) -> None:
    if label.codes is None or code_numbers(label) is not None:
        return
    raise arff.source.error(
        label.line,
        f"label {quote(label.name)} must take the values {{0,1}}; "
        f"it takes {quote_first(label.codes)}.",
    )


def _check_label_cells(table: Any, labels: Sequence[Attribute], arff: Arff) -> None:
    """Refuse missing labels, and numbers other than 0 and 1."""
    cells = coo_array(table)
    rows, columns = cells.coords
    numeric = np.array([label.codes is None for label in labels])
    wrong = np.isnan(cells.data) | (numeric[columns] & (cells.data != 1))
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    value = cells.data[first]
    found = "is missing (?)" if np.isnan(value) else f"is {value:g}"
    raise arff.source.error(
        int(arff.row_lines[rows[first]]),
        f"label {quote(labels[columns[first]].name)} must be 0 or 1; it {found}.",
    )
