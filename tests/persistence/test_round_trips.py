"""A model from a file answers as the one that was saved, to the last bit; of old formats, too."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from model_files import METHODS, assert_same_answers, members_of, refusal, small_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from nldd import BinaryRelevance, ClassifierChain, NLDDClassifier, PlattSVC, load_model, save_model
from nldd.estimators._base_classifiers import ConstantLabel
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.persistence._archive import FORMAT, Contents, read_archive, write_archive

pytestmark = pytest.mark.filterwarnings(
    "ignore::nldd.NLDDWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


def saved_and_loaded(model, path):
    save_model(model, path)
    content = path.read_bytes()
    loaded = load_model(path)
    save_model(loaded, path)
    assert path.read_bytes() == content  # and so on for ever
    return loaded


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
def test_models_of_nldd(path, method, sparse):
    X, Y = small_problem()
    X = csr_matrix(np.where(X > 0.5, X, 0)) if sparse else X
    labels = [{f"label {j}" for j in np.flatnonzero(row)} for row in Y]
    model = METHODS[method].fit(X, labels)
    loaded = saved_and_loaded(model, path)
    assert loaded.label_names_.tolist() == model.label_names_.tolist()
    assert vars(loaded).keys() == vars(model).keys()
    assert repr(loaded) == repr(model)
    assert_same_answers(loaded, model, X)
    assert "estimators.skops" not in members_of(path)


@pytest.mark.parametrize(
    "options",
    [
        {"covariance": "exchangeable"},
        {"standardize": "none"},
        {"standardize": "all"},
        {"train_fraction": 0.7, "max_pairs": 10, "random_state": np.random.RandomState(0)},
        {"estimator": PlattSVC(solver="liblinear", C=2.0)},
        {"decision": "jaccard", "n_jobs": 2},
    ],
)
def test_rows_can_be_added_to_what_was_loaded(path, options):
    if "covariance" in options:
        pytest.importorskip("statsmodels")
    X, Y = small_problem()
    model = NLDDClassifier(**{"random_state": 0, **options}).fit(X[:40], Y[:40])
    loaded = saved_and_loaded(model, path)
    assert_same_answers(loaded, model, X)
    for each in (loaded, model):
        each.add(X[40:50], Y[40:50])
    assert_same_answers(loaded, model, X)
    assert_same_answers(saved_and_loaded(model, path), model, X)


@pytest.mark.parametrize(
    "names",
    [["a", "größe", "", "1"], [3, 1, 4, -10], [0.5, 1.0, -2.0, 1e300], [True, False]],
    ids=["text", "whole", "decimal", "booleans"],
)
def test_label_names_keep_their_type(path, names):
    X, Y = small_problem()
    labels = [{name for name, y in zip(names, row, strict=False) if y} for row in Y]
    model = NLDDClassifier(random_state=0).fit(X, labels)
    loaded = saved_and_loaded(model, path)
    assert loaded.label_names_.tolist() == model.label_names_.tolist()
    assert {type(name) for name in loaded.label_names_} == {type(names[0])}
    assert loaded.label_names_.dtype == object
    assert_array_equal(loaded.classes_, model.classes_)
    for each in (loaded, model):
        each.add(X[:2], labels[:2])
    assert_same_answers(loaded, model, X)


@pytest.mark.parametrize("classes", [["a", "b", "c"], [7, 5, 3], [1.0, 2.0, 4.0]])
def test_target_of_classes(path, classes):
    X, _ = small_problem()
    y = np.array(classes)[np.argmax(X[:, :3], axis=1)]
    for model in (
        NLDDClassifier(random_state=0),
        ClassifierChain(),
        MultiLabelLogisticRegression(class_weight=dict.fromkeys(classes, 2.0)),
    ):
        model.fit(X[:50], y[:50])
        loaded = saved_and_loaded(model, path)
        assert loaded.classes_.tolist() == sorted(classes)
        assert loaded.classes_.dtype == model.classes_.dtype
        assert loaded.single_label_ is True
        assert_same_answers(loaded, model, X)
        assert loaded.score(X[50:], y[50:]) == model.score(X[50:], y[50:])


def test_frames_keep_names_of_features_and_labels(path):
    pandas = pytest.importorskip("pandas")
    X, Y = small_problem()
    X = pandas.DataFrame(X, columns=["a", "b", "größe", "d"])
    Y = pandas.DataFrame(Y, columns=["w", "x", "y", "z"])
    for model in (NLDDClassifier(random_state=0), BinaryRelevance()):
        loaded = saved_and_loaded(model.fit(X, Y), path)
        assert loaded.feature_names_in_.tolist() == ["a", "b", "größe", "d"]
        assert_same_answers(loaded, model, X)
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(X.rename(columns={"a": "other"}))


def test_all_that_was_learned_is_there(path):
    X, Y = small_problem()
    model = NLDDClassifier(PlattSVC(C=3.0), random_state=5, verbose=0)
    model.fit(X, Y, sample_weight=np.linspace(0, 2, len(X)))
    loaded = saved_and_loaded(model, path)
    for records in ("regression_", "pairs_"):
        for field in dataclasses.fields(getattr(model, records)):
            value = getattr(getattr(loaded, records), field.name)
            expected = getattr(getattr(model, records), field.name)
            assert_array_equal(value, expected)
            assert type(value) is type(expected)
    assert str(loaded.regression_) == str(model.regression_)
    for name, kind in (("beta_", np.float64), ("rows_", np.intp), ("labelsets_", np.int8)):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
        assert getattr(loaded, name).dtype == kind
    assert [type(each) for each in loaded.estimators_] == [*[PlattSVC] * 3, ConstantLabel]
    assert loaded.estimator.C == 3.0
    assert_same_answers(loaded.fit(X[:30], Y[:30]), model.fit(X[:30], Y[:30]), X)


def test_models_in_a_file_of_another_kind(path):
    """As coding does: models under names of their own, next to other things."""
    X, Y = small_problem()
    models = {
        name: NLDDClassifier(random_state=seed).fit(X, Y)
        for seed, name in enumerate(["now", "old"])
    }
    write_archive(path, Contents("other", {"settings": {"sep": ";"}}, {"X": X}, models))
    read = read_archive(path, kind="other")
    assert read.documents == {"settings": {"sep": ";"}}
    assert_array_equal(read.arrays["X"], X)
    for name, model in models.items():
        assert_same_answers(read.models[name], model, X)
    assert refusal(path, load_model).startswith("holds a model of kind 'other'")


def test_what_cannot_be_saved(path):
    X, Y = small_problem()
    with pytest.raises(NotFittedError):
        save_model(NLDDClassifier(), path)

    class Mine(NLDDClassifier):
        pass

    for thing in (
        Mine(random_state=0).fit(X, Y),
        PlattSVC().fit(X, Y[:, 0]),
        make_pipeline(NLDDClassifier(), PlattSVC()),
        [],
    ):
        with pytest.raises(InputError, match=type(thing).__name__) as caught:
            save_model(thing, path)
        assert caught.value.hint
    labels = [{("a", 1)} if y[0] else {("b", 2)} for y in Y]
    model = NLDDClassifier(random_state=0).fit(X, labels)
    assert "('a', 1)" in refusal(path, lambda path: save_model(model, path))
    model = MultiLabelLogisticRegression().fit(X, Y)
    model.coef_[0, 0] = np.nan
    assert "'coef_'" in refusal(path, lambda path: save_model(model, path))
    assert not path.exists()


FILES = Path(__file__).parent / "files"
STORED = sorted(path.relative_to(FILES) for path in FILES.glob("*/*.nldd"))


@pytest.mark.parametrize("path", STORED, ids=str)
def test_stored_model_predicts_the_same(path):
    expected = json.loads((FILES / path.parent / "expected.json").read_text(encoding="utf-8"))
    model = load_model(FILES / path)
    for ask, said in expected["said"][path.name].items():
        found = getattr(model, ask)(np.array(expected["X"]))
        if ask == "predict":
            assert_array_equal(found, said)
        else:  # sums may differ in their last digits
            assert_allclose(found, said, rtol=1e-9, atol=1e-12)


def test_this_format_is_stored():
    assert any(path.parent.name == f"format{FORMAT}" for path in STORED)
