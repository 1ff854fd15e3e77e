"""The label space of three labels as a cube: labelsets are vertices, probabilities inner points."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError
from nldd.present.drawing import BLUE, GREY, INK, QUIET, SKY, VERMILION, Display, write

# Where one step along each label goes on paper: right, up, and away from the reader.
AXES = np.array([[1.0, 0.0], [0.0, 1.0], [0.46, 0.34]])
VERTICES = list(product((0, 1), repeat=3))
EDGES = [(a, b) for a, b in combinations(VERTICES, 2) if np.abs(np.subtract(a, b)).sum() == 1]
HIDDEN = (0, 0, 1)  # behind the cube; its three edges are dashed
LARGEST_AREA = 620.0
# Where the words of a vertex may stand: shift in points, then which side of the words that is.
INSIDE = [(13, -9, "left", "top"), (-13, 9, "right", "bottom")]
PLACES: dict[tuple[int, ...], Any] = {
    (0, 0, 0): [(-14, -9, "right", "top")],
    (1, 0, 0): [(14, -9, "left", "top")],
    (0, 1, 0): [(-14, 4, "right", "center")],
    (1, 1, 0): INSIDE,
    (0, 0, 1): INSIDE,
    (1, 0, 1): [(14, 0, "left", "center")],
    (0, 1, 1): [(0, 15, "center", "bottom")],
    (1, 1, 1): [(14, 8, "left", "center")],
}
# About half the width and height of such words, and points in a unit of the cube.
WORDS, POINTS_IN_UNIT = np.array([0.12, 0.09]), 220
PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}


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

    Examples
    --------
    Labels: right of the origin, above it, and above the falling diagonal.

    >>> import numpy as np
    >>> from nldd.bench import HypercubeDisplay
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = np.column_stack([X > 0, X.sum(axis=1) > 0])
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> display = HypercubeDisplay.from_estimator(model, [[2.0, -1.0]])
    >>> display.labelsets[display.chosen], display.P.round(1)
    (array([1, 0, 1], dtype=int8), array([[1. , 0. , 0.9]]))
    >>> figure = display.plot().figure_
    """

    P: NDArray[np.float64]
    i: int
    labelsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    chosen: int
    label_names: Sequence[Any]
    inches = 7.2, 5.6

    @classmethod
    def from_estimator(cls, model: Any, X: Any, i: int = 0) -> "HypercubeDisplay":
        """Instances `X` in the cube of a fitted model.

        Parameters
        ----------
        model : nldd.NLDDClassifier, fitted to three labels
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        i : int, default=0
            The instance whose distances are drawn.

        Returns
        -------
        HypercubeDisplay
        """
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

    def _draw(self, ax: Any) -> None:
        ax.axis("off")
        ax.set_aspect("equal")
        ax.set(xlim=(-0.1, 1.56), ylim=(-0.14, 1.44))
        for edge in EDGES:
            dashes = (0, (4, 3)) if HIDDEN in edge else "solid"
            self.ax_.plot(*projected(edge).T, color=GREY, linewidth=1.0, linestyle=dashes, zorder=1)
        self._plot_points()
        for vertex in VERTICES:
            self._plot_vertex(vertex)
        # Apart from the cube, so that the legend shows a circle of a size that fits a line.
        ax.scatter([], [], s=60, color=SKY, edgecolor=INK, label="labelset, area by training rows")
        self._plot_label_names()
        looks = {"ncols": 3, "fontsize": 9, "frameon": False, "labelcolor": INK}
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.07), "handletextpad": 0.4}
        ax.legend(**looks, **place)

    def _plot_points(self) -> None:
        """The instance, with lines to the labelsets, of which the chosen one's is thick."""
        p, others = self.P[self.i], np.delete(self.P, self.i, axis=0)
        for number, labelset in enumerate(self.labelsets):
            color, width = (VERMILION, 2.6) if number == self.chosen else (BLUE, 1.0)
            self.ax_.plot(*projected([p, labelset]).T, color=color, linewidth=width, zorder=3)
        words = f"instance, p = ({', '.join(f'{value:.2f}' for value in p)})"
        looks = {"color": INK, "marker": "D", "edgecolor": "white"}
        self.ax_.scatter(*projected([p]).T, s=75, zorder=5, label=words, **looks)
        if len(others):
            words = f"{len(others)} others"
            self.ax_.scatter(
                *projected(others).T, s=11, color=GREY, linewidths=0, zorder=2, label=words
            )
        # A point on paper may be anywhere in depth: its foot on the floor tells where it stands.
        foot = p * (1, 0, 1)
        self.ax_.plot(*projected([p, foot]).T, linestyle=":", color=QUIET, linewidth=1.0, zorder=2)
        self.ax_.scatter(*projected([foot]).T, s=14, color=QUIET, marker="x", zorder=2)

    def _plot_vertex(self, vertex: tuple[int, ...]) -> None:
        words, ink = f"{vertex}\nnot in training", QUIET
        edge, width, weight = INK, 1.0, "normal"
        circle: dict[str, Any] = {"s": 60, "facecolor": "white", "linestyle": ":"}
        for number in np.flatnonzero((self.labelsets == vertex).all(axis=1)):
            count = self.counts[number]
            words, ink = f"{vertex}\n{count} rows\nDy = {self.Dy[number]:.2f}", INK
            circle = {"s": max(LARGEST_AREA * count / self.counts.max(), 12), "facecolor": SKY}
            if number == self.chosen:
                words, edge, width, weight = f"{words}\nchosen", VERMILION, 2.6, "bold"
        self.ax_.scatter(
            *projected([vertex]).T, edgecolor=edge, linewidth=width, zorder=4, **circle
        )
        dx, dy, *sides = max(PLACES[vertex], key=lambda place: self._clearance(vertex, place[:2]))
        looks: dict[str, Any] = {"color": ink, "fontweight": weight, "bbox": PAPER, "zorder": 6}
        write(self.ax_, words, projected(vertex), (dx, dy), *sides, **looks)

    def _clearance(self, vertex: tuple[int, ...], shift: Any) -> float:
        """How far from the lines of the instance words stay that are shifted so from a vertex."""
        p, steps = self.P[self.i], np.linspace(0, 1, 40)[:, np.newaxis]
        lines = np.concatenate([projected(p + steps * (to - p)) for to in self.labelsets])
        centre = projected(vertex) + np.divide(shift, POINTS_IN_UNIT) + np.sign(shift) * WORDS
        return float((np.abs(lines - centre) / WORDS).max(axis=1).min())

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
            write(self.ax_, arrow, projected(at), shift, "center", stand, **looks)


def projected(points: Any) -> NDArray[np.float64]:
    """Points of the label space on paper, by an oblique projection."""
    return np.asarray(points, dtype=float) @ AXES
