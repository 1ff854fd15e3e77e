"""From nominal attributes to numbers: the features of an ARFF file."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from nldd._base import with_narrow_indices
from nldd._wording import quote
from nldd.datasets._arff import Arff
from nldd.datasets._arff_header import Attribute
from nldd.datasets._numbers import truth

# Cells that rows leave out take more memory on the way than those of other tables.
_OMITTED_PER_BYTE = 4

Array = NDArray[Any]
Cells = tuple[Array, Array, Array]


def encode_features(arff: Arff, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """Some columns of `arff` as numbers, and their names.

    Numbers stay as they are. A nominal attribute whose values all read as 0 or 1 (also 0.0, 1.0,
    false, true) becomes that number; another one with two values becomes 0 for the first and 1
    for the second; one with more values becomes a column for each, named ``attribute=value``,
    with a 1 in the column of the row's value. A missing value is NaN, in all columns of its
    attribute.
    """
    attributes = [arff.attributes[j] for j in columns]
    names = [feature_names(attribute) for attribute in attributes]
    flat_names = [name for group in names for name in group]
    _check_distinct(flat_names, arff)
    table = arff.table[:, columns]
    if issparse(table):
        table = with_narrow_indices(table)
    if all(map(is_direct, attributes)):
        return table, flat_names
    width = np.array([len(group) for group in names])
    start = np.cumsum(width) - width
    shape = (table.shape[0], len(flat_names))
    encode = _encode_sparse if issparse(table) else _encode_dense
    return encode(table, attributes, start, shape, arff), flat_names


def code_numbers(attribute: Attribute) -> NDArray[np.float64] | None:
    """The number 0 or 1 that each value of a nominal attribute spells; None if any does not."""
    numbers = [truth(value) for value in attribute.codes or ()]
    return np.array(numbers, dtype=float) if numbers and None not in numbers else None


def is_direct(attribute: Attribute) -> bool:
    """Whether the codes of an attribute are its numbers already."""
    if attribute.codes is None:
        return True
    numbers = code_numbers(attribute)
    if numbers is None:
        return len(attribute.codes) <= 2
    return bool(np.array_equal(numbers, np.arange(len(numbers))))


def feature_names(attribute: Attribute) -> list[str]:
    """Names of the columns that an attribute becomes."""
    if attribute.codes is None or len(attribute.codes) <= 2 or code_numbers(attribute) is not None:
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


def _encode_dense(
    table: Array, attributes: list[Attribute], start: Array, shape: tuple[int, int], arff: Arff
) -> Array:
    arff.source.check_cells(shape[0] * shape[1], arff.data_line, "the table of features")
    direct = np.array([is_direct(attribute) for attribute in attributes])
    X = np.zeros(shape)
    X[:, start[direct]] = table[:, direct]
    special = np.flatnonzero(~direct)
    rows, which = (axis.ravel() for axis in np.indices((len(table), len(special))))
    codes = table[:, special].ravel()
    cells = _spread((rows, special[which], codes), attributes, start, arff)
    X[cells[0], cells[1]] = cells[2]
    return X


def _encode_sparse(
    table: Any, attributes: list[Attribute], start: Array, shape: tuple[int, int], arff: Arff
) -> Any:
    special = np.array([not is_direct(attribute) for attribute in attributes])
    stored = table.tocoo()
    rows, columns = stored.coords
    in_special = special[columns]
    direct = (rows[~in_special], start[columns[~in_special]], stored.data[~in_special])
    cells = _with_omitted(
        (rows[in_special], columns[in_special], stored.data[in_special]), special, shape[0], arff
    )
    row, column, value = map(
        np.concatenate, zip(direct, _spread(cells, attributes, start, arff), strict=True)
    )
    X = coo_array((value, (row, column)), shape=shape).tocsr()
    X.eliminate_zeros()
    return with_narrow_indices(X)


def _with_omitted(cells: Cells, special: Array, n_rows: int, arff: Arff) -> Cells:
    """Cells of the special columns together with those that the rows leave out, of code 0."""
    where = np.flatnonzero(special)
    arff.source.check_cells(
        n_rows * len(where), arff.data_line, "what the rows leave out", _OMITTED_PER_BYTE
    )
    omitted = np.ones((n_rows, len(where)), dtype=bool)
    omitted[cells[0], np.searchsorted(where, cells[1])] = False
    rows, which = np.nonzero(omitted)
    return (
        np.concatenate([cells[0], rows]),
        np.concatenate([cells[1], where[which]]),
        np.concatenate([cells[2], np.zeros(len(rows))]),
    )


def _spread(cells: Cells, attributes: list[Attribute], start: Array, arff: Arff) -> Cells:
    """The cells of the features that cells (row, attribute, code) of the file become."""
    rows, columns, codes = cells
    offset, shift, number = _tables(attributes)
    missing = np.isnan(codes)
    place = offset[columns[~missing]] + codes[~missing].astype(np.intp)
    # One missing value is as many missing cells as the attribute has columns.
    width = np.diff(np.append(start, start[-1] + len(feature_names(attributes[-1]))))
    repeats = width[columns[missing]]
    arff.source.check_cells(
        int(repeats.sum()), arff.data_line, "missing values in the rows", _OMITTED_PER_BYTE
    )
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return (
        np.concatenate([rows[~missing], np.repeat(rows[missing], repeats)]),
        np.concatenate(
            [
                start[columns[~missing]] + shift[place],
                np.repeat(start[columns[missing]], repeats) + within,
            ]
        ),
        np.concatenate([number[place], np.full(len(within), np.nan)]),
    )


def _tables(attributes: list[Attribute]) -> tuple[Array, Array, Array]:
    """Of each attribute where its codes begin; of each code its column in the group, its number."""
    shifts: list[Array] = []
    numbers: list[Array] = []
    for attribute in attributes:
        values = code_numbers(attribute)
        n_codes = len(attribute.codes or ())
        shifts.append(np.arange(n_codes) if values is None else np.zeros(n_codes, dtype=int))
        numbers.append(np.ones(n_codes) if values is None else values)
    sizes = np.array([len(part) for part in shifts])
    return np.cumsum(sizes) - sizes, np.concatenate(shifts), np.concatenate(numbers)
