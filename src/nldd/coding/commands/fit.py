"""``nldd fit`` and ``nldd update``: learn from coded answers, and from further ones."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd._files import refuse_existing
from nldd.coding.commands.options import (
    ReportPlace,
    answer_options,
    code_options,
    coder_options,
    guarantee_options,
    listing_options,
    make_column_spec,
    model_argument,
    report_option,
    show_result,
    text_option,
)
from nldd.exceptions import InputError
from nldd.present.console import after_saving, make_asker, print_notes, say
from nldd.present.options import (
    FILE,
    bundle,
    file_option,
    folds_option,
    force_option,
    json_option,
    seed_option,
    threads_option,
)
from nldd.present.progress import progress

if TYPE_CHECKING:
    from nldd.coding.columns import CodeFormat, ColumnSpec
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.tables.reading import TableOptions


_columns_option = partial(click.option, multiple=True, metavar="COLUMNS")
column_options = bundle(
    "spec",
    make_column_spec,
    text_option(),
    *code_options,
    click.option(
        "--as-written",
        is_flag=True,
        help="Take codes as they are, even if they look like lists with another separator.",
    ),
    click.option(
        "--id",
        default="",
        metavar="COLUMN",
        help="Column that identifies respondents; answers of one respondent are tested together. "
        "[default: found by its name]",
    ),
    *coder_options,
    click.option("--coder", default="", metavar="NAME", help="Use the codes of this coder only."),
    _columns_option("--features", help="Further columns to code from: numbers, or categories."),
    _columns_option(
        "--categorical", help="Features that are categories even though they hold numbers."
    ),
)


@click.command()
@click.argument("table", type=FILE, metavar="ANSWERS")
@column_options
@file_option("--codebook", help="Table of codes with names, merges and order; see nldd codebook.")
@file_option(
    "-o", "--out", default=Path("model.nldd"), show_default=True, help="File for the model."
)
@report_option("the model")
@guarantee_options
@folds_option(help="Folds of the cross-validation.  [default: 20; 10 of more than 5,000 answers]")
@seed_option
@threads_option
@answer_options
@force_option
@json_option
def fit(
    table: Path,
    spec: "ColumnSpec",
    codebook: Path | None,
    out: Path,
    report_place: ReportPlace,
    promise: "GuaranteeTarget",
    folds: int | None,
    seed: int,
    jobs: int,
    options: "TableOptions",
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
    from nldd.coding.automation import triage
    from nldd.coding.codebook import Codebook, read_codebook
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.model import Settings
    from nldd.coding.report import FitReport
    from nldd.coding.training import fit_table

    place = report_place(out)
    check_paths_differ(table, out, place, hint="--report with another name")
    refuse_existing(out, place, force=force)
    settings = Settings(folds, seed, jobs)
    book = read_codebook(codebook) if codebook else Codebook()
    asked: dict[str, Any] = {"watch": progress, "tell": say, "ask": make_asker()}
    step = fit_table(table, out, spec, settings, options, **asked, codebook=book, force=force)
    report = FitReport(step.model, triage(step.model, promise), step)
    print_notes(step.notes)
    with after_saving(out):
        written = place and report.write(out, place)
    show_result(report, as_json, model=out, before=step.predecessor, report=written)


@click.command()
@model_argument
@click.argument("table", type=FILE, metavar="CORRECTED")
@file_option("-o", "--out", help="File for the new model; if left out, the old one changes.")
@click.option("--again", is_flag=True, help="Take a file that the model has had already.")
@click.option(
    "--new-codes", is_flag=True, help="Take new codes even if they look like known ones misspelt."
)
@listing_options
@click.option(
    "--accept-suggestions",
    "accept",
    is_flag=True,
    help="Take suggestions of a review as right that are unchanged and not marked.",
)
@report_option("the model")
@threads_option
@guarantee_options
@answer_options
@force_option
@json_option
def update(
    model: Path,
    table: Path,
    out: Path | None,
    again: bool,
    new_codes: bool,
    listing: "CodeFormat",
    accept: bool,
    report_place: ReportPlace,
    jobs: int,
    promise: "GuaranteeTarget",
    options: "TableOptions",
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
    from nldd.coding.automation import triage
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.report import FitReport, is_fit_report
    from nldd.coding.review.store import is_store
    from nldd.coding.training import update_model
    from nldd.coding.wording import drawn_notes

    out = out or model
    if accept and is_store(table):
        message = (
            f"{table.name}: in a review of the page, a suggestion is taken once it is decided."
        )
        hint = "leave out --accept-suggestions; on the page, a applies codes to all alike"
        raise InputError(message, hint=hint)
    place = report_place(out)
    check_paths_differ(table, out, place, hint="--report with another name")
    # What nldd wrote about this model changes with it.
    own = place is not None and is_fit_report(place, out)
    refuse_existing(None if own else place, force=force)
    asked: dict[str, Any] = {"watch": progress, "tell": say, "ask": make_asker(), "n_jobs": jobs}
    how: dict[str, Any] = {"again": again, "new_codes": new_codes, "accept": accept, "force": force}
    step = update_model(model, table, out, options, **asked, **how, listing=listing)
    report = FitReport(step.model, triage(step.model, promise), step)
    print_notes([*step.notes, *drawn_notes(step.model)])
    with after_saving(out):
        written = place and report.write(out, place)
    show_result(report, as_json, model=out, before=step.predecessor, report=written)
