"""``nldd fit``, ``update``, ``undo`` and ``inspect``: make, change and look at a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd._files import refuse_existing
from nldd.coding.commands import options as shared
from nldd.exceptions import InputError
from nldd.present import console as common
from nldd.present.console import after_saving, make_asker, print_notes, progress, say

if TYPE_CHECKING:
    from nldd.coding.training import FitResult

column_options = common.bundle(
    "spec",
    shared.make_column_spec,
    shared.text_option(),
    *shared.code_options,
    click.option(
        "--as-written",
        is_flag=True,
        help="Take codes as they are, even if they look like lists with another separator.",
    ),
    shared.column_option(
        "--id",
        help="Column that identifies respondents; answers of one respondent are tested together. "
        "[default: found by its name]",
    ),
    shared.column_option("--coder", metavar="NAME", help="Use the codes of this coder only."),
    shared.columns_option(
        "--features", help="Further columns to code from: numbers, or categories."
    ),
    shared.columns_option(
        "--categorical", help="Features that are categories even though they hold numbers."
    ),
)


@click.command()
@click.argument("table", type=common.FILE, metavar="ANSWERS")
@column_options
@common.file_option(
    "--codebook", help="Table of codes with names, merges and order; see nldd codebook."
)
@common.file_option(
    "-o", "--out", default=Path("model.nldd"), show_default=True, help="File for the model."
)
@shared.report_option("the model")
@shared.guarantee_options
@common.folds_option(
    help="Folds of the cross-validation.  [default: 20; 10 of more than 5,000 answers]"
)
@common.seed_option
@common.threads_option
@shared.answer_options
@common.force_option
@common.json_option
def fit(
    table: Path,
    spec: "shared.ColumnSpec",
    codebook: Path | None,
    out: Path,
    report_place: shared.ReportPlace,
    promise: "shared.GuaranteeTarget",
    folds: int | None,
    seed: int,
    jobs: int,
    options: "shared.TableOptions",
    force: bool,
    as_json: bool,
) -> None:
    """Learn from answers that people have coded.

    ANSWERS is a table with one answer a row: CSV, TSV, XLSX (also XLS, XLSB, ODS), JSONL, Parquet,
    or a file of SPSS, Stata or SAS. Rows without codes are set aside. Every coded answer is also
    predicted without itself, which tells how good the model is and how much of new answers it may
    code alone. A model that is there already is replaced by --force only; `nldd undo` brings it
    back.

    \b
    Examples:
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd fit answers.csv --text answer --labels codes --features age,region
      nldd fit answers.xlsx --text answer --labels code1,code2,code3
      nldd fit answers.xlsx --text answer --label-columns "q1_*"
    """
    from nldd.coding.codebook import Codebook, read_codebook
    from nldd.coding.model import Settings
    from nldd.coding.training import fit_table

    place = report_place(out)
    shared.check_places(table, out, to=[place], force=force)
    refuse_existing(out, force=force)
    settings = Settings(folds, seed, jobs)
    book = read_codebook(codebook) if codebook else Codebook()
    asked: dict[str, Any] = {"watch": progress, "tell": say, "ask": make_asker()}
    step = fit_table(table, out, spec, settings, options, **asked, codebook=book, force=force)
    _show_step(step, out, promise, place, as_json)


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="CORRECTED")
@common.file_option("-o", "--out", help="File for the new model; if left out, the old one changes.")
@click.option("--again", is_flag=True, help="Take a file that the model has had already.")
@click.option(
    "--new-codes", is_flag=True, help="Take new codes even if they look like known ones misspelt."
)
@shared.listing_options
@click.option(
    "--accept-suggestions",
    "accept",
    is_flag=True,
    help="Take suggestions of a review as right that are unchanged and not marked.",
)
@shared.report_option("the model")
@common.threads_option
@shared.guarantee_options
@shared.answer_options
@common.force_option
@common.json_option
def update(
    model: Path,
    table: Path,
    out: Path | None,
    again: bool,
    new_codes: bool,
    listing: "shared.CodeFormat",
    accept: bool,
    report_place: shared.ReportPlace,
    jobs: int,
    promise: "shared.GuaranteeTarget",
    options: "shared.TableOptions",
    force: bool,
    as_json: bool,
) -> None:
    """Let hand-coded answers join a model; its threshold is estimated again.

    CORRECTED has the columns that the model was fitted with; what `nldd predict --review` wrote,
    with codes corrected or marked as right in nldd_ok, will do. Rows without codes are set aside,
    and so are suggestions that nobody has changed or marked. The review that `nldd review` made
    will do as well: what people decided there joins the model, and answers that were drawn at
    random keep the promise exact. The model as it was before is kept beside it, and `nldd undo`
    brings it back.

    \b
    Examples:
      nldd update model.nldd corrected.csv
      nldd update model.nldd new.review.db
    """
    from nldd.coding.report import is_fit_report
    from nldd.coding.review.store import is_store
    from nldd.coding.training import update_model

    out = out or model
    if accept and is_store(table):
        message = f"{table.name}: a review of the page takes a suggestion once it is decided."
        raise InputError(message, hint="leave out --accept-suggestions")
    place = report_place(out)
    # What nldd wrote about this model changes with it.
    own = place is not None and is_fit_report(place, out)
    shared.check_places(table, out, to=[place], force=force or own)
    asked: dict[str, Any] = {"watch": progress, "tell": say, "ask": make_asker(), "n_jobs": jobs}
    how: dict[str, Any] = {"again": again, "new_codes": new_codes, "accept": accept, "force": force}
    step = update_model(model, table, out, options, **asked, **how, listing=listing)
    _show_step(step, out, promise, place, as_json)


def _show_step(
    step: "FitResult",
    out: Path,
    promise: "shared.GuaranteeTarget",
    place: Path | None,
    as_json: bool,
) -> None:
    """Print and write what a model has learned."""
    from nldd.coding.automation import triage
    from nldd.coding.report import FitReport
    from nldd.coding.wording import drawn_notes

    report = FitReport(step.model, triage(step.model, promise), step)
    print_notes([*step.notes, *drawn_notes(step.model)])
    with after_saving(out):
        written = place and report.write(out, place)
    shared.show_result(report, as_json, model=out, before=step.predecessor, report=written)


@click.command()
@shared.model_argument
@common.json_option
def undo(model: Path, as_json: bool) -> None:
    """Take back the last change of a model: an update, or a fit in its place.

    Each change of a model keeps the file that was there before as MODEL.bak, which takes its place
    again. Nothing is lost: a second time, this command brings back what it took.

    \b
    Example:
      nldd undo model.nldd
    """
    from nldd.coding.model_file import undo_model
    from nldd.coding.report import is_fit_report

    undone = undo_model(model, say)
    report = model.with_suffix(".report.html")
    if is_fit_report(report, model):
        print_notes([f"{report.name} may be about another state of the model than this one."])
    shared.show_result(undone, as_json, model=model)


@click.command()
@shared.model_argument
@common.json_option
def inspect(model: Path, as_json: bool) -> None:
    """Show what a model holds: codes, columns, coefficients, versions and history.

    A file that nldd.save_model wrote in Python is shown too: its classifier, labels and versions.

    \b
    Example:
      nldd inspect model.nldd
    """
    from nldd.coding.wording import describe_model

    shared.show_result(describe_model(model), as_json)
