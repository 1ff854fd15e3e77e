"""Logistic regression of each label, all labels at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import singledispatch
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.extmath import safe_sparse_dot

from nldd._base import MultiLabelClassifier, Training, by_rows
from nldd._validation import Interval, StrOptions, validate_parameters
from nldd._wording import progress
from nldd.exceptions import InputError, warn_caller
from nldd.linear._features import (
    FeatureMap,
    Features,
    PrincipalAxes,
    learn_features,
    principal_axes,
)
from nldd.linear._passes import DensePasses, SparsePasses
from nldd.linear._solver import FloatArray, Solution, Solver

LabelsBefore = tuple[NDArray[Any], NDArray[np.intp]]
Intercept = Literal["free", "penalised", "none"]

# Log-odds that make a probability exactly 0 or 1: those of a label that is the same in all rows.
CERTAIN = 1000.0
# The Newton decrement at which a label has converged, in units of `tol`. Half of it bounds how far
# probabilities move in a step near the optimum, and about a tenth of a step is left over after it;
# but far out on the log-odds scale a step is not yet that small, so there is room.
DECREMENTS = 3.0
# Of problems with fewer numbers in X than that, which take no time: equal data give equal answers,
# in whatever form they come.
MANY, TOL_OF_FEW = 4_000, 1e-10
# Numbers in X from which on several threads do more than get in each other's way, and labels that
# keep one of them busy.
WORTH_THREADS, LEAST_BATCH = 300_000, 8


def with_columns(X: Any, further: NDArray[Any]) -> Any:
    """`X` with more columns behind; sparse stays sparse."""
    if not further.shape[1]:
        return X
    if issparse(X):
        return hstack([X, csr_matrix(further, dtype=X.dtype)], format="csr")
    return np.hstack([X, further.astype(X.dtype)])


def log_odds(positive: Any, total: float, C: FloatArray) -> FloatArray:
    """Those of each label without features: where a fit starts that has nothing better."""
    return np.log(C[:, 1] * positive) - np.log(C[:, 0] * (total - positive))


def fit_logistic(
    X: Any,
    Y: NDArray[np.int8],
    weight: FloatArray,
    C: FloatArray,
    *,
    start: FloatArray | None = None,
    intercept: Intercept = "free",
    before: LabelsBefore | None = None,
    quick: bool = False,
    tol: float = 1e-4,
    n_jobs: int | None = None,
    **options: Any,
) -> Solution:
    """Coefficients of labels that all vary, the intercept last.

    `C` has shape (n_labels, 2): how much a row without the label counts, and one with it. In
    `start`, a row of NaN is a label without a start. `before` are further columns of X, and how
    many of them each label may use. A `quick` fit is one of many: dense rows are not turned, and
    small problems solved no further than others. Further options are those of :func:`solve`.
    """
    further, n_usable = before or (np.empty((len(Y), 0)), np.zeros(Y.shape[1], dtype=int))
    d, n_labels = X.shape[1], Y.shape[1]
    initial = np.zeros((n_labels, d + further.shape[1] + 1))
    initial[:, -1] = log_odds(weight @ Y, weight.sum(), C)
    axes = None if quick else principal_axes(X, weight, centred=intercept == "free")
    if axes is not None:
        X = axes.turned(X)
    rows = (SparsePasses if issparse(X) else DensePasses)(with_columns(X, further), Y, weight, C)
    del X  # of dense rows there is a copy, with a column for the intercept
    if rows.size < MANY and not quick:
        tol = min(tol, TOL_OF_FEW)
    n_workers = 1
    if rows.size * rows.cost >= WORTH_THREADS:
        n_workers = min(effective_n_jobs(n_jobs), cpu_count(), -(-n_labels // LEAST_BATCH))
    usable = np.arange(initial.shape[1]) < (d + n_usable)[:, np.newaxis]
    options.update(axes=axes, tol=tol, n_workers=n_workers)
    return solve(rows, initial, start, usable, C, intercept, **options)


def run_batches(
    run: Callable[[Any], Iterator[int]], batches: list[Any], n_workers: int
) -> Iterator[int]:
    """Run the batches, some at a time; what comes out of them comes out."""
    if n_workers == 1:  # a thread takes longer to start than a small problem to solve
        for batch in batches:
            yield from run(batch)
        return
    with ThreadPoolExecutor(n_workers) as pool:
        for ended in pool.map(lambda batch: list(run(batch)), batches):
            yield from ended


def solve(
    rows: Any,
    initial: FloatArray,
    start: FloatArray | None,
    usable: NDArray[np.bool_],
    C: FloatArray,
    intercept: Intercept,
    *,
    axes: PrincipalAxes | None,
    tol: float,
    max_iter: int = 100,
    title: str | None = None,
    n_workers: int = 1,
) -> Solution:
    """Coefficients from passes over `rows`, turned to the `axes` where there are any."""
    n_labels, p = initial.shape
    usable[:, -1] = intercept != "none"
    initial[:, -1] *= usable[:, -1]
    ridge = np.append(np.ones(p - 1), float(intercept == "penalised"))
    enough = (DECREMENTS * tol) ** 2 * np.minimum(C.min(axis=1), 1)

    def run(W: FloatArray) -> Solution:
        W = np.array(W) if axes is None else axes.coefficients_there(W)
        found = Solution(W, np.zeros(n_labels, dtype=np.int64), np.zeros(n_labels, dtype=bool))

        def run_batch(u: NDArray[np.intp]) -> Iterator[int]:
            solver = Solver(rows, u, W[u], ridge, usable[u], enough[u], max_iter)
            yield from solver.run()
            W[u], found.n_iter[u], found.converged[u] = solver.solution

        batches = np.array_split(np.arange(n_labels), rows.n_batches(n_labels, n_workers))
        for _ in progress(run_batches(run_batch, batches, n_workers), n_labels, title):
            pass
        return found if axes is None else found._replace(W=axes.coefficients_here(found.W))

    if start is None:
        return run(initial)
    found = run(np.where(np.isnan(start), initial, start))
    if not found.converged.all():
        # A start where probabilities are next to 0 or 1 can lead astray; without it none does.
        found = run(np.where(found.converged[:, np.newaxis], found.W, initial))
    return found


@singledispatch
def solve_labels(T: Any, columns: NDArray[np.intp], C: FloatArray, **options: Any) -> Solution:
    """Coefficients of the labels in these columns of T.Y, as by :func:`fit_logistic`."""
    raise TypeError(f"Logistic regression cannot be fitted to {type(T).__name__}.")


@solve_labels.register
def _(T: Training, columns: NDArray[np.intp], C: FloatArray, **options: Any) -> Solution:
    weight = np.ones(len(T)) if T.sample_weight is None else T.sample_weight
    return fit_logistic(T.X, T.Y[:, columns], weight, C, **options)


class MultiLabelLogisticRegression(MultiLabelClassifier):
    """Logistic regressions of all labels at once, each as if it were alone.

    Parameters
    ----------
    C : float or array-like of shape (n_labels,), default=1.0
        How much the data count against the penalty, for all labels or for each.
    intercept : {"free", "penalised", "none"}, default="free"
        Whether the intercept is left out of the penalty, or in it as in liblinear, or 0.
    class_weight : dict, "balanced" or None, default=None
        How much rows without a label count, and rows with it: ``{0: 1, 1: 5}``. "balanced" lets
        both count as much as half of the rows. For a 1-D target, weights of the classes.
    features : {"given", "normalised", "tfidf", "rbf"}, default="given"
        Rows as they are; of length 1; with columns weighted by their inverse document frequency
        first; or the features of a Gaussian kernel, see Notes.
    n_landmarks : int, default=250
        The most rows, and at most half of them, that features of a kernel are made with.
    tol : float, default=1e-4
        About how far probabilities may be from those of the optimum. Small problems, of less than
        4,000 numbers in X, are solved to 1e-10 or better.
    max_iter : int, default=100
        The most Newton iterations of a label.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit, if it had the same labels.
    n_jobs : int, default=None
        The number of threads; it changes no result.
    verbose : int, default=0
        Above 0, lines on standard output say how many labels have converged.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features), or (1, n_features) for two classes
        With features="rbf", one column for each landmark.
    intercept_ : ndarray of shape (n_labels,) or (1,)
    features_ : how rows become features, as learned from the training rows, or None
    n_iter_ : ndarray
        The Newton iterations of each label; 0 where it is constant.
    classes_ : ndarray
        The classes of a 1-D target, else the numbers of the labels.
    label_names_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    Each label minimises, over its coefficients w and intercept b::

        |w|^2 / 2 + C * sum over i of log(1 + exp(-s_i (w.x_i + b))),    s_i = +1 or -1

    by Newton's method with preconditioned conjugate gradients. Up to sixteen labels share a pass
    over the rows, and no label depends on another. For more than two classes of a 1-D target it is
    one against the rest, with probabilities that sum to one. A label that all training rows have,
    or none, has probability 1 or 0.

    With features="rbf", columns are divided by their standard deviation, and features are such
    that the product of two rows is about ``exp(-|x - x'|^2 / 2d)`` for d columns: Nystroem's
    method, with landmarks drawn from the training rows, the same at each fit. They want a larger
    `C`, such as 5, and so do rows of length 1.

    A fit has converged when the Newton decrement, the length of the last step in the metric of the
    Hessian, is so small that no training row's probability can move by more than `tol` or so.

    Examples
    --------
    >>> from nldd.linear import MultiLabelLogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = MultiLabelLogisticRegression().fit(X, [{"low"}, {"low", "even"}, {"even"}, set()])
    >>> model.predict([[-9.0], [9.0]])
    array([[0, 1],
           [0, 0]])
    >>> model.predict_proba([[1.0]]).round(2)
    array([[0.5 , 0.62]])
    """

    features_: FeatureMap | None = None  # which models of older files do not have

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "intercept": [StrOptions({"free", "penalised", "none"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "features": [StrOptions({"given", "normalised", "tfidf", "rbf"})],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        C: Any = 1.0,
        intercept: Intercept = "free",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        features: Features = "given",
        n_landmarks: int = 250,
        tol: float = 1e-4,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.intercept = intercept
        self.class_weight = class_weight
        self.features = features
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @validate_parameters(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or labels in another form that :meth:`nldd.BinaryRelevance.fit` takes.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        names, start = getattr(self, "label_names_", ()), self.coefficients()
        T = self._read_training(X, y, sample_weight)
        is_alike = start is not None and start.shape[1] == T.n_features + 1
        is_alike = is_alike and np.array_equal(names, self.label_names_)
        return self._fit_labels(T, start if self.warm_start and is_alike else None)

    def fit_checked(
        self,
        T: Any,
        label_names: NDArray[np.object_],
        start: FloatArray | None = None,
        before: LabelsBefore | None = None,
        **options: Any,
    ) -> Self:
        """Fit to data that another estimator of nldd has checked: serves nldd itself.

        Parameters
        ----------
        T : training data in memory, or in blocks
        label_names : ndarray of shape (n_labels,)
        start : ndarray of shape (n_labels, n_features + 1), default=None
            Coefficients to start from, the intercept last; a row of NaN is a label without a start.
        before : tuple of ndarray, default=None
            Further columns, and how many of them each label may use, as in a chain.
        **options : dict
            The workers of that estimator, and the title of its lines of progress.

        Returns
        -------
        self : the fitted estimator
        """
        self._remember_labels(label_names)
        self.n_features_in_ = T.n_features + (before[0].shape[1] if before else 0)
        return self._fit_labels(T, start, before, **options)

    def _fit_labels(
        self,
        T: Any,
        start: FloatArray | None = None,
        before: LabelsBefore | None = None,
        n_jobs: int | None = None,
        title: str | None = None,
    ) -> Self:
        self.features_ = learn_features(T, self.features, self.n_landmarks)
        if self.features_ is not None:
            T = replace(T, X=self.features_(T.X))
            start = start if self.features_.keeps_features else None
        columns = np.arange(int(self._is_binary()), self.n_labels_)
        positives = T.positives[columns]
        varies = (positives > 0) & (positives < len(T))
        W = np.zeros((len(columns), T.n_features + (before[0].shape[1] if before else 0) + 1))
        W[:, -1] = np.where(positives > 0, CERTAIN, -CERTAIN)
        self.n_iter_ = np.zeros(len(W), dtype=np.int64)
        if varies.any():
            T = self._weight_classes(T)
            solution = solve_labels(
                T,
                columns[varies],
                self._costs(T, columns)[varies],
                start=None if start is None else start[varies],
                before=before and (before[0], before[1][varies]),
                intercept=self.intercept,
                tol=self.tol,
                max_iter=self.max_iter,
                title=title or ("logistic regressions" if self.verbose else None),
                n_jobs=n_jobs if self.n_jobs is None else self.n_jobs,
            )
            W[varies], self.n_iter_[varies] = solution.W, solution.n_iter
            self._warn_of(np.flatnonzero(varies)[~solution.converged])
        self.coef_, self.intercept_ = W[:, :-1], W[:, -1]
        return self

    def _weight_classes(self, T: Any) -> Any:
        """T whose rows have the weights of their classes too; those of labels are costs."""
        if self.class_weight is None or not self.single_label_:
            return T
        weight = compute_sample_weight(self.class_weight, self.classes_[T.Y.argmax(axis=1)])
        return replace(
            T, sample_weight=weight if T.sample_weight is None else weight * T.sample_weight
        )

    @by_rows
    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of each label, or of the second of two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for two classes
        """
        Z = self._log_odds(self._validate_predict(X))
        return Z[:, 1] if self._is_binary() else Z

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Labels more probable than not, or the likeliest class.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) for a 1-D target
        """
        Z = self._log_odds(self._validate_predict(X))
        return self._answer(Z if self.single_label_ else Z > 0)

    @by_rows
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each label; those of classes sum to one.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        return self._answer_proba(expit(self._log_odds(self._validate_predict(X))))

    def _log_odds(self, X: Any) -> FloatArray:
        """One column a label, for two classes too."""
        Z = np.asarray(safe_sparse_dot(self.mapped(X), self.coef_.T), dtype=np.float64)
        Z += self.intercept_
        return np.hstack([-Z, Z]) if self._is_binary() else Z

    def mapped(self, X: Any) -> Any:
        """Rows as they are weighed by the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        {ndarray, CSR} of shape (n_samples, n_coefficients)
        """
        return X if self.features_ is None else self.features_(X)

    def coefficients(self) -> FloatArray | None:
        """Those of the last fit, the intercept last.

        Returns
        -------
        ndarray of shape (n_labels, n_features + 1), or None before the first fit
            NaN of labels that were constant.
        """
        if not hasattr(self, "coef_"):
            return None
        is_constant = np.abs(self.intercept_) == CERTAIN
        W = np.column_stack([self.coef_, self.intercept_])
        return np.where(is_constant[:, np.newaxis], np.nan, W)

    def _costs(self, T: Any, columns: NDArray[np.intp]) -> FloatArray:
        """C times the class weights: of rows without each label, and of rows with it."""
        n_labels = len(columns)
        C = np.asarray(self.C, dtype=np.float64)
        if C.shape not in ((), (n_labels,)) or not (np.isfinite(C).all() and (C > 0).all()):
            raise InputError(
                f"C must be a positive number, or one for each of the {n_labels} labels; "
                f"got {self.C!r}."
            )
        costs = np.ones((n_labels, 2))
        if self.single_label_ or self.class_weight is None:
            pass  # classes weigh the rows
        elif isinstance(self.class_weight, str):
            weight = T.sample_weight
            positive = (T.positives if weight is None else weight @ T.Y)[columns]
            total = len(T) if weight is None else weight.sum()
            both = np.column_stack([total - positive, positive])
            costs = np.divide(total / 2, both, out=costs, where=both > 0)
        elif set(self.class_weight) <= {0, 1}:
            costs *= [self.class_weight.get(value, 1.0) for value in (0, 1)]
        else:
            raise InputError(
                "class_weight must have the keys 0, for rows without a label, and 1, for rows "
                f"with it; got {list(self.class_weight)!r}."
            )
        return np.reshape(C, (-1, 1)) * costs

    def _warn_of(self, labels: NDArray[np.intp]) -> None:
        if len(labels):
            names = ", ".join(repr(name) for name in self.label_names_[labels[:5]].tolist())
            more = f" and {len(labels) - 5} more" * (len(labels) > 5)
            warn_caller(
                f"Logistic regression has not converged for {names}{more} in "
                f"max_iter={self.max_iter} iterations: scale the features, or allow more.",
                ConvergenceWarning,
            )

    def _remember_labels(self, names: NDArray[np.object_], single: bool = False) -> None:
        super()._remember_labels(names, single)
        if not self.single_label_:  # as scikit-learn has it where there are decision values
            self.classes_ = np.arange(max(2, self.n_labels_))

    def _is_binary(self) -> bool:
        """Whether there are two classes, which one set of coefficients tells apart."""
        return bool(self.single_label_ and self.n_labels_ == 2)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")
