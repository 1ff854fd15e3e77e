"""The scikit-learn names that are private or young, imported in one place for all others."""

# ruff: noqa: F401
# mypy: implicit-reexport
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight as check_sample_weight,
    has_fit_parameter,
    validate_data,
)

from nldd._parallel import blas_threads_for

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
