"""Figures as objects, which hold what was computed and draw it: average ranks of methods with bars
over those that do not differ significantly, and the pairs that NLDD learns its weights from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.bench.ranks import cliques
from nldd.exceptions import InputError
from nldd.present.drawing import (
    BLUE,
    INK,
    QUIET,
    VERMILION,
    Display,
    read_numbers,
    set_title,
    style_axes,
    write,
)
from nldd.regression._regression import DistanceRegression, Pairs

# Heights in points: of a line of a name, of a row of bars, the room around both, and of a ruler.
LINE, BAR_ROW, GAP, HEAD, FOOT, RULER = 12.0, 9.0, 9.0, 34.0, 24.0, 26.0
# Longer names are broken into lines, so that they leave room for the axis between them.
NAME_WIDTH = 20
# Of theta, at which the pairs have a line.
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
Bars = list[tuple[tuple[int, ...], int]]
NOTE = "A bar joins methods that do not differ significantly; its dots are the methods it joins."
RULER_NOTE = (
    "A bar without dots joins average ranks within the critical difference (CD) of Nemenyi."
)


@dataclass(eq=False)
class CriticalDifferenceDisplay(Display):
    """Critical-difference diagram: the best method is on the left.

    Parameters
    ----------
    methods : sequence of str
    average_ranks : array-like of shape (n_methods,)
        Rank of each method averaged over data sets; 1 is the best.
    cliques : sequence of tuple of int
        Groups of methods, as positions in `methods`, that do not differ significantly.
    title : str
    critical_difference : float, optional
        That of Nemenyi's test: a ruler of this length is drawn above the axis, and bars of another
        colour join the methods whose average ranks are within it.

    Examples
    --------
    >>> from nldd.bench import CriticalDifferenceDisplay
    >>> display = CriticalDifferenceDisplay(["BR", "NLDD", "ECC"], [2.9, 1.2, 1.9], [(1, 2)])
    >>> [text.get_text() for text in display.plot().ax_.texts[6:12]]
    ['1.20', 'NLDD', '1.90', 'ECC', '2.90', 'BR']
    """

    methods: Sequence[str]
    average_ranks: Any
    cliques: Sequence[tuple[int, ...]] = ()
    title: str = ""
    critical_difference: float | None = None

    def __post_init__(self) -> None:
        n = len(self.methods)
        if n < 2:
            raise InputError(f"The diagram compares two or more methods; got {n}.")
        self.average_ranks = read_numbers("average_ranks", self.average_ranks, n, 1, n)
        members = {member for clique in self.cliques for member in clique}
        if not members <= set(range(n)):
            allowed = f"positions of methods from 0 to {n - 1}"
            raise InputError(f"Cliques hold {allowed}; got {sorted(members)}.")
        distance = self.critical_difference
        if distance is not None and not 0 < distance < np.inf:
            raise InputError(f"A critical difference is a length above 0; got {distance!r}.")

        names = self._names = [fill(str(name), NAME_WIDTH) for name in self.methods]
        bars = self._bars = stacked_bars(self.average_ranks, self.cliques)
        self._first_row = 1 + max((row for _, row in bars), default=-1)
        within = []
        if distance is not None:
            # As p-values: 1 within the distance, 0 beyond. Sums of ranks differ from each other in
            # their last digits.
            apart = np.abs(np.subtract.outer(self.average_ranks, self.average_ranks))
            within = cliques(self.average_ranks, apart <= distance + 1e-9)
        joined = self._joined = stacked_bars(self.average_ranks, within)
        n_rows = self._first_row + 1 + max((row for _, row in joined), default=-1)
        self._notes = [note for note, found in ((NOTE, bars), (RULER_NOTE, joined)) if found]
        # Heights in points: of all bars, of the row of a name, of all below and above the axis.
        self._top = GAP + BAR_ROW * n_rows
        self._name_row = LINE * (1 + max(name.count("\n") for name in names)) + 6
        foot = FOOT + LINE * (len(self._notes) - 1) if self._notes else 0
        self._bottom = self._top + (n + 1) // 2 * self._name_row + foot
        self._head = HEAD if distance is None else HEAD + RULER
        self.inches = 7.2, (self._head + self._bottom + (24 if self.title else 6)) / 72

    def _draw(self, ax: Any) -> None:
        n_methods = len(self.methods)
        ax.axis("off")
        ax.set(xlim=(1, n_methods), ylim=(-self._bottom, self._head))
        set_title(ax, self.title, 90)
        self._plot_axis()
        self._plot_ruler()
        for clique, row in self._bars:
            members, y = self._plot_bar(clique, row, BLUE)
            # Tests of pairs may part a method from others on both sides of it: the bar runs past
            # it, and only the dots say who is meant.
            at = np.full(len(members), y)
            ax.scatter(members, at, s=22, color="white", edgecolor=BLUE, zorder=4, clip_on=False)
        for clique, row in self._joined:
            self._plot_bar(clique, self._first_row + row, VERMILION)
        self._plot_methods()
        if self._notes:
            self._write("\n".join(self._notes), (1 + n_methods) / 2, -self._bottom)

    def _write(
        self, words: str, x: float, y: float, ha: str = "center", color: str = QUIET
    ) -> None:
        self.ax_.text(x, y, words, ha=ha, va="bottom", fontsize=9, color=color)

    def _plot_bar(
        self, clique: tuple[int, ...], row: int, color: str
    ) -> tuple[NDArray[np.float64], float]:
        """Draw a bar over some methods; their ranks, and the height of the bar."""
        members, y = self.average_ranks[list(clique)], -GAP - row * BAR_ROW
        overhang = 0.008 * (len(self.methods) - 1)
        ends = [members.min() - overhang, members.max() + overhang]
        looks = {"color": color, "linewidth": 4, "solid_capstyle": "round", "clip_on": False}
        self.ax_.plot(ends, [y, y], zorder=3, **looks)
        return members, y

    def _plot_ruler(self) -> None:
        if (distance := self.critical_difference) is None:
            return
        words, y = f"CD = {distance:.2f}", HEAD + 8
        if distance <= len(self.methods) - 1:
            ends = [1, 1, 1 + distance, 1 + distance]
            self.ax_.plot(ends, [y - 3, y, y, y - 3], color=VERMILION, linewidth=1.6)
        else:
            words += ", longer than the axis"
        self._write(words, 1, y + 3, "left", INK)

    def _plot_axis(self) -> None:
        last = len(self.methods)
        self.ax_.plot([1, last], [0, 0], color=INK, linewidth=1.2)
        for rank in range(1, last + 1):
            self.ax_.plot([rank, rank], [0, 5], color=INK, linewidth=1.2, clip_on=False)
            # Beyond a dozen, long names leave too little of the width for a number at every rank.
            if last <= 12 or rank % 2:
                self._write(str(rank), rank, 7, color=INK)
        halves = np.arange(1, last) + 0.5
        self.ax_.plot([halves, halves], [0, 3], color=INK, linewidth=0.8)
        self._write("\N{LEFTWARDS ARROW} best", 1, 21, "left")
        self._write("average rank", (1 + last) / 2, 21)
        self._write("worst \N{RIGHTWARDS ARROW}", last, 21, "right")

    def _plot_methods(self) -> None:
        """Elbows from the axis to the names: the better half to the left, the others right."""
        ranks, n = self.average_ranks, len(self.methods)
        left, right = np.split(np.argsort(ranks, kind="stable"), [(n + 1) // 2])
        reach, past_number = 0.02 * (n - 1), 30 if ranks.max() < 10 else 36
        sides = ((left, 1 - reach, "right", -1), (right[::-1], n + reach, "left", 1))
        looks = {"color": INK, "fontsize": 10, "linespacing": 1.05}
        for methods, edge, align, sign in sides:
            for row, method in enumerate(methods):
                y, rank = -self._top - (row + 0.5) * self._name_row, ranks[method]
                elbow = [rank, rank, edge], [0, y, y]
                self.ax_.plot(*elbow, color=QUIET, linewidth=0.9, clip_on=False)
                write(self.ax_, f"{rank:.2f}", (edge, y), (4 * sign, 0), align, "center")
                past = (past_number * sign, 0)
                write(self.ax_, self._names[method], (edge, y), past, align, "center", **looks)


def stacked_bars(ranks: NDArray[np.float64], cliques: Sequence[tuple[int, ...]]) -> Bars:
    """Cliques of two or more from the best on, each with the first row where it finds room."""
    ends: list[float] = []
    placed: Bars = []
    wide = [(ranks[list(clique)].min(), clique) for clique in cliques if len(set(clique)) > 1]
    for low, clique in sorted(wide):
        free = (row for row, end in enumerate(ends) if end + 0.02 * len(ranks) < low)
        row = next(free, len(ends))
        ends[row : row + 1] = [ranks[list(clique)].max()]
        placed.append((clique, row))
    return placed


@dataclass(eq=False)
class PairsDisplay(Display):
    """Pairs (Dx, Dy) coloured by wrong labels, with lines of equal theta.

    Parameters
    ----------
    pairs : nldd.regression._regression.Pairs
    regression : nldd.regression._regression.DistanceRegression

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench import PairsDisplay
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = np.column_stack([X > 0, X.sum(axis=1) > 0])
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> print(PairsDisplay.from_estimator(model).plot().ax_.get_title())
    54 pairs
    log-odds of a wrong label = -6.44 + 0.681 Dx + 6.798 Dy
    """

    pairs: Pairs
    regression: DistanceRegression
    inches = 7.5, 5.5

    @classmethod
    def from_estimator(cls, model: Any) -> "PairsDisplay":
        """The pairs and the regression of a fitted model.

        Parameters
        ----------
        model : nldd.NLDDClassifier

        Returns
        -------
        PairsDisplay
        """
        return cls(model.pairs_, model.regression_)

    def _draw(self, ax: Any) -> None:
        pairs, linear = self.pairs, self.regression.model == "linear"
        # Pairs with the most errors are drawn last: they are few, and the ones to look at.
        order = np.argsort(pairs.errors, kind="stable")
        looks = {"s": 14, "cmap": "viridis_r", "alpha": 0.75, "linewidths": 0}
        points = ax.scatter(pairs.Dx[order], pairs.Dy[order], c=pairs.errors[order], **looks)
        # Along these lines theta is the same: what the two weights trade against each other.
        Dx, Dy = np.meshgrid(_steps(pairs.Dx), _steps(pairs.Dy))
        theta = self.regression.theta(Dx, Dy)
        levels = [level for level in LEVELS if theta.min() < level < theta.max()]
        if levels:
            lines = ax.contour(Dx, Dy, theta, levels=levels, colors="black", linewidths=0.8)
            ax.clabel(lines, fmt=lambda level: f"theta = {level:g}", fontsize=9)
        ax.figure.colorbar(points, ax=ax, label=f"wrong labels (of {pairs.n_labels})")
        b0, b1, b2 = self.regression.beta
        terms = f"{b1:.3f} Dx + {b2:.3f} Dy" if linear else f"Dx^{b1:.3f} Dy^{b2:.3f}"
        formula = f"log-odds of a wrong label = {b0:.2f} + {terms}"
        ax.set_title(f"{len(pairs)} pairs\n{formula}", fontsize=11)
        style_axes(ax, "Dx, distance in feature space", "Dy, distance in label space")


def _steps(values: Any) -> NDArray[np.float64]:
    margin = 0.03 * float(np.ptp(values)) or 0.5
    return np.linspace(max(0.0, values.min() - margin), values.max() + margin, 200)
