"""What is tested was not learned from: respondents with ids, and repeated words without."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from coding.made_up import SETTINGS, decided, fitted
from nldd.coding.answers import Answers, normalize_text
from nldd.coding.cross_validation import deal_folds
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Settings, add_answers, choose_C, fit_coding_model
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression

# Words of equal weight far apart, and few answers, leave little to the distances.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
WORDS = [f"w{i:02}" for i in range(40)]
WEIGHTS = np.random.default_rng(7).normal(scale=1.6, size=(40, 3))
NAMES = "abc"
QUICK = Settings(n_folds=4, n_jobs=1)


def study(n, seed=0):
    """Texts that are practically never equal, their codes, and the probability of each code."""
    rng = np.random.default_rng(seed)
    words = np.array([rng.choice(40, size=7, replace=False) for _ in range(n)])
    P = expit(WEIGHTS[words].sum(axis=1) - 0.5)
    return [" ".join(WORDS[j] for j in row) for row in words], codes_of(P, rng), P


def codes_of(P, rng):
    return [{NAMES[j] for j in np.flatnonzero(row)} for row in rng.random(P.shape) < P]


def true_accuracy(model, found, texts, P, limits=None):
    """Automation rate and true accuracy on new texts whose probabilities are known."""
    said = model.code(Answers(texts))
    new, again = ((-1.0 if x is None else x) for x in (limits or found.limits))
    auto = said.doubt(found.rank_by) <= np.where(model.knows_words(Answers(texts)), again, new)
    columns = [NAMES.index(name) for name in model.labels]
    right = np.where(said.Y == 1, P[:, columns], 1 - P[:, columns]).prod(axis=1)
    return float(auto.mean()), float(right[auto].mean()) if auto.any() else 1.0


@pytest.mark.parametrize("with_ids", [True, False], ids=["ids", "no ids"])
def test_copies_buy_no_automation_of_new_answers(with_ids):
    """As 250 answers of which half are in the table twice: every study was below its target."""
    below = 0
    for seed in range(8):
        texts, codes, _ = study(200, seed)
        new, _, P = study(1500, seed + 1000)
        ids = [f"r{i}" for i in range(200)]
        twice = slice(100)
        answers = Answers([*texts, *texts[twice]], ids=[*ids, *ids[twice]] if with_ids else [])
        model = fit_coding_model(answers, [*codes, *codes[twice]], settings=QUICK)
        assert len(model.tested) <= 200
        for target in (0.7, 0.8):
            _, accuracy = true_accuracy(model, model.select(GuaranteeTarget(target)), new, P)
            below += accuracy < target
    assert below <= 4  # of 16; the level is 10 %


def test_accuracy_by_cross_validation_is_that_of_new_answers():
    texts, codes, _ = study(250)
    alone = fit_coding_model(Answers(texts), codes, settings=QUICK)
    expected = alone.evidence.right(alone.Y)[alone.tested].mean()
    twice = Answers([*texts, *texts[:100]]), [*codes, *codes[:100]]
    repeated = fit_coding_model(*twice, settings=QUICK)
    assert len(repeated.tested) >= 150
    assert not np.isin(repeated.tested, repeated.repeated).any()
    found = repeated.evidence.right(repeated.Y)[repeated.tested].mean()
    assert found == pytest.approx(expected, abs=0.08)
    # Copies are known by heart.
    assert repeated.evidence.right(repeated.Y)[repeated.repeated].mean() > found + 0.2


def test_repeated_words_have_a_threshold_of_their_own_at_half_of_the_level():
    texts, codes, _ = study(250)
    answers = Answers([*texts, *texts[:125]])
    model = fit_coding_model(answers, [*codes, *codes[:125]], settings=QUICK)
    found, test = model.select(GuaranteeTarget(0.7)), model.test
    assert found.repeated is not None
    assert found.n_answers == (~test.repeated).sum()
    assert found.repeated.n_answers == test.repeated.sum() == len(model.repeated)
    alone = replace(test, repeated=np.zeros_like(test.repeated))
    for rows, part in ((~test.repeated, found), (test.repeated, found.repeated)):
        only = {n: getattr(alone, n)[rows] for n in ("theta", "chance", "n_wrong", "repeated")}
        half = 0.4  # of the first fit's
        expected = replace(alone, **only).select(GuaranteeTarget(0.7), half)
        assert (part.threshold, part.n_auto) == (expected.threshold, expected.n_auto)
    assert found.repeated.threshold != found.threshold
    assert model.knows_words(Answers([texts[3].upper() + "!", "w01"])).tolist() == [True, False]


def test_few_repeated_words_change_nothing_but_are_not_tested():
    texts, codes, _ = study(200)
    model = fit_coding_model(Answers([*texts, texts[0]]), [*codes, codes[0]], settings=QUICK)
    found = model.select(GuaranteeTarget(0.7))
    assert found.repeated is None
    assert found.limits == (found.limit, found.limit)
    assert found.n_answers == len(model.tested) >= 199


def test_people_who_say_the_same_are_separate_answers_with_ids():
    texts, codes, _ = study(150)
    texts[:60] = ["none"] * 60
    codes[:60] = [set()] * 60
    answers = Answers(texts, ids=[f"r{i}" for i in range(150)])
    model = fit_coding_model(answers, codes, settings=QUICK)
    assert model.tested.tolist() == list(range(150))
    assert model.select(GuaranteeTarget(0.5)).repeated is None


def test_a_respondent_stays_in_one_fold_and_counts_once():
    groups = np.repeat(np.arange(40), 3)
    folds = deal_folds(120, 5, 1, groups)
    assert sorted(np.concatenate(folds).tolist()) == list(range(120))
    for fold in folds:
        assert not np.isin(groups[fold], np.delete(groups, fold)).any()
    answers = Answers([""] * 120, ids=groups.astype(str).tolist())
    chosen = answers.draw_one_per_respondent(np.arange(120), 3)
    assert groups[chosen].tolist() == list(range(40))
    others = answers.draw_one_per_respondent(np.arange(120), 4)
    assert 0 < (chosen != others).sum() < 40  # drawn at random
    assert answers.draw_one_per_respondent(np.array([5, 119]), 0).tolist() == [5, 119]


def test_halves_of_nldd_and_of_the_tuning_keep_groups_together(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(90, 4)), (rng.random((90, 2)) < 0.5).astype(np.int8)
    groups = np.repeat(np.arange(30), 3)
    pairs = NLDDClassifier(None, random_state=0).fit(X, Y, groups=groups.astype(str)).pairs_
    assert not (groups[pairs.instance] == groups[pairs.row]).any()
    assert not np.isin(groups[pairs.instance], groups[pairs.row]).any()
    seen = []
    fit = MultiLabelLogisticRegression.fit

    def spy(self, X, y, *rest):
        seen.append(X[:, 0].copy())
        return fit(self, X, y, *rest)

    monkeypatch.setattr("nldd.linear._logistic.MultiLabelLogisticRegression.fit", spy)
    choose_C(np.column_stack([groups, X]), Y, groups, QUICK)
    first, second = set(seen[0]), set(seen[-1])
    assert not first & second
    assert first | second == set(groups)


def test_groups_of_another_length_or_only_one_are_refused():
    X, Y = np.arange(12.0).reshape(6, 2), np.tile([[0, 1], [1, 0]], (3, 1))
    with pytest.raises(InputError, match="one group for each of the 6 rows"):
        NLDDClassifier(None).fit(X, Y, groups=[1, 2])
    with pytest.raises(InputError, match="at least two groups"):
        NLDDClassifier(None).fit(X, Y, groups=[1] * 6)
    with pytest.raises(InputError, match="one respondent"):
        texts, codes, _ = study(20)
        fit_coding_model(Answers(texts, ids=["r"] * 20), codes, settings=QUICK)


def test_who_has_no_id_is_known_by_words():
    answers = Answers(["More buses!", "more  buses", "rent", "more buses"], ids=["", "", "7", "8"])
    assert answers.respondents.tolist() == [0, 0, 1, 2]
    assert normalize_text(" ?! ") == "?!"


def test_answers_of_one_respondent_join_the_same_group_by_an_update():
    texts, codes, _ = study(80)
    answers = Answers(texts[:60], ids=[f"r{i}" for i in range(60)])
    model = fit_coding_model(answers, codes[:60], settings=QUICK)
    more = Answers(texts[60:], ids=[f"r{i}" for i in range(20)])
    updated = add_answers(model, more, decided(codes[60:]))
    assert len(updated.answers) == 80
    assert len(updated.tested) == 60


def test_disagreeing_codings_are_tested_but_not_learned_from():
    texts, codes, _ = study(120)
    taught = [i % 6 != 0 for i in range(120)]
    answers = Answers(texts, ids=[f"r{i}" for i in range(120)])
    model = fit_coding_model(answers, decided(codes, agreed=taught), settings=QUICK)
    learned = set(model.classifier.rows_.tolist())
    assert learned == {i for i in range(120) if i % 6}
    assert set(model.evidence.row.tolist()) <= learned
    assert len(model.tested) == 120
    assert int(model.code(Answers(texts[:1])).row[0]) in learned


def test_too_few_answers_on_which_coders_agree_are_refused():
    texts, codes, _ = study(30)
    with pytest.raises(InputError, match=r"there are 5, .* 25 others"):
        fit_coding_model(Answers(texts), decided(codes, [i < 5 for i in range(30)]), settings=QUICK)


def test_small_models_of_repeated_words_alone_are_fitted():
    model = fitted(["more buses", "cheaper rent"] * 10, [{"bus"}, {"rent"}] * 10)
    assert len(model.tested) == 20
    bare = Answers(["more buses", "cheaper rent"] * 10)
    model = fit_coding_model(bare, [{"bus"}, {"rent"}] * 10, settings=SETTINGS)
    assert model.select(GuaranteeTarget(0.5)).threshold is None
    assert model.select(GuaranteeTarget(0.5)).n_answers == 0
