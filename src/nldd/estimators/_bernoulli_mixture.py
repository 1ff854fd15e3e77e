"""A mixture of Bernoulli labels, without features: where the conditional mixture starts."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

FloatArray = NDArray[np.float64]

CLIP = 1e-12
MAX_STEPS = 200
TOLERANCE = 1e-6


def fit_bernoulli_mixture(
    Y: NDArray[np.int8], n_components: int, n_restarts: int, rng: np.random.RandomState
) -> FloatArray:
    """Responsibilities of the components for the rows of `Y`, from the best of several starts.

    Rows of equal labels have equal responsibilities, so the work is done once per labelset.
    """
    labelsets, inverse, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    runs = [
        _expectation_maximisation(labelsets.astype(float), counts.astype(float), n_components, rng)
        for _ in range(n_restarts)
    ]
    _, gamma = max(runs, key=lambda run: run[0])
    return gamma[inverse.ravel()]


def _expectation_maximisation(
    Y: FloatArray, counts: FloatArray, n_components: int, rng: np.random.RandomState
) -> tuple[float, FloatArray]:
    """Log-likelihood and responsibilities after EM from one random start."""
    weight = np.full(n_components, 1 / n_components)
    mu = rng.uniform(0.25, 0.75, size=(n_components, Y.shape[1]))
    previous = -np.inf
    for _ in range(MAX_STEPS):
        mu = np.clip(mu, CLIP, 1 - CLIP)
        joint = np.log(weight) + Y @ np.log(mu).T + (1 - Y) @ np.log1p(-mu).T
        log_p = logsumexp(joint, axis=1)
        gamma = np.exp(joint - log_p[:, np.newaxis])
        value = float(counts @ log_p)
        if value - previous <= TOLERANCE * abs(value):
            break
        previous = value
        total = counts @ gamma
        weight = np.maximum(total / counts.sum(), CLIP)
        mu = (gamma * counts[:, np.newaxis]).T @ Y / np.maximum(total, CLIP)[:, np.newaxis]
    return value, gamma
