"""Label powersets, where every labelset is one class: of all labels, or of random subsets."""

from dataclasses import replace
from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from nldd._base import Training
from nldd._parallel import delayed, do_all
from nldd._validation import Interval, get_tags, validate_parameters
from nldd.estimators._base_classifiers import (
    BaseEstimatorMixin,
    BaseMetaClassifier,
    Prototype,
    ScoreClassifier,
    draw_seed,
    predict_scores,
    where_base_has_probabilities,
)

ENUMERABLE = 100_000
MAX_DRAWS = 10


class Powerset:
    """A classifier whose classes are labelsets; the building block of RAkEL too.

    Parameters
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
    estimators : list of the fitted classifier of their numbers
        Empty if there is only one labelset.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.estimators._powersets import Powerset
    >>> only = Powerset(np.array([[1, 0, 1]]), [])
    >>> only.predict(np.zeros((2, 5)))
    array([[1, 0, 1],
           [1, 0, 1]])
    """

    def __init__(self, labelsets: NDArray[np.int8], estimators: list[Any]) -> None:
        self.labelsets = labelsets
        self.estimators = estimators

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Labelset of each row."""
        if not self.estimators:
            return np.repeat(self.labelsets, X.shape[0], axis=0)
        return self.labelsets[predict_scores(self.estimators[0], "predict", X)]

    def marginals(self, X: Any) -> NDArray[np.float64]:
        """Probability of each label: the sum over the labelsets that contain it."""
        return np.asarray(self.probabilities(X) @ self.labelsets.astype(float))

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Probability of each labelset."""
        if not self.estimators:
            return np.ones((X.shape[0], 1))
        Q = predict_scores(self.estimators[0], "predict_proba", X, len(self.labelsets))
        return np.asarray(Q, dtype=np.float64)


class MulticlassEstimatorMixin(BaseEstimatorMixin):
    """A method whose base classifier predicts labelsets, if need be by one against the rest."""

    def _base_estimator(self) -> Any:
        estimator = super()._base_estimator()
        tags = get_tags(estimator).classifier_tags
        is_binary = tags is not None and not tags.multi_class
        return OneVsRestClassifier(estimator) if is_binary else estimator


def fit_powerset(estimator: Any, T: Training, seed: int) -> Powerset:
    """Fit `estimator` to the labelsets of T, numbered by first appearance."""
    prototype = Prototype(estimator, T)
    sorted_sets, first, code = np.unique(T.Y, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    labelsets = sorted_sets[order]
    if len(labelsets) == 1:
        return Powerset(labelsets, [])
    number = np.argsort(order)[code.ravel()]
    return Powerset(labelsets, [prototype.copy(seed).fit(T.X, number, **T.weights)])


class LabelPowerset(ScoreClassifier, MulticlassEstimatorMixin):
    """One class per training labelset (LP).

    Parameters
    ----------
    estimator : classifier, "auto", dict of classifiers or None, default=None
        Of the labelsets; one for two classes only is used one against the rest.
        None is :class:`nldd.MultiLabelLogisticRegression`; "auto" and dicts as in
        :class:`nldd.BinaryRelevance`, compared by the Brier score of the labels.
    random_state : int, RandomState or None, default=None
        Seeds a classifier that has no seed.

    Attributes
    ----------
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The classes by first appearance.
    estimators_ : list of the fitted classifier
        Empty if all rows carry the same labelset.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    The probability of a label is the sum of the probabilities of the labelsets that contain it.
    Only labelsets seen in training can be predicted; cost grows with their number.

    Examples
    --------
    >>> from nldd import LabelPowerset
    >>> X = [[0.0], [1.0], [4.0], [5.0], [9.0], [10.0]]
    >>> model = LabelPowerset().fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}, {"b"}, {"b"}])
    >>> model.predict([[0.5], [4.5], [9.5]])
    array([[1, 0],
           [1, 1],
           [0, 1]])
    """

    def __init__(self, estimator: Any = None, *, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one classifier to all labelsets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        T, rng = self._begin_fit(X, y, sample_weight)
        self._powerset = fit_powerset(self._base_estimator(), T, draw_seed(rng))
        self.labelsets_ = self._powerset.labelsets
        self.estimators_ = self._powerset.estimators
        return self

    predict_proba = where_base_has_probabilities(ScoreClassifier.predict_proba)

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        return self._powerset.marginals(X), self._labels(X)

    def _labels(self, X: Any) -> NDArray[np.int8]:
        return self._powerset.predict(X)


def draw_subsets(n_labels: int, k: int, n_models: int, rng: RandomState) -> list[NDArray[np.intp]]:
    """Distinct subsets of k labels in rising order; of several draws the one that covers most."""
    if n_models >= comb(n_labels, k):
        return [np.array(subset) for subset in combinations(range(n_labels), k)]
    best: list[tuple[int, ...]] = []
    for _ in range(MAX_DRAWS):
        best = max(best, _draw_distinct(n_labels, k, n_models, rng), key=_n_covered)
        if _n_covered(best) == min(n_labels, n_models * k):
            break
    return [np.array(subset) for subset in best]


def _n_covered(subsets: list[tuple[int, ...]]) -> int:
    return len(set().union(*subsets))


def _draw_distinct(n_labels: int, k: int, n_models: int, rng: RandomState) -> list[tuple[int, ...]]:
    if comb(n_labels, k) <= ENUMERABLE:
        every = list(combinations(range(n_labels), k))
        return [every[i] for i in np.sort(rng.permutation(len(every))[:n_models])]
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < n_models:
        drawn.add(tuple(sorted(rng.permutation(n_labels)[:k].tolist())))
    return sorted(drawn)


class RAkEL(ScoreClassifier, MulticlassEstimatorMixin, BaseMetaClassifier):
    """Random k-labelsets, overlapping (RAkEL).

    Parameters
    ----------
    estimator : classifier, "auto", dict of classifiers or None, default=None
        Of each small powerset. None is ``LogisticRegression()``; "auto" and dicts as in
        :class:`nldd.LabelPowerset`.
    k : int, default=3
        The labels in each subset, or all if there are fewer.
    n_models : int, default=None
        The most subsets to draw; None is twice the number of labels.
    threshold : float in [0, 1], default=0.5
        The share of votes that a label needs.
    strict : bool, default=False
        Ask for more votes than the threshold, not for at least as many.
    n_jobs, random_state, verbose : as in BinaryRelevance; the seed also draws the subsets

    Attributes
    ----------
    subsets_ : list of ndarray
        The labels of each model in rising order.
    estimators_ : list of Powerset
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    The score of a label is the number of votes for it over the number of subsets that contain it.
    Of up to ten draws without replacement, the one that covers most labels is used; labels in no
    subset stay off. `predict_proba` gives the share of votes, moved to the side of 1/2 that the
    prediction is on; it is not calibrated.

    G. Tsoumakas, I. Katakis and I. Vlahavas (2011). Random k-labelsets for multilabel
    classification. IEEE Transactions on Knowledge and Data Engineering 23(7), 1079-1089.

    Examples
    --------
    >>> from nldd import RAkEL, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = RAkEL(n_models=4, random_state=0).fit(X[:300, :10], Y[:300, :4])
    >>> [subset.tolist() for subset in model.subsets_]
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseMetaClassifier._parameter_constraints,
        "k": [Interval(Integral, 1, None, closed="left")],
        "n_models": [Interval(Integral, 1, None, closed="left"), None],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "strict": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int = 3,
        n_models: int | None = None,
        threshold: float = 0.5,
        strict: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs, random_state, verbose)
        self.k = k
        self.n_models = n_models
        self.threshold = threshold
        self.strict = strict

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a label powerset to each subset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        T, rng = self._begin_fit(X, y, sample_weight)
        n_models = 2 * self.n_labels_ if self.n_models is None else self.n_models
        self.subsets_ = draw_subsets(self.n_labels_, min(self.k, self.n_labels_), n_models, rng)
        seeds = [draw_seed(rng) for _ in self.subsets_]
        tasks = (
            delayed(fit_powerset)(self._base_estimator(), replace(T, Y=T.Y[:, subset]), seed)
            for subset, seed in zip(self.subsets_, seeds, strict=True)
        )
        title = "RAkEL" if self.verbose else None
        self.estimators_ = do_all(tasks, len(self.subsets_), self.n_jobs, title)
        return self

    def _default_estimator(self) -> Any:
        return LogisticRegression()

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        tasks = (delayed(model.predict)(X) for model in self.estimators_)
        answers = do_all(tasks, len(self.estimators_), self.n_jobs)
        votes = np.zeros((X.shape[0], self.n_labels_))
        for subset, answer in zip(self.subsets_, answers, strict=True):
            votes[:, subset] += answer
        # A label in no subset gets no votes and stays off.
        asked = np.bincount(np.concatenate(self.subsets_), minlength=self.n_labels_)
        share = votes / np.maximum(asked, 1)
        return share, share > self.threshold if self.strict else share >= self.threshold
