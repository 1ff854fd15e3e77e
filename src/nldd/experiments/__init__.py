"""Experiments: methods on data sets under a protocol, cell by cell and resumable."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
