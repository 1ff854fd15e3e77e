"""Every kind of estimator through a file: equal answers, and nothing that was not on the list."""

import json
import warnings

import numpy as np
import pytest
from model_files import small_problem
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._cbm import ConditionalBernoulliMixture
from nldd.estimators._classifier_chain import ClassifierChain
from nldd.estimators._ensemble_of_chains import EnsembleOfChains
from nldd.estimators._label_powerset import LabelPowerset
from nldd.estimators._linear_svm import LinearSVM
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._platt_svc import PlattSVC
from nldd.estimators._rakel import RAkEL
from nldd.estimators._random_forest_pct import RandomForestPCT
from nldd.estimators._subset_mapping import SubsetMapping
from nldd.exceptions import InputError, NLDDWarning
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.persistence._archive import Contents, read_archive, write_archive
from nldd.persistence._models import load_model, save_model

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning"
)

CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "liblinear": LogisticRegression(solver="liblinear"),
    "logistic cv": LogisticRegressionCV(cv=2, Cs=2),
    "sigmoid": CalibratedClassifierCV(LinearSVC(), cv=2),
    "isotonic": CalibratedClassifierCV(LinearSVC(), cv=2, method="isotonic"),
    "calibrated neighbours": CalibratedClassifierCV(KNeighborsClassifier(), cv=2),
    "forest": RandomForestClassifier(5, random_state=0),
    "pruned forest": RandomForestClassifier(5, random_state=0, ccp_alpha=0.02, max_leaf_nodes=9),
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "linear machine": LinearSVC(),
    "machine": SVC(),
    "linear kernel": SVC(kernel="linear"),
    "nu machine": NuSVC(nu=0.1),
    "stochastic": SGDClassifier(loss="log_loss", random_state=0),
    "stochastic huber": SGDClassifier(loss="modified_huber", random_state=0),
    "multinomial": MultinomialNB(),
    "bernoulli": BernoulliNB(),
    "complement": ComplementNB(),
    "normal": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "ball tree": KNeighborsClassifier(algorithm="ball_tree", weights="distance", p=1),
    "brute force": KNeighborsClassifier(algorithm="brute"),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(),
    "one of each": OneVsRestClassifier(LogisticRegression()),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "pipeline of scalers": make_pipeline(MaxAbsScaler(), Normalizer(), GaussianNB()),
    "platt": PlattSVC(),
    "libsvm": LinearSVM(),
}


def answers(estimator, X):
    methods = ("predict", "predict_proba", "decision_function")
    return [getattr(estimator, name)(X) for name in methods if hasattr(estimator, name)]


def through_file(estimators, path, **options):
    write_archive(path, Contents("test", estimators={"all": estimators}))
    return read_archive(path, **options).estimators["all"]


@pytest.mark.parametrize("several", [False, True], ids=["two classes", "three classes"])
def test_classifiers_of_scikit_learn(path, several):
    X, Y = small_problem()
    X = MinMaxScaler().fit_transform(X)
    y = Y[:, 0] + several * Y[:, 1]
    only_two = {"platt", "liblinear"} if several else set()
    models = {name: model for name, model in CLASSIFIERS.items() if name not in only_two}
    fitted = [model.fit(X, y) for model in models.values()]
    through, content = through_file(fitted, path), path.read_bytes()
    through_file(fitted, path)
    assert path.read_bytes() == content
    for name, loaded, model in zip(models, through, fitted, strict=True):
        assert type(loaded) is type(model)
        for given, expected in zip(answers(loaded, X), answers(model, X), strict=True):
            assert_array_equal(given, expected, err_msg=name)


@pytest.mark.parametrize("probability", [False, True])
def test_machines_on_sparse_features(path, probability):
    X, Y = small_problem()
    X = csr_matrix(np.where(X > 0.5, X, 0))
    fitted = [
        SVC(kernel="rbf", probability=probability, random_state=0).fit(X, Y[:, 0]),
        LogisticRegression().fit(X, Y[:, 0]).sparsify(),
        KNeighborsClassifier().fit(X, Y[:, 0]),
        LinearSVM().fit(X, Y[:, 0] + Y[:, 1]),
    ]
    for loaded, model in zip(through_file(fitted, path), fitted, strict=True):
        for given, expected in zip(answers(loaded, X), answers(model, X), strict=True):
            assert_array_equal(given, expected)


def test_object_in_two_places_stays_one(path):
    X, Y = small_problem()
    model = LogisticRegression().fit(X, Y[:, 0])
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y[:, 0])
    one, other, holder = through_file([model, model, pipeline], path)
    assert one is other
    assert holder[-1] is one


METHODS = {
    "binary relevance": BinaryRelevance(),
    "binary relevance, chosen": BinaryRelevance("auto", random_state=0),
    "kernel": MultiLabelLogisticRegression(features="rbf"),
    "normalised": MultiLabelLogisticRegression(features="normalised"),
    "binary relevance of machines": BinaryRelevance(LinearSVC()),
    "subset mapping": SubsetMapping(PlattSVC()),
    "chain": ClassifierChain(),
    "chain of weighted words": ClassifierChain(MultiLabelLogisticRegression(features="tfidf")),
    "chain of kernels": ClassifierChain(MultiLabelLogisticRegression(features="rbf")),
    "ensemble of chains": EnsembleOfChains(n_members=3, random_state=0),
    "powerset": LabelPowerset(),
    "powerset of platt": LabelPowerset(PlattSVC()),
    "rakel": RAkEL(random_state=0),
    "rakel of machines": RAkEL(LinearSVM(), random_state=0),
    "ml-knn": MLkNN(k=3),
    "mixture": ConditionalBernoulliMixture(
        random_state=0, n_components=2, n_iterations=2, n_restarts=1
    ),
    "forest": RandomForestPCT(n_estimators=5, random_state=0),
}


@pytest.mark.parametrize("method", METHODS)
def test_other_models_of_nldd(path, method):
    X, Y = small_problem()
    if method in ("binary relevance", "powerset", "ml-knn", "mixture"):
        X = csr_matrix(np.where(X > 0.5, X, 0))
    labels = [{f"label {j}" for j in np.flatnonzero(row)} for row in Y]
    model = METHODS[method].fit(X, labels)
    save_model(model, path)
    content = path.read_bytes()
    loaded = load_model(path)
    save_model(loaded, path)
    assert path.read_bytes() == content
    assert type(loaded) is type(model)
    assert loaded.label_names_.tolist() == model.label_names_.tolist()
    for given, expected in zip(answers(loaded, X), answers(model, X), strict=True):
        assert_array_equal(given, expected)


class Mine(ClassifierMixin, BaseEstimator):
    """A classifier of the user's own."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.classes_[1])


def test_type_of_the_users_own_needs_consent(path):
    X, Y = small_problem()
    model = BinaryRelevance(Mine()).fit(X, Y)
    name = f"{Mine.__module__}.Mine"
    with pytest.warns(NLDDWarning, match=rf'load_model\(path, trusted=\["{name}"\]\)'):
        save_model(model, path)
    with pytest.raises(InputError, match=f"it holds the type '{name}', which nldd") as caught:
        load_model(path)
    assert caught.value.hint.endswith(f'load_model(path, trusted=["{name}"])')
    assert "Only if you know who made the file" in caught.value.hint
    loaded = load_model(path, trusted=[name])
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        FunctionTransformer(np.log1p),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),
        GridSearchCV(LogisticRegression(), {"C": [1, 10]}, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_types_that_need_consent_are_saved_and_loaded_with_it(path, model):
    X, Y = small_problem()
    X = abs(X)
    model.fit(X, Y[:, 0])
    with pytest.warns(NLDDWarning, match="to read the model, its users must write") as caught:
        write_archive(path, Contents("test", estimators={"all": [model]}))
    wanted = str(caught[0].message).split("trusted=")[1].removesuffix(").")
    with pytest.raises(InputError, match="which nldd does not load") as refused:
        read_archive(path)
    assert refused.value.hint.endswith(f"load_model(path, trusted={wanted})")
    (loaded,) = read_archive(path, trusted=json.loads(wanted)).estimators["all"]
    method = "predict" if hasattr(model, "predict") else "transform"
    assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


def test_file_that_would_write_a_file_is_refused(path, tmp_path):
    """StackingClassifier calls a method that the file names, of what FunctionTransformer gives."""
    X, Y = small_problem()
    stack = StackingClassifier([("a", GaussianNB())], cv=2).fit(X, Y[:, 0])
    stack.stack_method_ = ["tofile"]
    stack.estimators_ = [np.frombuffer(b"#!/bin/sh", dtype=np.uint8)]
    model = BinaryRelevance(GaussianNB()).fit(X, Y)
    pipeline = make_pipeline(FunctionTransformer(str), stack)
    model.estimators_ = [pipeline] * 4
    with pytest.warns(NLDDWarning, match="FunctionTransformer"):
        save_model(model, path)
    with pytest.raises(
        InputError, match=r"FunctionTransformer.*which nldd does not load"
    ) as caught:
        load_model(path)
    assert "StackingClassifier" in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_what_skops_cannot_store(path):
    model = Mine()
    model.rest_ = (number for number in [])
    with pytest.raises(InputError, match="estimators 'all' cannot be stored: TypeError"):
        write_archive(path, Contents("test", estimators={"all": [model]}))


def test_no_warning_of_scikit_learn_about_versions(path, monkeypatch):
    X, Y = small_problem()
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.0.0")
        write_archive(path, Contents("test", estimators={"a": [GaussianNB().fit(X, Y[:, 0])]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (loaded,) = read_archive(path).estimators["a"]
    assert loaded.predict(X).shape == (60,)


def test_model_of_classes(path):
    X, Y = small_problem()
    y = np.array(["no", "yes"])[Y[:, 0]]
    model = ClassifierChain().fit(X, y)
    save_model(model, path)
    assert_array_equal(load_model(path).predict(X), model.predict(X))
