"""What cross-validation teaches about new answers, against loops over its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from nldd.coding import cross_validation
from nldd.coding.guarantee import GuaranteeTarget, selective_threshold, tighten_threshold
from nldd.coding.predictions import (
    N_CLUES,
    NO_EVIDENCE,
    ConfidenceRegression,
    Predictions,
    predict,
)
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from out_of_fold import out_of_fold

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(autouse=True)
def rank_few_by_chance(monkeypatch):
    monkeypatch.setattr(cross_validation, "FEWEST_RANKED", 20)


def numeric_data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.5, 0.3, 0.6]).astype(np.int8)
    return rng.normal(size=(n, 4)) + 2 * Y @ rng.normal(size=(3, 4)), Y


def numeric_model(X, Y):
    return NLDDClassifier(
        LogisticRegression(solver="liblinear"), decision="subset", random_state=0
    ).fit(X, Y)


@pytest.fixture(scope="module")
def study():
    X, Y = numeric_data(seed=4)
    model = numeric_model(X, Y)
    return X, Y, model, cross_validation.cross_validate(model, X, Y, 6)


def test_evidence_is_that_of_the_folds_with_chances_across_them(study):
    X, Y, model, found = study
    expected = out_of_fold(model, X, Y, 6)
    for name in ("Y", "theta", "row", "Dx", "probability"):
        np.testing.assert_array_equal(getattr(found.evidence, name), getattr(expected, name))
    fold = np.empty(120, dtype=int)
    for number, rows in enumerate(cross_validation.deal_folds(120, 6)):
        fold[rows] = number
    chance = cross_validation.cross_fit(expected.clues, expected.Y, expected.right(Y), fold)
    np.testing.assert_array_equal(found.evidence.chance, chance)
    assert found.evidence.clues is None


def test_gains_are_what_the_doubt_loses_with_a_fold_more(study):
    """Row by row: by the model without its fold, and by that without the other fold as well."""
    X, Y, model, found = study
    folds = cross_validation.deal_folds(120, 6)
    theta, chance = [], []
    for number, rows in enumerate(folds):
        both = np.concatenate([rows, folds[number + 1 if number % 2 == 0 else number - 1]])
        parts = [(np.delete(X, out, 0), np.delete(Y, out, 0)) for out in (rows, both)]
        without = [model.fit_copy(*part) for part in parts]
        for row in rows:
            one, two = (predict(each, X[[row]]) for each in without)
            theta.append(logit(two.theta[0]) - logit(one.theta[0]))
            right = [found.regression.chance(each.clues, each.Y)[0] for each in (one, two)]
            chance.append(logit(right[0]) - logit(right[1]))
    assert found.gain_theta == pytest.approx(max(0, np.mean(theta)))
    assert found.gain_chance == pytest.approx(max(0, np.mean(chance)))
    assert found.gain_theta > 0


def test_new_rows_get_chances_of_all_folds(study):
    X, Y, model, found = study
    X_new, _ = numeric_data(20, 1)
    new, plain = found.predict(model, X_new), predict(model, X_new)
    known = out_of_fold(model, X, Y, 6)
    regression = ConfidenceRegression.fit(known.clues, known.Y, known.right(Y))
    np.testing.assert_array_equal(new.chance, regression.chance(plain.clues, plain.Y))
    np.testing.assert_array_equal(new.theta, plain.theta)


@pytest.mark.parametrize("rank_by", ["chance", "theta"])
def test_limit_is_stricter_than_the_threshold_by_the_gain(study, rank_by):
    _, Y, _, found = study
    found = replace(found, gain_theta=0.2, gain_chance=0.3)
    chosen = found.test(Y).select(GuaranteeTarget(0.5, 0.6, rank_by=rank_by))
    doubt = found.evidence.theta if rank_by == "theta" else 1 - found.evidence.chance
    expected = selective_threshold(doubt, found.evidence.right(Y), 0.5, 0.6)
    assert chosen.rank_by == rank_by
    assert (chosen.threshold, chosen.n_auto) == (expected.threshold, expected.n_auto)
    gain = {"theta": 0.2, "chance": 0.3}[rank_by]
    assert logit(chosen.limit) == pytest.approx(logit(expected.threshold) - gain)
    impossible = found.test(Y).select(GuaranteeTarget(0.999, 0.999))
    assert (impossible.threshold, impossible.limit) == (None, None)


def test_stricter_thresholds_by_hand():
    assert tighten_threshold(0.5, np.log(3)) == pytest.approx(0.25)
    assert [tighten_threshold(threshold, 1.0) for threshold in (None, 0.0, 1.0)] == [None, 0.0, 1.0]
    assert tighten_threshold(0.1, 0.0) == 0.1


def test_theta_ranks_labels_one_by_one(study):
    _, Y, _, found = study
    by_label = found.test(Y).select(GuaranteeTarget(0.7, 0.6, "hamming"))
    assert by_label.rank_by == "theta"
    assert by_label.threshold in found.evidence.theta


def test_theta_ranks_where_all_predictions_are_right():
    rng = np.random.default_rng(0)
    Y = np.eye(2, dtype=np.int8)[rng.integers(0, 2, 40)]
    X = 20 * Y + rng.normal(size=(40, 2))
    model = numeric_model(X, Y)
    found = cross_validation.cross_validate(model, X, Y, 4)
    assert found.evidence.right(Y).all()
    assert found.regression is found.evidence.chance is None
    assert found.predict(model, X).chance is None
    assert found.test(Y).select(GuaranteeTarget(0.5)).rank_by == "theta"
    with pytest.raises(InputError, match="theta must rank"):
        found.evidence.doubt("chance")


def test_rows_without_evidence_have_no_chance_and_teach_none():
    """One fold trains with a single labelset, so that nothing speaks for the other's rows."""
    X, Y = numeric_data(40)
    first, second = cross_validation.deal_folds(40, 2)
    Y[second] = [1, 0, 1]
    found = cross_validation.cross_validate(numeric_model(X, Y), X, Y, 2)
    assert (found.evidence.theta[first] == NO_EVIDENCE).all()
    # All that is informed is in one fold, so there is nothing to learn across folds.
    assert found.regression is None
    said = (np.array([NO_EVIDENCE, 0.1]), *np.zeros((3, 2)), np.zeros((2, 3)))
    new = Predictions(Y[:2], *said, clues=np.zeros((2, N_CLUES)))
    regression = ConfidenceRegression(0.0, np.zeros(N_CLUES + 3), 0.0, 1.0)
    assert cross_validation.add_confidence(new, regression).chance.tolist() == [0.0, 0.5]


def test_theta_ranks_few_answers(study, monkeypatch):
    _, Y, _, found = study
    monkeypatch.setattr(cross_validation, "FEWEST_RANKED", len(Y) + 1)
    assert found.test(Y).select(GuaranteeTarget(0.5)).rank_by == "theta"
    monkeypatch.setattr(cross_validation, "FEWEST_RANKED", len(Y))
    assert found.test(Y).select(GuaranteeTarget(0.5)).rank_by == "chance"


def test_usual_folds():
    assert [cross_validation.usual_folds(n) for n in (10, 5000, 5001)] == [20, 20, 10]


def test_unknown_ranking_is_refused(study):
    _, Y, _, found = study
    with pytest.raises(InputError, match="rank_by must be one of chance, theta"):
        found.test(Y).select(GuaranteeTarget(rank_by="Theta"))


SLOPES = np.random.default_rng(99).normal(size=(6, 4)) * 4
TARGET = 0.9


def draw(rng, n):
    """Rows, labels, and the probability of each label."""
    X = rng.normal(size=(n, 6))
    P = expit(X @ SLOPES)
    return X, (rng.random(P.shape) < P).astype(np.int8), P


def study_of(seed, n, X_new, P_new, rank_by):
    """Share coded automatically among the coded rows and the new ones, and its true accuracy."""
    X, Y, _ = draw(np.random.default_rng(seed), n)
    model = NLDDClassifier(decision="subset", random_state=seed).fit(X, Y)
    known = cross_validation.cross_validate(model, X, Y, random_state=seed)
    found = known.test(Y).select(GuaranteeTarget(TARGET, rank_by=rank_by))
    if found.limit is None:
        return 0.0, 0.0, 1.0
    new = known.predict(model, X_new)
    auto = new.doubt(found.rank_by) <= found.limit
    right = np.where(new.Y == 1, P_new, 1 - P_new).prod(axis=1)
    return found.share, auto.mean(), right[auto].mean() if auto.any() else 1.0


def test_share_of_new_rows_is_that_of_the_coded_ones():
    """Weights learned anew in each fold would be off by up to a fifth here."""
    X, _, P = draw(np.random.default_rng(10**6), 4000)
    shares = np.array([study_of(seed, 1500, X, P, "theta")[:2] for seed in range(2)])
    assert (shares[:, 0] > 0.3).all()
    assert np.abs(shares[:, 0] - shares[:, 1]).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("rank_by", ["chance", "theta"])
@pytest.mark.parametrize(("n", "n_studies"), [(300, 300), (2000, 60)])
def test_true_accuracy_is_seldom_below_the_target(n, n_studies, rank_by):
    X, _, P = draw(np.random.default_rng(10**6), 4000)
    found = np.array([study_of(seed, n, X, P, rank_by) for seed in range(n_studies)])
    broken = int((found[:, 2] < TARGET).sum())
    print(
        f"{n} coded rows, by {rank_by}: a promise in {(found[:, 1] > 0).mean():.0%} of {n_studies} "
        f"studies, {found[:, 1].mean():.1%} coded automatically where {found[:, 0].mean():.1%} "
        f"were tested, broken in {broken / n_studies:.1%}"
    )
    assert broken <= 0.1 * n_studies
    assert (found[:, 1] > 0).mean() > 0.5
