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
    features = sorted(set(range(len(arff.attributes))) - set(labels))
    if not features:
        message = f"all {len(labels)} attributes are labels, and none is left as a feature."
        raise arff.source.error(arff.data_line, message)
    Y = _encode_labels(arff, labels)
    X, feature_names = _encode_features(arff, features)
    return Dataset(X, Y, [arff.attributes[j].name for j in labels], feature_names, name)


def _encode_labels(arff: Arff, columns: Sequence[int]) -> NDArray[np.int64]:
    """The label columns as 0 and 1, written as numbers or as nominal values such as {0,1}."""
    table = arff.table[:, columns]
    n_rows, n_labels = table.shape
    what = f"{n_rows} rows of {n_labels} labels"
    arff.source.check_cells(n_rows * n_labels, arff.data_line, what)
    labels = [arff.attributes[column] for column in columns]
    numbers = [_numbers_spelt(label) for label in labels]
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
    wrong = np.flatnonzero(np.isnan(cells.data) | (numeric[columns] & (cells.data != 1)))
    for first in wrong[:1]:
        value = cells.data[first]
        found = "is missing (?)" if np.isnan(value) else f"is {value:g}"
        label = quote(labels[columns[first]].name)
        line = int(arff.row_lines[rows[first]])
        raise arff.source.error(line, f"label {label} must be 0 or 1; it {found}.")


def _numbers_spelt(attribute: Attribute) -> NDArray[np.float64] | None:
    """The number 0 or 1 that each value of a nominal attribute spells; None if any does not."""
    numbers = [truth(value) for value in attribute.codes or ()]
    return np.array(numbers, dtype=float) if numbers and None not in numbers else None


def _columns_by_code(attribute: Attribute) -> Any:
    """What each code of an attribute becomes, a row a code; None where it is its number already."""
    numbers, n_codes = _numbers_spelt(attribute), len(attribute.codes or ())
    if numbers is None:
        return eye_array(n_codes, format="csr") if n_codes > 2 else None
    return None if np.array_equal(numbers, np.arange(n_codes)) else csr_array(numbers[:, None])


def _encode_features(arff: Arff, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """Some columns of `arff` as numbers, and their names; see ``load_dataset``.

    A missing value is NaN in all columns of its attribute.
    """
    attributes = [arff.attributes[j] for j in columns]
    by_code = [_columns_by_code(attribute) for attribute in attributes]
    names: list[str] = []
    for attribute, rows in zip(attributes, by_code, strict=True):
        one = rows is None or rows.shape[1] == 1
        values = attribute.values or ()
        names += [attribute.name] if one else [f"{attribute.name}={value}" for value in values]
    # Attributes have distinct names, but `a=b` may be one of them, or a value of `a`.
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise arff.source.error(
            arff.data_line,
            f"two features would be called {quote(repeated)}, since an attribute with more than "
            "two values becomes a column for each value. Rename one of the attributes.",
        )
    X = _expand(arff.table[:, columns], by_code, arff)
    return (with_narrow_indices(X) if issparse(X) else X), names


def _expand(table: Any, by_code: Sequence[Any], arff: Arff) -> Any:
    """The table with columns of codes replaced by the columns that they become."""
    special = [j for j, rows in enumerate(by_code) if rows is not None]
    if not special:
        return table
    check, n_rows, sparse = arff.source.check_cells, table.shape[0], issparse(table)
    width = np.array([1 if rows is None else rows.shape[1] for rows in by_code])
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
        rows = vstack([by_code[j], csr_array(np.full((1, width[j]), np.nan))], format="csr")
        part = rows[np.where(np.isnan(column), rows.shape[0] - 1, column).astype(np.intp)]
        parts.append(part if sparse else part.toarray())
        places.append(np.arange(start[j], start[j] + width[j]))
    order = np.argsort(np.concatenate(places))
    if not sparse:
        return np.hstack(parts)[:, order]
    X = hstack(parts, format="csr")[:, order]
    X.eliminate_zeros()
    X.sort_indices()
    return X
