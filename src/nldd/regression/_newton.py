"""Newton's method for the binomial likelihood under bounds on the coefficients."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.regression._loss import BinomialLoss

MAX_STEPS = 200
ARMIJO = 1e-4
ROUNDING = 1e-14

FloatArray = NDArray[np.float64]

# Log-odds of each pair at given coefficients, and their derivatives by the coefficients.
Model = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
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
        free = ~held_at_bound(b, gradient, lower, upper)
        step = np.zeros_like(b)
        step[free] = -np.linalg.lstsq(information[np.ix_(free, free)], gradient[free])[0]
        decrement = -float(gradient @ step)
        value = loss.value(eta)
        b = _line_search(loss, model, b, step, value, decrement, lower, upper)
        # Near the minimum a step squares the error: after this small a one nothing is left.
        converged = decrement <= ROUNDING * (1 + abs(value))
        n_steps += 1
    return Minimum(b, loss.value(model(b)[0]), n_steps, converged)


def held_at_bound(
    b: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray
) -> NDArray[np.bool_]:
    """Coefficients at a bound that the loss would push beyond it."""
    return ((b <= lower) & (gradient > 0)) | ((b >= upper) & (gradient < 0))


def _line_search(
    loss: BinomialLoss,
    model: Model,
    b: FloatArray,
    step: FloatArray,
    value: float,
    decrement: float,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """The longest of 1, 1/2, 1/4, ... of the step that lowers the loss enough."""
    slack = ROUNDING * (1 + abs(value))
    for length in 0.5 ** np.arange(60):
        trial = np.clip(b + length * step, lower, upper)
        if loss.value(model(trial)[0]) <= value - ARMIJO * length * decrement + slack:
            return trial
    return b
