"""Subset mapping: the training labelset nearest to what independent classifiers say."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._base import Training
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._label_models import where_base_has_probabilities


def frequent_first(Y: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Distinct rows and their counts, by falling count, then by first appearance."""
    labelsets, first, counts = np.unique(Y, axis=0, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return labelsets[order], counts[order]


def nearest_in_hamming(B: NDArray[np.int8], labelsets: NDArray[np.int8]) -> NDArray[np.int8]:
    """Labelset nearest to each row of `B`; the first one among equals."""
    # In floats, because BLAS is faster than integers, and exact: these are small whole numbers.
    distance = labelsets.sum(axis=1) - 2.0 * (B.astype(float) @ labelsets.T.astype(float))
    return labelsets[distance.argmin(axis=1)]


class SubsetMapping(BinaryRelevance):
    """Binary relevance, mapped to the nearest training labelset (SMBR).

    Parameters
    ----------
    estimator, decision, n_jobs, random_state, verbose : as in :class:`nldd.BinaryRelevance`

    Attributes
    ----------
    labelsets_ : ndarray of shape (n_labelsets, n_labels), by falling count and first appearance
    counts_ : ndarray of shape (n_labelsets,), the rows that carry each, without their weights
    estimators_, label_names_, classes_, n_labels_, n_features_in_ : as in BinaryRelevance

    Notes
    -----
    With b the 0/1 prediction of binary relevance, the answer is the training labelset u of smallest
    Hamming distance ``|b| + |u| - 2 b.u``. Where several are equally near, which is common, the
    most frequent one is taken, and among those the one that came first in training.

    References
    ----------
    R. Schapire and Y. Singer (1999). Improved boosting algorithms using confidence-rated
    predictions. Machine Learning 37(3), 297-336.

    Examples
    --------
    >>> from nldd import SubsetMapping
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = SubsetMapping().fit(X, [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> model.predict([[-5.0], [9.0]])
    array([[1, 0],
           [0, 1]])
    """

    @where_base_has_probabilities
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classifiers, moved to the side of 1/2 that `predict` takes."""
        X = self._validate_predict(X)
        return self._answer_proba(self._columns("predict_proba", X), self._labels(X))

    def _fit_labels(self, T: Training) -> None:
        super()._fit_labels(T)
        self.labelsets_, self.counts_ = frequent_first(T.Y)

    def _labels(self, X: Any) -> NDArray[np.int8]:
        """The training labelset nearest to what the classifiers say."""
        return nearest_in_hamming(super()._labels(X), self.labelsets_)
