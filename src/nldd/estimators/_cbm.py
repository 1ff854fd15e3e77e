"""Conditional Bernoulli mixtures: independent labels within components that depend on x."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logsumexp
from sklearn.utils import check_consistent_length, check_random_state, gen_batches

from nldd._base import MultiLabelClassifier
from nldd._parallel import delayed, do_all
from nldd._progress import progress
from nldd._sklearn import Interval, StrOptions, validate_parameters
from nldd.estimators._best_labelset import best_expected_f, joint_mode
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]

# Log-odds beyond this are certainty; labels that are constant in training get just that.
CERTAIN = 30.0
# A component that explains less than this much of one row has nothing to learn from.
EMPTY = 1e-8
BLOCK_ROWS = 512
# Of the first mixture of labels: smallest probability, most steps of EM, smallest relative gain.
CLIP, MAX_STEPS, TOLERANCE = 1e-12, 200, 1e-6


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights and biases of a linear model with several outputs."""

    W: FloatArray
    bias: FloatArray

    def outputs(self, X: Any) -> FloatArray:
        """``X W + bias``, of shape (n_samples, n_outputs)."""
        return np.asarray(X @ self.W) + self.bias


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
    weight = np.full(n_components, 1 / n_components)
    mu = rng.uniform(0.25, 0.75, size=(n_components, Y.shape[1]))
    previous = -np.inf
    for _ in range(MAX_STEPS):
        mu = np.clip(mu, CLIP, 1 - CLIP)
        joint = np.log(weight) + Y @ np.log(mu).T + (1 - Y) @ np.log1p(-mu).T
        log_p = logsumexp(joint, axis=1)
        gamma = np.exp(joint - log_p[:, np.newaxis])
        value = float(counts @ log_p)
        if value - previous <= TOLERANCE * abs(value):
            break
        previous = value
        total = counts @ gamma
        weight = np.maximum(total / counts.sum(), CLIP)
        mu = (gamma * counts[:, np.newaxis]).T @ Y / np.maximum(total, CLIP)[:, np.newaxis]
    return value, gamma


def _log_likelihood(Y: FloatArray, Z: FloatArray) -> FloatArray:
    """Log-likelihood of each row's labels in each component, (n, K), from log-odds (n, K, L)."""
    return np.einsum("nl,nkl->nk", Y, Z) - np.logaddexp(0, Z).sum(axis=2)


def _label_loss(
    outputs: FloatArray, Y: FloatArray, gamma: FloatArray, varies: NDArray[np.bool_]
) -> tuple[float, FloatArray]:
    """Weighted logistic loss of all labels that vary, and its derivative by the outputs."""
    weight = gamma[:, np.newaxis] * varies
    loss = float((weight * (np.logaddexp(0, outputs) - Y * outputs)).sum())
    return loss, weight * (expit(outputs) - Y)


def _gating_loss(outputs: FloatArray, gamma: FloatArray) -> tuple[float, FloatArray]:
    """Cross-entropy of the components against the responsibilities, and its derivative."""
    log_pi = log_softmax(outputs, axis=1)
    return -float((gamma * log_pi).sum()), np.exp(log_pi) - gamma


def _descend(
    loss: Any, model: Weights, prior_variance: float, X: Any, transposed: Any, n_steps: int
) -> Weights:
    """At most `n_steps` of L-BFGS on the loss plus ``|W|^2 / (2 prior_variance)``."""
    shape = model.W.shape

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        W, bias = flat[: model.W.size].reshape(shape), flat[model.W.size :]
        value, slope = loss(np.asarray(X @ W) + bias)
        gradient = np.asarray(transposed @ slope) + W / prior_variance
        value += float(np.square(W).sum()) / (2 * prior_variance)
        return value, np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    start = np.concatenate([model.W.ravel(), model.bias])
    options = {"maxiter": n_steps, "maxcor": 5, "ftol": 1e-10}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return Weights(found.x[: model.W.size].reshape(shape), found.x[model.W.size :])


class ConditionalBernoulliMixture(MultiLabelClassifier):
    """Mixture of independent logistic regressions, with weights that depend on x (CBM).

    Parameters
    ----------
    n_components : int, default=20, the number K of components
    n_iterations : int, default=10, iterations of expectation and maximisation
    variance : float, default=1.0, that of the Gaussian prior of all weights; biases are free
    predictor : {"joint", "marginal", "expected_f", "support"}, default="joint"
        What is predicted: the most probable labelset, exactly; labels more probable than not; the
        labelset of largest expected F-measure; the most probable *training* labelset.
    inner_steps : int, default=15, steps of L-BFGS in each maximisation
    n_restarts : int, default=10, random starts of the mixture of labels that the fit starts from
    feature_fraction : float in (0, 1], default=1.0, the share of the features to draw and use
    n_jobs, random_state, verbose : as in BinaryRelevance, with components for labels

    Attributes
    ----------
    gating_ : Weights, the linear model of the components' weights, K outputs
    estimators_ : list of Weights, linear models of the labels in each component, L outputs each
    objective_ : ndarray of shape (n_iterations + 1,), the loss, which never rises
    features_ : ndarray, the columns of `X` that are used
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
    allow_empty_ : bool, whether training had the empty labelset, which is then predicted too
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    The model is::

        p(y | x) = sum over k of pi_k(x) * product over l of b_kl(x)^y_l (1 - b_kl(x))^(1 - y_l)

    with pi(x) a softmax and b_kl(x) sigmoids of linear functions of x. Weights w of the labels are
    penalised with ``|w|^2 / (4 variance)``, those of the components with ``|a|^2 / (2 variance)``,
    as in the authors' program. Truncated maximisation keeps the objective falling.

    References
    ----------
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
        predictor: str = "joint",
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
        """Fit the mixture by generalised EM; `X` and `y` are as in BinaryRelevance."""
        T = self._validate_fit(X, y)
        rng = check_random_state(self.random_state)
        n_chosen = max(1, round(self.feature_fraction * T.X.shape[1]))
        self.features_ = np.sort(rng.permutation(T.X.shape[1])[:n_chosen])
        self.labelsets_ = np.unique(T.Y, axis=0).astype(np.int64)
        self.allow_empty_ = bool((T.Y.sum(axis=1) == 0).any())
        X = self._chosen_features(T.X).astype(np.float64)
        Y = T.Y.astype(np.float64)

        gamma = fit_bernoulli_mixture(T.Y, self.n_components, self.n_restarts, rng)
        self._start(X.shape[1], Y)
        self._maximise(X, Y, gamma)
        objective = []
        rounds = range(self.n_iterations)
        for _ in progress(rounds, len(rounds), "CBM", show=self.verbose > 0):
            gamma, value = self._expect(X, Y)
            objective.append(value)
            self._maximise(X, Y, gamma)
        self.objective_ = np.array([*objective, self._expect(X, Y)[1]])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """What `predictor` asks for: an indicator array, or the likeliest class if 1-D."""
        X = self._chosen_features(self._validate_predict(X))
        predict = self._marginals if self.single_label_ else self._predict_block
        return self._answer(self._in_blocks(predict, X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Marginal probability of each label, on the side of 1/2 that `predict` takes."""
        X = self._chosen_features(self._validate_predict(X))
        P = self._in_blocks(self._marginals, X)
        Y_pred = None if self.single_label_ else self._in_blocks(self._predict_block, X)
        return self._answer_proba(P, Y_pred)

    def labelset_log_proba(self, X: Any, Y: Any) -> FloatArray:
        """``log p(y | x)`` of each row with its labelset."""
        X = self._chosen_features(self._validate_predict(X))
        labels = self._read_labels(Y).Y
        check_consistent_length(X, labels)
        if labels.shape[1] > self.n_labels_:
            raise InputError(
                f"Y must have the {self.n_labels_} labels that the model knows; "
                f"got {labels.shape[1]}."
            )
        log_pi, Z = self._mixture(X)
        joint = log_pi + _log_likelihood(labels.astype(float), Z)
        return np.asarray(logsumexp(joint, axis=1))

    def _start(self, n_features: int, Y: FloatArray) -> None:
        """All weights 0; constant labels are certain and stay so."""
        K, L = self.n_components, Y.shape[1]
        self._varies = (Y[0] != Y).any(axis=0)
        bias = np.where(self._varies, 0.0, CERTAIN * (2 * Y[0] - 1))
        self.gating_ = Weights(np.zeros((n_features, K)), np.zeros(K))
        self.estimators_ = [Weights(np.zeros((n_features, L)), bias) for _ in range(K)]

    def _expect(self, X: Any, Y: FloatArray) -> tuple[FloatArray, float]:
        """Responsibilities, and the objective at the present weights."""
        log_pi, Z = self._mixture(X)
        joint = log_pi + _log_likelihood(Y, Z)
        log_p = logsumexp(joint, axis=1)
        penalty = sum(np.square(model.W).sum() for model in self.estimators_) / 4
        penalty += np.square(self.gating_.W).sum() / 2
        return np.exp(joint - log_p[:, np.newaxis]), float(penalty / self.variance - log_p.sum())

    def _maximise(self, X: Any, Y: FloatArray, gamma: FloatArray) -> None:
        """A few descent steps for the gating and for the labels of each component."""
        transposed = X.T.tocsr() if hasattr(X, "tocsr") else X.T
        busy = [k for k in range(self.n_components) if gamma[:, k].sum() > EMPTY]
        descend = partial(_descend, X=X, transposed=transposed, n_steps=self.inner_steps)
        losses = (partial(_label_loss, Y=Y, gamma=gamma[:, k], varies=self._varies) for k in busy)
        tasks = (
            delayed(descend)(loss, self.estimators_[k], 2 * self.variance)
            for k, loss in zip(busy, losses, strict=True)
        )
        for k, model in zip(busy, do_all(tasks, len(busy), self.n_jobs), strict=True):
            self.estimators_[k] = model
        if self.n_components > 1:
            self.gating_ = descend(partial(_gating_loss, gamma=gamma), self.gating_, self.variance)

    def _mixture(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Log-weights (n, K) and log-odds (n, K, L) of the labels."""
        log_pi = log_softmax(self.gating_.outputs(X), axis=1)
        Z = np.stack([model.outputs(X) for model in self.estimators_], axis=1)
        return np.asarray(log_pi), np.clip(Z, -CERTAIN, CERTAIN)

    def _marginals(self, X: Any) -> FloatArray:
        log_pi, Z = self._mixture(X)
        return np.einsum("nk,nkl->nl", np.exp(log_pi), expit(Z))

    def _predict_block(self, X: Any) -> NDArray[np.int8]:
        if self.predictor == "marginal":
            return (self._marginals(X) >= 0.5).astype(np.int8)
        log_pi, Z = self._mixture(X)
        if self.predictor == "joint":
            mixtures = zip(log_pi, Z, strict=True)
            return np.array([joint_mode(*mixture, self.allow_empty_) for mixture in mixtures])
        terms = Z @ self.labelsets_.T - np.logaddexp(0, Z).sum(axis=2, keepdims=True)
        scores = logsumexp(terms + log_pi[:, :, np.newaxis], axis=1)
        if self.predictor == "support":
            return self.labelsets_[scores.argmax(axis=1)].astype(np.int8)
        G = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        return best_expected_f(G, self.labelsets_.astype(np.int8))

    def _chosen_features(self, X: Any) -> Any:
        return X if len(self.features_) == X.shape[1] else X[:, self.features_]

    def _in_blocks(self, function: Any, X: Any) -> NDArray[Any]:
        blocks = gen_batches(X.shape[0], BLOCK_ROWS)
        return np.concatenate([function(X[block]) for block in blocks])
