"""ML-kNN: Bayes' rule on how many of the nearest neighbours carry a label.

Neighbours are exact, with a fixed rule for ties: the lowest row first.
"""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from nldd._parallel import delayed, do_all
from nldd._validation import Interval, validate_parameters
from nldd.estimators._base_classifiers import ScoreClassifier
from nldd.search._distances import exact_distances, scale_rows, squared_norms
from nldd.search._kernels import EPSILON

MAX_BLOCK = 512


class NeighborIndex:
    """Euclidean neighbours among the rows of `X`.

    Distances come from a matrix product and, where rounding leaves more than k rows in question,
    once more by subtraction, so that equal rows have equal distances.
    """

    def __init__(self, X: Any) -> None:
        self.Z = scale_rows(X, np.ones(X.shape[1]))
        self.norms = squared_norms(self.Z)

    def nearest(self, X: Any, k: int, n_jobs: int | None = None) -> NDArray[np.intp]:
        """The k rows nearest to each row of `X`, in rising order; ties go to the lowest rows.

        With None as `X`, to each indexed row, itself left out by its number, not by distance 0.
        """
        A = self.Z if X is None else scale_rows(X, np.ones(X.shape[1]))
        if k == 0:
            return np.empty((A.shape[0], 0), dtype=np.intp)
        budget = get_config()["working_memory"] * 2**20 / effective_n_jobs(n_jobs)
        block_rows = int(np.clip(budget // (24 * len(self.norms)), 1, MAX_BLOCK))
        blocks = list(gen_batches(A.shape[0], block_rows))
        tasks = (
            delayed(self._search_block)(A[block], k, block if X is None else None)
            for block in blocks
        )
        return np.concatenate(do_all(tasks, len(blocks), n_jobs))

    def _search_block(self, A: Any, k: int, themselves: slice | None) -> NDArray[np.intp]:
        # |a|^2 + |b|^2 - 2 a.b from one matrix product. A dot product of d terms is off by at most
        # about d * eps * |a| |b|, no more than half of d * eps * (|a|^2 + |b|^2).
        norms = squared_norms(A)
        squares = np.asarray(safe_sparse_dot(A, self.Z.T, dense_output=True))
        squares *= -2
        squares += norms[:, np.newaxis]
        squares += self.norms
        bound = (A.shape[1] + 8) * EPSILON * (norms + self.norms.max())
        if themselves is not None:
            np.fill_diagonal(squares[:, themselves], np.inf)
        kth = np.partition(squares, k - 1, axis=1)[:, k - 1]
        query, row = np.nonzero(squares <= (kth + 2 * bound)[:, np.newaxis])
        # Where just k rows come into question the order among them does not matter; only where
        # there are more must distances be told apart by subtraction.
        crowded = (np.bincount(query, minlength=len(squares)) > k)[query]
        distance = np.zeros(len(query))
        distance[crowded] = exact_distances(A, self.Z, query[crowded], row[crowded])
        order = np.lexsort((row, distance, query))
        # Queries come in order, so ranks are positions since the first candidate of the query.
        nearest = order[np.arange(len(order)) - np.searchsorted(query, query) < k]
        return np.sort(row[nearest].reshape(-1, k), axis=1)


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
        others = self._index.nearest(None, min(self.k, len(T) - 1), n_jobs=self.n_jobs)
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
