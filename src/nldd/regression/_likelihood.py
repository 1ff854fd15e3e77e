"""The binomial likelihood of counted errors, and its maximum in both models, with slopes >= 0."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatArray = NDArray[np.float64]

MAX_STEPS, ARMIJO, ROUNDING = 200, 1e-4, 1e-14

# Linear: a slope that changes no log-odds by more, log-odds beyond which a label is all but
# certain, and information below which nothing is known about a direction.
NO_EFFECT, CERTAIN, NO_INFORMATION = 1e-9, 15.0, 1e-6

# Multiplicative: the likelihood may have several maxima, so the best starts of a grid are tried.
# 0^0 is 1 while 0^b is 0, so an exponent of 0 is a model of its own and not a limit of others.
STARTS = (1.0, 0.01, 0.1, 0.3, 0.6, 1.5, 2.5, 4.0, 8.0)
N_STARTS = 5
SMALLEST, LARGEST = 1e-6, 10.0
FACES = ((False, False), (False, True), (True, False), (True, True))

# Log-odds of each pair at given coefficients, and their derivatives by the coefficients.
Model = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class BinomialLoss:
    """Minus the log-likelihood of k errors in m labels, up to a constant.

    With log-odds eta of an error, one observation contributes ``m * log(1 + exp(eta)) - k * eta``,
    with the derivatives ``m * theta - k`` and ``m * theta * (1 - theta)``, where
    ``theta = 1 / (1 + exp(-eta))``. Counts may be fractions, as smoothed ones are.
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

    def information(self, eta: FloatArray, J: FloatArray) -> FloatArray:
        """Expected information about coefficients by which log-odds have the derivatives `J`."""
        return J.T @ (self.curvature(eta)[:, np.newaxis] * J)

    def smoothed(self, n_parameters: int) -> "BinomialLoss":
        """The same with a few labels added, half of them wrong, spread over all observations.

        Each then has right and wrong labels, if only fractions of one, and the likelihood a finite
        maximum. As many are added as there are parameters: their influence fades as data come in.
        """
        extra = n_parameters / self.weight.sum()
        return replace(self, k=self.k + extra / 2, m=self.m + extra)


class Minimum(NamedTuple):
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
    lower = np.array([-np.inf, *np.zeros(Z.shape[1] - 1)])
    return minimize(loss, lambda b: (Z @ b, Z), start, lower, np.full_like(start, np.inf))


def minimize(
    loss: BinomialLoss, model: Model, start: FloatArray, lower: FloatArray, upper: FloatArray
) -> Minimum:
    """Minimise ``loss(model(b))`` over ``lower <= b <= upper`` by projected scoring steps.

    A coefficient at a bound beyond which the loss would fall is held there, which is the
    optimality condition of Karush, Kuhn and Tucker. In the others the step is Newton's with the
    expected information, cut back to the bounds and halved until the loss falls. (Bertsekas,
    1982, SIAM J. Control Optim. 20.)
    """
    b, n_steps, converged = start, 0, False
    while not converged and n_steps < MAX_STEPS:
        eta, J = model(b)
        gradient = J.T @ loss.gradient(eta)
        information = loss.information(eta, J)
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


@dataclass(frozen=True, eq=False)
class Estimate:
    """Coefficients, which of them are free, not held at 0, log-odds and their derivatives."""

    beta: FloatArray
    free: NDArray[np.bool_]
    J: FloatArray
    eta: FloatArray
    n_steps: int
    converged: bool
    separated: bool


def fit_linear(loss: BinomialLoss, Dx: FloatArray, Dy: FloatArray) -> Estimate:
    """Estimate b in ``log-odds = Z b``, where Z has the columns 1, Dx, Dy."""
    Z = np.column_stack([np.ones_like(Dx), Dx, Dy])
    # In units of the largest value the columns are alike, whatever the distances are measured in.
    unit = np.abs(Z).max(axis=0)
    unit[unit == 0] = 1
    columns = identified_columns(Z / unit)
    U = Z[:, columns] / unit[columns]
    minimum = minimize_linear(loss, U)
    is_intercept = np.arange(3) == 0
    free = is_intercept[columns] | (minimum.b > 0)
    separated = is_separated(loss, U @ minimum.b, U[:, free])
    if separated:
        minimum = minimize_linear(loss.smoothed(len(columns)), U)
    # A slope that moves no pair's log-odds is rounding error around 0, and must not rank rows.
    minimum.b[1:][minimum.b[1:] < NO_EFFECT] = 0
    beta = np.zeros(3)
    beta[columns] = minimum.b / unit[columns]
    free = is_intercept | (beta > 0)
    return Estimate(beta, free, Z, Z @ beta, minimum.n_steps, minimum.converged, separated)


def is_separated(loss: BinomialLoss, eta: FloatArray, J: FloatArray) -> bool:
    """Whether the fit ran off along a direction in which the likelihood grows for ever.

    Then some pair's labels are fitted as all but certainly right or wrong, and the information
    about that direction has vanished; `J` has columns of similar size. A pair that is merely far
    away does the first but not the second. (Albert and Anderson, 1984, Biometrika 71.)
    """
    if np.abs(eta).max() <= CERTAIN:
        return False
    return bool(np.linalg.eigvalsh(loss.information(eta, J))[0] < NO_INFORMATION)


def identified_columns(Z: FloatArray) -> NDArray[np.intp]:
    """Columns of ``1, Dx, Dy`` with a coefficient of their own.

    A distance that is constant, or a linear function of the other one, has none. The label
    distance is kept before the feature distance: it is the stronger of the two.
    """
    columns = [0]
    for column in (2, 1):
        rank = np.linalg.matrix_rank(Z[:, [*columns, column]], tol=1e-9 * np.sqrt(len(Z)))
        if rank > len(columns):
            columns.append(column)
    return np.sort(columns)


def fit_multiplicative(loss: BinomialLoss, Dx: FloatArray, Dy: FloatArray) -> Estimate:
    """Estimate b0, b1, b2 by maximum likelihood, with or without either exponent."""
    estimate = _fit(loss, Dx, Dy)
    J = estimate.J[:, estimate.free]
    if is_separated(loss, estimate.eta, J / np.abs(J).max(axis=0)):
        return replace(_fit(loss.smoothed(3), Dx, Dy), separated=True)
    return estimate


def log_odds(b: FloatArray, Dx: FloatArray, Dy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-odds of each pair and their derivatives by b0, b1, b2.

    That of ``Dx^b1`` is ``Dx^b1 * log Dx``, and 0 where Dx is 0 and the power constant.
    """
    term = np.power(Dx, b[1]) * np.power(Dy, b[2])
    log_Dx = np.log(Dx, out=np.zeros_like(Dx), where=Dx > 0)
    log_Dy = np.log(Dy, out=np.zeros_like(Dy), where=Dy > 0)
    return b[0] + term, np.column_stack([np.ones_like(Dx), term * log_Dx, term * log_Dy])


def _fit(loss: BinomialLoss, Dx: FloatArray, Dy: FloatArray) -> Estimate:
    """The best of four models: each exponent 0, or above 0. Equally good: the simpler one."""
    minima = [_fit_face(loss, Dx, Dy, [True, *face]) for face in FACES]
    smallest = min(minimum.value for minimum in minima)
    best = next(m for m in minima if m.value <= smallest + 1e-9 * (1 + abs(smallest)))
    eta, J = log_odds(best.b, Dx, Dy)
    # An exponent whose derivative vanishes in all pairs may have any value; one at the largest
    # value allowed is not an estimate either.
    free = (np.arange(3) == 0) | ((best.b != 0) & (best.b < LARGEST) & J.any(axis=0))
    return Estimate(best.b, free, J, eta, best.n_steps, best.converged, separated=False)


def _fit_face(loss: BinomialLoss, Dx: FloatArray, Dy: FloatArray, free: list[bool]) -> Minimum:
    """Minimum over b0 and the exponents that are `free`; the others are 0."""
    embedding = np.eye(3)[:, free]

    def model(reduced: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta, J = log_odds(embedding @ reduced, Dx, Dy)
        return eta, J[:, free]

    def start(exponents: tuple[float, ...]) -> FloatArray:
        b = np.array([0.0, *exponents])  # and the intercept that suits them, by a few steps
        for _ in range(8):
            eta = model(b)[0]
            b[0] -= np.clip(loss.gradient(eta).sum() / max(loss.curvature(eta).sum(), 1e-9), -2, 2)
        return b

    n_exponents = sum(free) - 1
    lower = np.array([-np.inf, *n_exponents * [SMALLEST]])
    upper = np.array([np.inf, *n_exponents * [LARGEST]])
    starts = [start(exponents) for exponents in product(STARTS, repeat=n_exponents)]
    starts.sort(key=lambda b: loss.value(model(b)[0]))
    found = [minimize(loss, model, b, lower, upper) for b in starts[:N_STARTS]]
    best = min(found, key=lambda minimum: minimum.value)
    return best._replace(b=embedding @ best.b)


FITS = {"linear": fit_linear, "multiplicative": fit_multiplicative}
