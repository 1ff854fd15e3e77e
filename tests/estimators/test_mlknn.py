"""MLkNN by hand, against plain loops, and against scikit-multilearn-ng."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nldd.estimators._mlknn import MLkNN


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
