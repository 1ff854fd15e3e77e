import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, cross_val_score

from nldd.metrics._measures import MEASURES, PAPER_MEASURES, evaluate

RECORDS = [pytest.param(measure, id=key) for key, measure in MEASURES.items()]


@pytest.fixture
def data():
    """Features and labels of 12 rows; the second label is rare, some rows have no label."""
    rng = np.random.default_rng(1)
    Y = (rng.random((12, 3)) < [0.7, 0.2, 0.5]).astype(int)
    Y[::4] = 0
    return rng.normal(size=(12, 2)), Y


@pytest.mark.parametrize("measure", RECORDS)
def test_scorer_in_cross_validation_gives_minus_the_loss(measure, data):
    X, Y = data
    model = DummyClassifier(strategy="most_frequent")
    found = cross_val_score(model, X, Y, cv=KFold(3), scoring=measure.scorer())
    assert measure.greater_is_better is ("loss" not in measure.name)
    sign = 1 if measure.greater_is_better else -1
    expected = []
    for train, test in KFold(3).split(X):
        # The majority of each label; `most_frequent` takes the smaller class of a tie, 0.
        majority = (Y[train].mean(axis=0) > 0.5).astype(int)
        expected.append(sign * measure.function(Y[test], np.tile(majority, (len(test), 1))))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert len(set(found)) > 1


def test_evaluate_gives_the_paper_measures_by_key():
    # Rows {0, 1} read as {0}, {2} read as {0, 2}: 2 of 6 labels wrong, no row right,
    # accuracies 1/2 and 1/2, F-measures 2/3 and 2/3.
    found = evaluate([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 1]])
    assert list(found) == [measure.key for measure in PAPER_MEASURES]
    assert found == pytest.approx(
        {
            "hamming_loss": 1 / 3,
            "zero_one_loss": 1.0,
            "multilabel_accuracy": 0.5,
            "f_measure": 2 / 3,
        }
    )
