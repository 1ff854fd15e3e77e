"""From an ARFF file to a data set: labels as 0 and 1, nominal attributes as numbers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, issparse, vstack

from nldd._base import with_narrow_indices
from nldd._wording import quote, quote_first
from nldd.datasets._arff import Arff
from nldd.datasets._arff_header import Attribute
from nldd.datasets._dataset import Dataset
from nldd.datasets._source import truth

# Cells that rows leave out take more memory on the way than those of other tables.
_OMITTED_PER_BYTE = 4


def as_dataset(arff: Arff, labels: Sequence[int], name: str) -> Dataset:
    """Split the columns of `arff` into labels, at the given positions, and features."""
    chosen = set(labels)
    features = [j for j in range(len(arff.attributes)) if j not in chosen]
    if not features:
        message = f"all {len(labels)} attributes are labels, and none is left as a feature."
        raise arff.source.error(arff.data_line, message)
    Y = _encode_labels(arff, labels)
    X, feature_names = _encode_features(arff, features)
    label_names = [arff.attributes[j].name for j in labels]
    return Dataset(X, Y, label_names, feature_names, name)


def _encode_labels(arff: Arff, columns: Sequence[int]) -> NDArray[np.int64]:
    """The label columns as 0 and 1, written as numbers or as nominal values such as {0,1}."""
    table = arff.table[:, columns]
    n_rows, n_labels = table.shape
    what = f"{n_rows} rows of {n_labels} labels"
    arff.source.check_cells(n_rows * n_labels, arff.data_line, what)
    labels = [arff.attributes[column] for column in columns]
    numbers = [_code_numbers(label) for label in labels]
    for label, known in zip(labels, numbers, strict=True):
        if label.codes is not None and known is None:
            raise arff.source.error(
                label.line,
                f"label {quote(label.name)} must take the values {{0,1}}; "
                f"it takes {quote_first(label.codes)}.",
            )
    _check_label_cells(table, labels, arff)
    codes = table.astype(np.int64)
    Y: NDArray[np.int64] = codes.toarray() if issparse(codes) else codes
    for j, known in enumerate(numbers):
        if known is not None:
            Y[:, j] = known[Y[:, j]]
    return Y


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


def _encode_features(arff: Arff, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """Some columns of `arff` as numbers, and their names; see ``load_dataset``.

    A missing value is NaN in all columns of its attribute.
    """
    attributes = [arff.attributes[j] for j in columns]
    groups = [_feature_names(attribute) for attribute in attributes]
    names = [name for group in groups for name in group]
    _check_distinct(names, arff)
    table = arff.table[:, columns]
    special = [j for j, attribute in enumerate(attributes) if not _is_direct(attribute)]
    if special:
        table = _expand(table, special, attributes, groups, arff)
    return (with_narrow_indices(table) if issparse(table) else table), names


def _code_numbers(attribute: Attribute) -> NDArray[np.float64] | None:
    """The number 0 or 1 that each value of a nominal attribute spells; None if any does not."""
    numbers = [truth(value) for value in attribute.codes or ()]
    return np.array(numbers, dtype=float) if numbers and None not in numbers else None


def _is_direct(attribute: Attribute) -> bool:
    """Whether the codes of an attribute are its numbers already."""
    if attribute.codes is None:
        return True
    numbers = _code_numbers(attribute)
    if numbers is None:
        return len(attribute.codes) <= 2
    return bool(np.array_equal(numbers, np.arange(len(numbers))))


def _feature_names(attribute: Attribute) -> list[str]:
    if attribute.codes is None or len(attribute.codes) <= 2 or _code_numbers(attribute) is not None:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.codes]


def _check_distinct(names: Sequence[str], arff: Arff) -> None:
    """Attributes have distinct names, but ``a=b`` may be one of them, or a value of ``a``."""
    if len(set(names)) < len(names):
        repeated, _ = Counter(names).most_common(1)[0]
        raise arff.source.error(
            arff.data_line,
            f"two features would be called {quote(repeated)}, since an attribute with more than "
            "two values becomes a column for each value. Rename one of the attributes.",
        )


def _expand(
    table: Any, special: list[int], attributes: list[Attribute], groups: list[list[str]], arff: Arff
) -> Any:
    """The table with every special column replaced by the columns that it becomes."""
    check, n_rows, sparse = arff.source.check_cells, table.shape[0], issparse(table)
    width = np.array([len(group) for group in groups])
    start = np.cumsum(width) - width
    if sparse:
        check(n_rows * len(special), arff.data_line, "what the rows leave out", _OMITTED_PER_BYTE)
    else:
        check(n_rows * int(width.sum()), arff.data_line, "the table of features")
    codes = table[:, special].toarray() if sparse else table[:, special]
    # One missing value is as many missing cells as the attribute has columns.
    n_missing = int(np.isnan(codes).sum(axis=0) @ width[special])
    check(n_missing, arff.data_line, "missing values in the rows", _OMITTED_PER_BYTE)
    direct = np.setdiff1d(np.arange(len(width)), special)
    parts, places = [table[:, direct]], [start[direct]]
    for column, j in zip(codes.T, special, strict=True):
        part = _spread(column, attributes[j])
        parts.append(part if sparse else part.toarray())
        places.append(np.arange(start[j], start[j] + width[j]))
    order = np.argsort(np.concatenate(places))
    if not sparse:
        return np.hstack(parts)[:, order]
    X = hstack(parts, format="csr")[:, order]
    X.eliminate_zeros()
    X.sort_indices()
    return X


def _spread(codes: NDArray[np.float64], attribute: Attribute) -> Any:
    """The columns that a column of codes becomes, as a sparse array."""
    numbers, n_values = _code_numbers(attribute), len(attribute.codes or ())
    by_code = eye_array(n_values) if numbers is None else csr_array(numbers[:, None])
    missing = csr_array(np.full((1, by_code.shape[1]), np.nan))
    place = np.where(np.isnan(codes), n_values, codes).astype(np.intp)
    return vstack([by_code, missing], format="csr")[place]
