"""The order of the gallery: that in which its first page speaks of the examples.

A file of its own, because Sphinx cannot keep what is defined in ``conf.py``.
"""

import re
from pathlib import Path


class ReadingOrder:
    """Key by which sphinx-gallery sorts the examples of a folder."""

    def __init__(self, src_dir: str) -> None:
        header = Path(src_dir, "GALLERY_HEADER.rst")
        text = header.read_text("utf-8") if header.exists() else ""
        self.order = [f"{name}.py" for name in re.findall(r":doc:`(\w+)`", text)]

    def __call__(self, filename: str) -> int:
        """Place of an example; `.ci/check_names.py` sees to it that each has one."""
        name = Path(filename).name
        return self.order.index(name) if name in self.order else len(self.order)
