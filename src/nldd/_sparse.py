"""Sparse matrices as compiled code needs them: indices in range and in order, and narrow."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from nldd.exceptions import InputError


def to_canonical(X: Any, name: str = "X") -> Any:
    """`X`, or where it is sparse: CSR, with indices in range, sorted and without duplicates.

    SciPy and solvers read and write wherever indices point, and believe flags of the matrix that
    say they are in order; so indices are looked at, and the flags are not. Solvers sort indices in
    place: done by several threads at once, this scrambles the matrix.
    """
    if not issparse(X) or X.ndim != 2:
        return X
    try:
        if X.format == "coo":  # which looks itself, when it is made
            X = type(X)((X.data, (X.row, X.col)), shape=X.shape)
        elif hasattr(X, "indptr"):
            X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
            X.check_format(full_check=True)
        X = X.tocsr()
        X.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise InputError(
            f"{name} is a sparse matrix whose indices do not fit its shape {X.shape}: {error}. "
            "Make it anew, as scipy.sparse.csr_array of rows, columns and values."
        ) from error
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def narrow_indices(X: Any) -> Any:
    """`X` with 32-bit indices where they suffice: many of scikit-learn's solvers refuse others."""
    if not issparse(X) or X.indices.dtype != np.int64 or X.nnz > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, *(i.astype(np.int32) for i in (X.indices, X.indptr))), shape=X.shape)
