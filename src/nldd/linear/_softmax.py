"""Softmax regression to soft targets: each row belongs to several classes, more or less."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

FloatArray = NDArray[np.float64]

# The part of the gradient that conjugate gradients leave over before a step is taken.
FORCING = 0.3
# No more of them in a step, nor halvings of one: badly scaled features could ask for any number.
MAX_PRODUCTS, MAX_HALVINGS = 200, 40
# Curvature below which a direction counts as flat: of classes that no row belongs to.
FLAT = 1e-10


class Softmax(NamedTuple):
    """Coefficients of shape (n_features + 1, n_classes), the intercepts last; what they give."""

    A: FloatArray
    P: FloatArray
    loss: float


def fit_softmax(
    X: Any, targets: FloatArray, variance: float, start: FloatArray, tol: float, max_iter: int
) -> FloatArray:
    """Coefficients, from `start` on, of least cross-entropy plus ``|A|^2 / (2 variance)``.

    Rows of `targets` sum to one; intercepts, in the last row of A, are free. Newton's method, whose
    steps are found by conjugate gradients, preconditioned by the diagonal, and halved until the
    loss falls: it never rises. The end is as in :class:`nldd.MultiLabelLogisticRegression`: a last
    step so short that no probability is further than `tol` or so from the optimum.
    """
    problem = _Problem(X, targets, 1 / variance)
    at = problem.evaluate(start)
    for _ in range(max_iter):
        step, decrement = problem.newton_step(at)
        ahead = problem.evaluate(at.A + step)
        for _ in range(MAX_HALVINGS):
            if ahead.loss < at.loss:
                break
            step /= 2
            ahead = problem.evaluate(at.A + step)
        else:  # nothing is left that rounding would not hide
            break
        at = ahead
        if decrement <= (40 * tol) ** 2:
            break
    return at.A


class _Problem:
    """What Newton's method asks of the data."""

    def __init__(self, X: Any, targets: FloatArray, ridge: float) -> None:
        self.X, self.targets, self.ridge = X, targets, ridge
        self.squares = X.multiply(X) if issparse(X) else np.square(X)

    def evaluate(self, A: FloatArray) -> Softmax:
        """Probabilities and the loss."""
        Z = self._forth(A)
        Z -= Z.max(axis=1, keepdims=True)
        P = np.exp(Z)
        total = P.sum(axis=1)
        P /= total[:, np.newaxis]
        loss = np.log(total).sum() - np.vdot(self.targets, Z)
        return Softmax(A, P, float(loss + self.ridge / 2 * np.square(A[:-1]).sum()))

    def newton_step(self, at: Softmax) -> tuple[FloatArray, float]:
        """The step, and its length in the metric of the Hessian, squared."""
        R = -self._back(self.X, at.P - self.targets, at.A)
        diagonal = self._back(self.squares, at.P * (1 - at.P), np.ones_like(R))
        np.maximum(diagonal, FLAT, out=diagonal)
        step, decrement = np.zeros_like(R), 0.0
        S = R / diagonal
        rho = start = float(np.vdot(R, S))
        for _ in range(MAX_PRODUCTS):
            Q = self._hessian(at.P, S)
            curvature = float(np.vdot(S, Q))
            if curvature <= 0:
                break
            length = rho / curvature
            step += length * S
            R -= length * Q
            decrement += length * rho
            preconditioned = R / diagonal
            rho, last = float(np.vdot(R, preconditioned)), rho
            S *= rho / last
            S += preconditioned
            if rho <= FORCING**2 * start:
                break
        return step, decrement

    def _hessian(self, P: FloatArray, S: FloatArray) -> FloatArray:
        Z = self._forth(S)
        Z -= np.einsum("ik,ik->i", P, Z)[:, np.newaxis]
        return self._back(self.X, P * Z, S)

    def _forth(self, A: FloatArray) -> FloatArray:
        return np.asarray(self.X @ A[:-1]) + A[-1]

    def _back(self, X: Any, D: FloatArray, A: FloatArray) -> FloatArray:
        """Sums over rows, and what the penalty adds; the intercepts have none."""
        return np.vstack([np.asarray(X.T @ D) + self.ridge * A[:-1], D.sum(axis=0)])
