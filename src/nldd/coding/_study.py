"""The steps of a coding study on files: fit, and update with corrected answers."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nldd._files import refuse_existing
from nldd._wording import count_noun, escaped, quote, quote_first
from nldd.coding._model import (
    CodingModel,
    Settings,
    add_answers,
    checksum,
    fit_coding_model,
)
from nldd.coding._model_file import load_coding_model
from nldd.coding._output import check_places
from nldd.coding._predecessors import Tell, model_lock, replace_model
from nldd.coding._predictions import Watch
from nldd.coding._training_table import CodedAnswers, Request, close_code, find_columns, read_coded
from nldd.exceptions import InputError
from nldd.io import read_manifest
from nldd.tables import TableOptions


@dataclass(frozen=True, eq=False)
class Step:
    """A model, those answers of a table that joined it, and how many old ones got other codes.

    Where the model was saved in the place of another one, that is kept as `predecessor`.
    """

    model: CodingModel
    table: CodedAnswers
    n_corrected: int = 0
    predecessor: Path | None = None


def fit_table(
    path: Path,
    out: Path,
    request: Request,
    settings: Settings = Settings(),
    options: TableOptions = TableOptions(),
    watch: Watch = lambda folds, total: folds,
    tell: Tell = None,
    force: bool = False,
) -> Step:
    """Fit a model to the coded answers of a table and save it.

    A model that is there already is replaced by `force` alone, and kept as :func:`update_model`
    keeps it. No other process works on it meanwhile.
    """
    check_places(path, out, hint="-o model.nldd")
    # Before hours of work rather than after.
    with suppress(OSError):
        out.parent.mkdir(parents=True, exist_ok=True)
    if out.is_dir() or not (out.parent.is_dir() and os.access(out.parent, os.W_OK)):
        hint = "check the name of its folder, and whether you may write there"
        raise InputError(f"{out}: cannot be written.", hint=hint)
    refuse_existing(out, force=force)
    columns = find_columns(path, request, options)
    table, digest = _read_unchanged(path, columns, options)
    table = table.once()
    with model_lock(out, tell):
        refuse_existing(out, force=force)  # somebody may have been at work on it
        model = fit_coding_model(table.answers, table.codes, columns, settings, watch, table.drawn)
        known = (table.identities, table.identity_columns) if table.tell_apart else ((), ())
        model = replace(model, identities=tuple(known[0]), identity_columns=known[1])
        model = model.record("fit", path.name, digest, len(table.codes), table.n_set_aside)
        refuse_existing(out, force=force)
        predecessor = replace_model(model, out)
    return Step(model, table, predecessor=predecessor)


def update_model(
    model_path: Path,
    path: Path,
    out: Path | None = None,
    options: TableOptions = TableOptions(),
    watch: Watch = lambda folds, total: folds,
    again: bool = False,
    new_codes: bool = False,
    n_jobs: int | None = None,
    tell: Tell = None,
    force: bool = False,
) -> Step:
    """Let the coded answers of a table join a saved model, and save it.

    Answers that the model has already, by the columns of the table that it was fitted to, do not
    join a second time; where they come with other codes, these replace the old ones.

    One process at a time: a second one waits, which it may `tell`, and then starts from what the
    first has saved, so that no answer is lost. Without `out`, the old model is replaced, and kept
    as its predecessor, see :func:`undo_model`; another file is replaced by `force` alone. `again`
    takes a file that the model has had already, `new_codes` codes that look like known ones.
    """
    check_places(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_places(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = (out or model_path).resolve()
    elsewhere = None if target == model_path.resolve() else out
    refuse_existing(elsewhere, force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    with model_lock(target, tell):
        refuse_existing(elsewhere, force=force)
        old = load_coding_model(model_path)
        old = replace(old, settings=replace(old.settings, n_jobs=n_jobs))
        table, digest = _read_unchanged(path, old.columns, options, old.identity_columns, False)
        had = [event for event in old.history if event.sha256 == digest]
        if had and not again:
            since = escaped(f"since {had[0].time} ({had[0].action} with {had[0].file})")
            hint = "give a file with new answers; or --again, to take the same file once more"
            message = f"{path.name}: the model has these answers already, {since}."
            raise InputError(message, hint=hint)
        _check_new_codes(old, table, path, new_codes)
        table, corrections = _new_answers(old, table, path)
        model = add_answers(old, table.answers, table.codes, watch, corrections, table.drawn)
        if old.identities:
            model = replace(model, identities=(*old.identities, *table.identities))
        model = model.record("update", path.name, digest, len(table.codes), table.n_set_aside)
        predecessor = replace_model(model, out or model_path)
    return Step(model, table, len(corrections), predecessor)


def _new_answers(
    model: CodingModel, table: CodedAnswers, path: Path
) -> tuple[CodedAnswers, dict[int, set[str]]]:
    """The answers that the model does not have, and other codes for those that it has."""
    if not (model.identities and table.tell_apart):
        return table, {}
    table = table.once()
    place = {name: i for i, name in enumerate(model.identities)}
    new = [i for i, name in enumerate(table.identities) if name not in place]
    pairs, before = zip(table.identities, table.codes, strict=True), model.codes(model.Y)
    given = {place[name]: codes for name, codes in pairs if name in place}
    corrections = {i: codes for i, codes in given.items() if codes != set(before[i])}
    if not new and not corrections:
        message = f"{path.name}: the model has all {len(table.codes)} coded answers of it already."
        raise InputError(message, hint="give a file with new answers, or with other codes")
    table = table.take(new, "in the model already")
    if corrections:
        n_corrected = count_noun(len(corrections), "answer")
        table.notes.append(f"{n_corrected} of the model: codes corrected.")
    return table, corrections


def _check_new_codes(model: CodingModel, table: CodedAnswers, path: Path, allowed: bool) -> None:
    """Note codes that are new to the model, and refuse those that look misspelt."""
    new = sorted(set().union(*table.codes) - set(model.labels))
    for name in () if allowed else new:
        if known := close_code(name, model.labels):
            row = next(r for r, codes in zip(table.rows, table.codes, strict=True) if name in codes)
            unknown = f"the model does not know the code {quote(name)}, but {quote(known)}."
            hint = "correct it in the file; or --new-codes, if it is a code of its own"
            raise InputError(f"{path.name}, row {row}: {unknown}", hint=hint)
    if new:
        table.notes.append(f"New codes: {quote_first(new)}.")


def _read_unchanged(path: Path, *how: Any) -> tuple[CodedAnswers, str]:
    """The coded answers of a table and its checksum, the same before and after."""
    digest = checksum(path) if path.is_file() else ""
    table = read_coded(path, *how)  # says so if that cannot be done
    if checksum(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    return table, digest
