"""NLDD inside scikit-learn code: what an engineer tries in the first five minutes."""

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context, set_config
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._svm import PlattSVC
from nldd.metrics._measures import MEASURES

# Small samples may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture
def frame(small):
    X, Y = small
    return pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=list("wxyz"))


def test_pipeline_equals_steps_by_hand(small):
    X, Y = small
    pipeline = make_pipeline(StandardScaler(), NLDDClassifier(random_state=0)).fit(X, Y)
    Z = StandardScaler().fit_transform(X)
    assert_array_equal(pipeline.predict(X), NLDDClassifier(random_state=0).fit(Z, Y).predict(Z))
    assert pipeline[-1].beta_.shape == (3,)


def test_pipeline_with_pandas_output_upstream(frame):
    X, Y = frame
    set_config(transform_output="pandas")
    try:
        pipeline = make_pipeline(StandardScaler(), NLDDClassifier(random_state=0)).fit(X, Y)
        predictions = pipeline.predict(X)
    finally:
        set_config(transform_output="default")
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    assert pipeline[-1].label_names_.tolist() == list("wxyz")
    plain = make_pipeline(StandardScaler(), NLDDClassifier(random_state=0)).fit(X, Y)
    assert_array_equal(predictions, plain.predict(X))


def test_grid_search_over_base_and_own_parameters(small):
    X, Y = small
    search = GridSearchCV(
        NLDDClassifier(LogisticRegression(), random_state=0),
        {"estimator__C": [0.01, 1.0], "standardize": ["numeric", "none"]},
        scoring=MEASURES["hamming_loss"].scorer(),
        cv=3,
    ).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    assert -0.3 < search.best_score_ < 0  # a loss, with the sign turned
    assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_cross_val_predict_and_score(small):
    X, Y = small
    model = NLDDClassifier(random_state=0)
    predictions = cross_val_predict(model, X, Y, cv=3)
    assert {tuple(row) for row in predictions} <= {tuple(row) for row in Y}
    probabilities = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
    assert_array_equal(probabilities.round(), predictions)
    folds = cross_val_score(model, X, Y, cv=3)
    assert_allclose(folds.mean(), (predictions == Y).all(axis=1).mean())


@pytest.mark.parametrize("n_labels", [2, 4])
def test_scorers_of_probabilities_see_labels_not_classes(small, n_labels):
    X, Y = small[0], small[1][:, :n_labels]
    model = NLDDClassifier(random_state=0).fit(X[::2], Y[::2])
    expected = roc_auc_score(Y[1::2], model.predict_proba(X[1::2]), average="macro")
    assert get_scorer("roc_auc")(model, X[1::2], Y[1::2]) == pytest.approx(expected)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
@pytest.mark.parametrize("estimator", [NLDDClassifier, BinaryRelevance])
def test_joblib_backends_change_nothing(small, backend, estimator):
    X, Y = small
    expected = estimator(PlattSVC(), random_state=0).fit(X, Y)
    with joblib.parallel_config(backend, n_jobs=2):
        model = estimator(PlattSVC(), random_state=0).fit(X, Y)
        probabilities = model.predict_proba(X)
    assert_array_equal(probabilities, expected.predict_proba(X))


def test_model_survives_pickling_by_joblib(small, tmp_path):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    assert_array_equal(again.predict_theta(X), model.predict_theta(X))


def test_metadata_routing_of_sample_weight(small):
    X, Y = small
    weight = np.where(Y[:, 0] == 1, 5.0, 1.0)
    direct = NLDDClassifier(random_state=0).fit(X, Y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        step = NLDDClassifier(random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler(with_mean=False, with_std=False)
        routed = make_pipeline(scaler.set_fit_request(sample_weight=False), step)
        routed.fit(X, Y, sample_weight=weight)
    assert_allclose(routed[-1].beta_, direct.beta_)
