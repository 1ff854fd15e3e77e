"""Subset mapping: the training labelset nearest to the prediction of binary relevance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._training import Training
from nldd.estimators._binary_relevance import BinaryRelevance


class SubsetMapping(BinaryRelevance):
    """Binary relevance, mapped to the nearest training labelset (SMBR).

    Parameters
    ----------
    estimator, decision, n_jobs, random_state, verbose : as in :class:`nldd.BinaryRelevance`

    Attributes
    ----------
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        In order of decreasing count, then of first appearance.
    counts_ : ndarray of shape (n_labelsets,)
        How many training rows carry each; weights do not count.
    estimators_, label_names_, classes_, n_labels_, n_features_in_ : as in BinaryRelevance

    Notes
    -----
    With b the 0/1 prediction of binary relevance, the answer is the training labelset u of smallest
    Hamming distance ``|b| + |u| - 2 b.u``. If several are equally near, which is common, the
    most frequent one is taken, and among those the one that came first in training.
    `predict_proba` gives the probabilities of the base classifiers, moved to the side of 1/2 that
    the predicted labelset is on.

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

    def _fit_labels(self, T: Training) -> None:
        super()._fit_labels(T)
        labelsets, counts, first = T.labelsets()
        order = np.lexsort((first, -counts))
        self.labelsets_, self.counts_ = labelsets[order], counts[order]

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        return super()._scores(X)[0], self._labels(X)

    def _labels(self, X: Any) -> NDArray[np.int8]:
        """Training labelset nearest to the prediction of the classifiers; first among equals."""
        # In floats, because BLAS is faster than integers, and exact: these are small whole numbers.
        U, B = self.labelsets_.astype(float), super()._labels(X).astype(float)
        distance = U.sum(axis=1) - 2 * B @ U.T  # but for |b|, which is the same for all
        return self.labelsets_[distance.argmin(axis=1)]
