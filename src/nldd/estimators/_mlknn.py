"""ML-kNN: Bayes' rule on how many of the nearest neighbours carry a label."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd._sklearn import Interval, validate_parameters
from nldd.estimators._label_models import ScoreClassifier
from nldd.search._neighbors import NeighborIndex


class MLkNN(ScoreClassifier):
    """Nearest neighbours and Bayes' rule, label by label (ML-kNN).

    Parameters
    ----------
    k : int, default=10
        The number of neighbours, or all other rows if there are fewer.
    s : float, default=1.0
        The number of rows added to every count, which smooths it.
    n_jobs : int, default=None
        Blocks of rows searched at a time, in threads.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        Smoothed shares of training rows that carry a label.
    likelihood_on_, likelihood_off_ : ndarray of shape (n_labels, k + 1)
        Probability that 0, ..., k neighbours carry the label, of rows that do, and do not.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    Distances are Euclidean on the features as they are; rows at the same distance count in training
    order. With C_l of the k nearest *other* rows carrying label l, it is predicted iff::

        P(l) P(C_l | l) > (1 - P(l)) P(C_l | not l)

    and its probability is the left side over the sum of both.

    M.-L. Zhang and Z.-H. Zhou (2007). ML-KNN: a lazy learning approach to multi-label learning.
    Pattern Recognition 40(7), 2038-2048.

    Examples
    --------
    >>> from nldd import MLkNN, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = MLkNN().fit(X[:1500], Y[:1500])
    >>> model.predict_proba(X[1500:1501])[0, :4].round(2)
    array([0.26, 0.47, 0.7 , 0.38])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "s": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    def __init__(self, *, k: int = 10, s: float = 1.0, n_jobs: int | None = None) -> None:
        self.k = k
        self.s = s
        self.n_jobs = n_jobs

    @validate_parameters(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Count the neighbours that carry each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.

        Returns
        -------
        self : the fitted estimator
        """
        T = self._validate_fit(X, y)
        self._Y = T.Y.astype(np.intp)
        self._index = NeighborIndex(T.X)
        others = self._index.nearest_others(min(self.k, len(T) - 1), n_jobs=self.n_jobs)
        carriers = self._carriers(others)
        self.prior_ = (self.s + self._Y.sum(axis=0)) / (2 * self.s + len(T))
        self.likelihood_on_ = self._likelihood(carriers, self._Y == 1)
        self.likelihood_off_ = self._likelihood(carriers, self._Y == 0)
        self.estimators_: list[Any] = []  # lazy: there is nothing to fit but the counts
        return self

    def _carriers(self, neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many of each row's neighbours carry each label."""
        count = np.zeros((len(neighbors), self._Y.shape[1]), dtype=np.intp)
        for column in neighbors.T:
            count += self._Y[column]
        return count

    def _likelihood(self, carriers: NDArray[np.intp], on: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Smoothed distribution of the count of carriers over the chosen rows of each label."""
        columns = zip(carriers.T, on.T, strict=True)
        counts = [np.bincount(column[rows], minlength=self.k + 1) for column, rows in columns]
        total = np.sum(counts, axis=1, keepdims=True)
        return (self.s + np.array(counts)) / (self.s * (self.k + 1) + total)

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Posterior probabilities, and labels whose side of Bayes' rule is the larger one."""
        k = min(self.k, len(self._Y))
        carriers = self._carriers(self._index.nearest(X, k, n_jobs=self.n_jobs))
        label = np.arange(self.n_labels_)
        on = self.prior_ * self.likelihood_on_[label, carriers]
        off = (1 - self.prior_) * self.likelihood_off_[label, carriers]
        return on / (on + off), on > off
