"""Evaluation of models, against loops over answers and codes."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import answers_of, decided, fitted, made_up, write_coded
from nldd.coding import evaluation
from nldd.coding.calibration import calibration_deciles
from nldd.coding.guarantee import GuaranteeTarget, accuracy_interval
from nldd.coding.model import CodingModel
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(100, 2))


@pytest.fixture(scope="module")
def table():
    """Coded answers, two of them with codes that the model does not know."""
    texts, codes = made_up(60, 1)
    codes[3], codes[4], codes[5] = {"noise"}, {"zeal", "bus"}, set()
    return answers_of(texts), codes


@pytest.fixture(scope="module")
def quality(model, table):
    answers, codes = table
    return evaluation.evaluate(model, answers, decided(codes))


def test_codes_of_answers_are_over_known_and_unknown_labels(table, quality):
    assert quality.labels == ("bus", "park", "rent", "noise", "zeal")
    assert quality.n_known == 3
    assert quality.unknown_labels == ("noise", "zeal")
    assert '"noise", "zeal"' in str(quality)
    for row, codes in zip(quality.Y.tolist(), table[1], strict=True):
        assert row == [int(name in codes) for name in quality.labels]


def test_scores_count_unknown_codes_as_missed(model, table, quality):
    Y_pred = np.hstack([model.code(table[0]).Y, np.zeros((60, 2), dtype=np.int8)])
    assert quality.scores == evaluation.score_answers(quality.Y, Y_pred)
    for score in quality.scores:
        assert score.value == pytest.approx(MEASURES[score.key].function(quality.Y, Y_pred))
    # Theta is compared with what it speaks about: the known codes.
    wrong = (Y_pred != quality.Y)[:, :3].sum(axis=1)
    expected = calibration_deciles(quality.predictions.theta, wrong, 3)
    np.testing.assert_array_equal(quality.calibration.observed, expected.observed)
    np.testing.assert_array_equal(quality.calibration.expected, expected.expected)


def test_evidence_is_evaluated_by_its_own_predictions(model):
    quality = evaluation.evaluate_evidence(model)
    assert quality.labels == model.labels
    assert quality.unknown_labels == ()
    assert quality.scores == evaluation.score_answers(model.Y, model.evidence.Y)
    assert quality.right().tolist() == model.evidence.right(model.Y).tolist()
    assert quality.by_label == evaluation.label_scores(model.Y, model.evidence.Y, model.labels)


def test_table_is_read_and_evaluated(model, table, quality, tmp_path):
    answers, codes = table
    given = [names or None for names in codes]  # nobody has coded the answer without any
    path = write_coded(tmp_path / "coded.csv", answers.texts, given)
    found = evaluation.evaluate_table(model, path)
    assert (found.n_rows, found.n_set_aside) == (60, 1)
    assert found.answers.texts == np.delete(answers.texts, 5).tolist()
    np.testing.assert_array_equal(found.Y, np.delete(quality.Y, 5, axis=0))
    np.testing.assert_array_equal(found.right(), np.delete(quality.right(), 5))
    empty = write_coded(tmp_path / "empty.csv", answers.texts, [None] * 60)
    with pytest.raises(InputError, match="none of the 60 rows"):
        evaluation.evaluate_table(model, empty)


@pytest.mark.parametrize("measure", ["subset", "hamming"])
def test_guarantee_is_compared_with_the_new_answers(model, quality, measure):
    goal = GuaranteeTarget(0.9, 0.6, measure)
    kept = evaluation.check_guarantee(model, quality, goal)
    assert kept.selection == model.select(goal)
    auto = quality.predictions.theta <= kept.selection.threshold
    assert 0 < auto.sum() < 60
    assert (kept.n_answers, kept.n_auto, kept.share) == (60, auto.sum(), auto.mean())
    assert kept.accuracy == pytest.approx(quality.right(measure)[auto].mean())
    assert kept.low < kept.accuracy < kept.high
    none = evaluation.check_guarantee(model, quality, GuaranteeTarget(0.999, 0.999, measure))
    assert (none.n_auto, none.share, none.accuracy, none.low, none.high) == (0, 0, *[None] * 3)
    assert (none.verdict, none.targets != ()) == (None, True)


def random_labels(rng):
    n, n_labels = rng.integers(1, 30), rng.integers(1, 7)
    Y, Y_pred = ((rng.random((n, n_labels)) < rng.random()).astype(np.int8) for _ in range(2))
    return Y, Y_pred, tuple(rng.permutation(list("abcdefg"))[:n_labels].tolist())


def test_label_scores_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    for _ in range(50):
        Y, Y_pred, labels = random_labels(rng)
        found = evaluation.label_scores(Y, Y_pred, labels)
        assert sorted(score.name for score in found) == sorted(labels)
        for score in found:
            j = labels.index(score.name)
            cells = list(zip(Y[:, j].tolist(), Y_pred[:, j].tolist(), strict=True))
            both, missed, extra = (cells.count(pair) for pair in ((1, 1), (1, 0), (0, 1)))
            counts = (score.n_true, score.n_pred, score.n_both)
            assert counts == (both + missed, both + extra, both)
            assert score.precision == (both / (both + extra) if both + extra else 0)
            assert score.recall == (both / (both + missed) if both + missed else 0)
            total = 2 * both + missed + extra
            assert score.f == pytest.approx(2 * both / total if total else 0)
        order = [(score.f, -score.n_true, score.name) for score in found]
        assert order == sorted(order)


def test_confusions_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    for _ in range(50):
        Y, Y_pred, labels = random_labels(rng)
        counts = Counter()
        for truth, prediction in zip(Y, Y_pred, strict=True):
            missed = [a for a, t, p in zip(labels, truth, prediction, strict=True) if t > p]
            extra = [b for b, t, p in zip(labels, truth, prediction, strict=True) if p > t]
            counts.update((a, b) for a in missed for b in extra)
        expected = sorted(counts, key=lambda pair: (-counts[pair], *pair))[:20]
        found = evaluation.count_confusions(Y, Y_pred, labels)
        assert found == tuple(evaluation.Confusion(*pair, counts[pair]) for pair in expected)


def test_intervals_are_percentiles_of_draws(monkeypatch):
    monkeypatch.setattr(evaluation, "N_DRAWS", 100)
    rng = np.random.default_rng(2)
    Y, Y_pred = ((rng.random((25, 3)) < 0.5).astype(np.int8) for _ in range(2))
    # The same draws, one answer after the other.
    draws = np.random.default_rng(0)
    sizes = (50, 50)
    weights = np.vstack([draws.multinomial(25, np.full(25, 1 / 25), size=size) for size in sizes])
    for score in evaluation.score_answers(Y, Y_pred):
        function = MEASURES[score.key].function
        values = [function(Y, Y_pred, sample_weight=row) for row in weights]
        low, high = np.percentile(values, [2.5, 97.5])
        if score.key in ("subset_accuracy", "zero_one_loss"):
            right = (Y_pred == Y).all(axis=1)
            low, high = accuracy_interval(right if score.key == "subset_accuracy" else ~right)
        assert (score.low, score.high) == pytest.approx((low, high), abs=1e-9), score.key
        assert score.low <= score.value <= score.high


def test_perfect_and_single_answers(monkeypatch):
    monkeypatch.setattr(evaluation, "N_DRAWS", 50)
    Y = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.int8)
    losses = {"hamming_loss", "zero_one_loss"}
    # Three of three prove no more than 29 %, one of none no less than 98 %: no certainty.
    bound = 0.025 ** (1 / 3)
    for score in evaluation.score_answers(Y, Y):
        expected = (0.0, 0.0, 1 - bound) if score.key in losses else (1.0, bound, 1.0)
        assert (score.value, score.low, score.high) == pytest.approx(expected)
    for score in evaluation.score_answers(Y[:1], 1 - Y[:1]):
        expected = (1.0, 0.025, 1.0) if score.key in losses else (0.0, 0.0, 0.975)
        assert (score.value, score.low, score.high) == pytest.approx(expected)


@pytest.mark.slow
def test_intervals_cover_about_as_often_as_they_say(monkeypatch):
    """Of 200 studies with 150 answers; 95 % plus or minus what the bootstrap is off by."""
    monkeypatch.setattr(evaluation, "N_DRAWS", 300)
    rng = np.random.default_rng(4)
    rates, error = np.array([0.5, 0.3, 0.4]), 0.15

    def study(n):
        # Answers differ in how hard they are, so labels of one err together.
        Y = rng.random((n, 3)) < rates
        hard = rng.random((n, 1)) < 0.5
        return Y.astype(np.int8), (Y ^ (rng.random((n, 3)) < error * 2 * hard)).astype(np.int8)

    truth = {key: measure.function(*study(200_000)) for key, measure in MEASURES.items()}
    covered = dict.fromkeys(MEASURES, 0)
    for _ in range(200):
        for score in evaluation.score_answers(*study(150)):
            covered[score.key] += score.low <= truth[score.key] <= score.high
    for key, count in covered.items():
        assert 0.9 <= count / 200 <= 0.99, (key, count / 200)


def test_known_words_are_compared_by_the_threshold_that_they_have(model, quality, monkeypatch):
    found = model.select(GuaranteeTarget(0.9, 0.6))
    both = replace(found, limit=None, repeated=replace(found, limit=1.0))
    monkeypatch.setattr(CodingModel, "select", lambda self, goal: both)
    known = model.knows_words(quality.answers).sum()
    assert 0 < evaluation.check_guarantee(model, quality).n_auto == known < 60
