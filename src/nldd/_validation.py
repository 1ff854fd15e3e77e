"""What scikit-learn and compiled code ask of parameters and data.

The scikit-learn names that are private or young are imported here, for all others.
"""

# ruff: noqa: F401
# mypy: implicit-reexport
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight as check_sample_weight,
    has_fit_parameter,
    validate_data,
)

from nldd._parallel import blas_threads_for
from nldd.exceptions import InputError

Method = TypeVar("Method", bound=Callable[..., Any])


def validate_parameters(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Decorator of `fit`: parameters are checked, and thin products take one BLAS thread.

    Type checkers see the types of `fit` itself.
    """
    check = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(fit: Method) -> Method:
        checked = check(fit)

        @wraps(fit)
        def wrapper(self: Any, X: Any, *args: Any, **kw: Any) -> Any:
            with blas_threads_for(X):
                return checked(self, X, *args, **kw)

        return cast(Method, wrapper)

    return decorate


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
