"""How far theta and the surest answers can be trusted: calibration, risk-coverage, and pictures."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from nldd.coding.answers import FloatArray
from nldd.exceptions import InputError
from nldd.present import drawing as style
from nldd.present.text import percent

TAIL = 0.025  # of a 95 % interval
# Below this coverage a risk-coverage curve may leave the picture: one wrong among the first answers
# would squeeze the rest of it into the top.
SETTLED = 0.05
MOST_DOTS = 12  # longer curves show no points


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

    expected: FloatArray
    observed: FloatArray
    counts: NDArray[np.int64]
    lower: FloatArray
    upper: FloatArray

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


def _interval(shares: FloatArray, centre: float, spread: float) -> tuple[float, float]:
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
        style.set_title(ax, self.title, 40, pad=22)
        bins, fewest, most = self.bins, self.bins.counts.min(), self.bins.counts.max()
        number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        xlabel = f"wrong labels expected, mean theta (%)\n(bins of {number} answers)"
        ylabel = "wrong labels observed (%)\nwith confidence interval"
        style.style_axes(ax, xlabel, ylabel, grid="both")
        ax.axline((0, 0), slope=1, color=style.GREY, linestyle=style.DASHED, linewidth=1.1)
        errors = [bins.observed - bins.lower, bins.upper - bins.observed]
        limits = {"yerr": 100 * np.abs(errors), "capsize": 3, "elinewidth": 1.2}
        ax.errorbar(100 * bins.expected, 100 * bins.observed, fmt="o", color=style.BLUE, **limits)
        top = min(110 * max(bins.expected.max(), bins.observed.max()), 101) or 1
        ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
        looks = {"transform": ax.transAxes, "color": style.QUIET, "fontsize": 9}
        ax.text(0.02, 0.98, "more wrong\nthan expected", va="top", **looks)
        ax.text(0.98, 0.02, "fewer wrong\nthan expected", ha="right", **looks)
        apart = f"{100 * bins.error:.2g} percentage points apart on average"
        ax.text(1, 1.01, apart, ha="right", **looks)


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
    >>> [text.get_text() for text in display.plot().ax_.get_legend().get_texts()]
    ['all: 75.0 %', 'target 90 %', '75 % automatic at 100 %']
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
        style.set_title(ax, self.title, 64)
        measure = f"{fill(self.measure, 40)} (%)"
        style.style_axes(ax, "answers coded automatically (%)", measure, grid="y")
        end = f"all: {percent(self.accuracy[-1], 1)}" if self.coverage[-1] == 1 else None
        dots = "o" if len(self.coverage) <= MOST_DOTS else ""
        looks = {"color": style.BLUE, "linewidth": 1.8, "marker": dots, "markersize": 4}
        ax.plot(100 * self.coverage, 100 * self.accuracy, label=end, **looks)
        settled = self.coverage >= (SETTLED if self.coverage[-1] >= SETTLED else 0)
        seen = list(self.accuracy[settled])
        if self.target is not None:
            looks = {"color": style.QUIET, "linestyle": style.DASHED, "linewidth": 1.1}
            ax.axhline(100 * self.target, label=f"target {100 * self.target:.4g} %", **looks)
            seen.append(self.target)
        if self.chosen is not None:
            share, accuracy = self.chosen
            words = f"{percent(share)} automatic at {percent(accuracy, 1)}"
            point = {"color": style.VERMILION, "zorder": 5, "clip_on": False, "label": words}
            ax.scatter([100 * share], [100 * accuracy], 64, **point)
            seen.append(accuracy)
        # A line that runs along the floor could be taken for the axis: it gets a little room.
        ax.set(xlim=(0, 100), ylim=(max(100 - max(104 * (1 - min(seen)), 5), 0), 100.5))
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="lower left", frameon=False, fontsize=9)
