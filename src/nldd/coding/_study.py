"""The steps of a coding study on files: fit, and update with corrected answers."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nldd._files import file_lock
from nldd._wording import count_noun, escaped
from nldd.coding._answers import Listing
from nldd.coding._joining import Ask, agree_on_lists, check_new_codes, without_blank
from nldd.coding._model import (
    FEWEST_ANSWERS,
    CodingModel,
    Settings,
    add_answers,
    checksum,
    fit_coding_model,
)
from nldd.coding._model_file import load_coding_model, save_coding_model
from nldd.coding._output import check_places
from nldd.coding._predictions import Watch
from nldd.coding._training_table import CodedAnswers, Request, find_columns, read_coded
from nldd.exceptions import InputError
from nldd.io import read_documents, read_manifest
from nldd.tables import TableOptions

Tell = Callable[[str], None] | None


@dataclass(frozen=True, eq=False)
class Step:
    """A model, those answers of a table that joined it, and how many old ones got other codes."""

    model: CodingModel
    table: CodedAnswers
    n_corrected: int = 0


def fit_table(
    path: Path,
    out: Path,
    request: Request,
    settings: Settings = Settings(),
    options: TableOptions = TableOptions(),
    watch: Watch = lambda folds, total: folds,
    tell: Tell = None,
    ask: Ask = None,
) -> Step:
    """Fit a model to the coded answers of a table and save it.

    Where codes look like lists with another separator, a person may be able to answer (`ask`).
    Where there is a model already, no other process updates it meanwhile, see :func:`update_model`.
    """
    check_places(path, out, hint="-o model.nldd")
    # Before hours of work rather than after.
    with suppress(OSError):
        out.parent.mkdir(parents=True, exist_ok=True)
    if out.is_dir() or not (out.parent.is_dir() and os.access(out.parent, os.W_OK)):
        hint = "check the name of its folder, and whether you may write there"
        raise InputError(f"{out}: cannot be written.", hint=hint)
    locked = out.exists()
    with _model_lock(out, tell, locked):
        _check_replaceable(out)
        columns = find_columns(path, request, options)
        table, digest = _read_unchanged(path, columns, options)
        if not request.as_written:
            agreed = agree_on_lists(table, columns, path, ask)
            if agreed != columns:
                columns = agreed
                table, digest = _read_unchanged(path, columns, options)
        table = without_blank(table, columns, path, fewest=FEWEST_ANSWERS).once()
        model = fit_coding_model(table.answers, table.codes, columns, settings, watch, table.drawn)
        known = (table.identities, table.identity_columns) if table.tell_apart else ((), ())
        model = replace(model, identities=tuple(known[0]), identity_columns=known[1])
        model = model.record("fit", path.name, digest, len(table.codes), table.n_set_aside)
        # Where there was none, somebody may have made one meanwhile, and updated it.
        with _model_lock(out, tell, not locked and out.exists()):
            _check_replaceable(out)
            save_coding_model(model, out)
    return Step(model, table)


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
    listing: Listing = Listing(),
    ask: Ask = None,
) -> Step:
    """Let the coded answers of a table join a saved model, and save it.

    Answers that the model has already, by the columns of the table that it was fitted to, do not
    join a second time; where they come with other codes, these replace the old ones.

    One process at a time: a second one waits, which it may `tell`, and then starts from what the
    first has saved, so that no answer is lost. Without `out`, the old model is replaced. `again`
    takes a file that the model has had already, `new_codes` codes that look like known ones. A
    file may list its codes in its own way (`listing`), and a person may be able to answer (`ask`).
    """
    check_places(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_places(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = (out or model_path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _model_lock(target, tell):
        old = load_coding_model(model_path)
        old = replace(old, settings=replace(old.settings, n_jobs=n_jobs))
        columns = replace(old.columns, codes=old.columns.codes.listed_as(listing))
        how = (columns, options, old.identity_columns, False)
        table, digest = _read_unchanged(path, *how, known=old.labels)
        had = [event for event in old.history if event.sha256 == digest]
        if had and not again:
            since = escaped(f"since {had[0].time} ({had[0].action} with {had[0].file})")
            hint = "give a file with new answers; or --again, to take the same file once more"
            message = f"{path.name}: the model has these answers already, {since}."
            raise InputError(message, hint=hint)
        table = check_new_codes(table, old.labels, columns.codes, path, new_codes, ask)
        pairs = zip(old.answers.texts, old.codes(old.Y), strict=True)
        table = without_blank(table, columns, path, [c for text, c in pairs if not text.strip()])
        table, corrections = _new_answers(old, table, path)
        model = add_answers(old, table.answers, table.codes, watch, corrections, table.drawn)
        if old.identities:
            model = replace(model, identities=(*old.identities, *table.identities))
        model = model.record("update", path.name, digest, len(table.codes), table.n_set_aside)
        save_coding_model(model, target)
    return Step(model, table, len(corrections))


def _model_lock(path: Path, tell: Tell, needed: bool = True) -> AbstractContextManager[None]:
    """What one process at a time holds; a model that is not there yet needs none."""
    if not needed:
        return nullcontext()
    place = path.resolve()
    return file_lock(place.with_name(f".{place.name}.lock"), f"at work on {place.name}", tell)


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


def _check_replaceable(out: Path) -> None:
    """Refuse to fit in the place of a model that has learned from people since."""
    try:
        history = read_documents(out)["history"] if out.exists() else []
        updated = [event for event in history if event["action"] == "update"]
    except (InputError, KeyError, TypeError):
        return  # no model of ours, or none that could be used
    if updated:
        times = count_noun(len(updated), "update")
        hint = "-o with another name; or rename the old model first"
        raise InputError(f"{out} is a model with {times}, which would be lost.", hint=hint)


def _read_unchanged(path: Path, *how: Any, **more: Any) -> tuple[CodedAnswers, str]:
    """The coded answers of a table and its checksum, the same before and after."""
    digest = checksum(path) if path.is_file() else ""
    table = read_coded(path, *how, **more)  # says so if that cannot be done
    if checksum(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    return table, digest
