"""MLkNN by hand and against plain loops, and the exact neighbours that it counts."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix

from nldd.estimators._mlknn import MLkNN, NeighborIndex


def naive_mlknn(X, Y, X_new, k, s):
    """Prior, both likelihoods and the posterior of every new row, in plain loops."""
    n, n_labels = Y.shape

    def nearest(x, rows, k):
        squares = {j: sum((a - b) ** 2 for a, b in zip(x, X[j], strict=True)) for j in rows}
        return sorted(rows, key=lambda j: (squares[j], j))[:k]

    prior, on, off, posterior = [], [], [], []
    for label in range(n_labels):
        y = Y[:, label].tolist()
        prior.append((s + sum(y)) / (2 * s + n))
        c, c_not = [0] * (k + 1), [0] * (k + 1)
        for i in range(n):
            others = [j for j in range(n) if j != i]
            j = sum(y[m] for m in nearest(X[i], others, k))
            (c if y[i] else c_not)[j] += 1
        on.append([(s + c[j]) / (s * (k + 1) + sum(c)) for j in range(k + 1)])
        off.append([(s + c_not[j]) / (s * (k + 1) + sum(c_not)) for j in range(k + 1)])
        column = []
        for x in X_new:
            j = sum(y[m] for m in nearest(x, range(n), k))
            left, right = prior[-1] * on[-1][j], (1 - prior[-1]) * off[-1][j]
            column.append(left / (left + right))
        posterior.append(column)
    return np.array(prior), np.array(on), np.array(off), np.array(posterior).T


def random_case(rng, n=12):
    """Integer points with ties and duplicates; 2 or 3 labels, sometimes constant ones."""
    X = rng.integers(0, 4, size=(n, 2))[rng.integers(0, n, size=n)].astype(float)
    Y = (rng.random((n, rng.integers(2, 4))) < rng.choice([0.05, 0.5, 0.95])).astype(int)
    return X, Y, rng.integers(0, 4, size=(6, 2)).astype(float)


def test_mlknn_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    Y = np.array([[1], [1], [0], [0]])
    model = MLkNN(k=1, s=1.0).fit(X, Y)
    # Prior: (1 + 2) / (2 + 4) = 1/2.
    assert_allclose(model.prior_, [1 / 2])
    # Nearest other row: 0 -> 1 (on), 1 -> 0 (on), 3 -> 1 (on), 7 -> 3 (off).
    # Carriers: both have 1 carrier:        c  = [0, 2], likelihood (1 + c) / (2 + 2) = 1/4, 3/4.
    # Others: 3 has 1 carrier, 7 has none:  c' = [1, 1], likelihood (1 + c') / (2 + 2) = 1/2, 1/2.
    assert_allclose(model.likelihood_on_, [[1 / 4, 3 / 4]])
    assert_allclose(model.likelihood_off_, [[1 / 2, 1 / 2]])
    # At 0.4 the nearest row is 0 (on):  1/2 * 3/4 = 3/8 against 1/2 * 1/2 = 2/8: 3/5, on.
    # At 6.0 the nearest row is 7 (off): 1/2 * 1/4 = 1/8 against 2/8: 1/3, off.
    assert_allclose(model.predict_proba([[0.4], [6.0]]), [[3 / 5], [1 / 3]])
    assert_array_equal(model.predict([[0.4], [6.0]]), [[1], [0]])


def test_mlknn_equals_naive_loop_with_ties_and_duplicates():
    rng = np.random.default_rng(0)
    for _ in range(60):
        X, Y, X_new = random_case(rng)
        k, s = int(rng.integers(1, 12)), float(rng.choice([0.1, 1.0, 3.0]))
        model = MLkNN(k=k, s=s).fit(X, Y)
        prior, on, off, posterior = naive_mlknn(X, Y, X_new, k, s)
        assert_allclose(model.prior_, prior)
        assert_allclose(model.likelihood_on_, on)
        assert_allclose(model.likelihood_off_, off)
        assert_allclose(model.predict_proba(X_new), posterior, rtol=1e-12)
        clear = np.abs(posterior - 0.5) > 1e-9
        assert_array_equal(model.predict(X_new)[clear], posterior[clear] > 0.5)


@pytest.mark.parametrize("k", [4, 5, 6, 50])
def test_mlknn_with_fewer_rows_than_neighbours_takes_all_of_them(k):
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    Y = np.array([[1], [1], [0], [0]])
    model = MLkNN(k=k).fit(X, Y)
    # Every row has the three others: one carrier for the rows on, two for the rows off.
    on, off = np.ones(k + 1), np.ones(k + 1)
    on[1] += 2
    off[2] += 2
    assert_allclose(model.likelihood_on_, [on / (k + 3)])
    assert_allclose(model.likelihood_off_, [off / (k + 3)])
    # A new row has all four, two of them carriers: 1 against 3.
    assert_allclose(model.predict_proba([[0.0], [100.0]]), 1 / 4)
    assert_allclose(naive_mlknn(X, Y, [[0.0]], k, 1)[3], 1 / 4)


def test_mlknn_of_one_row():
    model = MLkNN().fit([[1.0, 2.0]], [[1, 0]])
    # Priors 2/3 and 1/3. The row has no other rows: count 0, likelihood 2/12 of its own kind,
    # 1/11 of the other. A new row has one neighbour: counts 1 and 0, likelihoods 1/12 and 1/11 for
    # the label on; 1/11 and 2/12 for the label off.
    p = 2 / 3 / 12 / (2 / 3 / 12 + 1 / 3 / 11)
    q = 1 / 3 / 11 / (1 / 3 / 11 + 2 / 3 * 2 / 12)
    assert_allclose(model.predict_proba([[0.0, 0.0]]), [[p, q]])
    assert_array_equal(model.predict([[0.0, 0.0]]), [[1, 0]])


def test_mlknn_tie_is_off():
    X, Y = np.array([[0.0], [2.0], [3.0], [5.0]]), np.array([[1], [1], [0], [0]])
    model = MLkNN(k=1).fit(X, Y)
    # Nearest other: 0 -> 2 (on), 2 -> 3 (off), 3 -> 2 (on), 5 -> 3 (off): rows on and rows off have
    # a carrier once each, so every likelihood is (1 + 1) / (2 + 2), and the prior is 1/2.
    assert_array_equal(model.likelihood_on_, [[0.5, 0.5]])
    assert_array_equal(model.likelihood_off_, [[0.5, 0.5]])
    assert_array_equal(model.predict([[0.0], [5.0]]), [[0], [0]])
    P = model.predict_proba([[0.0], [5.0]])
    assert_allclose(P, 0.5)
    assert (P < 0.5).all()


def naive_order(X, queries):
    """All rows by (squared distance, row), query by query."""
    X, queries = np.asarray(X).tolist(), np.asarray(queries).tolist()
    nearest = []
    for q in queries:
        squares = [math.fsum((a - b) ** 2 for a, b in zip(q, x, strict=True)) for x in X]
        nearest.append(sorted(range(len(X)), key=lambda j, d=squares: (d[j], j)))
    return np.array(nearest, dtype=int)


def naive_nearest(X, queries, k):
    """The first k of them, in rising order."""
    return np.sort(naive_order(X, queries)[:, :k], axis=1)


def naive_nearest_others(X, k):
    """The same for the rows themselves; a row is never its own neighbour."""
    everything = naive_order(X, X)
    return np.array([sorted([j for j in row if j != i][:k]) for i, row in enumerate(everything)])


def tied_case(rng):
    """Few small integers, so that distances tie, and rows that occur twice or more."""
    n, d = rng.integers(2, 16), rng.integers(1, 5)
    X = rng.integers(0, 3, size=(n, d))[rng.integers(0, n, size=n)].astype(float)
    queries = np.vstack([rng.integers(0, 3, size=(4, d)), X[rng.integers(0, n, size=2)]])
    return X, queries.astype(float)


@pytest.mark.parametrize("form", [np.asarray, np.float32, csr_array, csr_matrix])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nearest_equals_naive_loop_with_ties_and_duplicates(form, offset):
    rng = np.random.default_rng(0)
    for _ in range(25):
        X, queries = tied_case(rng)
        k = rng.integers(1, len(X))
        index = NeighborIndex(form(X + offset))
        assert_array_equal(index.nearest(form(queries + offset), k), naive_nearest(X, queries, k))
        assert_array_equal(index.nearest(None, k), naive_nearest_others(X, k))


@pytest.mark.parametrize("d", [1, 3, 33])
def test_nearest_ties_are_exact_for_repeated_and_mirrored_rows(d):
    """Fractions round, yet equal rows, and rows mirrored at the query, are equally far away."""
    rng = np.random.default_rng(d)
    base = rng.normal(size=(8, d))
    source = rng.integers(0, 8, size=40)
    query = rng.normal(size=(1, d))
    rank = np.linalg.norm(base - query, axis=1).argsort().argsort()
    expected = np.lexsort((np.arange(40), rank[source]))
    for X, q in [(base[source], query), (csr_array(base[source]), csr_array(query))]:
        for k in range(1, 41):
            assert_array_equal(NeighborIndex(X).nearest(q, k)[0], np.sort(expected[:k]))
    mirrored = base[source] * rng.choice([-1, 1], size=(40, 1))
    rank = np.linalg.norm(base, axis=1).argsort().argsort()
    expected = np.lexsort((np.arange(40), rank[source]))
    for k in range(1, 41):
        found = NeighborIndex(mirrored).nearest(np.zeros((1, d)), k)[0]
        assert_array_equal(found, np.sort(expected[:k]))


@pytest.mark.parametrize("spread", [1e-4, 1.0], ids=["tiny spread", "unit spread"])
def test_nearest_far_from_zero_is_not_lost_in_rounding(spread):
    """At 1e6 the product form is off by about 1e-3, far more than these distances squared."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        X = 1e6 + spread * rng.normal(size=(20, 3))
        queries = 1e6 + spread * rng.normal(size=(5, 3))
        k = rng.integers(1, 20)
        index = NeighborIndex(X)
        assert_array_equal(index.nearest(queries, k), naive_nearest(X, queries, k))
        assert_array_equal(index.nearest(None, k), naive_nearest_others(X, k))
