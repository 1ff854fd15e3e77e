"""Data sets: the catalogue of the paper's nine, those that come with the package, and files.

Names are imported on first use: the catalogue is listed without loading numpy.
"""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
