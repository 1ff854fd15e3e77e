"""Predictions of each answer without itself, against a loop over the folds."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from coding.made_up import answers_of, assert_equal_predictions, made_up
from nldd._labels import indicator
from nldd.coding.features import AnswerFeatures
from nldd.coding.model import Settings, new_classifier
from nldd.coding.predictions import predict
from nldd.estimators._nldd import NLDDClassifier
from out_of_fold import out_of_fold

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

NUMERIC = NLDDClassifier(LogisticRegression(solver="liblinear"), random_state=0)
LABELS = np.array(["bus", "park", "rent"], dtype=object)


@pytest.fixture(scope="module")
def study():
    """Answers and labels; the last three answers have labelsets that occur once."""
    texts, codes = made_up(60, 0)
    texts += ["more buses", "clean park", "lower the rent"]
    Y = np.hstack([indicator([*codes, {"bus"}, {"park"}, {"rent"}], LABELS), np.zeros((63, 3))])
    Y[-3:, 3:] = np.eye(3)
    return answers_of(texts), Y.astype(np.int8)


@pytest.fixture(scope="module")
def classifier(study):
    answers, Y = study
    X = AnswerFeatures.fit(answers).transform(answers)
    return new_classifier(Settings(), C=10.0).fit(X, Y)


@pytest.fixture(scope="module")
def evidence(study, classifier):
    return out_of_fold(classifier, *study, 3, 0)


def numeric_model(X, Y):
    return clone(NUMERIC).fit(X, Y)


def numeric_data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.5, 0.3, 0.6]).astype(np.int8)
    return rng.normal(size=(n, 4)) + Y @ rng.normal(size=(3, 4)), Y


def naive(answers, Y, n_folds, random_state, model):
    """Each fold by a model of the others, with the weights of the model of all rows."""
    Y_pred, theta, row = np.empty_like(Y), np.empty(len(Y)), np.empty(len(Y), dtype=int)
    for train, test in KFold(n_folds, shuffle=True, random_state=random_state).split(Y):
        features = AnswerFeatures.fit(answers[train])
        fold = clone(model).fit(features.transform(answers[train]), Y[train])
        fold._set_fitted(replace(fold._fitted, regression=model.regression_))
        X_test = features.transform(answers[test])
        Y_pred[test] = fold.predict(X_test)
        theta[test] = fold.predict_theta(X_test)
        row[test] = [train[found.row] for found in fold.explain(X_test)]
    return Y_pred, theta, row


def test_answers_are_predicted_as_by_a_loop(study, classifier, evidence):
    answers, Y = study
    Y_pred, theta, row = naive(answers, Y, 3, 0, classifier)
    np.testing.assert_array_equal(evidence.Y, Y_pred)
    # Up to rounding: `refit` starts from nothing, `fit` from what its half has learned.
    np.testing.assert_allclose(evidence.theta, theta, rtol=1e-9)
    np.testing.assert_array_equal(evidence.row, row)


def test_codes_of_an_answer_do_not_reach_its_own_prediction(study, classifier, evidence):
    """But for the weights of the two distances, which are those of the classifier."""
    answers, Y = study
    for row in (0, 17, 62):
        changed = Y.copy()
        changed[row] = 1 - changed[row]
        found = out_of_fold(classifier, answers, changed, 3, 0)
        assert_equal_predictions(found[[row]], evidence[[row]])
        # The answers of its fold do not learn from it either; those of the other folds may.
        test = next(t for _, t in KFold(3, shuffle=True, random_state=0).split(Y) if row in t)
        assert_equal_predictions(found[test], evidence[test])
        assert (found.theta != evidence.theta).any()


def test_predictions_of_a_model_are_its_own():
    X, Y = numeric_data()
    model = clone(NUMERIC).fit(X[:30], Y[:30])
    found = predict(model, X[30:])
    np.testing.assert_array_equal(found.Y, model.predict(X[30:]))
    np.testing.assert_array_equal(found.theta, model.predict_theta(X[30:]))
    for i, explained in enumerate(model.explain(X[30:])):
        assert found.row[i] == explained.row
        assert (found.Dx[i], found.Dy[i]) == (explained.Dx, explained.Dy)
        assert (found.x_part[i], found.y_part[i]) == (explained.x_part, explained.y_part)
    assert found.Y.dtype == np.int8
    # theta is the logistic function of the intercept and both parts.
    eta = model.beta_[0] + found.x_part + found.y_part
    np.testing.assert_allclose(found.theta, 1 / (1 + np.exp(-eta)))


def test_probabilities_are_computed_once(monkeypatch):
    X, Y = numeric_data()
    model = clone(NUMERIC).fit(X, Y)
    expected, near, calls = model.label_probabilities(X), model.nearest_labelsets(X, k=3), []
    probabilities = NLDDClassifier._probabilities
    monkeypatch.setattr(
        NLDDClassifier,
        "_probabilities",
        lambda *given: calls.append(1) or probabilities(*given),
    )
    found = predict(model, X, k=3)
    assert calls == [1]
    np.testing.assert_array_equal(found.P, expected.astype(np.float32))
    np.testing.assert_array_equal(found.others_theta, near.theta[:, 1:])
    np.testing.assert_array_equal(found.others_row, near.row[:, 1:])
