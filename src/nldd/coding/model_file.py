"""The file of a coding model: no pickle, checked, whole or not there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from nldd.coding.answers import Answers
from nldd.coding.codebook import Codebook, CodebookEntry
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.confidence import N_CLUES, ConfidenceRegression
from nldd.coding.cross_validation import CrossValidation
from nldd.coding.features import ANALYZERS, AnswerFeatures, Terms
from nldd.coding.guarantee import GuaranteeTest
from nldd.coding.model import CodingModel, Event, Settings
from nldd.coding.predictions import Predictions
from nldd.exceptions import InputError
from nldd.persistence._archive import Contents, read_archive, write_archive

KIND, LOADER = "coding-model", "load_coding_model"
EVIDENCE = ("Y", "theta", "row", "Dx", "Dy", "x_part", "y_part")
GAINS = ("gain_theta", "gain_chance", "gain_yes", "gain_no")
# Of the tests of earlier fits.
TEST_NUMBERS, TEST_ARRAYS = ("n_labels", *GAINS[:2]), ("theta", "n_wrong", "repeated")
FALLBACK = "fallback"


def save_coding_model(model: CodingModel, path: Path | str) -> None:
    """Write a model to a file; an old file of that name stays until the new one is complete.

    The file holds the coded answers themselves, so keep it as you keep them. It is a ZIP file of
    arrays and JSON with checksums; nothing in it is pickled.

    Parameters
    ----------
    model : CodingModel
        To be written.
    path : Path or str
        Its file, ``model.nldd`` for instance.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings
    >>> from nldd.coding import fit_coding_model, load_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_coding_model(model, Path(folder, "model.nldd"))
    ...     again = load_coding_model(Path(folder, "model.nldd"))
    >>> again.labels == model.labels, bool((again.evidence.theta == model.evidence.theta).all())
    (True, True)
    """
    contents = _pack_model(model)
    if model.fallback is not None:  # a model file within the file
        with TemporaryDirectory() as folder:
            save_coding_model(model.fallback, inner := Path(folder, "model.nldd"))
            whole = np.frombuffer(inner.read_bytes(), dtype=np.uint8)
        contents = replace(contents, arrays={**contents.arrays, FALLBACK: whole})
    write_archive(path, contents, loader=LOADER)


def _pack_model(model: CodingModel) -> Contents:
    features, settings = model.features, model.settings
    documents: dict[str, Any] = {
        "model": {
            "columns": asdict(model.columns),
            "settings": {"n_folds": settings.n_folds, "random_state": settings.random_state},
            "labels": model.labels,
            "words": features.words.terms,
            "letters": features.letters.terms,
            "levels": features.levels,
            "codebook": [asdict(entry) for entry in model.codebook.entries],
        },
        "answers": {
            "texts": model.answers.texts,
            "categories": model.answers.categories,
            "ids": model.answers.ids,
            "keys": model.answers.keys,
        },
        "history": [asdict(event) for event in model.history],
    }
    validation_document, validation_arrays = _pack_validation(model.validation)
    tests = [{name: getattr(test, name) for name in TEST_NUMBERS} for test in model.earlier]
    documents["model"] |= {"validation": validation_document, "tests": tests}
    arrays = {
        "answers/numbers": model.answers.numbers,
        **({"answers/extra": model.answers.extra} if model.columns.n_extra else {}),
        "answers/Y": model.Y,
        "answers/drawn": model.drawn,
        "answers/taught": model.taught,
        "features/words": features.words.weights,
        "features/letters": features.letters.weights,
        "features/centre": features.centre,
        "features/scale": features.scale,
        **validation_arrays,
    }
    for number, test in enumerate(model.earlier):
        arrays |= {f"tests/{number}/{name}": getattr(test, name) for name in TEST_ARRAYS}
        arrays |= {} if test.chance is None else {f"tests/{number}/chance": test.chance}
    return Contents(KIND, documents, arrays, {"classifier": model.classifier})


def _pack_validation(validation: CrossValidation) -> tuple[dict[str, float], dict[str, Any]]:
    evidence, regression = validation.evidence, validation.regression
    numbers = {name: getattr(validation, name) for name in GAINS}
    arrays = {f"evidence/{name}": getattr(evidence, name) for name in EVIDENCE}
    if evidence.P is not None:
        arrays["evidence/P"] = evidence.P
    if validation.repeated is not None:
        arrays["evidence/repeated"] = validation.repeated
    if regression is not None:
        numbers |= {name: getattr(regression, name) for name in ("intercept", "centre", "scale")}
        arrays |= {"evidence/chance": evidence.chance, "chance/weights": regression.weights}
    return numbers, arrays


def _unpack_validation(numbers: Mapping[str, Any], arrays: Mapping[str, Any]) -> CrossValidation:
    """The cross-validation of a file; where few answers were right or wrong, theta alone ranks."""
    evidence = Predictions(*(arrays[f"evidence/{name}"] for name in EVIDENCE))
    evidence = replace(evidence, P=arrays.get("evidence/P"))
    gains = *(numbers[name] for name in GAINS), arrays.get("evidence/repeated")
    if "chance/weights" not in arrays:
        return CrossValidation(evidence, None, *gains)
    theta = numbers["centre"], numbers["scale"]
    regression = ConfidenceRegression(numbers["intercept"], arrays["chance/weights"], *theta)
    evidence = replace(evidence, chance=arrays["evidence/chance"])
    return CrossValidation(evidence, regression, *gains)


def load_coding_model(path: Path | str, *, trusted: Sequence[str] = ()) -> CodingModel:
    """Read a model from a file.

    Parameters
    ----------
    path : Path or str
        A file that :func:`save_coding_model` or ``nldd fit`` wrote. One that is damaged, or that
        holds anything foreign, is refused.
    trusted : sequence of str
        Names of further types that may be read; none are needed for models of nldd.

    Returns
    -------
    CodingModel
        As it was saved.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings
    >>> from nldd.coding import fit_coding_model, load_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_coding_model(model, Path(folder, "model.nldd"))
    ...     again = load_coding_model(Path(folder, "model.nldd"))
    >>> again.codes(again.code(Answers(["cheaper rents"])).Y)
    [('housing costs',)]
    """
    contents = read_archive(path, kind=KIND, trusted=trusted, loader=LOADER)
    model = _unpack_model(contents, path)
    if FALLBACK not in contents.arrays:
        return model
    with TemporaryDirectory() as folder:
        (inner := Path(folder, "model.nldd")).write_bytes(contents.arrays[FALLBACK].tobytes())
        before = read_archive(inner, kind=KIND, trusted=trusted, loader=LOADER)
        fallback = _unpack_model(before, path)
    if FALLBACK in before.arrays or len(fallback.earlier) >= len(model.earlier):
        raise _unfit(path, "its fallback is no earlier fit")
    return replace(model, fallback=fallback)


def _unfit(path: Path | str, error: object) -> InputError:
    message = f"{Path(path).name}: the parts of the model do not fit together ({error!r:.200})."
    return InputError(message, hint="use the file as nldd fit wrote it, or fit again")


def _unpack_model(contents: Contents, path: Path | str) -> CodingModel:
    try:
        model = _build_model(contents, contents.models["classifier"])
        for part, fits in _checks(model):
            if not fits:
                raise ValueError(f"{part} cannot be right")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        raise _unfit(path, error) from error
    return model


def _unpack_test(
    number: int, numbers: Mapping[str, Any], arrays: Mapping[str, Any]
) -> GuaranteeTest:
    known = {name: arrays[f"tests/{number}/{name}"] for name in TEST_ARRAYS}
    chance = arrays.get(f"tests/{number}/chance")
    return GuaranteeTest(chance=chance, **known, **{name: numbers[name] for name in TEST_NUMBERS})


def _build_model(contents: Contents, classifier: Any) -> CodingModel:
    documents, arrays = contents.documents, contents.arrays
    model, answers = documents["model"], documents["answers"]
    columns, codes, settings = model["columns"], model["columns"]["codes"], model["settings"]
    who: dict[str, Any] = {name: columns[name] for name in ("id", "coder")}
    inputs: dict[str, Any] = {
        kind: _names(columns[kind]) for kind in ("text", "numeric", "categorical", "identity")
    }
    also = _names(codes["also"])
    marks = CodeColumns(_names(codes["names"]), codes["separator"], codes["none"], also)
    words, letters = (
        Terms(kind, list(_names(model[kind])), arrays[f"features/{kind}"]) for kind in ANALYZERS
    )
    levels = tuple(map(_names, model["levels"]))
    categories = list(map(_names, answers["categories"]))
    n_extra = _count(columns["n_extra"])
    extra = {"extra": arrays["answers/extra"]} if n_extra else {}
    history = tuple(Event(**event) for event in documents["history"])
    return CodingModel(
        columns=Columns(codes=marks, n_extra=n_extra, **who, **inputs),
        settings=Settings(settings["n_folds"], settings["random_state"]),
        labels=_names(model["labels"]),
        answers=Answers(
            list(_names(answers["texts"])),
            arrays["answers/numbers"],
            categories,
            **extra,
            ids=list(_names(answers["ids"])),
            keys=list(map(_names, answers["keys"])),
        ),
        Y=arrays["answers/Y"],
        features=AnswerFeatures(
            words, letters, arrays["features/centre"], arrays["features/scale"], levels
        ),
        classifier=classifier,
        validation=_unpack_validation(model["validation"], arrays),
        drawn=arrays["answers/drawn"],
        taught=arrays["answers/taught"],
        history=history,
        codebook=Codebook(tuple(CodebookEntry(**entry) for entry in model["codebook"])),
        earlier=tuple(_unpack_test(i, test, arrays) for i, test in enumerate(model["tests"])),
    )


def _names(value: Any) -> tuple[str, ...]:
    """A list of texts; anything else is refused."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("a list of texts is something else")
    return tuple(value)


def _count(value: Any) -> int:
    """A whole number from 0 on; anything else is refused."""
    if type(value) is not int or value < 0:
        raise TypeError("a count is something else")
    return value


def _checks(model: CodingModel) -> Iterator[tuple[str, bool]]:
    """Each part with whether its kind and size are right; later ones rely on earlier ones."""
    n, n_labels, evidence = len(model.answers), len(model.labels), model.evidence
    columns, codes, settings = model.columns, model.columns.codes, model.settings
    yield "separator", isinstance(codes.separator, str) and isinstance(codes.none, str)
    yield "further separators", all(codes.also)
    n_folds = settings.n_folds
    yield "folds", n_folds is None or (type(n_folds) is int and n_folds >= 2)
    yield "seed", type(settings.random_state) is int and 0 <= settings.random_state < 2**32
    for part, Y in (("codes", model.Y), ("predicted codes", evidence.Y)):
        yield part, Y.shape == (n, n_labels) and Y.dtype == np.int8 and _lie_within(Y, 0, 1)
    yield "id and coder", isinstance(columns.id, str) and isinstance(columns.coder, str)
    yield "ids", len(model.answers.ids) == n
    for part, marks in (("drawn", model.drawn), ("taught", model.taught)):
        yield part, _is_mask(marks, n) and bool(marks.any())
    repeated = model.validation.repeated
    yield "repeated", repeated is None or _is_mask(repeated, n)
    yield from _checks_of_tests(model.earlier)
    yield "numbers", _is_float(model.answers.numbers, (n, len(columns.numeric)), nan=True)
    shape, extra = (n, columns.n_extra), model.answers.extra
    yield "extra features", _is_float(extra, shape, kind=np.float32)
    widths = {len(row) for row in model.answers.categories}
    yield "categories", len(model.answers.categories) == n and widths <= {len(columns.categorical)}
    features, n_numeric = model.features, len(columns.numeric)
    terms = (features.words.terms, features.letters.terms)
    for names in (model.labels, *terms, *features.levels):
        yield "names", len(set(names)) == len(names)
    for some in (features.words, features.letters):
        yield some.kind, _is_float(some.weights, (len(some.terms),))
    n_numbers = n_numeric + columns.n_extra
    yield "centre", _is_float(features.centre, (n_numbers,))
    yield "scale", _is_float(features.scale, (n_numbers,)) and bool((features.scale > 0).all())
    yield "levels", len(features.levels) == len(columns.categorical)
    sizes = (n_numbers, n_numeric, *map(len, (*terms, *features.levels)))
    yield "number of features", model.classifier.n_features_in_ == sum(sizes)
    for name in ("theta", "Dx", "Dy", "x_part", "y_part"):
        yield name, _is_float(getattr(evidence, name), (n,))
    yield "theta", _lie_within(evidence.theta, 0, 1)
    yield "evidence", evidence.row.shape == (n,) and evidence.row.dtype.kind == "i"
    yield "rows", _lie_within(np.concatenate([model.classifier.rows_, evidence.row]), 0, n - 1)
    yield from _checks_of_chances(model.validation, n, n_labels)
    yield "number of labels", model.classifier.n_labels_ == n_labels
    yield "keys", len(model.answers.keys) == n
    # Dataclasses do not check the types of their fields.
    for part, records in (("history", model.history), ("codebook", model.codebook.entries)):
        kinds = [(getattr(each, f.name), f.type) for each in records for f in fields(each)]
        yield part, all(type(value) is kind for value, kind in kinds)
    yield "codebook", len(model.codebook.by_code) == len(model.codebook.entries)
    yield "codebook", model.codebook.unique(model.labels) == model.labels


def _checks_of_tests(tests: Sequence[GuaranteeTest]) -> Iterator[tuple[str, bool]]:
    for test in tests:
        n = len(test.theta)
        yield "tests", n > 0 and _is_mask(test.repeated, n)
        for doubt in (test.theta, test.theta if test.chance is None else test.chance):
            yield "tests", _is_float(doubt, (n,)) and _lie_within(doubt, 0, 1)
        yield "tests", type(test.n_labels) is int and test.n_wrong.shape == (n,)
        n_wrong = test.n_wrong
        yield "tests", n_wrong.dtype.kind == "i" and _lie_within(n_wrong, 0, test.n_labels)
        gains = (test.gain_theta, test.gain_chance)
        yield "tests", all(type(gain) is float and 0 <= gain < np.inf for gain in gains)


def _checks_of_chances(
    validation: CrossValidation, n: int, n_labels: int
) -> Iterator[tuple[str, bool]]:
    for name in GAINS:
        gain = getattr(validation, name)
        yield "gain", type(gain) is float and 0 <= gain < np.inf
    if (P := validation.evidence.P) is not None:
        fits = _is_float(P, (n, n_labels), kind=np.float32)
        yield "probabilities of codes", fits and _lie_within(P, 0, 1)
    regression, chance = validation.regression, validation.evidence.chance
    if regression is not None and chance is not None:
        yield "chances", _is_float(chance, (n,)) and _lie_within(chance, 0, 1)
        yield "weights of the chances", _is_float(regression.weights, (N_CLUES + n_labels,))
        numbers = (regression.intercept, regression.centre, regression.scale)
        yield "chances", all(type(x) is float and bool(np.isfinite(x)) for x in numbers)
        yield "scale of theta", regression.scale > 0


def _is_float(
    values: Any, shape: tuple[int, ...], nan: bool = False, kind: Any = np.float64
) -> bool:
    if values.shape != shape or values.dtype != kind:
        return False
    return bool((np.isfinite(values) | (nan & np.isnan(values))).all())


def _is_mask(values: Any, n: int) -> bool:
    return bool(values.shape == (n,) and values.dtype == bool)


def _lie_within(values: Any, low: int, high: int) -> bool:
    return bool(((values >= low) & (values <= high)).all())
