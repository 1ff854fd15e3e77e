"""The file of a coding model: no pickle, checked, whole or not there; and the one before it.

A step that changes a model keeps the file that was there as ``model.nldd.bak``, and `undo_model`
swaps both: a second time, it brings back what it took. Whenever a process is killed, the file of
the model is whole.
"""

import filecmp
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from filelock import FileLock, Timeout

from nldd._files import move_file, open_replacement, sync_folder
from nldd.coding.answers import Answers
from nldd.coding.codebook import Codebook, CodebookEntry
from nldd.coding.columns import Columns
from nldd.coding.cross_validation import CrossValidation
from nldd.coding.features import ANALYZERS, AnswerFeatures, Terms
from nldd.coding.guarantee import GuaranteeTest
from nldd.coding.model import CodingModel, Event, Settings
from nldd.coding.predictions import N_CLUES, ConfidenceRegression, Predictions
from nldd.exceptions import InputError, NLDDError
from nldd.persistence._archive import Contents, read_archive, read_documents, write_archive
from nldd.present.text import count_noun, visible

KIND, LOADER = "coding-model", "load_coding_model"
FALLBACK = "fallback"
TINY, LARGEST = np.finfo(float).tiny, np.finfo(float).max
# Each array: where a model has it, its type and shape, and the least and largest of its values.
ARRAYS: dict[str, tuple[str, str, str, Any, Any]] = {
    "answers/numbers": ("answers.numbers", "f8", "n numeric", -LARGEST, LARGEST),
    "answers/extra": ("answers.extra", "f4", "n extra", -LARGEST, LARGEST),
    "answers/Y": ("Y", "i1", "n labels", 0, 1),
    "answers/drawn": ("drawn", "?", "n", 0, 1),
    "answers/taught": ("taught", "?", "n", 0, 1),
    "features/words": ("features.words.weights", "f8", "words", -LARGEST, LARGEST),
    "features/letters": ("features.letters.weights", "f8", "letters", -LARGEST, LARGEST),
    "features/centre": ("features.centre", "f8", "numbers", -LARGEST, LARGEST),
    "features/scale": ("features.scale", "f8", "numbers", TINY, LARGEST),
    "evidence/Y": ("evidence.Y", "i1", "n labels", 0, 1),
    "evidence/theta": ("evidence.theta", "f8", "n", 0, 1),
    "evidence/row": ("evidence.row", "i8", "n", 0, "last"),
    "evidence/Dx": ("evidence.Dx", "f8", "n", -LARGEST, LARGEST),
    "evidence/Dy": ("evidence.Dy", "f8", "n", -LARGEST, LARGEST),
    "evidence/x_part": ("evidence.x_part", "f8", "n", -LARGEST, LARGEST),
    "evidence/y_part": ("evidence.y_part", "f8", "n", -LARGEST, LARGEST),
    "evidence/P": ("evidence.P", "f4", "n labels", 0, 1),
    "evidence/repeated": ("validation.repeated", "?", "n", 0, 1),
    "evidence/chance": ("evidence.chance", "f8", "n", 0, 1),
    "chance/weights": ("validation.regression.weights", "f8", "clues", -LARGEST, LARGEST),
}
# Not every model, or test, has these.
OPTIONAL = {"chance", "evidence/P", "evidence/repeated", "evidence/chance", "chance/weights"}
TEST_ARRAYS: dict[str, tuple[str, str, str, Any, Any]] = {
    "theta": ("theta", "f8", "n", 0, 1),
    "chance": ("chance", "f8", "n", 0, 1),
    "n_wrong": ("n_wrong", "i8", "n", 0, "labels"),
    "repeated": ("repeated", "?", "n", 0, 1),
}
EVIDENCE = ("Y", "theta", "row", "Dx", "Dy", "x_part", "y_part")
ANSWER_LISTS: dict[str, Any] = {
    **{"texts": list[str], "categories": list[tuple[str, ...]]},
    **{"ids": list[str], "keys": list[tuple[str, ...]]},
}
GAINS = ("gain_theta", "gain_chance", "gain_yes", "gain_no")
CHANCE_NUMBERS = ("intercept", "centre", "scale")
TEST_NUMBERS = ("n_labels", *GAINS[:2])
WAIT_SECONDS, POLL_SECONDS = 600.0, 0.1

Tell = Callable[[str], None] | None


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
    features, validation, answers = model.features, model.validation, model.answers
    numbers = {name: getattr(validation, name) for name in GAINS}
    if validation.regression is not None:
        numbers |= {name: getattr(validation.regression, name) for name in CHANCE_NUMBERS}
    documents: dict[str, Any] = {
        "model": {
            "columns": asdict(model.columns),
            "settings": asdict(replace(model.settings, n_jobs=None)),
            "labels": model.labels,
            **{kind: getattr(features, kind).terms for kind in ANALYZERS},
            "levels": features.levels,
            "codebook": asdict(model.codebook)["entries"],
            "validation": numbers,
            "tests": [{name: getattr(t, name) for name in TEST_NUMBERS} for t in model.earlier],
        },
        "answers": {name: getattr(answers, name) for name in ANSWER_LISTS},
        "history": [asdict(event) for event in model.history],
    }
    arrays = dict(_pack_arrays(model, ARRAYS))
    for number, test in enumerate(model.earlier):
        arrays |= _pack_arrays(test, TEST_ARRAYS, f"tests/{number}/")
    return Contents(KIND, documents, arrays, {"classifier": model.classifier})


def _pack_arrays(part: Any, known: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    for name, (place, *_) in known.items():
        with suppress(AttributeError):  # without a regression, there are no weights of it
            if (values := attrgetter(place)(part)) is not None:
                yield start + name, values


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
        raise _misfit(path, "its fallback is no earlier fit")
    return replace(model, fallback=fallback)


def _misfit(path: Path | str, error: object) -> InputError:
    message = f"{Path(path).name}: the parts of the model do not fit together ({error!r:.200})."
    return InputError(message, hint="use the file as nldd fit wrote it, or fit again")


def _unpack_model(contents: Contents, path: Path | str) -> CodingModel:
    try:
        model = _build_model(contents, contents.models["classifier"])
        for part, fits in _check_parts(model, contents.arrays):
            if not fits:
                raise ValueError(f"{part} cannot be right")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        raise _misfit(path, error) from error
    return model


def _typed(kind: Any, value: Any) -> Any:
    """A value of JSON as a value of this type; what is not of it is refused."""
    parts = get_args(kind)
    if is_dataclass(kind) and isinstance(value, dict):
        types = get_type_hints(kind)
        if value.keys() != types.keys():
            raise TypeError(f"{sorted(value.keys() ^ types.keys())} of {kind.__name__}")  # type: ignore[union-attr]
        return kind(**{name: _typed(types[name], part) for name, part in value.items()})  # type: ignore[operator]
    if get_origin(kind) in (list, tuple) and isinstance(value, list):
        return get_origin(kind)(_typed(parts[0], part) for part in value)
    if get_origin(kind) is UnionType and type(value) in parts:
        return value
    if type(value) is not kind or (kind is float and not np.isfinite(value)):
        raise TypeError(f"{value!r:.50} is not of the type {kind}")
    return value


def _build_model(contents: Contents, classifier: Any) -> CodingModel:
    arrays, model = contents.arrays, contents.documents["model"]
    lists = {
        name: _typed(kind, contents.documents["answers"][name])
        for name, kind in ANSWER_LISTS.items()
    }
    numbers = {name: _typed(float, value) for name, value in model["validation"].items()}
    terms = [
        Terms(kind, _typed(list[str], model[kind]), arrays[f"features/{kind}"])
        for kind in ANALYZERS
    ]
    scales = arrays["features/centre"], arrays["features/scale"]
    known = {name: arrays.get(f"evidence/{name}") for name in ("P", "chance")}
    evidence = Predictions(*(arrays[f"evidence/{name}"] for name in EVIDENCE), **known)
    regression = None
    if "chance/weights" in arrays:
        intercept, *theta = (numbers[name] for name in CHANCE_NUMBERS)
        regression = ConfidenceRegression(intercept, arrays["chance/weights"], *theta)
    gains = (numbers[name] for name in GAINS)
    return CodingModel(
        columns=_typed(Columns, model["columns"]),
        settings=_typed(Settings, model["settings"]),
        labels=_typed(tuple[str, ...], model["labels"]),
        answers=Answers(numbers=arrays["answers/numbers"], extra=arrays["answers/extra"], **lists),
        Y=arrays["answers/Y"],
        features=AnswerFeatures(
            *terms, *scales, _typed(tuple[tuple[str, ...], ...], model["levels"])
        ),
        classifier=classifier,
        validation=CrossValidation(evidence, regression, *gains, arrays.get("evidence/repeated")),
        drawn=arrays["answers/drawn"],
        taught=arrays["answers/taught"],
        history=_typed(tuple[Event, ...], contents.documents["history"]),
        codebook=Codebook(_typed(tuple[CodebookEntry, ...], model["codebook"])),
        earlier=tuple(_build_test(i, test, arrays) for i, test in enumerate(model["tests"])),
    )


def _build_test(number: int, document: Any, arrays: Mapping[str, Any]) -> GuaranteeTest:
    n_labels, *gains = TEST_NUMBERS
    numbers = {name: _typed(float, document[name]) for name in gains}
    known = {name: arrays.get(f"tests/{number}/{name}") for name in TEST_ARRAYS}
    return GuaranteeTest(**known, n_labels=_typed(int, document[n_labels]), **numbers)


Checks = Iterator[tuple[str, bool]]


def _check_parts(model: CodingModel, arrays: Mapping[str, Any]) -> Checks:
    """Each part with whether its kind and size are right; later ones rely on earlier ones."""
    n, columns, features = len(model.answers), model.columns, model.features
    terms = {kind: getattr(features, kind).terms for kind in ANALYZERS}
    levels, n_numbers = features.levels, len(columns.numeric) + columns.n_extra
    n_labels = len(model.labels)
    sizes = {"n": n, "labels": n_labels, "clues": N_CLUES + n_labels, "last": n - 1}
    sizes |= {"numeric": len(columns.numeric), "extra": columns.n_extra, "numbers": n_numbers}
    sizes |= {kind: len(names) for kind, names in terms.items()}
    yield from _check_arrays(ARRAYS, arrays, sizes)
    yield "chances", ("evidence/chance" in arrays) == ("chance/weights" in arrays)
    for name in ("drawn", "taught"):
        yield name, bool(getattr(model, name).any())
    for name in ANSWER_LISTS:
        yield name, len(getattr(model.answers, name)) == n
    yield "categories", {len(row) for row in model.answers.categories} <= {len(columns.categorical)}
    for names in (model.labels, *terms.values(), *levels):
        yield "names", len(set(names)) == len(names)
    yield "levels", len(levels) == len(columns.categorical)
    n_folds, seed = model.settings.n_folds, model.settings.random_state
    yield "settings", (n_folds is None or n_folds >= 2) and 0 <= seed < 2**32
    yield "further separators", all(columns.codes.also)
    n_features = n_numbers + len(columns.numeric) + sum(map(len, (*terms.values(), *levels)))
    yield "number of features", model.classifier.n_features_in_ == n_features
    yield "number of labels", model.classifier.n_labels_ == n_labels
    yield "rows", bool(((model.classifier.rows_ >= 0) & (model.classifier.rows_ < n)).all())
    yield "gains", all(getattr(model.validation, name) >= 0 for name in GAINS)
    regression = model.validation.regression
    yield "scale of theta", regression is None or regression.scale > 0
    codes = [entry.code for entry in model.codebook.entries]
    yield "codebook", len(set(codes)) == len(codes)
    yield "codebook", model.codebook.unique(model.labels) == model.labels
    for test in model.earlier:
        yield "tests", len(test.theta) > 0 and min(test.gain_theta, test.gain_chance) >= 0
        sizes = {"n": len(test.theta), "labels": test.n_labels}
        yield from _check_arrays(TEST_ARRAYS, dict(_pack_arrays(test, TEST_ARRAYS)), sizes)


def _check_arrays(
    known: Mapping[str, Any], arrays: Mapping[str, Any], sizes: Mapping[str, int]
) -> Checks:
    for name, (_, kind, shape, low, high) in known.items():
        if name in OPTIONAL and name not in arrays:
            continue
        values, high = arrays[name], sizes.get(high, high)
        yield name, values.dtype == kind and values.shape == tuple(sizes[d] for d in shape.split())
        unknown = name == "answers/numbers" and np.isnan(values)
        yield name, bool((((values >= low) & (values <= high)) | unknown).all())


@contextmanager
def model_lock(path: Path, tell: Tell = None) -> Iterator[None]:
    """Hold the lock of a model, which ends with the process, however that ends.

    One process at a time changes a model; `tell` is told why the others wait.
    """
    place = path.resolve()
    lock, work = FileLock(place.with_name(f".{place.name}.lock")), f"at work on {place.name}"
    try:
        with suppress(Timeout):
            lock.acquire(timeout=0)
        if not lock.is_locked:
            if tell is not None:
                tell(f"Waiting for another process that is {work}.")
            lock.acquire(timeout=WAIT_SECONDS, poll_interval=POLL_SECONDS)
    except Timeout:
        message = f"Another process has been {work} for {WAIT_SECONDS / 60:g} minutes."
        raise NLDDError(message, hint="let it finish or end it, then run this again") from None
    except PermissionError as error:
        message = f"{place.parent}: this folder cannot be written to."
        hint = "copy the file to a folder of your own, or ask who may write there"
        raise NLDDError(message, hint=hint) from error
    try:
        yield
    finally:
        lock.release()


def replace_model(model: CodingModel, path: Path) -> Path | None:
    """Save a model, and keep what was in its place; where that is now, if there was anything.

    The lock of the model must be held.
    """
    place = path.resolve()
    if not place.exists():
        save_coding_model(model, place)
        return None
    _settle_spare(place)
    spare = _make_spare(place)
    try:
        save_coding_model(model, place)
    except BaseException:
        spare.unlink()
        raise
    kept = _settle_spare(place)
    return kept if path.is_symlink() else path.with_name(kept.name)


def _make_spare(place: Path) -> Path:
    """A second name of a file that is to be replaced, or a copy where there are none."""
    spare = place.with_name(f".{place.name}.spare")
    try:
        os.link(place, spare)
    except (OSError, NotImplementedError):  # not every file system can
        with place.open("rb") as old, open_replacement(spare) as new:
            shutil.copyfileobj(old, new)
    return spare


def _settle_spare(place: Path) -> Path:
    """The predecessor of a model: its spare name, if it is of another file than the model.

    So it may be after a process was killed, too, between any two steps.
    """
    spare, kept = place.with_name(f".{place.name}.spare"), place.with_name(f"{place.name}.bak")
    if spare.exists() and filecmp.cmp(spare, place, shallow=False):
        spare.unlink()
    elif spare.exists():
        move_file(spare, kept)
    sync_folder(place.parent)
    return kept


@dataclass(frozen=True)
class UndoResult:
    """A model that is as it was before a step; made by :func:`undo_model`.

    Attributes
    ----------
    taken_back, came_back : tuple of Event
        Steps that the model no longer has, and steps that it has again.
    n_answers : int
        Coded answers that it has now.
    kept : Path
        Where the model went that was there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from nldd.coding.model_file import UndoResult
    >>> print(UndoResult((), (), n_answers=80, kept=Path("model.nldd.bak")))
    Undone: a change that the history of the model does not tell
    The model has 80 answers now
    model.nldd.bak is the model as it was a moment ago; nldd undo model.nldd brings it back
    """

    taken_back: tuple[Event, ...]
    came_back: tuple[Event, ...]
    n_answers: int
    kept: Path

    def __str__(self) -> str:
        told = {"Undone": self.taken_back, "Brought back": self.came_back}
        lines = [f"{what}: {'; '.join(map(str, steps))}" for what, steps in told.items() if steps]
        untold = "Undone: a change that the history of the model does not tell"
        before, name = visible(self.kept.name), visible(self.kept.stem)
        lines = [
            *(lines or [untold]),
            f"The model has {count_noun(self.n_answers, 'answer')} now",
            f"{before} is the model as it was a moment ago; nldd undo {name} brings it back",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def undo_model(path: Path, tell: Tell = None) -> UndoResult:
    """Swap a model file and its predecessor; a second time brings the last step back.

    Parameters
    ----------
    path : Path
        The model file; its predecessor lies beside it.
    tell : callable, optional
        Is told in words if another process is at work on the model, for which this one waits.

    Returns
    -------
    UndoResult
        The steps taken back, and what the model has now.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, fit_table, undo_model, update_model
    >>> import pandas as pd
    >>> from nldd import load_survey
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> frame = pd.DataFrame(rows, columns=survey.header)
    >>> frame[:80].to_csv(table, index=False)
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> more = Path(folder.name, "more.csv")
    >>> frame[80:100].to_csv(more, index=False)
    >>> len(update_model(model, more).model.answers)
    100
    >>> undone = undo_model(model)
    >>> undone.n_answers, [event.file for event in undone.taken_back]
    (80, ['more.csv'])
    >>> undo_model(model).n_answers
    100
    >>> folder.cleanup()
    """
    _read_history(path)  # before a lock file is made for what is no model
    path = path.resolve()
    with model_lock(path, tell):
        now = _read_history(path)
        kept = _settle_spare(path)
        if not kept.exists():
            hint = f"nldd inspect {path.name} shows its steps; only the last change can be undone"
            raise InputError(f"{path.name}: there is no predecessor {kept.name}.", hint=hint)
        then = _read_history(kept)
        _make_spare(path)
        move_file(kept, path)
        _settle_spare(path)
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(now, then, strict=False))
    n_same, n_answers = len(list(pairs)), then[-1].n_answers if then else 0
    return UndoResult(now[n_same:], then[n_same:], n_answers, kept)


def _read_history(path: Path) -> tuple[Event, ...]:
    """The steps of a model file; what is none is refused."""
    try:
        return _typed(tuple[Event, ...], read_documents(path, kind=KIND)["history"])
    except (KeyError, TypeError) as error:
        raise _misfit(path, error) from error
