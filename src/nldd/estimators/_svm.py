"""Linear support vector machines: one from inner products, and the paper's with probabilities."""

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import linear_kernel
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from nldd._base import read_weights
from nldd._validation import Interval, StrOptions, to_canonical, validate_data, validate_parameters
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]
Solver = Literal["libsvm", "liblinear"]

# The inner products of more rows would take more than half a gigabyte.
MOST_ROWS = 8_000
# Of Newton's method for the sigmoid, as in LIBSVM.
MAX_STEPS, GRADIENT_TOLERANCE, RIDGE, ARMIJO, CLIP = 100, 1e-5, 1e-12, 1e-4, 1e-7
STEPS = 0.5 ** np.arange(34)


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
    >>> from nldd.estimators._svm import LinearSVM
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


def fit_sigmoid(
    f: FloatArray, y: NDArray[np.int_], weight: FloatArray | None = None
) -> tuple[float, float]:
    """A and B in ``P(y = 1 | f) = 1 / (1 + exp(A f + B))``, with targets slightly inside (0, 1).

    Newton's method with step halving (Lin, Lin and Weng, 2007, Machine Learning 68).
    """
    weight = np.ones(len(y)) if weight is None else weight
    n_positive, n_negative = weight @ (y == 1), weight @ (y == 0)
    target = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(AB: FloatArray) -> float:
        z = AB[0] * f + AB[1]
        return float(weight @ (target * z + np.logaddexp(0, -z)))

    AB = np.array([0.0, np.log((n_negative + 1) / (n_positive + 1))])
    for _ in range(MAX_STEPS):
        p = expit(-(AB[0] * f + AB[1]))
        residual = weight * (target - p)
        gradient = np.array([residual @ f, residual.sum()])
        if np.abs(gradient).max() < GRADIENT_TOLERANCE:
            break
        curvature = weight * p * (1 - p)
        both = curvature @ f
        hessian = np.array([[curvature @ f**2, both], [both, curvature.sum()]]) + RIDGE * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        # The longest of the steps that lowers the loss enough.
        goals = zip(STEPS, loss(AB) + ARMIJO * float(gradient @ direction) * STEPS, strict=True)
        step = next((s for s, goal in goals if loss(AB + s * direction) < goal), None)
        if step is None:
            break
        AB = AB + step * direction
    return float(AB[0]), float(AB[1])


def sigmoid(f: FloatArray, A: float, B: float) -> FloatArray:
    """Probability of the positive class, kept a little away from 0 and 1."""
    return np.clip(expit(-(A * f + B)), CLIP, 1 - CLIP)


def decision_values(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Signed distance of each row to the hyperplane, in units of the margin."""
    return _product(X, coef.T).ravel() + intercept[0]


def _product(A: Any, B: Any) -> FloatArray:
    return np.asarray(safe_sparse_dot(A, B, dense_output=True))


def _check_two(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise InputError(f"PlattSVC needs two classes; y has one class only: {classes[0]}.")
    if len(classes) > 2:
        raise InputError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{len(classes)} classes. Use BinaryRelevance(PlattSVC()) for several labels."
        )


class PlattSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector machine with probabilities: the paper's recipe.

    That is LIBSVM's C-SVC with a linear kernel on unscaled features, and a sigmoid fitted to
    decision values from five-fold cross-validation.

    Parameters
    ----------
    C : float, default=1.0
        The penalty of margin violations.
    solver : {"libsvm", "liblinear"}, default="libsvm", which is the paper's
        "liblinear" adds a penalty on the intercept, and takes a fraction of the time.
    n_folds : int, default=5
        Folds of the cross-validation behind the sigmoid.
    tol : float, default=1e-3
        Stopping tolerance of the solver.
    random_state : int, RandomState or None, default=None
        Order of the rows before they are cut into folds, and in which liblinear visits them.

    Attributes
    ----------
    sigmoid_ : tuple of float
        A and B of the sigmoid.
    coef_, intercept_, classes_, n_features_in_ : as in :class:`sklearn.svm.LinearSVC`

    Notes
    -----
    With decision value ``f(x) = w.x + b``, the probability of the second class is
    ``1 / (1 + exp(A f(x) + B))``, while `predict` takes the sign of f: near the margin they may
    disagree. Folds are cut from a random order; if the rest has one class only, values are +-1.

    J. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. In Advances in Large Margin Classifiers, MIT Press.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import PlattSVC
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> y = (X.ravel() > 9).astype(int)
    >>> model = PlattSVC(random_state=0).fit(X, y)
    >>> model.predict([[2.0], [17.0]])
    array([0, 1])
    >>> bool(model.predict_proba([[17.0]])[0, 1] > 0.9)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"libsvm", "liblinear"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        solver: Solver = "libsvm",
        n_folds: int = 5,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.solver = solver
        self.n_folds = n_folds
        self.tol = tol
        self.random_state = random_state

    @validate_parameters(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine to all rows, and the sigmoid to out-of-fold decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), two classes
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for its row, and weighs it in the sigmoid; rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        X, y, weight = read_training(self, X, y, sample_weight)
        self.classes_, code = np.unique(y, return_inverse=True)
        _check_two(self.classes_)
        # LIBSVM would work out the same inner products again for each of the folds.
        use_products = self.solver == "libsvm" and len(y) <= MOST_ROWS
        K = linear_kernel(X) if use_products else None
        self.coef_, self.intercept_ = self._fit_machine(X, K, code, weight)
        self.sigmoid_ = fit_sigmoid(self._out_of_fold(X, K, code, weight), code, weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class on whose side of the hyperplane each row lies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of both classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        positive = sigmoid(self.decision_function(X), *self.sigmoid_)
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distance to the hyperplane, in units of the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return decision_values(read_rows(self, X), self.coef_, self.intercept_)

    def _fit_machine(
        self, X: Any, K: FloatArray | None, code: NDArray[np.intp], weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Coefficients and intercept, from the rows or from their inner products `K`."""
        if self.solver == "liblinear":
            machine = make_linear_svc(self.C, self.solver, self.tol, self.random_state)
            machine.fit(X, code, sample_weight=weight)
            return machine.coef_, machine.intercept_
        kernel, Z = ("linear", X) if K is None else ("precomputed", K)
        machine = SVC(kernel=kernel, C=self.C, tol=self.tol).fit(Z, code, sample_weight=weight)
        return _product(machine.dual_coef_, X[machine.support_]), machine.intercept_

    def _out_of_fold(
        self, X: Any, K: FloatArray | None, code: NDArray[np.intp], weight: FloatArray
    ) -> FloatArray:
        """Decision value of each row from a machine that was fitted without it."""
        order = check_random_state(self.random_state).permutation(len(code))
        values = np.empty(len(code))
        cuts = [i * len(code) // self.n_folds for i in range(1, self.n_folds)]
        for held_out in np.split(order, cuts):
            kept = np.delete(np.arange(len(code)), held_out)
            if (code[kept] == code[kept[0]]).all():
                values[held_out] = 2.0 * code[kept[0]] - 1
                continue
            of_kept = None if K is None else K[kept].take(kept, axis=1)
            machine = self._fit_machine(X[kept], of_kept, code[kept], weight[kept])
            values[held_out] = decision_values(X[held_out], *machine)
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
