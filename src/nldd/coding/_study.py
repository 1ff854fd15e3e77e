"""The steps of a coding study on files: fit, and update with corrected answers."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nldd._files import file_lock
from nldd._wording import count_noun, escaped, quote, quote_first
from nldd.coding._answers import Columns, Listing
from nldd.coding._code_slips import close_code
from nldd.coding._codebook import Codebook, Entry, read_codebook
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
from nldd.coding._predictions import Watch, unwatched
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
    watch: Watch = unwatched,
    tell: Tell = None,
    ask: Ask = None,
    codebook: Codebook = Codebook(),
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
        for _ in watch(range(1), 1, f"reading {path.name}"):
            columns, table, digest = _read_first(path, request, options, ask)
        model = fit_coding_model(
            table.answers, table.codes, columns, settings, watch, table.drawn, codebook
        )
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
    watch: Watch = unwatched,
    again: bool = False,
    new_codes: bool = False,
    n_jobs: int | None = None,
    tell: Tell = None,
    listing: Listing = Listing(),
    ask: Ask = None,
    accept: bool = False,
) -> Step:
    """Let the coded answers of a table join a saved model, and save it.

    Answers that the model has already, by the columns of the table that it was fitted to, do not
    join a second time; where they come with other codes, these replace the old ones.

    One process at a time: a second one waits, which it may `tell`, and then starts from what the
    first has saved, so that no answer is lost. Without `out`, the old model is replaced. `again`
    takes a file that the model has had already, `new_codes` codes that look like known ones, and
    `accept` suggestions of a review that nobody has marked. A file may list its codes in its own
    way (`listing`), and a person may be able to answer (`ask`).
    """
    check_places(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_places(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = (out or model_path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _model_lock(target, tell):
        for _ in watch(range(1), 1, f"reading {model_path.name} and {path.name}"):
            old = load_coding_model(model_path)
            old = replace(old, settings=replace(old.settings, n_jobs=n_jobs))
            columns = replace(old.columns, codes=old.columns.codes.listed_as(listing))
            how = (columns, options, old.identity_columns, False)
            table, digest = _read_unchanged(path, *how, known=old.labels, accept=accept)
        had = [event for event in old.history if event.sha256 == digest]
        if had and not again:
            since = escaped(f"since {had[0].time} ({had[0].action} with {had[0].file})")
            hint = "give a file with new answers; or --again, to take the same file once more"
            message = f"{path.name}: the model has these answers already, {since}."
            raise InputError(message, hint=hint)
        table = replace(table, codes=list(map(old.codebook.translate, table.codes)))
        known = (*old.labels, *(c for c in old.codebook.codes if c not in old.labels))
        table = check_new_codes(table, known, columns.codes, path, new_codes, ask)
        pairs = zip(old.answers.texts, old.codes(old.Y), strict=True)
        table = without_blank(table, columns, path, [c for text, c in pairs if not text.strip()])
        table, corrections = _new_answers(old, table, path)
        model = add_answers(old, table.answers, table.codes, watch, corrections, table.drawn)
        if old.identities:
            model = replace(model, identities=(*old.identities, *table.identities))
        model = model.record("update", path.name, digest, len(table.codes), table.n_set_aside)
        save_coding_model(model, target)
    return Step(model, table, len(corrections))


def apply_codebook(
    model_path: Path,
    path: Path,
    options: TableOptions = TableOptions(),
    watch: Watch = unwatched,
    n_jobs: int | None = None,
    tell: Tell = None,
) -> tuple[CodingModel, list[str]]:
    """Let a saved model take over names, merges and the order of a codebook; and what that meant.

    Codes merged into one that is there become it in all answers, into a new one are renamed. Where
    labels changed, all is fitted anew to the model's own answers; a mere rename takes no fit.
    """
    check_places(path, model_path, hint="nldd codebook model.nldd codebook.csv")
    read_manifest(model_path)
    with _model_lock(model_path, tell):
        old = load_coding_model(model_path)
        given, digest = read_codebook(path, options), checksum(path)
        _check_codes_of_book(old, given, path)
        codebook = old.codebook.updated(given)
        changes = _changes(old, codebook)
        labels = tuple(map(codebook.current, old.labels))
        if len(set(labels)) == len(labels):
            model = replace(old, labels=labels, codebook=codebook)
        else:
            settings = replace(old.settings, n_jobs=n_jobs)
            how = (old.columns, settings, watch, old.drawn.tolist(), codebook)
            known = [set(names) for names in old.codes(old.Y)]
            model = fit_coding_model(old.answers, known, *how)
            kept = ("history", "identities", "identity_columns")
            model = replace(model, **{name: getattr(old, name) for name in kept})
        model = model.record("codebook", path.name, digest, 0, 0)
        save_coding_model(model, model_path.resolve())
    return model, changes


def _check_codes_of_book(model: CodingModel, given: Codebook, path: Path) -> None:
    """Refuse a row for a code that nobody has, but that looks like a known one misspelt."""
    known = {*model.labels, *model.codebook.by_code, *(e.merged_into for e in given.entries)}
    for code in given.by_code:
        if code not in known and (meant := close_code(code, sorted(known))):
            unknown = f"the model does not know the code {quote(code)}, but {quote(meant)}"
            hint = f"write {quote(meant)} in the column code; or leave the row out"
            raise InputError(f"{path.name}: {unknown}.", hint=hint)


def _changes(model: CodingModel, codebook: Codebook) -> list[str]:
    """What a codebook does to the codes of a model, in words."""
    becomes: dict[str, list[str]] = {}
    for code in model.labels:
        becomes.setdefault(codebook.current(code), []).append(code)
    changes = []
    for new, old in becomes.items():
        others = [code for code in old if code != new]
        if len(old) > 1:
            changes.append(f"{quote_first(others)} merged into {quote(new)}.")
        elif others:
            changes.append(f"{quote(old[0])} renamed to {quote(new)}.")
    before = model.codebook.by_code
    n_named = sum(
        (e.name, e.description, e.order) != (b.name, b.description, b.order)
        for e in codebook.entries
        if e.code in becomes and (b := before.get(e.code, Entry(e.code)))
    )
    if n_named:
        changes.append(f"{count_noun(n_named, 'code')} with another name, description or place.")
    used = {*model.labels, *becomes}
    new_codes = [c for c in codebook.codes if c not in used and c not in before]
    if new_codes:
        changes.append(f"Codes that no answer has yet: {quote_first(new_codes)}.")
    return changes


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


def _read_first(
    path: Path, request: Request, options: TableOptions, ask: Ask
) -> tuple[Columns, CodedAnswers, str]:
    """The columns, coded answers and checksum of the table that a model is fitted to."""
    columns = find_columns(path, request, options)
    table, digest = _read_unchanged(path, columns, options)
    if not request.as_written:
        agreed = agree_on_lists(table, columns, path, ask)
        if agreed != columns:
            columns = agreed
            table, digest = _read_unchanged(path, columns, options)
    return columns, without_blank(table, columns, path, fewest=FEWEST_ANSWERS).once(), digest


def _read_unchanged(path: Path, *how: Any, **more: Any) -> tuple[CodedAnswers, str]:
    """The coded answers of a table and its checksum, the same before and after."""
    digest = checksum(path) if path.is_file() else ""
    table = read_coded(path, *how, **more)  # says so if that cannot be done
    if checksum(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    return table, digest
