"""``nldd update``: corrected answers join a model."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._progress import progress
from nldd.cli import _options as shared
from nldd.cli._printing import asker, print_notes, print_result, say, try_report


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="CORRECTED")
@shared.file_option(
    "-o", "--out", help="File for the new model; the old one is replaced if left out."
)
@click.option("--again", is_flag=True, help="Take a file that the model has had already.")
@click.option(
    "--new-codes", is_flag=True, help="Take new codes even if they look like known ones misspelt."
)
@shared.listing_options
@shared.report_option("the model")
@shared.threads_option
@shared.promise_options
@shared.answer_options
@shared.json_option
def update(
    model: Path,
    table: Path,
    out: Path | None,
    again: bool,
    new_codes: bool,
    listing: "coding.Listing",
    report_place: shared.ReportPlace,
    jobs: int,
    promise: shared.Promise,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Let hand-coded answers join a model; its threshold is estimated again.

    CORRECTED has the columns that the model was fitted with; those that `nldd predict --review`
    wrote, with the codes filled in, will do. Rows without codes are set aside.

    \b
    Example:
      nldd update model.nldd corrected.csv
    """
    out = out or model
    place = report_place(out)
    coding.check_places(table, out, place, hint="--report with another name")
    watch = partial(progress, title="cross-validation", show=True)
    how = (options, watch, again, new_codes, jobs, say, listing, asker())
    step = coding.update_model(model, table, out, *how)
    new, found = step.model, coding.triage(step.model, *promise)
    print_notes([*step.table.notes, coding.UPDATED])
    written = place and try_report(
        lambda: reports.write_fit_report(new, coding.evaluate_evidence(new), found, out, place)
    )
    history = [asdict(event) for event in new.history]
    record = {**reports.triage_record(found), "history": history}
    print_result(as_json, record, reports.render_update(step, found), model=out, report=written)
