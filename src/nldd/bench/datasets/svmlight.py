"""Sparse text files: lines of labels and ``feature:value`` pairs, as LIBSVM and the XML repository
write them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nldd._sparse import with_narrow_indices
from nldd._wording import quote
from nldd.bench.datasets.joined import join
from nldd.bench.datasets.source import MAX_BYTES, DataFile, read_bytes
from nldd.datasets import Dataset
from nldd.exceptions import InputError

# Number of rows, features and labels in the first line, as in the XML repository.
_SIZES = re.compile(rb"\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*")
# Whatever follows a hash is a comment.
_BLANK = re.compile(rb"\s*(?:#.*)?")
_FORM = "expected labels with commas between and pairs, such as: 3,17 0:1.5 8:0.25"
# The reader counts features by 32 bits.
_MOST = 2**31 - 2


@dataclass(frozen=True, slots=True)
class _Lines:
    """A file as it was read: counts by its first line if it has them, and the rows."""

    source: DataFile
    sizes: tuple[int, int, int] | None
    X: Any
    labels: list[tuple[float, ...]]


def read_svmlight(paths: Sequence[Path], name: str, *, max_bytes: int = MAX_BYTES) -> Dataset:
    """Read files of lines such as ``3,17 0:1.5 8:0.25``: labels, then features that are not 0.

    A first line of three numbers, as in the XML repository, says how many rows, features and labels
    there are; else the largest ones that occur do. Both may be counted from 0 or from 1: from 1
    where 0 never occurs and the last number, if it is known, does. Labels are called ``label_0``
    and so on, by their numbers in the file.
    """
    files = [_read_file(path, max_bytes) for path in paths]
    first_feature, n_features = _feature_range(files)
    first_label, n_labels = _label_range(files)
    parts = []
    for file in files:
        n_rows = len(file.labels)
        what = f"{n_rows} rows of {n_labels} labels, and the names of {n_features} features,"
        file.source.check_cells(n_rows * n_labels + n_features, 1, what)
        found = file.X.data, file.X.indices - first_feature, file.X.indptr
        X = csr_array(found, shape=(n_rows, n_features))
        X.eliminate_zeros()
        Y = np.zeros((n_rows, n_labels), dtype=np.int64)
        for row, numbers in zip(Y, file.labels, strict=True):
            row[np.array(numbers, dtype=np.intp) - first_label] = 1
        parts.append(
            Dataset(
                with_narrow_indices(X),
                Y,
                [f"label_{first_label + j}" for j in range(n_labels)],
                [f"feature_{first_feature + j}" for j in range(n_features)],
                file.source.path.name,
            )
        )
    return join(parts, name)


def _read_file(path: Path, max_bytes: int) -> _Lines:
    source, content = read_bytes(path, max_bytes)
    lines = content.removeprefix(b"\xef\xbb\xbf").splitlines()
    found = _SIZES.fullmatch(lines[0]) if lines else None
    sizes = (int(found[1]), int(found[2]), int(found[3])) if found else None
    start = 1 if sizes else 0
    body = lines[start:]
    rows = [i for i, line in enumerate(body, start + 1) if not _BLANK.fullmatch(line)]
    if not rows:
        raise source.error(1, f"no rows follow; {_FORM}. Is the file complete?")
    try:
        X, labels = _read_rows(body)
    except _ERRORS as error:
        raise source.error(*_locate(body, start, error)) from None
    for line, row in zip(rows, labels, strict=True):
        if not all(number.is_integer() and 0 <= number <= _MOST for number in row):
            odd = next(n for n in row if not (n.is_integer() and 0 <= n <= _MOST))
            raise source.error(line, f"expected labels counted from 0 or 1; got {odd:g}.")
    infinite = np.flatnonzero(~np.isfinite(X.data))
    if len(infinite):
        place = int(np.searchsorted(X.indptr, infinite[0], side="right")) - 1
        raise source.error(
            rows[place], f"expected numbers below 1.8e308; got {X.data[infinite[0]]:g}."
        )
    if sizes and len(rows) != sizes[0]:
        empty = "Rows without labels and features cannot be read."
        message = f"the first line says {sizes[0]} rows; {len(rows)} follow. {empty}"
        raise source.error(1, message)
    return _Lines(source, sizes, X, labels)


# What scikit-learn's reader raises at lines that it cannot read.
_ERRORS = (ValueError, OverflowError)


def _read_rows(lines: Sequence[bytes]) -> tuple[Any, list[tuple[float, ...]]]:
    # Not at the top: scikit-learn's collection of data sets takes a while to load.
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(BytesIO(b"\n".join(lines)), multilabel=True, zero_based=True)


def _locate(lines: Sequence[bytes], start: int, error: Exception) -> tuple[int, str]:
    """The first line that the reader refuses, by halves, and what is wrong with it."""
    first, last = 0, len(lines)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            _read_rows(lines[first:middle])
            first = middle
        except _ERRORS as found:
            last, error = middle, found
    text = quote(lines[first].decode("utf-8", "replace").strip())
    reason = str(error) if "sorted" in str(error) else _FORM
    return start + first + 1, f"{reason.rstrip('.')}; got {text}."


def _feature_range(files: Sequence[_Lines]) -> tuple[int, int]:
    """The number of the first feature, 0 or 1, and how many there are."""
    lowest = min((int(file.X.indices.min()) for file in files if file.X.nnz), default=0)
    highest = max((int(file.X.indices.max()) for file in files if file.X.nnz), default=0)
    return _range(lowest, highest, files, 1, "features")


def _label_range(files: Sequence[_Lines]) -> tuple[int, int]:
    numbers = [number for file in files for row in file.labels for number in row]
    if not numbers:
        raise InputError(f"{files[0].source.path} has no labels; {_FORM}.")
    return _range(int(min(numbers)), int(max(numbers)), files, 2, "labels")


def _range(
    lowest: int, highest: int, files: Sequence[_Lines], place: int, what: str
) -> tuple[int, int]:
    sizes = {file.sizes[place] for file in files if file.sizes}
    if len(sizes) > 1:
        counts = " and ".join(map(str, sorted(sizes)))
        raise InputError(f"{files[0].source.path} and its test file say {counts} {what}.")
    if not sizes:
        first = 1 if lowest > 0 else 0
        return first, highest + 1 - first
    (size,) = sizes
    first = 1 if lowest > 0 and highest == size else 0
    if highest >= size + first or size == 0:
        found = f"the first line says {size} {what}; number {highest} occurs"
        raise files[0].source.error(1, f"{found}. Is it damaged?")
    return first, size
