"""Sparse text files: lines of labels and ``feature:value`` pairs, as LIBSVM and the XML repository
write them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nldd._validation import narrow_indices
from nldd.bench.datasets.joined import join
from nldd.bench.datasets.source import MAX_BYTES, DataFile, read_bytes
from nldd.datasets import Dataset

# Number of rows, features and labels in the first line, as in the XML repository.
_SIZES = re.compile(rb"\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*")
_FORM = "expected lines of labels with commas between and pairs, such as: 3,17 0:1.5 8:0.25"
# The reader counts features by 32 bits.
_MOST = 2**31 - 2


@dataclass(frozen=True, slots=True)
class _Lines:
    """A file as it was read: counts by its first line if it has them, and the rows.

    `labels` has the number of each label that occurs, and `rows` the row that carries it.
    """

    source: DataFile
    sizes: tuple[int, ...] | None
    X: Any
    rows: NDArray[np.intp]
    labels: NDArray[np.intp]


def read_svmlight(paths: Sequence[Path], name: str, *, max_bytes: int = MAX_BYTES) -> Dataset:
    """Read files of lines such as ``3,17 0:1.5 8:0.25``: labels, then features that are not 0.

    A first line of three numbers, as in the XML repository, says how many rows, features and labels
    there are; else the largest ones that occur do. Both may be counted from 0 or from 1: from 1
    where 0 never occurs and the last number, if it is known, does. Labels are called ``label_0``
    and so on, by their numbers in the file.
    """
    files = [_read_file(path, max_bytes) for path in paths]
    features, labels = ([getattr(file, part) for file in files] for part in ("X", "labels"))
    first_feature, n_features = _range([X.indices for X in features], files, 1, "features")
    first_label, n_labels = _range(labels, files, 2, "labels")
    parts = []
    for file in files:
        n_rows = file.X.shape[0]
        what = f"{n_rows} rows of {n_labels} labels, and the names of {n_features} features,"
        file.source.check_cells(n_rows * n_labels + n_features, 1, what)
        found = file.X.data, file.X.indices - first_feature, file.X.indptr
        X = csr_array(found, shape=(n_rows, n_features))
        X.eliminate_zeros()
        Y = np.zeros((n_rows, n_labels), dtype=np.int64)
        Y[file.rows, file.labels - first_label] = 1
        parts.append(
            Dataset(
                narrow_indices(X),
                Y,
                [f"label_{first_label + j}" for j in range(n_labels)],
                [f"feature_{first_feature + j}" for j in range(n_features)],
                file.source.path.name,
            )
        )
    return join(parts, name)


def _read_file(path: Path, max_bytes: int) -> _Lines:
    # Not at the top: scikit-learn's collection of data sets takes a while to load.
    from sklearn.datasets import load_svmlight_file

    source, content = read_bytes(path, max_bytes)
    first, _, rest = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    found = _SIZES.fullmatch(first)
    sizes = tuple(map(int, found.groups())) if found else None
    try:
        lines = BytesIO(rest if found else content)
        X, labelsets = load_svmlight_file(lines, multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise source.refusal(f"{_FORM}. scikit-learn says: {error}") from None
    if not labelsets:
        raise source.refusal(f"no rows; {_FORM}. Is the file complete?")
    numbers = np.array(list(chain.from_iterable(labelsets)), dtype=float)
    if odd := [n for n in numbers if not (n.is_integer() and 0 <= n <= _MOST)]:
        raise source.refusal(f"expected labels counted from 0 or 1; got {odd[0]:g}.")
    if not np.isfinite(X.data).all():
        raise source.refusal("expected numbers below 1.8e308; got nan or infinity.")
    if sizes and len(labelsets) != sizes[0]:
        empty = "Rows without labels and features cannot be read."
        wrong = f"the first line says {sizes[0]} rows; {len(labelsets)} follow"
        raise source.refusal(f"{wrong}. {empty}")
    rows = np.repeat(np.arange(len(labelsets)), list(map(len, labelsets)))
    return _Lines(source, sizes, X, rows, numbers.astype(np.intp))


def _range(
    found: Sequence[NDArray[Any]], files: Sequence[_Lines], place: int, what: str
) -> tuple[int, int]:
    """The first of some numbers, 0 or 1, and how many there are."""
    numbers, source = np.concatenate(found), files[0].source
    if not len(numbers) and what == "labels":
        raise source.refusal(f"no labels; {_FORM}.")
    lowest, highest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    sizes = {file.sizes[place] for file in files if file.sizes}
    if len(sizes) > 1:
        counts = " and ".join(map(str, sorted(sizes)))
        raise source.refusal(f"it and its test file say {counts} {what}.")
    if not sizes:
        first = 1 if lowest > 0 else 0
        return first, highest + 1 - first
    (size,) = sizes
    first = 1 if lowest > 0 and highest == size else 0
    if highest >= size + first or size == 0:
        wrong = f"the first line says {size} {what}; number {highest} occurs"
        raise source.refusal(f"{wrong}. Is it damaged?")
    return first, size
