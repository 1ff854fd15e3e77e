"""Predictions of each answer without itself, and chances of being right, against naive loops."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from coding.made_up import answers_of, assert_same, made_up
from nldd._labels import indicator
from nldd.coding import predictions
from nldd.coding.cross_validation import cross_fit
from nldd.coding.features import AnswerFeatures
from nldd.coding.model import Settings, new_classifier
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
    return new_classifier(Settings(), C=10.0).fit(AnswerFeatures.fit(answers).transform(answers), Y)


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
        assert_same(found[[row]], evidence[[row]])
        # The answers of its fold do not learn from it either; those of the other folds may.
        test = next(t for _, t in KFold(3, shuffle=True, random_state=0).split(Y) if row in t)
        assert_same(found[test], evidence[test])
        assert (found.theta != evidence.theta).any()


def test_predictions_of_a_model_are_its_own():
    X, Y = numeric_data()
    model = clone(NUMERIC).fit(X[:30], Y[:30])
    found = predictions.predict(model, X[30:])
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

    def count(*given):
        calls.append(1)
        return probabilities(*given)

    monkeypatch.setattr(NLDDClassifier, "_probabilities", count)
    found = predictions.predict(model, X, k=3)
    assert calls == [1]
    np.testing.assert_array_equal(found.P, expected.astype(np.float32))
    np.testing.assert_array_equal(found.others_theta, near.theta[:, 1:])
    np.testing.assert_array_equal(found.others_row, near.row[:, 1:])


def two_labelsets(first, second, theta, P, Dx=(0.5, 0.6), Dy=(0.3, 0.4)):
    """What `nearest_labelsets` finds for one answer."""
    arrays = {"theta": theta, "P": P, "Dx": Dx, "Dy": Dy}
    arrays = {name: np.array([values]) for name, values in arrays.items()}
    return SimpleNamespace(labelsets=np.array([[first, second]]), **arrays)


def test_clues_by_hand():
    near = two_labelsets([1, 0, 1], [1, 0, 0], (0.1, 0.2), (0.9, 0.7, 0.4))
    (found,) = predictions.confidence_clues(near, np.array([5.0]))
    expected = [
        np.log(1 / 9),
        np.log(1 / 4) - np.log(1 / 9),
        np.log(0.9 * 0.3 * 0.4),
        np.log(0.4 / 0.6),  # they differ in the third label alone
        np.log(0.7 * 0.6) - np.log(0.3 * 0.4),  # most likely is {1, 1, 0}
        *(2, np.log(5), 0.9, 0.7, 2.0, 0.4, 0.7, 0.5, 0.3),
    ]
    np.testing.assert_allclose(found, expected)
    assert len(found) == predictions.N_CLUES


@pytest.mark.parametrize(("first", "weakest", "strongest"), [([1], 0.8, 0.0), ([0], 1.0, 0.8)])
def test_clues_of_a_single_code(first, weakest, strongest):
    """Of no code that is on, none is weak; of none that is off, none strong; no second code."""
    near = two_labelsets(first, [1 - first[0]], (0.1, 0.2), [0.8])
    (found,) = predictions.confidence_clues(near, np.array([1.0]))
    assert found[7:12].tolist() == pytest.approx([0.8, 0.0, 0.8, weakest, strongest])


def test_clues_of_certain_labels_are_finite():
    near = two_labelsets([1, 0], [0, 1], (0.0, 1.0), (0.0, 1.0))
    assert np.isfinite(predictions.confidence_clues(near, np.array([1.0]))).all()


def some_predictions(n=400, n_labels=3, seed=0):
    """Clues, labelsets, and whether they were right, which depends on both."""
    rng = np.random.default_rng(seed)
    clues = rng.normal(size=(n, predictions.N_CLUES)) * np.arange(1, predictions.N_CLUES + 1) + 2
    Y = (rng.random((n, n_labels)) < 0.4).astype(np.int8)
    right = rng.random(n) < expit(2 - clues[:, 0] + 0.3 * clues[:, 3] - 2 * Y[:, 0])
    return clues, Y, right.astype(float)


def columns(clues, Y, theta):
    """Each clue, and each code times how doubtful theta is, compared with the mean of theta."""
    doubtful = expit((clues[:, 0] - theta.mean()) / theta.std())
    return np.column_stack([clues, *(doubtful * y for y in Y.T)])


def test_regression_is_that_of_scikit_learn():
    clues, Y, right = some_predictions()
    fitted = predictions.ConfidenceRegression.fit(clues[:300], Y[:300], right[:300])
    X = columns(clues, Y, clues[:300, 0])
    Z = (X - X[:300].mean(axis=0)) / X[:300].std(axis=0)
    Z[:, 0] *= 3
    base = LogisticRegression(C=predictions.C, tol=1e-10, max_iter=10_000)
    model = base.fit(Z[:300], right[:300])
    expected = model.predict_proba(Z)[:, 1]
    np.testing.assert_allclose(fitted.chance(clues, Y), expected, atol=1e-4)
    assert expected.std() > 0.1


def test_clue_that_never_varies_has_no_weight():
    clues, Y, right = some_predictions()
    clues[:, 5], Y[:, 1] = 7.0, 0
    fitted = predictions.ConfidenceRegression.fit(clues, Y, right)
    assert fitted.weights[5] == fitted.weights[predictions.N_CLUES + 1] == 0
    changed = clues.copy()
    changed[:, 5] = 1e6
    np.testing.assert_array_equal(fitted.chance(changed, Y), fitted.chance(clues, Y))


def test_too_few_right_or_wrong_answers_teach_nothing():
    clues, Y, right = some_predictions(40)
    for few in (1, 0):
        right[:] = 1 - few
        right[: predictions.FEWEST - 1] = few
        assert predictions.ConfidenceRegression.fit(clues, Y, right) is None
        right[predictions.FEWEST - 1] = few
        assert predictions.ConfidenceRegression.fit(clues, Y, right) is not None


def test_few_answers_are_ranked_about_as_by_theta():
    """Whose weight is nearly free, while ten answers hardly move the others."""
    rng = np.random.default_rng(1)
    clues, Y, _ = some_predictions()
    clues[:, 0] /= 3  # as far as the others reach
    right = (rng.random(10) < 0.5).astype(float)
    right[np.argsort(clues[:10, 0])] = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    chance = predictions.ConfidenceRegression.fit(clues[:10], Y[:10], right).chance(clues, Y)
    ranks = np.argsort(np.argsort(clues[:, 0])), np.argsort(np.argsort(-chance))
    assert np.corrcoef(*ranks)[0, 1] > 0.75


def test_chances_are_those_of_the_other_folds():
    clues, Y, right = some_predictions(90)
    fold = np.random.default_rng(0).integers(0, 4, 90)
    found = cross_fit(clues, Y, right, fold)
    for i in range(90):
        others = fold != fold[i]
        fitted = predictions.ConfidenceRegression.fit(clues[others], Y[others], right[others])
        assert found[i] == pytest.approx(fitted.chance(clues[[i]], Y[[i]])[0], rel=1e-12)
    # What is right in a fold does not reach its own chances.
    again = cross_fit(clues, Y, np.where(fold == 2, 1 - right, right), fold)
    np.testing.assert_array_equal(again[fold == 2], found[fold == 2])
    assert (again[fold != 2] != found[fold != 2]).any()


def test_clues_of_a_classifier():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 3)) < [0.5, 0.3, 0.6]).astype(np.int8)
    X = rng.normal(size=(80, 4)) + Y @ rng.normal(size=(3, 4))
    model = NLDDClassifier(random_state=0).fit(X[:60], Y[:60])
    found = predictions.predict(model, X[60:])
    seen = predictions.times_seen(model, found.Y)
    for row, clues, times in zip(X[60:], found.clues, seen, strict=True):
        (explained,) = model.explain(row[np.newaxis])
        one, other = explained, explained.runner_up
        labelset = np.isin(np.arange(3), one.labels)
        assert times == sum((y == labelset).all() for y in Y[:60])
        assert clues[0] == pytest.approx(logit(one.theta))
        assert clues[1] == pytest.approx(logit(other.theta) - logit(one.theta))
        assert clues[5:7].tolist() == pytest.approx([len(one.labels), np.log(times)])
        assert clues[12:].tolist() == pytest.approx([one.Dx, one.Dy])


def test_log_odds_stay_finite():
    found = predictions.log_odds([0.0, 0.5, 1.0]).tolist()
    assert found == pytest.approx([-13.8155, 0, 13.8155], abs=1e-3)
