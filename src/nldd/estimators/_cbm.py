"""Conditional Bernoulli mixtures: how they are fitted, and the labelset to predict from one."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logsumexp
from sklearn.utils import check_consistent_length, check_random_state, gen_batches

from nldd._parallel import delayed, do_all
from nldd._progress import progress
from nldd._sklearn import Interval, StrOptions, validate_parameters
from nldd.estimators._label_models import PredictsFromScores, draw_share, take_columns

FloatArray = NDArray[np.float64]

# Log-odds beyond this are certainty; labels that are constant in training get just that.
CERTAIN = 30.0
# A component that explains less than this much of one row has nothing to learn from.
EMPTY = 1e-8
BLOCK_ROWS = 512
# Of the first mixture of labels: smallest probability, most steps of EM, smallest relative gain.
CLIP, MAX_STEPS, TOLERANCE = 1e-12, 200, 1e-6
# Probabilities all near 1/2 could ask for every labelset there is; then the best so far is taken.
MAX_POPS = 100_000


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

    def unpack(flat: FloatArray) -> Weights:
        return Weights(flat[: model.W.size].reshape(model.W.shape), flat[model.W.size :])

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        at = unpack(flat)
        value, slope = loss(at.outputs(X))
        gradient = np.asarray(transposed @ slope) + at.W / prior_variance
        value += float(np.square(at.W).sum()) / (2 * prior_variance)
        return value, np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    start = np.concatenate([model.W.ravel(), model.bias])
    options = {"maxiter": n_steps, "maxcor": 5, "ftol": 1e-10}
    return unpack(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x)


def falling_labelsets(z: FloatArray) -> Iterator[tuple[float, NDArray[np.int8]]]:
    """All labelsets of independent labels with log-odds `z`, by falling log-probability.

    The best one has the labels with z >= 0; flipping label l costs the size of z_l. Sets of flips
    come from a heap in order of cost. From one whose costliest flip is the i-th cheapest, two more
    are reached, each once: with the next flip added, or in place of the i-th.

    >>> [y.tolist() for _, y in falling_labelsets(np.array([2.0, -1.0]))]
    [[1, 0], [1, 1], [0, 0], [0, 1]]
    """
    best = (z >= 0).astype(np.int8)
    order = np.argsort(np.abs(z), kind="stable")
    cost = np.abs(z)[order].tolist()
    top = -float(np.logaddexp(0, -np.abs(z)).sum())
    yield top, best
    heap: list[tuple[float, int, tuple[int, ...]]] = [(cost[0], 0, (0,))] if cost else []
    while heap:
        total, last, flips = heappop(heap)
        y = best.copy()
        y[order[list(flips)]] ^= 1
        yield top - total, y
        if last + 1 < len(cost):
            heappush(heap, (total + cost[last + 1], last + 1, (*flips, last + 1)))
            swapped = total - cost[last] + cost[last + 1]
            heappush(heap, (swapped, last + 1, (*flips[:-1], last + 1)))


def joint_mode(log_pi: FloatArray, Z: FloatArray, allow_empty: bool = True) -> NDArray[np.int8]:
    """The most probable labelset of one mixture, by a threshold rule.

    Components list their labelsets from the most probable on, to be scored under the mixture. One
    not listed yet has at most the probability q_k of the last one listed in each, so once the best
    score reaches ``log of the sum of pi_k q_k`` nothing better is to come; that list goes on first
    which adds most to the bound.
    """
    lists = [falling_labelsets(z) for z in Z]
    bound = np.full(len(Z), np.inf)
    softplus = np.logaddexp(0, Z).sum(axis=1)
    best, best_score = np.zeros(Z.shape[1], dtype=np.int8), -np.inf
    seen: set[bytes] = set()
    for _ in range(MAX_POPS):
        k = int(np.argmax(bound + log_pi))
        log_probability, y = next(lists[k], (-np.inf, None))
        bound[k] = log_probability
        if y is not None and y.tobytes() not in seen:
            seen.add(y.tobytes())
            score = float(_logsumexp(Z @ y - softplus + log_pi))
            if score > best_score and (allow_empty or y.any()):
                best, best_score = y, score
        if best_score >= _logsumexp(bound + log_pi) - 1e-12:
            break
    return best


def _logsumexp(values: FloatArray) -> float:
    """As scipy's, without its generality: this is called for every labelset listed."""
    top = float(values.max())
    return top + float(np.log(np.exp(values - top).sum())) if np.isfinite(top) else top


def best_expected_f(G: NDArray[np.float64], labelsets: NDArray[np.int8]) -> NDArray[np.int8]:
    """Labelset of largest expected F-measure for each row of `G`, the labelsets' probabilities.

    With ``P[l, s]`` the probability that label l is on in a labelset of s labels, a prediction h of
    t labels has the expected F-measure ``sum over l in h of sum over s of 2 P[l, s] / (s + t)``,
    the empty one the probability of the empty labelset. (Dembczynski et al., 2011, NIPS 24.)

    >>> best_expected_f(np.array([[0.4, 0.3, 0.3]]), np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    array([[1, 1, 0]], dtype=int8)
    """
    sizes = labelsets.sum(axis=1)
    n_samples, n_labels = len(G), labelsets.shape[1]
    present = [s for s in np.unique(sizes) if s > 0]
    P = {s: G[:, sizes == s] @ labelsets[sizes == s].astype(float) for s in present}
    best = np.zeros((n_samples, n_labels), dtype=np.int8)
    best_value = G[:, sizes == 0].sum(axis=1)
    for t in range(1, n_labels + 1):
        terms = sum((2 * P[s] / (s + t) for s in present), np.zeros((n_samples, n_labels)))
        order = np.argsort(-terms, axis=1, kind="stable")[:, :t]
        value = np.take_along_axis(terms, order, axis=1).sum(axis=1)
        better = value > best_value
        best_value[better] = value[better]
        best[better] = 0
        best[np.flatnonzero(better)[:, np.newaxis], order[better]] = 1
    return best


class ConditionalBernoulliMixture(PredictsFromScores):
    """Mixture of independent logistic regressions, with weights that depend on x (CBM).

    Parameters
    ----------
    n_components : int, default=20, the number K of components
    n_iterations : int, default=10, iterations of expectation and maximisation
    variance : float, default=1.0, that of the Gaussian prior of all weights; biases are free
    predictor : {"joint", "marginal", "expected_f", "support"}, default="joint"
        The most probable labelset, exactly; labels more probable than not; the labelset of largest
        expected F-measure; the most probable *training* labelset.
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
    as in the authors' program.

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
        self.features_ = draw_share(T.X.shape[1], self.feature_fraction, rng)
        self.labelsets_ = np.unique(T.Y, axis=0).astype(np.int64)
        self.allow_empty_ = bool((T.Y.sum(axis=1) == 0).any())
        X, Y = take_columns(T.X, self.features_).astype(np.float64), T.Y.astype(np.float64)

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

    def labelset_log_proba(self, X: Any, Y: Any) -> FloatArray:
        """``log p(y | x)`` of each row with its labelset, in any form that `fit` takes."""
        X = take_columns(self._validate_predict(X), self.features_)
        labels = self._read_known_labels(Y)
        check_consistent_length(X, labels)
        return np.asarray(logsumexp(self._log_joint(X, labels.astype(float)), axis=1))

    def _scores(self, X: Any) -> tuple[FloatArray, NDArray[Any]]:
        return self._in_blocks(self._marginals, X), self._labels(X)

    def _labels(self, X: Any) -> NDArray[Any]:
        return self._in_blocks(self._marginals if self.single_label_ else self._predict_block, X)

    def _start(self, n_features: int, Y: FloatArray) -> None:
        """All weights 0; constant labels are certain and stay so."""
        K, L = self.n_components, Y.shape[1]
        self._varies = (Y[0] != Y).any(axis=0)
        bias = np.where(self._varies, 0.0, CERTAIN * (2 * Y[0] - 1))
        self.gating_ = Weights(np.zeros((n_features, K)), np.zeros(K))
        self.estimators_ = [Weights(np.zeros((n_features, L)), bias) for _ in range(K)]

    def _expect(self, X: Any, Y: FloatArray) -> tuple[FloatArray, float]:
        """Responsibilities, and the objective at the present weights."""
        joint = self._log_joint(X, Y)
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
        models = [self.estimators_[k] for k in busy]
        calls = zip(losses, models, strict=True)
        tasks = (delayed(descend)(loss, model, 2 * self.variance) for loss, model in calls)
        for k, model in zip(busy, do_all(tasks, len(busy), self.n_jobs), strict=True):
            self.estimators_[k] = model
        if self.n_components > 1:
            self.gating_ = descend(partial(_gating_loss, gamma=gamma), self.gating_, self.variance)

    def _mixture(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Log-weights (n, K) and log-odds (n, K, L) of the labels."""
        log_pi = log_softmax(self.gating_.outputs(X), axis=1)
        Z = np.stack([model.outputs(X) for model in self.estimators_], axis=1)
        return np.asarray(log_pi), np.clip(Z, -CERTAIN, CERTAIN)

    def _log_joint(self, X: Any, Y: FloatArray) -> FloatArray:
        """Log-probability of each row's component and labels together, (n, K)."""
        log_pi, Z = self._mixture(X)
        return log_pi + (np.einsum("nl,nkl->nk", Y, Z) - np.logaddexp(0, Z).sum(axis=2))

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

    def _in_blocks(self, function: Any, X: Any) -> NDArray[Any]:
        X = take_columns(X, self.features_)
        blocks = gen_batches(X.shape[0], BLOCK_ROWS)
        return np.concatenate([function(X[block]) for block in blocks])
