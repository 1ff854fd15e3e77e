"""BR, LP and ECC with a decision for each measure, as NLDD-P has it.

A comparison with them is one of the models and not of the cuts. A protocol names them as it does
methods of one's own, such as ``"BR-P=nldd.bench.decided:DecidedBR"``.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import gen_batches

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._chains import EnsembleOfChains
from nldd.estimators._decisions import DECISIONS, FloatArray, LabelArray, marginals
from nldd.estimators._powersets import LabelPowerset
from nldd.estimators._registry import BY_MEASURE

BLOCK = 500


class DecidedBR(ClassifierMixin, BaseEstimator):
    """Binary relevance, whose labels are decided on together: as independent ones.

    The empty labelset is ruled out if training has none.

    Parameters
    ----------
    estimator : classifier, "auto", dict of classifiers or None, default="auto"
        As in :class:`nldd.BinaryRelevance`.
    decision : {"subset", "hamming", "jaccard", "f1"}, default="subset"
        As in :class:`nldd.NLDDClassifier`; it can be set to another one after `fit`.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.decided import DecidedBR
    >>> X, Y = np.arange(6.0).reshape(-1, 1), np.array([[1, 0], [1, 0], [1, 1]] * 2)
    >>> model = DecidedBR(None).fit(X, Y)
    >>> [model.set_params(decision=aim).predict(X[:1]).tolist() for aim in ("subset", "f1")]
    [[[1, 0]], [[1, 0]]]
    """

    by_measure = BY_MEASURE
    method: Any = BinaryRelevance

    def __init__(
        self, estimator: Any = "auto", *, decision: str = "subset", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.decision = decision
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the method, and look which labelsets there are."""
        self.method_ = self.method(self.estimator, random_state=self.random_state).fit(X, Y)
        self.chosen_ = getattr(self.method_, "chosen_", None)
        labelsets = np.unique(np.asarray(Y, dtype=np.int8), axis=0)
        # Only their sizes count: whether there is an empty one, and how large they are.
        self.labelsets_ = labelsets[np.argsort(labelsets.sum(axis=1))[[0, -1]]]
        return self

    def predict(self, X: Any) -> LabelArray:
        """The labelset of each row that is best by the measure that the decision aims at."""
        Q, P, e = self._believe(X)
        if self.decision == "subset":
            return self._most_probable(Q, P)
        decide, blocks = DECISIONS[self.decision], gen_batches(len(P), BLOCK)
        return np.concatenate([decide(Q[b], self.labelsets_, P[b], e) for b in blocks])

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each label."""
        Q, P, e = self._believe(X)
        return marginals(Q, self.labelsets_, P, e)

    def _believe(self, X: Any) -> tuple[FloatArray, FloatArray, float]:
        """Probabilities of labelsets and of labels, and the share that the latter alone decide."""
        P = self.method_.predict_proba(X)
        return np.full((len(P), len(self.labelsets_)), 1 / len(self.labelsets_)), P, 1.0

    def _most_probable(self, Q: FloatArray, P: FloatArray) -> LabelArray:
        Y = (P > 0.5).astype(np.int8)
        rows: NDArray[np.intp] = np.flatnonzero(~Y.any(axis=1))
        if self.labelsets_.any(axis=1).all():
            Y[rows, P[rows].argmax(axis=1)] = 1
        return Y


class DecidedECC(DecidedBR):
    """An ensemble of classifier chains; its shares of votes are the probabilities."""

    method = EnsembleOfChains


class DecidedLP(DecidedBR):
    """Label powerset, by its probabilities of the labelsets that training has."""

    method = LabelPowerset

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the method."""
        super().fit(X, Y)
        self.labelsets_ = self.method_.labelsets_
        return self

    def _believe(self, X: Any) -> tuple[FloatArray, FloatArray, float]:
        Q = self.method_._powerset.probabilities(X)
        Q /= Q.sum(axis=1, keepdims=True)
        return Q, np.asarray(Q @ self.labelsets_), 0.0

    def _most_probable(self, Q: FloatArray, P: FloatArray) -> LabelArray:
        return np.asarray(self.labelsets_[Q.argmax(axis=1)])
