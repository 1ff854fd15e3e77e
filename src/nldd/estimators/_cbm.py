"""Conditional Bernoulli mixtures: weighted logistic regressions, the weights depending on x."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit, log_softmax, logsumexp
from sklearn.utils import check_consistent_length, check_random_state, gen_batches

from nldd._parallel import delayed, do_all
from nldd._validation import Interval, StrOptions, validate_parameters
from nldd._wording import progress
from nldd.estimators._base_classifiers import ScoreClassifier, draw_share, take_columns
from nldd.estimators._decisions import best_f1
from nldd.estimators._mixture_modes import FloatArray, joint_modes, softplus
from nldd.linear._features import PrincipalAxes, principal_axes
from nldd.linear._logistic import fit_logistic
from nldd.linear._solver import fit_softmax

# Log-odds beyond this are certainty; labels that are constant in training get just that.
CERTAIN = 30.0
# Rows that a component explains less than this much of are not among those that it learns from.
NEGLIGIBLE = 1e-8
# About how far probabilities may be from the optimum of a maximisation, because the next one goes
# on from there. Not so with one component, nor with few numbers in X, which take no time: then
# equal data give equal answers in whatever form they come.
TOL, TIGHT_TOL, FEW = 1e-2, 1e-8, 4_000
BLOCK_ROWS = 512
# Of the first mixture of labels: smallest probability, most steps of EM, smallest relative gain.
CLIP, MAX_STEPS, TOLERANCE = 1e-12, 200, 1e-6


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights and biases of a linear model with several outputs.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
    bias : ndarray of shape (n_outputs,)

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.estimators._cbm import Weights
    >>> model = Weights(W=np.array([[1.0, 0.0]]), bias=np.array([0.5, -1.0]))
    >>> model.outputs(np.array([[2.0], [3.0]]))
    array([[ 2.5, -1. ],
           [ 3.5, -1. ]])
    """

    W: FloatArray
    bias: FloatArray

    def outputs(self, X: Any) -> FloatArray:
        """``X W + bias``, of shape (n_samples, n_outputs)."""
        Z = np.tile(self.bias, (X.shape[0], 1))
        # Most labels are constant in a component and have no slopes: no product is needed.
        sloped = np.flatnonzero(self.W.any(axis=0))
        Z[:, sloped] += X @ self.W[:, sloped]
        return Z

    def labelset_log_proba(self, X: Any, Y: FloatArray) -> FloatArray:
        """Log-probability of each row's labels, if they are independent with these log-odds."""
        is_sloped = self.W.any(axis=0)
        Z = np.asarray(X @ self.W[:, is_sloped]) + self.bias[is_sloped]
        Z, flat = (np.clip(z, -CERTAIN, CERTAIN) for z in (Z, self.bias * ~is_sloped))
        of_sloped = (Y[:, is_sloped] * Z - softplus(Z)).sum(axis=1)
        return np.asarray(of_sloped + Y @ flat - softplus(flat[~is_sloped]).sum())


def fit_bernoulli_mixture(
    Y: NDArray[np.int8], n_components: int, n_restarts: int, rng: np.random.RandomState
) -> FloatArray:
    """Responsibilities of a mixture of Bernoulli labels, without features, from the best start."""
    # Rows of equal labels have equal responsibilities, so the work is done once per labelset.
    labelsets, inverse, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    runs = [
        _expectation_maximisation(labelsets.astype(float), counts.astype(float), n_components, rng)
        for _ in range(n_restarts)
    ]
    _, gamma = max(runs, key=lambda run: run[0])
    return gamma[inverse.ravel()]


def _expectation_maximisation(
    Y: FloatArray, counts: FloatArray, n_components: int, rng: np.random.RandomState
) -> tuple[float, FloatArray]:
    """Log-likelihood and responsibilities after EM from one random start."""
    share = np.full(n_components, 1 / n_components)
    mu = rng.uniform(0.25, 0.75, size=(n_components, Y.shape[1]))
    previous = -np.inf
    for _ in range(MAX_STEPS):
        mu = np.clip(mu, CLIP, 1 - CLIP)
        off = np.log1p(-mu)
        gamma = Y @ (np.log(mu) - off).T + (np.log(share) + off.sum(axis=1))
        # A softmax by hand: of arrays as small as these, scipy's takes most of the time.
        top = gamma.max(axis=1)
        np.exp(gamma - top[:, np.newaxis], out=gamma)
        total = gamma.sum(axis=1)
        gamma /= total[:, np.newaxis]
        value = float(counts @ (np.log(total) + top))
        if value - previous <= TOLERANCE * abs(value):
            break
        previous = value
        weighted = gamma.T * counts
        total = weighted.sum(axis=1)
        share = np.maximum(total / counts.sum(), CLIP)
        mu = weighted @ Y / np.maximum(total, CLIP)[:, np.newaxis]
    return value, gamma


def label_log_odds(Y: NDArray[np.int8], gamma: FloatArray) -> FloatArray:
    """Log-odds of each label in each component, (K, L), if they do not depend on x."""
    on, total = gamma.T @ Y.astype(np.float64), gamma.sum(axis=0)[:, np.newaxis]
    with_label, without = np.log(np.maximum([on, total - on], np.finfo(np.float64).tiny))
    return np.clip(with_label - without, -CERTAIN, CERTAIN)


def fit_component(
    X: Any,
    Y: NDArray[np.int8],
    gamma: FloatArray,
    model: Weights,
    flat: FloatArray,
    variance: float,
    tol: float,
    max_iter: int,
) -> Weights:
    """Fit logistic regressions of all labels, weighted by `gamma`, starting from `model`.

    A label that is constant in all rows that count has no slopes, and log-odds as in `flat`.
    """
    rows = np.flatnonzero(gamma > NEGLIGIBLE)
    X, Y, weight = X[rows], Y[rows], gamma[rows]
    fitted = Weights(np.zeros_like(model.W), flat)
    varies = np.flatnonzero((Y[0] != Y).any(axis=0))
    if not len(varies):
        return fitted
    # Features that no row has get no weight.
    features = np.unique(X.indices) if issparse(X) else np.arange(X.shape[1])
    X, Y = take_columns(X, features), Y[:, varies]
    learned = np.column_stack([model.W[np.ix_(features, varies)].T, model.bias[varies]])
    without_slopes = np.zeros_like(learned)
    without_slopes[:, -1] = flat[varies]
    problem = X, Y, weight, np.full((len(varies), 2), 2 * variance)
    # If the weights have changed much, what was learned is a worse start than nothing.
    start = _better(learned, without_slopes, *problem)
    options: dict[str, Any] = {"quick": True, "tol": tol, "max_iter": max_iter, "n_jobs": 1}
    A = fit_logistic(*problem, start=start, **options).W
    # The last of `max_iter` steps may have gone too far: then the label stays where it was.
    A = _better(A, start, *problem)
    fitted.W[np.ix_(features, varies)], fitted.bias[varies] = A[:, :-1].T, A[:, -1]
    return fitted


def _better(
    A: FloatArray, B: FloatArray, X: Any, Y: NDArray[np.int8], weight: FloatArray, C: FloatArray
) -> FloatArray:
    """Choose for each label the coefficients with the smaller loss."""
    losses = []
    for W, bias in ((A[:, :-1], A[:, -1]), (B[:, :-1], B[:, -1])):
        Z = np.asarray(X @ W.T) + bias
        penalty = np.square(W).sum(axis=1) / (2 * C[:, 0])
        losses.append(weight @ (np.logaddexp(0, Z) - Y * Z) + penalty)
    return np.where((losses[0] <= losses[1])[:, np.newaxis], A, B)


def turned_back(model: Weights, axes: PrincipalAxes) -> Weights:
    """Turn a model back to the original axes; outputs without slopes keep none."""
    sloped = model.W.any(axis=0)
    A = axes.coefficients_here(np.vstack([model.W, model.bias]).T).T
    return Weights(A[:-1] * sloped, A[-1])


class ConditionalBernoulliMixture(ScoreClassifier):
    """Mixture of independent logistic regressions, with weights that depend on x (CBM).

    Parameters
    ----------
    n_components : int, default=20
        The number K of components.
    n_iterations : int, default=10
        Iterations of expectation and maximisation.
    variance : float, default=1.0
        Variance of the Gaussian prior of all weights; biases are free.
    predictor : {"joint", "marginal", "expected_f", "support"}, default="joint"
        The most probable labelset, exactly; labels more probable than not; the labelset of largest
        expected F-measure; the most probable *training* labelset.
    inner_steps : int, default=15
        The most steps of Newton's method in each maximisation.
    n_restarts : int, default=10
        Random starts of the mixture of labels that the fit starts from.
    feature_fraction : float in (0, 1], default=1.0
        The share of the features to draw and use.
    n_jobs, random_state, verbose : as in BinaryRelevance, with components for labels

    Attributes
    ----------
    gating_ : Weights
        The linear model of the components' weights, K outputs.
    estimators_ : list of Weights
        Linear models of the labels in each component, L outputs each.
    objective_ : ndarray of shape (n_iterations + 1,)
        The loss, which never rises (see Notes).
    features_ : ndarray
        The columns of `X` that are used.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
    allow_empty_ : bool
        True if training had the empty labelset, which is then predicted too.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    The model is::

        p(y | x) = sum over k of pi_k(x) * product over l of b_kl(x)^y_l (1 - b_kl(x))^(1 - y_l)

    with pi(x) a softmax and b_kl(x) sigmoids of linear functions of x. Weights w of the labels are
    penalised with ``|w|^2 / (4 variance)``, those of the components with ``|a|^2 / (2 variance)``,
    as in the authors' program.

    `predict_proba` gives the marginal probability of each label, moved to the side of 1/2 that the
    prediction is on.

    A component learns from the rows that it explains to a part of 1e-8 or more. What the others
    add to the objective is not looked at: it may rise by that little, which hides in rounding.

    C. Li, B. Wang, V. Pavlu and J. Aslam (2016). Conditional Bernoulli mixtures for multi-label
    classification. International Conference on Machine Learning, 2482-2491.

    Examples
    --------
    >>> from nldd import ConditionalBernoulliMixture, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = ConditionalBernoulliMixture(n_components=3, n_iterations=3, random_state=0)
    >>> model.fit(X[:500], Y[:500]).predict(X[500:501])
    array([[0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]])
    """

    gating_: Weights
    estimators_: list[Weights]
    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_iterations": [Interval(Integral, 0, None, closed="left")],
        "variance": [Interval(Real, 0, None, closed="neither")],
        "predictor": [StrOptions({"joint", "marginal", "expected_f", "support"})],
        "inner_steps": [Interval(Integral, 1, None, closed="left")],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "feature_fraction": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_components: int = 20,
        n_iterations: int = 10,
        variance: float = 1.0,
        predictor: Literal["joint", "marginal", "expected_f", "support"] = "joint",
        inner_steps: int = 15,
        n_restarts: int = 10,
        feature_fraction: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_iterations = n_iterations
        self.variance = variance
        self.predictor = predictor
        self.inner_steps = inner_steps
        self.n_restarts = n_restarts
        self.feature_fraction = feature_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @validate_parameters(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the mixture by generalised EM.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.

        Returns
        -------
        self : the fitted estimator
        """
        T = self._validate_fit(X, y)
        rng = check_random_state(self.random_state)
        self.features_ = draw_share(T.X.shape[1], self.feature_fraction, rng)
        self.labelsets_ = np.unique(T.Y, axis=0)
        self.allow_empty_ = not self.labelsets_.any(axis=1).all()
        X = take_columns(T.X, self.features_).astype(np.float64)
        # Axes in which all maximisations are easy: of dense features, if they are not many.
        axes = principal_axes(X, np.ones(len(T)), centred=True)
        gamma = fit_bernoulli_mixture(T.Y, self.n_components, self.n_restarts, rng)
        X = X if axes is None else axes.turned(X)
        d, K, L = X.shape[1], self.n_components, self.n_labels_
        self.gating_ = Weights(np.zeros((d, K)), np.zeros(K))
        self.estimators_ = [Weights(np.zeros((d, L)), np.zeros(L)) for _ in range(K)]
        self._maximise(X, T.Y, gamma)
        self.objective_ = np.empty(self.n_iterations + 1)
        gamma, self.objective_[0] = self._expect(X, T.Y)
        rounds = range(1, self.n_iterations + 1)
        for i in progress(rounds, len(rounds), "CBM" if self.verbose else None):
            self._maximise(X, T.Y, gamma)
            gamma, self.objective_[i] = self._expect(X, T.Y)
        if axes is not None:
            self.gating_ = turned_back(self.gating_, axes)
            self.estimators_ = [turned_back(model, axes) for model in self.estimators_]
        return self

    def labelset_log_proba(self, X: Any, Y: Any) -> FloatArray:
        """``log p(y | x)`` of each row with its labelset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = take_columns(self._validate_predict(X), self.features_)
        labels = self._read_known_labels(Y)
        check_consistent_length(X, labels)
        return np.asarray(logsumexp(self._log_joint(X, labels.astype(float)), axis=1))

    def _scores(self, X: Any) -> tuple[FloatArray, NDArray[Any]]:
        return self._in_blocks(self._marginals, X), self._labels(X)

    def _labels(self, X: Any) -> NDArray[Any]:
        return self._in_blocks(self._marginals if self.single_label_ else self._predict_block, X)

    def _expect(self, X: Any, Y: NDArray[np.int8]) -> tuple[FloatArray, float]:
        """Responsibilities, and the objective at the present weights."""
        joint = self._log_joint(X, Y.astype(np.float64))
        log_p = logsumexp(joint, axis=1)
        penalty = sum(np.square(model.W).sum() for model in self.estimators_) / 4
        penalty += np.square(self.gating_.W).sum() / 2
        return np.exp(joint - log_p[:, np.newaxis]), float(penalty / self.variance - log_p.sum())

    def _maximise(self, X: Any, Y: NDArray[np.int8], gamma: FloatArray) -> None:
        """A few steps of Newton's method for the gating and for the labels of each component."""
        busy = np.flatnonzero(gamma.max(axis=0) > NEGLIGIBLE)
        tol = TIGHT_TOL if self.n_components == 1 or X.size < FEW else TOL
        flat, settings = label_log_odds(Y, gamma), (self.variance, tol, self.inner_steps)
        tasks = (
            delayed(fit_component)(X, Y, gamma[:, k], self.estimators_[k], flat[k], *settings)
            for k in busy
        )
        for k, model in zip(busy, do_all(tasks, len(busy), self.n_jobs), strict=True):
            self.estimators_[k] = model
        if self.n_components > 1:
            A = np.vstack([self.gating_.W, self.gating_.bias])
            A = fit_softmax(X, gamma, self.variance, A, tol, self.inner_steps)
            self.gating_ = Weights(A[:-1], A[-1])

    def _mixture(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Log-weights (n, K) and log-odds (n, K, L) of the labels."""
        log_pi = log_softmax(self.gating_.outputs(X), axis=1)
        Z = np.stack([model.outputs(X) for model in self.estimators_], axis=1)
        return np.asarray(log_pi), np.clip(Z, -CERTAIN, CERTAIN)

    def _log_joint(self, X: Any, Y: FloatArray) -> FloatArray:
        """Log-probability of each row's component and labels together, (n, K)."""
        log_pi = log_softmax(self.gating_.outputs(X), axis=1)
        return log_pi + np.transpose([m.labelset_log_proba(X, Y) for m in self.estimators_])

    def _marginals(self, X: Any) -> FloatArray:
        log_pi, Z = self._mixture(X)
        return np.einsum("nk,nkl->nl", np.exp(log_pi), expit(Z))

    def _predict_block(self, X: Any) -> NDArray[np.int8]:
        if self.predictor == "marginal":
            return (self._marginals(X) >= 0.5).astype(np.int8)
        log_pi, Z = self._mixture(X)
        if self.predictor == "joint":
            return joint_modes(log_pi, Z, self.allow_empty_)
        terms = Z @ self.labelsets_.T - softplus(Z).sum(axis=2, keepdims=True)
        scores = logsumexp(terms + log_pi[:, :, np.newaxis], axis=1)
        if self.predictor == "support":
            return self.labelsets_[scores.argmax(axis=1)]
        G = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        return best_f1(G, self.labelsets_)

    def _in_blocks(self, function: Any, X: Any) -> NDArray[Any]:
        X = take_columns(X, self.features_)
        blocks = gen_batches(X.shape[0], BLOCK_ROWS)
        return np.concatenate([function(X[block]) for block in blocks])
