"""The label space of three labels as a cube: labelsets are vertices, probabilities inner points."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.displays._style import BLUE, GREY, INK, QUIET, SKY, VERMILION, Display, write
from nldd.exceptions import InputError

# Where one step along each label goes on paper: right, up, and away from the reader.
AXES = np.array([[1.0, 0.0], [0.0, 1.0], [0.46, 0.34]])
VERTICES = np.array(list(product((0, 1), repeat=3)))
EDGES = [(a, b) for a, b in combinations(VERTICES, 2) if np.abs(a - b).sum() == 1]
# Hidden behind the cube; its three edges are dashed.
HIDDEN = (0, 0, 1)
LARGEST_AREA = 620.0
# Where the words of a vertex may stand: shift in points, then which side of the words that is.
LOWER_RIGHT, UPPER_LEFT = (13, -9, "left", "top"), (-13, 9, "right", "bottom")
PLACES: dict[tuple[int, ...], list[tuple[int, int, str, str]]] = {
    (0, 0, 0): [(-14, -9, "right", "top")],
    (1, 0, 0): [(14, -9, "left", "top")],
    (0, 1, 0): [(-14, 4, "right", "center")],
    (1, 1, 0): [LOWER_RIGHT, UPPER_LEFT],
    (0, 0, 1): [LOWER_RIGHT, UPPER_LEFT],
    (1, 0, 1): [(14, 0, "left", "center")],
    (0, 1, 1): [(0, 15, "center", "bottom")],
    (1, 1, 1): [(14, 8, "left", "center")],
}
# About half the width and height of such words, and points in a unit of the cube.
WORDS, POINTS_IN_UNIT = np.array([0.12, 0.09]), 220


@dataclass(eq=False)
class HypercubeDisplay(Display):
    """Figure 1 of the paper from a fitted model: where a prediction lies among the labelsets.

    Parameters
    ----------
    P : ndarray of shape (n_samples, 3)
        Label probabilities of test instances: points inside the cube.
    i : int
        The instance whose distances to the labelsets are drawn.
    labelsets, counts : ndarray of shape (n_labelsets, 3) and (n_labelsets,)
        Those seen in training, and how many training rows carry each.
    chosen : int
        Position of the predicted labelset of instance `i`.
    label_names : sequence of length 3
    """

    P: NDArray[np.float64]
    i: int
    labelsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    chosen: int
    label_names: Sequence[Any]

    @classmethod
    def from_estimator(cls, model: Any, X: Any, i: int = 0) -> "HypercubeDisplay":
        """Instances `X` in the cube of a :class:`nldd.NLDDClassifier` fitted to three labels."""
        P = model.label_probabilities(X)
        if P.shape[1] != 3:
            raise InputError(
                f"A cube shows three labels, but the model was fitted to {P.shape[1]}. "
                "Fit one to three columns of Y, such as Y[:, [0, 1, 2]]."
            )
        if not 0 <= i < len(P):
            raise InputError(f"i must be from 0 to {len(P) - 1}, a row of X; got {i!r}.")
        predicted = model.nearest_labelsets(X, k=1).labelsets[i, 0]
        chosen = int(np.flatnonzero((model.labelsets_ == predicted).all(axis=1))[0])
        return cls(P, i, model.labelsets_, model.index_.counts, chosen, list(model.label_names_))

    @property
    def Dy(self) -> NDArray[np.float64]:
        """Distance of the instance's probabilities to each labelset seen in training."""
        return np.asarray(np.linalg.norm(self.labelsets - self.P[self.i], axis=1))

    def plot(self, ax: Any = None) -> "HypercubeDisplay":
        """Draw on `ax`, or on a new figure; they become `ax_` and `figure_`."""
        ax = self._begin_plot(ax, 7.2, 5.6)
        ax.axis("off")
        ax.set_aspect("equal")
        ax.set(xlim=(-0.1, 1.56), ylim=(-0.14, 1.44))
        self._plot_lines()
        self._plot_points()
        self._plot_vertices()
        self._plot_label_names()
        looks = {"ncols": 3, "fontsize": 9, "frameon": False, "labelcolor": INK}
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.07), "handletextpad": 0.4}
        ax.legend(**looks, **place)
        return self

    def _plot_lines(self) -> None:
        """The edges, and lines from the instance to the labelsets; the chosen one is thick."""
        for a, b in EDGES:
            style = (0, (4, 3)) if HIDDEN in (tuple(a), tuple(b)) else "solid"
            self._plot_line([a, b], color=GREY, linewidth=1.0, linestyle=style, zorder=1)
        for number, labelset in enumerate(self.labelsets):
            color, width = (VERMILION, 2.6) if number == self.chosen else (BLUE, 1.0)
            self._plot_line([self.P[self.i], labelset], color=color, linewidth=width, zorder=3)

    def _plot_points(self) -> None:
        p, others = self.P[self.i], np.delete(self.P, self.i, axis=0)
        words = f"instance, p = ({', '.join(f'{value:.2f}' for value in p)})"
        looks = {"color": INK, "marker": "D", "edgecolor": "white"}
        self._plot_dots([p], s=75, zorder=5, label=words, **looks)
        if len(others):
            words = f"{len(others)} others"
            self._plot_dots(others, s=11, color=GREY, linewidths=0, zorder=2, label=words)
        # A point on paper may be anywhere in depth: its foot on the floor tells where it stands.
        foot = p * (1, 0, 1)
        self._plot_line([p, foot], linestyle=":", color=QUIET, linewidth=1.0, zorder=2)
        self._plot_dots([foot], s=14, color=QUIET, marker="x", zorder=2)

    def _plot_line(self, points: Any, **looks: Any) -> None:
        self.ax_.plot(*projected(points).T, **looks)

    def _plot_dots(self, points: Any, **looks: Any) -> None:
        self.ax_.scatter(*projected(points).T, **looks)

    def _plot_vertices(self) -> None:
        areas = LARGEST_AREA * self.counts / self.counts.max()
        seen = {tuple(labelset): number for number, labelset in enumerate(self.labelsets.tolist())}
        for vertex in map(tuple, VERTICES.tolist()):
            number = seen.get(vertex)
            looks: dict[str, Any] = {"s": 60, "facecolor": "white", "linestyle": ":"}
            if number is not None:
                looks = {"s": max(areas[number], 12), "facecolor": SKY}
            color, width = (VERMILION, 2.6) if number == self.chosen else (INK, 1.0)
            self._plot_dots([vertex], edgecolor=color, linewidth=width, zorder=4, **looks)
            self._plot_words(vertex, number)
        # Apart from the cube, so that the legend shows a circle of a size that fits a line.
        words = "labelset, area by training rows"
        self.ax_.scatter([], [], s=60, color=SKY, edgecolor=INK, label=words)

    def _plot_words(self, vertex: tuple[int, ...], number: int | None) -> None:
        words, looks = f"{vertex}\nnot in training", {"color": QUIET}
        if number is not None:
            words = f"{vertex}\n{self.counts[number]} rows\nDy = {self.Dy[number]:.2f}"
            looks["color"] = INK
        if number == self.chosen:
            words, looks["fontweight"] = f"{words}\nchosen", "bold"
        dx, dy, *sides = self._clear_place(vertex)
        paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        at = projected([vertex])[0]
        write(self.ax_, words, at, (dx, dy), *sides, bbox=paper, zorder=6, **looks)

    def _clear_place(self, vertex: tuple[int, ...]) -> tuple[int, int, str, str]:
        """The place for words that the lines from the instance stay away from the most."""
        p, steps = self.P[self.i], np.linspace(0, 1, 40)[:, np.newaxis]
        lines = np.concatenate([projected(p + steps * (to - p)) for to in self.labelsets])

        def clearance(place: tuple[int, int, str, str]) -> float:
            shift = np.array(place[:2])
            centre = projected([vertex])[0] + shift / POINTS_IN_UNIT + np.sign(shift) * WORDS
            return float((np.abs(lines - centre) / WORDS).max(axis=1).min())

        return max(PLACES[vertex], key=clearance)

    def _plot_label_names(self) -> None:
        """The three labels along the edges that start where none of them is carried."""
        slope = float(np.degrees(np.arctan2(AXES[2, 1], AXES[2, 0])))
        along = (
            ((0.5, 0, 0), (0, -7), 0.0, "top", 28),
            ((0, 0.5, 0), (-7, 0), 90.0, "bottom", 28),
            ((1, 0, 0.55), (4, -6), slope, "top", 15),
        )
        for name, (at, shift, rotation, stand, room) in zip(self.label_names, along, strict=True):
            words = f"label {name}" if isinstance(name, int) else str(name)
            words = words if len(words) <= room else f"{words[: room - 3]}..."
            looks = {"rotation": rotation, "rotation_mode": "anchor", "fontsize": 10}
            arrow = f"{words} \N{RIGHTWARDS ARROW}"
            write(self.ax_, arrow, projected([at])[0], shift, "center", stand, **looks)


def projected(points: Any) -> NDArray[np.float64]:
    """Points of the label space on paper, by an oblique projection."""
    return np.asarray(points, dtype=float) @ AXES
