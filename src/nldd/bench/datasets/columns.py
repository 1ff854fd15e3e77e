"""Columns of a file become what they are for: labels, features, the text, or groups of rows."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, issparse, vstack

from nldd._validation import narrow_indices
from nldd._wording import quote, quote_first
from nldd.bench.datasets.arff import Attribute, DataTable, stack, wrong_type
from nldd.bench.datasets.source import DataError, number, read_label_names, truth
from nldd.datasets import Dataset
from nldd.exceptions import InputError

Labels = int | str | Iterable[str]
FORMS = (
    "labels is a list of names, a pattern such as 'label_*', or a number of columns: "
    "3 for the first three, -3 for the last three"
)
_MEKA_OPTION = re.compile(r"(?<![^\s:])-C(?:\s+(\S*)|$)")
_MEKA_COUNT = re.compile(r"-?[0-9]{1,18}")
# Cells that rows leave out take more memory on the way than those of other tables.
_OMITTED_PER_BYTE = 4
# Of fewer rows, values may all be different by chance.
LEAST_ROWS = 20
_NEARLY_ALL = 0.95
_ID_NAMES = {"id", "ids", "idx", "index", "row", "rowid", "nr", "no", "number", "case", "record"}
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def as_dataset(
    tables: Sequence[DataTable],
    labels: Labels | os.PathLike[str] | None,
    name: str,
    *,
    text: str | None = None,
    groups: str | None = None,
    keep_ids: bool = False,
) -> Dataset:
    """The rows of files with the same columns, see ``load_dataset``; the first are for training."""
    first = tables[0]
    for other in tables[1:]:
        _check_header(other, first)
    names = [attribute.name for attribute in first.attributes]
    with first.source.locate_errors(first.header_line):
        columns = _label_columns(first, labels, names)
        chosen = named_columns([text], names, "which should be the text") if text else []
        grouping = named_columns([groups], names, "which should be the groups") if groups else []
        if set(chosen) & set(columns):
            raise DataError(f"{quote(names[chosen[0]])} is a label, and cannot be the text too.")
        if set(grouping) & {*columns, *chosen}:
            raise DataError(f"{quote(names[grouping[0]])} is a label or the text, and no group.")
        if chosen and first.attributes[chosen[0]].codes is None:
            raise DataError(f"column {quote(names[chosen[0]])} is a number, and no text.")
    features = [j for j in range(len(names)) if j not in {*columns, *grouping}]
    if text:
        others = [names[j] for j in features if j not in chosen]
        notes = [f"Left out beside the text: {quote_first(others)}."] if others else []
        X: Sequence[Any] = [np.array(_texts(table, chosen[0]), dtype=object) for table in tables]
        feature_names = [text]
    else:
        ids = {} if keep_ids else _row_ids(tables, features)
        notes, features = list(ids.values()), [j for j in features if j not in ids]
        if not features:
            message = "beside labels and row ids, no column is left as a feature."
            raise first.source.error(first.header_line, message)
        X, (feature_names, *_) = zip(*(_encode_features(t, features) for t in tables), strict=True)
    return join(
        X,
        [_encode_labels(table, columns) for table in tables],
        label_names=[names[j] for j in columns],
        feature_names=feature_names,
        name=name,
        notes=tuple(notes),
        groups=np.concatenate([_groups(t, grouping[0]) for t in tables]) if grouping else None,
    )


def join(X: Sequence[Any], Y: Sequence[NDArray[np.int64]], **facts: Any) -> Dataset:
    """Rows of several files one below the other; those of the first are given for training."""
    n_train = len(Y[0]) if len(Y) > 1 else None
    return Dataset(narrow_indices(stack(X)), np.concatenate(Y), n_train=n_train, **facts)


def _check_header(table: DataTable, first: DataTable) -> None:
    """Rows of several files may follow each other only if their columns are the same."""
    for theirs, mine in zip_longest(table.attributes, first.attributes):
        if _declaration(theirs, table) != _declaration(mine, table):
            line = theirs.line if theirs else table.header_line
            other = f"the header differs from that of {first.source.path}"
            differ = f"{_describe(theirs)} here, {_describe(mine)} there"
            raise table.source.error(line, f"{other}: {differ}. Declare the same in both.")


def _declaration(attribute: Attribute | None, table: DataTable) -> Any:
    # Columns of a CSV file have no declared type: one file may have texts where the other has none.
    is_free = table.relation is None
    return attribute and (attribute.name, is_free or attribute.is_text or attribute.codes)


def _describe(attribute: Attribute | None) -> str:
    if attribute is None:
        return "no further column"
    name, codes = quote(attribute.name), attribute.codes
    if attribute.is_text or codes is None:
        return f"{name} ({'a string' if attribute.is_text else 'a number'})"
    return f"{name} (one of {quote_first(codes)})"


# Which columns are labels.


def parse_labels(text: str | None) -> str | int | list[str] | None:
    """Label columns as written in a command: a count, names with commas, a pattern or a file."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return [name.strip() for name in text.split(",")] if "," in text else text


def _label_columns(
    table: DataTable, labels: Labels | os.PathLike[str] | None, names: Sequence[str]
) -> list[int]:
    """Positions of the label columns among all columns, in the order of the file."""
    if isinstance(labels, str) and labels.lower().endswith(".xml"):
        labels = Path(labels)
    if isinstance(labels, os.PathLike):
        return named_columns(read_label_names(labels), names, f"which {labels} names")
    if isinstance(labels, int) and not isinstance(labels, bool):
        return _outer_columns(labels, len(names))
    if isinstance(labels, str):
        if labels in names:
            return [names.index(labels)]
        columns = [j for j, name in enumerate(names) if fnmatchcase(name, labels)]
        if not columns:
            known = f"the columns are {quote_first(names)}"
            raise DataError(f"no column matches {quote(labels)}; {known}. {FORMS}.")
        return columns
    if isinstance(labels, Iterable):
        return named_columns(list(labels), names, "which should be labels")
    if labels is not None:
        raise InputError(f"{FORMS}; got {labels!r}.")
    if table.relation is None:
        raise InputError(f"Say which columns of {table.source.path} are labels: {FORMS}.")
    by_relation = meka_columns(table.relation, len(names))
    if by_relation is None:
        beside = f"no {table.source.path.stem}.xml lies beside the file"
        how = f"Name an .xml file by labels, or: {FORMS}."
        wrong = "the header does not say which attributes are labels"
        raise DataError(f"{wrong}: {beside}, and its relation has no -C. {how}")
    return by_relation


def _outer_columns(count: int, n_columns: int, origin: str = "") -> list[int]:
    """The first `count` columns, or the last ones if it is negative."""
    if not 0 < abs(count) <= n_columns:
        asked = f"{origin}{abs(count)} label columns were asked for"
        raise DataError(f"{asked}; there are {n_columns} columns.")
    return list(range(n_columns)[:count] if count > 0 else range(n_columns)[count:])


def named_columns(labels: Sequence[str], names: Sequence[str], origin: str) -> list[int]:
    """Positions of the columns of these names; an error says where the names come from."""
    if not labels or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{FORMS}; got {list(labels)[:5]!r}.")
    position = {name: j for j, name in enumerate(names)}
    unknown = [label for label in labels if label not in position]
    if unknown:
        # Comparing takes time by the square of the lengths, and a name can be as long as the file.
        candidates = [known for known in names[:2000] if len(known) <= 60]
        near = get_close_matches(unknown[0][:60], candidates, n=1)
        how = f"Did you mean {quote(near[0])}?" if near else "Names must agree exactly."
        wrong = f"none of the {len(names)} columns is called {quote_first(unknown)}, {origin}"
        raise DataError(f"{wrong}. {how}")
    return sorted({position[label] for label in labels})


def meka_columns(relation: str, n_attributes: int) -> list[int] | None:
    """The first 3 attributes for ``-C 3``, the last for ``-C -3``; None if it does not say."""
    counts = _MEKA_OPTION.findall(relation)
    if not counts:
        return None
    said = f"the relation says {', '.join(f'-C {count}' for count in counts)}"
    if len(counts) > 1 or not _MEKA_COUNT.fullmatch(counts[0]):
        form = "the number of labels once, such as -C 3 (the first three attributes) or -C -3"
        how = "If a filter has moved the attributes, name the labels."
        raise DataError(f"{quote(said, 80)}; expected {form}. {how}")
    return _outer_columns(int(counts[0]), n_attributes, f"{said}: ")


# Columns that name or number the rows, from which nothing can be learnt about new rows.


def _row_ids(tables: Sequence[DataTable], features: Sequence[int]) -> dict[int, str]:
    """Columns that name or number the rows, and what to tell about them."""
    n_rows, found = sum(len(table.row_lines) for table in tables), {}
    for j in features if n_rows >= LEAST_ROWS else ():
        name = tables[0].attributes[j].name
        if tables[0].attributes[j].codes is not None:
            # A column of texts in a CSV file may be numbers with a slip.
            is_id = tables[0].relation is not None and _names_rows(tables, j, n_rows)
        else:
            is_id = _sounds_like_id(name) and _numbers_rows([_column(each, j) for each in tables])
        if is_id:
            why = f"it tells the {n_rows:,} rows apart, as a row id does"
            found[j] = f"The column {quote(name)} was left out of the features: {why}."
    return found


def _names_rows(tables: Sequence[DataTable], j: int, n_rows: int) -> bool:
    """Whether nominal values or texts tell (nearly) all rows apart.

    Texts of several words are the content of the rows rather than their names.
    """
    attributes = [table.attributes[j] for table in tables]
    # The header may list values that no row has.
    if sum(len(each.codes or ()) for each in attributes) < _NEARLY_ALL * n_rows:
        return False
    values = {text for table in tables for text in _texts(table, j)}
    n_words = sum(len(value.split()) > 1 for value in values) if attributes[0].is_text else 0
    return len(values) >= _NEARLY_ALL * n_rows and n_words <= len(values) / 2


def _sounds_like_id(name: str) -> bool:
    """Whether a column is called like a row number: ``id``, ``case_no``, ``RowIndex``."""
    words = [word.lower() for word in _WORDS.split(name) if word]
    return bool(words) and words[-1] in _ID_NAMES


def _numbers_rows(parts: Sequence[NDArray[Any]]) -> bool:
    """Whether a column is 0, 1, 2 and so on, or 1, 2, 3; each file may begin anew."""
    return _counts_up(np.concatenate(parts)) or all(map(_counts_up, parts))


def _counts_up(values: NDArray[Any]) -> bool:
    """Whether values are the numbers from 0 or 1 on, in any order."""
    found = np.sort(values)
    return bool(found[0] in (0, 1) and (np.diff(found) == 1).all())


# What becomes of columns.


def _column(table: DataTable, j: int) -> NDArray[np.float64]:
    column = table.cells[:, [j]]
    return (column.toarray() if issparse(column) else column).ravel()


def _texts(table: DataTable, j: int) -> list[str]:
    """The values of a nominal or string attribute; empty where one is missing."""
    values = list(table.attributes[j].codes or ())
    return ["" if np.isnan(code) else values[int(code)] for code in _column(table, j)]


def _groups(table: DataTable, j: int) -> NDArray[Any]:
    """The values of any attribute, of which none may be missing."""
    column = _column(table, j)
    missing = np.isnan(column)
    if missing.any():
        message = f"there is no {quote(table.attributes[j].name)}. Each row needs a group."
        raise table.source.error(int(table.row_lines[np.argmax(missing)]), message)
    is_number = table.attributes[j].codes is None
    return column if is_number else np.array(_texts(table, j), dtype=object)


def _encode_labels(table: DataTable, columns: Sequence[int]) -> NDArray[np.int64]:
    """The label columns as 0 and 1, written as numbers or as nominal values such as {0,1}."""
    labels = [table.attributes[column] for column in columns]
    n_rows, n_labels = len(table.row_lines), len(labels)
    what = f"{n_rows} rows of {n_labels} labels"
    table.source.check_cells(n_rows * n_labels, table.header_line, what)
    for label in labels:
        if label.codes is not None and _numbers_spelt(label) is None:
            message = f"must take the values {{0,1}}; it takes {quote_first(label.codes)}."
            raise table.source.error(label.line, f"label {quote(label.name)} {message}")
    Y = _expand(table, columns, list(map(_columns_by_code, labels)))
    cells = coo_array(Y)
    wrong = np.flatnonzero((cells.data != 0) & (cells.data != 1))
    if len(wrong):
        row, column = (int(places[wrong[0]]) for places in cells.coords)
        value = cells.data[wrong[0]]
        message = f"must be 0 or 1; it is {'missing (?)' if np.isnan(value) else f'{value:g}'}."
        name = quote(labels[column].name)
        raise table.source.error(int(table.row_lines[row]), f"label {name} {message}")
    dense: NDArray[np.int64] = (Y.toarray() if issparse(Y) else Y).astype(np.int64)
    return dense


def _numbers_spelt(attribute: Attribute) -> NDArray[np.float64] | None:
    """The number 0 or 1 that each value of a nominal attribute spells; None if any does not."""
    spelt = [truth(value) for value in attribute.codes or ()]
    return np.array(spelt, dtype=float) if spelt and None not in spelt else None


def _columns_by_code(attribute: Attribute) -> Any:
    """What each code of an attribute becomes, a row a code; None where it is its number already."""
    spelt, n_codes = _numbers_spelt(attribute), len(attribute.codes or ())
    if spelt is None:
        return eye_array(n_codes, format="csr") if n_codes > 2 else None
    return None if np.array_equal(spelt, np.arange(n_codes)) else csr_array(spelt[:, None])


def _encode_features(table: DataTable, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """Some columns as numbers, and their names; see ``load_dataset``.

    A missing value is NaN in all columns of its attribute.
    """
    attributes = [table.attributes[j] for j in columns]
    for attribute in attributes:
        with table.source.locate_errors(attribute.line):
            if attribute.is_text and table.relation is None:
                for text in attribute.codes or ():
                    number(text, attribute.name)
            elif attribute.is_text:
                raise wrong_type(attribute.name, "string")
    by_code = [_columns_by_code(attribute) for attribute in attributes]
    names: list[str] = []
    for attribute, rows in zip(attributes, by_code, strict=True):
        one = rows is None or rows.shape[1] == 1
        values = attribute.codes or ()
        names += [attribute.name] if one else [f"{attribute.name}={value}" for value in values]
    # Attributes have distinct names, but `a=b` may be one of them, or a value of `a`.
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        why = "since an attribute with more than two values becomes a column for each value"
        message = f"two features would be called {quote(repeated)}, {why}. Rename one attribute."
        raise table.source.error(table.header_line, message)
    return _expand(table, columns, by_code), names


def _expand(table: DataTable, columns: Sequence[int], by_code: Sequence[Any]) -> Any:
    """Some columns, with those of codes replaced by the columns that they become."""
    cells = table.cells[:, columns]
    special = [j for j, rows in enumerate(by_code) if rows is not None]
    if not special:
        return cells
    n_rows, is_sparse = cells.shape[0], issparse(cells)
    width = np.array([1 if rows is None else rows.shape[1] for rows in by_code])
    n_cells = n_rows * int(width.sum())
    if is_sparse:
        # One missing value is as many missing cells as the attribute has columns.
        n_missing = int(width[cells.indices[np.isnan(cells.data)]].sum())
        n_cells, cells = n_rows * len(special) + n_missing, cells.tocsc()
    what, per_byte = "the table of features", _OMITTED_PER_BYTE if is_sparse else 16
    table.source.check_cells(n_cells, table.header_line, what, per_byte)
    parts = []
    for is_direct, group in groupby(range(len(by_code)), lambda j: by_code[j] is None):
        run = list(group)
        if is_direct:
            parts.append(cells[:, run])
            continue
        for j in run:
            codes = cells[:, [j]].toarray().ravel() if is_sparse else cells[:, j]
            rows = vstack([by_code[j], csr_array(np.full((1, width[j]), np.nan))], format="csr")
            part = rows[np.where(np.isnan(codes), rows.shape[0] - 1, codes).astype(np.intp)]
            parts.append(part if is_sparse else part.toarray())
    if not is_sparse:
        return np.hstack(parts)
    X = hstack(parts, format="csr")
    X.sort_indices()
    return X
