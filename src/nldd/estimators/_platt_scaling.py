"""Platt's sigmoid: from the decision values of a classifier to probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

MAX_STEPS = 100
GRADIENT_TOLERANCE = 1e-5
RIDGE = 1e-12
ARMIJO = 1e-4
SMALLEST_STEP = 1e-10
CLIP = 1e-7


def platt_targets(y: NDArray[np.int_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Targets slightly inside (0, 1): ``(n1 + 1) / (n1 + 2)`` and ``1 / (n0 + 2)``."""
    n_positive, n_negative = weight @ (y == 1), weight @ (y == 0)
    return np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def sigmoid_loss(
    A: float,
    B: float,
    f: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> float:
    """``sum of t z + log(1 + exp(-z))`` with ``z = A f + B``, without overflow."""
    z = A * f + B
    return float(weight @ (target * z + np.logaddexp(0, -z)))


def fit_sigmoid(
    f: NDArray[np.float64], y: NDArray[np.int_], weight: NDArray[np.float64] | None = None
) -> tuple[float, float]:
    """A and B in ``P(y = 1 | f) = 1 / (1 + exp(A f + B))``.

    Newton's method with step halving, as Lin, Lin and Weng describe it (2007, Machine Learning
    68); the constants are those of LIBSVM, so that its probabilities can be reproduced.
    """
    weight = np.ones(len(y)) if weight is None else weight
    target = platt_targets(y, weight)
    n_positive, n_negative = weight @ (y == 1), weight @ (y == 0)
    A, B = 0.0, float(np.log((n_negative + 1) / (n_positive + 1)))
    loss = sigmoid_loss(A, B, f, target, weight)
    for _ in range(MAX_STEPS):
        p = expit(-(A * f + B))
        residual = weight * (target - p)
        gradient = np.array([residual @ f, residual.sum()])
        if np.abs(gradient).max() < GRADIENT_TOLERANCE:
            break
        curvature = weight * p * (1 - p)
        off_diagonal = curvature @ f
        hessian = np.array(
            [[curvature @ f**2 + RIDGE, off_diagonal], [off_diagonal, curvature.sum() + RIDGE]]
        )
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = float(gradient @ direction), 1.0
        while step >= SMALLEST_STEP:
            trial_A, trial_B = A + step * direction[0], B + step * direction[1]
            trial = sigmoid_loss(trial_A, trial_B, f, target, weight)
            if trial < loss + ARMIJO * step * slope:
                A, B, loss = float(trial_A), float(trial_B), trial
                break
            step /= 2
        else:
            break
    return A, B


def sigmoid(f: NDArray[np.float64], A: float, B: float) -> NDArray[np.float64]:
    """Probability of the positive class, kept a little away from 0 and 1."""
    return np.clip(expit(-(A * f + B)), CLIP, 1 - CLIP)
