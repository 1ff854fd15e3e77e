"""Small models, and their files taken apart and put together again."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin

from nldd.estimators._binary_relevance import BinaryRelevance, SubsetMapping
from nldd.estimators._cbm import ConditionalBernoulliMixture
from nldd.estimators._chains import ClassifierChain, EnsembleOfChains
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._powersets import LabelPowerset, RAkEL
from nldd.estimators._svm import PlattSVC
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.persistence._archive import read_archive

# Models of nldd alone, which take no consent: each method, each base, each sort of features.
METHODS = {
    "nldd": NLDDClassifier(random_state=0),
    "nldd of platt": NLDDClassifier(PlattSVC(), decision="f1", random_state=0),
    "nldd of subset": NLDDClassifier(decision="subset", random_state=0),
    "nldd of mine": NLDDClassifier({"a": PlattSVC(), "b": PlattSVC(C=2.0)}, random_state=0),
    "nldd, multiplicative": NLDDClassifier(None, model="multiplicative", random_state=0),
    "binary relevance": BinaryRelevance(),
    "binary relevance of platt": BinaryRelevance(PlattSVC()),
    "subset mapping": SubsetMapping(PlattSVC()),
    "chain": ClassifierChain(),
    "chain of platt": ClassifierChain(PlattSVC(), order=[2, 0, 3, 1]),
    "chain of weighted words": ClassifierChain(MultiLabelLogisticRegression(features="tfidf")),
    "chain of kernels": ClassifierChain(MultiLabelLogisticRegression(features="rbf")),
    "ensemble of chains": EnsembleOfChains(n_members=3, random_state=0),
    "ensemble of platt": EnsembleOfChains(PlattSVC(), n_members=2, random_state=0),
    "powerset": LabelPowerset(),
    "rakel": RAkEL(MultiLabelLogisticRegression(), random_state=0),
    "ml-knn": MLkNN(k=3),
    "mixture": ConditionalBernoulliMixture(
        random_state=0, n_components=2, n_iterations=2, n_restarts=1
    ),
    "logistic": MultiLabelLogisticRegression(C=[1.0, 2.0, 3.0, 4.0], class_weight={0: 1.0, 1: 2.0}),
    "kernel": MultiLabelLogisticRegression(features="rbf"),
    "normalised": MultiLabelLogisticRegression(features="normalised"),
}


class Mine(ClassifierMixin, BaseEstimator):
    """A classifier of the user's own."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.classes_[1])


def small_problem(n_rows=60):
    """Rows of three clusters with labels that follow them; the last label is constant."""
    rng = np.random.default_rng(4)
    cluster = rng.integers(0, 3, size=n_rows)
    X = (rng.normal(size=(n_rows, 4)) + 2.5 * np.eye(4)[cluster]).round(2)
    Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1]])[cluster]
    Y[:, :3] ^= rng.random((n_rows, 3)) < 0.1
    return X, Y


def assert_same_answers(loaded, model, X):
    """Equal to the last bit in all that a model answers."""
    assert type(loaded) is type(model)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype
    for name in ("predict_proba", "decision_function", "predict_theta", "label_probabilities"):
        if hasattr(model, name):
            assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X))
    if isinstance(model, NLDDClassifier):
        assert loaded.explain(X) == model.explain(X)


def refusal(path, read=read_archive, **options):
    """Why a file is refused: a line with its name, which is left out, and a hint."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.hint
    return message.removeprefix(f"{path}: ").removesuffix(".")


def members_of(path):
    """Members of a zip file by name, in order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def put_together(members, path, changes=()):
    """A model file of these members, with a manifest that fits them but for the `changes`."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    manifest.update(changes)
    write_zip({**members, "manifest.json": json.dumps(manifest).encode()}, path)


def with_document(members, change):
    """Members with the document changed: ``change(document)``, in place."""
    document = json.loads(members["document.json"])
    change(document)
    return {**members, "document.json": json.dumps(document).encode()}


def with_learned(members, change, *way):
    """Members with what an object has learned changed, by ``change(learned)``.

    It is the model, or what the attributes of the `way` lead to.
    """

    def change_one(document):
        record = document["models"]["model"]
        for name in way:
            record = record["learned"][name] if isinstance(name, str) else record[name]
        change(record["learned"])

    return with_document(members, change_one)


def write_zip(members, path, compressed=()):
    """A zip file, with some members compressed; fast, and without a look at anything."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            method = zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), content, method)


def zip_bytes(members, compressed=()):
    stream = io.BytesIO()
    write_zip(members, stream, compressed)
    return stream.getvalue()
