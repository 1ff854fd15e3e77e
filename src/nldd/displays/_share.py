"""Running time and wrong labels against the share of the training data that was used."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.displays._style import BLUE, GREY, INK, VERMILION, figure_class, style_axes, write
from nldd.exceptions import InputError


@dataclass(eq=False)
class ShareDisplay:
    """Figure 3 of the paper: what a part of the training data costs and what it gains.

    Parameters
    ----------
    shares : sequence of float
        Shares of the training data, above 0 and up to 1; the whole data, 1, must be among them.
    seconds : array-like of shape (n_shares,) or (n_shares, n_repeats)
        Running time; of repeats the mean is drawn, and each as a dot.
    mismatches : array-like of the same shape
        Average number of mismatched labels of a test instance.
    title : str
        Above both panels, such as the name of the data set.

    Examples
    --------
    >>> display = ShareDisplay([0.5, 1.0], [[2.0, 4.0], [10.0, 10.0]], [[1.3, 1.2], [1.1, 1.1]])
    >>> display.relative_time
    array([[ 20.,  40.],
           [100., 100.]])
    """

    shares: Sequence[float]
    seconds: Any
    mismatches: Any
    title: str = ""

    def __post_init__(self) -> None:
        shares = np.asarray(self.shares, dtype=float)
        if not ((shares > 0) & (shares <= 1)).all() or 1 not in shares:
            raise InputError(
                "Shares of the training data lie above 0 and up to 1, and the whole data, 1, must "
                f"be among them to compare with; got {', '.join(f'{share:g}' for share in shares)}."
            )
        for name in ("seconds", "mismatches"):
            self._rows(name)

    def _rows(self, name: str) -> NDArray[np.float64]:
        """A field with a row for each share, of one or more repeats."""
        values = np.asarray(getattr(self, name), dtype=float)
        if values.ndim not in (1, 2) or len(values) != len(self.shares):
            raise InputError(
                f"{name} must have one entry, or one row of repeats, for each of the "
                f"{len(self.shares)} shares; got shape {values.shape}."
            )
        return values.reshape(len(values), -1)

    @property
    def relative_time(self) -> NDArray[np.float64]:
        """Running time of each run in percent of the mean time at the whole data."""
        seconds = self._rows("seconds")
        return np.asarray(100 * seconds / self._at_whole(seconds))

    def plot(self, ax: Any = None) -> "ShareDisplay":
        """Draw on two axes `ax`, or on a new figure; they become `ax_` and `figure_`."""
        if ax is None:
            figure = figure_class()(figsize=(7.2, 3.3), layout="constrained")
            figure.get_layout_engine().set(wspace=0.08)
            ax = figure.subplots(1, 2)
            if self.title:
                figure.suptitle(self.title, fontsize=11, color=INK, parse_math=False)
        left, right = self.ax_ = tuple(ax)
        self.figure_ = left.figure
        self._plot_time(left)
        self._plot_mismatches(right)
        names = ("running time (% of the whole)", "mismatched labels an instance")
        for axes, name in zip(self.ax_, names, strict=True):
            style_axes(axes, "share of the training data (%)", name, grid="y")
            axes.set(xlim=(0, 104), xticks=range(0, 101, 20))
        return self

    def _plot_time(self, ax: Any) -> None:
        share = np.linspace(0, 100, 101)
        for y in (share, share**2 / 100):
            ax.plot(share, y, color=GREY, linestyle="--", linewidth=0.9)
        write(ax, "linear", (62, 62), (-4, 4), "right", "bottom")
        write(ax, "quadratic", (72, 0.72 * 72), (4, -4), "left", "top")
        self._plot_runs(ax, self.relative_time, BLUE, "o")
        ax.set_ylim(bottom=0)

    def _plot_mismatches(self, ax: Any) -> None:
        mismatches = self._rows("mismatches")
        self._plot_runs(ax, mismatches, VERMILION, "s")
        whole = self._at_whole(mismatches)
        ax.axhline(whole, color=GREY, linestyle="--", linewidth=0.9)
        write(ax, f"all of the data: {whole:.4g}", (2, whole), (0, -4), "left", "top")
        ax.margins(y=0.16)

    def _plot_runs(self, ax: Any, values: NDArray[np.float64], color: str, marker: str) -> None:
        x = 100 * np.asarray(self.shares, dtype=float)
        order, means = np.argsort(x), values.mean(axis=1)
        ax.plot(x[order], means[order], color=color, marker=marker, markersize=5, zorder=3)
        if values.shape[1] > 1:
            ax.plot(x, values, ".", color=color, alpha=0.35, markersize=5, zorder=2)

    def _at_whole(self, values: NDArray[np.float64]) -> float:
        return float(values[np.asarray(self.shares, dtype=float) == 1].mean())
