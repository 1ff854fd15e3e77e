"""Maximum likelihood of the multiplicative model, b0 + Dx^b1 * Dy^b2 with b1, b2 >= 0."""

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from nldd.regression._linear import Estimate, is_certain
from nldd.regression._loss import BinomialLoss

# The likelihood may have several maxima in the exponents; the best start of this grid is used.
STARTS = (0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5)
OUTER_BOUNDS = np.array([50.0, 10.0, 10.0])


def fit_multiplicative(
    loss: BinomialLoss, Dx: NDArray[np.float64], Dy: NDArray[np.float64]
) -> Estimate:
    """Estimate b0, b1, b2 by maximum likelihood from the best point of a grid."""
    estimate = _fit(loss, Dx, Dy)
    # As in the linear model, or as an exponent at its bound where more would always be better.
    at_bound = (np.abs(estimate.beta) >= 0.999 * OUTER_BOUNDS).any()
    if not at_bound and not is_certain(estimate.eta):
        return estimate
    return replace(_fit(loss.smoothed(3), Dx, Dy), separated=True)


def log_odds(
    b: NDArray[np.float64], Dx: NDArray[np.float64], Dy: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log-odds of each pair and their derivatives by b0, b1, b2.

    The derivative of ``Dx^b1`` by b1 is ``Dx^b1 * log Dx``, and 0 where Dx is 0 (where the
    power is 0, or constant at 1 for b1 = 0).
    """
    term = np.power(Dx, b[1]) * np.power(Dy, b[2])
    log_Dx = np.log(Dx, out=np.zeros_like(Dx), where=Dx > 0)
    log_Dy = np.log(Dy, out=np.zeros_like(Dy), where=Dy > 0)
    return b[0] + term, np.column_stack([np.ones_like(Dx), term * log_Dx, term * log_Dy])


def _fit(loss: BinomialLoss, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> Estimate:
    def objective(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        eta, J = log_odds(b, Dx, Dy)
        return loss.value(eta), J.T @ loss.gradient(eta)

    start = _best_start(loss, Dx, Dy)
    lowest = [-OUTER_BOUNDS[0], 0.0, 0.0]
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(lowest, OUTER_BOUNDS, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
    )
    eta, J = log_odds(found.x, Dx, Dy)
    free = found.x > 0
    free[0] = True
    return Estimate(found.x, free, J, eta, int(found.nit), bool(found.success), False)


def _best_start(
    loss: BinomialLoss, Dx: NDArray[np.float64], Dy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Grid point of smallest loss, each with the intercept that fits the overall error rate."""
    rate = (loss.weight @ loss.k + 0.5) / (loss.weight @ loss.m + 1)
    base = np.log(rate / (1 - rate))
    best = (np.inf, np.zeros(3))
    for b1, b2 in product(STARTS, STARTS):
        term = log_odds(np.array([0.0, b1, b2]), Dx, Dy)[0]
        b = np.array([np.clip(base - np.median(term), -40, 40), b1, b2])
        value = loss.value(b[0] + term)
        if value < best[0]:
            best = (value, b)
    return best[1]
