"""The training rows of a search index as arrays, and an index from such arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from nldd._base import with_narrow_indices
from nldd.io._compressed import check_compressed
from nldd.io._refusal import damaged
from nldd.search import FaissLabelsetIndex, LabelsetIndex

# Tried in this order: counts and words that occur or not fit a byte, single precision fits a half.
NARROW = (np.uint8, np.float32)


def pack_rows(index: LabelsetIndex) -> dict[str, NDArray[Any]]:
    """Rows by number, as the index holds them: divided by the scale, not as they were given.

    Multiplied by the scale and divided again, some would not be what they are now, to the last bit.
    """
    order = np.argsort(index.groups.number)
    Z = index._rows()[order]
    labelset = np.repeat(np.arange(len(index.counts)), index.counts)[order]
    arrays: dict[str, NDArray[Any]] = {
        "scale": index.scale,
        "Y": index.labelsets[labelset].astype(np.uint8),
    }
    if not issparse(Z):
        return {**arrays, "Z": narrowed(Z)}
    return {**arrays, "Z.data": narrowed(Z.data), "Z.indices": Z.indices, "Z.indptr": Z.indptr}


def unpack_rows(
    arrays: Mapping[str, NDArray[Any]], Index: type[LabelsetIndex] | type[FaissLabelsetIndex]
) -> LabelsetIndex:
    """The index of the same rows, grouped anew."""
    Y, scale = arrays["Y"], arrays["scale"]
    if Y.ndim != 2 or Y.dtype != np.uint8 or not Y.size or Y.max() > 1:
        raise damaged("the labels of its rows are no table of 0 and 1")
    if (
        scale.ndim != 1
        or scale.dtype != np.float64
        or not (_is_finite(scale) and (scale > 0).all())
    ):
        raise damaged("the scale of its features is no positive number for each")
    Z = _unpack_matrix(arrays, len(Y), len(scale))
    # Divided by 1 each row stays what it is.
    index = Index(Z, Y.astype(np.int8), np.ones(len(scale)))
    index.scale = scale
    return index


def unscaled_row(index: LabelsetIndex) -> Any:
    """One of the rows about as it was given, sparse or dense."""
    row = index._rows()[:1]
    if not issparse(row):
        return row * index.scale
    return with_narrow_indices(row.multiply(index.scale).tocsr())


def narrowed(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in fewer bytes, where all of them fit to the last bit.

    Examples
    --------
    >>> narrowed(np.array([0.0, 1.0, 3.0])).dtype, narrowed(np.array([0.5])).dtype
    (dtype('uint8'), dtype('float32'))
    >>> narrowed(np.array([0.1])).dtype, narrowed(np.array([-0.0])).dtype
    (dtype('float64'), dtype('float32'))
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    for kind in NARROW:
        with np.errstate(all="ignore"):
            narrow = values.astype(kind)
        if np.array_equal(np.ascontiguousarray(narrow, dtype=np.float64).view(np.int64), bits):
            return narrow
    return values


def _unpack_matrix(arrays: Mapping[str, NDArray[Any]], n_rows: int, n_features: int) -> Any:
    if "Z" in arrays:
        Z = arrays["Z"]
        if Z.shape != (n_rows, n_features) or Z.dtype.kind not in "uf" or not _is_finite(Z):
            raise damaged("its rows are no table of finite numbers, as many as the labels tell")
        return Z.astype(np.float64)
    data, indices, indptr = (arrays[f"Z.{part}"] for part in ("data", "indices", "indptr"))
    check_compressed(data, indices, indptr, n_rows, n_features)
    if data.dtype.kind not in "uf" or not _is_finite(data):
        raise damaged("its rows hold numbers that are not finite")
    return csr_array((data.astype(np.float64), indices, indptr), shape=(n_rows, n_features))


def _is_finite(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())
