"""How right the answers are that a machine codes alone, against how many of them it codes."""

from dataclasses import dataclass
from math import ceil
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import percent
from nldd.displays import _style as style
from nldd.exceptions import InputError

# One wrong among the first answers would squeeze the rest of the curve into the top: below this
# coverage the curve may leave the picture through its floor.
SETTLED = 0.05
# Longer curves are thinned, and short ones show their points.
MOST_POINTS, MOST_DOTS = 1000, 12


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """Accuracy of the surest answers, by how many of them are taken.

    Attributes
    ----------
    coverage, accuracy, theta : ndarray of shape (n_points,)
        Share of answers with a theta up to that of the point, the share of those that are right,
        and the distinct values of theta, rising.
    """

    coverage: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    theta: NDArray[np.float64]


def risk_coverage(theta: Any, right: Any) -> RiskCoverage:
    """Accuracy of the surest answers for every share of answers that theta can tell apart.

    Parameters
    ----------
    theta, right : array-like of shape (n_answers,)
        Probability that a label is wrong, which is smallest for the surest answers; and whether
        each answer is coded right, or which fraction of it.

    Examples
    --------
    The two answers with the same theta enter together.

    >>> curve = risk_coverage([0.3, 0.1, 0.2, 0.2], [False, True, True, False])
    >>> curve.theta, curve.coverage
    (array([0.1, 0.2, 0.3]), array([0.25, 0.75, 1.  ]))
    >>> curve.accuracy.round(3)
    array([1.   , 0.667, 0.5  ])
    """
    theta = style.read_numbers("theta", theta)
    right = style.read_numbers("right", right, len(theta))
    # Sorted by `right` too, so that the order of tied answers changes not even the rounding.
    order = np.lexsort((right, theta))
    theta, right = theta[order], right[order]
    thetas, counts = np.unique(theta, return_counts=True)
    n_taken = np.cumsum(counts)
    return RiskCoverage(n_taken / len(theta), np.cumsum(right)[n_taken - 1] / n_taken, thetas)


@dataclass(eq=False)
class RiskCoverageDisplay(style.Display):
    """Accuracy of the automatic share against its size.

    Parameters
    ----------
    coverage, accuracy : array-like of shape (n_points,)
        Shares of answers coded automatically, rising, and their accuracy, from 0 to 1.
    lower, upper : array-like of shape (n_points,), optional
        Limits of the accuracy, drawn as a band.
    target, chosen : float and tuple of two floats, optional
        Accuracy that was asked for; coverage and accuracy at the threshold that was chosen.
    measure, title, band : str
        What the accuracy counts, and what lies between `lower` and `upper`.

    Examples
    --------
    >>> display = RiskCoverageDisplay.from_predictions(
    ...     [0.1, 0.2, 0.2, 0.3], [1, 1, 1, 0], target=0.9, chosen=(0.75, 1.0)
    ... )
    >>> [text.get_text() for text in display.plot().ax_.texts]
    ['target 90 %', 'all: 75.0 %', '75 % automatic at 100 %']
    """

    coverage: Any
    accuracy: Any
    lower: Any = None
    upper: Any = None
    target: float | None = None
    chosen: Any = None
    measure: str = "answers coded right"
    title: str = ""
    band: str = "confidence interval"

    def __post_init__(self) -> None:
        style.read_curve(self, "coverage", "accuracy")
        if self.target is not None:
            self.target = float(style.read_numbers("target", [self.target])[0])
        if self.chosen is not None:
            self.chosen = style.read_numbers("chosen", self.chosen, 2)
        falls = np.flatnonzero(np.diff(self.coverage) <= 0)
        if len(falls):
            after, at = self.coverage[falls[0] : falls[0] + 2]
            raise InputError(f"coverage must rise from point to point; got {at:g} after {after:g}.")
        if self.lower is not None and (self.lower > self.upper).any():
            at = int(np.argmax(self.lower > self.upper))
            got = f"{self.lower[at]:g} and {self.upper[at]:g} at position {at}"
            raise InputError(f"lower must not lie above upper; got {got}.")

    @classmethod
    def from_predictions(cls, theta: Any, right: Any, **kwargs: Any) -> "RiskCoverageDisplay":
        """The curve of :func:`risk_coverage`; `kwargs` are the other parameters of the class."""
        curve = risk_coverage(theta, right)
        return cls(curve.coverage, curve.accuracy, **kwargs)

    def plot(self, ax: Any = None) -> "RiskCoverageDisplay":
        """Draw on `ax`, or on a new figure; they become `ax_` and `figure_`."""
        ax = self._begin_plot(ax, 6.4, 4.0)
        style.set_title(ax, self.title, 64, pad=10)
        measure = f"{fill(self.measure, 40)} (%)"
        style.style_axes(ax, "answers coded automatically (%)", measure, grid="y")
        settled = self.coverage >= (SETTLED if self.coverage[-1] >= SETTLED else 0)
        seen = [values[settled] for values in (self.accuracy, self.lower) if values is not None]
        seen += [] if self.target is None else [[self.target]]
        seen += [] if self.chosen is None else [self.chosen[1:]]
        floor, step = floor_and_step(100 * np.concatenate(seen).min())
        ax.set(xlim=(0, 100), xticks=range(0, 101, 20))
        ax.set(ylim=(floor, 100), yticks=np.arange(floor, 100 + step / 2, step))
        band = self._plot_curve()
        self._plot_target_and_end(floor)
        if self.chosen is not None:
            x, y = 100 * self.chosen
            ax.plot([x, x], [floor, y], ":", color=style.VERMILION, linewidth=1.1, zorder=2)
            ax.scatter([x], [y], 64, style.VERMILION, edgecolor="white", clip_on=False, zorder=5)
            words = f"{percent(self.chosen[0])} automatic at {percent(self.chosen[1], 1)}"
            style.place_words(ax, words, (x, y), band, 9, style.INK, leader=True)
        if self.lower is not None:
            # Below the band where it is widest, among the shares that have settled.
            settled = (self.coverage >= 2 * SETTLED) & (self.coverage <= 0.9)
            widest = int(np.argmax(np.where(settled, self.upper - self.lower, -1)))
            anchor = 100 * self.coverage[widest], 100 * self.lower[widest]
            style.place_words(ax, self.band, anchor, band, 3, style.BLUE)
        return self

    def _plot_curve(self) -> style.Costs:
        """Draw as many points as paper can show; return lines that fill the band."""
        points: Any = slice(None)
        if len(self.coverage) > MOST_POINTS:
            grid = np.linspace(self.coverage[0], self.coverage[-1], MOST_POINTS)
            points = np.unique(np.searchsorted(self.coverage, grid))
        x, accuracy = 100 * self.coverage[points], 100 * self.accuracy[points]
        looks = {"marker": "o", "markersize": 4} if len(x) <= MOST_DOTS else {}
        curve = self.ax_.plot(x, accuracy, color=style.BLUE, linewidth=1.8, zorder=3, **looks)
        style.show_at_the_rim(*curve)
        if self.lower is None:
            return []
        lower, upper = 100 * self.lower[points], 100 * self.upper[points]
        if len(x) == 1:
            self.ax_.vlines(x, lower, upper, color=style.BLUE, alpha=0.3, linewidth=6)
        else:
            self.ax_.fill_between(x, lower, upper, color=style.BLUE, alpha=0.18, linewidth=0)
        rows = (lower + part * (upper - lower) for part in np.linspace(0, 1, 9))
        return [(np.column_stack([x, row]), style.BAND_COST) for row in rows]

    def _plot_target_and_end(self, floor: float) -> None:
        """Their words stand right of the plot, where no curve can be."""
        labels = []
        if self.target is not None:
            y = 100 * self.target
            self.ax_.axhline(y, color=style.QUIET, linestyle=style.DASHED, linewidth=1.1, zorder=2)
            labels.append((y, f"target {y:.4g} %", style.QUIET))
        if self.coverage[-1] == 1:
            end = self.accuracy[-1]
            labels.append((100 * end, f"all: {percent(end, 1)}", style.BLUE))
        unit = (100 - floor) / self.ax_.get_window_extent().height * self.figure_.dpi / 72
        heights = style.spread([y for y, _, _ in labels], 13 * unit, floor)
        for y, (_, words, color) in zip(heights, labels, strict=True):
            style.write(self.ax_, words, (100, y), (6, 0), "left", "center", color=color)


def floor_and_step(lowest: float) -> tuple[int, int]:
    """The round percentage below the lowest one, and the step of ticks from there to 100."""
    # A line that runs along the floor could be taken for the axis: it gets a little room.
    span = max(1.04 * (100 - lowest), 5)
    step = next(step for step in (1, 2, 5, 10, 20) if span <= 6 * step)
    return max(100 - step * ceil(span / step), 0), step
