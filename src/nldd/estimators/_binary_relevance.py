"""Binary relevance, one independent classifier per label, and subset mapping, which follows it."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from nldd._base import Training
from nldd._validation import StrOptions, validate_parameters
from nldd.estimators._base_classifiers import (
    BaseMetaClassifier,
    ScoreClassifier,
    fit_label_models,
    label_columns,
    where_base_has_probabilities,
)
from nldd.exceptions import InputError


class BinaryRelevance(ScoreClassifier, BaseMetaClassifier):
    """One independent binary classifier per label (BR).

    Parameters
    ----------
    estimator : classifier, "auto", dict of classifiers or None, default=None
        Cloned once per label. None is :class:`nldd.MultiLabelLogisticRegression`, fitted once.
        "auto" is the one that suits the data best, of a dict the best of these: see
        :class:`nldd.NLDDClassifier`.
    decision : {"auto", "sign", "probability"}, default="auto"
        "sign" predicts a label if its decision value is above 0, as in the paper; "probability" if
        its probability is above 1/2; "auto" is "sign" if the estimator has a ``decision_function``.
    n_jobs : int, default=None
        Labels fitted at a time, in threads. Results depend on it only if the classifier draws from
        a generator of the whole process, as liblinear does with ``dual=True``.
    random_state : int, RandomState or None, default=None
        Seeds clones that have no seed.
    verbose : int, default=0
        Above 0, lines on standard output say how many labels are fitted.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
        One per label, a ``ConstantLabel`` for constant ones; or the one classifier of all labels,
        if that is a MultiLabelLogisticRegression.
    chosen_ : nldd.estimators._base_classifiers.Choice
        The base classifier that was chosen and why; only for "auto" and dicts.
    label_names_ : ndarray of shape (n_labels,)
    classes_ : ndarray of shape (n_labels, 2), or of classes for a 1-D target
    n_labels_, n_features_in_ : int

    Notes
    -----
    Label l is predicted iff f_l(x) > 0, where f_l is fitted to (x_i, y_il), i = 1, ..., N. For a
    1-D target every class is a label and the class of the largest value is predicted.
    `predict_proba` gives the probabilities of the base classifiers as they are.

    G. Tsoumakas and I. Katakis (2007). Multi-label classification: an overview.
    International Journal of Data Warehousing and Mining 3(3), 1-13.

    Examples
    --------
    >>> from nldd import BinaryRelevance
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = BinaryRelevance().fit(X, [{"low"}, {"low", "even"}, {"even"}, {"even"}])
    >>> model.label_names_
    array(['even', 'low'], dtype=object)
    >>> model.predict([[-9.0], [9.0]])
    array([[0, 1],
           [1, 0]])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseMetaClassifier._parameter_constraints,
        "decision": [StrOptions({"auto", "sign", "probability"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        decision: Literal["auto", "sign", "probability"] = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs, random_state, verbose)
        self.decision = decision

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one classifier per label.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels) of 0 and 1
            Or a list of n_samples label sets; or a 1-D array-like of classes. If X is a Dask array,
            a Dask array of 0 and 1; the rows stay in their blocks.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        self._fit_labels(self._read_training(X, y, sample_weight))
        return self

    predict_proba = where_base_has_probabilities(ScoreClassifier.predict_proba)

    def _fit_labels(self, T: Training) -> None:
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
        estimator, method = self._base_estimator(), self._decision_method()
        if not hasattr(estimator, method):
            raise InputError(
                f"decision={self.decision!r} needs an estimator with {method}; {estimator!r} has "
                "none. Choose another decision or estimator."
            )
        self.estimators_ = fit_label_models(
            estimator, T, self.label_names_, **self._fit_options("binary relevance", rng)
        )

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        return label_columns(self.estimators_, "predict_proba", X, self.n_jobs), None

    def _labels(self, X: Any) -> NDArray[np.int8]:
        """Indicator of the predicted labels; of the one with the largest value if 1-D."""
        method = self._decision_method()
        values = label_columns(self.estimators_, method, X, self.n_jobs)
        if self.single_label_:
            best = values.argmax(axis=1)[:, np.newaxis]
            return (np.arange(self.n_labels_) == best).astype(np.int8)
        return (values > (0.5 if method == "predict_proba" else 0.0)).astype(np.int8)

    def _decision_method(self) -> str:
        has_decisions = hasattr(self._base_estimator(), "decision_function")
        sign = self.decision == "sign" or (self.decision == "auto" and has_decisions)
        return "decision_function" if sign else "predict_proba"


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
