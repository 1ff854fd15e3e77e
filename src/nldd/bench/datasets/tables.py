"""Text tables that are no ARFF: CSV files, and sparse lines of LIBSVM and the XML repository."""

import csv
import os
import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nldd._wording import quote
from nldd.bench.datasets.arff import Attribute, Codes, DataTable
from nldd.bench.datasets.columns import join
from nldd.bench.datasets.source import (
    MAX_BYTES,
    DataError,
    DataFile,
    numbers,
    read_bytes,
    read_lines,
)
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.present.text import count_noun

SEPARATORS = ",;\t|"
# The separator is found by the first lines.
_N_SAMPLE = 1000
MISSING = frozenset({"", "NA", "?"})

# Number of rows, features and labels in the first line, as in the XML repository.
_SIZES = re.compile(rb"\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*")
_FORM = "expected lines of labels with commas between and pairs, such as: 3,17 0:1.5 8:0.25"
# The reader counts features by 32 bits.
_MOST = 2**31 - 2


def read_csv(
    path: str | os.PathLike[str], text: str | None = None, groups: str | None = None
) -> DataTable:
    """Read a table with a header line.

    UTF-8 with or without byte order mark; what is not UTF-8 is taken as Latin-1. The separator is a
    comma, semicolon, tab or bar, whichever splits most rows into as many cells as the header.
    Columns are numbers where all cells are that or missing, but for the `text`, in which no cell is
    missing, and the `groups`.
    """
    source, lines = read_lines(path)
    (header_line, names), *rows = _read_rows(source, lines)
    with source.locate_errors(header_line):
        _check_names(names)
        if not rows:
            raise DataError("no rows follow the header. Is the file complete?")
    attributes = []
    cells = np.empty((len(rows), len(names)))
    for j, name in enumerate(names):
        column, line = [row[j] for _, row in rows], header_line
        values: Any = None if name in (text, groups) else numbers(column, MISSING)
        codes: Codes | None = None
        if values is None:
            missing = () if name == text else MISSING
            known = [cell for cell in dict.fromkeys(column) if cell not in missing]
            codes = {cell: float(code) for code, cell in enumerate(known)}
            values = [codes.get(cell, np.nan) for cell in column]
            odd = (n for n, row in rows if row[j] not in MISSING and numbers([row[j]], ()) is None)
            line = next(odd, line)
        cells[:, j] = values
        attributes.append(Attribute(name, codes, line, is_text=codes is not None))
    row_lines = np.array([line for line, _ in rows])
    return DataTable(source, attributes, cells, header_line, row_lines)


def _read_rows(source: DataFile, lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The header and the rows below it, all of one width, each with its line."""
    rows: list[tuple[int, list[str]]] = []
    line = 1
    limit = csv.field_size_limit(MAX_BYTES)  # a text may be longer than what Python begins with
    try:
        whole = (f"{line}\n" for line in lines)
        mark = max(SEPARATORS, key=lambda mark: _fit(lines[:_N_SAMPLE], mark))
        reader = csv.reader(whole, delimiter=mark, skipinitialspace=True, strict=True)
        for row in reader:
            cells = [cell.strip(" \t") for cell in row]
            if len(cells) > 1 or any(cells):
                rows.append((line, cells))
                if len(cells) != (width := len(rows[0][1])):
                    how = "Leave a cell empty if its value is missing, but write its separator."
                    wrong = f"the row has {count_noun(len(cells), 'cell')}, the header {width}"
                    raise source.error(line, f"{wrong}. {how}")
            line = reader.line_num + 1
    except csv.Error as error:
        how = "Write a quote within a quoted cell twice."
        raise source.error(line, f"the row that begins here: {error}. {how}") from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise InputError(f"{source.path} is empty: begin it with a line of column names.")
    return rows


def _fit(lines: Sequence[str], mark: str) -> tuple[float, int]:
    """How many rows are as wide as the header if `mark` separates cells, and how wide that is."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=mark)
    widths = [len(row) for row in reader if any(row)] or [0]
    return sum(n == widths[0] > 1 for n in widths) / len(widths), widths[0]


def _check_names(names: Sequence[str]) -> None:
    if "" in names:
        how = "Name it; if it only numbers the rows, leave it out."
        raise DataError(f"column {names.index('') + 1} has no name. {how}")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(f"two columns are called {quote(name)}. Rename one of them.")


def read_svmlight(paths: Sequence[Path], name: str) -> Dataset:
    """Read files of lines such as ``3,17 0:1.5 8:0.25``: labels, then features that are not 0.

    A first line of three numbers, as in the XML repository, says how many rows, features and labels
    there are; else the largest ones that occur do. Both may be counted from 0 or from 1: from 1
    where 0 never occurs and the last number, if it is known, does. Labels are called ``label_0``
    and so on, by their numbers in the file.
    """
    sources, sizes, tables, labels, rows = zip(*map(_read_sparse_lines, paths), strict=True)
    columns = [table.indices for table in tables]
    first_feature, n_features = _range(
        columns, [size[1:2] for size in sizes], sources[0], "features"
    )
    first_label, n_labels = _range(labels, [size[2:] for size in sizes], sources[0], "labels")
    X, Y = [], []
    for i, table in enumerate(tables):
        n_rows = table.shape[0]
        what = f"{n_rows} rows of {n_labels} labels, and the names of {n_features} features,"
        sources[i].check_cells(n_rows * n_labels + n_features, 1, what)
        found = table.data, table.indices - first_feature, table.indptr
        X.append(csr_array(found, shape=(n_rows, n_features)))
        X[-1].eliminate_zeros()
        Y.append(np.zeros((n_rows, n_labels), dtype=np.int64))
        Y[-1][rows[i], labels[i] - first_label] = 1
    label_names = [f"label_{first_label + j}" for j in range(n_labels)]
    feature_names = [f"feature_{first_feature + j}" for j in range(n_features)]
    return join(X, Y, label_names=label_names, feature_names=feature_names, name=name)


def _read_sparse_lines(path: Path) -> tuple[DataFile, tuple[int, ...], Any, Any, Any]:
    """The file, counts by its first line if any, the features, and labels with their rows."""
    # Not at the top: scikit-learn's collection of data sets takes a while to load.
    from sklearn.datasets import load_svmlight_file

    source, content = read_bytes(path)
    first, _, rest = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    found = _SIZES.fullmatch(first)
    sizes = tuple(map(int, found.groups())) if found else ()
    try:
        lines = BytesIO(rest if found else content)
        X, labelsets = load_svmlight_file(lines, multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise source.error(None, f"{_FORM}. scikit-learn says: {error}") from None
    if not labelsets:
        raise source.error(None, f"no rows; {_FORM}. Is the file complete?")
    labels = np.array(list(chain.from_iterable(labelsets)), dtype=float)
    if odd := [n for n in labels if not (n.is_integer() and 0 <= n <= _MOST)]:
        raise source.error(None, f"expected labels counted from 0 or 1; got {odd[0]:g}.")
    if not np.isfinite(X.data).all():
        raise source.error(None, "expected numbers below 1.8e308; got nan or infinity.")
    if sizes and len(labelsets) != sizes[0]:
        empty = "Rows without labels and features cannot be read."
        wrong = f"the first line says {sizes[0]} rows; {len(labelsets)} follow"
        raise source.error(None, f"{wrong}. {empty}")
    rows = np.repeat(np.arange(len(labelsets)), list(map(len, labelsets)))
    return source, sizes, X, labels.astype(np.intp), rows


def _range(
    found: Sequence[NDArray[Any]], sizes: Sequence[tuple[int, ...]], source: DataFile, what: str
) -> tuple[int, int]:
    """The first of some numbers, 0 or 1, and how many there are."""
    numbers, known = np.concatenate(found), set(chain.from_iterable(sizes))
    if not len(numbers) and what == "labels":
        raise source.error(None, f"no labels; {_FORM}.")
    lowest, highest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if not known:
        first = 1 if lowest > 0 else 0
        return first, highest + 1 - first
    size = max(known)
    first = 1 if lowest > 0 and highest == size else 0
    if highest >= size + first or size == 0:
        wrong = f"the first line says {size} {what}; number {highest} occurs"
        raise source.error(None, f"{wrong}. Is it damaged?")
    return first, size
