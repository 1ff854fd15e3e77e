"""Estimators of other libraries are read by skops, and only if their types are named."""

import dataclasses
import json
import re
import warnings
from io import BytesIO

import pytest
from model_files import (
    Mine,
    assert_same_answers,
    members_of,
    put_together,
    refusal,
    small_problem,
    zip_bytes,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from nldd import BinaryRelevance, LabelPowerset, NLDDClassifier, PlattSVC, RandomForestPCT
from nldd.exceptions import InputError, NLDDWarning
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.persistence import load_model, save_model

pytestmark = pytest.mark.filterwarnings(
    "ignore::nldd.ZeroWeightWarning",
    "ignore::nldd.SeparationWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::FutureWarning",
)

FOREST = "sklearn.ensemble._forest.RandomForestClassifier"
MODELS = {
    "logistic": BinaryRelevance(LogisticRegression()),
    "sigmoid": BinaryRelevance(CalibratedClassifierCV(LinearSVC(), cv=2)),
    "calibration of ours": BinaryRelevance(CalibratedClassifierCV(PlattSVC(), cv=2)),
    "stochastic": NLDDClassifier(SGDClassifier(loss="log_loss", random_state=0), random_state=0),
    "pipeline as a base": BinaryRelevance(make_pipeline(MinMaxScaler(), LogisticRegression())),
    "pipeline of ours as a base": NLDDClassifier(
        make_pipeline(StandardScaler(), MultiLabelLogisticRegression()), random_state=0
    ),
    "forest of all labels": NLDDClassifier(RandomForestClassifier(3, random_state=1)),
    "candidates": NLDDClassifier({"a": LogisticRegression(), "b": PlattSVC()}, random_state=0),
    "forest": RandomForestPCT(n_estimators=3, random_state=0),
    "one against the rest": LabelPowerset(PlattSVC()),
    "pipeline": make_pipeline(StandardScaler(), NLDDClassifier(random_state=0)),
    "of the user's own": BinaryRelevance(Mine()),
    "pipeline of pipelines": make_pipeline(
        make_pipeline(MinMaxScaler(), StandardScaler()), BinaryRelevance()
    ),
}


def saved(model, path):
    """Save, and give the call that the warning has for whoever loads."""
    with pytest.warns(NLDDWarning) as caught:
        save_model(model, path)
    (warning,) = caught
    return pasted(str(warning.message), path)


def pasted(message, path):
    """The types in the call that a message shows, which must be one that can be pasted."""
    (types,) = re.findall(rf'load_model\("{re.escape(str(path))}", trusted=(\[.*?\])\)', message)
    return json.loads(types)


@pytest.mark.parametrize("name", MODELS)
def test_saving_and_refusing_show_the_list_that_loads(path, name):
    X, Y = small_problem()
    model = MODELS[name].fit(X, Y)
    types = saved(model, path)
    assert pasted(refusal(path, load_model), path) == types
    for some in (types[1:], types[:-1], ["a.B"]):
        assert pasted(refusal(path, load_model, trusted=some), path) == types
    loaded = load_model(path, trusted=[*types, "more.ThanNeeded"])
    assert_same_answers(loaded, model, X)
    assert load_model(path, trusted=frozenset(types)).get_params().keys() == (
        model.get_params().keys()
    )


@pytest.mark.parametrize(
    "trusted",
    [FOREST, True, None, 3, [RandomForestClassifier], [None], ["forest"], ["a.b c"], [["a.B"]], {}],
)
def test_trusted_names_types_and_nothing_else(path, trusted):
    X, Y = small_problem()
    save_model(BinaryRelevance().fit(X, Y), path)
    with pytest.raises(InputError, match="trusted") as caught:
        load_model(path, trusted=trusted)
    assert caught.value.hint


def test_what_skops_cannot_store(path):
    X, Y = small_problem()
    model = BinaryRelevance(Mine()).fit(X, Y)
    model.estimators_[0].rest_ = (number for number in [])
    assert "TypeError" in refusal(path, lambda path: save_model(model, path))
    assert not path.exists()


@pytest.fixture
def forest(path):
    """Members of the file of a model with a forest, and the types to name."""
    X, Y = small_problem()
    types = saved(RandomForestPCT(n_estimators=2, random_state=0).fit(X, Y), path)
    return members_of(path), types


def test_nothing_of_skops_is_looked_at_before_types_are_named(path, forest):
    members, types = forest
    bomb = zip_bytes({"schema.json": b" " * 10**8}, ["schema.json"])
    for content in (b"", b"nonsense", bomb):
        put_together({**members, "estimators.skops": content}, path)
        assert pasted(refusal(path, load_model), path) == types
    put_together({**members, "estimators.skops": b"nonsense"}, path)
    assert refusal(path, load_model, trusted=types).startswith("damaged: ")


def test_canary_is_neither_imported_nor_run(path, forest, tmp_path, monkeypatch):
    """A file that says less than it holds: skops refuses what its user has not named."""
    members, types = forest
    canary = tmp_path / "canary"
    (tmp_path / "canary_module.py").write_text(f"open({str(canary)!r}, 'w').close()\nThing = int\n")
    monkeypatch.syspath_prepend(tmp_path)
    inner = members_of(BytesIO(members["estimators.skops"]))
    schema = json.loads(inner["schema.json"])
    thing = {"__module__": "canary_module", "__class__": "Thing", "__loader__": "ObjectNode"}
    schema["content"].append({**thing, "__id__": 10**9})
    inner["schema.json"] = json.dumps(schema).encode()
    put_together({**members, "estimators.skops": zip_bytes(inner)}, path)
    assert refusal(path, load_model, trusted=types).startswith("damaged: ")
    assert not canary.exists()


@pytest.mark.parametrize("saved_with", ["1.2.3", "9.0.0"])
def test_other_version_of_scikit_learn_is_told(path, forest, saved_with):
    """Unless it is another patch of the same one, or there are no estimators of it."""
    members, types = forest
    versions = json.loads(members["manifest.json"])["versions"]
    put_together(members, path, {"versions": {**versions, "scikit-learn": saved_with}})
    with pytest.warns(NLDDWarning, match=rf"scikit-learn {saved_with}"):
        load_model(path, trusted=types)
    X, Y = small_problem()
    patch = versions["scikit-learn"].rpartition(".")[0] + ".99"
    put_together(members, path, {"versions": {**versions, "scikit-learn": patch}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(path, trusted=types)
        save_model(BinaryRelevance().fit(X, Y), path)
        put_together(members_of(path), path, {"versions": {"scikit-learn": saved_with}})
        load_model(path)


def test_trees_of_the_default(path):
    X, Y = small_problem()
    model = NLDDClassifier("auto+trees", random_state=0).fit(X, Y)
    for with_trees in (False, True):  # whichever it was, both can be kept
        model.chosen_ = dataclasses.replace(model.chosen_, with_trees=with_trees)
        again = model.fit_copy(X, Y)
        types = saved(again, path) if with_trees else save_model(again, path) or ()
        loaded = load_model(path, trusted=types)
        assert_same_answers(loaded, again, X)
        assert str(loaded.chosen_) == str(model.chosen_)
        assert len(loaded.estimators_) == 1 + int(with_trees)


@pytest.mark.parametrize("types", [[], ["model_files.Mine"], ["sklearn.tree._tree.Tree"]])
def test_file_that_names_other_types_than_it_holds(path, forest, types):
    put_together(forest[0], path, {"types": types})
    assert refusal(path, load_model, trusted=types).startswith("damaged: ")


def test_estimators_that_nobody_asks_for(path, forest):
    members, types = forest
    X, Y = small_problem()
    save_model(BinaryRelevance().fit(X, Y), path)
    others = {**members_of(path), "estimators.skops": members["estimators.skops"]}
    put_together(others, path, {"types": types})
    assert refusal(path, load_model, trusted=types).startswith("damaged: ")
