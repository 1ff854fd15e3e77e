"""Measures of multi-label predictions, each a record: name, direction, function.

Overview
--------
``MEASURES`` maps a key to a :class:`Measure`. The four of the paper come first; tables, ranks,
scorers and the command line all read direction and name from the record, so they cannot disagree.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
