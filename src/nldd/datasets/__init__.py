"""Data sets: the catalogue of the paper's nine, those that come with the package, and files.

Names are imported on first use: the catalogue is listed without loading numpy.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
