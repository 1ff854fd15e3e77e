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
from nldd.coding.cross_validation import cross_fit, predict_left_out
from nldd.coding.features import AnswerFeatures
from nldd.coding.model import Settings, new_classifier
from nldd.estimators._nldd import NLDDClassifier
from out_of_fold import out_of_fold

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

NUMERIC = NLDDClassifier(LogisticRegression(solver="liblinear"), decision="subset", random_state=0)
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
        rule = replace(fold._fitted.rule, weights=model.weights_)
        fold._set_fitted(replace(fold._fitted, rule=rule))
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
    """But for the weights of the posterior, which are those of the classifier."""
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
        assert (found.row[i], found.Dx[i]) == (explained.row, explained.Dx)
        assert found.probability[i] == explained.probability
        ahead = np.subtract(explained.parts, explained.runner_up.parts)
        np.testing.assert_allclose(found.ahead[i], ahead)
    assert found.Y.dtype == found.others.dtype == np.int8
    np.testing.assert_array_equal(found.probability, model.exact_match_probability(X[30:]))
    # Theta is the mean distance of the labels from the marginals.
    M = model.predict_proba(X[30:])
    np.testing.assert_allclose(found.theta, np.abs(found.Y - M).mean(axis=1))


def test_others_are_the_next_of_the_posterior():
    """Of all labelsets by their scores; what the four sources add makes up the odds."""
    X, Y = numeric_data()
    model = clone(NUMERIC).fit(X[:30], Y[:30])
    found, P = predictions.predict(model, X[30:], k=4), model.label_probabilities(X[30:])
    labelsets, counts = np.unique(Y[:30], axis=0, return_counts=True)
    w, e = model.weights_, (counts == 1).sum() / 30
    scale = model.index_.scale
    for i, (x, p) in enumerate(zip(X[30:], P.clip(0.001, 0.999), strict=True)):
        far = np.linalg.norm((X[:30] - x) / scale, axis=1)
        Dx = np.array([far[(Y[:30] == labelset).all(axis=1)].min() for labelset in labelsets])
        ll = np.log(np.where(labelsets == 1, p, 1 - p)).sum(axis=1)
        z = -w[0] * Dx + w[1] * ll + w[2] * np.log(counts) + w[3] * labelsets.sum(axis=1)
        Q, order = np.exp(z) / np.exp(z).sum(), np.argsort(-z)
        np.testing.assert_array_equal(found.Y[i], labelsets[order[0]])
        np.testing.assert_array_equal(found.others[i], labelsets[order[1:4]])
        assert found.probability[i] == pytest.approx((1 - e) * Q[order[0]])
        np.testing.assert_allclose(found.others_probability[i], (1 - e) * Q[order[1:4]])
        assert found.ahead[i].sum() == pytest.approx(z[order[0]] - z[order[1]])


def test_probabilities_are_computed_once(monkeypatch):
    X, Y = numeric_data()
    model = clone(NUMERIC).fit(X, Y)
    expected, best, calls = model.label_probabilities(X), model.labelset_posterior(X, k=3), []
    probabilities = NLDDClassifier._probabilities

    def count(*given):
        calls.append(1)
        return probabilities(*given)

    monkeypatch.setattr(NLDDClassifier, "_probabilities", count)
    found = predictions.predict(model, X, k=3)
    assert calls == [1]
    np.testing.assert_array_equal(found.P, expected.astype(np.float32))
    np.testing.assert_array_equal(found.others_probability, best.probability[:, 1:])
    np.testing.assert_array_equal(found.others_row, best.row[:, 1:])


def two_labelsets(first, second, probability, P, Dx=(0.5, 0.6)):
    """What `labelset_posterior` finds for one answer."""
    arrays = {"probability": probability, "P": P, "Dx": Dx}
    arrays = {name: np.array([values]) for name, values in arrays.items()}
    return SimpleNamespace(labelsets=np.array([[first, second]]), **arrays)


def test_clues_by_hand():
    best = two_labelsets([1, 0, 1], [1, 0, 0], (0.6, 0.2), (0.9, 0.7, 0.4))
    (found,) = predictions.confidence_clues(best, np.log([3.0]), np.array([5.0]))
    expected = [
        np.log(0.4 / 0.6),
        np.log(3),
        np.log(0.9 * 0.3 * 0.4),
        np.log(0.4 / 0.6),  # they differ in the third label alone
        np.log(0.7 * 0.6) - np.log(0.3 * 0.4),  # most likely is {1, 1, 0}
        *(2, np.log(5), 0.5, 0.9, 0.7, 2.0, 0.4, 0.7),
    ]
    np.testing.assert_allclose(found, expected)
    assert len(found) == predictions.N_CLUES


@pytest.mark.parametrize(("first", "weakest", "strongest"), [([1], 0.8, 0.0), ([0], 1.0, 0.8)])
def test_clues_of_a_single_code(first, weakest, strongest):
    """Of no code that is on, none is weak; of none that is off, none strong; no second code."""
    best = two_labelsets(first, [1 - first[0]], (0.6, 0.2), [0.8])
    (found,) = predictions.confidence_clues(best, np.ones(1), np.ones(1))
    assert found[8:].tolist() == pytest.approx([0.8, 0.0, 0.8, weakest, strongest])


def test_clues_of_certain_labels_are_finite():
    best = two_labelsets([1, 0], [0, 1], (1.0, 0.0), (0.0, 1.0))
    assert np.isfinite(predictions.confidence_clues(best, np.ones(1), np.ones(1))).all()


def some_predictions(n=400, n_labels=3, seed=0):
    """Clues, labelsets, and whether they were right, which depends on both."""
    rng = np.random.default_rng(seed)
    clues = rng.normal(size=(n, predictions.N_CLUES)) * np.arange(1, predictions.N_CLUES + 1) + 2
    Y = (rng.random((n, n_labels)) < 0.4).astype(np.int8)
    right = rng.random(n) < expit(2 - clues[:, 0] + 0.3 * clues[:, 3] - 2 * Y[:, 0])
    return clues, Y, right.astype(float)


def columns(clues, Y, doubts):
    """Each clue, and each code times how doubtful its labelset is, compared with the mean."""
    doubtful = expit((clues[:, 0] - doubts.mean()) / doubts.std())
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


def test_few_answers_are_ranked_about_as_by_the_posterior():
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
    model = NLDDClassifier(decision="subset", random_state=0).fit(X[:60], Y[:60])
    found = predictions.predict(model, X[60:])
    seen = predictions.times_seen(model, found.Y)
    for row, clues, times in zip(X[60:], found.clues, seen, strict=True):
        (explained,) = model.explain(row[np.newaxis])
        one, other = explained, explained.runner_up
        labelset = np.isin(np.arange(3), one.labels)
        assert times == sum((y == labelset).all() for y in Y[:60])
        assert clues[0] == pytest.approx(logit(1 - one.probability))
        assert clues[1] == pytest.approx(np.log(one.probability / other.probability))
        assert clues[5:8].tolist() == pytest.approx([len(one.labels), np.log(times), one.Dx])


def test_log_odds_stay_finite():
    found = predictions.log_odds([0.0, 0.5, 1.0]).tolist()
    assert found == pytest.approx([-13.8155, 0, 13.8155], abs=1e-3)


def test_repeated_rows_of_a_group_count_once_in_every_fold():
    """A labelset that one respondent gave twice was seen once: so new ones are expected."""
    X, Y = numeric_data(60)
    Y = Y & np.array([1, 1, 0], dtype=np.int8)
    Y[[0, 1]] = 1  # two answers of one respondent, who alone has this labelset
    groups = np.append([0, 0], np.arange(1, 59))
    model = clone(NUMERIC).fit(X, Y, groups=groups)
    fold = np.arange(40, 60)
    known = np.arange(40)
    (found,) = predict_left_out(model, X, Y, [fold], predictions.no_progress, groups=groups)
    (alone,) = predict_left_out(model, X, Y, [fold], predictions.no_progress)
    times = np.unique(Y[known], axis=0, return_counts=True)[1]
    share, plain = ((times == 1).sum() + 1) / 39, (times == 1).sum() / 40
    np.testing.assert_allclose(found.probability / (1 - share), alone.probability / (1 - plain))
