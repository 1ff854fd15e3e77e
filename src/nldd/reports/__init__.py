"""Everything that a person reads: text of the commands, HTML pages, tables beside the paper's."""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
