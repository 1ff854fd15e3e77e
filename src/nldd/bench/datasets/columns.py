"""Columns of a file become what they are for: labels, features, the text, or groups of rows."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, issparse, vstack

from nldd._validation import narrow_indices
from nldd._wording import quote, quote_first
from nldd.bench.datasets.arff import Attribute, DataTable, stack, wrong_type
from nldd.bench.datasets.source import DataError, number, numbers, read_label_names, truth
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.present.text import count_noun

Labels = int | str | Iterable[str]
FORMS = (
    "labels is a list of names, a pattern such as 'label_*', or a number of columns: "
    "3 for the first three, -3 for the last three"
)
_MEKA_OPTION = re.compile(r"(?<![^\s:])-C(?:\s+(\S*)|$)")
_MEKA_COUNT = re.compile(r"-?[0-9]{1,18}")
# Cells of a CSV file without a value.
MISSING = frozenset({"", "NA", "?"})
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
    with first.source.at(first.header_line):
        columns = _label_columns(first, labels, names)
        chosen = named_columns([text], names, "which should be the text") if text else []
        grouping = named_columns([groups], names, "which should be the groups") if groups else []
        if set(chosen) & set(columns):
            raise DataError(f"{quote(names[chosen[0]])} is a label, and cannot be the text too.")
        if set(grouping) & {*columns, *chosen}:
            raise DataError(f"{quote(names[grouping[0]])} is a label or the text, and no group.")
        features = [j for j in range(len(names)) if j not in {*columns, *grouping}]
        if not features:
            raise DataError(f"all {len(names)} columns are labels, and none is left as a feature.")
    if text:
        others = [names[j] for j in features if j not in chosen]
        notes = [f"Left out beside the text: {quote_first(others)}."] if others else []
        features = chosen
    readers = dict.fromkeys(columns, _label) | dict.fromkeys([] if text else features, _feature)
    tables = [_read_numbers(table, readers) for table in tables]
    if not text:
        ids = {} if keep_ids else _row_ids(tables, features)
        notes, features = list(ids.values()), [j for j in features if j not in ids]
        if not features:
            message = "beside the labels there are row ids only, and no feature."
            raise first.source.error(first.header_line, message)
    encode = _encode_texts if text else _encode_features
    X, feature_names = zip(*(encode(table, features) for table in tables), strict=True)
    return join(
        X,
        [_encode_labels(table, columns) for table in tables],
        label_names=[names[j] for j in columns],
        feature_names=feature_names[0],
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
    for mine, theirs in zip_longest(first.attributes, table.attributes):
        line, what = table.header_line, ""
        if not mine or not theirs:
            what = f"{len(table.attributes)} columns here, {len(first.attributes)} there"
        elif mine.name != theirs.name:
            what = f"column {quote(theirs.name)} here, {quote(mine.name)} there"
        elif mine.is_text != theirs.is_text or (not mine.is_text and mine.codes != theirs.codes):
            what = f"column {quote(mine.name)} is {_kind(theirs)} here, {_kind(mine)} there"
        if what:
            line = theirs.line if theirs else table.header_line
            other = f"the header differs from that of {first.source.path}"
            raise table.source.error(line, f"{other}: {what}. Declare the same in both.")


def _kind(attribute: Attribute) -> str:
    """An attribute's type in few words."""
    if attribute.is_text:
        return "a string"
    return "a number" if attribute.codes is None else f"one of {quote_first(attribute.codes)}"


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
        raise DataError(f"Say which columns are labels: {FORMS}.")
    by_relation = meka_columns(table.relation, len(names))
    if by_relation is None:
        beside = f"no {table.source.path.stem}.xml lies beside the file"
        how = f"Name an .xml file by labels, or: {FORMS}."
        wrong = "the header does not say which attributes are labels"
        raise DataError(f"{wrong}: {beside}, and its relation has no -C. {how}")
    return by_relation


def _outer_columns(count: int, n_columns: int, origin: str = "") -> list[int]:
    """The first `count` columns, or the last ones if it is negative."""
    asked = f"{origin}{abs(count)} label columns were asked for"
    if count == 0:
        raise DataError(f"{asked}; at least one is needed.")
    if abs(count) > n_columns:
        raise DataError(f"{asked}, but there are {n_columns}.")
    return list(range(n_columns)[:count] if count > 0 else range(n_columns)[count:])


def named_columns(labels: Sequence[str], names: Sequence[str], origin: str) -> list[int]:
    """Positions of the columns of these names; an error says where the names come from."""
    if not labels or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{FORMS}; got {list(labels)[:5]!r}.")
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise InputError(f"labels names {quote_first(repeated)} more than once.")
    position = {name: j for j, name in enumerate(names)}
    unknown = [label for label in labels if label not in position]
    if unknown:
        # Comparing takes time by the square of the lengths, and a name can be as long as the file.
        candidates = [known for known in names[:2000] if len(known) <= 60]
        near = get_close_matches(unknown[0][:60], candidates, n=1)
        how = f"Did you mean {quote(near[0])}?" if near else "Names must agree exactly."
        wrong = f"none of the {len(names)} columns is called {quote_first(unknown)}, {origin}"
        raise DataError(f"{wrong}. {how}")
    return sorted(position[label] for label in labels)


def meka_columns(relation: str, n_attributes: int) -> list[int] | None:
    """The first 3 attributes for ``-C 3``, the last for ``-C -3``; None if it does not say."""
    counts = _MEKA_OPTION.findall(relation)
    if not counts:
        return None
    if len(counts) > 1:
        why = "which happens when a filter has moved the attributes"
        how = "Say which ones are labels: labels=3 for the first three, -3 for the last."
        raise DataError(f"the relation says -C {len(counts)} times, {why}. {how}")
    if not _MEKA_COUNT.fullmatch(counts[0]):
        form = "-C 3 (the first three attributes) or -C -3 (the last three)"
        found = f"the relation says -C {quote(counts[0])}"
        raise DataError(f"{found}; expected the number of labels, such as {form}.")
    return _outer_columns(int(counts[0]), n_attributes, f"the relation says -C {counts[0]}: ")


# Cells of CSV files, which are texts until it is known what they are for.


def _read_numbers(table: DataTable, readers: Mapping[int, Callable[[str], float]]) -> DataTable:
    """A table with some columns read as numbers, if it is that of a CSV file."""
    if table.relation is not None:
        return table
    cells, attributes = table.cells.copy(), list(table.attributes)
    for j, read in readers.items():
        texts = list(attributes[j].codes or ())
        codes = cells[:, j].astype(np.intp)
        values: Any = numbers(texts, MISSING) if read is _feature else None
        if values is None:
            values = np.empty(len(texts))
            for code, cell in enumerate(texts):
                try:
                    values[code] = read(cell)
                except DataError as refusal:
                    line = int(table.row_lines[np.argmax(codes == code)])
                    message = f"column {quote(attributes[j].name)}: {refusal}"
                    raise table.source.error(line, message) from None
        cells[:, j] = values[codes]
        attributes[j] = replace(attributes[j], codes=None, is_text=False)
    return replace(table, cells=cells, attributes=attributes)


def _feature(cell: str) -> float:
    return np.nan if cell in MISSING else number(cell)


def _label(cell: str) -> float:
    value = truth(cell)
    if value is None:
        raise DataError(f"a label must be 0 or 1, false or true; got {quote(cell)}.")
    return value


# Columns that name or number the rows, from which nothing can be learnt about new rows.


def _row_ids(tables: Sequence[DataTable], features: Sequence[int]) -> dict[int, str]:
    """Columns that name or number the rows, and what to tell about them."""
    n_rows, found = sum(len(table.row_lines) for table in tables), {}
    for j in features if n_rows >= LEAST_ROWS else ():
        name, codes = tables[0].attributes[j].name, tables[0].attributes[j].codes
        if codes is not None:
            why = _why_names(tables, j, n_rows)
        else:
            why = _why_numbers([_column(t, j) for t in tables]) if _sounds_like_id(name) else None
        if why:
            left_out = f"The column {quote(name)} was left out of the features"
            found[j] = f"{left_out}: {why}, as a row id does."
    return found


def _why_names(tables: Sequence[DataTable], j: int, n_rows: int) -> str | None:
    """How nominal values or texts tell (nearly) all rows apart; None if they do not.

    Texts of several words are the content of the rows rather than their names.
    """
    attributes = [table.attributes[j] for table in tables]
    # The header may list values that no row has.
    if sum(len(each.codes or ()) for each in attributes) < _NEARLY_ALL * n_rows:
        return None
    values = {text for table in tables for text in _texts(table, j)}
    n_words = sum(len(value.split()) > 1 for value in values) if attributes[0].is_text else 0
    is_id = len(values) >= _NEARLY_ALL * n_rows and n_words <= len(values) / 2
    return _tell_apart(len(values), n_rows) if is_id else None


def _sounds_like_id(name: str) -> bool:
    """Whether a column is called like a row number: ``id``, ``case_no``, ``RowIndex``."""
    words = [word.lower() for word in _WORDS.split(name) if word]
    return bool(words) and words[-1] in _ID_NAMES


def _why_numbers(parts: Sequence[NDArray[Any]]) -> str | None:
    """How a column, file by file, numbers the rows; None if it does not.

    It is 0, 1, 2 and so on, or 1, 2, 3; each file may begin anew.
    """
    values = np.concatenate(parts)
    if _counts_up(values):
        return _tell_apart(len(values), len(values))
    return "it numbers the rows of each part" if all(map(_counts_up, parts)) else None


def _counts_up(values: NDArray[Any]) -> bool:
    """Whether values are the numbers from 0 or 1 on, in any order."""
    found = np.sort(values)
    return bool(len(found)) and any(
        np.array_equal(found, np.arange(first, first + len(found))) for first in (0, 1)
    )


def _tell_apart(n_values: int, n_rows: int) -> str:
    nearly = "nearly " if n_values < n_rows else ""
    values, rows = count_noun(n_values, "value"), count_noun(n_rows, "row")
    return f"its {values} {nearly}tell the {rows} apart"


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
    attribute = table.attributes[j]
    values: Any = _column(table, j)
    missing = np.isnan(values)
    if attribute.codes is not None:
        values = np.array(_texts(table, j), dtype=object)
        if table.relation is None:
            missing = np.isin(values, list(MISSING))
    if missing.any():
        message = f"there is no {quote(attribute.name)}. Each row needs a group."
        raise table.source.error(int(table.row_lines[np.argmax(missing)]), message)
    return values


def _encode_texts(table: DataTable, columns: Sequence[int]) -> tuple[Any, list[str]]:
    """The texts of one column, and its name."""
    (j,) = columns
    attribute = table.attributes[j]
    if attribute.codes is None:
        message = f"attribute {quote(attribute.name)} is a number, and no text."
        raise table.source.error(attribute.line, message)
    return np.array(_texts(table, j), dtype=object), [attribute.name]


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
        if attribute.is_text:
            raise table.source.error(attribute.line, wrong_type(attribute.name, "string"))
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
    check, n_rows, sparse = table.source.check_cells, cells.shape[0], issparse(cells)
    line = table.header_line
    width = np.array([1 if rows is None else rows.shape[1] for rows in by_code])
    start = np.cumsum(width) - width
    if sparse:
        check(n_rows * len(special), line, "what the rows leave out", _OMITTED_PER_BYTE)
    else:
        check(n_rows * int(width.sum()), line, "the table of features")
    codes = cells[:, special].toarray() if sparse else cells[:, special]
    # One missing value is as many missing cells as the attribute has columns.
    n_missing = int(np.isnan(codes).sum(axis=0) @ width[special])
    check(n_missing, line, "missing values in the rows", _OMITTED_PER_BYTE)
    direct = np.setdiff1d(np.arange(len(width)), special)
    parts, places = [cells[:, direct]], [start[direct]]
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
