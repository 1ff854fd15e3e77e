"""What all figures share: checks of numbers, colours, axes, and words where they hide nothing."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError

Points = NDArray[np.float64]
# Lines, each with what it costs that words hide a piece of it.
Costs = list[tuple[Points, float]]

INK, QUIET, GREY, GRID = "#1a1a1a", "#595959", "#8c8c8c", "#e3e3e3"
BLUE, VERMILION, SKY = "#0072b2", "#d55e00", "#56b4e9"
DASHED = (0, (5, 3))
# What it costs, in points of distance, that a piece of a line or band lies behind words.
LINE_COST, BAND_COST = 50.0, 0.7
# Names come from users: a dollar sign in them starts no formula.
WORDS: dict[str, Any] = {"fontsize": 9, "parse_math": False, "annotation_clip": False}


def make_figure(inches: tuple[float, float]) -> Any:
    """A figure without pyplot, so that no window or global state is involved."""
    from matplotlib.figure import Figure

    return Figure(figsize=inches, layout="constrained")


class Display:
    """Draws on axes that it keeps: those given, or those of a new figure of so many inches."""

    inches: tuple[float, float]
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure. What was drawn on becomes `ax_` and `figure_`.

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
    """A list of `n` numbers within limits; of one or more where `n` is 0."""
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


def read_curve(display: Any, x: str, y: str) -> None:
    """Make arrays of one length of two fields of a display and of its limits, if it has them."""
    if (display.lower is None) != (display.upper is None):
        raise InputError("An interval needs both limits, lower and upper; only one was given.")
    n = 0
    for name in (x, y, "lower", "upper"):
        if (values := getattr(display, name)) is not None:
            setattr(display, name, numbers := read_numbers(name, values, n))
            n = len(numbers)


def set_title(ax: Any, title: str, width: int, pad: float = 6) -> None:
    """A title in lines of at most so many letters, where there is one."""
    if title:
        ax.set_title(fill(title, width), fontsize=11, color=INK, pad=pad, parse_math=False)


def style_axes(ax: Any, xlabel: str, ylabel: str, grid: str | None = None) -> None:
    """Names of the axes, no frame above and right, and a grid along the axes named in `grid`."""
    ax.set_xlabel(xlabel, fontsize=10, parse_math=False)
    ax.set_ylabel(ylabel, fontsize=10, parse_math=False)
    ax.tick_params(labelsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)


def write(ax: Any, words: str, at: Any, shift: Any, ha: str, va: str, **looks: Any) -> None:
    """Words at a point, so many points of paper away from it."""
    looks = {"color": QUIET, "ha": ha, "va": va, "textcoords": "offset points", **WORDS, **looks}
    ax.annotate(words, at, xytext=shift, **looks)


def show_at_the_rim(artist: Any) -> None:
    """Let a line stand out a little, so that it is not cut in half where it runs along the rim."""
    from matplotlib.transforms import Bbox, TransformedBbox

    rim = Bbox([[-0.015, -0.015], [1.015, 1.015]])
    artist.set_clip_box(TransformedBbox(rim, artist.axes.transAxes))


def spread(heights: Sequence[float], apart: float, floor: float) -> list[float]:
    """None, one or two heights, moved apart where they are too close for words, but not too low."""
    if len(heights) == 2:
        first, second = heights
        push = max(apart - abs(first - second), 0) / (2 if first >= second else -2)
        heights = [first + push, second - push]
    lift = max(floor - min(heights, default=floor), 0)
    return [height + lift for height in heights]


def place_words(
    ax: Any, words: str, anchor: Any, marks: Costs, away: float, color: str, leader: bool = False
) -> None:
    """Write near an anchor, clear of the lines and words that are there and of further marks.

    Marks are lines of the data, each with its cost; the distance `away` is in points of paper.
    """
    from matplotlib.patheffects import withStroke

    point = ax.figure.dpi / 72
    area = ax.get_window_extent().extents / point
    lines = [line.get_transform().transform_path(line.get_path()).vertices for line in ax.lines]
    lines += [_box_rows(*text.get_window_extent().extents) for text in ax.texts]
    costs = [(line, LINE_COST) for line in lines]
    costs += [(ax.transData.transform(line), cost) for line, cost in marks]
    costs = [(_along((line / point).clip(area[:2], area[2:])), cost) for line, cost in costs]
    halo = [withStroke(linewidth=3, foreground="white")]
    text = ax.annotate(
        words, anchor, ha="center", va="center", color=color, path_effects=halo, zorder=6, **WORDS
    )
    half = np.array(text.get_window_extent().size) / point / 2 + 4
    at = ax.transData.transform(anchor) / point
    centre = _free_place(at, half, area, costs, away)
    to_data = ax.transData.inverted().transform
    text.set_position(to_data(centre * point))
    nearest = np.clip(at, centre - half, centre + half)
    if leader and np.hypot(*(nearest - at)) > 2 * away:
        ax.plot(*to_data(np.array([nearest, at]) * point).T, color=INK, linewidth=0.7)


def _free_place(anchor: Points, half: Points, area: Points, costs: Costs, away: float) -> Points:
    """Centre of a box in an area: as near to the anchor as what it would hide allows."""
    low, high = area[:2] + half, np.maximum(area[:2] + half, area[2:] - half)
    x, y = np.linspace(low, high, 48).T
    centres = np.stack(np.meshgrid(x, y), axis=-1)
    gap = np.linalg.norm(np.maximum(np.abs(centres - anchor) - half, 0), axis=-1)
    points = np.concatenate([points for points, _ in costs])
    weights = np.concatenate([np.full(len(points), cost) for points, cost in costs])
    in_x = np.abs(x[:, np.newaxis] - points[:, 0]) < half[0]
    in_y = np.abs(y[:, np.newaxis] - points[:, 1]) < half[1]
    hidden = (in_y * weights) @ in_x.T
    cheapest = np.argmin(gap + LINE_COST * np.maximum(away - gap, 0) + hidden)
    return np.asarray(centres.reshape(-1, 2)[cheapest])


def _along(line: Points) -> Points:
    """Points on a line, about four points of paper apart."""
    walked = np.append(0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
    at = np.linspace(0, walked[-1], 2 + int(walked[-1] / 4))
    return np.column_stack([np.interp(at, walked, line[:, k]) for k in (0, 1)])


def _box_rows(x0: float, y0: float, x1: float, y1: float) -> Points:
    """A line that fills a box: to and fro, in five rows."""
    x, y = np.tile([x0, x1, x1, x0], 3)[:10], np.linspace(y0, y1, 5).repeat(2)
    return np.column_stack([x, y])
