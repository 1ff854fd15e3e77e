"""Average ranks of methods on one axis, with bars over those that do not differ significantly."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.displays._style import BLUE, INK, QUIET, Display, read_numbers, set_title, write
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
    average_ranks : array-like of shape (n_methods,)
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
    average_ranks: Any
    cliques: Sequence[tuple[int, ...]] = ()
    title: str = ""

    def __post_init__(self) -> None:
        n = len(self.methods)
        if n < 2:
            raise InputError(f"The diagram compares two or more methods; got {n}.")
        self.average_ranks = read_numbers("average_ranks", self.average_ranks, n, 1, n)
        members = {member for clique in self.cliques for member in clique}
        if not members <= set(range(n)):
            allowed = f"positions of methods from 0 to {n - 1}"
            raise InputError(f"Cliques hold {allowed}; got {sorted(members)}.")

        names = self._names = [fill(str(name), NAME_WIDTH) for name in self.methods]
        bars = self._bars = stacked_bars(self.average_ranks, self.cliques)
        # Heights in points: of all bars, of the row of a name, and of all below the axis.
        self._top = GAP + BAR_ROW * (1 + max((row for _, row in bars), default=-1))
        self._name_row = LINE * (1 + max(name.count("\n") for name in names)) + 6
        self._bottom = self._top + (n + 1) // 2 * self._name_row + (FOOT if bars else 0)
        self.inches = 7.2, (HEAD + self._bottom + (24 if self.title else 6)) / 72

    def _draw(self, ax: Any) -> None:
        n_methods = len(self.methods)
        ax.axis("off")
        ax.set(xlim=(1, n_methods), ylim=(-self._bottom, HEAD))
        set_title(ax, self.title, 90)
        self._plot_axis()
        for clique, row in self._bars:
            members, y = self.average_ranks[list(clique)], -GAP - row * BAR_ROW
            overhang = 0.008 * (n_methods - 1)
            ends = [members.min() - overhang, members.max() + overhang]
            ax.plot(ends, [y, y], color=BLUE, linewidth=4, solid_capstyle="round", zorder=3)
            # Tests of pairs may part a method from others on both sides of it: the bar runs past
            # it, and only the dots say who is meant.
            at = np.full(len(members), y)
            ax.scatter(members, at, s=22, color="white", edgecolor=BLUE, zorder=4)
        self._plot_methods()
        if self._bars:
            self._write(NOTE, (1 + n_methods) / 2, -self._bottom)

    def _write(
        self, words: str, x: float, y: float, ha: str = "center", color: str = QUIET
    ) -> None:
        self.ax_.text(x, y, words, ha=ha, va="bottom", fontsize=9, color=color)

    def _plot_axis(self) -> None:
        last = len(self.methods)
        self.ax_.plot([1, last], [0, 0], color=INK, linewidth=1.2)
        for rank in range(1, last + 1):
            self.ax_.plot([rank, rank], [0, 5], color=INK, linewidth=1.2)
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
