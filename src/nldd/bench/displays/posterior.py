"""How likely a method is better than others, practically the same, or worse, as stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from nldd.exceptions import InputError
from nldd.present.drawing import BLUE, GRID, INK, VERMILION, Display, set_title

# Parts of a bar with their colours, and those of the numbers in them.
PARTS = {"better": (BLUE, "white"), "the same": (GRID, INK), "worse": (VERMILION, "white")}
# A narrower part has no room for its number.
NARROWEST = 0.07


@dataclass(eq=False)
class PosteriorDisplay(Display):
    """Probabilities of the Bayesian signed-rank test of one method against others, a bar each.

    Parameters
    ----------
    reference : str
        The method that is better, the same or worse than the others.
    methods : sequence of str
        The others, from top to bottom.
    probabilities : array-like of shape (n_methods, 3)
        That the reference is better, the same, worse; each row adds up to 1.
    title : str

    Examples
    --------
    >>> from nldd.bench.displays.posterior import PosteriorDisplay
    >>> display = PosteriorDisplay("NLDD", ["BR", "ECC"], [[0.9, 0.08, 0.02], [0.1, 0.5, 0.4]])
    >>> [text.get_text() for text in display.plot().ax_.texts]
    ['90 %', '10 %', '8 %', '50 %', '40 %']
    """

    reference: str
    methods: Sequence[str]
    probabilities: Any
    title: str = ""

    def __post_init__(self) -> None:
        P = self.probabilities = np.asarray(self.probabilities, dtype=float)
        n = len(self.methods)
        if not n or P.shape != (n, 3):
            raise InputError(
                "There must be one method or more, with three probabilities each; got "
                f"{n} and an array of shape {P.shape}."
            )
        if not (np.all(P >= 0) and np.allclose(P.sum(axis=1), 1, atol=1e-6)):
            raise InputError("The three probabilities of each method must add up to 1.")
        self._names = [fill(str(name), 24) for name in self.methods]
        n_lines = sum(1 + name.count("\n") for name in self._names)
        self.inches = 7.2, 1.1 + 0.1 * n + 0.2 * n_lines + (0.3 if self.title else 0)

    def _draw(self, ax: Any) -> None:
        at, left = np.arange(len(self.methods)), np.zeros(len(self.methods))
        for (part, (color, ink)), share in zip(PARTS.items(), self.probabilities.T, strict=True):
            ax.barh(at, share, 0.72, left, color=color, edgecolor="white", label=part)
            for y, x, width in zip(at, left + share / 2, share, strict=True):
                if width >= NARROWEST:
                    words = f"{100 * width:.0f} %"
                    ax.text(x, y, words, ha="center", va="center", color=ink, fontsize=9)
            left = left + share
        ax.set(xlim=(0, 1), ylim=(len(at) - 0.5, -0.5), xticks=[])
        ax.set_yticks(at, self._names, fontsize=10, parse_math=False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        looks: dict[str, Any] = {"fontsize": 9, "title_fontsize": 9, "frameon": False, "ncols": 3}
        who = fill(f"Compared with these, {self.reference} is practically", 70)
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01)}
        legend = ax.legend(title=who, borderaxespad=0.2, **looks, **below)
        legend.get_title().set_parse_math(False)
        set_title(ax, self.title, 90)
