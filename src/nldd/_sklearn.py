"""The scikit-learn names that are private or young, imported in one place."""

from sklearn.base import _fit_context as validate_parameters
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight as check_sample_weight,
    has_fit_parameter,
    validate_data,
)

__all__ = [
    "HasMethods",
    "Interval",
    "LinearClassifierMixin",
    "StrOptions",
    "check_sample_weight",
    "get_tags",
    "has_fit_parameter",
    "validate_data",
    "validate_parameters",
]
