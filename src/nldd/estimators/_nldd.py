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
from nldd._wording import NotebookText
from nldd.estimators._base_classifiers import (
    BaseMetaClassifier,
    LabelModel,
    MeanModel,
    candidates_for,
    choose_base,
    fit_label_probabilities,
    fits_all_labels,
)
from nldd.estimators._best_labelset import N_NEAREST, FloatArray, best_of_nearest, score_of
from nldd.estimators._weights import WeightLearner
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.regression._regression import DistanceRegression, Pairs, check_regression
from nldd.search._index import LabelsetIndex, Neighbors, SearchStats, check_probabilities

# Two for each half.
MIN_ROWS = 4
# What "auto+trees" may average with: made of all labels at once, as one forest.
EXTRA_TREES = ExtraTreesClassifier(100)

# Held while rows are added. One for all, because a model with a lock of its own could not be sent
# to other processes.
_adding = Lock()


@dataclass(frozen=True)
class Explanation(NotebookText):
    """The evidence behind one prediction of :class:`nldd.NLDDClassifier`.

    Attributes
    ----------
    labels : tuple
        The names of the predicted labels.
    row : int
        The training row that the labelset comes from, as a position in the data of `fit`.
    Dx, Dy : float
        Its distances: from the features, and of its labelset from the probabilities.
    x_part, y_part : float
        ``b1 * Dx`` and ``b2 * Dy``, or the factors ``Dx^b1`` and ``Dy^b2``.
    theta : float
        Expected error rate per label of the prediction.
    n_labels : int
    probabilities : tuple of float
        Those of the labels, by the independent classifiers.
    runner_up : Explanation or None
        The next best labelset.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = [{name for name, on in zip(("right", "up"), x > 0) if on} for x in X]
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> print(model.explain([[2.0, -1.0]])[0])
    labelset {right}
      theta 0.002: about 1 label in 426 is wrong, 0.0 of 2
      taken from training row 37: Dx = 0.384 in features (part 0.788), Dy = 0.020 in labels
      (part 0.178)
      next best {right, up} from row 85, theta 0.989 instead of 0.002
    """

    labels: tuple[Any, ...]
    row: int
    Dx: float
    Dy: float
    x_part: float
    y_part: float
    theta: float
    n_labels: int
    probabilities: tuple[float, ...]
    runner_up: "Explanation | None" = None

    @property
    def expected_loss(self) -> float:
        """Expected number of wrong labels, L * theta."""
        return self.n_labels * self.theta

    def __str__(self) -> str:
        lines = [
            f"labelset {braces(self.labels)}",
            f"  {theta_in_words(self.theta, self.n_labels)}",
            f"  taken from training row {self.row}: Dx = {self.Dx:.3f} in features "
            f"(part {self.x_part:.3f}), Dy = {self.Dy:.3f} in labels (part {self.y_part:.3f})",
        ]
        if (other := self.runner_up) is not None:
            lines.append(
                f"  next best {braces(other.labels)} from row {other.row}, "
                f"theta {other.theta:.3f} instead of {self.theta:.3f}"
            )
        return "\n".join(lines)


def braces(labels: tuple[Any, ...]) -> str:
    """``{a, b}``, or ``{}`` for the empty labelset."""
    return "{" + ", ".join(str(label) for label in labels) + "}"


def theta_in_words(theta: float, n_labels: int) -> str:
    """Theta as a sentence.

    >>> theta_in_words(0.125, 14)
    'theta 0.125: about 1 label in 8 is wrong, 1.8 of 14'
    >>> theta_in_words(0.7, 10)
    'theta 0.700: about 7 labels in 10 are wrong, 7.0 of 10'
    """
    if theta < 0.3:
        share = f"1 label in {min(round(1 / theta), 10**6)} is wrong"
    else:
        share = f"{round(10 * theta)} labels in 10 are wrong"
    return f"theta {theta:.3f}: about {share}, {n_labels * theta:.1f} of {n_labels}"


@dataclass(frozen=True, eq=False)
class NearestLabelsets:
    """The k best distinct labelsets of each row, best first.

    Attributes
    ----------
    labelsets : ndarray of shape (n_samples, k, n_labels)
    theta : ndarray of shape (n_samples, k)
        Expected error rate per label.
    row : ndarray of shape (n_samples, k)
        The training row, as a position in the data of `fit`.
    Dx, Dy : ndarray of shape (n_samples, k)
        Its distances in features and in labels.
    P : ndarray of shape (n_samples, n_labels)
        The probabilities of the labels that these are found by, as by `label_probabilities`.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = (X > 0).astype(int)
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> near = model.nearest_labelsets([[2.0, -1.0]], k=3)
    >>> near.labelsets[0].tolist(), near.theta[0].round(3).tolist()
    ([[1, 0], [1, 1], [0, 0]], [0.002, 0.989, 0.998])
    """

    labelsets: NDArray[np.int64]
    theta: NDArray[np.float64]
    row: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    P: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedNLDD:
    """What Algorithm 1 has learned, and all that Algorithm 2 needs.

    It is replaced as a whole and never changed, so that a prediction sees one state of a model
    whatever other threads let it become.
    """

    classifiers: LabelModel
    pairs: Pairs
    regression: DistanceRegression
    index: LabelsetIndex
    rows: NDArray[np.intp]  # numbers that the rows of the index have in the data of `fit`
    n_fitted: int  # rows that `fit` was given, without those of `add`
    tau: float | None = None


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
    chosen_ : nldd.estimators._base_classifiers.Choice
        Which base classifier and why, where that was open; print it.
    tau_ : float
        For a decision other than "nearest".
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
        decision: Literal["nearest", "accuracy", "f"] = "nearest",
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
            no coefficient.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as copies or the answers of one person, stay together in T1 or
            T2: a row that is paired with its own copy would make distances look too telling.

        Returns
        -------
        self : the fitted estimator
        """
        rng = check_random_state(self.random_state)
        T = self._training_data(X, y, sample_weight, groups, rng)
        scale = T.scale(self.standardize)
        T1, T2 = self._halves(T, rng)
        learner = WeightLearner(
            T1, T2, scale, self.model, self.covariance, self.n_jobs, self.verbose
        )
        h1, P = self._fit_base(T, learner, rng)
        # All else follows from P, so that the classifiers of all rows can be fitted beside it.
        fit_all = partial(self._fit_all, T, rng, h1)
        learn = partial(learner.learn, P, self.decision)
        h, (pairs, regression, tau) = do_both(fit_all, learn, self.n_jobs)
        del learner, learn  # whose index need not lie beside that of all rows
        return self._set_fitted(
            FittedNLDD(h, pairs, regression, T.index(scale), T.rows, T.n_given, tau)
        )

    def fit_copy(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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

        Returns
        -------
        NLDDClassifier
        """
        check_is_fitted(self)
        fitted, other = self._fitted, clone(self)
        rng = check_random_state(other.random_state)
        T = other._training_data(X, y, sample_weight, None, rng)
        if self._selects_base:
            other.chosen_ = self.chosen_
        h, index = other._fit_all(T, rng), T.index(T.scale(self.standardize))
        return other._set_fitted(
            replace(fitted, classifiers=h, index=index, rows=T.rows, n_fitted=T.n_given)
        )

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
            rows = np.append(fitted.rows, numbers)
            self._set_fitted(replace(fitted, index=fitted.index.with_rows(X, Y), rows=rows))
        if n_before <= fitted.n_fitted < self.n_added_:
            warn_caller(
                f"{self.n_added_} rows were added to a model fitted to {fitted.n_fitted}. Its "
                "classifiers and weights have not seen them: fit again with all rows.",
                NLDDWarning,
            )
        return self

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Labelset of smallest theta for each row, or the one that `decision` prefers.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) for a 1-D target
        """
        fitted, _, near = self._search(X)
        return self._answer(fitted.index.labelsets[near.labelset[:, 0]])

    @by_rows
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the independent classifiers, made to agree with `predict`.

        They are :meth:`label_probabilities`, each moved just across 1/2 where it is on the other
        side than the predicted labelset; so they say nothing of that labelset. For how far to trust
        a prediction, see :meth:`predict_theta`.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        fitted, P, near = self._search(X)
        return self._answer_proba(
            clip_to_prediction(P, fitted.index.labelsets[near.labelset[:, 0]])
        )

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
        X = self._validate_predict(X)
        return self._probabilities(self._fitted.classifiers, X)

    @by_rows
    def predict_theta(self, X: Any) -> NDArray[np.float64]:
        """Expected error rate per label of the prediction, one number per row.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        fitted, _, near = self._search(X)
        return fitted.regression.theta(near.Dx[:, 0], near.Dy[:, 0])

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
        nldd.estimators._nldd.NearestLabelsets
        """
        X = self._validate_predict(X)
        fitted = self._fitted
        n_labelsets = len(fitted.index.labelsets)
        if not isinstance(k, Integral) or not 1 <= k <= n_labelsets:
            raise InputError(
                f"k must be a whole number from 1 to {n_labelsets}, the number of distinct "
                f"training labelsets; got {k!r}."
            )
        P, near = self._nearest(fitted, X, int(k))
        theta = fitted.regression.theta(near.Dx, near.Dy)
        labelsets, rows = fitted.index.labelsets[near.labelset], fitted.rows[near.row]
        return NearestLabelsets(labelsets, theta, rows, near.Dx, near.Dy, P)

    def explain(self, X: Any) -> list[Explanation]:
        """Evidence for each prediction: the training row, both distances, theta, the runner-up.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        list of nldd.estimators._nldd.Explanation, one a row; print one to read it
        """
        found = self._search(X, k=2)
        best, second = (self._explanations(*found, rank) for rank in (0, 1))
        return [replace(one, runner_up=other) for one, other in zip(best, second, strict=True)]

    def search_stats(self, X: Any) -> SearchStats:
        """The work of the search that predicts these rows: distances computed, and spared.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        nldd.search._index.SearchStats
        """
        fitted, _, near = self._search(X)
        return SearchStats.of(near, len(fitted.index))

    def _explanations(
        self, fitted: FittedNLDD, P: FloatArray, near: Neighbors, rank: int
    ) -> list[Explanation]:
        """The evidence for the labelset of that rank of each row."""
        regression, Dx, Dy = fitted.regression, near.Dx[:, rank], near.Dy[:, rank]
        labels = as_label_sets(fitted.index.labelsets[near.labelset[:, rank]], self.label_names_)
        rows = fitted.rows[near.row[:, rank]]
        parts, theta = regression.parts(Dx, Dy), regression.theta(Dx, Dy)
        numbers = (column.tolist() for column in (rows, Dx, Dy, *parts, theta))
        evidence = zip(labels, zip(*numbers, strict=True), P.tolist(), strict=True)
        return [
            Explanation(names, row, dx, dy, x_part, y_part, one_theta, len(p), tuple(p))
            for names, (row, dx, dy, x_part, y_part, one_theta), p in evidence
        ]

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

    def _fit_base(
        self, T: Training, learner: WeightLearner, rng: RandomState
    ) -> tuple[LabelModel, FloatArray]:
        """Classifiers of T1, chosen if that is open, and the probabilities of T2 by them."""
        self.__dict__.pop("chosen_", None)  # of an earlier fit
        T1, T2, names = learner.T1, learner.T2, self.label_names_
        options = self._fit_options("classifiers on T1 and T", rng)
        if not self._selects_base:
            h1 = fit_label_probabilities(self._base_estimator(), T1, names, **options)
            return h1, self._probabilities(h1, T2.X)
        candidates = candidates_for(self.estimator, T)
        self.chosen_, h1, P = choose_base(candidates, T1, T2, names, **options)
        if self.estimator == "auto+trees":
            trees = fit_label_probabilities(EXTRA_TREES, T1, names, **options)
            P_mean = (P + self._probabilities(trees, T2.X)) / 2
            f = {"alone": learner.f_measure(P), "with trees": learner.f_measure(P_mean)}
            self.chosen_ = replace(self.chosen_, f=f)
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
        self.pairs_, self.regression_ = fitted.pairs, fitted.regression
        self.beta_, self.estimators_ = fitted.regression.beta, fitted.classifiers.estimators
        self.index_, self.rows_ = fitted.index, fitted.rows
        self.labelsets_ = fitted.index.labelsets
        self.n_added_ = int((fitted.rows >= fitted.n_fitted).sum())
        if fitted.tau is not None:
            self.tau_ = fitted.tau
        self._fitted = fitted
        return self

    def _search(self, X: Any, k: int = 1) -> tuple[FittedNLDD, FloatArray, Neighbors]:
        """Label probabilities of new rows; the predicted labelset, and k - 1 of the nearest."""
        X = self._validate_predict(X)
        fitted = self._fitted
        if fitted.tau is None:
            return fitted, *self._nearest(fitted, X, k)
        n_nearest = min(N_NEAREST, len(fitted.index.labelsets))
        P, near = self._nearest(fitted, X, n_nearest)
        loss = self.n_labels_ * fitted.regression.theta(near.Dx, near.Dy)
        labelsets = fitted.index.labelsets[near.labelset]
        best = best_of_nearest(labelsets, loss, fitted.tau, self.decision)
        # A stable sort of False and True: the chosen one first, the others as they are.
        order = np.argsort(np.arange(n_nearest) != best[:, np.newaxis], axis=1, kind="stable")
        return fitted, P, near.take(order[:, :k])

    def _nearest(self, fitted: FittedNLDD, X: Any, k: int) -> tuple[FloatArray, Neighbors]:
        """Label probabilities of checked rows and their k labelsets of smallest theta."""
        P = self._probabilities(fitted.classifiers, X)
        title = "nearest labelsets" if self.verbose else None
        return P, fitted.index.query(X, P, score_of(fitted.regression), k, self.n_jobs, title)

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
