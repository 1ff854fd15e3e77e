"""Classifier chain: each label is predicted with the labels before it as features."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from nldd._progress import progress
from nldd._sklearn import StrOptions, validate_parameters
from nldd._training import Training
from nldd.estimators._base_choice import (
    BaseEstimatorMixin,
    has_probabilities,
    where_base_has_probabilities,
)
from nldd.estimators._label_models import (
    Prototype,
    ScoreClassifier,
    draw_seed,
    fit_label,
    fits_all_labels,
    predict_scores,
)
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression, with_columns

Order = Sequence[int] | Literal["random"] | None


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

    def _default_estimator(self) -> Any:
        return self._adapted(MultiLabelLogisticRegression())

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
        T = self._validate_fit(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
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
