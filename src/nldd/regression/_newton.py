"""Newton's method for a convex loss whose slopes must not be negative."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.regression._loss import BinomialLoss

MAX_STEPS = 100
ARMIJO = 1e-4
ROUNDING = 1e-14


@dataclass(frozen=True)
class Minimum:
    """Where the loss is smallest, and how it was reached."""

    b: NDArray[np.float64]
    value: float
    n_steps: int
    converged: bool


def minimize(loss: BinomialLoss, Z: NDArray[np.float64]) -> Minimum:
    """Minimise ``loss(Z b)`` over b with ``b[1:] >= 0`` by projected Newton steps.

    A slope at 0 whose gradient points outwards is held there, which is the optimality
    condition of Karush, Kuhn and Tucker; Newton's step is taken in the others, cut back to
    the bound and halved until the loss falls. (Bertsekas, 1982, SIAM J. Control Optim. 20.)
    """
    b = np.zeros(Z.shape[1])
    rate = (loss.weight @ loss.k + 0.5) / (loss.weight @ loss.m + 1)
    b[0] = np.log(rate / (1 - rate))
    n_steps, converged = 0, False
    while not converged and n_steps < MAX_STEPS:
        eta = Z @ b
        gradient = Z.T @ loss.gradient(eta)
        information = Z.T @ (loss.curvature(eta)[:, np.newaxis] * Z)
        free = ~held_at_zero(b, gradient)
        step = np.zeros_like(b)
        step[free] = -np.linalg.lstsq(information[np.ix_(free, free)], gradient[free])[0]
        decrement = -float(gradient @ step)
        b = _line_search(loss, Z, b, step, decrement)
        # Near the minimum a step squares the error: after this small a one nothing is left.
        converged = decrement <= ROUNDING * (1 + abs(loss.value(eta)))
        n_steps += 1
    return Minimum(b, loss.value(Z @ b), n_steps, converged)


def held_at_zero(b: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Slopes at their bound that the loss would push below it."""
    held = (b <= 0) & (gradient > 0)
    held[0] = False
    return np.asarray(held)


def _line_search(
    loss: BinomialLoss,
    Z: NDArray[np.float64],
    b: NDArray[np.float64],
    step: NDArray[np.float64],
    decrement: float,
) -> NDArray[np.float64]:
    """The longest of 1, 1/2, 1/4, ... of the step that lowers the loss enough."""
    start = loss.value(Z @ b)
    slack = ROUNDING * (1 + abs(start))
    for length in 0.5 ** np.arange(60):
        trial = b + length * step
        trial[1:] = np.maximum(trial[1:], 0)
        if loss.value(Z @ trial) <= start - ARMIJO * length * decrement + slack:
            return trial
    return b
