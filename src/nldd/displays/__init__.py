"""Figures as objects: they hold what was computed, and `plot` draws it."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
