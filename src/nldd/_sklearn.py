"""The scikit-learn names that are private or young, imported in one place for all others."""

# ruff: noqa: F401
# mypy: implicit-reexport
from sklearn.base import _fit_context as validate_parameters
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight as check_sample_weight,
    has_fit_parameter,
    validate_data,
)
