"""Parts of all figures: checks of numbers, colours, axes, and words where they hide nothing."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from nldd.exceptions import InputError

Points = NDArray[np.float64]

INK, QUIET, GREY, GRID = "#1a1a1a", "#595959", "#8c8c8c", "#e3e3e3"
BLUE, VERMILION, SKY = "#0072b2", "#d55e00", "#56b4e9"
DASHED = (0, (5, 3))
ROOM = 5  # points of paper around words
# Names come from users: a dollar sign in them starts no formula.
WORDS: dict[str, Any] = {"fontsize": 9, "parse_math": False, "annotation_clip": False}


def make_figure(inches: tuple[float, float]) -> Any:
    """Make a figure without pyplot, so that no window or global state is involved."""
    from matplotlib.figure import Figure

    return Figure(figsize=inches, layout="constrained")


class Display:
    """Base of displays, which draw on given axes or on a new figure of their size in inches."""

    inches: tuple[float, float]
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure. The axes and their figure become `ax_` and `figure_`.

        Returns
        -------
        self : the display
        """
        if ax is None:
            ax = make_figure(self.inches).subplots()
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def read_numbers(name: str, values: Any, n: int = 0, low: float = 0, high: float = 1) -> Points:
    """Read a list of `n` numbers within limits, or of one or more if `n` is 0."""
    wanted = f"numbers from {low} to {high}" if high < np.inf else f"numbers from {low} on"
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold {wanted}; got {values!r:.40}.") from None
    if numbers.ndim != 1 or not len(numbers) or len(numbers) != (n or len(numbers)):
        wanted = f"{n or 'one or more'} {wanted}"
        raise InputError(f"{name} must be a list of {wanted}; got shape {numbers.shape}.")
    fine = (numbers >= low) & (numbers <= high) & np.isfinite(numbers)
    if not fine.all():
        at = np.argmin(fine)
        raise InputError(
            f"{name} must hold {wanted}; got {numbers[at]:g} at position {at}.",
            hint="give shares rather than percentages, and no missing values." if high == 1 else "",
        )
    return numbers


def set_title(ax: Any, title: str, width: int, pad: float = 6) -> None:
    """Set a title, if there is one, in lines of at most `width` letters."""
    if title:
        ax.set_title(fill(title, width), fontsize=11, color=INK, pad=pad, parse_math=False)


def style_axes(ax: Any, xlabel: str, ylabel: str, grid: str | None = None) -> None:
    """Label the axes, remove the frame above and right, and draw a grid along the `grid` axes."""
    ax.set_xlabel(xlabel, fontsize=10, parse_math=False)
    ax.set_ylabel(ylabel, fontsize=10, parse_math=False)
    ax.tick_params(labelsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)


def write(ax: Any, words: str, at: Any, shift: Any, ha: str, va: str, **looks: Any) -> None:
    """Write words at a point, shifted by some points of paper."""
    looks = {"color": QUIET, "ha": ha, "va": va, "textcoords": "offset points", **WORDS, **looks}
    ax.annotate(words, at, xytext=shift, **looks)


def spread(heights: Sequence[float], apart: float, floor: float) -> list[float]:
    """Move up to two heights apart if they are too close for words, but not below the floor."""
    if len(heights) == 2:
        first, second = heights
        push = max(apart - abs(first - second), 0) / (2 if first >= second else -2)
        heights = [first + push, second - push]
    lift = max(floor - min(heights, default=floor), 0)
    return [height + lift for height in heights]


def round_ticks(low: float, high: float) -> Points:
    """Return at most seven ticks at round numbers, from below `low` to above `high`."""
    from matplotlib.ticker import MaxNLocator

    return np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high))


def place_words(ax: Any, words: str, anchor: Any, marks: Points, color: str) -> Points:
    """Write near an anchor where the words hide neither lines nor marks, which are data points.

    Return the point of their box that is nearest to the anchor.
    """
    from matplotlib.patheffects import withStroke

    looks = {"ha": "center", "va": "center", "zorder": 6, **WORDS}
    halo = [withStroke(linewidth=3, foreground="white")]
    text = ax.annotate(words, anchor, color=color, path_effects=halo, **looks)
    half = np.array(text.get_window_extent().size) / 2 + ROOM * ax.figure.dpi / 72
    low, high = ax.get_window_extent().get_points()
    x, y = np.linspace(low + half, np.maximum(high, low + 2 * half) - half, 48).T
    centres = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    points = ax.transData.transform(np.concatenate([marks, *map(_along, ax.lines)]))
    # In half boxes: what is less than one away in both directions would be hidden.
    gaps = cdist(centres / half, points / half, "chebyshev").min(axis=1).clip(max=1)
    at = ax.transData.transform(anchor)
    far = np.linalg.norm(np.maximum(np.abs(centres - at) - half, 0), axis=1)
    centre = centres[np.lexsort((far, -gaps))[0]]
    to_data = ax.transData.inverted().transform
    text.set_position(to_data(centre))
    return np.asarray(to_data(at.clip(centre - half, centre + half)))


def _along(line: Any) -> Points:
    """Return points on a drawn line, close to each other."""
    corners = line.get_xydata()
    steps = np.linspace(0, len(corners) - 1, max(len(corners), 200))
    return np.column_stack([np.interp(steps, range(len(corners)), x) for x in corners.T])
