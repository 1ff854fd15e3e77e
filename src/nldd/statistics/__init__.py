"""Comparisons of methods over data sets, and of people who coded the same answers."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
