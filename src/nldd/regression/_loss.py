"""Binomial log-likelihood of counted errors, with its derivatives."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit


@dataclass(frozen=True)
class BinomialLoss:
    """Minus the log-likelihood of k errors in m labels, up to a constant.

    With log-odds eta of an error, one observation contributes
    ``m * log(1 + exp(eta)) - k * eta``, whose first two derivatives in eta are
    ``m * theta - k`` and ``m * theta * (1 - theta)``, where ``theta = 1 / (1 + exp(-eta))``.

    Attributes
    ----------
    k, m : ndarray of shape (n_observations,)
        Errors and labels; fractions are fine, as smoothed counts have them.
    weight : ndarray of shape (n_observations,)
    """

    k: NDArray[np.float64]
    m: NDArray[np.float64]
    weight: NDArray[np.float64]

    def value(self, eta: NDArray[np.float64]) -> float:
        """Loss at log-odds `eta`."""
        return float(self.weight @ (self.m * np.logaddexp(0, eta) - self.k * eta))

    def gradient(self, eta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivative of the loss by each log-odds."""
        return np.asarray(self.weight * (self.m * expit(eta) - self.k))

    def curvature(self, eta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Second derivative of the loss by each log-odds."""
        theta = expit(eta)
        return np.asarray(self.weight * self.m * theta * (1 - theta))

    def smoothed(self, n_parameters: int) -> "BinomialLoss":
        """The same with a few labels added, half of them wrong, spread over all observations.

        Every observation then has both right and wrong labels, if only fractions of one, and
        the maximum of the likelihood is finite. As many labels are added in all as there are
        parameters, so their influence fades as data come in. Weights count as frequencies.
        """
        extra = n_parameters / self.weight.sum()
        return replace(self, k=self.k + extra / 2, m=self.m + extra)
