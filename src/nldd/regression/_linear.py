"""Maximum likelihood of the linear model under slopes >= 0."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.regression._loss import BinomialLoss
from nldd.regression._newton import minimize_linear

NO_EFFECT = 1e-9
CERTAIN = 15.0
NO_INFORMATION = 1e-6


@dataclass(frozen=True)
class Estimate:
    """Coefficients of either model, with what their standard errors need.

    Attributes
    ----------
    beta : ndarray of shape (3,)
    free : ndarray of shape (3,), bool
        Coefficients that were estimated, rather than held at 0.
    J : ndarray of shape (n_pairs, 3)
        Derivative of each pair's log-odds by the coefficients.
    eta : ndarray of shape (n_pairs,)
        Log-odds of each pair.
    """

    beta: NDArray[np.float64]
    free: NDArray[np.bool_]
    J: NDArray[np.float64]
    eta: NDArray[np.float64]
    n_steps: int
    converged: bool
    separated: bool


def fit_linear(loss: BinomialLoss, Z: NDArray[np.float64]) -> Estimate:
    """Estimate b in ``log-odds = Z b``, where Z has the columns 1, Dx, Dy."""
    # In units of the largest value the columns are alike, whatever the distances are measured in.
    unit = np.abs(Z).max(axis=0)
    unit[unit == 0] = 1
    columns = identified_columns(Z / unit)
    U = Z[:, columns] / unit[columns]
    minimum = minimize_linear(loss, U)
    free = minimum.b > 0
    free[0] = True
    separated = is_separated(loss, U @ minimum.b, U[:, free])
    if separated:
        minimum = minimize_linear(loss.smoothed(len(columns)), U)
    b = minimum.b
    # A slope that moves no pair's log-odds is rounding error around 0, and must not rank rows.
    b[1:][b[1:] < NO_EFFECT] = 0
    beta = np.zeros(Z.shape[1])
    beta[columns] = b / unit[columns]
    free = beta > 0
    free[0] = True
    return Estimate(beta, free, Z, Z @ beta, minimum.n_steps, minimum.converged, separated)


def is_separated(loss: BinomialLoss, eta: NDArray[np.float64], J: NDArray[np.float64]) -> bool:
    """Whether the fit ran off along a direction in which the likelihood grows for ever.

    Then some pair's labels are fitted as all but certainly right or wrong, and what is left of
    the information about that direction has vanished; `J` has columns of similar size. A pair
    that is merely far away does the first but not the second. (Albert and Anderson, 1984,
    Biometrika 71.)
    """
    if np.abs(eta).max() <= CERTAIN:
        return False
    information = J.T @ (loss.curvature(eta)[:, np.newaxis] * J)
    return bool(np.linalg.eigvalsh(information)[0] < NO_INFORMATION)


def identified_columns(Z: NDArray[np.float64]) -> NDArray[np.intp]:
    """Columns of ``1, Dx, Dy`` with a coefficient of their own.

    A distance that is the same in all pairs, or a linear function of the other one, has none.
    The label distance is kept before the feature distance: it is the stronger of the two.
    """
    kept = [0]
    for column in (2, 1):
        if np.linalg.matrix_rank(Z[:, [*kept, column]], tol=1e-9 * np.sqrt(len(Z))) > len(kept):
            kept.append(column)
    return np.sort(kept)
