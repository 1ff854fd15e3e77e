"""The classifiers behind NLDD: warm starts, constants and workers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from nldd._base import random_halves
from nldd.estimators._base_classifiers import ConstantLabel
from nldd.estimators._nldd import NLDDClassifier

# Few pairs may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"random_state": 0, **parameters}).fit(X, Y)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        LogisticRegression(random_state=0),
    ],
    ids=["forest", "boosting", "logistic"],
)
def test_no_model_starts_warm(small, estimator):
    """A forest would keep the trees of the half."""
    X, _ = small
    cold = fitted(small, estimator=estimator)
    warm = fitted(small, estimator=clone(estimator).set_params(warm_start=True))
    assert_array_equal(warm.label_probabilities(X), cold.label_probabilities(X))
    assert_array_equal(warm.beta_, cold.beta_)
    if not isinstance(estimator, LogisticRegression):
        assert len(warm.estimators_[0].estimators_) == estimator.n_estimators


def test_label_that_is_constant_in_half_of_the_rows_is_learned_from_all(small):
    X, Y = small
    _, second = random_halves(len(X), np.random.RandomState(0))
    rare = np.zeros(120, dtype=int)
    rare[second[::3]] = 1
    Y = np.column_stack([Y[:, 0], rare, 1 - rare, np.ones(120, dtype=int)])
    model = NLDDClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    for j in (0, 1, 2):
        alone = LogisticRegression().fit(X, Y[:, j])
        assert_array_equal(model.estimators_[j].coef_, alone.coef_)
    assert isinstance(model.estimators_[3], ConstantLabel)
