"""A picture of the pairs that the regression learned from, and of the weights it found."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nldd.displays._figure_class import figure_class
from nldd.regression import DistanceRegression, Pairs

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)


@dataclass
class PairsDisplay:
    """Pairs (Dx, Dy) coloured by wrong labels, with lines of equal theta.

    Attributes
    ----------
    pairs : Pairs
    regression : DistanceRegression
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.
    """

    pairs: Pairs
    regression: DistanceRegression

    @classmethod
    def from_estimator(cls, model: Any) -> "PairsDisplay":
        """The pairs and the regression of a fitted :class:`nldd.NLDDClassifier`."""
        return cls(model.pairs_, model.regression_)

    def plot(self, ax: Any = None) -> "PairsDisplay":
        """Draw on `ax`, or on a new figure."""
        if ax is None:
            figure = figure_class()(figsize=(7.5, 5.5), layout="constrained")
            ax = figure.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        points = self._plot_pairs(ax)
        self._plot_theta(ax)
        bar = ax.figure.colorbar(points, ax=ax)
        bar.set_label(f"wrong labels (of {self.pairs.n_labels})")
        b0, b1, b2 = self.regression.beta
        formula = {
            "linear": f"log-odds of a wrong label = {b0:.2f} + {b1:.3f} Dx + {b2:.3f} Dy",
            "multiplicative": f"log-odds of a wrong label = {b0:.2f} + Dx^{b1:.3f} Dy^{b2:.3f}",
        }[self.regression.model]
        ax.set_title(f"{len(self.pairs)} pairs\n{formula}", fontsize=11)
        ax.set_xlabel("Dx, distance in feature space")
        ax.set_ylabel("Dy, distance in label space")
        return self

    def _plot_pairs(self, ax: Any) -> Any:
        pairs = self.pairs
        # Pairs with the most errors are drawn last: they are few, and the ones to look at.
        order = np.argsort(pairs.errors, kind="stable")
        return ax.scatter(
            pairs.Dx[order],
            pairs.Dy[order],
            c=pairs.errors[order],
            s=14,
            cmap="viridis_r",
            alpha=0.75,
            linewidths=0,
        )

    def _plot_theta(self, ax: Any) -> None:
        """Lines along which theta is the same: what the two weights trade against each other."""
        Dx, Dy = np.meshgrid(
            np.linspace(*_range(self.pairs.Dx), 200), np.linspace(*_range(self.pairs.Dy), 200)
        )
        theta = self.regression.theta(Dx, Dy)
        levels = [level for level in LEVELS if theta.min() < level < theta.max()]
        if levels:
            lines = ax.contour(Dx, Dy, theta, levels=levels, colors="black", linewidths=0.8)
            ax.clabel(lines, fmt=lambda level: f"theta = {level:g}", fontsize=9)


def _range(values: Any) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.03 * (high - low) or 0.5
    return max(0.0, low - margin), high + margin
