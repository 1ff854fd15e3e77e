"""How much each distance counts: pairs of rows of the halves T1 and T2, and what they teach."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._base import Training
from nldd.estimators._best_labelset import N_NEAREST, FloatArray, best_of_nearest, score_of
from nldd.metrics._measures import f_measure, row_values
from nldd.regression._regression import DistanceRegression, Pairs, fit_regression
from nldd.search._index import IN_FEATURES, IN_LABELS, Neighbors, Score

# Temperatures of the weights of labelsets to choose from.
TAUS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)


def best_tau(U: NDArray[np.int8], loss: FloatArray, T: Training, decision: str) -> float:
    """The temperature at which :func:`best_of_nearest` is best on rows with known labels."""
    measure = {"accuracy": "multilabel_accuracy", "f": "f_measure"}[decision]
    every = np.arange(len(U))

    def score(tau: float) -> float:
        Y_pred = U[every, best_of_nearest(U, loss, tau, decision)]
        return float(np.average(row_values(T.Y, Y_pred)[measure], weights=T.sample_weight))

    return max(TAUS, key=score)


@dataclass(frozen=True, eq=False)
class WeightLearner:
    """T1, to be searched with features divided by `scale`, and T2, whose rows are looked up in it.

    `P` below are label probabilities of T2 from classifiers that were fitted to T1.
    """

    T1: Training
    T2: Training
    scale: FloatArray
    model: str = "linear"
    covariance: str = "independent"
    n_jobs: int | None = None
    verbose: int = 0

    @cached_property
    def index(self) -> Any:
        """The rows of T1 to search, from when they are first asked for."""
        return self.T1.index(self.scale)

    def learn(self, P: FloatArray, decision: str) -> tuple[Pairs, DistanceRegression, float | None]:
        """Pairs, the regression that gives the weights, and the temperature of the decision."""
        pairs = self.pairs(P)
        regression = self.regression(pairs)
        return pairs, regression, self.tau(P, regression, decision)

    def pairs(self, P: FloatArray) -> Pairs:
        """Each instance of T2 with its nearest row of T1 in features, and in labels.

        Where one row is nearest in both spaces, the instance gives a single pair.
        """
        T2, index = self.T2, self.index
        m1, m2 = (
            self._nearest(P, score, 1, f"pairs nearest in {space}")
            for score, space in ((IN_FEATURES, "x"), (IN_LABELS, "y"))
        )
        twice = (m1.row != m2.row).ravel()
        instance = np.concatenate([np.arange(len(T2)), np.flatnonzero(twice)])

        def both(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([first[:, 0], second[twice, 0]])

        labelsets = index.labelsets[both(m1.labelset, m2.labelset)]
        weight = np.ones(len(T2)) if T2.sample_weight is None else T2.sample_weight
        return Pairs(
            Dx=both(m1.Dx, m2.Dx),
            Dy=both(m1.Dy, m2.Dy),
            errors=(T2.Y[instance] != labelsets).sum(axis=1),
            n_labels=T2.Y.shape[1],
            instance=T2.rows[instance],
            row=self.T1.rows[both(m1.row, m2.row)],
            weight=weight[instance],
        )

    def regression(self, pairs: Pairs) -> DistanceRegression:
        """The binomial regression of wrong labels on both distances."""
        return fit_regression(pairs, self.model, self.covariance)

    def f_measure(self, P: FloatArray) -> float:
        """That of NLDD on T2, by the rows of T1 and with weights that such probabilities give."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial; what holds of the model is said later
            regression = self.regression(self.pairs(P))
        near = self._nearest(P, score_of(regression), 1, "labelsets of T2")
        Y_pred = self.index.labelsets[near.labelset[:, 0]]
        return f_measure(self.T2.Y, Y_pred, sample_weight=self.T2.sample_weight)

    def tau(self, P: FloatArray, regression: DistanceRegression, decision: str) -> float | None:
        """The temperature at which this decision is best on T2; "nearest" needs none."""
        if decision == "nearest":
            return None
        k = min(N_NEAREST, len(self.index.labelsets))
        near = self._nearest(P, score_of(regression), k, "labelsets of T2")
        loss = self.T2.Y.shape[1] * regression.theta(near.Dx, near.Dy)
        return best_tau(self.index.labelsets[near.labelset], loss, self.T2, decision)

    def _nearest(self, P: FloatArray, score: Score, k: int, title: str) -> Neighbors:
        shown = title if self.verbose else None
        near: Neighbors = self.index.query(self.T2.X, P, score, k, self.n_jobs, shown)
        return near
