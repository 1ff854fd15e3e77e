"""Sparse matrices in the one form that all code below may rely on."""

from typing import Any

import numpy as np
from scipy.sparse import issparse


def canonical(X: Any) -> Any:
    """`X`, or where it is sparse and not in order: a copy with sorted indices and no duplicates.

    Solvers sort the indices of their input in place. Done by several threads at once on one
    matrix that is not sorted yet, this scrambles it, so sorting is done here, once, on a copy.
    """
    if not issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def with_narrow_indices(X: Any) -> Any:
    """`X` with 32-bit indices where they suffice: many of scikit-learn's solvers refuse others."""
    if not issparse(X) or X.indices.dtype != np.int64 or X.nnz > np.iinfo(np.int32).max:
        return X
    narrow = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return type(X)(narrow, shape=X.shape)
