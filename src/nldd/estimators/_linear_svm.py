"""LIBSVM's support vector machine with a linear kernel, fitted from inner products of the rows."""

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import linear_kernel
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from nldd._base import read_weights
from nldd._sklearn import Interval, validate_data, validate_parameters
from nldd._sparse import to_canonical

FloatArray = NDArray[np.float64]
Solver = Literal["libsvm", "liblinear"]

# The inner products of more rows would take more than half a gigabyte.
MOST_ROWS = 8_000


def make_linear_svc(
    C: float = 1.0, solver: Solver = "libsvm", tol: float = 1e-3, random_state: Any = None
) -> "LinearSVM | LinearSVC":
    """A linear support vector machine with hinge loss, not fitted."""
    if solver == "libsvm":
        return LinearSVM(C, tol=tol)
    options = {"loss": "hinge", "dual": True, "max_iter": 10_000, "random_state": random_state}
    return LinearSVC(C=C, tol=tol, **options)


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, NDArray[Any], FloatArray]:
    """Check the data of `fit`: rows with a weight above 0, their classes and their weights."""
    X, y = validate_data(estimator, to_canonical(X), y, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    weight = read_weights(sample_weight, X)
    if weight is None:
        return X, y, np.ones(len(y))
    # LIBSVM forgets rows of weight 0, but then counts its support vectors without them.
    used = weight > 0
    return (X, y, weight) if used.all() else (X[used], y[used], weight[used])


def read_rows(estimator: Any, X: Any) -> Any:
    """Check the rows of `predict`."""
    check_is_fitted(estimator)
    options = {"accept_sparse": "csr", "dtype": np.float64, "reset": False}
    return validate_data(estimator, to_canonical(X), **options)


class LinearSVM(ClassifierMixin, BaseEstimator):
    """``SVC(kernel="linear")``, fitted in less time.

    Inner products of all rows are worked out at once, not one by one as LIBSVM asks for them,
    as long as there are at most 8,000 rows.

    Parameters
    ----------
    C : float, default=1.0
        The penalty of margin violations.
    tol : float, default=1e-3
        Stopping tolerance of the solver.

    Attributes
    ----------
    machine_ : SVC
        The fitted machine of scikit-learn.
    classes_, n_features_in_ : as in :class:`sklearn.svm.SVC`

    Examples
    --------
    >>> from nldd.estimators._linear_svm import LinearSVM
    >>> model = LinearSVM().fit([[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "c"])
    >>> model.predict([[0.5], [4.5], [8.0]])
    array(['a', 'b', 'c'], dtype='<U1')
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, C: float = 1.0, *, tol: float = 1e-3) -> None:
        self.C = C
        self.tol = tol

    @validate_parameters(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), two classes or more
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for its row; 0 leaves it out.

        Returns
        -------
        self : the fitted estimator
        """
        X, y, weight = read_training(self, X, y, sample_weight)
        kernel = linear_kernel if len(y) <= MOST_ROWS else "linear"
        self.machine_ = SVC(kernel=kernel, C=self.C, tol=self.tol).fit(X, y, sample_weight=weight)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row; of more than two, the one that wins most pairs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = read_rows(self, X)
        return np.asarray(self.machine_.predict(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of :class:`sklearn.svm.SVC`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        X = read_rows(self, X)
        return np.asarray(self.machine_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
