"""Coding models as files: equal after a round trip, and refused where parts do not fit."""

import copy
import os
from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import SETTINGS, answers_of, assert_equal_predictions, fitted, made_up
from nldd.coding import (
    CodeColumns,
    Columns,
    Event,
    add_answers,
    fit_coding_model,
    load_coding_model,
    save_coding_model,
)
from nldd.exceptions import InputError
from nldd.io import Contents, read_archive, save_model, write_archive

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

EVENT = Event("fit", "2024-05-17T08:30:00Z", "\u00e4.csv", 64 * "a", 60, 2, 60, 3, 6, 0.9, 0.95)
COLUMNS = Columns(
    ("answer", "more"), CodeColumns(("codes",), "|", "-"), ("age",), ("region", "wave")
)


def some_answers(n, seed):
    texts, codes = made_up(n, seed)
    texts[:3] = ["\U0001f68c \u5730\u9435", 'quotes " and \\ and \x07', ""]
    codes[0] = set()
    numbers = np.arange(float(n))[:, np.newaxis]
    numbers[1] = np.nan
    return answers_of(texts, numbers, [("N" if i % 2 else "", str(i % 3)) for i in range(n)]), codes


@pytest.fixture(scope="module")
def model():
    return fit_coding_model(*some_answers(60, 0), COLUMNS, SETTINGS).with_event(EVENT)


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.nldd"
    save_coding_model(model, path)
    return path


@pytest.fixture(scope="module")
def parts(saved):
    return read_archive(saved)


def test_loaded_model_is_the_saved_one(model, saved):
    loaded = load_coding_model(saved)
    for name in ("columns", "settings", "labels", "history"):
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.answers.texts == model.answers.texts
    assert loaded.answers.categories == model.answers.categories
    np.testing.assert_array_equal(loaded.answers.numbers, model.answers.numbers)
    np.testing.assert_array_equal(loaded.Y, model.Y)
    assert loaded.Y.dtype == np.int8
    assert_equal_predictions(loaded.evidence, model.evidence)
    assert loaded.features.levels == model.features.levels


def test_loaded_model_codes_as_the_saved_one(model, saved):
    new, codes = some_answers(40, 5)
    loaded = load_coding_model(saved)
    assert_equal_predictions(loaded.code(new), model.code(new))
    found, expected = (add_answers(m, new, codes) for m in (loaded, model))
    assert_equal_predictions(found.evidence, expected.evidence)
    assert_equal_predictions(found.code(new), expected.code(new))


def test_threads_are_not_kept(tmp_path):
    model = fitted(*made_up(20, 0), settings=replace(SETTINGS, n_jobs=2)).with_event(EVENT)
    save_coding_model(model, tmp_path / "m.nldd")
    assert load_coding_model(tmp_path / "m.nldd").settings == SETTINGS


def test_equal_models_are_equal_files(model, saved, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    save_coding_model(model, tmp_path / "a.nldd")
    save_coding_model(model, tmp_path / "b.nldd")
    save_coding_model(load_coding_model(saved), tmp_path / "c.nldd")
    content = (tmp_path / "a.nldd").read_bytes()
    assert content == (tmp_path / "b.nldd").read_bytes() == (tmp_path / "c.nldd").read_bytes()
    refitted = fit_coding_model(*some_answers(60, 0), COLUMNS, SETTINGS).with_event(EVENT)
    save_coding_model(refitted, tmp_path / "d.nldd")
    assert (tmp_path / "d.nldd").read_bytes() == content


def test_failure_leaves_the_old_file(model, saved, tmp_path, monkeypatch):
    path = tmp_path / "m.nldd"
    path.write_bytes(saved.read_bytes())

    def fail(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        save_coding_model(model, path)
    assert path.read_bytes() == saved.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["m.nldd"]


def refused(path):
    with pytest.raises(InputError) as caught:
        load_coding_model(path)
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


def test_files_of_another_kind_are_refused(model, tmp_path):
    save_model(model.classifier, tmp_path / "classifier.nldd")
    assert "nldd-classifier" in str(refused(tmp_path / "classifier.nldd"))
    (tmp_path / "table.nldd").write_text("answer,codes\n")
    refused(tmp_path / "table.nldd")
    (tmp_path / "pickle.nldd").write_bytes(b"\x80\x04N.")
    assert "pickle" in str(refused(tmp_path / "pickle.nldd"))
    (tmp_path / "empty.nldd").write_bytes(b"")
    refused(tmp_path / "empty.nldd")
    assert "No such file" in str(refused(tmp_path / "gone.nldd"))
    refused(tmp_path)


def test_damaged_files_are_refused(saved, tmp_path):
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "m.nldd"
    for place in rng.integers(0, len(content), 40).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        refused(path)
    for place in rng.integers(0, len(content), 20).tolist():
        path.write_bytes(content[:place])
        refused(path)


def rewritten(parts, path, change):
    """A file with right checksums but other parts."""
    documents = copy.deepcopy(dict(parts.documents))
    arrays = {name: array.copy() for name, array in parts.arrays.items()}
    change(documents, arrays)
    write_archive(path, Contents(parts.kind, documents, arrays, parts.estimators))
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
    *((name,) for name in ("model", "answers", "history", "classifier")),
    *(("model", k) for k in ("columns", "settings", "labels", "words", "letters", "levels")),
    *(("model", "columns", k) for k in ("text", "codes", "numeric", "categorical")),
    *(("model", "columns", "codes", k) for k in ("names", "separator", "none")),
    *(("model", "settings", k) for k in ("n_folds", "random_state")),
    *(("answers", k) for k in ("texts", "categories")),
    *(("history", 0, k) for k in ("action", "time", "sha256", "n_answers")),
]


@pytest.mark.parametrize("keys", MISSING, ids=lambda keys: ".".join(map(str, keys)))
def test_missing_documents_are_refused(parts, tmp_path, keys):
    refused(rewritten(parts, tmp_path / "m.nldd", document(*keys, drop=True)))


@pytest.mark.parametrize("name", ["answers", "features", "evidence", "classifier"])
def test_missing_arrays_are_refused(parts, tmp_path, name):
    names = [key for key in parts.arrays if key.startswith(f"{name}/")]
    for key in names:
        refused(rewritten(parts, tmp_path / "m.nldd", lambda _, arrays, key=key: arrays.pop(key)))
    assert names


OWN = ("answers/Y", "answers/numbers", "features/words", "features/letters", "features/centre")
OWN += ("features/scale", *(f"evidence/{k}" for k in ("Y", "theta", "row", "Dx", "x_part")))


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
    "more texts": document("answers", "texts", value=lambda texts: [*texts, "one more"]),
    "fewer categories": document("answers", "categories", value=lambda rows: rows[1:]),
    "a short row": document("answers", "categories", value=lambda rows: [["N"], *rows[1:]]),
    "fewer labels": document("model", "labels", value=lambda names: names[1:]),
    "more words": document("model", "words", value=lambda terms: [*terms, "zzz"]),
    "fewer letters": document("model", "letters", value=lambda terms: terms[1:]),
    "fewer levels": document("model", "levels", value=lambda levels: levels[1:]),
    "more levels": document("model", "levels", value=lambda levels: [[*levels[0], "S"], levels[1]]),
    "no numeric column": document("model", "columns", "numeric", value=[]),
    "no words": document("model", "words", value=[]),
    "column twice": document("model", "columns", "numeric", value=["answer"]),
    "labels of 2": array("answers/Y", lambda Y: Y + 1),
    "row beyond the answers": array("classifier/rows", lambda rows: rows + 1),
    # Of wrong kinds.
    "model is text": document("model", value="text"),
    "answers are numbers": document("answers", value=3),
    "history is text": document("history", value="text"),
    "event is text": document("history", value=["text"]),
    "event with more": document("history", 0, "more", value=1),
    "labels are none": document("model", "labels", value=None),
    "labels are numbers": document("model", "labels", value=[1, 2, 3]),
    "texts are numbers": document("answers", "texts", value=lambda texts: [1, *texts[1:]]),
    "settings is a list": document("model", "settings", value=[2, 0]),
    "Y is text": array("answers/Y", lambda Y: Y.astype(str)),
    # Right in size, but they would fail later, or give wrong predictions.
    "text columns as one word": document("model", "columns", "text", value="answer"),
    "text columns are numbers": document("model", "columns", "text", value=[1]),
    "separator is a number": document("model", "columns", "codes", "separator", value=3),
    "mark is a list": document("model", "columns", "codes", "none", value=["-"]),
    "folds are text": document("model", "settings", "n_folds", value="2"),
    "one fold": document("model", "settings", "n_folds", value=1),
    "seed is text": document("model", "settings", "random_state", value="0"),
    "labels twice": document("model", "labels", value=["bus", "bus", "rent"]),
    "words twice": document("model", "words", value=lambda terms: [terms[1], *terms[1:]]),
    "words are numbers": document("model", "words", value=lambda terms: [1, *terms[1:]]),
    "levels twice": document("model", "levels", value=lambda levels: [levels[0], 3 * ["0"]]),
    "categories are numbers": document("answers", "categories", value=lambda c: [[1, 2], *c[1:]]),
    "event with text for a count": document("history", 0, "n_answers", value="many"),
    "Y of fractions": array("answers/Y", lambda Y: Y.astype(float)),
    "numbers are text": array("answers/numbers", filled("z")),
    "weights are text": array("features/words", filled("z")),
    "weights are NaN": array("features/letters", filled(np.nan)),
    "scale is zero": array("features/scale", filled(0.0)),
    "centre is infinite": array("features/centre", filled(np.inf)),
    "theta is text": array("evidence/theta", filled("z")),
    "theta above 1": array("evidence/theta", filled(1.5)),
    "predicted labels of 2": array("evidence/Y", lambda Y: Y + 1),
    "evidence of no answer": array("evidence/row", lambda rows: rows + 1000),
    "distances are text": array("evidence/Dx", filled("z")),
    "row before the answers": array("classifier/rows", lambda rows: rows - 1),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_parts_that_do_not_fit_are_refused(parts, tmp_path, change):
    refused(rewritten(parts, tmp_path / "m.nldd", change))


def test_files_of_older_versions_have_no_identity_columns(parts, tmp_path):
    change = document("answers", "identity_columns", drop=True)
    loaded = load_coding_model(rewritten(parts, tmp_path / "m.nldd", change))
    assert loaded.identity_columns == ()
    assert len(loaded.answers) == 60
