"""A drawn figure with what a page says about it."""

from dataclasses import dataclass
from typing import Any

from nldd.reports import Figure, svg


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of matplotlib, its file name, its caption, and words for who cannot see it."""

    key: str
    caption: str
    alt: str
    figure: Any

    def on_page(self) -> Figure:
        """As a part of a page."""
        return Figure(self.key, self.caption, svg(self.figure, self.key), self.alt)
