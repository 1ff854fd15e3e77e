"""A fitted regression: theta, scores, standard errors and a summary to read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

NAMES = ("intercept", "Dx (features)", "Dy (labels)")
EPSILON = np.finfo(np.float64).eps


def linear_parts(
    beta: NDArray[np.float64], Dx: NDArray[np.float64], Dy: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each distance adds to the log-odds: ``b1 * Dx`` and ``b2 * Dy``."""
    return beta[1] * Dx, beta[2] * Dy


def multiplicative_parts(
    beta: NDArray[np.float64], Dx: NDArray[np.float64], Dy: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two factors ``Dx^b1`` and ``Dy^b2``; ``0^0`` is 1."""
    return np.power(Dx, beta[1]), np.power(Dy, beta[2])


@dataclass(frozen=True)
class DistanceRegression:
    """Probability theta that a label is wrong, as a function of both distances.

    Attributes
    ----------
    model : "linear" or "multiplicative"
    covariance : "independent" or "exchangeable"
    beta : ndarray of shape (3,)
    covariance_matrix : ndarray of shape (3, 3)
        Of the estimates; model-based when independent, GEE's robust one when exchangeable.
        NaN for coefficients that were not free.
    robust_covariance_matrix : ndarray of shape (3, 3)
        Sandwich estimate that allows pairs of one instance to depend on each other.
    log_likelihood : float
        Without the binomial coefficients, which do not depend on beta.
    n_pairs, n_instances, n_labels, n_steps : int
    converged : bool
    separated : bool
        No finite maximum existed; the coefficients are those of slightly smoothed counts.
    fixed : tuple of str
        Coefficients that were not estimated: held at 0 because they would be negative, or not
        told apart by the pairs.
    """

    model: str
    covariance: str
    beta: NDArray[np.float64]
    covariance_matrix: NDArray[np.float64]
    robust_covariance_matrix: NDArray[np.float64]
    log_likelihood: float
    n_pairs: int
    n_instances: int
    n_labels: int
    n_steps: int
    converged: bool
    separated: bool
    fixed: tuple[str, ...]

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors of `beta`; NaN where a coefficient was held at 0."""
        return np.asarray(np.sqrt(np.diag(self.covariance_matrix)))

    @property
    def robust_standard_errors(self) -> NDArray[np.float64]:
        """Standard errors that allow for the dependence of pairs of one instance."""
        return np.asarray(np.sqrt(np.diag(self.robust_covariance_matrix)))

    def parts(
        self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The share of each distance in the score: summands, or factors if multiplicative."""
        parts = linear_parts if self.model == "linear" else multiplicative_parts
        return parts(self.beta, Dx, Dy)

    def score(self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the prediction minimises: the log-odds of an error without the intercept."""
        x_part, y_part = self.parts(Dx, Dy)
        return x_part + y_part if self.model == "linear" else x_part * y_part

    def theta(self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that one label is wrong; always inside (0, 1)."""
        theta = expit(self.beta[0] + self.score(Dx, Dy))
        return np.clip(theta, np.finfo(np.float64).tiny, 1 - EPSILON)

    def summary(self) -> str:
        """The fit as text, for people."""
        formula = {
            "linear": "b0 + b1 Dx + b2 Dy",
            "multiplicative": "b0 + Dx^b1 Dy^b2",
        }[self.model]
        method = "maximum likelihood" if self.covariance == "independent" else "GEE, exchangeable"
        origin = float(self.theta(np.zeros(1), np.zeros(1))[0])
        lines = [
            f"log-odds of a wrong label = {formula}   ({method})",
            f"{self.n_pairs} pairs of {self.n_instances} instances, {self.n_labels} labels; "
            f"log-likelihood {self.log_likelihood:.2f}; "
            + (f"converged in {self.n_steps} steps" if self.converged else "NOT converged"),
            "",
            f"{'':<15}{'coefficient':>12}{'std. error':>12}{'robust s.e.':>12}",
        ]
        table = zip(
            NAMES, self.beta, self.standard_errors, self.robust_standard_errors, strict=True
        )
        for name, b, error, robust in table:
            numbers = (
                "       fixed       fixed"
                if name in self.fixed
                else f"{error:>12.4f}{robust:>12.4f}"
            )
            lines.append(f"{name:<15}{b:>12.4f}{numbers}")
        lines += [
            "",
            f"theta at Dx = Dy = 0: {origin:.4f}, "
            f"or {origin * self.n_labels:.2f} wrong labels of {self.n_labels}",
        ]
        if self.fixed:
            lines.append(f"not estimated: {', '.join(self.fixed)} (negative, or not identified)")
        if self.separated:
            lines.append("separated: the distances tell right from wrong labels perfectly here;")
            lines.append("counts were smoothed to keep the coefficients finite")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()
