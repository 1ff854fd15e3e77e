"""A model that changes keeps its predecessors, numbered beside it, so that a step can be undone.

::

    model.nldd            as it is now
    model.nldd.bak1       before the first change
    model.nldd.bak2       before the second one, and so on; the last five are kept
    model.nldd.undone1    what `nldd undo` took back, until it is brought back

A predecessor is a second name of the old file, or a copy where names cannot be given twice, and has
it before the model is replaced: whenever a process is killed, both are whole.
"""

import filecmp
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout

from nldd._files import move_file, open_replacement, sync_folder
from nldd.coding.model import CodingModel, Event
from nldd.coding.model_file import KIND, save_coding_model
from nldd.exceptions import InputError, NLDDError
from nldd.persistence._archive import read_documents

BEFORE, UNDONE = "bak", "undone"
# Models may be large: a study of 40,000 answers takes some 30 MB.
N_KEPT = 5
WAIT_SECONDS, POLL_SECONDS = 600.0, 0.1

Tell = Callable[[str], None] | None


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
    n_left : int
        Steps more that can be taken back.

    Examples
    --------
    >>> from pathlib import Path
    >>> from nldd.coding.model_versions import UndoResult
    >>> undone = UndoResult((), (), n_answers=80, kept=Path("model.nldd.undone1"), n_left=2)
    >>> undone.n_answers, undone.kept.name
    (80, 'model.nldd.undone1')
    """

    taken_back: tuple[Event, ...]
    came_back: tuple[Event, ...]
    n_answers: int
    kept: Path
    n_left: int


@contextmanager
def model_lock(path: Path, tell: Tell = None) -> Iterator[None]:
    """Hold the lock of a model, which ends with the process, however that ends.

    One process at a time changes a model; `tell` is told why the others wait.
    """
    place = path.resolve()
    lock = FileLock(place.with_name(f".{place.name}.lock"))
    try:
        _acquire(lock, f"at work on {place.name}", tell)
    except PermissionError as error:
        message = f"{place.parent}: this folder cannot be written to."
        hint = "copy the file to a folder of your own, or ask who may write there"
        raise NLDDError(message, hint=hint) from error
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: BaseFileLock, work: str, tell: Tell) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if tell is not None:
            tell(f"Waiting for another process that is {work}.")
        try:
            lock.acquire(timeout=WAIT_SECONDS, poll_interval=POLL_SECONDS)
        except Timeout:
            message = f"Another process has been {work} for {WAIT_SECONDS / 60:g} minutes."
            hint = "let it finish or end it, then run this again"
            raise NLDDError(message, hint=hint) from None


def replace_model(model: CodingModel, path: Path) -> Path | None:
    """Save a model, and keep what was in its place; where that is now, if there was anything.

    The lock of the model must be held. After an error all is as it was.
    """
    place = path.resolve()
    if not place.exists():
        save_coding_model(model, place)
        return None
    kept = _keep(place, BEFORE)
    try:
        save_coding_model(model, place)
    except BaseException:
        if filecmp.cmp(kept, place, shallow=False):
            kept.unlink()
        raise
    _forget(place, BEFORE)
    return kept if path.is_symlink() else path.with_name(kept.name)


def undo_model(path: Path, redo: bool = False, tell: Tell = None) -> UndoResult:
    """Bring back the predecessor of a model file.

    What was there is kept in turn, so that nothing is lost either way.

    Parameters
    ----------
    path : Path
        The model file; the five last predecessors lie beside it.
    redo : bool
        Whether to bring back what was undone last instead.
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
    >>> from nldd import load_survey
    >>> from nldd.coding.tables.writer import create_table
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> with create_table(table, survey.header) as writer:
    ...     writer.write(rows[:80])
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> more = Path(folder.name, "more.csv")
    >>> with create_table(more, survey.header) as writer:
    ...     writer.write(rows[80:100])
    >>> len(update_model(model, more).model.answers)
    100
    >>> undone = undo_model(model)
    >>> undone.n_answers, [event.file for event in undone.taken_back]
    (80, ['more.csv'])
    >>> undo_model(model, redo=True).n_answers
    100
    >>> folder.cleanup()
    """
    take, give = (UNDONE, BEFORE) if redo else (BEFORE, UNDONE)
    _history(path)  # before a lock file is made for what is no model
    path = path.resolve()
    with model_lock(path, tell):
        now = _history(path)
        found = _numbered(path, take)
        # A process that was killed may have left a predecessor that is the model itself.
        while found and filecmp.cmp(found[-1], path, shallow=False):
            found.pop().unlink()
        if not found:
            raise _nothing_to_take(path, redo)
        then = _history(found[-1])
        kept = _keep(path, give)
        move_file(found[-1], path)
        sync_folder(path.parent)
        _forget(path, give)
    n_same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(now, then, strict=False))
    )
    n_answers = then[-1].n_answers if then else 0
    return UndoResult(now[n_same:], then[n_same:], n_answers, kept, len(found) - 1)


def _nothing_to_take(path: Path, redo: bool) -> InputError:
    if redo:
        hint = "nldd undo takes a step back; nldd inspect shows the steps of a model"
        return InputError(f"{path.name}: nothing was undone that could be brought back.", hint=hint)
    hint = f"nldd inspect {path.name} shows its steps; only changes of the file itself are kept"
    message = f"{path.name}: there is no predecessor beside it, such as {path.name}.{BEFORE}1."
    return InputError(message, hint=hint)


def _history(path: Path) -> tuple[Event, ...]:
    """The steps of a model file; what is none is refused."""
    documents: dict[str, Any] = read_documents(path, kind=KIND)
    try:
        return tuple(Event(**event) for event in documents["history"])
    except (KeyError, TypeError) as error:
        message = f"{path.name}: the history of the model cannot be read ({error!r:.200})."
        raise InputError(message, hint="use the file as nldd fit wrote it") from error


def _numbered(path: Path, kind: str) -> list[Path]:
    """What is kept of a model, the oldest first."""
    name = re.compile(rf"{re.escape(path.name)}\.{kind}([1-9][0-9]*)")
    found = {
        int(match[1]): place
        for place in path.parent.iterdir()
        if (match := name.fullmatch(place.name))
    }
    return [found[number] for number in sorted(found)]


def _keep(path: Path, kind: str) -> Path:
    """Give the file a second name, one above those that are there."""
    kept = _numbered(path, kind)
    if kept and filecmp.cmp(kept[-1], path, shallow=False):
        return kept[-1]
    number = int(re.sub(r".*\D", "", kept[-1].name)) + 1 if kept else 1
    place = path.with_name(f"{path.name}.{kind}{number}")
    try:
        _give_second_name(path, place)
        sync_folder(path.parent)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
    return place


def _give_second_name(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except (OSError, NotImplementedError):  # not every file system can
        with path.open("rb") as old, open_replacement(place) as new:
            shutil.copyfileobj(old, new)


def _forget(path: Path, kind: str) -> None:
    for old in _numbered(path, kind)[:-N_KEPT]:
        old.unlink(missing_ok=True)
