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
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from filelock import FileLock, Timeout

from nldd._files import move_file, open_replacement, sync_folder
from nldd.coding.features import ANALYZERS
from nldd.coding.model import CodingModel, Event
from nldd.coding.predictions import N_CLUES
from nldd.exceptions import InputError, NLDDError
from nldd.persistence._archive import Contents, read_archive, read_documents, write_archive
from nldd.present.text import count_noun, visible

KIND, LOADER = "coding-model", "load_coding_model"
# What a model has beside the parts that are arrays and JSON: an estimator, and an earlier model.
CLASSIFIER, FALLBACK = "classifier", "fallback"
LARGEST = np.finfo(float).max
# Shapes of arrays, by their names or their places; all others have a value for each answer.
SHAPES = {"numbers": "n numeric", "extra": "n extra", "Y": "n labels", "P": "n labels"}
SHAPES |= {"features/centre": "numbers", "features/scale": "numbers"}
SHAPES |= {"features/words/weights": "words", "features/letters/weights": "letters"}
SHAPES |= {"validation/regression/weights": "clues"}
# The least and the largest values, by the names of arrays; all others are finite.
LIMITS: dict[str, tuple[Any, Any]] = dict.fromkeys(("Y", "P", "theta", "chance"), (0, 1))
LIMITS["probability"] = (0, 1)
LIMITS |= {"row": (0, "last"), "n_wrong": (0, "tested labels")}
LIMITS["scale"] = (np.finfo(float).tiny, LARGEST)
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
    arrays: dict[str, Any] = {}
    whole = replace(model, settings=replace(model.settings, n_jobs=None))
    documents = {name: _flatten(getattr(whole, name), name, arrays) for name in PARTS}
    if model.fallback is not None:  # a model file within the file
        with TemporaryDirectory() as folder:
            save_coding_model(model.fallback, inner := Path(folder, "model.nldd"))
            arrays[FALLBACK] = np.frombuffer(inner.read_bytes(), dtype=np.uint8)
    contents = Contents(KIND, documents, arrays, {CLASSIFIER: model.classifier})
    write_archive(path, contents, loader=LOADER)


def _flatten(value: Any, place: str, arrays: dict[str, Any]) -> Any:
    """A value as JSON; arrays are put aside by their places."""
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return None
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        return {name: _flatten(getattr(value, name), f"{place}/{name}", arrays) for name in names}
    if isinstance(value, list | tuple):
        return [_flatten(part, f"{place}/{i}", arrays) for i, part in enumerate(value)]
    return value


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
        types, documents, arrays = _types(CodingModel), contents.documents, contents.arrays
        parts = {name: _typed(types[name], documents[name], name, arrays) for name in PARTS}
        model = CodingModel(classifier=contents.models[CLASSIFIER], **parts)
        for part, fits in _check_parts(model, arrays):
            if not fits:
                raise ValueError(f"{part} cannot be right")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as error:
        raise _misfit(path, error) from error
    return model


_types = lru_cache(get_type_hints)
PARTS = tuple(name for name in _types(CodingModel) if name not in (CLASSIFIER, FALLBACK))


def _typed(kind: Any, value: Any, place: str, arrays: Mapping[str, Any]) -> Any:
    """What `_flatten` put aside or made JSON, as a value of this type; all else is refused."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is np.ndarray:
        if arrays[place].dtype != get_args(parts[1])[0]:
            raise TypeError(f"{place} has the type {arrays[place].dtype}")
        return arrays[place]
    if origin is UnionType:
        is_there = value is not None or place in arrays
        return _typed(parts[0], value, place, arrays) if is_there else None
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        types = _types(kind)
        each = ((name, f"{place}/{name}", part) for name, part in value.items())
        known = {name: _typed(types[name], part, at, arrays) for name, at, part in each}
        if missing := types.keys() - known.keys():
            raise TypeError(f"{place} lacks {sorted(missing)}")
        return kind(**known)
    if origin in (list, tuple) and isinstance(value, list):
        return origin(_typed(parts[0], v, f"{place}/{i}", arrays) for i, v in enumerate(value))
    if type(value) is not kind or (kind is float and not np.isfinite(value)):
        raise TypeError(f"{place} is {value!r:.50}")
    return value


def _check_parts(model: CodingModel, arrays: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Each part with whether its sizes and values are right; later ones rely on earlier ones."""
    n, n_labels, columns = len(model.answers), len(model.labels), model.columns
    terms = [model.features.words.terms, model.features.letters.terms]
    levels, n_numeric, n_extra = model.features.levels, len(columns.numeric), columns.n_extra
    sizes = {"n": n, "last": n - 1, "labels": n_labels, "clues": N_CLUES + n_labels}
    sizes |= {"numeric": n_numeric, "extra": n_extra, "numbers": n_numeric + n_extra}
    sizes |= dict(zip(ANALYZERS, map(len, terms), strict=True))
    # A fit was tested with the codes that it had, of which the codebook may have merged some since.
    each = enumerate(model.earlier)
    tests = {f"earlier/{i}": {"n": len(t.theta), "tested labels": t.n_labels} for i, t in each}
    for place, values in arrays.items():
        if place != FALLBACK:
            yield place, _fits(values, place, sizes | tests.get(place.rpartition("/")[0], {}))
    answers, classifier = model.answers, model.classifier
    for lists in (answers.categories, answers.ids, answers.keys, answers.rows):
        yield "answers", len(lists) == n
    yield "drawn and taught", bool(model.drawn.any() and model.taught.any())
    yield "categories", {len(row) for row in answers.categories} <= {len(columns.categorical)}
    yield "levels", len(levels) == len(columns.categorical)
    n_features = sizes["numbers"] + n_numeric + sum(map(len, (*terms, *levels)))
    yield "features", classifier.n_features_in_ == n_features
    yield "labels", classifier.n_labels_ == n_labels
    yield "rows", bool(((classifier.rows_ >= 0) & (classifier.rows_ < n)).all())
    yield "codebook", model.codebook.unique(model.labels) == model.labels


def _fits(values: Any, place: str, sizes: Mapping[str, int]) -> bool:
    """True if an array has the shape of its place, and no values that cannot be there."""
    name = place.rpartition("/")[2]
    shape = SHAPES.get(place, SHAPES.get(name, "n"))
    low, high = LIMITS.get(name, (-LARGEST, LARGEST))
    unknown = place == "answers/numbers" and np.isnan(values)
    fine = ((values >= low) & (values <= sizes.get(high, high))) | unknown
    return values.shape == tuple(sizes[name] for name in shape.split()) and bool(fine.all())


@contextmanager
def model_lock(path: Path, tell: Tell = None) -> Iterator[None]:
    """Hold the lock of a model, which ends with the process, however that ends.

    One process at a time changes a model; `tell` is told why the others wait.
    """
    place = path.resolve()
    lock, work = FileLock(place.with_name(f".{place.name}.lock")), f"at work on {place.name}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout):
            lock.acquire(timeout=0)
        if not lock.is_locked:
            if tell is not None:
                tell(f"Waiting for another process that is {work}.")
            lock.acquire(timeout=WAIT_SECONDS, poll_interval=POLL_SECONDS)
    except Timeout:
        message = f"Another process has been {work} for {WAIT_SECONDS / 60:g} minutes."
        raise NLDDError(message, hint="let it finish or end it, then run this again") from None
    except OSError as error:
        hint = "check the name of its folder, and whether you may write there; or use another one"
        raise NLDDError(f"{path}: cannot be written ({error.strerror}).", hint=hint) from error
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
        lines = lines or ["Undone: a change that the history of the model does not tell"]
        lines.append(f"The model has {count_noun(self.n_answers, 'answer')} now")
        before, name = visible(self.kept.name), visible(self.kept.stem)
        back = f"{before} is the model as it was a moment ago; nldd undo {name} brings it back"
        return "\n".join([*lines, back])

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
        history = read_documents(path, kind=KIND)["history"]
        return tuple(_typed(Event, event, "history", {}) for event in history)
    except (KeyError, TypeError) as error:
        raise _misfit(path, error) from error
