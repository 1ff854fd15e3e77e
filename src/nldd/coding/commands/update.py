"""``nldd update``: corrected answers join a model."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing
from nldd.coding.commands.options import (
    ReportPlace,
    answer_options,
    guarantee_options,
    listing_options,
    model_argument,
    report_option,
    show_result,
)
from nldd.exceptions import InputError
from nldd.present.console import after_saving, make_asker, print_notes, say
from nldd.present.options import FILE, file_option, force_option, json_option, threads_option
from nldd.present.progress import progress

if TYPE_CHECKING:
    from nldd.coding.columns import CodeFormat
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.tables.reading import TableOptions


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
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.report import FitReport, is_fit_report
    from nldd.coding.review.store_file import is_store
    from nldd.coding.training import update_model
    from nldd.coding.triage import triage
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
    asked = {"watch": progress, "tell": say, "ask": make_asker(), "n_jobs": jobs}
    how = {"again": again, "new_codes": new_codes, "listing": listing, "accept": accept}
    step = update_model(model, table, out, options, **asked, **how, force=force)
    report = FitReport(step.model, triage(step.model, promise), step)
    print_notes([*step.notes, *drawn_notes(step.model)])
    with after_saving(out):
        written = place and report.write(out, place)
    show_result(report, as_json, model=out, before=step.predecessor, report=written)
