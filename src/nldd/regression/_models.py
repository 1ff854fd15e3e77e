"""Maximum likelihood of both models, linear and multiplicative, with slopes >= 0."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nldd.regression._likelihood import BinomialLoss, FloatArray, Minimum, minimize, minimize_linear

# Linear: a slope that changes no log-odds by more, log-odds beyond which a label is all but
# certain, and information below which nothing is known about a direction.
NO_EFFECT = 1e-9
CERTAIN = 15.0
NO_INFORMATION = 1e-6

# Multiplicative: the likelihood may have several maxima in the exponents, so the best starts of a
# grid are tried. 0^0 is 1 while 0^b is 0, so an exponent of 0 is a model of its own and not a
# limit of others.
STARTS = (1.0, 0.01, 0.1, 0.3, 0.6, 1.5, 2.5, 4.0, 8.0)
N_STARTS = 5
SMALLEST, LARGEST = 1e-6, 10.0
FACES = ((False, False), (False, True), (True, False), (True, True))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Coefficients of either model, which of them are free rather than held at 0, the log-odds
    of each pair, and their derivatives by the coefficients, of shape (n_pairs, 3).
    """

    beta: FloatArray
    free: NDArray[np.bool_]
    J: FloatArray
    eta: FloatArray
    n_steps: int
    converged: bool
    separated: bool


def fit_linear(loss: BinomialLoss, Z: FloatArray) -> Estimate:
    """Estimate b in ``log-odds = Z b``, where Z has the columns 1, Dx, Dy."""
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
    information = J.T @ (loss.curvature(eta)[:, np.newaxis] * J)
    return bool(np.linalg.eigvalsh(information)[0] < NO_INFORMATION)


def identified_columns(Z: FloatArray) -> NDArray[np.intp]:
    """Columns of ``1, Dx, Dy`` with a coefficient of their own.

    A distance that is the same in all pairs, or a linear function of the other one, has none.
    The label distance is kept before the feature distance: it is the stronger of the two.
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

    The derivative of ``Dx^b1`` by b1 is ``Dx^b1 * log Dx``, and 0 where Dx is 0 (where the
    power is 0, or constant at 1 for b1 = 0).
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
        """With the intercept that suits the exponents, by a few steps in that one direction."""
        b = np.array([0.0, *exponents])
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
    return replace(best, b=embedding @ best.b)
