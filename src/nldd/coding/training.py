"""The steps of a coding study: fit, and update with corrected answers."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nldd._files import refuse_existing
from nldd.coding.answers import (
    Answers,
    BoolArray,
    Decisions,
    drop_blank_answers,
    drop_duplicates,
    settle_repeats,
    take,
)
from nldd.coding.code_slips import Ask, agree_on_lists, check_new_codes
from nldd.coding.codebook import Codebook, check_listable
from nldd.coding.coded_table import check_paths_differ
from nldd.coding.columns import CodeFormat, Codes, ColumnSpec, find_columns
from nldd.coding.decisions import keep_coder, read_coded, read_sheet
from nldd.coding.model import FEWEST_ANSWERS, CodingModel, Settings, add_answers, fit_coding_model
from nldd.coding.model_file import Tell, load_coding_model, model_lock, replace_model
from nldd.coding.predictions import Watch, no_progress
from nldd.coding.rows import SHEET
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.wording import fill_words
from nldd.exceptions import InputError
from nldd.persistence._archive import read_manifest
from nldd.present.text import printable


@dataclass(frozen=True, eq=False)
class FitResult:
    """What :func:`fit_table` and :func:`update_model` have done.

    Attributes
    ----------
    model : CodingModel
        As it was saved.
    n_rows, n_added, n_set_aside : int
        Rows of the table, coded answers of it that joined the model, and rows without codes.
    n_corrected : int
        Answers of the model that got other codes.
    notes : list of str
        What a person should know about the table.
    predecessor : Path or None
        Where the model is kept whose place it has taken.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, fit_table
    >>> from nldd import load_survey
    >>> import pandas as pd
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> pd.DataFrame(rows[:80], columns=survey.header).to_csv(table, index=False)
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> len(step.model.answers), step.n_rows, step.n_corrected, step.predecessor
    (80, 80, 0, None)
    >>> folder.cleanup()
    """

    model: CodingModel
    n_rows: int
    n_added: int
    n_set_aside: int
    n_corrected: int = 0
    notes: list[str] = field(default_factory=list)
    predecessor: Path | None = None


def fit_table(
    path: Path,
    out: Path,
    spec: ColumnSpec,
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
        The table, in any format of :func:`nldd.coding.tables.reading.read_table`.
    out : Path
        File for the model. No other process works on it meanwhile.
    spec : ColumnSpec
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
    >>> import pandas as pd
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> pd.DataFrame(rows[:80], columns=survey.header).to_csv(table, index=False)
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> step.model.labels, len(step.model.answers)
    (('cycling', 'housing costs', 'safety'), 80)
    >>> model.exists()
    True
    >>> folder.cleanup()
    """
    check_paths_differ(path, out, hint="-o model.nldd")
    for _ in watch(range(1), 1, f"reading {path.name}"):
        table = read_table(path, options)
        columns = find_columns(table, spec)
        coded = read_sheet(table, columns, drawn=True)
        agreed = columns if spec.as_written else agree_on_lists(coded, columns, ask)
        if agreed != columns:
            columns, coded = agreed, read_sheet(table, agreed, drawn=True)
    answers, decisions = coded
    check_listable(codebook, columns.codes)
    n_set_aside = len(decisions) - len(decisions.decided)
    if spec.coder:
        answers, decisions = keep_coder(answers, decisions, columns, spec.coder)
    if not any(answers.keys):
        columns = replace(columns, identity=())
    decided = take((answers, decisions), decisions.decided)
    answers, decisions = drop_blank_answers(decided, columns, fewest=FEWEST_ANSWERS)
    answers, decisions = drop_duplicates(*settle_repeats(answers, decisions, settings.random_state))
    with model_lock(out, tell):
        refuse_existing(out, force=force)
        model = fit_coding_model(answers, decisions, columns, settings, watch, codebook)
        model = model.record("fit", path.name, table.sha256, len(answers), n_set_aside)
        predecessor = replace_model(model, out)
    counts = (len(table), len(answers), n_set_aside)
    return FitResult(model, *counts, notes=decisions.notes, predecessor=predecessor)


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
        A table of coded answers, such as a review sheet or a check sample that people have filled
        in; or the file of a review.
    out : Path, optional
        File for the new model; by default the old one is replaced, and kept, see
        :func:`undo_model`.
    options : TableOptions, optional
        How the table is opened.
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
    >>> import pandas as pd
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> pd.DataFrame(rows[:80], columns=survey.header).to_csv(table, index=False)
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> more = Path(folder.name, "more.csv")
    >>> pd.DataFrame(rows[70:100], columns=survey.header).to_csv(more, index=False)
    >>> step = update_model(model, more)
    >>> len(step.model.answers), step.n_added, step.predecessor.name
    (100, 20, 'model.nldd.bak')
    >>> folder.cleanup()
    """
    check_paths_differ(path, model_path, hint="nldd update model.nldd corrected.csv")
    check_paths_differ(path, out, hint="-o new-model.nldd")
    read_manifest(model_path)  # before a lock file is made for what is no model
    target = out or model_path
    is_same = target.resolve() == model_path.resolve()
    with model_lock(target, tell):
        refuse_existing(target, force=force or is_same)
        for _ in watch(range(1), 1, f"reading {model_path.name} and {path.name}"):
            old = load_coding_model(model_path)
            old = replace(old, settings=replace(old.settings, n_jobs=n_jobs))
            columns = replace(old.columns, codes=old.columns.codes.listed_as(listing))
            how: dict[str, Any] = {"known": old.labels, "accept": accept, "codebook": old.codebook}
            answers, decisions = read_coded(path, columns, options, **how)
        _check_not_had(old, decisions, again)
        known = (*old.labels, *(c for c in old.codebook.by_code if c not in old.labels))
        # Of new codes in a review file the page has asked.
        allowed = new_codes or decisions.kind == "review file"
        decisions = check_new_codes((answers, decisions), known, columns.codes, allowed, ask)
        joined = join_decisions(old, answers, decisions, watch)
        file, counts = (path.name, decisions.sha256), (joined.n_added, joined.n_set_aside)
        model = joined.model.record("update", *file, *counts)
        predecessor = replace_model(model, target)
    return replace(joined, model=model, predecessor=predecessor)


def refit_model(model: CodingModel, answers: Answers, decisions: Decisions) -> CodingModel:
    """A model fitted anew with what people decided; the model itself if nothing is new to it."""
    try:
        return join_decisions(model, answers, decisions).model
    except _NothingNewError:
        return model


def join_decisions(
    old: CodingModel, answers: Answers, decisions: Decisions, watch: Watch = no_progress
) -> FitResult:
    """The model fitted anew with those decisions that it does not have."""
    codes = [None if c is None else frozenset(old.codebook.translate(c)) for c in decisions.codes]
    decisions = replace(decisions, codes=codes)
    pairs = zip(old.answers.texts, old.codes(old.Y), strict=True)
    silent = [codes for text, codes in pairs if not text.strip()]
    n_rows, n_set_aside = len(decisions), len(decisions) - len(decisions.decided)
    places = zip(old.find_places(answers), decisions.codes, strict=True)
    is_review = decisions.kind == "review file"
    n_withdrawn = sum(is_review and place is not None and codes is None for place, codes in places)
    decided = take((answers, decisions), decisions.decided)
    answers, decisions = drop_blank_answers(decided, old.columns, silent)
    chosen = settle_repeats(answers, decisions, old.settings.random_state)
    answers, decisions = drop_duplicates(*chosen)
    new, corrections, drawn = _find_news(old, answers, decisions)
    about = {"n_known": len(answers) - len(new), "n_corrected": len(corrections)}
    about |= {"n_withdrawn": n_withdrawn, "ids": any(answers.keys)}
    if not new and not corrections and (drawn == old.drawn).all():
        about |= {"n_known": 0, "n_corrected": 0}
        message = f"{decisions.source}: the model has all {len(chosen[0])} coded answers of it"
        hint = "give a file with new answers or other codes; ids tell answers of equal words apart"
        said = " ".join([f"{message} already.", *fill_words("joining", **about)])
        raise _NothingNewError(said, hint=hint)
    answers, decisions = take((answers, decisions), new, *fill_words("joining", **about))
    model = add_answers(replace(old, drawn=drawn), answers, decisions, watch, corrections)
    return FitResult(model, n_rows, len(answers), n_set_aside, len(corrections), decisions.notes)


class _NothingNewError(InputError):
    """The model has all answers of a table."""


def _check_not_had(model: CodingModel, decisions: Decisions, again: bool) -> None:
    """Refuse a file that the model has had already."""
    had = [event for event in model.history if event.sha256 == decisions.sha256]
    if had and not again:
        since = printable(f"since {had[0].time} ({had[0].action} with {had[0].file})")
        hint = "give a file with new answers; or --again, to take the same file once more"
        message = f"{decisions.source}: the model has these answers already, {since}."
        raise InputError(message, hint=hint)


def _find_news(
    model: CodingModel, answers: Answers, decisions: Decisions
) -> tuple[list[int], dict[int, Codes], BoolArray]:
    """Rows that a model does not have, other codes of its answers, and which of these are drawn.

    Rows without ids are new, but for those of a review sheet that may have come before: a copy of
    an answer would be learned from when that is tested, and the guarantee too good.
    """
    before, drawn, given = model.codes(model.Y), model.drawn.copy(), dict[int, Codes]()
    codes = decisions.given
    if not any(answers.keys):
        known = set(zip(model.answers.contents(), map(frozenset, before), strict=True))
        rows = enumerate(zip(answers.contents(), codes, strict=True))
        return [i for i, row in rows if decisions.kind != SHEET or row not in known], {}, drawn
    places = model.find_places(answers)
    for row, place in enumerate(places):
        if place is not None:
            given[place] = codes[row]
            drawn[place] |= decisions.drawn[row]
    corrections = {i: codes for i, codes in given.items() if codes != set(before[i])}
    return [row for row, place in enumerate(places) if place is None], corrections, drawn
