"""Linear classifiers are arrays in a file: equal to the last bit, checked number by number."""

import json
from io import BytesIO

import numpy as np
import pytest
from model_files import members_of, npy_bytes, put_together, refusal, small_problem
from numpy.testing import assert_array_equal
from sklearn.linear_model import (
    LogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
)
from sklearn.svm import LinearSVC

from nldd import BinaryRelevance, PlattSVC, SubsetMapping
from nldd.estimators import ConstantLabel
from nldd.exceptions import InputError
from nldd.io import Contents, load_model, read_archive, save_model, write_archive

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning"
)

LINEAR = [
    (LogisticRegression, {"solver": "liblinear"}),
    (LogisticRegression, {"C": 2.5, "random_state": 3}),
    (SGDClassifier, {"loss": "log_loss"}),
    (SGDClassifier, {"loss": "modified_huber", "alpha": 1e-3}),
    (Perceptron, {}),
    (PassiveAggressiveClassifier, {}),
    (LinearSVC, {}),
    (PlattSVC, {}),
    (PlattSVC, {"solver": "liblinear"}),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("Type", "parameters"), LINEAR)
def test_linear_classifiers_are_arrays(path, Type, parameters, dtype):
    X, Y = small_problem()
    X = X.astype(dtype)
    model = BinaryRelevance(Type(**parameters), random_state=0).fit(X, Y)
    save_model(model, path)
    assert "linear/models/coef_.npy" in members_of(path)
    loaded = load_model(path)
    assert isinstance(loaded.estimators_[3], ConstantLabel)
    for label in range(3):
        given, expected = loaded.estimators_[label], model.estimators_[label]
        assert type(given) is type(expected)
        assert given.get_params() == expected.get_params()
        assert_array_equal(given.coef_, expected.coef_)
        assert given.coef_.dtype == expected.coef_.dtype
        assert type(given.random_state) is int
        assert_array_equal(given.predict(X), expected.predict(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_default_needs_no_skops(path, members):
    assert not any(name.endswith(".skops") for name in members)
    coef = np.load(BytesIO(members["linear/classifier/models/coef_.npy"]))
    assert coef.shape == (3, 4)  # the last of the four labels is constant
    document = json.loads(members["linear/classifier/models.json"])
    assert document["type"] == "sklearn.linear_model.LogisticRegression"
    assert document["constants"] == [None, None, None, 1]
    assert document["parameters"]["solver"] == ["liblinear"]
    assert len(document["parameters"]["random_state"]) == 3


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(class_weight={0: 1.0, 1: 2.0}),
        LogisticRegression(random_state=np.random.RandomState(0)),
        SGDClassifier(loss="log_loss", average=True),
    ],
    ids=["dict", "generator", "averages"],
)
def test_what_is_more_than_numbers_goes_through_skops(path, base):
    X, Y = small_problem()
    model = BinaryRelevance(base).fit(X, Y)
    save_model(model, path)
    assert "estimators/models.skops" in members_of(path)
    assert_array_equal(load_model(path).predict_proba(X), model.predict_proba(X))


def test_attributes_of_the_users_own_are_kept(path):
    X, Y = small_problem()
    model = LogisticRegression().fit(X, Y[:, 0])
    model.note_ = "mine"
    write_archive(path, Contents("test", estimators={"all": [model]}))
    assert read_archive(path).estimators["all"][0].note_ == "mine"


def test_subset_mapping_of_linear_classifiers(path):
    X, Y = small_problem()
    model = SubsetMapping(LinearSVC()).fit(X, Y)
    save_model(model, path)
    assert "linear/models.json" in members_of(path)
    assert model.estimators_  # the model itself keeps them
    assert_array_equal(load_model(path).predict(X), model.predict(X))


def changed_document(members, change):
    document = json.loads(members["linear/classifier/models.json"])
    change(document)
    return {**members, "linear/classifier/models.json": json.dumps(document).encode()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(type="os.system"), "of the type 'os.system', which is none"),
        (lambda d: d.update(type="sklearn.linear_model.Lasso"), "Lasso', which is none"),
        (lambda d: d.update(type=None), "no type, parameters and constants"),
        (lambda d: d.update(type="sklearn.svm.LinearSVC"), "cannot be made: TypeError"),
        (lambda d: d["constants"].append(2), "neither 0 nor 1"),
        (lambda d: d["constants"].append(True), "neither 0 nor 1"),
        (lambda d: d["constants"].append(0.0), "neither 0 nor 1"),
        (lambda d: d["constants"].append(None), "damaged"),
        (lambda d: d["parameters"].update(C=[1.0, 2.0]), "'C' of its classifiers is not a plain"),
        (lambda d: d["parameters"].update(C=[[1.0]]), "'C' of its classifiers is not a plain"),
        (lambda d: d["parameters"].update(C=1.0), "'C' of its classifiers is not a plain"),
        (lambda d: d["parameters"].update(C=[]), "'C' of its classifiers is not a plain"),
        (lambda d: d["parameters"].update(C=[-1.0]), "cannot be made: InvalidParameterError"),
        (lambda d: d["parameters"].update(n_jobs=[5000]), "asks for 5000 threads"),
        (lambda d: d["parameters"].update(coef_=[1.0]), "cannot be made: TypeError"),
        (lambda d: d.pop("constants"), "no type, parameters and constants"),
    ],
)
def test_parameters_that_no_classifier_has(path, members, change, message):
    put_together(changed_document(members, change), path)
    assert message in refusal(path, load_model)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("coef_", np.full((3, 4), np.nan), "coef_ of its classifiers holds numbers"),
        ("coef_", np.zeros((3, 4), dtype=np.int64), "coef_ of its classifiers has shape (3, 4)"),
        ("coef_", np.zeros((3, 4), dtype=">f8"), ""),
        ("coef_", np.zeros((2, 4)), "coef_ of its classifiers has shape (2, 4)"),
        ("coef_", np.zeros(12), "its linear classifiers have"),
        ("coef_", np.zeros((3, 5)), "its classifiers cannot answer here: ValueError"),
        ("intercept_", np.full((3, 1), np.inf), "intercept_ of its classifiers holds numbers"),
        ("intercept_", np.zeros((3, 2)), "intercept_ of its classifiers has shape (3, 2)"),
        ("intercept_", np.zeros((3, 1), dtype="U1"), "intercept_ of its classifiers has shape"),
        ("n_iter_", np.full((3, 1), -1), "n_iter_ of its classifiers holds numbers"),
        ("sigmoid_", np.zeros((3, 2)), "its linear classifiers have"),
    ],
)
def test_numbers_that_no_classifier_has(path, members, name, array, message):
    put_together({**members, f"linear/classifier/models/{name}.npy": npy_bytes(array)}, path)
    if not message:  # the same numbers in another order of bytes
        assert load_model(path).estimators_[0].coef_.shape == (1, 4)
        return
    assert message in refusal(path, load_model)


def test_arrays_of_nobody_are_refused(path, members):
    put_together({**members, "linear/other/coef_.npy": npy_bytes(np.zeros((3, 4)))}, path)
    with pytest.raises(InputError, match="arrays of classifiers without their parameters"):
        load_model(path)
    rest = {name: content for name, content in members.items() if "n_iter_" not in name}
    put_together(rest, path)
    with pytest.raises(InputError, match="its linear classifiers have"):
        load_model(path)


def test_parameter_of_another_version_names_both(path, members):
    changed = changed_document(members, lambda d: d["parameters"].update(multi_class=["ovr"]))
    versions = {**json.loads(members["manifest.json"])["versions"], "scikit-learn": "1.2.3"}
    put_together(changed, path, versions=versions)
    if "multi_class" in LogisticRegression().get_params():
        pytest.skip("this scikit-learn has the parameter")
    with pytest.raises(InputError, match=r"saved with scikit-learn 1\.2\.3, and here is") as caught:
        load_model(path)
    assert "damaged" not in str(caught.value)
    assert caught.value.hint.startswith('pip install "scikit-learn==1.2.3"')


@pytest.mark.parametrize("n_models", [3, 5])
def test_classifiers_that_are_not_one_a_label(path, n_models):
    X, Y = small_problem()
    model = BinaryRelevance().fit(X, Y)
    model.estimators_ = [model.estimators_[0]] * n_models
    save_model(model, path)
    with pytest.raises(InputError, match=f"damaged: it has {n_models} classifiers for 4 labels"):
        load_model(path)
