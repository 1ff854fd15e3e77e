"""Coding models as files: no pickle, checked, whole or not there."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nldd.coding._answers import Answers
from nldd.coding._columns import CodeColumns, Columns
from nldd.coding._evidence import Predictions
from nldd.coding._features import AnswerFeatures, Terms
from nldd.coding._history import Event
from nldd.coding._model import CodingModel, Settings
from nldd.coding._model_parts import check_parts
from nldd.exceptions import InputError
from nldd.io import Contents, pack_classifier, read_archive, unpack_classifier, write_archive

KIND = "coding-model"


def save_coding_model(model: CodingModel, path: Path | str) -> None:
    """Write a model to a file; the old file stays until the new one is complete.

    The file holds the coded answers themselves, so keep it as you keep them.
    """
    parts = pack_classifier(model.classifier)
    documents = {
        **parts.documents,
        "model": {
            "columns": asdict(model.columns),
            "settings": {
                "n_folds": model.settings.n_folds,
                "random_state": model.settings.random_state,
            },
            "labels": list(model.labels),
            "words": model.features.words.terms,
            "letters": model.features.letters.terms,
            "levels": [list(levels) for levels in model.features.levels],
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
        "features/words": model.features.words.weights,
        "features/letters": model.features.letters.weights,
        "features/centre": model.features.centre,
        "features/scale": model.features.scale,
        **{f"evidence/{f.name}": getattr(model.evidence, f.name) for f in fields(Predictions)},
    }
    write_archive(path, Contents(KIND, documents, arrays, parts.estimators, {}))


def load_coding_model(path: Path | str, *, trusted: Sequence[str] = ()) -> CodingModel:
    """Read a model; a file that is damaged or holds anything foreign is refused."""
    contents = read_archive(path, kind=KIND, trusted=trusted)
    classifier = unpack_classifier(contents)
    try:
        return _model_from(contents.documents, contents.arrays, classifier)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{Path(path).name}: the parts of the model do not fit together ({error!r}).",
            hint="use the file as nldd fit wrote it, or fit again",
        ) from error


def _names(value: Any) -> tuple[str, ...]:
    """A list of texts; anything else is refused."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("a list of texts is something else")
    return tuple(value)


def _model_from(
    documents: Mapping[str, Any], arrays: Mapping[str, Any], classifier: Any
) -> CodingModel:
    model, answers = documents["model"], documents["answers"]
    columns = model["columns"]
    codes = columns["codes"]
    settings = model["settings"]
    loaded = CodingModel(
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
    check_parts(loaded)
    return loaded
