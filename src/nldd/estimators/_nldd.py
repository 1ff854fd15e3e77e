"""Nearest Labelset using Double Distances."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from nldd._base import Training, clip_to_prediction
from nldd._labels import as_label_sets, number_groups
from nldd._parallel import copy_state, update_lock, use_snapshot
from nldd._sklearn import HasMethods, Interval, StrOptions, validate_parameters
from nldd.distributed import DaskTraining, broadcast, delayed_task, supports_dask
from nldd.estimators._base_choice import BaseMetaClassifier, candidates_for, choose_base
from nldd.estimators._best_labelset import N_NEAREST, best_of_nearest, score_of
from nldd.estimators._explanation import Explanation, NearestLabelsets, explanations
from nldd.estimators._label_models import fits_all_labels
from nldd.estimators._label_probabilities import LabelModel, MeanModel, fit_label_probabilities
from nldd.exceptions import InputError
from nldd.search._index import Neighbors, SearchStats, check_probabilities
from nldd.search._shards import AnsweredIndex, ShardedIndex, build_index, scale_features

if TYPE_CHECKING:
    from nldd.estimators._halves import WeightLearner

# What "auto+trees" may average with: made of all labels at once, as one forest.
EXTRA_TREES = ExtraTreesClassifier(100)


def label_probabilities(model: "NLDDClassifier", X: Any) -> NDArray[np.float64]:
    """Those of a block of rows, of which a filter may have left none."""
    return model.label_probabilities(X) if X.shape[0] else np.empty((0, model.n_labels_))


def add_rows(model: "NLDDClassifier", near: Neighbors) -> "NLDDClassifier":
    """The model with what the shards of its index have answered in place of the index."""
    model = copy(model)
    model.index_ = model.index_._replace(near=near)
    return model


class NLDDClassifier(BaseMetaClassifier):
    """Nearest Labelset using Double Distances (NLDD).

    Predicts the labelset of the training row with the smallest weighted sum of its distance in
    features and its distance, in labels, from the probabilities of independent classifiers. A
    binomial regression gives the weights, and how likely a label is wrong.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, dict, str or None, default="auto"
        Base classifier of a label, or of all if it takes a whole indicator matrix, as forests do.
        None is :class:`nldd.MultiLabelLogisticRegression`; ``PlattSVC()`` is the paper's. "auto"
        chooses by the data among logistic regressions of several features, and from a dict of your
        own the best of these is taken; "auto+trees" adds extra trees where they help, see Notes.
    decision : {"nearest", "accuracy", "f"}, default="nearest"
        Predict the labelset of smallest theta, as in the paper, or among the nearest 30 the one of
        highest expected accuracy, or F-measure, see Notes.
    model : {"linear", "multiplicative"}, default="linear"
        How distances add up, see Notes.
    covariance : {"independent", "exchangeable"}, default="independent"
        "exchangeable" lets the two pairs of an instance correlate, in the linear model, by
        generalised estimating equations (``pip install "nldd[gee]"``).
    standardize : {"numeric", "all", "none"}, default="numeric"
        Features divided by their standard deviation for distances; "numeric" leaves those of two
        values, such as words that occur or not, as they are.
    train_fraction : float in (0, 1], default=1.0
        Share of rows to draw; 0.7 in the paper if large.
    max_pairs : int or None, default=2000
        Validation instances to pair with their neighbours; of more, so many are drawn at random.
        None takes all, which makes `fit` quadratic in the number of rows, see Notes.
    n_jobs : int, default=None
        Labels fitted and blocks of rows searched at a time, in threads.
    random_state : int, RandomState or None, default=None
        Draws T1 and T2, and seeds classifiers.
    verbose : int, default=0
        Above 0, lines on standard output say how far `fit` and the search are.

    Attributes
    ----------
    beta_ : ndarray of shape (3,)
        Intercept, weight of Dx and weight of Dy.
    regression_ : nldd.regression._regression.DistanceRegression
        With standard errors; print it to see all.
    pairs_ : nldd.regression._regression.Pairs
        What the regression was fitted to.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        Distinct: all that can be predicted.
    estimators_ : list of classifiers fitted to all rows
        One per label, or the one for all.
    chosen_ : nldd.estimators._base_choice.Choice
        Which base classifier and why, where that was open; print it.
    tau_ : float
        For a decision other than "nearest".
    index_ : nldd.search._index.LabelsetIndex
        The search structure; of Dask arrays one in shards, which answers alike.
    rows_ : ndarray
        The rows of `fit` that the model uses; those of `add` are numbered on.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    Training (Algorithm 1 of the paper). T is cut at random into halves T1 and T2. Classifiers
    fitted to T1 give each instance of T2 its probabilities p. It is paired with the row of T1
    nearest in features, ``Dx = |x - x_j|``, and the one nearest in labels, ``Dy = |p - y_j|``;
    among equals the other distance decides, then the lowest row. The number of labels in which a
    pair differs is binomial with L and theta, and maximum likelihood gives::

        log(theta / (1 - theta)) = b0 + b1 * Dx + b2 * Dy        linear
        log(theta / (1 - theta)) = b0 + Dx^b1 * Dy^b2            multiplicative

    under b1, b2 >= 0. The classifiers are then fitted to all of T. On the paper's data sets,
    drawing 2,000 validation instances instead of taking all moves each of the four measures by
    less than 0.001, as the page on performance shows.

    Where `estimator` leaves the base classifier open, each candidate is fitted to T1, and the one
    with the lowest Brier score on T2 is taken, see the page on base classifiers. With "auto+trees",
    its probabilities are averaged with those of extra trees if that raises the F-measure on T2.

    Prediction (Algorithm 2). The labelset of the training row with the smallest theta, the same
    as the smallest ``b1 * Dx + b2 * Dy``. The search is exact, though it looks at few rows only.
    Other decisions take the truth to be one of the 30 labelsets of smallest theta, with a
    probability in proportion to ``exp(-L theta / tau)``; tau is the one that is best on T2. They
    predict more labels: accuracy or F rise, and whole labelsets are less often right.
    `predict_theta` and `explain` are about the labelset that is predicted.

    Dask arrays are fitted and predicted by blocks, with logistic regression as the base. For a 1-D
    target of classes each is one label.

    H. Gweon, M. Schonlau and S. H. Steiner (2019). Nearest labelset using double distances for
    multi-label classification. PeerJ Computer Science 5:e242. doi:10.7717/peerj-cs.242

    Examples
    --------
    >>> from nldd import NLDDClassifier, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = NLDDClassifier(random_state=0).fit(X[:1500], Y[:1500])
    >>> model.beta_.round(1)
    array([-4.3,  0.2,  1.2])
    >>> model.predict(X[1500:1502])
    array([[0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0],
           [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]])
    >>> model.predict_theta(X[1500:1502]).round(2)
    array([0.23, 0.25])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseMetaClassifier._parameter_constraints,
        "estimator": [
            HasMethods(["fit", "predict"]),
            StrOptions({"auto", "auto+trees"}),
            dict,
            None,
        ],
        "decision": [StrOptions({"nearest", "accuracy", "f"})],
        "model": [StrOptions({"linear", "multiplicative"})],
        "covariance": [StrOptions({"independent", "exchangeable"})],
        "standardize": [StrOptions({"numeric", "all", "none"})],
        "train_fraction": [Interval(Real, 0, 1, closed="right")],
        "max_pairs": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        decision: str = "nearest",
        model: str = "linear",
        covariance: str = "independent",
        standardize: str = "numeric",
        train_fraction: float = 1.0,
        max_pairs: int | None = 2000,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs, random_state, verbose)
        self.decision = decision
        self.model = model
        self.covariance = covariance
        self.standardize = standardize
        self.train_fraction = train_fraction
        self.max_pairs = max_pairs

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn the classifiers and the weights of both distances.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out. Weights count in the base classifiers and in the
            regression, where one of 2 is as good as two rows, and one factor of all weights changes
            no coefficient.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as copies or the answers of one person, stay together in T1 or
            T2: a row that is paired with its own copy would make distances look too telling.

        Returns
        -------
        self : the fitted estimator
        """
        copy_state(self, copy(self)._fit(X, y, sample_weight, groups))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        rng = check_random_state(self.random_state)
        numbers = None if groups is None else number_groups(groups)
        T = self._training_data(X, y, sample_weight, rng, numbers)
        scale = scale_features(T, self.standardize)
        halves = self._halves(T, scale, rng, numbers)

        h, P = self._fit_base(T, halves, rng)
        self.pairs_ = halves.pairs(P)
        self.regression_ = halves.regression(self.pairs_)
        if self.decision != "nearest":
            self.tau_ = halves.tau(P, self.regression_, self.decision)
        del halves  # whose index need not lie beside that of all rows
        return self._set_fitted(T, h, scale)

    @use_snapshot
    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """A new classifier, fitted to other rows with the weights of this one.

        Their thetas are on one scale, while those of two calls of `fit` differ by the chance of
        their halves: one found by cross-validation can be used with this model.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        NLDDClassifier
        """
        check_is_fitted(self)
        other = clone(self)
        rng = check_random_state(other.random_state)
        T = other._training_data(X, y, sample_weight, rng)
        for name in ("chosen_", "pairs_", "regression_", "tau_"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        h = other._fit_all(T, rng)
        return other._set_fitted(T, h, scale_features(T, self.standardize))

    def add(self, X: Any, y: Any) -> Self:
        """Let more rows with known labels into the search, without fitting anything again.

        Their labelsets can be predicted at once, new combinations of known labels included. All
        else stays as it is, so after many rows a new `fit` is better. All rows are grouped anew,
        so add many at a time. Other threads may predict meanwhile: each of their answers comes from
        before, or from after.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            In any form that `fit` takes.

        Returns
        -------
        self : the classifier with more rows
        """
        with update_lock:
            copy_state(self, copy(self)._add(X, y))
        return self

    def _add(self, X: Any, y: Any) -> Self:
        X = self._validate_predict(X)
        Y = self._read_known_labels(y)
        check_consistent_length(X, Y)
        numbers = self._n_rows_given + np.arange(len(Y))
        self._n_rows_given += len(Y)
        return self._set_rows(self.index_.with_rows(X, Y), np.append(self.rows_, numbers))

    @use_snapshot
    @supports_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Labelset of smallest theta for each row, or the one that `decision` prefers.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) for a 1-D target
        """
        _, near = self._search(X)
        return self._answer(self.index_.labelsets[near.labelset[:, 0]])

    @use_snapshot
    @supports_dask
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classifiers, moved to the side of 1/2 that `predict` takes.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        P, near = self._search(X)
        return self._answer_proba(clip_to_prediction(P, self.index_.labelsets[near.labelset[:, 0]]))

    @use_snapshot
    @supports_dask
    def label_probabilities(self, X: Any) -> NDArray[np.float64]:
        """The point p in the hypercube: what the independent classifiers say, label by label.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        return self._probabilities(self._classifiers, self._validate_predict(X))

    @use_snapshot
    @supports_dask
    def predict_theta(self, X: Any) -> NDArray[np.float64]:
        """Probability that one label of the prediction is wrong, one number a row.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        _, near = self._search(X)
        return self.regression_.theta(near.Dx[:, 0], near.Dy[:, 0])

    @use_snapshot
    @supports_dask
    def expected_loss(self, X: Any) -> NDArray[np.float64]:
        """Expected number of wrong labels in the prediction, ``L * theta``.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.n_labels_ * self.predict_theta(X)

    @use_snapshot
    def nearest_labelsets(self, X: Any, k: int = 5) -> NearestLabelsets:
        """The `k` distinct training labelsets of smallest theta for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        k : int, default=5

        Returns
        -------
        nldd.estimators._explanation.NearestLabelsets
        """
        check_is_fitted(self)
        if not isinstance(k, Integral) or not 1 <= k <= len(self.labelsets_):
            raise InputError(
                f"k must be a whole number from 1 to {len(self.labelsets_)}, the number of "
                f"distinct training labelsets; got {k!r}."
            )
        _, near = self._nearest(X, int(k))
        theta = self.regression_.theta(near.Dx, near.Dy)
        labelsets, rows = self.labelsets_[near.labelset], self.rows_[near.row]
        return NearestLabelsets(labelsets, theta, rows, near.Dx, near.Dy)

    @use_snapshot
    def explain(self, X: Any) -> list[Explanation]:
        """Evidence for each prediction: the training row, both distances, theta, the runner-up.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        list of nldd.estimators._explanation.Explanation, one a row; print one to read it
        """
        P, near = self._search(X, k=2)
        labelsets, rows = self.labelsets_[near.labelset], self.rows_[near.row]
        best, second = (
            explanations(
                as_label_sets(labelsets[:, rank], self.label_names_),
                rows[:, rank],
                near.Dx[:, rank],
                near.Dy[:, rank],
                self.regression_,
                P,
            )
            for rank in (0, 1)
        )
        return [replace(one, runner_up=other) for one, other in zip(best, second, strict=True)]

    @use_snapshot
    def search_stats(self, X: Any) -> SearchStats:
        """The work of the search that predicts these rows: distances computed, and spared.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        nldd.search._index.SearchStats
        """
        _, near = self._search(X)
        return SearchStats.of(near, len(self.index_))

    def _training_data(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: RandomState,
        groups: NDArray[np.intp] | None = None,
    ) -> Training | DaskTraining:
        T = self._validate_wherever(X, y, sample_weight)
        if groups is not None and groups.shape != (self._n_rows_given,):
            shapes = f"{self._n_rows_given} rows; got shape {groups.shape}"
            raise InputError(f"groups must name one group for each of the {shapes}.")
        from nldd.estimators._halves import check_training, random_part  # only to fit

        if self.train_fraction < 1:
            T = T[random_part(len(T), round(self.train_fraction * len(T)), rng)]
        check_training(self, T, groups)
        return T

    def _halves(
        self,
        T: Training | DaskTraining,
        scale: Any,
        rng: RandomState,
        groups: NDArray[np.intp] | None,
    ) -> "WeightLearner":
        """T1 and T2, the latter with no more instances than are to be paired, and in memory."""
        from nldd.estimators._halves import WeightLearner, random_halves, random_part  # only to fit

        together = None if groups is None else number_groups(groups[T.rows])
        first, second = random_halves(len(T), rng, together)
        if self.max_pairs is not None:
            second = second[random_part(len(second), self.max_pairs, rng)]
        T1, T2 = T[first], T[second]
        if isinstance(T2, DaskTraining):
            T2 = Training(*T2.gathered(), None, T2.rows)
        return WeightLearner(T1, T2, scale, self.model, self.covariance, self.n_jobs, self.verbose)

    def _fit_base(
        self, T: Training | DaskTraining, halves: "WeightLearner", rng: RandomState
    ) -> tuple[LabelModel, NDArray[np.float64]]:
        """Classifiers of T, and the probabilities of T2 by those of T1; chosen if that is open."""
        self.__dict__.pop("chosen_", None)  # of an earlier fit
        T1, T2 = halves.T1, halves.T2
        if not self._selects_base:
            h1, h = self._fit_classifiers(self._base_estimator(), [T1, T], rng)
            return h, self._probabilities(h1, T2.X)
        candidates = candidates_for(self.estimator, T)
        options = self._fit_options("candidates on T1", rng)
        self.chosen_, h1, P = choose_base(candidates, T1, T2, self.label_names_, **options)
        if self.estimator == "auto+trees":
            (trees,) = self._fit_classifiers(EXTRA_TREES, [T1], rng)
            P_mean = (P + self._probabilities(trees, T2.X)) / 2
            f = {"alone": halves.f_measure(P), "with trees": halves.f_measure(P_mean)}
            self.chosen_ = replace(self.chosen_, f=f)
            P = P_mean if self.chosen_.with_trees else P
        return self._fit_all(T, rng, h1), check_probabilities(P, self.label_names_)

    def _fit_all(self, T: Training | DaskTraining, rng: RandomState, h1: Any = None) -> LabelModel:
        """Classifiers of T, from the start that those of T1 are, if they can be one."""
        base = self._base_estimator()
        start = (
            h1.estimators[0].coefficients() if h1 is not None and fits_all_labels(base) else None
        )
        (h,) = self._fit_classifiers(base, [T], rng, start=start)
        if self._selects_base and self.chosen_.with_trees:
            return MeanModel([h, *self._fit_classifiers(EXTRA_TREES, [T], rng)])
        return h

    def _fit_classifiers(
        self, base: Any, parts: Sequence[Any], rng: RandomState, **start: Any
    ) -> Any:
        options = self._fit_options("classifiers on T1 and T", rng) | start
        return fit_label_probabilities(base, parts, self.label_names_, **options)

    def _set_fitted(self, T: Training | DaskTraining, classifiers: Any, scale: Any) -> Self:
        """Keep what predictions need: classifiers of all rows, and the rows to search."""
        self.beta_ = self.regression_.beta
        self._classifiers = classifiers
        self.estimators_ = classifiers.estimators
        return self._set_rows(build_index(T, scale), T.rows)

    def _set_rows(self, index: Any, rows: NDArray[np.intp]) -> Self:
        self.index_, self.rows_ = index, rows
        self.labelsets_ = index.labelsets.astype(np.int64)
        return self

    def _search(self, X: Any, k: int = 1) -> tuple[NDArray[np.float64], Neighbors]:
        """Label probabilities of new rows; the predicted labelset, and k - 1 of the nearest."""
        if self.decision == "nearest":
            return self._nearest(X, k)
        n_nearest = min(N_NEAREST, len(self.labelsets_))
        P, near = self._nearest(X, n_nearest)
        loss = self.n_labels_ * self.regression_.theta(near.Dx, near.Dy)
        best = best_of_nearest(self.index_.labelsets[near.labelset], loss, self.tau_, self.decision)
        # A stable sort of False and True: the chosen one first, the others as they are.
        order = np.argsort(np.arange(n_nearest) != best[:, np.newaxis], axis=1, kind="stable")
        return P, near.take(order[:, :k])

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], Neighbors]:
        """Label probabilities of new rows and their k nearest labelsets."""
        X = self._validate_predict(X)
        P = self._probabilities(self._classifiers, X)
        title = "nearest labelsets" if self.verbose else None
        return P, self.index_.query(X, P, score_of(self.regression_), k, self.n_jobs, title)

    @property
    def _is_in_shards(self) -> bool:
        return isinstance(getattr(self, "index_", None), ShardedIndex)

    def _for_blocks(self, blocks: list[Any]) -> tuple[Self, list[Any]]:
        """A model with the answers of the shards for each block of rows, as tasks; an example."""
        example = copy(self)
        example.index_ = AnsweredIndex.example(self.index_.labelsets)
        for name in ("rows_", "pairs_", "labelsets_"):  # long, and not asked for
            delattr(example, name)
        model = broadcast(example)
        ask, answer = delayed_task(label_probabilities), delayed_task(add_rows)
        nearest = (
            self.index_.nearest(X, ask(model, X), score_of(self.regression_)) for X in blocks
        )
        return example, [answer(model, near) for near in nearest]

    def _probabilities(self, classifiers: Any, X: Any) -> NDArray[np.float64]:
        return check_probabilities(classifiers.probabilities(X, self.n_jobs), self.label_names_)
