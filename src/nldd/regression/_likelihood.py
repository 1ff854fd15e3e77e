"""The binomial likelihood of counted errors, and its maximum under bounds on the coefficients."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

MAX_STEPS = 200
ARMIJO = 1e-4
ROUNDING = 1e-14

FloatArray = NDArray[np.float64]

# Log-odds of each pair at given coefficients, and their derivatives by the coefficients.
Model = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class BinomialLoss:
    """Minus the log-likelihood of k errors in m labels, up to a constant.

    With log-odds eta of an error, one observation contributes
    ``m * log(1 + exp(eta)) - k * eta``, whose first two derivatives in eta are
    ``m * theta - k`` and ``m * theta * (1 - theta)``, where ``theta = 1 / (1 + exp(-eta))``.
    Counts may be fractions, as smoothed ones are.
    """

    k: FloatArray
    m: FloatArray
    weight: FloatArray

    def value(self, eta: FloatArray) -> float:
        """Loss at log-odds `eta`."""
        return float(self.weight @ (self.m * np.logaddexp(0, eta) - self.k * eta))

    def gradient(self, eta: FloatArray) -> FloatArray:
        """Derivative of the loss by each log-odds."""
        return np.asarray(self.weight * (self.m * expit(eta) - self.k))

    def curvature(self, eta: FloatArray) -> FloatArray:
        """Second derivative of the loss by each log-odds."""
        theta = expit(eta)
        return np.asarray(self.weight * self.m * theta * (1 - theta))

    def smoothed(self, n_parameters: int) -> "BinomialLoss":
        """The same with a few labels added, half of them wrong, spread over all observations.

        Every observation then has both right and wrong labels, if only fractions of one, and
        the maximum of the likelihood is finite. As many labels are added in all as there are
        parameters, so their influence fades as data come in. Weights count as frequencies.
        """
        extra = n_parameters / self.weight.sum()
        return replace(self, k=self.k + extra / 2, m=self.m + extra)


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the loss is smallest, and how it was reached."""

    b: FloatArray
    value: float
    n_steps: int
    converged: bool


def minimize_linear(loss: BinomialLoss, Z: FloatArray) -> Minimum:
    """Minimise ``loss(Z b)`` over b with ``b[1:] >= 0``: convex, so the minimum is the only one."""
    rate = (loss.weight @ loss.k + 0.5) / (loss.weight @ loss.m + 1)
    start = np.zeros(Z.shape[1])
    start[0] = np.log(rate / (1 - rate))
    lower = np.where(np.arange(Z.shape[1]) > 0, 0.0, -np.inf)
    return minimize(loss, lambda b: (Z @ b, Z), start, lower, np.full(Z.shape[1], np.inf))


def minimize(
    loss: BinomialLoss, model: Model, start: FloatArray, lower: FloatArray, upper: FloatArray
) -> Minimum:
    """Minimise ``loss(model(b))`` over ``lower <= b <= upper`` by projected scoring steps.

    A coefficient at a bound beyond which the loss would fall is held there, which is the
    optimality condition of Karush, Kuhn and Tucker. In the others the step is Newton's with the
    expected information, cut back to the bounds and halved until the loss falls. (Bertsekas,
    1982, SIAM J. Control Optim. 20; for a linear model expected and observed information agree.)
    """
    b, n_steps, converged = start, 0, False
    while not converged and n_steps < MAX_STEPS:
        eta, J = model(b)
        gradient = J.T @ loss.gradient(eta)
        information = J.T @ (loss.curvature(eta)[:, np.newaxis] * J)
        free = ~(((b <= lower) & (gradient > 0)) | ((b >= upper) & (gradient < 0)))
        step = np.zeros_like(b)
        step[free] = -np.linalg.lstsq(information[np.ix_(free, free)], gradient[free])[0]
        decrement = -float(gradient @ step)
        value = loss.value(eta)
        slack = ROUNDING * (1 + abs(value))
        # The longest of 1, 1/2, 1/4, ... of the step that lowers the loss enough, if there is one.
        trials = ((r, np.clip(b + r * step, lower, upper)) for r in 0.5 ** np.arange(60))
        low_enough = (
            trial
            for r, trial in trials
            if loss.value(model(trial)[0]) <= value - ARMIJO * r * decrement + slack
        )
        b = next(low_enough, b)
        # Near the minimum a step squares the error: after this small a one nothing is left.
        converged = decrement <= slack
        n_steps += 1
    return Minimum(b, loss.value(model(b)[0]), n_steps, converged)
