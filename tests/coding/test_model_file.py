"""Coding models as files: equal after a round trip, and refused where parts do not fit."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import SETTINGS, assert_same, decided, made_up
from nldd.coding import cross_validation
from nldd.coding.answers import Answers
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Event, add_answers, fit_coding_model
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.persistence._archive import Contents, read_archive, write_archive

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

EVENT = Event("fit", "2024-05-17T08:30:00Z", "\u00e4.csv", 64 * "a", 60, 2, 60, 3, 6, 0.9, 0.95)


@pytest.fixture(autouse=True)
def rank_few_by_chance(monkeypatch):
    monkeypatch.setattr(cross_validation, "FEWEST_RANKED", 20)


CODES = CodeColumns(("code1", "code2"), "|", "-", (",", "\n"))
COLUMNS = Columns(("answer", "more"), CODES, ("age",), ("region", "wave"), n_extra=2)


def some_answers(n, seed):
    texts, codes = made_up(n, seed)
    texts[:3] = ["\U0001f68c \u5730\u9435", 'quotes " and \\ and \x07', ""]
    codes[3::4] = [{"bus"}] * len(codes[3::4])  # so that there are wrong predictions to learn from
    codes[0] = set()
    numbers = np.arange(float(n))[:, np.newaxis]
    numbers[1] = np.nan
    categories = [("N" if i % 2 else "", str(i % 3)) for i in range(n)]
    extra = np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)
    return Answers(texts, numbers, categories, extra), codes


@pytest.fixture(scope="module")
def model():
    found = fit_coding_model(*some_answers(60, 0), COLUMNS, replace(SETTINGS, n_jobs=2))
    return replace(found, history=(EVENT,))


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.nldd"
    save_coding_model(model, path)
    return path


@pytest.fixture(scope="module")
def parts(saved):
    return read_archive(saved)


def refused(path):
    with pytest.raises(InputError) as caught:
        load_coding_model(path)
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


def rewritten(parts, path, change):
    """A file with right checksums but other parts."""
    documents = copy.deepcopy(dict(parts.documents))
    arrays = {name: array.copy() for name, array in parts.arrays.items()}
    change(documents, arrays)
    write_archive(path, Contents(parts.kind, documents, arrays, parts.models))
    return path


def document(*keys, value=None, drop=False):
    """Replace or drop a part of a document; `value` may be a function of the old one."""

    def change(documents, _):
        place = documents
        for key in keys[:-1]:
            place = place[key]
        if drop:
            del place[keys[-1]]
        else:
            place[keys[-1]] = value(place[keys[-1]]) if callable(value) else value

    return change


def array(name, value):
    def change(_, arrays):
        arrays[name] = value(arrays[name])

    return change


MISSING = [
    *((name,) for name in ("columns", "settings", "labels", "answers", "history", "codebook")),
    *(("features", "words"), ("columns", "codes"), ("answers", "texts"), ("history", 0, "time")),
]


@pytest.mark.parametrize("keys", MISSING, ids=lambda keys: ".".join(map(str, keys)))
def test_missing_documents_are_refused(parts, tmp_path, keys):
    refused(rewritten(parts, tmp_path / "m.nldd", document(*keys, drop=True)))


@pytest.mark.parametrize("name", ["answers", "features", "validation"])
def test_missing_arrays_are_refused(parts, tmp_path, name):
    names = [key for key in parts.arrays if key.startswith(f"{name}/")]
    optional = ("validation/evidence/chance",)  # not every model has it
    for key in {*names} - {*optional}:
        refused(rewritten(parts, tmp_path / "m.nldd", lambda _, arrays, key=key: arrays.pop(key)))
    assert names


OWN = ("Y", "drawn", "taught", "answers/numbers", "answers/extra")
OWN += ("features/words/weights", "features/letters/weights", "features/centre", "features/scale")
EVIDENCE = ("Y", "theta", "row", "Dx", "probability", "chance")
OWN += tuple(f"validation/evidence/{name}" for name in EVIDENCE)
OWN += ("validation/regression/weights",)


@pytest.mark.parametrize("name", OWN)
def test_arrays_of_other_sizes_are_refused(parts, tmp_path, name):
    for change in (
        lambda values: values[:-1],
        lambda values: np.concatenate([values, values[:1]]),
        lambda values: values[..., np.newaxis],
        lambda values: values[:0],
    ):
        refused(rewritten(parts, tmp_path / "m.nldd", array(name, change)))


def filled(value):
    return lambda values: np.full(values.shape, value)


WRONG = {
    # Of wrong sizes.
    "fewer texts": document("answers", "texts", value=lambda texts: texts[1:]),
    "a short row": document("answers", "categories", value=lambda rows: [["N"], *rows[1:]]),
    "fewer labels": document("labels", value=lambda names: names[1:]),
    "fewer levels": document("features", "levels", value=lambda levels: levels[1:]),
    "no numeric column": document("columns", "numeric", value=[]),
    "more extra features": document("columns", "n_extra", value=3),
    "labels of 2": array("Y", lambda Y: Y + 1),
    "nothing was drawn": array("drawn", np.zeros_like),
    # Of wrong kinds.
    "answers are text": document("answers", value="text"),
    # Right in size, but they would fail later, or give wrong predictions.
    "text columns as one word": document("columns", "text", value="answer"),
    "extra features are NaN": array("answers/extra", lambda extra: extra * np.float32(np.nan)),
    "event with text for a count": document("history", 0, "n_answers", value="many"),
    "weights are NaN": array("features/letters/weights", filled(np.nan)),
    "scale is zero": array("features/scale", filled(0.0)),
    "chance above 1": array("validation/evidence/chance", filled(1.5)),
    "no intercept": document("validation", "regression", "intercept", drop=True),
    "evidence of no answer": array("validation/evidence/row", lambda rows: rows + 1000),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_parts_that_do_not_fit_are_refused(parts, tmp_path, change):
    refused(rewritten(parts, tmp_path / "m.nldd", change))


def test_files_without_chances_rank_by_theta(parts, model, tmp_path):
    def change(documents, arrays):
        documents["validation"]["regression"] = None
        del arrays["validation/regression/weights"], arrays["validation/evidence/chance"]

    loaded = load_coding_model(rewritten(parts, tmp_path / "m.nldd", change))
    found = loaded.select(GuaranteeTarget(0.5))
    expected = model.select(GuaranteeTarget(0.5, rank_by="theta"))
    assert (found.rank_by, found.threshold) == ("theta", expected.threshold)
    assert loaded.code(some_answers(5, 1)[0]).chance is None


def test_a_model_with_another_classifier_is_refused(parts, tmp_path):
    """One with fewer labels, one that knows more rows than there are answers, none at all."""
    classifier, path = parts.models["classifier"], tmp_path / "m.nldd"
    fitted = classifier._fitted
    changed = replace(fitted, rows=fitted.rows + 1, n_fitted=fitted.n_fitted + 1)
    more_rows = copy.copy(classifier)._set_fitted(changed)
    X = np.random.default_rng(0).normal(size=(60, classifier.n_features_in_))
    others = (more_rows, NLDDClassifier(None).fit(X, X[:, :2] > 0), MLkNN().fit(X, X[:, :3] > 0))
    for models in ({}, *({"classifier": other} for other in others)):
        write_archive(path, Contents(parts.kind, parts.documents, parts.arrays, models))
        refused(path)


def test_loaded_model_is_and_codes_as_the_saved_one(model, saved):
    loaded, goal = load_coding_model(saved), GuaranteeTarget(0.5)
    assert loaded.settings == SETTINGS  # threads are not kept
    for name in ("columns", "labels", "history", "codes_in_order"):
        assert getattr(loaded, name) == getattr(model, name)
    for name in ("texts", "categories", "ids", "keys"):
        assert getattr(loaded.answers, name) == getattr(model.answers, name)
    np.testing.assert_array_equal(loaded.answers.numbers, model.answers.numbers)
    np.testing.assert_array_equal(loaded.answers.extra, model.answers.extra)
    np.testing.assert_array_equal(loaded.Y, model.Y, strict=True)
    assert loaded.select(goal) == model.select(goal)
    assert loaded.select(goal).rank_by == "chance"
    assert loaded.features.levels == model.features.levels
    new, codes = some_answers(40, 5)
    joined = [add_answers(m, new, decided(codes)) for m in (loaded, model)]
    for found, expected in ((loaded, model), joined):
        assert_same(found.evidence, expected.evidence)
        assert_same(found.code(new), expected.code(new))
