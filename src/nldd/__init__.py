"""Predict whole labelsets: Nearest Labelset using Double Distances, and its field.

Names are imported on first use, so that ``import nldd`` and ``nldd --help`` stay fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
