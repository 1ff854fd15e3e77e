"""Model files: one checked zip of JSON, arrays and estimators, never pickle."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
