"""Nearest Labelset using Double Distances: the classifier, and the evidence for its predictions."""

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from threading import Lock
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from nldd._base import Training, by_rows, clip_to_prediction, random_halves, random_part
from nldd._labels import as_label_sets
from nldd._parallel import do_both
from nldd._validation import HasMethods, Interval, StrOptions, validate_parameters
from nldd.estimators._base_classifiers import (
    BaseMetaClassifier,
    LabelModel,
    MeanModel,
    candidates_for,
    choose_base,
    fit_label_probabilities,
    fits_all_labels,
)
from nldd.estimators._decisions import DECISIONS, LabelArray
from nldd.estimators._explanation import (
    Explanation,
    NearestLabelsets,
    PosteriorExplanation,
    ProbableLabelsets,
    braces,
    explain_nearest,
    explain_posterior,
)
from nldd.estimators._nearest import FloatArray, NearestRule, find_pairs
from nldd.estimators._posterior import Posterior, learn_weights, usable_rows
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.regression._regression import check_regression, fit_regression
from nldd.search._distances import word_scale
from nldd.search._index import SearchStats, check_probabilities, find_labelsets
from nldd.search._products import LabelsetRows

# Two for each half.
MIN_ROWS = 4
# What "auto+trees" may average with: made of all labels at once, as one forest.
EXTRA_TREES = ExtraTreesClassifier(100)

# Held while rows are added. One for all, because a model with a lock of its own could not be sent
# to other processes.
_adding = Lock()


@dataclass(frozen=True, eq=False)
class FittedNLDD:
    """What Algorithm 1 has learned, and all that Algorithm 2 needs.

    It is replaced as a whole and never changed, so that a prediction sees one state of a model
    whatever other threads let it become.
    """

    classifiers: LabelModel
    rule: NearestRule | Posterior
    rows: NDArray[np.intp]  # numbers that the rows of the index have in the data of `fit`
    n_fitted: int  # rows that `fit` was given, without those of `add`


class NLDDClassifier(BaseMetaClassifier):
    """Nearest Labelset using Double Distances (NLDD).

    Predicts the labelset of the training row with the smallest weighted sum of its distance in
    features and its distance, in labels, from the probabilities of independent classifiers. A
    binomial regression gives the weights, and theta, the expected error rate per label.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, dict, str or None, default="auto"
        Base classifier of a label, or of all if it takes a whole indicator matrix, as forests do.
        None is :class:`nldd.MultiLabelLogisticRegression`; ``PlattSVC()`` is the paper's. "auto"
        chooses by the data among logistic regressions of several features, and from a dict of your
        own the best of these is taken; "auto+trees" adds extra trees where they help, see Notes.
    decision : {"nearest", "subset", "hamming", "jaccard", "f1"}, default="nearest"
        Predict the labelset of smallest theta, as in the paper; or, by a posterior over labelsets,
        the most probable one, or that of lowest expected Hamming loss, or of highest expected
        accuracy (Jaccard's index) or F-measure, see Notes.
    model : {"linear", "multiplicative"}, default="linear"
        How distances add up, see Notes.
    covariance : {"independent", "exchangeable"}, default="independent"
        "exchangeable" lets the two pairs of an instance correlate, in the linear model, by
        generalised estimating equations (``pip install "nldd[gee]"``).
    standardize : {"numeric", "all", "none"}, default="numeric"
        Features divided by their standard deviation for distances; "numeric" leaves those of two
        values, such as words that occur or not, as they are. For a posterior, words are weighted by
        tf-idf instead and rows divided by their length, except with "none".
    train_fraction : float in (0, 1], default=1.0
        Share of rows to draw; 0.7 in the paper if large.
    max_pairs : int or None, default=2000
        Validation instances to pair with their neighbours; of more, so many are drawn at random.
        None takes all, which makes `fit` quadratic in the number of rows, see Notes. A posterior
        learns from 1,000 of them.
    n_jobs : int, default=None
        Labels fitted and blocks of rows searched at a time, in threads.
    random_state : int, RandomState or None, default=None
        Draws T1 and T2, and seeds classifiers.
    verbose : int, default=0
        Above 0, lines on standard output say how far `fit` and the search are.

    Attributes
    ----------
    beta_ : ndarray of shape (3,)
        Intercept, weight of Dx and weight of Dy; this and the next two if decision is "nearest".
    regression_ : nldd.regression._regression.DistanceRegression
        With standard errors; print it to see all.
    pairs_ : nldd.regression._regression.Pairs
        What the regression was fitted to.
    weights_ : nldd.estimators._posterior.PosteriorWeights
        For the other decisions: those of distance, probabilities, frequency and size.
    unseen_share_ : float
        For them too: share of new rows expected to have a labelset that was never seen.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        Distinct: all that "nearest" and "subset" can predict.
    estimators_ : list of classifiers fitted to all rows
        One per label, or the one for all.
    chosen_ : nldd.estimators._base_classifiers.Choice
        Which base classifier and why, where that was open; print it.
    index_ : nldd.search._index.LabelsetIndex
        The search structure; of Dask arrays one in shards, which answers alike.
    rows_ : ndarray
        The rows of `fit` that the model uses; those of `add` are numbered on.
    n_added_ : int
        Rows added since the last fit.
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
    its probabilities are averaged with those of extra trees if that lowers the score.

    Prediction (Algorithm 2). The labelset of the training row with the smallest theta, the same
    as the smallest ``b1 * Dx + b2 * Dy``. The search is exact, though it looks at few rows only.

    The other decisions make a posterior over labelsets of the same distances and probabilities.
    A labelset S that n_S training rows have scores::

        z_S = -w1 Dx_S + w2 log-likelihood of S by p + w3 log n_S + w4 |S|        Q = softmax(z)

    where Dx_S is the distance to the nearest of these rows, and the weights make the labelsets of
    T2 most probable. A share e of the truth, that of the training rows whose labelset occurs once,
    is left to labelsets not seen, by p alone. "subset" predicts the S of largest z; "hamming" the
    labels of marginal probability above 1/2; "jaccard" and "f1" what is best in expectation, new
    labelsets included. Once fitted for one of the four, a model can be set to another of them.

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
        "decision": [StrOptions({"nearest", "subset", *DECISIONS})],
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
        decision: Literal["nearest", "subset", "hamming", "jaccard", "f1"] = "nearest",
        model: Literal["linear", "multiplicative"] = "linear",
        covariance: Literal["independent", "exchangeable"] = "independent",
        standardize: Literal["numeric", "all", "none"] = "numeric",
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
            no coefficient. So it is with the weights of a posterior, where n_S counts rows by them.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as copies or the answers of one person, stay together in T1 or
            T2: a row that is paired with its own copy would make distances look too telling.
            Whether a labelset was seen once is counted by groups.

        Returns
        -------
        self : the fitted estimator
        """
        rng = check_random_state(self.random_state)
        T = self._training_data(X, y, sample_weight, groups, rng)
        T1, T2 = self._halves(T, rng)
        h1, P = self._fit_base(T, T1, T2, rng)
        # All else follows from P, so that the classifiers of all rows can be fitted beside it.
        fit_all = partial(self._fit_all, T, rng, h1)
        if self.decision == "nearest":
            scale = T.scale(self.standardize)
            learn: Any = partial(find_pairs, T1, T2, P, scale, self.n_jobs, self.verbose)
            h, pairs = do_both(fit_all, learn, self.n_jobs)
            regression = fit_regression(pairs, self.model, self.covariance)
            rule: Any = NearestRule(T.index(scale), pairs, regression)
        else:
            rows = usable_rows(T1, T2, rng)
            is_words = self.standardize != "none" and T.kind == "words"
            index = partial(self._labelset_rows, T=T, is_words=is_words)
            learn = partial(learn_weights, index(T1), T1, T2[rows], P[rows])
            h, weights = do_both(fit_all, learn, self.n_jobs)
            rule = Posterior.of(T, index(T), weights, self.single_label_)
        return self._set_fitted(FittedNLDD(h, rule, T.rows, T.n_given))

    def fit_copy(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit a copy of this classifier to other rows, with the weights of this one.

        Their thetas are on one scale, while those of two calls of `fit` differ by the chance of
        their halves: a threshold found by cross-validation can be used with this model.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.
        groups : array-like of shape (n_samples,), default=None
            By which a posterior counts how often labelsets were seen.

        Returns
        -------
        NLDDClassifier
        """
        check_is_fitted(self)
        fitted, other = self._fitted, clone(self)
        rng = check_random_state(other.random_state)
        T = other._training_data(X, y, sample_weight, groups, rng)
        if self._selects_base:
            other.chosen_ = self.chosen_
        h, rule = other._fit_all(T, rng), fitted.rule
        if isinstance(rule, Posterior):
            index = other._labelset_rows(T, T, rule.index.unit_length)
            rule = Posterior.of(T, index, rule.weights, rule.is_closed)
        else:
            rule = replace(rule, index=T.index(T.scale(self.standardize)))
        return other._set_fitted(FittedNLDD(h, rule, T.rows, T.n_given))

    def add(self, X: Any, y: Any) -> Self:
        """Add rows with known labels to the search, without fitting anything again.

        Their labelsets can be predicted at once, new combinations of known labels included.
        Classifiers and weights stay as they are: once more rows were added than `fit` was given, a
        warning says that a new `fit` is due. All rows are grouped again, so add many at a time.
        Other threads may predict meanwhile: each of their answers comes from before, or from after.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            In any form that `fit` takes.

        Returns
        -------
        self : the classifier with more rows
        """
        X = self._validate_predict(X)
        Y = self._read_known_labels(y)
        check_consistent_length(X, Y)
        with _adding:
            fitted = self._fitted
            n_before = self.n_added_
            numbers = fitted.n_fitted + n_before + np.arange(len(Y))
            rows, rule = np.append(fitted.rows, numbers), fitted.rule.with_rows(X, Y)
            self._set_fitted(replace(fitted, rule=rule, rows=rows))
        if n_before <= fitted.n_fitted < self.n_added_:
            warn_caller(
                f"{self.n_added_} rows were added to a model fitted to {fitted.n_fitted}. Its "
                "classifiers and weights have not seen them: fit again with all rows.",
                NLDDWarning,
            )
        return self

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Labelset of smallest theta for each row, or the one that `decision` asks for.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) for a 1-D target
        """
        fitted, X, P = self._read_rows(X)
        return self._answer(self._predict_labelsets(fitted, X, P))

    @by_rows
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each label.

        For a posterior these are its marginals. For the decision "nearest" they are
        :meth:`label_probabilities`, each moved just across 1/2 where it is on the other side than
        the predicted labelset; so they say nothing of that labelset, for which there is
        :meth:`predict_theta`.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        fitted, X, P = self._read_rows(X)
        if isinstance(fitted.rule, Posterior):
            return self._answer_proba(fitted.rule.marginals(X, P, self.n_jobs, self.verbose))
        return self._answer_proba(clip_to_prediction(P, self._predict_labelsets(fitted, X, P)))

    @by_rows
    def label_probabilities(self, X: Any) -> NDArray[np.float64]:
        """The point p in the hypercube: what the independent classifiers say, label by label.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        return self._read_rows(X)[2]

    @by_rows
    def predict_theta(self, X: Any) -> NDArray[np.float64]:
        """Expected error rate per label of the prediction, one number per row.

        By the regression for the decision "nearest", else by the marginals of the posterior.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        fitted, X, P = self._read_rows(X)
        if isinstance(fitted.rule, NearestRule):
            near = fitted.rule.nearest(X, P, 1, self.n_jobs, self.verbose)
            return fitted.rule.regression.theta(near.Dx[:, 0], near.Dy[:, 0])
        Y_pred = self._predict_labelsets(fitted, X, P)
        M = fitted.rule.marginals(X, P, self.n_jobs, self.verbose)
        return np.abs(Y_pred - M).mean(axis=1)

    @by_rows
    def exact_match_probability(self, X: Any) -> NDArray[np.float64]:
        """Probability that the predicted labelset is exactly right, of a posterior.

        That is ``(1 - e) Q`` of the labelset, and of one that was never seen e times its
        probability if labels were independent.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        fitted, X, P = self._read_rows(X)
        posterior = self._posterior_of(fitted, "exact_match_probability")
        Y_pred = self._predict_labelsets(fitted, X, P)
        at = find_labelsets(posterior.index.labelsets, Y_pred)
        listed = posterior.list_labelsets(X, P, 1, self.n_jobs, self.verbose, first=at)
        return posterior.probability(Y_pred, at, listed.Q[:, 0], P)

    @by_rows
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
        fitted, X, P = self._read_rows(X)
        if isinstance(fitted.rule, Posterior):
            raise InputError(
                f'nearest_labelsets needs the decision "nearest"; got {self.decision!r}. Call '
                "labelset_posterior instead."
            )
        index, regression = fitted.rule.index, fitted.rule.regression
        near = fitted.rule.nearest(X, P, check_k(k, index), self.n_jobs, self.verbose)
        theta, rows = regression.theta(near.Dx, near.Dy), fitted.rows[near.row]
        return NearestLabelsets(index.labelsets[near.labelset], theta, rows, near.Dx, near.Dy, P)

    def labelset_posterior(self, X: Any, k: int = 5) -> ProbableLabelsets:
        """The `k` most probable labelsets of each row, of those seen in training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        k : int, default=5

        Returns
        -------
        nldd.estimators._explanation.ProbableLabelsets
        """
        fitted, X, P = self._read_rows(X)
        posterior = self._posterior_of(fitted, "labelset_posterior")
        listed = posterior.list_labelsets(
            X, P, check_k(k, posterior.index), self.n_jobs, self.verbose
        )
        labelsets = posterior.index.labelsets[listed.labelset].astype(np.int64)
        probability = (1 - posterior.unseen_share) * listed.Q
        rows, parts = fitted.rows[listed.row], posterior.parts(P, listed)
        return ProbableLabelsets(labelsets, probability, listed.theta, rows, listed.Dx, parts, P)

    def explain(self, X: Any) -> list[Explanation | PosteriorExplanation]:
        """Evidence for each prediction, and the runner-up.

        For the decision "nearest" the training row, both distances and theta; for the others what
        distance, probabilities, frequency and size add to the score of the labelset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        list of Explanation or PosteriorExplanation, one a row; print one to read it
        """
        fitted, X, P = self._read_rows(X)
        rule, how = fitted.rule, (self.n_jobs, self.verbose)
        if isinstance(rule, NearestRule):
            near = rule.nearest(X, P, 2, *how)
            return [*explain_nearest(rule, near, P, fitted.rows, self.label_names_)]
        Y_pred = self._predict_labelsets(fitted, X, P)
        at = find_labelsets(rule.index.labelsets, Y_pred)
        listed = rule.list_labelsets(X, P, 2, *how, first=at)
        theta = np.abs(Y_pred - rule.marginals(X, P, *how)).mean(axis=1)
        listed = listed._replace(row=fitted.rows[listed.row])
        return [*explain_posterior(rule, listed, P, Y_pred, at, theta, self.label_names_)]

    def search_stats(self, X: Any) -> SearchStats:
        """The work of a search of the nearest labelset: distances computed, and spared.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        nldd.search._index.SearchStats
            A posterior needs the distances of all rows.
        """
        fitted, X, P = self._read_rows(X)
        n_rows = len(fitted.rule.index)
        if isinstance(fitted.rule, Posterior):
            return SearchStats(len(P), len(P) * n_rows, len(P) * n_rows)
        return SearchStats.of(fitted.rule.nearest(X, P, 1, self.n_jobs, self.verbose), n_rows)

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, rng: RandomState
    ) -> Training:
        T: Training = self._read_training(X, y, sample_weight, groups)
        if self.train_fraction < 1:
            T = T[random_part(len(T), round(self.train_fraction * len(T)), rng)]
        check_training(self, T)
        return T

    def _halves(self, T: Training, rng: RandomState) -> tuple[Training, Training]:
        """T1 and T2, the latter with no more instances than are to be paired, and in memory."""
        first, second = random_halves(len(T), rng, T.groups)
        if self.max_pairs is not None:
            second = second[random_part(len(second), self.max_pairs, rng)]
        return T[first], T[second].in_memory()

    def _labelset_rows(self, rows: Training, T: Training, is_words: bool) -> LabelsetRows:
        """Some rows, with features as those of T are compared for a posterior."""
        if is_words:
            return LabelsetRows(rows.X, rows.Y, word_scale(rows.X), unit_length=True)
        return LabelsetRows(rows.X, rows.Y, T.scale(self.standardize))

    def _fit_base(
        self, T: Training, T1: Training, T2: Training, rng: RandomState
    ) -> tuple[LabelModel, FloatArray]:
        """Classifiers of T1, chosen if that is open, and the probabilities of T2 by them."""
        self.__dict__.pop("chosen_", None)  # of an earlier fit
        names = self.label_names_
        options = self._fit_options("classifiers on T1 and T", rng)
        if not self._selects_base:
            h1 = fit_label_probabilities(self._base_estimator(), T1, names, **options)
            return h1, self._probabilities(h1, T2.X)
        candidates = candidates_for(self.estimator, T)
        self.chosen_, h1, P = choose_base(candidates, T1, T2, names, **options)
        if self.estimator == "auto+trees":
            trees = fit_label_probabilities(EXTRA_TREES, T1, names, **options)
            P_mean = (P + self._probabilities(trees, T2.X)) / 2
            self.chosen_ = self.chosen_.or_with_trees(P, P_mean, T2)
            P = P_mean if self.chosen_.with_trees else P
        return h1, check_probabilities(P, names)

    def _fit_all(self, T: Training, rng: RandomState, h1: Any = None) -> LabelModel:
        """Classifiers of T, from the start that those of T1 are, if they can be one."""
        base, options = self._base_estimator(), self._fit_options("classifiers on T1 and T", rng)
        start = None
        if h1 is not None and fits_all_labels(base):
            start = h1.estimators[0].coefficients()
        h = fit_label_probabilities(base, T, self.label_names_, start=start, **options)
        if self._selects_base and self.chosen_.with_trees:
            trees = fit_label_probabilities(EXTRA_TREES, T, self.label_names_, **options)
            return MeanModel([h, trees])
        return h

    def _set_fitted(self, fitted: FittedNLDD) -> Self:
        """Show what was learned; predictions look at `_fitted` alone, which changes at once."""
        rule = fitted.rule
        self.estimators_, self.index_ = fitted.classifiers.estimators, rule.index
        self.rows_, self.labelsets_ = fitted.rows, rule.index.labelsets
        self.n_added_ = int((fitted.rows >= fitted.n_fitted).sum())
        for name in ("pairs_", "regression_", "beta_", "weights_", "unseen_share_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(rule, Posterior):
            self.weights_, self.unseen_share_ = rule.weights, rule.unseen_share
        else:
            self.pairs_, self.regression_ = rule.pairs, rule.regression
            self.beta_ = rule.regression.beta
        self._fitted = fitted
        return self

    def _read_rows(self, X: Any) -> tuple[FittedNLDD, Any, FloatArray]:
        """What was learned, checked rows, and their label probabilities."""
        X, fitted = self._validate_predict(X), self._fitted
        return fitted, X, self._probabilities(fitted.classifiers, X)

    def _predict_labelsets(self, fitted: FittedNLDD, X: Any, P: FloatArray) -> LabelArray:
        """The predicted labelset of each row."""
        rule, how = fitted.rule, (self.n_jobs, self.verbose)
        if (self.decision == "nearest") != isinstance(rule, NearestRule):
            kind = '"nearest"' if isinstance(rule, NearestRule) else "a posterior"
            raise InputError(
                f"This model was fitted for {kind}, and decision is now {self.decision!r}: fit "
                f"again. Only these can be exchanged: {', '.join(['subset', *DECISIONS])}."
            )
        if isinstance(rule, Posterior):
            return rule.decide(X, P, self.decision, *how)
        labelsets: LabelArray = rule.index.labelsets[rule.nearest(X, P, 1, *how).labelset[:, 0]]
        return labelsets

    @staticmethod
    def _posterior_of(fitted: FittedNLDD, method: str) -> Posterior:
        if isinstance(fitted.rule, NearestRule):
            raise InputError(
                f'{method} needs a posterior over labelsets, which decision="nearest" has not. Fit '
                'with decision="subset", for instance.'
            )
        return fitted.rule

    def _probabilities(self, classifiers: LabelModel, X: Any) -> FloatArray:
        return check_probabilities(classifiers.probabilities(X, self.n_jobs), self.label_names_)


def check_training(model: Any, T: Training) -> None:
    """Refuse what an NLDD classifier cannot be fitted to, and settings that do not go together."""
    check_regression(model.model, model.covariance)
    base = model._base_estimator()
    if not hasattr(base, "predict_proba"):
        raise InputError(
            f"NLDD measures label distances from probabilities, but {base!r} has no "
            "predict_proba. Wrap it in sklearn.calibration.CalibratedClassifierCV, or use "
            "nldd.PlattSVC() or the default."
        )
    if len(T) < MIN_ROWS:
        share = f" after train_fraction={model.train_fraction}" * (model.train_fraction < 1)
        needs = f"NLDD needs at least {MIN_ROWS} training rows, two for each half"
        raise InputError(f"{needs}; got n_samples={len(T)}{share}.")
    if T.groups is not None and (T.groups == T.groups[0]).all():
        raise InputError(
            "NLDD learns from one half of the groups and tests on the other; all rows are of one "
            "group. Pass at least two groups, or groups=None."
        )
    if np.isin(T.positives, (0, len(T))).all():
        one = (T.positives > 0)[np.newaxis]
        labels = braces(as_label_sets(one, model.label_names_)[0])
        raise InputError(
            "NLDD needs at least two distinct labelsets (classes); all "
            f"{len(T)} training rows carry {labels}. There is nothing to choose from: "
            "predict that one labelset, or add rows that carry others."
        )


def check_k(k: Any, index: Any) -> int:
    """How many labelsets to list, if there are so many."""
    n_labelsets = len(index.labelsets)
    if not isinstance(k, Integral) or not 1 <= int(k) <= n_labelsets:
        raise InputError(
            f"k must be a whole number from 1 to {n_labelsets}, the number of distinct "
            f"training labelsets; got {k!r}."
        )
    return int(k)
