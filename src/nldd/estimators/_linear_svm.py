"""LIBSVM's support vector machine with a linear kernel, fitted from a Gram matrix."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from nldd._base import read_weights
from nldd._sklearn import Interval, validate_data, validate_parameters
from nldd._sparse import to_canonical
from nldd.estimators._gram import Gram, gram_of
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]

# Decision values of pairs of classes that are looked at together: 32 megabytes.
MOST_VALUES = 4_000_000


@dataclass(frozen=True, eq=False)
class Problem:
    """What a machine is fitted to: rows with a weight above 0, and the numbers of their classes."""

    X: Any
    code: NDArray[np.intp]
    weight: FloatArray | None
    gram: Gram

    def part(self, rows: NDArray[np.intp]) -> "Problem":
        """The problem of some of the rows."""
        X, weight = self.X[rows], None if self.weight is None else self.weight[rows]
        return Problem(X, self.code[rows], weight, Gram(X, (self.gram, rows)))


def read_problem(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """Check the data of `fit`, and let the estimator remember sizes and classes."""
    gram = gram_of(X)
    X, y = validate_data(estimator, to_canonical(X), y, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    weight = read_weights(sample_weight, X)
    if weight is not None and not weight.all():
        # LIBSVM forgets rows of weight 0; so must all else.
        X, y, weight, gram = X[weight > 0], y[weight > 0], weight[weight > 0], None
    estimator.classes_, code = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        name, only = type(estimator).__name__, estimator.classes_[0]
        raise InputError(f"{name} needs two classes; y has one class only: {only}.")
    return Problem(X, code, weight, gram or Gram(X))


def read_rows(estimator: Any, X: Any) -> Any:
    """Check the rows of `predict`."""
    check_is_fitted(estimator)
    options = {"accept_sparse": "csr", "dtype": np.float64, "reset": False}
    return validate_data(estimator, to_canonical(X), **options)


def fit_svc(
    gram: Gram, code: NDArray[np.intp], weight: FloatArray | None, C: float, tol: float
) -> SVC:
    """LIBSVM's machine, from inner products where there are few enough rows."""
    kernel, X = ("precomputed", gram.matrix) if gram.is_small else ("linear", gram.X)
    with config_context(assume_finite=True):  # X was looked at before
        return SVC(kernel=kernel, C=C, tol=tol).fit(X, code, sample_weight=weight)


def hyperplane(machine: SVC, X: Any) -> tuple[FloatArray, FloatArray]:
    """Coefficients, of shape (1, n_features), and intercept of a machine fitted to two classes."""
    return _product(_dense(machine.dual_coef_), X[machine.support_]), machine.intercept_


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if issparse(values) else values)


def _product(A: Any, B: Any) -> FloatArray:
    return np.asarray(safe_sparse_dot(A, B, dense_output=True))


def decision_values(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Signed distance of each row to the hyperplane, in units of the margin."""
    return _product(X, coef.T).ravel() + intercept[0]


class LinearSVM(ClassifierMixin, BaseEstimator):
    """LIBSVM's C-SVC with a linear kernel, of two classes or of more, each against each.

    Fits the machine of ``SVC(kernel="linear")`` in less time: from inner products of the rows,
    which a method shares between all of its labels, as long as there are at most 8,000 rows.

    Parameters
    ----------
    C : float, default=1.0
        The penalty of margin violations.
    tol : float, default=1e-3
        Stopping tolerance of the solver.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Only of two classes.
    support_vectors_, dual_coef_, n_support_ : as in :class:`sklearn.svm.SVC`, only of more classes
    intercept_ : ndarray of shape (n_pairs,)
        One for each pair of classes.
    classes_, n_features_in_ : as in :class:`sklearn.svm.SVC`

    Notes
    -----
    Of more than two classes, those win that win most pairs; of equals, the first.

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
        P = read_problem(self, X, y, sample_weight)
        machine = fit_svc(P.gram, P.code, P.weight, self.C, self.tol)
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = hyperplane(machine, P.X)
            return self
        self.support_vectors_ = P.X[machine.support_]
        self.dual_coef_ = _dense(machine.dual_coef_)
        self.n_support_, self.intercept_ = machine.n_support_, machine.intercept_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class on whose side of the hyperplane a row lies, or which wins most pairs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        # A value of 0 is for the second class, as in LIBSVM.
        winner = (values >= 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance to the hyperplane, in units of the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes)
            Of more than two classes, how many pairs each wins.
        """
        X = read_rows(self, X)
        if len(self.classes_) == 2:
            return decision_values(X, self.coef_, self.intercept_)
        return self._votes(X)

    def _votes(self, X: Any) -> FloatArray:
        n_classes, n_pairs = len(self.classes_), len(self.intercept_)
        of_pairs = self._pair_coefficients()
        if n_pairs <= of_pairs.shape[0]:
            of_pairs = _product(self.support_vectors_.T, of_pairs)
        else:  # as labelsets have it: coefficients of all pairs would take gigabytes
            X = _product(X, self.support_vectors_.T)
        votes = np.zeros((X.shape[0], n_classes))
        for rows in gen_batches(X.shape[0], max(1, MOST_VALUES // n_pairs)):
            is_first = _product(X[rows], of_pairs) + self.intercept_ > 0
            start = 0
            for first in range(n_classes - 1):
                pairs = is_first[:, start : start + n_classes - 1 - first]
                votes[rows, first] += pairs.sum(axis=1)
                votes[rows, first + 1 :] += ~pairs
                start += pairs.shape[1]
        return votes

    def _pair_coefficients(self) -> Any:
        """Weight of each support vector in the decision about each pair of classes, sparse.

        Row r of `dual_coef_` is about the r-th of the classes other than the vector's own.
        """
        n_classes, n_vectors = len(self.classes_), self.dual_coef_.shape[1]
        own = np.repeat(np.arange(n_classes), self.n_support_)
        row = np.arange(n_classes - 1)[:, np.newaxis]
        other = row + (row >= own)
        first, second = np.minimum(own, other), np.maximum(own, other)
        pair = first * (2 * n_classes - first - 1) // 2 + second - first - 1
        vector = np.broadcast_to(np.arange(n_vectors), pair.shape)
        shape = n_vectors, len(self.intercept_)
        return csr_array((self.dual_coef_.ravel(), (vector.ravel(), pair.ravel())), shape=shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
