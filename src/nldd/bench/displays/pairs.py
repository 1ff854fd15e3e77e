"""Pairs of Algorithm 1: how one instance finds its two, and what a regression learns of all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, check_random_state

from nldd._labels import read_labels
from nldd._training import Training, random_halves
from nldd.estimators._label_models import default_estimator, fit_label_probabilities
from nldd.exceptions import InputError
from nldd.present.drawing import BLUE, GREY, INK, VERMILION, Display, style_axes, write
from nldd.present.text import count_noun
from nldd.regression._regression import DistanceRegression, Pairs
from nldd.search._distances import exact_distances, feature_scale, scale_rows
from nldd.search._kernels import TIE

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
DX, DY = "Dx, distance in feature space", "Dy, distance in label space"
# Names stand where no row can be: nothing is nearer than the nearest.
LEFT, BELOW = ((-9, 0), "right", "center"), ((0, -9), "center", "top")


@dataclass(frozen=True, eq=False)
class PairChoice:
    """Distances of one instance to all rows of T1, and the two rows it is paired with.

    Attributes
    ----------
    Dx, Dy : ndarray of shape (n_rows,)
    first, second : int
        The row nearest in features (m_i1 of the paper) and the one nearest in labels (m_i2).
    tied_in_x, tied_in_y : ndarray
        Rows among which the other distance decided, the chosen one included.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.displays.pairs import pair_distances
    >>> X, Y = np.array([[3.0], [4.0], [1.0]]), np.array([[1, 1], [1, 1], [0, 1]])
    >>> choice = pair_distances(X, Y, np.array([[0.0]]), np.array([1.0, 0.5]), np.ones(1))
    >>> choice.Dx, choice.first
    (array([3., 4., 1.]), 2)
    """

    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    first: int
    second: int
    tied_in_x: NDArray[np.intp]
    tied_in_y: NDArray[np.intp]


def pair_distances(X: Any, Y: Any, x: Any, p: Any, scale: NDArray[np.float64]) -> PairChoice:
    """Pair one instance with the rows of T1 as in Algorithm 1 of the paper.

    Parameters
    ----------
    X, Y : {ndarray, CSR} of shape (n_rows, n_features), ndarray of shape (n_rows, n_labels)
        Features and labels of T1.
    x, p : {ndarray, CSR} of shape (1, n_features), ndarray of shape (n_labels,)
        Features of the instance, and its label probabilities.
    scale : ndarray of shape (n_features,)
        Divisors of the features, as from :func:`nldd.search._distances.feature_scale`.

    Returns
    -------
    PairChoice

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.displays.pairs import pair_distances
    >>> X, Y = np.array([[3.0], [4.0], [1.0]]), np.array([[1, 1], [1, 1], [0, 1]])
    >>> choice = pair_distances(X, Y, np.array([[0.0]]), np.array([1.0, 0.5]), np.ones(1))
    >>> choice.first, choice.second, choice.tied_in_y
    (2, 0, array([0, 1]))
    """
    rows, instance = np.arange(len(Y)), np.zeros(len(Y), dtype=np.intp)
    Dx = exact_distances(scale_rows(X, scale), scale_rows(x, scale), rows, instance)
    Dy = np.linalg.norm(np.asarray(p, dtype=float) - Y, axis=1)
    tied_in_x, tied_in_y = _smallest(Dx), _smallest(Dy)
    first = tied_in_x[_smallest(Dy[tied_in_x])[0]]
    second = tied_in_y[_smallest(Dx[tied_in_y])[0]]
    return PairChoice(Dx, Dy, int(first), int(second), tied_in_x, tied_in_y)


@dataclass(eq=False)
class PairChoiceDisplay(Display):
    """Figure 2 of the paper from real data: the pairs that one validation instance gives.

    Parameters
    ----------
    choice : PairChoice
    nearest : int or None
        How many of the rows to draw, those of smallest Dx; None draws all. The two chosen rows
        and those tied with them are always there.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench import PairChoiceDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> display = PairChoiceDisplay.from_training(X, X > 0, i=0, random_state=0)
    >>> len(display.choice.Dx), bool(display.choice.Dx.argmin() == display.choice.first)
    (50, True)
    >>> figure = display.plot().figure_
    """

    choice: PairChoice
    nearest: int | None = None
    inches = 7.2, 4.8

    @classmethod
    def from_training(
        cls,
        X: Any,
        Y: Any,
        i: int = 0,
        *,
        estimator: Any = None,
        standardize: str = "numeric",
        random_state: Any = None,
        nearest: int | None = None,
    ) -> "PairChoiceDisplay":
        """Split, fit to T1 and pair instance `i` of T2, as :class:`nldd.NLDDClassifier` does.

        With the same data, base classifier and seed as a fitted model (that drew no part of T2)
        the two pairs are those in its ``pairs_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels), or label sets
        i : int, default=0
            The instance of T2.
        estimator, standardize, random_state : as in :class:`nldd.NLDDClassifier`
        nearest : int or None, default=None
            As in the class.

        Returns
        -------
        PairChoiceDisplay
        """
        rng, table = check_random_state(random_state), read_labels(Y)
        X = check_array(X, accept_sparse="csr", dtype=float)
        check_consistent_length(X, table.Y)
        first, second = random_halves(len(table.Y), rng)
        if not 0 <= i < len(second):
            raise InputError(f"i must be from 0 to {len(second) - 1}, a row of T2; got {i!r}.")
        T1, x = Training(X[first], table.Y[first], None, first), X[second[[i]]]
        estimator = default_estimator() if estimator is None else estimator
        (classifiers,) = fit_label_probabilities(estimator, [T1], table.names, n_jobs=None, rng=rng)
        p = classifiers.probabilities(x)[0]
        return cls(pair_distances(T1.X, T1.Y, x, p, feature_scale(X, standardize)), nearest)

    def _draw(self, ax: Any) -> None:
        choice, Dx, Dy = self.choice, self.choice.Dx, self.choice.Dy
        nearest = np.argsort(Dx, kind="stable")[: self.nearest]
        rows = np.unique(np.concatenate([nearest, choice.tied_in_x, choice.tied_in_y]))
        looks: dict[str, Any] = {"s": 13, "color": GREY, "alpha": 0.7, "linewidths": 0}
        ax.scatter(Dx[rows], Dy[rows], label=f"{count_noun(len(rows), 'row')} of T1", **looks)
        # Rings around the rows among which the other distance decides.
        for tied, color, what in (
            (choice.tied_in_x, VERMILION, "Dx"),
            (choice.tied_in_y, BLUE, "Dy"),
        ):
            if len(tied) > 1:
                words = f"{len(tied)} rows tied at the smallest {what}"
                looks = {"s": 42, "facecolor": "none", "edgecolor": color, "linewidth": 1.1}
                ax.scatter(Dx[tied], Dy[tied], label=words, **looks)
        ax.axvline(Dx.min(), color=VERMILION, linestyle=":", linewidth=1.0, zorder=0)
        ax.axhline(Dy.min(), color=BLUE, linestyle=":", linewidth=1.0, zorder=0)
        chosen = [
            (choice.first, VERMILION, "s", "$m_{i1}$", "nearest in features", LEFT),
            (choice.second, BLUE, "^", "$m_{i2}$", "nearest in labels", BELOW),
        ]
        if choice.first == choice.second:
            chosen = [(choice.first, INK, "D", "$m_{i1} = m_{i2}$", "nearest in both", BELOW)]
        for row, color, marker, name, why, place in chosen:
            words = f"{name}, {why}: ({Dx[row]:.2f}, {Dy[row]:.2f})"
            looks = {"s": 110, "color": color, "marker": marker, "edgecolor": "white"}
            ax.scatter(Dx[row], Dy[row], zorder=4, label=words, **looks)
            write(ax, name, (Dx[row], Dy[row]), *place, fontsize=12, color=color, parse_math=True)
        style_axes(ax, DX, DY)
        ax.margins(x=0.08, y=0.1)
        # Above the plot: inside there may be points anywhere.
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=9, frameon=False)


def _smallest(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the smallest values, equal but for rounding."""
    return np.flatnonzero(values <= values.min() * (1 + TIE))


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
        style_axes(ax, DX, DY)


def _steps(values: Any) -> NDArray[np.float64]:
    margin = 0.03 * float(np.ptp(values)) or 0.5
    return np.linspace(max(0.0, values.min() - margin), values.max() + margin, 200)
