"""NLDD inside scikit-learn code: what an engineer tries in the first five minutes."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nldd import BinaryRelevance, NLDDClassifier, PlattSVC

# Small samples may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


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
