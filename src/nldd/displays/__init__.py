"""Figures as objects: they hold what was computed, and `plot` draws it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
