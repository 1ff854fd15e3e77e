"""Everything that a person reads: text of the commands, HTML pages, tables beside the paper's."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
