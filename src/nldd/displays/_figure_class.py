"""Figures of matplotlib without windows."""

from typing import Any

from nldd.exceptions import MissingExtraError


def figure_class() -> Any:
    """Matplotlib's Figure, made without pyplot so that no window or global state is involved."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Pictures need matplotlib, which is not installed. "
            'Run: pip install "nldd[plot]", or do without the picture.'
        ) from error
    return Figure
