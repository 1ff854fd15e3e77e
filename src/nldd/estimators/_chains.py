"""Classifier chains, where labels are features of those behind them, and ensembles of chains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, expit, xlog1py, xlogy
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot

from nldd._base import Training
from nldd._parallel import delayed, do_all
from nldd._validation import Interval, StrOptions, validate_parameters
from nldd._wording import progress
from nldd.estimators._base_classifiers import (
    BaseEstimatorMixin,
    BaseMetaClassifier,
    Prototype,
    ScoreClassifier,
    draw_seed,
    draw_share,
    fit_label,
    fits_all_labels,
    has_probabilities,
    predict_scores,
    take_columns,
    where_base_has_probabilities,
)
from nldd.exceptions import InputError, NLDDWarning, warn_caller
from nldd.linear._logistic import MultiLabelLogisticRegression, with_columns

Order = Sequence[int] | Literal["random"] | None
# Chances of a vote that are told apart, and steps of the EM algorithm, which are many because it
# moves slowly between neighbouring chances. They take a few hundredths of a second.
CHANCES = np.linspace(0, 1, 101)
N_STEPS = 2000


def chain_order(order: Order, n_labels: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw the order, or check it and convert it to an array."""
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str):
        return rng.permutation(n_labels)
    given = np.array(order)
    if given.dtype.kind not in "iu" or sorted(given.tolist()) != list(range(n_labels)):
        raise InputError(
            f"order must hold each of 0, ..., {n_labels - 1} once, one per label; got {order!r}."
        )
    return given.astype(np.intp)


def fit_chain(
    estimator: Any,
    T: Training,
    order: NDArray[np.intp],
    label_names: NDArray[np.object_],
    rng: np.random.RandomState,
    title: str | None = None,
) -> list[Any]:
    """Fit the classifiers along the chain, or the one that is fitted to all of it at once."""
    Y, names, n_features = T.Y[:, order], label_names[order], T.X.shape[1]
    if fits_all_labels(estimator):
        # True labels are known in training, so that no link has to wait for another one.
        before = Y[:, :-1], np.arange(len(order))
        chain = clone(estimator).fit_checked(replace(T, Y=Y), names, before=before, title=title)
        return [chain]
    prototype, extended = Prototype(estimator, T), with_columns(T.X, Y)

    def links() -> Iterator[Any]:
        for j, name in enumerate(names):
            model, X = prototype.copy(draw_seed(rng)), extended[:, : n_features + j]
            yield fit_label(model, X, Y[:, j], T.weights, name)

    return list(progress(links(), len(order), title))


def predict_chain(
    links: list[Any], order: NDArray[np.intp], X: Any, with_probabilities: bool
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Predict labels along the chain and, if asked for, their probabilities (else zeros)."""
    if fits_all_labels(links[0]):
        return _predict_all_links(links[0], order, X)
    Y_pred = np.zeros((X.shape[0], len(order)), dtype=np.int8)
    P = np.zeros(Y_pred.shape)
    for j, (label, link) in enumerate(zip(order, links, strict=True)):
        features = with_columns(X, Y_pred[:, order[:j]])
        Y_pred[:, label] = predict_scores(link, "predict", features)
        if with_probabilities:
            P[:, label] = predict_scores(link, "predict_proba", features, 2)[:, 1]
    return Y_pred, P


def _predict_all_links(
    model: MultiLabelLogisticRegression, order: NDArray[np.intp], X: Any
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """The same from one model: the part of x first, then of each label for those behind it."""
    X = model.mapped(X)
    of_features, of_labels = np.split(model.coef_, [X.shape[1]], axis=1)
    Z = np.asarray(safe_sparse_dot(X, of_features.T), dtype=np.float64) + model.intercept_
    for j, coefficients in enumerate(of_labels.T):
        Z[Z[:, j] > 0, j + 1 :] += coefficients[j + 1 :]
    back = np.argsort(order)
    return (Z > 0).astype(np.int8)[:, back], expit(Z)[:, back]


class ChainEstimatorMixin(BaseEstimatorMixin):
    """A method of chains, whose default has an intercept with a penalty, as liblinear's.

    With a free one, ensembles were worse on data with many rare labels (docs/methods.md).
    """

    def _adapted(self, chosen: Any) -> Any:
        is_logistic = isinstance(chosen, MultiLabelLogisticRegression)
        return clone(chosen).set_params(intercept="penalised") if is_logistic else chosen


class ClassifierChain(ScoreClassifier, ChainEstimatorMixin):
    """Labels predicted one after the other, each with those before it as features (CC).

    Parameters
    ----------
    estimator : classifier, "auto", dict of classifiers or None, default=None
        Cloned once per link. None is ``MultiLabelLogisticRegression(intercept="penalised")``,
        fitted once; "auto" and dicts as in :class:`nldd.BinaryRelevance`.
    order : sequence of int, "random" or None, default=None
        None is the order of the columns.
    random_state, verbose : as in :class:`nldd.BinaryRelevance`; the seed also draws the order

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
    estimators_ : list of fitted classifiers in the order of the chain
        Or the one classifier of the whole chain, if that is a MultiLabelLogisticRegression.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    Classifier j is fitted to ``[x, y_o(1), ..., y_o(j-1)]`` with the true labels of the training
    rows, and predicts from x and the labels predicted so far, as 0 and 1. `predict_proba` gives the
    probability of a label given these labels, not its marginal probability.
    Logistic regressions of all links are fitted at once, each as if it were alone, and predict with
    one product of x and all coefficients. Equal to scikit-learn's, and also takes constant and
    sparse labels, names and weights.

    J. Read, B. Pfahringer, G. Holmes and E. Frank (2011). Classifier chains for multi-label
    classification. Machine Learning 85(3), 333-359.

    Examples
    --------
    >>> from nldd import ClassifierChain
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> Y = [[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [1, 1]]
    >>> ClassifierChain(order=[1, 0]).fit(X, Y).predict([[-5.0], [9.0]])
    array([[0, 0],
           [1, 1]])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseEstimatorMixin._parameter_constraints,
        "order": ["array-like", StrOptions({"random"}), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Order = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.random_state = random_state
        self.verbose = verbose

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the chain.

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
        self.order_ = chain_order(self.order, self.n_labels_, rng)
        title = "classifier chain" if self.verbose else None
        base = self._base_estimator()
        self.estimators_ = fit_chain(base, T, self.order_, self.label_names_, rng, title)
        return self

    predict_proba = where_base_has_probabilities(ScoreClassifier.predict_proba)

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Labels along the chain, and their probabilities, or else the labels themselves."""
        Y_pred, P = predict_chain(self.estimators_, self.order_, X, has_probabilities(self))
        return P if has_probabilities(self) else Y_pred.astype(float), Y_pred


@dataclass(frozen=True, eq=False)
class Member:
    """One chain of an ensemble.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        The labels along the chain.
    links : list of fitted classifiers
    features : ndarray
        The columns of `X` that it uses.
    rows : ndarray
        Those that it was fitted to, among the training rows with weight.

    Examples
    --------
    >>> from nldd import EnsembleOfChains
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = EnsembleOfChains(n_members=2, bootstrap=False, order=[1, 0]).fit(X, Y)
    >>> [member.order.tolist() for member in model.estimators_]
    [[1, 0], [1, 0]]
    """

    order: NDArray[np.intp]
    links: list[Any]
    features: NDArray[np.intp]
    rows: NDArray[np.intp]

    def votes(self, X: Any) -> NDArray[np.int8]:
        """Labels that the chain predicts."""
        X = take_columns(X, self.features)
        return predict_chain(self.links, self.order, X, with_probabilities=False)[0]


def weigh_rows(T: Training, rows: NDArray[np.intp]) -> Training:
    """Each of the `rows` once, with a weight for how often it was drawn."""
    distinct, counts = np.unique(rows, return_counts=True)
    part = T[distinct]
    weight = counts if part.sample_weight is None else counts * part.sample_weight
    return replace(part, sample_weight=weight.astype(np.float64))


def expected_sizes(
    votes: NDArray[np.intp],
    judges: NDArray[np.intp],
    n_members: int,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Mean number of labels that get at least 1, 2, ... of the votes of `n_members` members.

    What is known of row i and label l is that ``votes[i, l]`` of ``judges[i]`` members are for it.
    Each member is for it with some chance, the same for all; how often each chance occurs among
    all rows and labels is estimated by maximum likelihood (EM on a grid of chances).
    """
    weight = np.ones(len(votes)) if sample_weight is None else sample_weight
    kinds = np.broadcast_to(judges[:, np.newaxis], votes.shape) * (n_members + 1) + votes
    kind, place = np.unique(kinds.ravel(), return_inverse=True)
    count = np.bincount(place, weights=np.repeat(weight, votes.shape[1]))
    n_judges, n_votes = np.divmod(kind[:, np.newaxis], n_members + 1)
    log_likelihood = xlogy(n_votes, CHANCES) + xlog1py(n_judges - n_votes, -CHANCES)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    share = np.full(len(CHANCES), 1 / len(CHANCES))
    for _ in range(N_STEPS):
        share *= likelihood.T @ (count / (likelihood @ share)) / count.sum()
    at_least = bdtrc(np.arange(n_members), n_members, CHANCES[:, np.newaxis])
    return votes.shape[1] * (share @ at_least)


class EnsembleOfChains(ScoreClassifier, ChainEstimatorMixin, BaseMetaClassifier):
    """Chains in random orders on resampled rows, which vote on every label (ECC).

    Parameters
    ----------
    estimator : classifier, default=None, as in :class:`nldd.ClassifierChain`
    n_members : int, default=10
        The number of chains.
    bootstrap : bool, default=True
        Draw rows with replacement.
    row_fraction : float in (0, 1], default=1.0
        The share of the rows drawn for each member.
    feature_fraction : float in (0, 1], default=1.0
        The share of the features drawn for each.
    order : sequence of int, "random" or None, default="random"
        As in :class:`nldd.ClassifierChain`; "random" draws one for each member.
    threshold : {"majority", "cardinality"} or float in (0, 1], default="majority"
        The share of votes that a label needs: half of them, or the share at which rows get as many
        labels on average as training rows have, or this share. If all members saw all rows, as with
        ``bootstrap=False``, "cardinality" warns and is half of the votes.
    n_jobs, random_state, verbose : as in BinaryRelevance, with members for labels

    Attributes
    ----------
    estimators_ : list of Member
    threshold_ : float
        The share of votes that a label needs.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    With v_l of the m members voting for label l, the label is predicted iff ``v_l / m >= 1/2``
    (five of ten count). `predict_proba` gives ``v_l / m``, the share of votes, moved to the side
    of 1/2 that the prediction is on; it is not calibrated. See :class:`nldd.ClassifierChain`.

    "cardinality" is how the authors of the method choose the cut (Read et al., 2011), and what the
    results published for it in the NLDD paper agree with. They count the labels of the rows to be
    predicted; here it is training rows, with the votes of the members that did not see them. Those
    are fewer than m, so that their shares of votes are not cut themselves: how many labels all m
    members would give at each cut is estimated from them (:func:`expected_sizes`).

    Examples
    --------
    >>> from nldd import EnsembleOfChains, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = EnsembleOfChains(n_members=5, random_state=0).fit(X[:300], Y[:300])
    >>> model.predict_proba(X[300:301])[0, :4]
    array([0. , 0. , 0.6, 0.6])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseMetaClassifier._parameter_constraints,
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "row_fraction": [Interval(Real, 0, 1, closed="right")],
        "feature_fraction": [Interval(Real, 0, 1, closed="right")],
        "order": ["array-like", StrOptions({"random"}), None],
        "threshold": [
            StrOptions({"majority", "cardinality"}),
            Interval(Real, 0, 1, closed="right"),
        ],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_members: int = 10,
        bootstrap: bool = True,
        row_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        order: Order = "random",
        threshold: Literal["majority", "cardinality"] | float = "majority",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs, random_state, verbose)
        self.n_members = n_members
        self.bootstrap = bootstrap
        self.row_fraction = row_fraction
        self.feature_fraction = feature_fraction
        self.order = order
        self.threshold = threshold

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the chains.

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
        seeds = [draw_seed(rng) for _ in range(self.n_members)]
        tasks = (delayed(self._fit_member)(T, seed) for seed in seeds)
        title = "ensemble of chains" if self.verbose else None
        self.estimators_ = do_all(tasks, self.n_members, self.n_jobs, title)
        if self.threshold == "cardinality":
            self.threshold_ = self._cardinality_threshold(T)
        else:
            self.threshold_ = 0.5 if self.threshold == "majority" else float(self.threshold)
        return self

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        tasks = (delayed(member.votes)(X) for member in self.estimators_)
        votes = np.mean(do_all(tasks, len(self.estimators_), self.n_jobs), axis=0)
        return votes, votes >= self.threshold_

    def _fit_member(self, T: Training, seed: int) -> Member:
        rng = np.random.RandomState(seed)
        (n_samples, n_features), n_labels = T.X.shape, T.Y.shape[1]
        if self.bootstrap:
            rows = rng.randint(n_samples, size=max(1, round(self.row_fraction * n_samples)))
        else:
            rows = draw_share(n_samples, self.row_fraction, rng)
        features = draw_share(n_features, self.feature_fraction, rng)
        along = chain_order(self.order, n_labels, rng)
        estimator = self._base_estimator()
        part = weigh_rows(T, rows) if fits_all_labels(estimator) else T[rows]
        part = replace(part, X=take_columns(part.X, features))
        links = fit_chain(estimator, part, along, self.label_names_, rng)
        return Member(along, links, features, rows)

    def _cardinality_threshold(self, T: Training) -> float:
        """Cut at which rows that no member saw would get as many labels as training rows have."""
        votes, judges = np.zeros(T.Y.shape, dtype=np.intp), np.zeros(len(T), dtype=np.intp)
        for member in self.estimators_:
            out = np.setdiff1d(np.arange(len(T)), member.rows)
            if len(out):
                votes[out] += member.votes(T.X[out])
                judges[out] += 1
        judged = judges > 0
        if not judged.any():
            warn_caller(
                'threshold="cardinality" needs rows that a member has not seen, and there are '
                "none: half of the votes are asked for instead. Set bootstrap=True or row_fraction "
                "below 1, or give a threshold.",
                NLDDWarning,
            )
            return 0.5
        weight = None if T.sample_weight is None else T.sample_weight[judged]
        sizes = expected_sizes(votes[judged], judges[judged], self.n_members, weight)
        cardinality = np.average(T.Y[judged].sum(axis=1), weights=weight)
        return float((np.abs(sizes - cardinality).argmin() + 1) / self.n_members)
