"""The mixture of labels without features, against EM in plain loops."""

import math

import numpy as np
import pytest
from nldd.estimators._cbm import fit_bernoulli_mixture
from numpy.testing import assert_allclose, assert_array_equal

from nldd.estimators import _bernoulli_mixture


@pytest.fixture
def labels():
    """60 rows of five labels, in two overlapping groups."""
    rng = np.random.default_rng(0)
    p = np.array([[0.8, 0.7, 0.2, 0.1, 0.5], [0.2, 0.1, 0.7, 0.6, 0.5]])[rng.integers(0, 2, 60)]
    return (rng.random(p.shape) < p).astype(np.int8)


def naive_em(Y, K, seed, steps):
    """Gammas and log-likelihoods of `steps` expectations, row by row and product by product."""
    mu = np.random.RandomState(seed).uniform(0.25, 0.75, size=(K, Y.shape[1])).tolist()
    weight = [1 / K] * K
    values = []
    for _ in range(steps):
        gamma, value = [], 0.0
        for y in Y.tolist():
            joint = [
                w * math.prod(m if on else 1 - m for m, on in zip(row, y, strict=True))
                for w, row in zip(weight, mu, strict=True)
            ]
            gamma.append([p / sum(joint) for p in joint])
            value += math.log(sum(joint))
        values.append(value)
        total = [sum(g[k] for g in gamma) for k in range(K)]
        weight = [t / len(Y) for t in total]
        mu = [
            [sum(g[k] * y[label] for g, y in zip(gamma, Y, strict=True)) / total[k]
             for label in range(Y.shape[1])]
            for k in range(K)
        ]  # fmt: skip
    return np.array(gamma), np.array(values)


def run(Y, K, seed, steps, monkeypatch):
    """Log-likelihood and gammas of the package after just so many expectations."""
    monkeypatch.setattr(_bernoulli_mixture, "MAX_STEPS", steps)
    monkeypatch.setattr(_bernoulli_mixture, "TOLERANCE", -math.inf)
    labelsets, inverse, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    value, gamma = _bernoulli_mixture._expectation_maximisation(
        labelsets.astype(float), counts.astype(float), K, np.random.RandomState(seed)
    )
    return value, gamma[inverse.ravel()]


@pytest.mark.parametrize("steps", [1, 2, 7, 20])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_bernoulli_mixture_equals_naive_em_from_the_same_start(labels, K, steps, monkeypatch):
    value, gamma = run(labels, K, 3, steps, monkeypatch)
    expected, values = naive_em(labels, K, 3, steps)
    assert_allclose(value, values[-1], rtol=1e-9)
    assert_allclose(gamma, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_bernoulli_mixture_log_likelihood_never_falls(labels, seed, monkeypatch):
    values = [run(labels, 3, seed, steps, monkeypatch)[0] for steps in range(1, 40)]
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0] + 1


def test_bernoulli_mixture_responsibilities_sum_to_one(labels):
    for K in (1, 2, 5, 100):  # more components than rows, too
        gamma = fit_bernoulli_mixture(labels, K, 2, np.random.RandomState(0))
        assert gamma.shape == (60, K)
        assert (gamma >= 0).all()
        assert_allclose(gamma.sum(axis=1), 1)


def test_bernoulli_mixture_of_one_component_explains_everything(labels):
    gamma = fit_bernoulli_mixture(labels, 1, 1, np.random.RandomState(0))
    assert_array_equal(gamma, np.ones((60, 1)))


def test_bernoulli_mixture_equal_rows_have_equal_responsibilities(labels):
    gamma = fit_bernoulli_mixture(labels, 4, 3, np.random.RandomState(1))
    groups = 0
    for labelset in np.unique(labels, axis=0):
        rows = (labels == labelset).all(axis=1)
        assert_array_equal(gamma[rows], np.tile(gamma[rows][0], (rows.sum(), 1)))
        groups += rows.sum() > 1
    assert groups > 5


def test_bernoulli_mixture_finds_separated_clusters():
    centres = np.kron(np.eye(3, dtype=np.int8), np.ones(6, dtype=np.int8))
    rng = np.random.default_rng(2)
    cluster = np.repeat([0, 1, 2], [20, 30, 50])
    Y = centres[cluster] ^ (rng.random((100, 18)) < 0.02)
    gamma = fit_bernoulli_mixture(Y.astype(np.int8), 3, 10, np.random.RandomState(0))
    component = gamma.argmax(axis=1)
    assert (gamma.max(axis=1) > 0.999).all()
    assert sorted(
        {(a, b) for a, b in zip(component, cluster, strict=True)}, key=lambda p: p[1]
    ) == [
        (component[0], 0),
        (component[20], 1),
        (component[50], 2),
    ]
    assert len({component[0], component[20], component[50]}) == 3


def test_bernoulli_mixture_keeps_the_best_start(labels):
    """The first of ten starts alone is one of them, so ten are never worse."""

    def log_likelihood(gamma):
        weight = gamma.mean(axis=0)
        mu = np.clip(gamma.T @ labels / gamma.sum(axis=0)[:, np.newaxis], 1e-12, 1 - 1e-12)
        p = np.where(labels[:, np.newaxis] == 1, mu, 1 - mu).prod(axis=2)
        return np.log(p @ weight).sum()

    one, ten = (
        [
            log_likelihood(fit_bernoulli_mixture(labels, 4, n, np.random.RandomState(seed)))
            for seed in range(6)
        ]
        for n in (1, 10)
    )
    # The value is that of the gammas one more maximisation on, hence within the stopping rule.
    assert (np.array(ten) >= np.array(one) - 1e-3).all()
    assert max(np.subtract(ten, one)) > 0.1


def test_bernoulli_mixture_of_constant_labels():
    Y = np.tile(np.array([1, 0, 1], dtype=np.int8), (8, 1))
    gamma = fit_bernoulli_mixture(Y, 3, 2, np.random.RandomState(0))
    assert_allclose(gamma.sum(axis=1), 1)
    assert np.isfinite(gamma).all()
    assert_array_equal(gamma, np.tile(gamma[0], (8, 1)))


def test_bernoulli_mixture_is_seeded(labels):
    a, b, c = (
        fit_bernoulli_mixture(labels, 3, 2, np.random.RandomState(seed)) for seed in (5, 5, 6)
    )
    assert_array_equal(a, b)
    assert (a != c).any()
