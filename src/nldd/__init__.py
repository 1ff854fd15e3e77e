"""Predict whole labelsets: Nearest Labelset using Double Distances, and its field.

Names are imported on first use, so that ``import nldd`` and ``nldd --help`` stay fast.
"""

from nldd._lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
