"""A changed codebook taken over by a model: codes renamed, merged, named and put in order."""

from dataclasses import replace
from pathlib import Path

from nldd._files import file_sha256
from nldd._wording import quote, quote_first
from nldd.coding.answers import Decisions
from nldd.coding.code_slips import close_code
from nldd.coding.codebook import Codebook, CodebookEntry, check_listable, read_codebook
from nldd.coding.coded_table import check_paths_differ
from nldd.coding.model import CodingModel, fit_coding_model
from nldd.coding.model_file import Tell, load_coding_model, model_lock, replace_model
from nldd.coding.predictions import Watch, no_progress
from nldd.coding.tables.reading import TableOptions
from nldd.exceptions import InputError
from nldd.persistence._archive import read_manifest
from nldd.present.text import count_noun


def apply_codebook(
    model_path: Path,
    path: Path,
    options: TableOptions = TableOptions(),
    watch: Watch = no_progress,
    n_jobs: int | None = None,
    tell: Tell = None,
) -> tuple[CodingModel, list[str]]:
    r"""Let a saved model take over names, merges and the order of a codebook.

    A code that is merged into one that is there becomes it in all answers; one that is merged into
    a new code is renamed. Where labels changed, all is fitted anew to the model's own answers; a
    mere rename takes no fit. The model before is kept, see :func:`undo_model`.

    Parameters
    ----------
    model_path : Path
        The model file.
    path : Path
        A codebook, see :func:`read_codebook`.
    options : TableOptions, optional
        How the codebook is opened.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.
    n_jobs : int, optional
        Threads of a new fit.
    tell : callable, optional
        Is told in words if another process is at work on the model, for which this one waits.

    Returns
    -------
    model : CodingModel
        With the codebook.
    changes : list of str
        What that meant, in words.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, apply_codebook, fit_table
    >>> from nldd import load_survey
    >>> import pandas as pd
    >>> from nldd.coding.tables.writing import write_table
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> write_table(table, pd.DataFrame(rows[:80], columns=survey.header))
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> book = Path(folder.name, "codebook.csv")
    >>> _ = book.write_text("code,name,merged_into\ncycling,,bikes\nsafety,Crime and fear,\n")
    >>> changed, changes = apply_codebook(model, book)
    >>> changed.labels
    ('bikes', 'housing costs', 'safety')
    >>> changes
    ["'cycling' renamed to 'bikes'.", '1 code with another name or description.']
    >>> folder.cleanup()
    """
    check_paths_differ(path, model_path, hint="nldd codebook model.nldd codebook.csv")
    read_manifest(model_path)
    with model_lock(model_path, tell):
        old = load_coding_model(model_path)
        given, digest = read_codebook(path, options), file_sha256(path)
        _check_codes_of_book(old, given, path)
        codebook = old.codebook.updated(given)
        check_listable(codebook, old.columns.codes)
        if codebook == old.codebook:
            return old, []
        model = recode(replace(old, settings=replace(old.settings, n_jobs=n_jobs)), codebook, watch)
        model = model.record("codebook", path.name, digest, 0, 0)
        replace_model(model, model_path)
    return model, _changes(old, codebook)


def recode(model: CodingModel, codebook: Codebook, watch: Watch = no_progress) -> CodingModel:
    """The model with other codes: fitted anew where some were merged, and else as it was."""
    labels = tuple(map(codebook.current, model.labels))
    if len(set(labels)) == len(labels):
        before = model.fallback
        fallback = None if before is None else recode(before, codebook, watch)
        return replace(model, labels=labels, codebook=codebook, fallback=fallback)
    codes = [frozenset(names) for names in model.codes(model.Y)]
    known = Decisions([*codes], model.drawn.tolist(), agreed=model.taught.tolist())
    found = fit_coding_model(model.answers, known, model.columns, model.settings, watch, codebook)
    return replace(found, history=model.history, earlier=(*model.earlier, model.test))


def _check_codes_of_book(model: CodingModel, given: Codebook, path: Path) -> None:
    """Refuse words that nobody has, but that look like a known code misspelt."""
    known = sorted({*model.labels, *model.codebook.by_code})
    targets = {entry.merged_into for entry in given.entries}
    words = [(code, "code") for code in given.by_code if code not in targets]
    words += [(target, "merged_into") for target in sorted(targets - {""})]
    for word, column in words:
        meant = None if word in known else close_code(word, known)
        # A code may become a word that is like its own.
        if meant and given.current(meant) != word:
            unknown = f"the model does not know the code {quote(word)}, but {quote(meant)}"
            hint = f"write {quote(meant)} in the column {column}; or leave the row out"
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
    named = [e for e in codebook.entries if e.code in becomes]
    was = [before.get(e.code, CodebookEntry(e.code)) for e in named]
    pairs = zip(named, was, strict=True)
    n_named = sum((e.name, e.description) != (b.name, b.description) for e, b in pairs)
    if n_named:
        changes.append(f"{count_noun(n_named, 'code')} with another name or description.")
    here = [code for code in model.codes_in_order if code in becomes]
    if codebook.sorted(here) != here:
        changes.append("The order of the codes changed.")
    known = {*model.labels, *becomes, *before}
    if new_codes := [code for code in codebook.codes if code not in known]:
        rename = "to rename a code, write the new word into merged_into of its row"
        changes.append(f"Codes that no answer has yet: {quote_first(new_codes)}; {rename}.")
    return changes
