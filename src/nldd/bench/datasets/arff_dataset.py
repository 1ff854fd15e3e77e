"""ARFF files as data sets: labels become 0 and 1, and nominal attributes numbers."""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, issparse, vstack

from nldd._validation import narrow_indices
from nldd._wording import quote, quote_first
from nldd.bench.datasets.arff import Arff, Attribute, wrong_type
from nldd.bench.datasets.joined import join
from nldd.bench.datasets.label_columns import (
    FORMS,
    Labels,
    label_columns,
    meka_columns,
    named_columns,
    read_label_names,
)
from nldd.bench.datasets.row_ids import left_out, names_rows, note_on_numbers, sounds_like_a_row_id
from nldd.bench.datasets.source import DataError, truth
from nldd.datasets import Dataset

# Cells that rows leave out take more memory on the way than those of other tables.
_OMITTED_PER_BYTE = 4


def as_dataset(
    arffs: Sequence[Arff],
    labels: Labels | os.PathLike[str] | None,
    name: str,
    *,
    text: str | None = None,
    groups: str | None = None,
    keep_ids: bool = False,
) -> Dataset:
    """The rows of files with the same columns, see ``load_dataset``; the first are for training."""
    first = arffs[0]
    for other in arffs[1:]:
        _check_header(other, first)
    names = [attribute.name for attribute in first.attributes]
    try:
        columns = _label_columns(first, labels, names)
        chosen = named_columns([text], names, "that should be the text") if text else []
        if chosen and chosen[0] in columns:
            raise DataError(f"{quote(names[chosen[0]])} is a label, and cannot be the text too.")
        grouping = named_columns([groups], names, "that should be the groups") if groups else []
        if set(grouping) & {*columns, *chosen}:
            raise DataError(f"{quote(names[grouping[0]])} is a label or the text, and no group.")
    except DataError as refusal:
        raise first.source.error(first.data_line, refusal) from None
    taken = {*columns, *grouping}
    features = [j for j in range(len(names)) if j not in taken]
    notes = {} if keep_ids or text else _row_ids(arffs, features)
    features = chosen or [j for j in features if j not in notes]
    if not features:
        rest = "labels or row ids" if notes else "labels"
        message = f"all {len(names)} attributes are {rest}, and none is left as a feature."
        raise first.source.error(first.data_line, message)
    label_names = [names[j] for j in columns]
    parts = []
    for arff in arffs:
        Y = _encode_labels(arff, columns)
        X, feature_names = (_texts if text else _encode_features)(arff, features)
        together = _group_column(arff, grouping[0]) if grouping else None
        told: dict[str, Any] = {"notes": tuple(notes.values()), "groups": together}
        parts.append(Dataset(X, Y, label_names, feature_names, name, **told))
    return join(parts, name)


def _check_header(arff: Arff, first: Arff) -> None:
    """Rows of several files may follow each other only if their columns are the same."""
    other = f"the header differs from that of {first.source.path}"
    for mine, theirs in zip_longest(first.attributes, arff.attributes):
        if not mine or not theirs:
            where = theirs.line if theirs else arff.data_line
            sizes = f"{len(arff.attributes)} attributes here, {len(first.attributes)} there"
            raise arff.source.error(where, f"{other}: {sizes}. Declare the same in both.")
        if mine.name != theirs.name:
            names = f"attribute {quote(theirs.name)} here, {quote(mine.name)} there"
            raise arff.source.error(theirs.line, f"{other}: {names}. Declare the same in both.")
        if mine.is_text != theirs.is_text or (not mine.is_text and mine.values != theirs.values):
            kinds = f"{_kind(theirs)} here, {_kind(mine)} there"
            what = f"attribute {quote(mine.name)} is {kinds}"
            raise arff.source.error(theirs.line, f"{other}: {what}. Declare the same in both.")


def _kind(attribute: Attribute) -> str:
    """An attribute's type in few words."""
    if attribute.is_text:
        return "a string"
    if attribute.codes is None:
        return "a number"
    return f"one of {quote_first(attribute.codes)}"


def _row_ids(arffs: Sequence[Arff], features: Sequence[int]) -> dict[int, str]:
    """Columns that name or number the rows, and what to tell about them."""
    n_rows, found = sum(len(arff.row_lines) for arff in arffs), {}
    for j in features:
        attributes = [arff.attributes[j] for arff in arffs]
        name = attributes[0].name
        if attributes[0].codes is None:
            parts = [_column(arff, j) for arff in arffs] if sounds_like_a_row_id(name) else []
            if parts and (note := note_on_numbers(name, parts)):
                found[j] = note
        elif names_rows(set().union(*(attribute.codes or () for attribute in attributes)), n_rows):
            # The header may list values that no row has.
            values = {text for arff in arffs for text in _text_column(arff, j)}
            if names_rows(values, n_rows, texts=attributes[0].is_text):
                found[j] = left_out(name, len(values), n_rows)
    return found


def _column(arff: Arff, j: int) -> NDArray[np.float64]:
    column = arff.table[:, [j]]
    return (column.toarray() if issparse(column) else column).ravel()


def _text_column(arff: Arff, j: int) -> list[str]:
    """The values of a nominal or string attribute; empty where one is missing."""
    values = list(arff.attributes[j].codes or ())
    return ["" if np.isnan(code) else values[int(code)] for code in _column(arff, j)]


def _group_column(arff: Arff, j: int) -> NDArray[Any]:
    """The values of any attribute, of which none may be missing."""
    missing = np.flatnonzero(np.isnan(_column(arff, j)))
    if len(missing):
        message = f"there is no {quote(arff.attributes[j].name)}. Each row needs a group."
        raise arff.source.error(int(arff.row_lines[missing[0]]), message)
    if arff.attributes[j].codes is None:
        return _column(arff, j)
    return np.array(_text_column(arff, j), dtype=object)


def _texts(arff: Arff, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """The texts of one column, and its name."""
    (j,) = columns
    attribute = arff.attributes[j]
    if attribute.codes is None:
        message = f"attribute {quote(attribute.name)} is a number, and no text."
        raise arff.source.error(attribute.line, message)
    return np.array(_text_column(arff, j), dtype=object), [attribute.name]


def _label_columns(
    arff: Arff, labels: Labels | os.PathLike[str] | None, names: Sequence[str]
) -> list[int]:
    if isinstance(labels, str) and labels.lower().endswith(".xml"):
        labels = Path(labels)
    if isinstance(labels, os.PathLike):
        return named_columns(read_label_names(labels), names, f"that {labels} names")
    if labels is not None:
        return label_columns(labels, names)
    columns = meka_columns(arff.relation, len(names))
    if columns is None:
        beside = f"no {arff.source.path.stem}.xml lies beside the file, and its relation has no -C"
        how = f"Name an .xml file by labels, or: {FORMS}."
        raise DataError(f"the header does not say which attributes are labels: {beside}. {how}")
    return columns


def _encode_labels(arff: Arff, columns: Sequence[int]) -> NDArray[np.int64]:
    """The label columns as 0 and 1, written as numbers or as nominal values such as {0,1}."""
    labels = [arff.attributes[column] for column in columns]
    n_rows, n_labels = len(arff.row_lines), len(labels)
    what = f"{n_rows} rows of {n_labels} labels"
    arff.source.check_cells(n_rows * n_labels, arff.data_line, what)
    for label in labels:
        if label.codes is not None and _numbers_spelt(label) is None:
            message = f"must take the values {{0,1}}; it takes {quote_first(label.codes)}."
            raise arff.source.error(label.line, f"label {quote(label.name)} {message}")
    table = _expand(arff.table[:, columns], list(map(_columns_by_code, labels)), arff)
    cells = coo_array(table)
    wrong = np.flatnonzero((cells.data != 0) & (cells.data != 1))
    if len(wrong):
        row, column = (int(places[wrong[0]]) for places in cells.coords)
        value = cells.data[wrong[0]]
        message = f"must be 0 or 1; it is {'missing (?)' if np.isnan(value) else f'{value:g}'}."
        name = quote(labels[column].name)
        raise arff.source.error(int(arff.row_lines[row]), f"label {name} {message}")
    codes = table.astype(np.int64)
    Y: NDArray[np.int64] = codes.toarray() if issparse(codes) else codes
    return Y


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
    for attribute in attributes:
        if attribute.is_text:
            raise arff.source.error(attribute.line, wrong_type(attribute.name, "string"))
    by_code = [_columns_by_code(attribute) for attribute in attributes]
    names: list[str] = []
    for attribute, rows in zip(attributes, by_code, strict=True):
        one = rows is None or rows.shape[1] == 1
        values = attribute.values or ()
        names += [attribute.name] if one else [f"{attribute.name}={value}" for value in values]
    # Attributes have distinct names, but `a=b` may be one of them, or a value of `a`.
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        why = "since an attribute with more than two values becomes a column for each value"
        message = f"two features would be called {quote(repeated)}, {why}. Rename one attribute."
        raise arff.source.error(arff.data_line, message)
    X = _expand(arff.table[:, columns], by_code, arff)
    return (narrow_indices(X) if issparse(X) else X), names


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
