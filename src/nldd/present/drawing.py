"""Parts of all figures: checks of numbers, colours, axes and words."""

from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError

Points = NDArray[np.float64]

INK, QUIET, GREY, GRID = "#1a1a1a", "#595959", "#8c8c8c", "#e3e3e3"
BLUE, VERMILION, SKY = "#0072b2", "#d55e00", "#56b4e9"
DASHED = (0, (5, 3))
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
