"""The steps of a coding study on files: fit, and update with corrected answers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nldd._lock import file_lock
from nldd.coding._coded_tables import (
    CodedAnswers,
    Request,
    TableOptions,
    find_columns,
    read_coded,
)
from nldd.coding._evidence import Watch
from nldd.coding._history import Event, checksum, now
from nldd.coding._identities import all_differ
from nldd.coding._model import CodingModel, Settings, add_answers, fit_coding_model
from nldd.coding._model_file import load_coding_model, save_coding_model
from nldd.coding._places import check_places, check_writable
from nldd.exceptions import InputError
from nldd.io import read_manifest


@dataclass(frozen=True)
class Step:
    """A model, and the table that brought it here.

    Attributes
    ----------
    model : CodingModel
    table : CodedAnswers
    """

    model: CodingModel
    table: CodedAnswers


def fit_table(
    path: Path,
    out: Path,
    request: Request,
    settings: Settings = Settings(),
    options: TableOptions = TableOptions(),
    watch: Watch = lambda folds, total: folds,
) -> Step:
    """Fit a model to the coded answers of a table and save it."""
    check_places(path, out, hint="-o model.nldd")
    check_writable(out)
    columns = find_columns(path, request, options)
    table = read_coded(path, columns, options)
    model = fit_coding_model(table.answers, table.codes, columns, settings, watch)
    model = replace(model, identities=tuple(table.identities))
    model = model.with_event(_event("fit", path, table, model))
    save_coding_model(model, out)
    return Step(model, table)


def update_model(
    model_path: Path,
    path: Path,
    out: Path | None = None,
    options: TableOptions = TableOptions(),
    watch: Watch = lambda folds, total: folds,
    again: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Step:
    """Let the coded answers of a table join a saved model, and save it.

    One process at a time: a second one waits and then starts from what the first has saved, so that
    no answer is lost.

    Parameters
    ----------
    model_path, path : Path
        The model and the table.
    out : Path, default=None
        Where the new model goes; None replaces the old one.
    options : TableOptions
    watch : callable
    again : bool
        Take a table that the model has had already.
    tell : callable
        Is told if another process is at work and has to be waited for.
    """
    check_places(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_places(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = (out or model_path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(target.with_name(f".{target.name}.lock"), f"updating {target.name}", tell):
        old = load_coding_model(model_path)
        table = read_coded(path, old.columns, options)
        _check_new(old, path, again)
        if not again:
            table = _new_answers(old, table, path)
        model = add_answers(old, table.answers, table.codes, watch)
        if len(old.identities) == len(old.answers):
            model = replace(model, identities=(*old.identities, *table.identities))
        model = model.with_event(_event("update", path, table, model))
        save_coding_model(model, target)
    return Step(model, table)


def _new_answers(model: CodingModel, table: CodedAnswers, path: Path) -> CodedAnswers:
    """The answers that the model does not have; a review that is filled in further has both.

    Only where each answer has an identity of its own. Of two people who say the same in a table
    without ids, nobody can tell whether they are one.
    """
    if not (all_differ(table.identities) and all_differ(model.identities)):
        return table
    known = set(model.identities)
    new = [i for i, name in enumerate(table.identities) if name not in known]
    n_known = len(table.codes) - len(new)
    if not n_known:
        return table
    if not new:
        raise InputError(
            f"{path.name}: the model has all {n_known} coded answers of it already.",
            hint="a file with new answers; or --again, to count these answers once more",
        )
    return replace(
        table,
        answers=table.answers[np.array(new)],
        codes=[table.codes[i] for i in new],
        rows=[table.rows[i] for i in new],
        identities=[table.identities[i] for i in new],
        notes=[*table.notes, f"{n_known} coded answers are in the model already."],
        n_known=n_known,
    )


def _check_new(model: CodingModel, path: Path, again: bool) -> None:
    digest = checksum(path)
    before = [event for event in model.history if event.sha256 == digest]
    if before and not again:
        raise InputError(
            f"{path.name}: the model has these answers already, since {before[0].time} "
            f"({before[0].action} with {before[0].file}).",
            hint="a file with new answers; or --again, to count these answers once more",
        )


def _event(action: str, path: Path, table: CodedAnswers, model: CodingModel) -> Event:
    return Event(
        action=action,
        time=now(),
        file=path.name,
        sha256=checksum(path),
        n_added=len(table.codes),
        n_set_aside=table.n_set_aside,
        n_answers=len(model.answers),
        n_labels=len(model.labels),
        n_labelsets=len(np.unique(model.Y, axis=0)),
        subset_accuracy=float(model.evidence.right(model.Y).mean()),
        hamming_accuracy=float(model.evidence.right(model.Y, "hamming").mean()),
    )
