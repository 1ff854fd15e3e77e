"""Comparisons of methods over data sets: ranks, and which differences are more than chance."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
