"""A classifier from a file answers as the one that was saved, to the last bit."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest
from model_files import assert_same_answers, npy_bytes, put_together, refusal, small_problem
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from nldd.estimators._label_models import ConstantLabel
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._platt_svc import PlattSVC
from nldd.exceptions import InputError
from nldd.persistence._archive import Contents, read_archive, write_archive
from nldd.persistence._models import (
    _narrow_places,
    load_model,
    pack_classifier,
    save_model,
    unpack_classifier,
)
from problems import random_problem


def saved_and_loaded(model, path):
    save_model(model, path)
    content = path.read_bytes()
    loaded = load_model(path)
    save_model(loaded, path)
    assert path.read_bytes() == content  # and so on for ever
    return loaded


CASES = {
    "default": {},
    "multiplicative": {"model": "multiplicative"},
    "exchangeable": {"covariance": "exchangeable"},
    "unscaled": {"standardize": "none"},
    "all scaled": {"standardize": "all"},
    "part of the rows": {"train_fraction": 0.7, "max_pairs": 10},
    "platt": {"estimator": PlattSVC()},
    "liblinear": {"estimator": PlattSVC(solver="liblinear", C=2.0)},
    "joint": {"estimator": RandomForestClassifier(n_estimators=7, random_state=1)},
    "plain": {"estimator": None},
    "chosen of mine": {"estimator": {"naive": GaussianNB(), "platt": PlattSVC()}},
    "trees": {"estimator": "auto+trees"},
    "decision": {"decision": "f"},
    "threads": {"n_jobs": 2},
}


@pytest.mark.filterwarnings("ignore::nldd.ZeroWeightWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c == "trees" else c for c in CASES]
)
def test_loaded_classifier_gives_the_same_answers(path, case):
    X, Y = small_problem()
    if case == "exchangeable":
        pytest.importorskip("statsmodels")
    model = NLDDClassifier(random_state=0, **CASES[case]).fit(X[:40], Y[:40])
    loaded = saved_and_loaded(model, path)
    assert_same_answers(loaded, model, X)
    for each in (loaded, model):
        each.add(X[40:50], Y[40:50])
    assert_same_answers(loaded, model, X)
    assert_same_answers(saved_and_loaded(model, path), model, X)


@pytest.mark.parametrize("container", [csr_matrix, csr_array, np.float32])
def test_other_forms_of_features(path, container):
    X, Y = small_problem()
    X = np.where(np.abs(X) < 0.7, 0, X)
    model = NLDDClassifier(random_state=0).fit(container(X[:50]), Y[:50])
    loaded = saved_and_loaded(model, path)
    assert_same_answers(loaded, model, container(X))
    assert (len(loaded.index_.features.dense) == 0) == (container is not np.float32)
    for each in (loaded, model):
        each.add(container(X[50:]), Y[50:])
    assert_same_answers(loaded, model, container(X))


@pytest.mark.filterwarnings("ignore::nldd.ZeroWeightWarning")
@pytest.mark.parametrize(("step", "kind"), [(1, np.uint8), (0.5, np.float32), (0.1, np.float64)])
def test_numbers_take_as_few_bytes_as_they_need(path, step, kind):
    X, Y = small_problem()
    X = csr_matrix(abs(X).round() * step)
    model = NLDDClassifier(standardize="none", random_state=0).fit(X, Y)
    assert pack_classifier(model).arrays["classifier/Z.data"].dtype == kind
    assert_same_answers(saved_and_loaded(model, path), model, X)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "größe", "", "1"],
        [3, 1, 4, -10],
        [0.5, 1.0, -2.0, 1e300],
        [True, False],
    ],
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
    assert_same_answers(loaded, model, X)
    for each in (loaded, model):
        each.add(X[:2], labels[:2])
    assert_same_answers(loaded, model, X)


@pytest.mark.filterwarnings("ignore::nldd.ZeroWeightWarning")
@pytest.mark.parametrize("classes", [["a", "b", "c"], [7, 5, 3], [1.0, 2.0, 4.0]])
def test_target_of_classes(path, classes):
    X, _ = small_problem()
    y = np.array(classes)[np.argmax(X[:, :3], axis=1)]
    model = NLDDClassifier(random_state=0).fit(X[:50], y[:50])
    loaded = saved_and_loaded(model, path)
    assert loaded.classes_.tolist() == sorted(classes)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.single_label_ is True
    assert_same_answers(loaded, model, X)
    assert loaded.score(X[50:], y[50:]) == model.score(X[50:], y[50:])
    assert_array_equal(loaded.add(X[50:], y[50:]).predict(X), model.add(X[50:], y[50:]).predict(X))


def test_frames_keep_names_of_features_and_labels(path):
    pandas = pytest.importorskip("pandas")
    X, Y = small_problem()
    X = pandas.DataFrame(X, columns=["a", "b", "größe", "d"])
    Y = pandas.DataFrame(Y, columns=["w", "x", "y", "z"])
    model = NLDDClassifier(random_state=0).fit(X, Y)
    loaded = saved_and_loaded(model, path)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "größe", "d"]
    assert_same_answers(loaded, model, X)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"a": "other"}))


def test_why_a_base_was_chosen_is_there(path):
    X, Y = small_problem()
    model = NLDDClassifier("auto+trees", decision="accuracy", random_state=0).fit(X, Y)
    for with_trees in (0.0, 1.0):  # whichever it was, both can be kept
        found = {"alone": 0.5, "with trees": with_trees}
        model.chosen_ = dataclasses.replace(model.chosen_, f=found)
        classifiers = model.refit(X, Y)
        loaded = saved_and_loaded(classifiers, path)
        assert_same_answers(loaded, classifiers, X)
        assert len(loaded.estimators_) == 1 + int(with_trees)
        assert str(loaded.chosen_) == str(model.chosen_)
        assert loaded.chosen_.estimator.get_params() == model.chosen_.estimator.get_params()
        assert (loaded.tau_, loaded.decision) == (model.tau_, "accuracy")


@pytest.mark.parametrize(
    "change",
    [
        {"chosen": {"name": "a", "brier": {"a": 2.0}, "n_rows": 3, "f": None}},
        {"chosen": {"name": "a", "brier": {"a": 0.1}, "n_rows": -3, "f": None}},
        {"chosen": {"name": "a", "brier": {}, "n_rows": 3, "f": {"alone": 0.5}}},
        {"chosen": {"name": "a"}},
        {"tau": 0.0},
        {"tau": None},
        {"tau": "hot"},
    ],
)
def test_choices_that_none_makes(path, change):
    X, Y = small_problem()
    parts = pack_classifier(NLDDClassifier(decision="f", random_state=0).fit(X, Y))
    parts.documents["classifier"].update(change)
    write_archive(path, parts)
    with pytest.raises(InputError, match="damaged"):
        load_model(path)


def test_all_that_was_learned_is_there(path):
    X, Y = small_problem()
    weight = np.linspace(0, 2, len(X))
    model = NLDDClassifier(LogisticRegression(C=3.0), random_state=5, verbose=0)
    model.fit(X, Y, sample_weight=weight)
    loaded = saved_and_loaded(model, path)
    assert vars(loaded).keys() == vars(model).keys()
    assert not hasattr(loaded, "search_stats_")
    for records in ("regression_", "pairs_"):
        for field in dataclasses.fields(getattr(model, records)):
            value = getattr(getattr(loaded, records), field.name)
            expected = getattr(getattr(model, records), field.name)
            assert_array_equal(value, expected)
            assert type(value) is type(expected)
    assert str(loaded.regression_) == str(model.regression_)
    assert_array_equal(loaded.beta_, model.beta_)
    assert_array_equal(loaded.rows_, model.rows_)
    assert_array_equal(loaded.labelsets_, model.labelsets_)
    assert loaded._n_rows_given == model._n_rows_given == len(X)
    assert loaded.n_features_in_ == 4
    assert loaded.n_labels_ == 4
    assert [type(each) for each in loaded.estimators_] == [*[LogisticRegression] * 3, ConstantLabel]
    assert loaded.estimator.C == 3.0
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert repr(loaded) == repr(model)
    assert_same_answers(loaded.fit(X[:30], Y[:30]), model.fit(X[:30], Y[:30]), X)


def test_generator_of_random_numbers_is_left_out(path):
    X, Y = small_problem()
    base = RandomForestClassifier(n_estimators=3, random_state=np.random.RandomState(1))
    model = NLDDClassifier(base, random_state=np.random.RandomState(0)).fit(X, Y)
    save_model(model, path)
    loaded = load_model(path)
    assert loaded.random_state is None
    assert loaded.estimator.random_state is None
    assert_same_answers(loaded, model, X)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(4))
def test_tiny_problems_full_of_ties(path, seed):
    X, Y, queries = random_problem(seed)
    model = NLDDClassifier(random_state=0).fit(X, Y)
    loaded = saved_and_loaded(model, path)
    assert_array_equal(loaded.predict_theta(queries), model.predict_theta(queries))
    assert_array_equal(loaded.predict(queries), model.predict(queries))
    assert loaded.explain(queries) == model.explain(queries)


@pytest.mark.slow
def test_other_process_gives_the_same_answers(path, tmp_path):
    X, Y = small_problem()
    model = NLDDClassifier(random_state=0).fit(X, Y)
    save_model(model, path)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np; from nldd.io import load_model, save_model;"
        "model = load_model(sys.argv[1]); save_model(model, sys.argv[1] + '2');"
        "np.save(sys.argv[3], model.predict_theta(np.load(sys.argv[2])))"
    )
    files = [str(path), str(tmp_path / "X.npy"), str(tmp_path / "theta.npy")]
    subprocess.run([sys.executable, "-W", "error", "-c", code, *files], check=True)
    assert_array_equal(np.load(tmp_path / "theta.npy"), model.predict_theta(X))
    assert (tmp_path / "model.nldd2").read_bytes() == path.read_bytes()


def test_loading_fits_nothing(path, monkeypatch):
    X, Y = small_problem()
    model = NLDDClassifier(random_state=0).fit(X, Y)
    expected = model.predict_theta(X)
    save_model(model, path)
    for kind in (NLDDClassifier, LogisticRegression):
        monkeypatch.setattr(kind, "fit", None)
    assert_array_equal(load_model(path).predict_theta(X), expected)


def test_classifiers_in_a_file_of_another_kind(path):
    """As coding does: parts under names of their own, next to other things."""
    X, Y = small_problem()
    models = {
        name: NLDDClassifier(random_state=seed).fit(X, Y)
        for seed, name in enumerate(["now", "old"])
    }
    parts = {name: pack_classifier(model, name) for name, model in models.items()}
    names = [*parts["now"].documents, *parts["now"].arrays, *parts["now"].estimators]
    assert all(name.startswith("now") for name in names)
    contents = Contents(
        "coding-model",
        {"settings": {"sep": ";"}, **parts["now"].documents, **parts["old"].documents},
        {**parts["now"].arrays, **parts["old"].arrays},
        {**parts["now"].estimators, **parts["old"].estimators},
    )
    write_archive(path, contents)
    read = read_archive(path, kind="coding-model")
    assert read.documents["settings"] == {"sep": ";"}
    for name, model in models.items():
        assert_same_answers(unpack_classifier(read, name), model, X)
    with pytest.raises(InputError, match="holds a model of kind 'coding-model'"):
        load_model(path)
    with pytest.raises(InputError, match="its classifier cannot be rebuilt: KeyError: 'next'"):
        unpack_classifier(read, "next")


def test_what_cannot_be_saved(path):
    X, Y = small_problem()
    with pytest.raises(NotFittedError):
        save_model(NLDDClassifier(), path)

    class Mine(NLDDClassifier):
        pass

    with pytest.raises(InputError, match="model must be an NLDDClassifier; got Mine"):
        save_model(Mine(random_state=0).fit(X, Y), path)
    labels = [{("a", 1)} if y[0] else {("b", 2)} for y in Y]
    with pytest.raises(InputError, match="Label names must be text, numbers or booleans"):
        save_model(NLDDClassifier(random_state=0).fit(X, labels), path)
    with pytest.raises(InputError, match="Only models of nldd can be saved; got list") as caught:
        save_model([], path)
    assert caught.value.hint
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["label_names"].pop(), "it does not name each of its labels"),
        (lambda d: d["label_names"].append("more"), "it does not name each of its labels"),
        (lambda d: d["label_names"].__setitem__(0, None), "it does not name each of its labels"),
        (lambda d: d.update(n_features=5), "another number of features"),
        (lambda d: d.update(n_features="4"), "it says '4' where a count belongs"),
        (lambda d: d.update(n_rows_given=-1), "it says -1 where a count belongs"),
        (lambda d: d.update(feature_names=["a"]), "it does not name each of its features"),
        (lambda d: d.update(classifiers="separate"), "it has 1 classifiers for 4 labels"),
        (lambda d: d["parameters"].update(model="cubic"), "The 'model' parameter"),
        (lambda d: d["parameters"].update(model="multiplicative"), "of another model than it says"),
        (lambda d: d["parameters"].update(new=1), "unexpected keyword argument 'new'"),
        (lambda d: d.pop("regression"), "cannot be rebuilt: KeyError: 'regression'"),
        (lambda d: d.clear(), "cannot be rebuilt: KeyError: 'parameters'"),
    ],
)
def test_document_that_does_not_fit(path, members, change, message):
    document = json.loads(members["documents/classifier.json"])
    change(document)
    put_together({**members, "documents/classifier.json": json.dumps(document).encode()}, path)
    assert refusal(path, load_model).startswith("damaged: ")
    assert message in refusal(path, load_model)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("Y", np.full((60, 4), 2, dtype=np.uint8), "'Y' holds numbers that no model has"),
        ("Y", np.zeros((60, 4)), r"'Y' has shape (60, 4) and type float64"),
        ("Y", np.zeros((0, 4), dtype=np.uint8), "it has no rows"),
        ("Y", np.zeros(240, dtype=np.uint8), "cannot be rebuilt: ValueError"),
        ("Z", np.full((60, 4), np.inf), "'Z' holds numbers that no model has"),
        ("Z", np.zeros((59, 4)), "'Z' has shape (59, 4)"),
        ("scale", np.zeros(4), "'scale' holds numbers that no model has"),
        ("scale", np.full(4, np.nan), "'scale' holds numbers that no model has"),
        ("regression.beta", np.full(3, np.nan), "'regression.beta' holds numbers"),
        ("regression.beta", -np.ones(3), "its regression is none that nldd fits"),
        ("regression.covariance_matrix", np.zeros(3), "matrix' has shape (3,)"),
        ("pairs.row", np.zeros(3), "'pairs.row' has shape (3,)"),
        ("rows", np.zeros(60), "'rows' has shape (60,) and type float64"),
    ],
)
def test_arrays_that_do_not_fit(path, members, name, array, message):
    put_together({**members, f"arrays/classifier/{name}.npy": npy_bytes(array)}, path)
    assert message in refusal(path, load_model)


@pytest.mark.parametrize(
    ("base", "columns", "label", "n_models", "message"),
    [
        (LogisticRegression(), 4, 0, 1, "damaged: it has 1 classifiers for 4 labels"),
        (LogisticRegression(), 4, 0, 3, "damaged: it has 3 classifiers for 4 labels"),
        (LinearSVC(), 4, 0, 4, "one of its classifiers gives no probabilities"),
        (LogisticRegression(), 2, 0, 4, "its classifiers cannot answer here: ValueError: X has 4"),
        (GaussianNB(), 4, 3, 4, "its classifiers cannot answer here: InputError: predict_proba of"),
    ],
)
def test_classifiers_that_cannot_answer(path, base, columns, label, n_models, message):
    X, Y = small_problem()
    parts = pack_classifier(NLDDClassifier(LogisticRegression(), random_state=0).fit(X, Y))
    models = [base.fit(X[:, :columns], Y[:, label])] * n_models
    write_archive(path, dataclasses.replace(parts, estimators={"classifier/models": models}))
    with pytest.raises(InputError, match=message):
        load_model(path)


@pytest.mark.parametrize("value", [1e160, -0.5, 1.5, np.inf])
def test_constants_that_no_label_has(path, members, value):
    constants = np.array([np.nan, np.nan, np.nan, value])
    put_together({**members, "arrays/classifier/constants.npy": npy_bytes(constants)}, path)
    assert "'constants' holds numbers that no model has" in refusal(path, load_model)


def test_trees_whose_answers_are_no_probabilities(path):
    X, Y = small_problem()
    base = RandomForestClassifier(n_estimators=2, random_state=0)
    model = NLDDClassifier(base, random_state=0).fit(X, Y)
    for tree in model.estimators_[0].estimators_:
        tree.tree_.value[:] = 1e160
    save_model(model, path)
    assert "Probabilities must be from 0 to 1; got 1e+160 for label 0" in refusal(path, load_model)


def test_file_of_an_estimator_that_holds_none(path):
    write_archive(path, Contents("nldd-estimator", estimators={"model": [LogisticRegression()]}))
    with pytest.raises(InputError, match="damaged: it holds no estimator of nldd"):
        load_model(path)


@pytest.mark.parametrize(
    ("highest", "kind"),
    [
        (0, np.int16),
        (2**15 - 1, np.int16),
        (2**15, np.int32),
        (2**31 - 1, np.int32),
        (2**31, np.int64),
    ],
)
def test_positions_take_as_few_bytes_as_they_need(highest, kind):
    narrow = _narrow_places(np.array([0, highest]))
    assert narrow.dtype == kind
    assert narrow.tolist() == [0, highest]
