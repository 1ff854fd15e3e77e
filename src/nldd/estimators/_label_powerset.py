"""Label powerset: every labelset is one class of a multi-class problem."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import check_random_state

from nldd._sklearn import get_tags, validate_parameters
from nldd._training import Training
from nldd.estimators._base_choice import BaseEstimatorMixin, where_base_has_probabilities
from nldd.estimators._label_models import Prototype, ScoreClassifier, draw_seed, predict_scores


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
    >>> from nldd.estimators._label_powerset import Powerset
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
        if not self.estimators:
            return self.predict(X).astype(float)
        P = predict_scores(self.estimators[0], "predict_proba", X, len(self.labelsets))
        return np.asarray(P @ self.labelsets.astype(float))


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
        T = self._validate_fit(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
        self._powerset = fit_powerset(self._base_estimator(), T, draw_seed(rng))
        self.labelsets_ = self._powerset.labelsets
        self.estimators_ = self._powerset.estimators
        return self

    predict_proba = where_base_has_probabilities(ScoreClassifier.predict_proba)

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        return self._powerset.marginals(X), self._labels(X)

    def _labels(self, X: Any) -> NDArray[np.int8]:
        return self._powerset.predict(X)
