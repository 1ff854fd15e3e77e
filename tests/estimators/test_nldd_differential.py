"""NLDD equals the naive reference on thousands of small problems."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.linear_model import LogisticRegression

import reference
from nldd import NLDDClassifier, NLDDWarning
from problems import CentroidClassifier, random_problem, seeds

N_PROBLEMS = 10_000
N_PARTS = 160


def fit_quietly(model, X, Y):
    with warnings.catch_warnings():
        # Tiny problems are often separated; the reference smooths in the same cases.
        warnings.simplefilter("ignore", NLDDWarning)
        return model.fit(X, Y)


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, N_PARTS))]
)
def test_nldd_equals_reference(part):
    for seed in range(part, N_PROBLEMS, N_PARTS):
        X, Y, X_new = random_problem(seed)
        container = (np.asarray, csr_matrix, csr_array)[seed % 3]
        model = NLDDClassifier(CentroidClassifier(), random_state=seed)
        fit_quietly(model, container(X), Y)
        truth = reference.NLDD(seed).fit(X, Y)
        row, theta = truth.predict(X_new)

        found = model.nearest_labelsets(container(X_new), k=1)
        message = f"problem {seed}"
        assert len(model.pairs_) == len(truth.S), message
        assert_allclose(model.beta_, truth.beta, rtol=1e-6, atol=1e-7, err_msg=message)
        assert (found.row[:, 0] == row).all(), message
        assert (found.labelsets[:, 0] == Y[row]).all(), message
        assert_allclose(found.theta[:, 0], theta, atol=1e-9, err_msg=message)


@pytest.mark.parametrize("seed", seeds(12, 30))
def test_nldd_methods_agree_with_reference(seed):
    X, Y, X_new = random_problem(seed)
    model = fit_quietly(NLDDClassifier(CentroidClassifier(), random_state=seed), X, Y)
    truth = reference.NLDD(seed).fit(X, Y)
    row, theta = truth.predict(X_new)
    assert (model.predict(X_new) == Y[row]).all()
    assert_allclose(model.predict_theta(X_new), theta, atol=1e-9)
    assert_allclose(model.expected_loss(X_new), Y.shape[1] * theta, atol=1e-8)
    assert (model.predict_proba(X_new).round() == Y[row]).all()
    P = reference.centroid_probabilities(X, Y, X_new)
    assert_allclose(model.label_probabilities(X_new), P, atol=1e-12)

    k = len(np.unique(Y, axis=0))
    found = model.nearest_labelsets(X_new, k)
    for i, explanation in enumerate(model.explain(X_new)):
        distances = reference.all_distances(X_new[i], P[i], X, Y, truth.scale)
        rows = reference.k_nearest_labelsets(distances, Y, truth.score, k)
        assert found.row[i].tolist() == rows
        assert (found.labelsets[i] == Y[rows]).all()
        evidence = [explanation, explanation.runner_up]
        assert [e.row for e in evidence] == rows[:2]
        assert_allclose([(e.Dx, e.Dy) for e in evidence], [distances[j] for j in rows[:2]])
        assert_allclose(explanation.x_part + explanation.y_part, truth.score(*distances[rows[0]]))
        assert explanation.labels == tuple(np.flatnonzero(Y[rows[0]]))


@pytest.mark.parametrize("seed", seeds(12, 30))
def test_nldd_of_separate_classifiers_equals_reference(seed):
    """The same through one classifier a label, and through its own treatment of constant labels."""
    X, Y, X_new = random_problem(seed)

    def probabilities(X_train, Y_train, X_query):
        columns = []
        for y in Y_train.T:
            if y.min() == y.max():
                columns.append(np.full(len(X_query), float(y[0])))
            else:
                columns.append(
                    LogisticRegression(C=0.5).fit(X_train, y).predict_proba(X_query)[:, 1]
                )
        return np.column_stack(columns)

    model = fit_quietly(NLDDClassifier(LogisticRegression(C=0.5), random_state=seed), X, Y)
    row, theta = reference.NLDD(seed, probabilities).fit(X, Y).predict(X_new)
    assert (model.nearest_labelsets(X_new, 1).row[:, 0] == row).all()
    assert_allclose(model.predict_theta(X_new), theta, atol=1e-9)
