"""Measures of multi-label predictions, each a record: name, direction, function."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
