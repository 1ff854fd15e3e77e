"""The classifiers behind NLDD: warm starts, constants and workers."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from nldd._training import random_halves
from nldd.estimators._label_models import ConstantLabel
from nldd.estimators._nldd import NLDDClassifier

# Few pairs may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"random_state": 0, **parameters}).fit(X, Y)


def test_warm_start_leaves_the_given_estimator_alone(small):
    estimator = LogisticRegression(warm_start=True)
    fitted(small, estimator=estimator)
    assert not hasattr(estimator, "coef_")
    fit_before = LogisticRegression(warm_start=True).fit(*[small[0], small[1][:, 0]])
    coefficients = fit_before.coef_.copy()
    model = fitted(small, estimator=fit_before)
    assert_array_equal(fit_before.coef_, coefficients)
    assert_array_equal(
        model.label_probabilities(small[0]),
        fitted(small, estimator=estimator).label_probabilities(small[0]),
    )


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


@pytest.mark.parametrize(
    ("backend", "warm_start"),
    [("threading", True), ("threading", False), pytest.param("loky", True, marks=pytest.mark.slow)],
)
def test_fits_do_not_depend_on_workers(small, backend, warm_start):
    X, _ = small
    estimator = LogisticRegression(warm_start=warm_start)
    alone = fitted(small, estimator=estimator, max_pairs=40)
    with joblib.parallel_config(backend):
        model = fitted(small, estimator=estimator, max_pairs=40, n_jobs=2)
    assert_array_equal(model.beta_, alone.beta_)
    for a, b in zip(model.estimators_, alone.estimators_, strict=True):
        assert_array_equal(a.coef_, b.coef_)
        assert_array_equal(a.n_iter_, b.n_iter_)
        assert a.random_state == b.random_state
    assert_array_equal(model.predict_theta(X), alone.predict_theta(X))
