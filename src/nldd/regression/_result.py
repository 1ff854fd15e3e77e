"""What the regression learns from, and what comes out: theta, scores, errors, a summary."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nldd.regression._likelihood import FloatArray

NAMES = ("intercept", "Dx (features)", "Dy (labels)")
FORMULAS = {"linear": "b0 + b1 Dx + b2 Dy", "multiplicative": "b0 + Dx^b1 Dy^b2"}
METHODS = {"independent": "maximum likelihood", "exchangeable": "GEE, exchangeable"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a validation instance and a training row near to it: S in the paper.

    Each array has one entry a pair: the distances in feature and in label space, the number of
    labels in which the two differ, the validation row (`instance`) and the training `row`, as
    positions in the data passed to `fit`, and the weight of the instance, 1 unless sample weights
    were given. Pairs that share an instance are not independent.
    """

    Dx: FloatArray
    Dy: FloatArray
    errors: NDArray[np.intp]
    n_labels: int
    instance: NDArray[np.intp]
    row: NDArray[np.intp]
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def design(self) -> FloatArray:
        """Columns 1, Dx, Dy of the linear model."""
        return np.column_stack([np.ones(len(self)), self.Dx, self.Dy])


@dataclass(frozen=True, eq=False)
class DistanceRegression:
    """Probability theta that a label is wrong, as a function of both distances.

    Attributes
    ----------
    beta : ndarray of shape (3,)
    covariance_matrix : ndarray of shape (3, 3)
        Of the estimates; model-based when independent, GEE's robust one when exchangeable.
        NaN for coefficients that were not free.
    robust_covariance_matrix : ndarray of shape (3, 3)
        Sandwich estimate that allows pairs of one instance to depend on each other.
    log_likelihood : float
        Without the binomial coefficients, which do not depend on beta.
    separated : bool
        No finite maximum existed; the coefficients are those of slightly smoothed counts.
    fixed : tuple of str
        Coefficients that were not estimated: held at 0 because they would be negative, or not
        told apart by the pairs.
    """

    model: str
    covariance: str
    beta: FloatArray
    covariance_matrix: FloatArray
    robust_covariance_matrix: FloatArray
    log_likelihood: float
    n_pairs: int
    n_instances: int
    n_labels: int
    n_steps: int
    converged: bool
    separated: bool
    fixed: tuple[str, ...]

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of `beta`; NaN where a coefficient was held at 0."""
        return np.asarray(np.sqrt(np.diag(self.covariance_matrix)))

    @property
    def robust_standard_errors(self) -> FloatArray:
        """Standard errors that allow for the dependence of pairs of one instance."""
        return np.asarray(np.sqrt(np.diag(self.robust_covariance_matrix)))

    def parts(self, Dx: FloatArray, Dy: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The share of each distance in the score: summands, or factors if multiplicative."""
        if self.model == "linear":
            return self.beta[1] * Dx, self.beta[2] * Dy
        return np.power(Dx, self.beta[1]), np.power(Dy, self.beta[2])  # 0^0 is 1

    def score(self, Dx: FloatArray, Dy: FloatArray) -> FloatArray:
        """What the prediction minimises: the log-odds of an error without the intercept."""
        x_part, y_part = self.parts(Dx, Dy)
        return x_part + y_part if self.model == "linear" else x_part * y_part

    def theta(self, Dx: FloatArray, Dy: FloatArray) -> FloatArray:
        """Probability that one label is wrong; always inside (0, 1)."""
        limits = np.finfo(np.float64)
        return np.clip(expit(self.beta[0] + self.score(Dx, Dy)), limits.tiny, 1 - limits.eps)

    def summary(self) -> str:
        """The fit as text, for people."""
        origin = float(self.theta(np.zeros(1), np.zeros(1))[0])
        steps = f"converged in {self.n_steps} steps" if self.converged else "NOT converged"
        errors = self.standard_errors, self.robust_standard_errors
        table = zip(NAMES, self.beta, *errors, strict=True)
        lines = [
            f"log-odds of a wrong label = {FORMULAS[self.model]}   ({METHODS[self.covariance]})",
            f"{self.n_pairs} pairs of {self.n_instances} instances, {self.n_labels} labels; "
            f"log-likelihood {self.log_likelihood:.2f}; {steps}",
            "",
            f"{'':<15}{'coefficient':>12}{'std. error':>12}{'robust s.e.':>12}",
            *(
                f"{name:<15}{b:>12.4f}"
                + (f"{'fixed':>12}" * 2 if name in self.fixed else f"{error:>12.4f}{robust:>12.4f}")
                for name, b, error, robust in table
            ),
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

    __str__ = summary
