"""The scikit-learn names that are private or young, imported in one place for all others."""

# ruff: noqa: F401
# mypy: implicit-reexport
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight as check_sample_weight,
    has_fit_parameter,
    validate_data,
)

Method = TypeVar("Method", bound=Callable[..., Any])


def validate_parameters(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters before `fit`, as scikit-learn does; type checkers see `fit` itself."""
    return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)
