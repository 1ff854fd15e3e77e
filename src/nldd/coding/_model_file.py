"""Coding models as files: no pickle, checked, whole or not there."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from nldd.coding._answers import Answers, CodeColumns, Columns
from nldd.coding._features import AnswerFeatures, Terms
from nldd.coding._model import CodingModel, Event, Settings
from nldd.coding._predictions import Predictions
from nldd.exceptions import InputError
from nldd.io import Contents, pack_classifier, read_archive, unpack_classifier, write_archive

KIND = "coding-model"


def save_coding_model(model: CodingModel, path: Path | str) -> None:
    """Write a model to a file; the old file stays until the new one is complete.

    The file holds the coded answers themselves, so keep it as you keep them.
    """
    parts = pack_classifier(model.classifier)
    features, settings = model.features, model.settings
    documents = {
        **parts.documents,
        "model": {
            "columns": asdict(model.columns),
            "settings": {"n_folds": settings.n_folds, "random_state": settings.random_state},
            "labels": list(model.labels),
            "words": features.words.terms,
            "letters": features.letters.terms,
            "levels": [list(levels) for levels in features.levels],
        },
        "answers": {
            "texts": model.answers.texts,
            "categories": [list(row) for row in model.answers.categories],
            "identities": list(model.identities),
            "identity_columns": list(model.identity_columns),
        },
        "history": [asdict(event) for event in model.history],
    }
    arrays = {
        **parts.arrays,
        "answers/numbers": model.answers.numbers,
        "answers/Y": model.Y,
        "features/words": features.words.weights,
        "features/letters": features.letters.weights,
        "features/centre": features.centre,
        "features/scale": features.scale,
        **{f"evidence/{f.name}": getattr(model.evidence, f.name) for f in fields(Predictions)},
    }
    write_archive(path, Contents(KIND, documents, arrays, parts.estimators, {}))


def load_coding_model(path: Path | str, *, trusted: Sequence[str] = ()) -> CodingModel:
    """Read a model; a file that is damaged or holds anything foreign is refused."""
    contents = read_archive(path, kind=KIND, trusted=trusted)
    classifier = unpack_classifier(contents)
    try:
        model = _build_model(contents, classifier)
        for part, fits in _checks(model):
            if not fits:
                raise ValueError(f"{part} cannot be right")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        message = f"{Path(path).name}: the parts of the model do not fit together ({error!r})."
        raise InputError(message, hint="use the file as nldd fit wrote it, or fit again") from error
    return model


def _build_model(contents: Contents, classifier: Any) -> CodingModel:
    documents, arrays = contents.documents, contents.arrays
    model, answers = documents["model"], documents["answers"]
    columns, settings = model["columns"], model["settings"]
    codes = columns["codes"]
    return CodingModel(
        columns=Columns(
            text=_names(columns["text"]),
            codes=CodeColumns(_names(codes["names"]), codes["separator"], codes["none"]),
            numeric=_names(columns["numeric"]),
            categorical=_names(columns["categorical"]),
        ),
        settings=Settings(settings["n_folds"], settings["random_state"]),
        labels=_names(model["labels"]),
        answers=Answers(
            list(_names(answers["texts"])),
            arrays["answers/numbers"],
            [_names(row) for row in answers["categories"]],
        ),
        Y=arrays["answers/Y"],
        features=AnswerFeatures(
            Terms("words", list(_names(model["words"])), arrays["features/words"]),
            Terms("letters", list(_names(model["letters"])), arrays["features/letters"]),
            arrays["features/centre"],
            arrays["features/scale"],
            tuple(_names(levels) for levels in model["levels"]),
        ),
        classifier=classifier,
        evidence=Predictions(*(arrays[f"evidence/{f.name}"] for f in fields(Predictions))),
        history=tuple(Event(**event) for event in documents["history"]),
        identities=_names(answers["identities"]),
        identity_columns=_names(answers.get("identity_columns", [])),
    )


def _names(value: Any) -> tuple[str, ...]:
    """A list of texts; anything else is refused."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("a list of texts is something else")
    return tuple(value)


def _checks(model: CodingModel) -> Iterator[tuple[str, bool]]:
    """Each part with whether its kind and size are right; later ones rely on earlier ones."""
    n, n_labels = len(model.answers), len(model.labels)
    columns, codes, settings = model.columns, model.columns.codes, model.settings
    yield "separator", isinstance(codes.separator, str) and isinstance(codes.none, str)
    yield "folds", type(settings.n_folds) is int and settings.n_folds >= 2
    yield "seed", type(settings.random_state) is int and 0 <= settings.random_state < 2**32
    yield "codes", _is_indicator(model.Y, (n, n_labels))
    yield "predicted codes", _is_indicator(model.evidence.Y, (n, n_labels))
    yield "numbers", _is_float(model.answers.numbers, (n, len(columns.numeric)), nan=True)
    widths = {len(row) for row in model.answers.categories}
    yield "categories", len(model.answers.categories) == n and widths <= {len(columns.categorical)}
    yield from _feature_checks(model)
    for name in ("theta", "Dx", "Dy", "x_part", "y_part"):
        yield name, _is_float(getattr(model.evidence, name), (n,))
    yield "theta", bool(((model.evidence.theta >= 0) & (model.evidence.theta <= 1)).all())
    yield "evidence", model.evidence.row.shape == (n,) and model.evidence.row.dtype.kind == "i"
    rows = np.concatenate([model.classifier.rows_, model.evidence.row])
    yield "rows", bool(((rows >= 0) & (rows < n)).all())
    yield "number of labels", model.classifier.n_labels_ == n_labels
    yield "identities", len(model.identities) in (0, n)
    yield "history", all(_is_event(event) for event in model.history)


def _feature_checks(model: CodingModel) -> Iterator[tuple[str, bool]]:
    features, n_numeric = model.features, len(model.columns.numeric)
    words, letters = features.words, features.letters
    for names in (model.labels, words.terms, letters.terms, *features.levels):
        yield "names", len(set(names)) == len(names)
    yield "words", _is_float(words.weights, (len(words.terms),))
    yield "letters", _is_float(letters.weights, (len(letters.terms),))
    yield "centre", _is_float(features.centre, (n_numeric,))
    yield "scale", _is_float(features.scale, (n_numeric,)) and bool((features.scale > 0).all())
    yield "levels", len(features.levels) == len(model.columns.categorical)
    sizes = (len(words.terms), len(letters.terms), 2 * n_numeric, *map(len, features.levels))
    yield "number of features", model.classifier.n_features_in_ == sum(sizes)


def _is_indicator(Y: Any, shape: tuple[int, ...]) -> bool:
    return Y.shape == shape and Y.dtype == np.int8 and bool(((Y == 0) | (Y == 1)).all())


def _is_float(values: Any, shape: tuple[int, ...], nan: bool = False) -> bool:
    if values.shape != shape or values.dtype != np.float64:
        return False
    return bool((np.isfinite(values) | (nan & np.isnan(values))).all())


def _is_event(event: Event) -> bool:
    return all(type(getattr(event, field.name)) is field.type for field in fields(Event))
