"""The risk-coverage curve: accuracy of automatic codes against the automation rate."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from nldd.exceptions import InputError
from nldd.present import drawing as style
from nldd.present.text import percent

# One wrong among the first answers would squeeze the rest of the curve into the top: below this
# coverage the curve may leave the picture through its floor.
SETTLED = 0.05
# Longer curves are thinned, and short ones show their points.
MOST_POINTS, MOST_DOTS = 1000, 12


@dataclass(eq=False)
class RiskCoverageDisplay(style.Display):
    """Accuracy of the answers that are coded automatically against their share.

    Parameters
    ----------
    coverage, accuracy : array-like of shape (n_points,)
        Shares of answers coded automatically, rising, and their accuracy, from 0 to 1.
    target, chosen : float and tuple of two floats, optional
        Accuracy that was asked for; coverage and accuracy at the threshold that was chosen.
    measure, title : str
        What the accuracy counts, and what stands above the figure.

    Examples
    --------
    >>> from nldd.coding import RiskCoverageDisplay
    >>> display = RiskCoverageDisplay.from_predictions(
    ...     [0.1, 0.2, 0.2, 0.3], [1, 1, 1, 0], target=0.9, chosen=(0.75, 1.0)
    ... )
    >>> display.coverage, display.accuracy
    (array([0.25, 0.75, 1.  ]), array([1.  , 1.  , 0.75]))
    >>> [text.get_text() for text in display.plot().ax_.texts]
    ['target 90 %', 'all: 75.0 %', '75 % automatic at 100 %']
    """

    coverage: Any
    accuracy: Any
    target: float | None = None
    chosen: Any = None
    measure: str = "answers coded right"
    title: str = ""
    inches = 6.4, 4.0

    def __post_init__(self) -> None:
        self.coverage = style.read_numbers("coverage", self.coverage)
        self.accuracy = style.read_numbers("accuracy", self.accuracy, len(self.coverage))
        if self.target is not None:
            self.target = float(style.read_numbers("target", [self.target])[0])
        if self.chosen is not None:
            self.chosen = style.read_numbers("chosen", self.chosen, 2)
        falls = np.flatnonzero(np.diff(self.coverage) <= 0)
        if len(falls):
            after, at = self.coverage[falls[0] : falls[0] + 2]
            raise InputError(f"coverage must rise from point to point; got {at:g} after {after:g}.")

    @classmethod
    def from_predictions(cls, theta: Any, right: Any, **kwargs: Any) -> "RiskCoverageDisplay":
        """Take answers by rising theta; those with equal theta enter together.

        Parameters
        ----------
        theta, right : array-like of shape (n_answers,)
            Expected error rate per label, and whether each answer is coded right, or which
            fraction of it.
        **kwargs : dict
            The other parameters of the class.

        Returns
        -------
        RiskCoverageDisplay
        """
        theta = style.read_numbers("theta", theta)
        right = style.read_numbers("right", right, len(theta))
        # Sorted by `right` too, so that the order of tied answers changes not even the rounding.
        order = np.lexsort((right, theta))
        n_taken = np.append(np.flatnonzero(np.diff(theta[order])) + 1, len(theta))
        accuracy = np.cumsum(right[order])[n_taken - 1] / n_taken
        return cls(n_taken / len(theta), accuracy, **kwargs)

    def _draw(self, ax: Any) -> None:
        style.set_title(ax, self.title, 64, pad=10)
        measure = f"{fill(self.measure, 40)} (%)"
        style.style_axes(ax, "answers coded automatically (%)", measure, grid="y")
        settled = self.coverage >= (SETTLED if self.coverage[-1] >= SETTLED else 0)
        chosen, target = self.chosen, self.target
        seen = [*self.accuracy[settled], *([] if target is None else [target])]
        seen += [] if chosen is None else [chosen[1]]
        # A line that runs along the floor could be taken for the axis: it gets a little room.
        ticks = style.round_ticks(100 - max(104 * (1 - min(seen)), 5), 100)
        ticks = ticks[ticks >= 0]
        ax.set(xlim=(0, 100), xticks=range(0, 101, 20), ylim=ticks[[0, -1]], yticks=ticks)
        self._plot_curve()
        self._plot_target_and_end(ticks[0])
        if chosen is not None:
            self._plot_chosen(ticks[0])

    def _plot_curve(self) -> None:
        """Draw as many points as paper can show."""
        from matplotlib.transforms import Bbox, TransformedBbox

        points: Any = slice(None)
        if len(self.coverage) > MOST_POINTS:
            grid = np.linspace(self.coverage[0], self.coverage[-1], MOST_POINTS)
            points = np.unique(np.searchsorted(self.coverage, grid))
        x, accuracy = 100 * self.coverage[points], 100 * self.accuracy[points]
        looks = {"marker": "o", "markersize": 4} if len(x) <= MOST_DOTS else {}
        (curve,) = self.ax_.plot(x, accuracy, color=style.BLUE, linewidth=1.8, zorder=3, **looks)
        # Where it runs along the rim, it is not cut in half.
        rim = Bbox([[-0.015, -0.015], [1.015, 1.015]])
        curve.set_clip_box(TransformedBbox(rim, self.ax_.transAxes))

    def _plot_target_and_end(self, bottom: float) -> None:
        """Draw both with their words right of the plot, where no curve can be."""
        labels = []
        if self.target is not None:
            y = 100 * self.target
            looks = {"color": style.QUIET, "linestyle": style.DASHED, "linewidth": 1.1}
            self.ax_.plot([0, 100], [y, y], zorder=2, **looks)
            labels.append((y, f"target {y:.4g} %", style.QUIET))
        if self.coverage[-1] == 1:
            end = self.accuracy[-1]
            labels.append((100 * end, f"all: {percent(end, 1)}", style.BLUE))
        unit = (100 - bottom) / self.ax_.get_window_extent().height * self.figure_.dpi / 72
        heights = style.spread([y for y, _, _ in labels], 13 * unit, bottom)
        for y, (_, words, color) in zip(heights, labels, strict=True):
            style.write(self.ax_, words, (100, y), (6, 0), "left", "center", color=color)

    def _plot_chosen(self, bottom: float) -> None:
        """Draw the chosen point, with a line to its words."""
        ax, (x, y) = self.ax_, 100 * self.chosen
        ax.plot([x, x], [bottom, y], ":", color=style.VERMILION, linewidth=1.1, zorder=2)
        ax.scatter([x], [y], 64, style.VERMILION, edgecolor="white", clip_on=False, zorder=5)
        words = f"{percent(self.chosen[0])} automatic at {percent(self.chosen[1], 1)}"
        end = style.place_words(ax, words, (x, y), np.array([[x, y]]), style.INK)
        ax.plot([x, end[0]], [y, end[1]], color=style.INK, linewidth=0.7)
