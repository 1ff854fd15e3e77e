"""Data sets as files of MEKA, so that other systems run on the very same rows."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from nldd._files import open_replacement, refuse_existing
from nldd.datasets import Dataset
from nldd.exceptions import InputError

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.=+/-]*")
# What Weka writes with a backslash in quotes. It takes no other control character by its code.
_ESCAPES = str.maketrans(
    {"\\": r"\\", "'": r"\'", "\n": r"\n", "\t": r"\t", "\r": r"\r", "%": r"\%"}
)
_LARGEST_INTEGER = 2**53


def export_dataset(
    dataset: Dataset, path: str | os.PathLike[str], *, force: bool = True
) -> list[Path]:
    """Write a data set as an ARFF file in which MEKA finds the labels.

    Labels come first, as ``{0,1}``, and their number stands as ``-C`` in the relation. Features are
    numbers, or one string; rows are sparse where `X` is. Loading the file gives the same data set,
    with ``keep_ids=True`` also where `dataset` was loaded so.

    Parameters
    ----------
    dataset : Dataset
    path : path
        File that ends in ``.arff``. Of a data set with a given split two files are written:
        ``birds-train.arff`` and ``birds-test.arff`` for ``birds.arff``.
    force : bool, default=True
        Whether to overwrite files.

    Returns
    -------
    paths : list of Path
        The files that were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from nldd.bench.datasets.export import export_dataset
    >>> from nldd.datasets import Dataset
    >>> songs = Dataset(np.array([[90.5]]), np.array([[1, 0]]), ["sad", "calm"], ["tempo"], "songs")
    >>> with TemporaryDirectory() as folder:
    ...     (path,) = export_dataset(songs, Path(folder, "songs.arff"))
    ...     print(path.read_text())
    @relation 'songs: -C 2'
    <BLANKLINE>
    @attribute sad {0,1}
    @attribute calm {0,1}
    @attribute tempo numeric
    <BLANKLINE>
    @data
    1,0,90.5
    <BLANKLINE>
    """
    path = Path(path)
    if path.suffix.lower() != ".arff":
        raise InputError(f"The file must end in .arff; got {path}.")
    stem = path.stem.removesuffix("-train") if dataset.n_train is not None else path.stem
    parts = [""] if dataset.n_train is None else ["-train", "-test"]
    paths = [path.with_name(f"{stem}{part}{path.suffix}") for part in parts]
    refuse_existing(*paths, force=force)
    names = {*dataset.label_names, *dataset.feature_names} - {""}
    if len(names) != dataset.n_labels + dataset.n_features:
        raise InputError("To be exported, each label and each feature needs a name of its own.")
    if not dataset.is_text and (abs(dataset.X) == np.inf).sum():
        raise InputError("A feature is infinite, which ARFF files cannot say. Replace it.")
    n_train = dataset.n_train
    cuts = [slice(None)] if n_train is None else [slice(n_train), slice(n_train, None)]
    for place, rows in zip(paths, cuts, strict=True):
        with open_replacement(place) as stream:
            stream.writelines(f"{line}\n".encode() for line in _lines(dataset, rows))
    return paths


def _lines(dataset: Dataset, rows: slice) -> Iterator[str]:
    # A colon or another -C would be taken for options of MEKA.
    name = re.sub(r"[^\w.]+", "_", dataset.name) or "data"
    yield f"@relation {_quote(f'{name}: -C {dataset.n_labels}', always=True)}"
    yield ""
    for label in dataset.label_names:
        yield f"@attribute {_quote(label)} {{0,1}}"
    kind = "string" if dataset.is_text else "numeric"
    for feature in dataset.feature_names:
        yield f"@attribute {_quote(feature)} {kind}"
    yield ""
    yield "@data"
    X, Y = dataset.X[rows], dataset.Y[rows]
    if dataset.is_text:
        texts = (_quote(text, always=True) for text in X)
        yield from (f"{_join(labels)},{text}" for labels, text in zip(Y, texts, strict=True))
    elif issparse(X):
        yield from _sparse_lines(csr_array(X), Y)
    else:
        yield from (f"{_join(labels)},{_join(x)}" for labels, x in zip(Y, X, strict=True))


def _sparse_lines(X: Any, Y: Any) -> Iterator[str]:
    for i, labels in enumerate(Y):
        pairs = [f"{j} 1" for j in np.flatnonzero(labels)]
        begin, end = X.indptr[i : i + 2]
        cells = zip(X.indices[begin:end].tolist(), X.data[begin:end].tolist(), strict=True)
        pairs += [f"{Y.shape[1] + j} {_number(value)}" for j, value in sorted(cells)]
        yield f"{{{','.join(pairs)}}}"


def _join(values: Any) -> str:
    return ",".join(map(_number, values.tolist()))


def _number(value: float) -> str:
    """The shortest text that reads as the same number; a question mark for NaN."""
    if value != value:
        return "?"
    whole = abs(value) < _LARGEST_INTEGER and value == int(value)
    return str(int(value)) if whole else repr(value)


def _quote(text: str, always: bool = False) -> str:
    """A name or text in quotes where it needs them, as Weka writes and reads it."""
    if not always and _BARE.fullmatch(text):
        return text
    return f"'{text.translate(_ESCAPES)}'"
