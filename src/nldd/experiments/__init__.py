"""Experiments: methods on data sets under a protocol, cell by cell and resumable."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
