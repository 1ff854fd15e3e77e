"""Maximum likelihood of the multiplicative model, b0 + Dx^b1 * Dy^b2 with b1, b2 >= 0."""

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nldd.regression._linear import Estimate, is_separated
from nldd.regression._loss import BinomialLoss
from nldd.regression._newton import Minimum, Model, minimize

FloatArray = NDArray[np.float64]

# The likelihood may have several maxima in the exponents: the best starts of a grid are tried.
STARTS = (1.0, 0.01, 0.1, 0.3, 0.6, 1.5, 2.5, 4.0, 8.0)
N_STARTS = 5
# 0^0 is 1 while 0^b is 0, so an exponent of 0 is a model of its own and not a limit of others.
SMALLEST, LARGEST = 1e-6, 10.0
FACES = ((False, False), (False, True), (True, False), (True, True))


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
    minima = [_fit_face(loss, Dx, Dy, np.array([True, *face])) for face in FACES]
    smallest = min(minimum.value for minimum in minima)
    best = next(m for m in minima if m.value <= smallest + 1e-9 * (1 + abs(smallest)))
    eta, J = log_odds(best.b, Dx, Dy)
    # An exponent whose derivative vanishes in all pairs may have any value; one at the largest
    # value allowed is not an estimate either.
    free = (best.b != 0) & (best.b < LARGEST) & (np.abs(J).max(axis=0) > 0)
    free[0] = True
    return Estimate(best.b, free, J, eta, best.n_steps, best.converged, separated=False)


def _fit_face(
    loss: BinomialLoss, Dx: FloatArray, Dy: FloatArray, free: NDArray[np.bool_]
) -> Minimum:
    """Minimum over b0 and the exponents that are `free`; the others are 0."""

    def expand(reduced: FloatArray) -> FloatArray:
        b = np.zeros(3)
        b[free] = reduced
        return b

    def model(reduced: FloatArray) -> tuple[FloatArray, FloatArray]:
        eta, J = log_odds(expand(reduced), Dx, Dy)
        return eta, J[:, free]

    lower, upper = np.full(free.sum(), SMALLEST), np.full(free.sum(), LARGEST)
    lower[0], upper[0] = -np.inf, np.inf
    grid = [
        _with_intercept(loss, model, np.array([0.0, *exponents]))
        for exponents in product(STARTS, repeat=int(free.sum()) - 1)
    ]
    grid.sort(key=lambda start: loss.value(model(start)[0]))
    found = [minimize(loss, model, start, lower, upper) for start in grid[:N_STARTS]]
    best = min(found, key=lambda minimum: minimum.value)
    return replace(best, b=expand(best.b))


def _with_intercept(loss: BinomialLoss, model: Model, b: FloatArray) -> FloatArray:
    """`b` with the intercept that suits its exponents, by a few steps in that one direction."""
    for _ in range(8):
        eta = model(b)[0]
        curvature = loss.curvature(eta).sum()
        b = b - np.eye(len(b))[0] * np.clip(loss.gradient(eta).sum() / max(curvature, 1e-9), -2, 2)
    return b
