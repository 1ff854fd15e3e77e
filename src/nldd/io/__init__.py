"""Model files: one checked zip of JSON, arrays and estimators, never pickle."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
