"""RAkEL: label powersets on random small subsets of labels, which vote."""

from dataclasses import replace
from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from nldd._parallel import delayed, do_all
from nldd._sklearn import Interval, validate_parameters
from nldd.estimators._base_choice import BaseMetaClassifier
from nldd.estimators._label_models import ScoreClassifier, draw_seed
from nldd.estimators._label_powerset import MulticlassEstimatorMixin, fit_powerset

ENUMERABLE = 100_000
MAX_DRAWS = 10


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
        T = self._validate_fit(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
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
