"""Calibration of theta: expected and observed shares of wrong labels, and their picture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from nldd.exceptions import InputError
from nldd.present import drawing as style

TAIL = 0.025  # of a 95 % interval
LONGEST = 1.6  # intervals longer than that, as a multiple of the largest share, leave the picture
STRIP = 0.15  # height of the strip with the counts, as a share of that of the plot


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Expected and observed shares of wrong labels in bins of answers, by rising theta.

    Attributes
    ----------
    expected, observed, counts : ndarray of shape (n_bins,)
        Mean theta of the answers in each bin, share of wrong labels, and number of answers.
    lower, upper : ndarray of shape (n_bins,)
        95 % interval of the observed share.

    Examples
    --------
    >>> from nldd.coding.calibration import calibration_deciles
    >>> bins = calibration_deciles([0.1, 0.1, 0.4, 0.2], [0, 1, 2, 2], 5, n_bins=2)
    >>> bins.expected, bins.counts
    (array([0.1, 0.3]), array([2, 2]))
    """

    expected: NDArray[np.float64]
    observed: NDArray[np.float64]
    counts: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def error(self) -> float:
        """Mean absolute difference of expected and observed share, weighted by answers."""
        return float(np.average(np.abs(self.expected - self.observed), weights=self.counts))


def calibration_deciles(theta: Any, n_wrong: Any, n_labels: Any, n_bins: int = 10) -> Calibration:
    """Compare theta with the observed share of wrong labels, in bins of similar size.

    Parameters
    ----------
    theta, n_wrong : array-like of shape (n_answers,)
        Expected error rate per label, and number of wrong labels, of each answer.
    n_labels : int or array-like of shape (n_answers,)
        Labels that each answer could have.
    n_bins : int, default=10
        Answers of the same theta share a bin, so that there may be fewer.

    Returns
    -------
    Calibration

    Notes
    -----
    Labels of one answer depend on each other, so the interval comes from the spread of answers:
    Student's t times the standard error of their mean share of wrong labels. If all answers of a
    bin have the same share, such as 0, the spread of all answers is used instead: that no error was
    seen does not prove that there is none. The interval of a single answer is 0 to 1.

    Examples
    --------
    >>> from nldd.coding.calibration import calibration_deciles
    >>> bins = calibration_deciles([0.1, 0.1, 0.4, 0.2], [0, 1, 2, 2], 5, n_bins=2)
    >>> bins.expected, bins.observed, bins.counts
    (array([0.1, 0.3]), array([0.1, 0.4]), array([2, 2]))
    >>> round(bins.error, 3)
    0.05
    """
    theta = style.read_numbers("theta", theta)
    n = len(theta)
    n_wrong = style.read_numbers("n_wrong", n_wrong, n, high=np.inf)
    n_labels = np.full(n, n_labels) if np.size(n_labels) == 1 else n_labels
    n_labels = style.read_numbers("n_labels", n_labels, n, 1, np.inf)
    if (n_wrong > n_labels).any():
        at = int(np.argmax(n_wrong > n_labels))
        got = f"{n_wrong[at]:g} of {n_labels[at]:g} at position {at}"
        raise InputError(f"n_wrong must lie from 0 to n_labels; got {got}.")
    if not (isinstance(n_bins, int | np.integer) and n_bins >= 1):
        raise InputError(f"n_bins must be a whole number from 1 on; got {n_bins!r}.")
    order = np.argsort(theta, kind="stable")
    theta, n_wrong, n_labels = theta[order], n_wrong[order], n_labels[order]
    # Answers of the same theta belong to the bin that the middle one of them lies in.
    _, first, n_tied = np.unique(theta, return_index=True, return_counts=True)
    _, leaders = np.unique((2 * first + n_tied) * n_bins // (2 * n), return_index=True)
    starts = first[leaders]
    counts = np.diff(np.append(starts, n))
    observed = np.add.reduceat(n_wrong, starts) / np.add.reduceat(n_labels, starts)
    shares = n_wrong / n_labels
    spread = shares.std(ddof=1) if np.ptp(shares) else 0.0
    bins = zip(np.split(shares, starts[1:]), observed.tolist(), strict=True)
    lower, upper = np.transpose([_interval(inside, centre, spread) for inside, centre in bins])
    return Calibration(np.add.reduceat(theta, starts) / counts, observed, counts, lower, upper)


def _interval(shares: NDArray[np.float64], centre: float, spread: float) -> tuple[float, float]:
    """Return the 95 % interval from the shares of answers, or from `spread` if they are equal."""
    n = len(shares)
    if n == 1:
        return 0.0, 1.0
    spread = shares.std(ddof=1) if np.ptp(shares) else spread
    if not spread:
        # The most that answers of another kind can be if chance has missed them in all n.
        missed = 1 - TAIL ** (1 / n)
        return centre * (1 - missed), centre * (1 - missed) + missed
    half = float(-stdtrit(n - 1, TAIL) * spread / np.sqrt(n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


@dataclass(eq=False)
class CalibrationDisplay(style.Display):
    """Observed against expected share of wrong labels: calibrated bins lie on the diagonal.

    Parameters
    ----------
    bins : Calibration
        Mean theta, share of wrong labels with its interval, and number of answers of each bin.
    title : str

    Examples
    --------
    >>> from nldd.coding import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0.1, 0.2, 0.3, 0.3], [0, 1, 1, 0], 5)
    >>> display.bins.observed
    array([0. , 0.2, 0.1])
    >>> print(f"{display.bins.error:.3f}")
    0.125
    """

    bins: Calibration
    title: str = ""
    inches = 4.8, 5.4

    @classmethod
    def from_predictions(
        cls, theta: Any, n_wrong: Any, n_labels: Any, *, n_bins: int = 10, **kwargs: Any
    ) -> "CalibrationDisplay":
        """Draw the bins of :func:`calibration_deciles`.

        Parameters
        ----------
        theta, n_wrong : array-like of shape (n_answers,)
        n_labels : int, or array-like of shape (n_answers,)
        n_bins : int, default=10
        **kwargs : dict
            The other parameters of the class.

        Returns
        -------
        CalibrationDisplay
        """
        return cls(calibration_deciles(theta, n_wrong, n_labels, n_bins), **kwargs)

    def _draw(self, ax: Any) -> None:
        style.set_title(ax, self.title, 48, pad=22)
        bins, fewest, most = self.bins, self.bins.counts.min(), self.bins.counts.max()
        number = f"{most:,.0f}" if fewest == most else f"{fewest:,.0f} to {most:,.0f}"
        xlabel = f"wrong labels expected, mean theta (%)\ngrey bars: number of answers ({number})"
        ylabel = "wrong labels observed (%)\nwith confidence interval"
        style.style_axes(ax, xlabel, ylabel, grid="both")
        largest = max(bins.expected.max(), bins.observed.max())
        largest = max(largest, min(bins.upper.max(), LONGEST * largest))
        ticks = style.round_ticks(0, min(104 * largest, 100) or 1)
        top = float(ticks[-1])
        ax.set(xlim=(0, top), ylim=(-STRIP * top, top), xticks=ticks, yticks=ticks)
        ax.set_aspect("equal", adjustable="box")
        ax.spines["left"].set_bounds(0, top)
        self._plot_bins(top)
        ax.apply_aspect()
        self._plot_words(top)

    def _plot_bins(self, top: float) -> None:
        """Draw the bins, and counts as bars in a strip below zero of which they fill two thirds."""
        ax, bins, x = self.ax_, self.bins, 100 * self.bins.expected
        floor = np.full(len(x), -STRIP * top)
        ax.plot([0, top], [0, 0], color=style.INK, linewidth=0.8, clip_on=False)
        bars = [floor, floor * (1 - bins.counts / bins.counts.max() * 2 / 3)]
        ax.plot([x, x], bars, color=style.GREY, linewidth=3, solid_capstyle="butt")
        ax.plot([0, 100], [0, 100], color=style.GREY, linestyle=style.DASHED, linewidth=1.1)
        limits = [100 * bins.lower, 100 * bins.upper]
        ax.plot([x, x], limits, "_-", color=style.BLUE, linewidth=1.2, markersize=6)
        looks = {"color": style.BLUE, "markersize": 7, "markeredgecolor": "white", "zorder": 4}
        ax.plot(x, 100 * bins.observed, "o", clip_on=False, **looks)

    def _plot_words(self, top: float) -> None:
        """Say what the sides of the diagonal mean, in their corners or where there is room."""
        apart = f"{100 * self.bins.error:.2g} percentage points apart on average"
        style.write(self.ax_, apart, (1, 1), (0, 5), "right", "baseline", xycoords="axes fraction")
        strip_and_plot = np.linspace(-STRIP * top, top, 24), np.linspace(0, top, 20)
        points = np.stack(np.meshgrid(*strip_and_plot), axis=-1).reshape(-1, 2)
        y, x = points.T
        below, above_or_strip = points[y <= x, ::-1], points[(y >= x) | (y <= 0), ::-1]
        more, fewer = "more wrong\nthan expected", "fewer wrong\nthan expected"
        style.place_words(self.ax_, more, (0, top), below, style.QUIET)
        style.place_words(self.ax_, fewer, (top, 0), above_or_strip, style.QUIET)
