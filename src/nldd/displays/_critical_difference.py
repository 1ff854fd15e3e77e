"""Average ranks of methods on one axis, with bars over those that do not differ significantly."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.displays._style import BLUE, INK, QUIET, Display, set_title, write
from nldd.exceptions import InputError

# Heights in points: of a line of a name, of a row of bars, and the room around both.
LINE, BAR_ROW, GAP, HEAD, FOOT = 12.0, 9.0, 9.0, 34.0, 24.0
# Longer names are broken into lines, so that they leave room for the axis between them.
NAME_WIDTH = 20
Bars = list[tuple[tuple[int, ...], int]]
NOTE = "A bar joins methods that do not differ significantly; its dots are the methods it joins."


@dataclass(eq=False)
class CriticalDifferenceDisplay(Display):
    """Critical-difference diagram: the best method is on the left.

    Parameters
    ----------
    methods : sequence of str
    average_ranks : sequence of float
        Rank of each method averaged over data sets; 1 is the best.
    cliques : sequence of tuple of int
        Groups of methods, as positions in `methods`, that do not differ significantly.
    title : str

    Examples
    --------
    >>> display = CriticalDifferenceDisplay(["BR", "NLDD", "ECC"], [2.9, 1.2, 1.9], [(1, 2)])
    >>> [text.get_text() for text in display.plot().ax_.texts[6:12]]
    ['1.20', 'NLDD', '1.90', 'ECC', '2.90', 'BR']
    """

    methods: Sequence[str]
    average_ranks: Sequence[float]
    cliques: Sequence[tuple[int, ...]] = ()
    title: str = ""

    def __post_init__(self) -> None:
        n_methods, ranks = len(self.methods), np.asarray(self.average_ranks, dtype=float)
        if n_methods < 2 or ranks.shape != (n_methods,):
            raise InputError(
                "A critical-difference diagram needs two or more methods and one average rank for "
                f"each; got {n_methods} methods and ranks of shape {ranks.shape}."
            )
        if not ((ranks >= 1) & (ranks <= n_methods)).all():
            raise InputError(
                f"Average ranks of {n_methods} methods lie from 1 to {n_methods}; "
                f"got {', '.join(f'{rank:g}' for rank in ranks)}."
            )
        members = {member for clique in self.cliques for member in clique}
        if not members <= set(range(n_methods)):
            raise InputError(
                f"Cliques hold positions of methods from 0 to {n_methods - 1}; "
                f"got {sorted(members)}."
            )

    def plot(self, ax: Any = None) -> "CriticalDifferenceDisplay":
        """Draw on `ax`, or on a new figure of the height that the methods need."""
        ranks = np.asarray(self.average_ranks, dtype=float)
        names = [fill(str(name), NAME_WIDTH) for name in self.methods]
        bars = stacked_bars(ranks, self.cliques)
        top = GAP + BAR_ROW * (1 + max((row for _, row in bars), default=-1))
        name_row = LINE * (1 + max(name.count("\n") for name in names)) + 6
        bottom = top + (len(ranks) + 1) // 2 * name_row + (FOOT if bars else 0)
        height = HEAD + bottom + (24 if self.title else 6)
        ax = self._begin_plot(ax, 7.2, height / 72)
        ax.axis("off")
        ax.set(xlim=(1, len(ranks)), ylim=(-bottom, HEAD))
        set_title(ax, self.title, 90)
        self._plot_axis(len(ranks))
        self._plot_bars(ranks, bars)
        self._plot_methods(ranks, names, top, name_row)
        if bars:
            centre = (1 + len(ranks)) / 2
            ax.text(centre, -bottom, NOTE, ha="center", va="bottom", fontsize=9, color=QUIET)
        return self

    def _plot_axis(self, n_methods: int) -> None:
        self.ax_.plot([1, n_methods], [0, 0], color=INK, linewidth=1.2)
        for rank in range(1, n_methods + 1):
            self.ax_.plot([rank, rank], [0, 5], color=INK, linewidth=1.2)
            self.ax_.text(rank, 7, str(rank), ha="center", va="bottom", fontsize=9, color=INK)
        halves = np.arange(1, n_methods) + 0.5
        self.ax_.plot([halves, halves], [0, 3], color=INK, linewidth=0.8)
        best, worst = "\N{LEFTWARDS ARROW} best", "worst \N{RIGHTWARDS ARROW}"
        places = ((0, "left", best), (0.5, "center", "average rank"), (1, "right", worst))
        for part, side, words in places:
            at = 1 + part * (n_methods - 1)
            self.ax_.text(at, 21, words, ha=side, va="bottom", fontsize=9, color=QUIET)

    def _plot_bars(self, ranks: NDArray[np.float64], bars: Bars) -> None:
        for clique, row in bars:
            members = ranks[list(clique)]
            y, overhang = -GAP - row * BAR_ROW, 0.008 * (len(ranks) - 1)
            ends = [members.min() - overhang, members.max() + overhang]
            self.ax_.plot(ends, [y, y], color=BLUE, linewidth=4, solid_capstyle="round", zorder=3)
            # Tests of pairs may part a method from others on both sides of it: the bar runs past
            # it, and only the dots say who is meant.
            at = np.full(len(members), y)
            self.ax_.scatter(members, at, s=22, color="white", edgecolor=BLUE, zorder=4)

    def _plot_methods(
        self, ranks: NDArray[np.float64], names: list[str], top: float, name_row: float
    ) -> None:
        """Elbows from the axis to the names: the better half to the left, the others right."""
        order, n = np.argsort(ranks, kind="stable"), len(ranks)
        n_left, reach = (n + 1) // 2, 0.02 * (n - 1)
        left, right = order[:n_left], order[n_left:][::-1]
        past_number = 30 if ranks.max() < 10 else 36
        looks = {"color": INK, "fontsize": 10, "linespacing": 1.05}
        sides = ((left, 1 - reach, "right", -1), (right, n + reach, "left", 1))
        for methods, edge, align, sign in sides:
            for row, method in enumerate(methods):
                y, rank = -top - (row + 0.5) * name_row, ranks[method]
                elbow = [rank, rank, edge], [0, y, y]
                self.ax_.plot(*elbow, color=QUIET, linewidth=0.9, clip_on=False)
                write(self.ax_, f"{rank:.2f}", (edge, y), (4 * sign, 0), align, "center")
                past = (past_number * sign, 0)
                write(self.ax_, names[method], (edge, y), past, align, "center", **looks)


def stacked_bars(ranks: NDArray[np.float64], cliques: Sequence[tuple[int, ...]]) -> Bars:
    """Cliques of two or more from the best on, each with the first row where it finds room."""
    ends: list[float] = []
    placed: Bars = []
    wide = [clique for clique in cliques if len(set(clique)) > 1]
    margin = 0.02 * len(ranks)
    for clique in sorted(wide, key=lambda clique: (ranks[list(clique)].min(), clique)):
        low, high = ranks[list(clique)].min(), ranks[list(clique)].max()
        row = next((row for row, end in enumerate(ends) if end + margin < low), len(ends))
        ends[row : row + 1] = [high]
        placed.append((clique, row))
    return placed
