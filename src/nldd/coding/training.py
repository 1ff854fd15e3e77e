"""The steps of a coding study on files: fit, and update with corrected answers."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nldd._files import refuse_existing
from nldd.coding.added_answers import Ask, agree_on_lists, check_new_codes, drop_blank_answers
from nldd.coding.answers import CodeFormat, Columns
from nldd.coding.codebook import Codebook, check_listable
from nldd.coding.coded_table import check_paths_differ
from nldd.coding.model import FEWEST_ANSWERS, CodingModel, Settings, add_answers, fit_coding_model
from nldd.coding.model_file import load_coding_model
from nldd.coding.model_versions import Tell, model_lock, replace_model
from nldd.coding.predictions import Watch, no_progress
from nldd.coding.repeated_rows import settle_repeats
from nldd.coding.respondents import normalize_text
from nldd.coding.tables.opening import TableOptions
from nldd.coding.training_table import CodedAnswers, ColumnSpec, find_columns, read_coded
from nldd.exceptions import InputError
from nldd.persistence._archive import read_manifest
from nldd.present.text import count_noun, printable


@dataclass(frozen=True, eq=False)
class FitResult:
    """What :func:`fit_table` and :func:`update_model` have done.

    Attributes
    ----------
    model : CodingModel
        As it was saved.
    table : CodedAnswers
        Those answers of the table that joined it.
    n_corrected : int
        Answers of the model that got other codes.
    predecessor : Path or None
        Where the model is kept whose place it has taken.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, fit_table
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
    >>> len(step.model.answers), step.table.n_rows, step.n_corrected, step.predecessor
    (80, 80, 0, None)
    >>> folder.cleanup()
    """

    model: CodingModel
    table: CodedAnswers
    n_corrected: int = 0
    predecessor: Path | None = None


def fit_table(
    path: Path,
    out: Path,
    request: ColumnSpec,
    settings: Settings = Settings(),
    options: TableOptions = TableOptions(),
    *,
    watch: Watch = no_progress,
    tell: Tell = None,
    ask: Ask = None,
    codebook: Codebook = Codebook(),
    force: bool = False,
) -> FitResult:
    """Fit a model to the coded answers of a table and save it.

    Parameters
    ----------
    path : Path
        The table, in any format of :func:`nldd.coding.tables.opening.open_table`.
    out : Path
        File for the model. No other process works on it meanwhile.
    request : ColumnSpec
        Which columns have the text, the codes and features.
    settings : Settings, optional
        Folds, seed and threads.
    options : TableOptions, optional
        How the table is opened.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.
    tell : callable, optional
        Is told in words if another process is at work on the model, for which this one waits.
    ask : callable, optional
        Is asked a question in words where codes look like lists with another separator, and answers
        whether they are; without it, they are refused.
    codebook : Codebook, optional
        Names and merges of codes.
    force : bool
        Whether to replace a model that is there, which is kept as its predecessor.

    Returns
    -------
    FitResult
        The model, and the answers that it learned from.

    See Also
    --------
    triage : What the model may code alone.
    code_table : Code new answers by it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, fit_table
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
    >>> step.model.labels, len(step.model.answers)
    (('cycling', 'housing costs', 'safety'), 80)
    >>> model.exists()
    True
    >>> folder.cleanup()
    """
    check_paths_differ(path, out, hint="-o model.nldd")
    # Before hours of work rather than after.
    with suppress(OSError):
        out.parent.mkdir(parents=True, exist_ok=True)
    if out.is_dir() or not (out.parent.is_dir() and os.access(out.parent, os.W_OK)):
        hint = "check the name of its folder, and whether you may write there"
        raise InputError(f"{out}: cannot be written.", hint=hint)
    refuse_existing(out, force=force)
    for _ in watch(range(1), 1, f"reading {path.name}"):
        columns, table, digest = _read_first(path, request, options, ask, settings.random_state)
    check_listable(codebook, columns.codes)
    with model_lock(out, tell):
        refuse_existing(out, force=force)  # somebody may have been at work on it
        how = (columns, settings, watch, table.drawn, codebook, table.taught or None)
        model = fit_coding_model(table.answers, table.codes, *how)
        known = (table.identities, table.identity_columns) if table.tell_apart else ((), ())
        model = replace(model, identities=tuple(known[0]), identity_columns=known[1])
        model = model.record("fit", path.name, digest, len(table.codes), table.n_set_aside)
        refuse_existing(out, force=force)
        predecessor = replace_model(model, out)
    return FitResult(model, table, predecessor=predecessor)


def update_model(
    model_path: Path,
    path: Path,
    out: Path | None = None,
    options: TableOptions = TableOptions(),
    *,
    watch: Watch = no_progress,
    again: bool = False,
    new_codes: bool = False,
    n_jobs: int | None = None,
    tell: Tell = None,
    listing: CodeFormat = CodeFormat(),
    ask: Ask = None,
    accept: bool = False,
    force: bool = False,
) -> FitResult:
    """Let the coded answers of a table join a saved model, and save it.

    Answers that the model has already, by the columns of the table that it was fitted to, do not
    join a second time; where they come with other codes, these replace the old ones. One process at
    a time: a second one waits, and then starts from what the first has saved, so that no answer is
    lost.

    Parameters
    ----------
    model_path : Path
        The model file.
    path : Path
        A table of coded answers, such as a review or an audit that people have filled in.
    out : Path, optional
        File for the new model; by default the old one is replaced, and kept, see
        :func:`undo_model`.
    options : TableOptions, optional
        How the table is opened; :class:`~.StoreOptions` for a review file.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.
    again : bool
        Whether to take a file that the model has had already.
    new_codes : bool
        Whether to take codes that look like known ones misspelt.
    n_jobs : int, optional
        Threads of the fit.
    tell : callable, optional
        Is told in words if another process is at work on the model, for which this one waits.
    listing : CodeFormat, optional
        How the table lists its codes, if otherwise than that of the model.
    ask : callable, optional
        Is asked in words where codes look like slips, and answers whether to take them.
    accept : bool
        Whether to take suggestions of a review that nobody has marked.
    force : bool
        Whether to replace a file `out` that is there.

    Returns
    -------
    FitResult
        The new model, and the answers that joined it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, fit_table, update_model
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
    ...     writer.write(rows[70:100])
    >>> step = update_model(model, more)
    >>> len(step.model.answers), len(step.table.codes), step.predecessor.name
    (100, 20, 'model.nldd.bak1')
    >>> folder.cleanup()
    """
    check_paths_differ(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_paths_differ(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = (out or model_path).resolve()
    elsewhere = None if target == model_path.resolve() else out
    refuse_existing(elsewhere, force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    with model_lock(target, tell):
        refuse_existing(elsewhere, force=force)
        for _ in watch(range(1), 1, f"reading {model_path.name} and {path.name}"):
            old = load_coding_model(model_path)
            old = replace(old, settings=replace(old.settings, n_jobs=n_jobs))
            columns = replace(old.columns, codes=old.columns.codes.listed_as(listing))
            how = {"known": old.labels, "accept": accept, "codebook": old.codebook}
            again_by = (old.identity_columns, False)
            table, digest = _read_unchanged(path, columns, options, *again_by, **how)
        _check_not_had(old, digest, path, again)
        known = (*old.labels, *(c for c in old.codebook.by_code if c not in old.labels))
        table = check_new_codes(table, known, columns.codes, path, new_codes, ask)
        joined = _join_answers(old, table, path, watch)
        table = joined.table
        model = joined.model.record(
            "update", path.name, digest, len(table.codes), table.n_set_aside
        )
        predecessor = replace_model(model, out or model_path)
    return replace(joined, model=model, predecessor=predecessor)


def refit_model(model: CodingModel, path: Path, options: TableOptions) -> CodingModel:
    """A model as :func:`update_model` would make it of the coded answers of a table, not saved.

    Codes that are new are taken as they are. Where the table has nothing new, it is the model.
    """
    again_by = (model.identity_columns, False, model.labels)
    table = read_coded(path, model.columns, options, *again_by, codebook=model.codebook)
    try:
        return _join_answers(model, table, path, no_progress).model
    except _NothingNewError:
        return model


def _join_answers(old: CodingModel, table: CodedAnswers, path: Path, watch: Watch) -> FitResult:
    """The model fitted anew with those answers of a table that it does not have."""
    table = replace(table, codes=list(map(old.codebook.translate, table.codes)))
    pairs = zip(old.answers.texts, old.codes(old.Y), strict=True)
    silent = [codes for text, codes in pairs if not text.strip()]
    table = drop_blank_answers(table, old.columns, path, silent)
    table = settle_repeats(table, path, old.settings.random_state)
    old, table, corrections = _new_answers(old, table, path)
    model = add_answers(
        *(old, table.answers, table.codes, watch, corrections), table.drawn, table.taught
    )
    if old.identities or table.names:
        before = old.identities or ("",) * len(old.answers)
        model = replace(model, identities=(*before, *_names_of(old, table)))
    return FitResult(model, table, len(corrections))


def _names_of(model: CodingModel, table: CodedAnswers) -> Sequence[str]:
    """The names by which answers that join a model are known again; those of others are empty."""
    if table.names and not (model.has_ids and table.tell_apart):
        return table.names
    return table.identities if model.has_ids else [""] * len(table.codes)


class _NothingNewError(InputError):
    """The model has all answers of a table."""


def _check_not_had(model: CodingModel, digest: str, path: Path, again: bool) -> None:
    """Refuse a file that the model has had already."""
    had = [event for event in model.history if event.sha256 == digest]
    if had and not again:
        since = printable(f"since {had[0].time} ({had[0].action} with {had[0].file})")
        hint = "give a file with new answers; or --again, to take the same file once more"
        message = f"{path.name}: the model has these answers already, {since}."
        raise InputError(message, hint=hint)


def _new_answers(
    model: CodingModel, table: CodedAnswers, path: Path
) -> tuple[CodingModel, CodedAnswers, dict[int, set[str]]]:
    """The answers that the model does not have, and other codes for those that it has.

    Where one that it has was drawn at random since, the model learns that, too.
    """
    if model.has_ids and table.tell_apart:
        table = table.drop_duplicates()
    elif not table.names and not (any(model.answers.ids) and any(table.answers.ids)):
        return model, _without_copies(model, table, path), {}
    places, withdrawn = _known_places(model, table), _note_withdrawn(model, table)
    table.notes.extend(withdrawn)
    new = [i for i, place in enumerate(places) if place is None]
    rows = zip(places, table.codes, table.drawn, strict=True)
    given = {place: (codes, drawn) for place, codes, drawn in rows if place is not None}
    before = model.codes(model.Y)
    corrections = {i: codes for i, (codes, _) in given.items() if codes != set(before[i])}
    drawn = [i for i, (_, is_drawn) in given.items() if is_drawn and not model.drawn[i]]
    if not new and not corrections and not drawn:
        message = f"{path.name}: the model has all {len(table.codes)} coded answers of it already."
        hint = "give a file with new answers, or with other codes"
        raise _NothingNewError(" ".join([message, *withdrawn]), hint=hint)
    table = table.take(new, "in the model already")
    if corrections:
        n_corrected = count_noun(len(corrections), "answer")
        table.notes.append(f"{n_corrected} of the model: codes corrected.")
    known = model.drawn.copy()
    known[drawn] = True
    return replace(model, drawn=known), table, corrections


def _known_places(model: CodingModel, table: CodedAnswers) -> list[int | None]:
    """For each answer of a table its place in the model: by the name of its row, identity, or id.

    Where identities do not tell rows apart, one of equal ones may have come by an update before.
    """
    known = {name: i for i, name in enumerate(model.identities) if name}
    found = [known.get(name) for name in table.names] or [None] * len(table.codes)
    taken = set(found)
    n_first = model.history[0].n_added if model.history else len(model.answers)
    first = 0 if table.tell_apart else n_first
    for i, identity in enumerate(table.identities):
        place = known.get(identity)
        if found[i] is None and place is not None and place >= first and place not in taken:
            found[i] = place
            taken.add(place)
    said = zip(model.answers.ids, map(normalize_text, model.answers.texts), strict=True)
    by_id = {key: i for i, key in enumerate(said) if key[0]}
    rows = zip(table.answers.ids, map(normalize_text, table.answers.texts), strict=True)
    return [
        by_id.get(key) if place is None else place for key, place in zip(rows, found, strict=True)
    ]


def _note_withdrawn(model: CodingModel, table: CodedAnswers) -> list[str]:
    """A word on answers that joined the model, and that people no longer agree on."""
    known = set(model.identities)
    ids = model.has_ids and table.tell_apart
    n = sum(name in known or (ids and identity in known) for name, identity in table.left)
    if not n:
        return []
    why = "undone, skipped or in dispute since: the model keeps the codes that it has"
    return [f"{count_noun(n, 'answer')} of the model {why}."]


def _without_copies(model: CodingModel, table: CodedAnswers, path: Path) -> CodedAnswers:
    """Where rows have no ids, those of a review that may have come before are left out.

    A copy of an answer would be learned from when that is tested, and the promise too good.
    """
    if not table.is_review:
        return table
    known = set(zip(model.answers.contents(), map(frozenset, model.codes(model.Y)), strict=True))
    rows = zip(table.answers.contents(), map(frozenset, table.codes), strict=True)
    new = [i for i, row in enumerate(rows) if row not in known]
    if not new:
        message = f"{path.name}: the model has answers equal to all {len(table.codes)} of it."
        hint = "give a file with new answers; ids would tell them apart"
        raise _NothingNewError(message, hint=hint)
    return table.take(new, "equal to answers of the model, and rows have no ids; left out")


def _read_first(
    path: Path, request: ColumnSpec, options: TableOptions, ask: Ask, seed: int
) -> tuple[Columns, CodedAnswers, str]:
    """The columns, coded answers and checksum of the table that a model is fitted to."""
    columns = find_columns(path, request, options)
    table, digest = _read_unchanged(path, columns, options, coder=request.coder)
    if not request.as_written:
        agreed = agree_on_lists(table, columns, path, ask)
        if agreed != columns:
            columns = agreed
            table, digest = _read_unchanged(path, columns, options, coder=request.coder)
    table = drop_blank_answers(table, columns, path, fewest=FEWEST_ANSWERS)
    return columns, settle_repeats(table, path, seed).drop_duplicates(), digest


def _read_unchanged(
    path: Path, columns: Columns, options: TableOptions, *how: Any, **more: Any
) -> tuple[CodedAnswers, str]:
    """The coded answers of a table and its checksum, the same before and after."""
    digest = options.digest(path) if path.is_file() else ""
    table = read_coded(path, columns, options, *how, **more)  # says so if that cannot be done
    if options.digest(path) != digest:
        hint = "close it in other programs, then run the same command again"
        raise InputError(f"{path.name} was changed while it was read.", hint=hint)
    return table, digest
