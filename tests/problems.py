"""Small random problems full of ties, duplicates and corner cases."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import reference


def seeds(n_quick, n):
    """Seeds of `n` problems, of which the first few are drawn in every run."""
    return some_quick(range(n), range(n_quick))


def some_quick(values, quick):
    """Values of a parameter, of which those that are not quick are for the slow tests."""
    slow = pytest.mark.slow
    return [value if value in quick else pytest.param(value, marks=slow) for value in values]


class CentroidClassifier(ClassifierMixin, BaseEstimator):
    """The reference's obvious classifier, for all labels at once, as scikit-learn has them."""

    def fit(self, X, Y):
        self.X_, self.Y_ = _dense(X), np.atleast_2d(Y.T).T
        self.classes_ = [np.array([0, 1])] * self.Y_.shape[1]
        return self

    def predict_proba(self, X):
        return reference.centroid_probabilities(self.X_, self.Y_, _dense(X))

    def predict(self, X):
        return (self.predict_proba(X) > 0.5).astype(int)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


def random_problem(seed):
    """X, Y and new rows. Few values, few labelsets: most distances occur more than once."""
    rng = np.random.default_rng(seed)
    n, d, n_labels = rng.integers(4, 15), rng.integers(1, 4), rng.integers(1, 5)
    columns = [_column(rng, n + 4) for _ in range(d)]
    X = np.column_stack(columns).astype(float)
    pool = rng.integers(0, 2, size=(rng.integers(2, 6), n_labels))
    pool[rng.integers(len(pool))] = 0  # the empty labelset
    pool[0] = 1 - pool[-1]  # at least two distinct ones
    Y = pool[rng.integers(0, len(pool), size=n)]
    Y[:2] = pool[[0, -1]]
    train, new = X[:n], X[n:]
    if rng.random() < 0.3:  # duplicate rows, with the same or with other labels
        train[n // 2 :] = train[: n - n // 2]
    queries = np.vstack([new, train[rng.integers(0, n, size=3)]])
    return train, Y, queries


def _column(rng, n):
    kind = rng.integers(5)
    if kind == 0:
        return np.full(n, rng.integers(3))  # constant
    if kind == 1:
        return rng.integers(0, 2, size=n)  # two-valued: not standardised
    if kind == 2:
        return rng.integers(0, 3, size=n)
    if kind == 3:
        return rng.normal(size=n).round(1)
    return rng.normal(size=n) + 100 * rng.integers(0, 2)  # an offset costs digits
