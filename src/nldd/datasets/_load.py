"""A data set by its name in the catalogue, or by the file it lies in.

Of an ARFF file labels become 0 and 1, and nominal attributes numbers.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, issparse, vstack

from nldd._sparse import with_narrow_indices
from nldd._wording import quote, quote_first
from nldd.datasets._arff import Arff, Attribute, read_arff, stack
from nldd.datasets._catalogue import EMBEDDED, Entry, data_folder, find_entry, require_files
from nldd.datasets._csv import read_csv
from nldd.datasets._dataset import Dataset
from nldd.datasets._embedded import load_yeast
from nldd.datasets._label_columns import (
    FORMS,
    Labels,
    label_columns,
    meka_columns,
    named_columns,
    read_label_names,
)
from nldd.datasets._source import Refusal, truth
from nldd.exceptions import InputError

# Cells that rows leave out take more memory on the way than those of other tables.
_OMITTED_PER_BYTE = 4
_TABLES = (".csv", ".tsv")
_FACTS = {
    "n_samples": "samples",
    "n_features": "features",
    "n_labels": "labels",
    "n_labelsets": "distinct labelsets",
    "cardinality": "labels a row",
}


def load_dataset(
    name: str | os.PathLike[str],
    *,
    labels: Labels | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a data set of the catalogue, or a file of one's own.

    Parameters
    ----------
    name : str or path
        Name in the catalogue, such as ``"yeast"``, or path of an ``.arff``, ``.csv`` or ``.tsv``
        file.
    labels : list of str, str, int or path, optional
        Which columns of a file are labels, see :func:`read_csv`. For ARFF also the path of an
        ``.xml`` file of Mulan; by default the one beside the file and of the same name, or else
        the number that MEKA keeps in the relation (``-C 3``).
    data_dir : path, optional
        Folder with the files of the catalogue; see :func:`nldd.datasets.data_folder`. Yeast
        comes with the package and needs none.

    Returns
    -------
    dataset : Dataset
        Columns keep the order of the file. `X` is a CSR array if the file is sparse. Nominal
        attributes with the values 0 and 1 are that number, others with two values are 0 and 1 in
        the order of the header, and those with more become one column a value, named
        ``attribute=value``. NaN is a missing value.

    Examples
    --------
    >>> load_dataset("yeast").label_names[:3]
    ['Class1', 'Class2', 'Class3']
    """
    if not isinstance(name, str | os.PathLike):
        raise InputError(f"name must be a name of the catalogue or a path; got {name!r}.")
    suffix = Path(name).suffix.lower()
    if suffix == ".arff":
        return _load_arff(Path(name), labels)
    if suffix in _TABLES:
        if labels is None or isinstance(labels, os.PathLike):
            raise InputError(f"Say which columns of {name} are labels: {FORMS}.")
        return read_csv(name, labels)
    if suffix or isinstance(name, os.PathLike) or os.sep in name:
        known = "a data set of the catalogue nor an .arff, .csv or .tsv file"
        raise InputError(f"{name} is neither {known}.")
    if labels is not None:
        raise InputError(f"The labels of {name!r} are known: leave labels out, or name a file.")
    return _load_entry(find_entry(str(name)), data_dir)


def _load_arff(path: Path, labels: Labels | os.PathLike[str] | None) -> Dataset:
    beside = path.with_suffix(".xml")
    if labels is None and beside.is_file():
        labels = beside
    return _as_dataset(read_arff(path), labels, path.stem)


def _load_entry(entry: Entry, data_dir: str | os.PathLike[str] | None) -> Dataset:
    folder = data_folder(data_dir)
    if entry.name == EMBEDDED and not all((folder / file.file).exists() for file in entry.files):
        return load_yeast()
    paths = require_files(entry, data_dir)
    arffs = [read_arff(path) for path in paths if path.suffix == ".arff"]
    xml = next((path for path in paths if path.suffix == ".xml"), None)
    for other in arffs[1:]:
        _check_header(other, arffs[0])
    parts = [_as_dataset(arff, xml, entry.name) for arff in arffs]
    dataset = replace(parts[0], X=stack([p.X for p in parts]), Y=stack([p.Y for p in parts]))
    for fact, what in _FACTS.items():
        found, expected = getattr(dataset, fact), getattr(entry, fact)
        # Counts agree exactly; the paper has cut some of its two decimals rather than rounded.
        if abs(found - expected) >= 0.01:
            wrong = f"{found:g} {what} instead of {expected:g}"
            files = f"The files of {entry.name} in {folder} are not those of the catalogue"
            raise InputError(f"{files}: {wrong}. Run: nldd datasets fetch {entry.name}")
    return dataset


def _check_header(arff: Arff, first: Arff) -> None:
    """Rows of several files may follow each other only if their columns are the same."""
    for mine, theirs in zip_longest(first.attributes, arff.attributes):
        if not mine or not theirs or (mine.name, mine.values) != (theirs.name, theirs.values):
            where = theirs.line if theirs else arff.data_line
            other = f"the header differs from that of {first.source.path}"
            raise arff.source.error(where, f"{other}. Declare the same attributes in both.")


def _as_dataset(arff: Arff, labels: Labels | os.PathLike[str] | None, name: str) -> Dataset:
    """Split the columns of `arff` into labels, see ``load_dataset``, and features."""
    names = [attribute.name for attribute in arff.attributes]
    try:
        columns = _label_columns(arff, labels, names)
    except Refusal as refusal:
        raise arff.source.error(arff.data_line, refusal) from None
    features = sorted(set(range(len(names))) - set(columns))
    if not features:
        message = f"all {len(columns)} attributes are labels, and none is left as a feature."
        raise arff.source.error(arff.data_line, message)
    Y = _encode_labels(arff, columns)
    X, feature_names = _encode_features(arff, features)
    return Dataset(X, Y, [names[j] for j in columns], feature_names, name)


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
        raise Refusal(f"the header does not say which attributes are labels: {beside}. {how}")
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
