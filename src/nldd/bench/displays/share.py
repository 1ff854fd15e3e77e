"""Running time and wrong labels against the share of the training data that was used."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.present.drawing import BLUE, GREY, INK, VERMILION, make_figure, style_axes, write


@dataclass(eq=False)
class ShareDisplay:
    """Figure 3 of the paper: what a part of the training data costs and what it gains.

    Parameters
    ----------
    shares : array-like of shape (n_shares,)
        Shares of the training data, above 0 and up to 1; the whole data, 1, must be among them.
    seconds : array-like of shape (n_shares,) or (n_shares, n_repeats)
        Running time; of repeats the mean is drawn, and each as a dot.
    mismatches : array-like of the same shape
        Average number of mismatched labels of a test instance.
    title : str
        Above both panels, such as the name of the data set.

    Examples
    --------
    >>> from nldd.bench.displays.share import ShareDisplay
    >>> display = ShareDisplay([0.5, 1.0], [[2.0, 4.0], [10.0, 10.0]], [[1.3, 1.2], [1.1, 1.1]])
    >>> display.relative_time
    array([[ 20.,  40.],
           [100., 100.]])
    """

    shares: Any
    seconds: Any
    mismatches: Any
    title: str = ""

    def __post_init__(self) -> None:
        self.shares = np.asarray(self.shares, dtype=float)
        for name in ("seconds", "mismatches"):
            values = np.asarray(getattr(self, name), dtype=float)
            setattr(self, name, values.reshape(len(values), -1))

    @property
    def relative_time(self) -> NDArray[np.float64]:
        """Running time of each run in percent of the mean time at the whole data."""
        return np.asarray(100 * self.seconds / self.seconds[self.shares == 1].mean())

    def plot(self, ax: Any = None) -> "ShareDisplay":
        """Draw the figure.

        Parameters
        ----------
        ax : two matplotlib Axes, default=None
            None makes a new figure. What was drawn on becomes `ax_` and `figure_`.

        Returns
        -------
        self : the display
        """
        if ax is None:
            figure = make_figure((7.2, 3.3))
            figure.get_layout_engine().set(wspace=0.08)
            ax = figure.subplots(1, 2)
            if self.title:
                figure.suptitle(self.title, fontsize=11, color=INK, parse_math=False)
        left, right = self.ax_ = tuple(ax)
        self.figure_ = left.figure
        share = np.linspace(0, 100, 101)
        for y in (share, share**2 / 100):
            left.plot(share, y, color=GREY, linestyle="--", linewidth=0.9)
        write(left, "linear", (62, 62), (-4, 4), "right", "bottom")
        write(left, "quadratic", (72, 0.72 * 72), (4, -4), "left", "top")
        self._plot_runs(left, self.relative_time, BLUE, "o", "running time (% of the whole)")
        left.set_ylim(bottom=0)
        name, whole = "mismatched labels an instance", self.mismatches[self.shares == 1].mean()
        self._plot_runs(right, self.mismatches, VERMILION, "s", name)
        right.axhline(whole, color=GREY, linestyle="--", linewidth=0.9)
        write(right, f"all of the data: {whole:.4g}", (2, whole), (0, -4), "left", "top")
        right.margins(y=0.16)
        return self

    def _plot_runs(self, ax: Any, values: Any, color: str, marker: str, name: str) -> None:
        x, order, means = 100 * self.shares, np.argsort(self.shares), values.mean(axis=1)
        ax.plot(x[order], means[order], color=color, marker=marker, markersize=5, zorder=3)
        if values.shape[1] > 1:
            ax.plot(x, values, ".", color=color, alpha=0.35, markersize=5, zorder=2)
        style_axes(ax, "share of the training data (%)", name, grid="y")
        ax.set(xlim=(0, 104), xticks=range(0, 101, 20))
